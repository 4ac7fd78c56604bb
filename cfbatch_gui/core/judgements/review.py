"""Deciding the doubtful rows of matches one after the other, each decision on the disk before the next row is shown."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from cfbatch_gui.core.judgements.decisions import Decisions
from cfbatch_gui.core.judgements.session import Pace
from cfbatch_gui.core.results.list_rows import ListRow
from cfbatch_gui.core.results.matches import Decision, Doubt, Matches

NONE = -1  # instead of a candidate, or of a row of list B
MOST_OPTIONS = 5  # candidates of a row that are shown


@dataclass(frozen=True, slots=True)
class Option:
    """A candidate: its index in list B, what it is, its score, and whether no other row of A is more like it."""

    other: int
    row: ListRow
    score: float
    fits_no_other: bool


@dataclass(frozen=True, slots=True)
class Asked:
    """A row of list A, by its index there, why it is to be decided, and its best candidates."""

    index: int
    row: ListRow
    doubts: tuple[Doubt, ...]
    options: tuple[Option, ...]


@dataclass(frozen=True, slots=True)
class Given:
    """A decision of this review: `place` is that of a candidate or NONE, `before` what counted before."""

    asked: Asked
    place: int
    before: Decision | None


class Review:
    """Making it, deciding and taking back are blocking. Raises DataError, DiskFull, after which nothing has changed."""

    def __init__(
        self, matches: Matches, decisions: Decisions, *, clock: Callable[[], float], rows: Sequence[int] | None = None
    ) -> None:
        """`rows` are to be decided instead of the doubtful ones, in this order."""
        self.matches, self._decisions, self._pace, self._rows = matches, decisions, Pace(clock), rows
        self.given: list[Given] = []
        self._at_first = len(matches.decided)
        self._show()

    @property
    def total(self) -> int:
        """The rows that are decided and those that are left; a decision may bring another one into doubt."""
        return self.done + self._left

    @property
    def done(self) -> int:
        """The rows decided so far, all that have the same text."""
        return len(self.matches.decided) - self._at_first

    def seconds_left(self) -> float:
        return self._pace.seconds_left(self._left)

    def decide(self, place: int) -> None:
        """Give the row that is asked about one of its candidates, or NONE of them."""
        asked = self.asked
        if asked is None:
            return
        best = int(self.matches.candidates.rows[asked.index, 0])  # which need not be the one that is proposed
        other = asked.options[place].other if place != NONE else NONE
        text = next(option.row.text for option in asked.options if option.other == (best if place == NONE else other))
        before = self._decisions.decide(asked.row.text, Decision(text, accepted=place != NONE))
        self.given.append(Given(asked, place, before))
        self._pace.answered()
        self.matches = self.matches.with_decision(asked.index, other)
        self._show()

    def take_back(self) -> None:
        """Take the last decision back, if there is one, and ask about its row again."""
        if not self.given:
            return
        last = self.given[-1]
        self._decisions.decide(last.asked.row.text, last.before)
        self.given.pop()
        self._pace.taken_back()
        self.matches = self.matches.with_decision(last.asked.index, None)
        self._show()

    def _show(self) -> None:
        """Read the most doubtful row that is left."""
        if self._rows is None:
            rows = self.matches.to_review().tolist()
        else:
            rows = [row for row in self._rows if row not in self.matches.decided]
        self._left, self.asked = len(rows), self._read(rows[0]) if rows else None

    def _read(self, index: int) -> Asked:
        matches = self.matches
        found = matches.options(index)[:MOST_OPTIONS]
        options = tuple(
            Option(other, row, score, matches.fits_no_other(index, other))
            for (other, score), row in zip(found, matches.rows_b([other for other, _ in found]), strict=True)
        )
        return Asked(index, matches.rows_a([index])[0], matches.doubts(index), options)
