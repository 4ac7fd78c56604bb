"""Judging texts one after the other, each answer in the book before the next text is shown; and how far judges agree,
with each other and with themselves when they see a pair again.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import median

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from cfbatch_gui.core.judgements.book import Book, graded, newest
from cfbatch_gui.core.judgements.values import Judgement, Source, Subject

_PAUSE = 120.0  # seconds; whoever takes longer has been away
_FASTEST, _USUAL = 1.0, 8.0  # seconds for one text
_LOOKED_AT = 20  # answers


@dataclass(frozen=True, slots=True)
class Shown:
    """A pair to judge; `again`: this judge has judged it before. `query_number` counts the queries of a pool from 1."""

    query: Subject
    document: Subject
    again: bool = False
    query_number: int = 0


class Pace:
    """How fast somebody answers, without pauses, by the last answers."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock, self._since = clock, clock()
        self._took: list[float] = []  # seconds

    def answered(self) -> None:
        now = self._clock()
        self._took.append(min(max(now - self._since, _FASTEST), _PAUSE))
        self._since = now

    def taken_back(self) -> None:
        self._took.pop()
        self._since = self._clock()

    def seconds_left(self, answers: int) -> float:
        return median(self._took[-_LOOKED_AT:] or [_USUAL]) * answers


class Session:
    """One judge, one book, one list of pairs. Methods that write are blocking and return when it is on the disk."""

    def __init__(
        self,
        book: Book,
        pairs: Sequence[Shown],
        *,
        judge: str,
        clock: Callable[[], float],
        source: Source = Source.PERSON,
    ) -> None:
        self.book, self._pairs, self._judge, self._clock = book, tuple(pairs), judge, clock
        self._source = source
        self._given: list[tuple[int | None, Judgement | None]] = []  # the answers, and what the judge said before
        self._pace = Pace(clock)

    def __len__(self) -> int:
        return len(self._pairs)

    @property
    def texts(self) -> int:
        """How many pairs there are, those that are shown again counted once."""
        return sum(not pair.again for pair in self._pairs)

    @property
    def position(self) -> int:
        return len(self._given)

    @property
    def is_done(self) -> bool:
        return self.position == len(self._pairs)

    @property
    def current(self) -> Shown | None:
        """The pair to judge now, None at the end."""
        return None if self.is_done else self._pairs[self.position]

    @property
    def last_grade(self) -> int | None:
        return self._given[-1][0] if self._given else None

    def judge(self, grade: int | None, note: str = "") -> None:
        """Answer with a grade, None for "cannot tell". Raises DataError, DiskFull, after which nothing has changed."""
        shown, now = self._pairs[self.position], self._clock()
        before = self.book.newest_of(shown.query, shown.document, self._judge)
        said = (shown.query, shown.document, grade, self._judge, self._source, now)
        self.book.add([Judgement(*said, again=shown.again, note=note)])
        self._given.append((grade, before))
        self._pace.answered()

    def undo(self) -> bool:
        """Take the last answer back and show its pair again; False before the first. Raises DataError, DiskFull."""
        if not self._given:
            return False
        _, before = self._given[-1]
        shown, now = self._pairs[self.position - 1], self._clock()
        said = (shown.query, shown.document, None, self._judge, self._source, now)
        again = [replace(before, time=now, again=False)] if before is not None else []
        self.book.add([Judgement(*said, taken_back=True), *again])
        self._given.pop()
        self._pace.taken_back()
        return True

    def seconds_left(self) -> float:
        return self._pace.seconds_left(len(self._pairs) - self.position)


Grades = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Agreement:
    """Of `pairs` graded twice `same` are equal; `kappa` is None without variety."""

    pairs: int
    same: int
    kappa: float | None


def between_judges(book: Book) -> Agreement:
    """Of people, each judge with each other one, by the newest grade of each. Blocking. Raises DataError."""
    # What was settled later does not hide what differed.
    of_people = newest(each for each in book.judgements() if each.source is Source.PERSON)
    return _agreement([pair for of_pair in graded(of_people) for pair in combinations(of_pair, 2)])


def with_themselves(book: Book) -> Agreement:
    """Each judge's grade of a pair that was shown again with the grade before it. Blocking. Raises DataError."""
    last: dict[object, Judgement] = {}
    twice: dict[object, list[tuple[Judgement, Judgement]]] = defaultdict(list)
    for each in book.judgements():
        if each.source is not Source.PERSON:
            continue
        key = (each.pair, each.judge)
        before = last.get(key)
        if each.taken_back:
            if before is not None and twice[key] and twice[key][-1][1] is before:
                twice[key].pop()
            last.pop(key, None)
            continue
        if each.again and before is not None and before.grade is not None and each.grade is not None:
            twice[key].append((before, each))
        last[key] = each
    return _agreement([pair for of_pair in twice.values() for pair in of_pair])


def weighted_kappa(one: Grades, other: Grades) -> float | None:
    """Cohen's kappa with linear weights (1968), with one distribution by chance for both."""
    observed = float(np.abs(one - other).mean()) if len(one) else 0.0
    values, counts = np.unique(np.concatenate((one, other)), return_counts=True)
    shares = counts / counts.sum() if len(counts) else counts
    expected = float(shares @ np.abs(values[:, None] - values[None, :]) @ shares) if len(values) else 0.0
    return 1.0 - observed / expected if expected else None


def _agreement(twice: Sequence[tuple[Judgement, Judgement]]) -> Agreement:
    grades = np.array([(one.grade, other.grade) for one, other in twice], dtype=np.int64).reshape(-1, 2)
    same = int((grades[:, 0] == grades[:, 1]).sum())
    return Agreement(len(grades), same, weighted_kappa(grades[:, 0], grades[:, 1]))
