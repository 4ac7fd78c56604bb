"""The labels of a job's file as judgements, so that a book keeps them when the job is deleted."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.evaluation.runs import Run
from cfbatch_gui.core.judgements.values import FROM_LABELS, Judgement, Source, Subject
from cfbatch_gui.core.results.labels import NO_LABEL
from cfbatch_gui.core.results.rankings.query_texts import read_queries

_BLOCK = 10_000  # texts in memory at a time


def has_label(run: Run) -> NDArray[np.bool_]:
    """Which pairs have a label that is a grade, (pairs,)."""
    return np.asarray(run.labels != NO_LABEL)


def label_judgements(run: Run, *, time: float) -> Iterator[Judgement]:
    """The labels of this run with its texts, those of documents outside it with bare ids. Raises DataError."""
    queries = [Subject(each.id, each.text) for each in read_queries(run.folder, run.table.asked)]
    query_of = run.table.query_indices()
    labelled = np.flatnonzero(has_label(run))
    for start in range(0, len(labelled), _BLOCK):
        block = labelled[start : start + _BLOCK]
        texts = run.texts(block)
        for pair in block.tolist():
            document = Subject(texts[pair].id, texts[pair].text)
            grade = int(run.labels[pair])
            yield Judgement(queries[query_of[pair]], document, grade, FROM_LABELS, Source.LABELS, time)
    by_id = {query.id: query for query in queries if query.id}
    for each in run.outside:
        if each.query_id in by_id:
            document = Subject(each.document_id)
            yield Judgement(by_id[each.query_id], document, each.grade, FROM_LABELS, Source.LABELS, time)
