"""The grades of documents by the labels of all runs, so that all runs are measured by the same judgements.

If labels differ, that of the earlier run counts, and within a run that of the earlier position in its query. Judgements
of a book overrule labels, except those that are labels of other files themselves. Documents that are judged and in no
run count in ideal and recall.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.evaluation.book_grades import BookGrades, BookMatch, match_book
from cfbatch_gui.core.evaluation.documents import Documents
from cfbatch_gui.core.evaluation.joining import NOT_THERE, Joined
from cfbatch_gui.core.evaluation.runs import Run
from cfbatch_gui.core.results.labels import NO_LABEL
from cfbatch_gui.core.results.numbers import distinct
from cfbatch_gui.core.results.rankings.query_texts import read_queries
from cfbatch_gui.core.results.rankings.score_table import hashed_id, read_id_hashes

Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class JudgedDocuments:
    """`grade_of` (documents of the runs,) is NO_LABEL for a document that is not judged.

    `query` and `grade` (judged documents,) are sorted by query: the index of each query in the `asked` of the first
    run's table, and its grade. `queries` are the distinct ones of these. `conflicts` counts documents whose labels
    differ. `book` is what the book says, None without one.
    """

    grade_of: Numbers
    query: Numbers
    grade: Numbers
    queries: Numbers
    conflicts: int
    book: BookMatch | None = None


def judge(
    runs: Sequence[Run], joined: Sequence[Joined], documents: Documents, book: BookGrades | None = None
) -> JudgedDocuments:
    """The grades of these documents, and of those that are judged and in no run. Raises DataError."""
    columns = []
    said = match_book(book, runs, joined, documents) if book is not None else None
    outside = _Outside(runs, joined, documents, said)
    for run, each, numbers in zip(runs, joined, documents.of_run, strict=True):
        labelled = np.flatnonzero((run.labels != NO_LABEL) & (numbers != NOT_THERE))
        labelled = labelled[np.argsort(run.table.positions[labelled], kind="stable")]
        columns.append(np.stack((numbers[labelled], each.query_of[labelled], run.labels[labelled])))
        columns.append(outside.of_run(run, each))
    labels = np.concatenate(columns, axis=1)
    conflicts = _differing(labels)
    if said is not None:
        strong, weak = outside.of_book(said.outside), outside.of_book(said.weak_outside)
        labels = np.concatenate((said.strong.T, strong, labels, said.weak.T, weak), axis=1)
    document, query, grade = labels
    known, first = np.unique(document, return_index=True)
    grade_of = np.full(outside.count, NO_LABEL, dtype=np.int64)
    grade_of[known] = grade[first]
    order = np.argsort(query[first], kind="stable")
    queries = query[first][order]
    return JudgedDocuments(grade_of, queries, grade[first][order], distinct(queries), conflicts, said)


def _differing(labels: Numbers) -> int:
    """The number of documents whose labels differ, of document, query and grade: (3, labels)."""
    document, _, grade = labels
    _, first, of = np.unique(document, return_index=True, return_inverse=True)
    return len(distinct(document[grade != grade[first][of]]))


class _Outside:
    """The judgements of documents that are in no pair of their own run; another run may have them, by the same id.

    `count` is the number of documents so far, those of the runs and these.
    """

    def __init__(
        self, runs: Sequence[Run], joined: Sequence[Joined], documents: Documents, book: BookMatch | None
    ) -> None:
        self.count = documents.count
        self._queries = frozenset(documents.queries.tolist())
        self._known: dict[tuple[int, int], int] = {}
        wanted = np.array([hashed_id(each.document_id) for run in runs for each in run.outside], dtype=np.int64)
        if book is not None:
            wanted = np.concatenate((wanted, book.outside[:, 1], book.weak_outside[:, 1]))
        if not len(wanted) or len(runs) == 1:
            return
        for run, each, numbers in zip(runs, joined, documents.of_run, strict=True):
            ids = read_id_hashes(run.folder, run.table)
            found = np.flatnonzero(np.isin(ids, wanted) & (numbers != NOT_THERE))
            columns = (each.query_of[found].tolist(), ids[found].tolist(), numbers[found].tolist())
            for query, identifier, number in zip(*columns, strict=True):
                self._known.setdefault((query, identifier), number)

    def of_run(self, run: Run, joined: Joined) -> Numbers:
        """Document, query and grade of each judgement of this run, of shape (3, judgements)."""
        found: list[tuple[int, int, int]] = []
        if run.outside:
            asked = run.table.query_indices()
            in_first = np.full(len(run.table.asked), NOT_THERE, dtype=np.int64)
            in_first[asked] = joined.query_of
            queries = {each.id: in_first[at] for at, each in enumerate(read_queries(run.folder, run.table.asked))}
            for each in run.outside:
                query = int(queries.get(each.query_id, NOT_THERE))
                if query in self._queries:
                    found.append((self._number(query, hashed_id(each.document_id)), query, each.grade))
        return np.array(found, dtype=np.int64).reshape(-1, 3).T

    def of_book(self, rows: Numbers) -> Numbers:
        """Document, query and grade of rows of query, hash of id or text, and grade: (3, rows)."""
        found = [(self._number(query, known_by), query, grade) for query, known_by, grade in rows.tolist()]
        return np.array(found, dtype=np.int64).reshape(-1, 3).T

    def _number(self, query: int, identifier: int) -> int:
        number = self._known.setdefault((query, identifier), self.count)
        self.count += number == self.count
        return number
