"""Judging a list of texts one after the other: each answer is in the book before the next text is shown."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

from msgspec.structs import replace

from cfbatch_gui.core.judgements.book import Book
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
        self._book, self._pairs, self._judge, self._clock = book, tuple(pairs), judge, clock
        self._source = source
        self._given: list[tuple[int | None, Judgement | None]] = []  # the answers, and what the judge said before
        self._took: list[float] = []
        self._since = clock()

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
        before = self._book.newest_of(shown.query, shown.document, self._judge)
        said = (shown.query, shown.document, grade, self._judge, self._source, now)
        self._book.add([Judgement(*said, again=shown.again, note=note)])
        self._given.append((grade, before))
        self._took.append(min(max(now - self._since, _FASTEST), _PAUSE))
        self._since = now

    def undo(self) -> bool:
        """Take the last answer back and show its pair again; False before the first. Raises DataError, DiskFull."""
        if not self._given:
            return False
        _, before = self._given[-1]
        shown, now = self._pairs[self.position - 1], self._clock()
        said = (shown.query, shown.document, None, self._judge, self._source, now)
        again = [replace(before, time=now, again=False)] if before is not None else []
        self._book.add([Judgement(*said, taken_back=True), *again])
        self._given.pop()
        self._took.pop()
        self._since = now
        return True

    def seconds_left(self) -> float:
        pace = median(self._took[-_LOOKED_AT:]) if self._took else _USUAL
        return pace * (len(self._pairs) - self.position)
