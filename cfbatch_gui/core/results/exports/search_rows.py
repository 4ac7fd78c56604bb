"""The rows of an export of a search: each question that was asked of a job, with its best texts."""

from collections.abc import Iterator

import numpy as np

from cfbatch_gui.core.errors import ExportError
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.results.embeddings import Embeddings
from cfbatch_gui.core.results.exports.base import Row, Work
from cfbatch_gui.core.results.nearest import TextIndex, asked

BEST = 20  # texts of each question where nothing else is said
_OURS = {
    "query": ("utf8", message("query")),
    "rank": ("int64", message("rank_2")),
    "score": ("float64", message("score_2")),
    "row": ("int64", message("row_2")),
    "id": ("utf8", message("id")),
    "text": ("utf8", message("text")),
}
_AT_ONCE = 32  # questions


class SearchRows:
    """The questions in the order in which they were asked, or those that are chosen; with `for_people` our headers are
    words. Raises ExportError where nothing was asked.
    """

    def __init__(self, work: Work, *, for_people: bool = False) -> None:
        self._work = work
        known = asked(work.folder, is_question=True)
        self._asked = {question: known[question] for question in work.options.questions or known}
        if not self._asked:
            raise ExportError(message("nothing_was_asked"))
        names = [work.say(header) if for_people else name for name, (_, header) in _OURS.items()]
        self._embeddings = Embeddings(work.folder, work.job.failed_batches, reserved=names, beside=True)
        self.columns = (*names, *self._embeddings.columns())
        self.kinds = (*(kind for kind, _ in _OURS.values()), *("utf8" for _ in self._embeddings.columns()))
        self.ours = dict(enumerate(self.kinds[: len(_OURS)]))
        self.notes: dict[str, object] = {"questions": len(self._asked)}

    def blocks(self) -> Iterator[list[Row]]:
        index, options, texts = TextIndex(self._embeddings), self._work.options, self._embeddings.count
        among = None
        if options.items is not None:
            among = np.isin(np.arange(1, texts + 1), list(options.items))
        questions, done = list(self._asked), 0
        for start in range(0, len(questions), _AT_ONCE):
            some = questions[start : start + _AT_ONCE]
            rows: list[Row] = []
            for question, found in zip(
                some, index.best([self._asked[each] for each in some], options.top_k or BEST, among), strict=True
            ):
                kept = [pair for pair in found if options.threshold is None or pair[1] >= options.threshold]
                for rank, (text, (_, score)) in enumerate(
                    zip(self._embeddings.texts([item for item, _ in kept]), kept, strict=True), 1
                ):
                    rows.append((question, rank, score, text.row, text.id, text.text, *text.cells))
            yield rows
            share = texts * (start + len(some)) // len(questions)
            self._work.steps.wrote(share - done)
            done = share
