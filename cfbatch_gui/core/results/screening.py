"""Records in the order in which they are screened: those most like a question first, without near duplicates."""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from itertools import compress

import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.errors import UsageError
from cfbatch_gui.core.job_folder.folder import JobFolder, check_has_texts
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.results.duplicates import read_duplicates
from cfbatch_gui.core.results.embeddings import Embeddings, Progress, unit_vectors
from cfbatch_gui.core.results.list_rows import items_of, read_rows
from cfbatch_gui.core.results.matches import Decision
from cfbatch_gui.core.results.nearest import asked


class Verdict(StrEnum):
    """What a person said of a record."""

    INCLUDE = "include"
    MAYBE = "maybe"
    EXCLUDE = "exclude"


@dataclass(frozen=True, slots=True)
class Flow:
    """The counts of a PRISMA flow diagram: identified = duplicates + screened + left."""

    identified: int
    duplicates: int
    included: int
    maybe: int
    excluded: int

    @property
    def screened(self) -> int:
        return self.included + self.maybe + self.excluded

    @property
    def left(self) -> int:
        return self.identified - self.duplicates - self.screened


@dataclass(frozen=True, eq=False)
class Records:
    """Arrays of shape (n,), the likest first; records without a vector come last, in the order of the file."""

    folder: JobFolder
    job: Job
    items: NDArray[np.int64]
    scores: NDArray[np.float64]  # cosines to the question, NaN without a vector
    is_duplicate: NDArray[np.bool_]  # of a record that stays

    def texts(self) -> list[str]:
        return [row.text for row in read_rows(self.folder, self.items.tolist(), self.job.failed_batches)]

    def ranks(self) -> dict[int, tuple[int, float | None]]:
        """By item its rank from 1 and its score."""
        pairs = zip(self.items.tolist(), self.scores.tolist(), strict=True)
        return {item: (rank, None if math.isnan(score) else score) for rank, (item, score) in enumerate(pairs, 1)}

    def flow(self, verdicts: Iterable[Verdict | None]) -> Flow:
        """`verdicts` are those of all records, in this order; that of a duplicate does not count."""
        said = list(compress(verdicts, ~self.is_duplicate))
        duplicates = int(self.is_duplicate.sum())
        return Flow(len(self.items), duplicates, *(said.count(each) for each in Verdict))


def verdict_of(decision: Decision | None) -> Verdict | None:
    """What was decided, None for what this program does not know as a verdict."""
    return Verdict(decision.other) if decision is not None and decision.other in list(Verdict) else None


def read_records(folder: JobFolder, job: Job, *, progress: Progress = lambda share: None) -> Records:
    """The records in the order of the question in the job's options, which was asked. Blocking: seconds for 20,000.
    Raises UsageError without that question, or where the texts were removed; DataError.
    """
    check_has_texts(folder)
    vector = asked(folder, is_question=True).get(job.options.screening)
    if vector is None:
        raise UsageError(message("screening_has_no_question"))
    embeddings, all_items = Embeddings(folder, job.failed_batches), items_of(folder)
    unit, question = unit_vectors(embeddings), vector.astype(np.float64)
    question /= np.linalg.norm(question) or 1.0
    scores = np.full(embeddings.count + 1, np.nan)
    for start, rows, factors in unit.blocks():
        scores[unit.item_numbers[start : start + len(rows)]] = rows.astype(np.float64) @ question * factors
    found = read_duplicates(embeddings, job.options.duplicates, progress)
    gone = found.item_numbers[found.stays != found.item_numbers]
    of_items = np.clip(scores[all_items], -1, 1).round(9)
    order = np.argsort(-of_items, kind="stable")  # NaN last
    items = all_items[order]
    return Records(folder, job, items, of_items[order], np.isin(items, gone))


Verdicts = Callable[[str], Decision | None]  # what was decided about a text
