"""The grades of documents by the labels of all runs, so that all runs are measured by the same judgements.

If labels differ, that of the earlier run counts, and within a run that of the earlier position in its query.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.evaluation.documents import Documents
from cfbatch_gui.core.evaluation.joining import NOT_THERE, Joined
from cfbatch_gui.core.evaluation.runs import Run
from cfbatch_gui.core.results.labels import NO_LABEL
from cfbatch_gui.core.results.numbers import distinct

Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class JudgedDocuments:
    """`grade_of` (documents,) is NO_LABEL for a document that is not judged.

    `query` and `grade` (judged documents,) are sorted by query: the index of each query in the `asked` of the first
    run's table, and its grade. `queries` are the distinct ones of these. `conflicts` counts documents whose labels
    differ.
    """

    grade_of: Numbers
    query: Numbers
    grade: Numbers
    queries: Numbers
    conflicts: int


def judge(runs: Sequence[Run], joined: Sequence[Joined], documents: Documents) -> JudgedDocuments:
    """The grades of these documents."""
    columns = []
    for run, each, numbers in zip(runs, joined, documents.of_run, strict=True):
        labelled = np.flatnonzero((run.labels != NO_LABEL) & (numbers != NOT_THERE))
        labelled = labelled[np.argsort(run.table.positions[labelled], kind="stable")]
        columns.append(np.stack((numbers[labelled], each.query_of[labelled], run.labels[labelled])))
    document, query, grade = np.concatenate(columns, axis=1)
    known, first, of = np.unique(document, return_index=True, return_inverse=True)
    conflicts = len(distinct(document[grade != grade[first][of]]))
    grade_of = np.full(documents.count, NO_LABEL, dtype=np.int64)
    grade_of[known] = grade[first]
    order = np.argsort(query[first], kind="stable")
    queries = query[first][order]
    return JudgedDocuments(grade_of, queries, grade[first][order], distinct(queries), conflicts)
