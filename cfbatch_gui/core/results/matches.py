"""The matches of a job: for each row of list A the best rows of list B, and what is made of them by the threshold and
by decisions. With one list they are its related rows.
"""

import math
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum, StrEnum
from functools import cached_property
from typing import TYPE_CHECKING

import msgspec
import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.errors import UsageError
from cfbatch_gui.core.inputs.column_names import index_of
from cfbatch_gui.core.inputs.input_values import Layout
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.job_folder.schema import cells_sql, metadata_value
from cfbatch_gui.core.job_folder.vector_file import stored_vectors
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.results import matching
from cfbatch_gui.core.results.embeddings import Embeddings, unit_vectors
from cfbatch_gui.core.results.list_rows import ListColumns, ListRow, list_columns, read_rows
from cfbatch_gui.core.system.threads import check_stopped

if TYPE_CHECKING:
    from cfbatch_gui.core.results.categories import Category

_CLOSE = 0.1  # of the spread of unrelated pairs: nearer scores are hard to tell apart
_SHOWN = 10  # candidates that are kept for choosing, at least
_ITEMS = "SELECT item_no, text FROM items JOIN texts USING(text_no) WHERE file = ? ORDER BY item_no"
_COLUMN = f"""
SELECT ({cells_sql()}) ->> ? FROM items i JOIN texts t USING(text_no)
LEFT JOIN source_rows f ON f.file = t.file AND f.row = t.row WHERE t.file = ? ORDER BY i.item_no
"""  # noqa: S608 - constants
_COUNTS = """
SELECT (SELECT count(*) FROM source_rows WHERE file = 1), (SELECT count(*) FROM source_rows WHERE file = 2),
    (SELECT count(*) FROM texts WHERE file = 1), (SELECT count(*) FROM texts WHERE file = 2),
    (SELECT count(*) FROM texts WHERE file = 1 AND folded(text) IN (SELECT folded(text) FROM texts WHERE file = 2))
"""

Numbers = NDArray[np.int64]


class Decision(msgspec.Struct, frozen=True):
    """What a person said about a text of list A: `other` is the text of list B that was accepted, or the best one when
    none was.
    """

    other: str
    accepted: bool


def folded(text: str) -> str:
    """What makes two texts the same: all but case and white space around it."""
    return text.strip().casefold()


@dataclass(frozen=True, slots=True)
class ListCounts:
    """Of list A and of list B the rows in the file, and the texts in them; and how many texts of A are also in B."""

    rows: tuple[int, int]
    texts: tuple[int, int]
    same: int


def count_lists(folder: JobFolder) -> ListCounts:
    """What the lists of a filled draft hold; those of B are 0 where there is one list only. Blocking, as it reads all
    texts.
    """
    with folder.open(read_only=True) as database:
        database.create_function("folded", 1, folded, deterministic=True)
        a, b, texts_a, texts_b, same = database.execute(_COUNTS).fetchone()
    return ListCounts((a, b), (texts_a, texts_b), same)


class MatchState(IntEnum):
    """What a row of list A has."""

    MATCHED = 0
    SAME = 1  # a row of B with the same text
    ACCEPTED = 2  # by a person
    CHECK = 3
    WITHOUT = 4
    NONE = 5  # a person said that no row fits


class Doubt(StrEnum):
    """Why a row is to be checked."""

    NEAR = "near"  # its score is about the threshold
    CLOSE = "close"  # the first two candidates are close
    NUMBER = "number"  # the first differs in a number
    TAKEN = "taken"  # the first was given to another row by a person


MATCHED = (MatchState.MATCHED, MatchState.SAME, MatchState.ACCEPTED)
UNMATCHED = (MatchState.WITHOUT, MatchState.NONE)


@dataclass(frozen=True, eq=False)
class Matches:
    """A row of list A or B is known by its index, from 0 in the order of its file, among the rows that have a text."""

    folder: JobFolder
    items_a: Numbers  # (n,) numbers of the items
    items_b: Numbers  # (m,)
    columns_a: ListColumns
    columns_b: ListColumns
    candidates: matching.Candidates
    baseline: matching.Baseline
    first: Numbers  # (n,) the row of B that is proposed, -1 for none
    scores: NDArray[np.float64]  # (n,) of it, NaN for none
    is_exact: bool  # each row of B once, at the greatest total score; without that, or by falling score, False
    differs: NDArray[np.bool_]  # (n,) whether the proposed row differs in a number
    has_texts: bool  # else they were removed or never known, and their ids or rows stand for them
    keys: Numbers  # (n,) equal for rows of A with the same text
    each_once: bool
    threshold: float
    decided: dict[int, int]  # by row of A the row of B, -1 for none of them
    failed_batches: Mapping[int, str]
    categories: "tuple[Category, ...] | None" = None  # they are list B, and stand in no file

    @property
    def is_related(self) -> bool:
        """Whether there is one list only."""
        return self.items_a is self.items_b

    @property
    def can_be_decided(self) -> bool:
        """Decisions belong to texts."""
        return self.has_texts and not self.is_related

    @property
    def close(self) -> float:
        return _CLOSE * self.baseline.spread

    def with_threshold(self, threshold: float) -> "Matches":
        return replace(self, threshold=threshold)

    def with_decision(self, row: int, other: int | None) -> "Matches":
        """Decided for all rows of A with the same text: a row of B, -1 for none of them, None for undecided."""
        same = dict.fromkeys(np.flatnonzero(self.keys == self.keys[row]).tolist(), other)
        kept = {each: given for each, given in self.decided.items() if each not in same}
        return replace(self, decided=kept | {each: given for each, given in same.items() if given is not None})

    def with_decisions(self, decided: Callable[[str], Decision | None]) -> "Matches":
        """With what is decided by now. Blocking. Not for each row of B once, which decisions change altogether."""
        with self.folder.open(read_only=True) as database:
            a, b = (list(texts_of(database, file).values()) for file in (1, 2))
        if self.categories is not None:
            b = [each.name for each in self.categories]
        best = self.candidates.rows[:, 0]
        found = decided_rows(a, b, best, decided, each_once=self.each_once) if self.can_be_decided else {}
        return replace(self, decided=found)

    @cached_property
    def margins(self) -> NDArray[np.float64]:
        """(n,) how far the proposed row is before the best other candidate, below 0 where another one is better."""
        others = np.where(self.candidates.rows == self.first[:, None], np.nan, self.candidates.scores)
        best = np.fmax.reduce(others, axis=1) if others.shape[1] else np.full(len(others), np.nan)
        return self.scores - best

    @cached_property
    def _doubts(self) -> dict[Doubt, NDArray[np.bool_]]:
        taken = [other for other in self.decided.values() if other >= 0]
        return {
            Doubt.NEAR: np.abs(self.scores - self.threshold) < self.close,
            Doubt.CLOSE: self.margins < self.close,
            Doubt.NUMBER: self.differs,
            Doubt.TAKEN: np.isin(self.first, taken) & self.each_once,
        }

    @cached_property
    def states(self) -> NDArray[np.int8]:
        """(n,) MatchState."""
        is_first = self.candidates.rows == self.first[:, None]
        is_same = (self.candidates.same & is_first).any(axis=1)
        found = np.full(len(self.first), MatchState.WITHOUT, np.int8)
        found[self.scores >= self.threshold] = MatchState.MATCHED
        if not self.is_related:
            is_doubtful = np.logical_or.reduce(list(self._doubts.values()))
            found[is_doubtful & (self.scores >= self.threshold - self.close) & ~is_same] = MatchState.CHECK
        found[is_same] = MatchState.SAME
        found[self._doubts[Doubt.TAKEN]] = MatchState.CHECK
        for row, other in self.decided.items():
            found[row] = MatchState.ACCEPTED if other >= 0 else MatchState.NONE
        return found

    @cached_property
    def chosen(self) -> Numbers:
        """(n,) the row of B that each row of A gets, -1 for none."""
        found = np.where(np.isin(self.states, UNMATCHED), -1, self.first)
        for row, other in self.decided.items():
            found[row] = other
        return found

    def counts(self) -> dict[MatchState, int]:
        counted = np.bincount(self.states, minlength=len(MatchState)).tolist()
        return {state: counted[state] for state in MatchState}

    def tally(self) -> dict[str, float]:
        """How many rows are matched, to check, and without a match, and by which threshold."""
        counts = self.counts()
        return {
            "threshold": self.threshold,
            "unrelated": self.baseline.unrelated,
            "matched": sum(counts[state] for state in MATCHED),
            "to_check": counts[MatchState.CHECK],
            "without": sum(counts[state] for state in UNMATCHED),
        }

    def doubts(self, row: int) -> tuple[Doubt, ...]:
        return tuple(doubt for doubt, rows in self._doubts.items() if rows[row])

    def score_of(self, row: int, other: int) -> float:
        """NaN where it is no candidate."""
        return dict(self.options(row)).get(other, math.nan)

    def options(self, row: int) -> list[tuple[int, float]]:
        """The candidates of a row of A with their scores, the proposed one first."""
        pairs = dict(zip(self.candidates.rows[row].tolist(), self.candidates.scores[row].tolist(), strict=True))
        first = int(self.first[row])
        found = {first: float(self.scores[row])} | {other: score for other, score in pairs.items() if other != first}
        return [pair for pair in found.items() if pair[0] >= 0]

    def fits_no_other(self, row: int, other: int) -> bool:
        """Whether no other row of A is more like this row of B."""
        return int(self.candidates.best_of[other]) == row

    def to_review(self) -> Numbers:
        """The rows to be checked, the most doubtful first."""
        rows = np.flatnonzero(self.states == MatchState.CHECK)
        how_sure = np.fmin(self.margins[rows], np.abs(self.scores[rows] - self.threshold))
        return rows[np.argsort(how_sure, kind="stable")]

    def unmatched_b(self) -> Numbers:
        """The rows of B that no row of A gets."""
        return np.setdiff1d(np.arange(len(self.items_b)), self.chosen)

    def rows_a(self, rows: Sequence[int]) -> list[ListRow]:
        return read_rows(self.folder, self.items_a[np.asarray(rows, np.int64)].tolist(), self.failed_batches)

    def rows_b(self, rows: Sequence[int]) -> list[ListRow]:
        if self.categories is not None:
            return [self.categories[row].as_row(row + 1) for row in rows]
        return read_rows(self.folder, self.items_b[np.asarray(rows, np.int64)].tolist(), self.failed_batches)


def read_matches(
    folder: JobFolder,
    job: Job,
    decided: Callable[[str], Decision | None] = lambda text: None,
    *,
    progress: Callable[[float], None] = lambda share: None,
) -> Matches:
    """Match the lists of a job as its options say; `decided` gives what was decided about a text of list A. Blocking:
    seconds for 5,000 × 5,000. Raises DataError, UsageError for a column that a list does not have.
    """
    options = job.options.matching
    with folder.open(read_only=True) as database:
        is_related = metadata_value(database, "layout") != Layout.LISTS
        texts = [texts_of(database, file) for file in ((1,) if is_related else (1, 2))]
        columns = list_columns(database)
        limits = [_values(database, columns, name, len(texts)) for name in (options.within, options.not_within)]
    sides, has_texts = read_sides(folder, job, texts), has_own_texts(job)
    sides = [replace(side, within=limits[0][at], apart=limits[1][at]) for at, side in enumerate(sides)]
    a, b = sides[0], sides[-1]
    candidates = matching.find_candidates(a, b, max(options.best, _SHOWN), progress=progress)
    measured = matching.baseline(a, b, candidates)
    threshold = measured.proposed if options.threshold is None else options.threshold
    items_a, *others = (np.fromiter(of_list, np.int64) for of_list in texts)
    items_b = others[0] if others else items_a
    texts_a, texts_b = list(texts[0].values()), list(texts[-1].values())
    decisions: dict[int, int] = {}
    if has_texts and not is_related:
        decisions = decided_rows(texts_a, texts_b, candidates.rows[:, 0], decided, each_once=options.each_once)
    first, scores, is_exact = candidates.rows[:, 0], candidates.scores[:, 0], True
    if options.each_once and not is_related:
        floor = threshold - _CLOSE * measured.spread
        first, scores, is_exact = matching.assigned(a, b, candidates, floor=floor, fixed=decisions)
    return Matches(
        folder=folder,
        items_a=items_a,
        items_b=items_b,
        columns_a=columns[0],
        columns_b=columns[0 if is_related else 1],
        candidates=candidates,
        baseline=measured,
        first=first,
        scores=scores,
        is_exact=is_exact,
        differs=_differing(texts_a, texts_b, first if has_texts else np.full_like(first, -1)),
        has_texts=has_texts,
        keys=a.keys,
        each_once=options.each_once and not is_related,
        threshold=threshold,
        decided=decisions,
        failed_batches=job.failed_batches,
    )


def has_own_texts(job: Job) -> bool:
    """Whether the texts of a job are known; else their ids or rows stand for them."""
    return not (job.texts_forgotten_at or job.has_named_texts)


def texts_of(database: sqlite3.Connection, file: int) -> dict[int, str]:
    """The texts of a list by the numbers of their items, which follow one another."""
    return dict(database.execute(_ITEMS, (file,)))


def read_sides(folder: JobFolder, job: Job, lists: Sequence[Mapping[int, str]]) -> list[matching.Side]:
    """The vectors of lists of texts, by their items. Blocking: reads all vectors. Raises DataError."""
    embeddings = Embeddings(folder, job.failed_batches)
    units = unit_vectors(embeddings)
    scales = np.zeros(embeddings.count)
    scales[units.item_numbers - 1] = units.inverse_lengths
    vectors = stored_vectors(folder.vectors) if units.count else np.zeros((embeddings.count, 1), np.float32)
    known: dict[object, int] = {}
    sides = []
    for of_list in lists:
        items = slice(min(of_list, default=1) - 1, max(of_list, default=0))
        names = map(folded, of_list.values()) if has_own_texts(job) else of_list
        keys = np.array([known.setdefault(name, len(known)) for name in names], np.int64)
        sides.append(matching.Side(vectors[items], scales[items], keys))
    return sides


def columns_of_b(folder: JobFolder) -> tuple[str, ...]:
    """The names of the columns that can stand beside list A; of related rows its own. Raises DataError."""
    with folder.open(read_only=True) as database:
        a, b = list_columns(database)
    listed = b if b.names else a
    return tuple(listed.names[at] for at in listed.kept)


def _values(
    database: sqlite3.Connection, columns: Sequence[ListColumns], name: str, lists: int
) -> list[Numbers | None]:
    """For each list a number for the value that each row has in a column, -1 for an empty one; None without a name."""
    if not name:
        return [None] * lists
    numbers: dict[str, int] = {"": -1}
    found: list[Numbers | None] = []
    for file, each in enumerate(columns[:lists], 1):
        at = index_of(name, each.names)
        if at is None:
            raise UsageError(message("list_has_no_column", list="AB"[file - 1], name=name))
        values = map(folded, read_column(database, at, file))
        found.append(np.array([numbers.setdefault(value, len(numbers)) for value in values], np.int64))
    return found


def read_column(database: sqlite3.Connection, at: int, file: int) -> Iterator[str]:
    """The cells of a column of a list, by its index, for each of its items."""
    return (value or "" for (value,) in database.execute(_COLUMN, (f"$[{at}]", file)))


def decided_rows(
    a: Sequence[str], b: Sequence[str], best: Numbers, decided: Callable[[str], Decision | None], *, each_once: bool
) -> dict[int, int]:
    """What was decided as far as it is about these lists: the accepted text is in B, or the refused one is the best.
    With `each_once` rows of A get the rows of B with that text one after the other, as far as there are any.
    """
    rows_of: dict[str, list[int]] = {}
    for row, text in enumerate(b):
        rows_of.setdefault(folded(text), []).append(row)
    found: dict[int, int] = {}
    for row, text in enumerate(a):
        if (decision := decided(text)) is None:
            continue
        others = rows_of.get(folded(decision.other), [])
        is_best = best[row] >= 0 and folded(b[int(best[row])]) == folded(decision.other)
        if decision.accepted and others:
            found[row] = others.pop(0) if each_once else others[0]
        elif is_best and not decision.accepted:
            found[row] = -1
    return found


def _differing(a: Sequence[str], b: Sequence[str], first: Numbers) -> NDArray[np.bool_]:
    found = np.zeros(len(first), np.bool_)
    for row in np.flatnonzero(first >= 0).tolist():
        if row % 1_000 == 0:
            check_stopped()
        found[row] = any(matching.differing_numbers(a[row], b[int(first[row])]))
    return found
