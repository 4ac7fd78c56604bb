"""Measures of rankings by labels and judgements, in the order of the exported run, each document once."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.evaluation.joining import NOT_THERE, Joined, documents_of, join, ranked_documents
from cfbatch_gui.core.evaluation.judged_documents import BookGrades, BookMatch, JudgedDocuments, judge
from cfbatch_gui.core.evaluation.metrics import usual_metrics
from cfbatch_gui.core.evaluation.runs import Run
from cfbatch_gui.core.evaluation.significance import Paired, compare_pairs
from cfbatch_gui.core.results.labels import NO_LABEL
from cfbatch_gui.core.results.numbers import score_text
from cfbatch_gui.core.results.score_table import QueryText, read_queries

Numbers = NDArray[np.int64]
_SIDES: tuple[Literal["left"], Literal["right"]] = ("left", "right")
ENOUGH_JUDGED = 0.8  # of the first k texts; with fewer judged, the figures are not to be relied upon
NOTICED = 0.005  # a mean that the order of equal scores moves by more than this is shown as a range


@dataclass(frozen=True, slots=True)
class Mean:
    """Over the judged queries; without scores 0. `lowest` and `highest` are those of other orders of ties."""

    value: float
    lowest: float
    highest: float

    @property
    def depends_on_ties(self) -> bool:
        """Whether the order of equal scores moves it by more than NOTICED."""
        return self.highest - self.lowest > NOTICED

    def text(self) -> str:
        """The mean, or the range that equal scores leave open: "0.4939", "0.4700–0.5100"."""
        if self.depends_on_ties:
            return f"{score_text(self.lowest)}–{score_text(self.highest)}"
        return score_text(self.value)


@dataclass(frozen=True, slots=True, eq=False)
class RunMeasures:
    """The measures of one run; arrays are in the order of the evaluation's queries.

    `judged_top` of the `top` first documents are judged; `best_pair` is NOT_THERE and ranks are 0 where nothing
    relevant has a score. `repeated` counts pairs whose document stands above them.
    """

    means: dict[str, Mean]
    values: dict[str, NDArray[np.float64]]
    judged_top: Numbers
    top: Numbers
    best_pair: Numbers
    best_rank: Numbers
    first_relevant: Numbers
    without_answer: int
    repeated: int
    has_contrast: bool

    @property
    def judged_share(self) -> float:
        """The share of the documents among the first k of all queries that are judged; 1.0 if there are none."""
        return int(self.judged_top.sum()) / int(self.top.sum()) if self.top.any() else 1.0


@dataclass(frozen=True, slots=True, eq=False)
class Evaluation:
    """`queries` are the judged ones of all runs.

    `left_out` counts those without a label, `conflicts` documents whose labels differ.
    """

    k: int
    queries: tuple[QueryText, ...]
    left_out: int
    conflicts: int
    judged: int
    relevant: int
    runs: tuple[RunMeasures, ...]
    book: BookMatch | None = None

    @property
    def measures_nothing(self) -> bool:
        """Whether no query has two candidates of different grades, so that every order measures the same."""
        return not any(run.has_contrast for run in self.runs)


def measure(run: Run, *, k: int = 10, book: BookGrades | None = None) -> Evaluation | None:
    """The measures of one run with cut-off `k`, None without judgements. Blocking, see `evaluate`. Raises DataError."""
    return evaluate((run,), join((run,)), k=k, book=book)


def evaluate(
    runs: Sequence[Run], joined: Sequence[Joined], *, k: int = 10, book: BookGrades | None = None
) -> Evaluation | None:
    """The measures of each run at cut-off `k`, None if no query is judged. Blocking. Raises DataError."""
    documents = documents_of(runs, joined)
    judged = judge(runs, joined, documents, book)
    if not len(judged.queries):
        return None
    return Evaluation(
        k,
        read_queries(runs[0].folder, runs[0].table.asked[judged.queries]),
        len(documents.queries) - len(judged.queries),
        judged.conflicts,
        len(judged.grade),
        int((judged.grade > 0).sum()),
        tuple(
            _measured(run, each, numbers, judged, k)
            for run, each, numbers in zip(runs, joined, documents.of_run, strict=True)
        ),
        judged.book,
    )


def answers(evaluation: Evaluation, metric: str = "") -> tuple[Paired, ...]:
    """Each further run compared with the first, by a measure, "" for the first one, nDCG@k.

    Up to seconds for many queries.
    """
    first, *others = (run.values[metric or next(iter(run.values))] for run in evaluation.runs)
    return compare_pairs(first, others)


def _measured(run: Run, joined: Joined, numbers: Numbers, judged: JudgedDocuments, k: int) -> RunMeasures:
    """The measures of all judged queries, by the documents that one run has scored, in its order, each once."""
    wanted = np.isin(joined.query_of, judged.queries) & run.table.has_score & (numbers != NOT_THERE)
    pairs = ranked_documents(run, joined, numbers, wanted)
    grades, scores, query = judged.grade_of[numbers[pairs]], run.table.scores[pairs], joined.query_of[pairs]
    starts, ends = (np.searchsorted(query, judged.queries, side=side) for side in _SIDES)
    firsts, lasts = (np.searchsorted(judged.query, judged.queries, side=side) for side in _SIDES)
    count, metrics = len(judged.queries), usual_metrics(k)
    values, lowest, highest = ({name: np.zeros(count) for name in metrics} for _ in range(3))
    judged_top, top, best_pair, best_rank, first_relevant = (np.zeros(count, dtype=np.int64) for _ in range(5))
    best_pair[:] = NOT_THERE
    has_contrast = False
    for index in range(count):
        part = slice(starts[index], ends[index])
        found, ideal = grades[part], judged.grade[firsts[index] : lasts[index]]
        worst, best = _extremes(found, scores[part])
        for name, metric in metrics.items():
            value = values[name][index] = metric(found, ideal)
            lowest[name][index] = value if worst is found else metric(worst, ideal)
            highest[name][index] = value if best is found else metric(best, ideal)
        judged_top[index], top[index] = (found[:k] != NO_LABEL).sum(), len(found[:k])
        relevant = np.flatnonzero(found > 0)
        has_contrast |= bool(len(found)) and int(np.maximum(found, 0).min()) < int(found.max())
        if len(relevant):
            at = int(np.argmax(found))
            best_pair[index], best_rank[index] = pairs[part][at], at + 1
            first_relevant[index] = relevant[0] + 1
    means = {name: Mean(*(float(each[name].mean()) for each in (values, lowest, highest))) for name in values}
    return RunMeasures(
        *(means, values, judged_top, top, best_pair, best_rank, first_relevant),
        without_answer=int((starts == ends).sum()),
        repeated=int(wanted.sum()) - len(pairs),
        has_contrast=has_contrast,
    )


def _extremes(grades: Numbers, scores: NDArray[np.float64]) -> tuple[Numbers, Numbers]:
    """The grades if equal scores stood by rising and by falling grade; `grades` itself if that changes nothing."""
    tied = scores[1:] == scores[:-1]
    if not (tied & (grades[1:] != grades[:-1])).any():
        return grades, grades
    run = np.concatenate(([0], np.cumsum(~tied)))
    return grades[np.lexsort((grades, run))], grades[np.lexsort((-grades, run))]
