"""The scores and labels of a ranking job as a run, in the sense of TREC, and the labels as judgements."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import msgspec
import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.errors import UsageError
from cfbatch_gui.core.inputs.input_values import Kind, Layout
from cfbatch_gui.core.job_folder import schema
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.judgements.values import FROM_LABELS, Judgement, Source, Subject
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.results.labels import (
    NO_LABEL,
    OutsideGrade,
    UnusableLabels,
    read_labels,
    read_outside_grades,
    read_unusable_labels,
)
from cfbatch_gui.core.results.outcomes import JobMetadata
from cfbatch_gui.core.results.ranks import RetrievalIds, ranked_order
from cfbatch_gui.core.results.score_table import ScoreTable, read_queries, read_score_table

_TEXTS = """
SELECT i.item_no, t.text, t.text_id, t.label FROM json_each(?) wanted
CROSS JOIN items i ON i.item_no = wanted.value JOIN texts t USING(text_no)
"""


class RunText(msgspec.Struct, frozen=True, gc=False):
    """The text of one pair, its id and its label; "" for none."""

    text: str
    id: str
    label: str


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """A job's scores; `labels` has one for each pair, NO_LABEL for none; `outside` are of documents in no pair."""

    metadata: JobMetadata
    folder: JobFolder
    table: ScoreTable
    labels: NDArray[np.int64]
    outside: tuple[OutsideGrade, ...] = ()
    unusable: UnusableLabels | None = None

    @property
    def scored(self) -> int:
        return int(self.table.has_score.sum())

    @property
    def is_partial(self) -> bool:
        return self.scored < len(self.table)

    def texts(self, indices: Iterable[int]) -> dict[int, RunText]:
        """The texts of the pairs at these indices of the table, by index. Raises DataError."""
        items = {int(self.table.items[index]): int(index) for index in indices}
        with self.folder.open(read_only=True) as database:
            rows = database.execute(_TEXTS, (json.dumps(sorted(items)),))
            return {items[item]: RunText(*rest) for item, *rest in rows}

    def ranked(self, part: ScoreTable) -> NDArray[np.int64]:
        """The indices that sort some pairs of the table as they are ranked, see `ranked_order`. Raises DataError."""
        with self.folder.open(read_only=True) as database:
            return ranked_order(database, part, RetrievalIds(self.folder))


def read_run(folder: JobFolder, metadata: JobMetadata) -> Run:
    """Read a job's run. Blocking. Raises UsageError for embeddings and without scores, DataError."""
    if metadata.kind is not Kind.RANK:
        raise UsageError(
            message("“{name}” made vectors and no scores. Compare jobs that rank texts.", name=metadata.name)
        )
    table = read_score_table(folder)
    if not table.has_score.any():
        raise UsageError(
            message("“{name}” has no scores yet. Compare it when the first batch is back.", name=metadata.name)
        )
    with folder.open(read_only=True) as database:
        # The label of a text that all queries share is no judgement of a pair.
        judges = schema.metadata_value(database, "layout") != Layout.SHARED
        labels = read_labels(database, table.texts) if judges else np.full(len(table), NO_LABEL)
        outside = read_outside_grades(database)
        unusable = read_unusable_labels(database) if judges else None
    return Run(metadata, folder, table, labels, outside, unusable)


_BLOCK = 10_000  # texts in memory at a time


def has_label(run: Run) -> NDArray[np.bool_]:
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
