"""The rows of an export of matches: list A with what it gets of list B, the pairs one by one, and redirects."""

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, replace
from itertools import chain, islice

from cfbatch_gui.core.inputs.input_values import Role
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.results.categories import read_by_purpose
from cfbatch_gui.core.results.exports.base import Cell, Row, Work, indices_of
from cfbatch_gui.core.results.exports.own_sheet import ROWS_AT_ONCE, cell_of, in_file_order, unique
from cfbatch_gui.core.results.list_rows import ListColumns, ListRow, items_of, left_out_rows
from cfbatch_gui.core.results.matches import MATCHED, MatchState

HEADERS = {"score": message("score_2"), "margin": message("margin"), "state": message("state_2")}
STATES = {
    **{MatchState.MATCHED: message("matched"), MatchState.SAME: message("same_text")},
    **{MatchState.ACCEPTED: message("match_by_you"), MatchState.CHECK: message("to_check")},
    **{MatchState.WITHOUT: message("without_match"), MatchState.NONE: message("no_match_by_you")},
}
_Pairs = list[tuple[ListRow, float]]  # rows of B with their scores


class _OfMatches(ABC):
    """A table that goes through list A in the order of its file, with the best rows of B for each row."""

    def __init__(self, work: Work) -> None:
        self._work, self._options = work, work.options
        job, threshold = work.job, work.options.threshold
        if threshold is not None:
            matching = replace(job.options.matching, threshold=threshold)
            job = replace(job, options=replace(job.options, matching=matching))
        self.matches = work.matches or read_by_purpose(
            work.folder, job, work.decided, progress=lambda share: work.steps.wrote(0)
        )
        work.steps.wrote(len(items_of(work.folder, 2)) + len(left_out_rows(work.folder, 2)))  # B, when it is compared
        self._best = work.options.top_k or work.job.options.matching.best

    @property
    def notes(self) -> dict[str, object]:
        return {"matches": {**asdict(self._work.job.options.matching), **self.matches.tally()}}

    def blocks(self) -> Iterator[list[Row]]:
        matches, options = self.matches, self._options
        chosen = [row for row, item in enumerate(matches.items_a.tolist()) if options.has_item(item)]
        left_out = left_out_rows(self._work.folder, 1) if options.items is None else ()
        rows = in_file_order(matches.rows_a, chosen, left_out)
        while block := list(islice(rows, ROWS_AT_ONCE)):
            pairs = [self._pairs(index) if index >= 0 else [] for index, _ in block]
            wanted = sorted({other for of_row in pairs for other, _ in of_row})
            others = dict(zip(wanted, matches.rows_b(wanted), strict=True))
            found: list[Row] = []
            for (index, row), of_row in zip(block, pairs, strict=True):
                found.extend(self._lines(index, row, [(others[other], score) for other, score in of_row]))
            yield found
            self._work.steps.wrote(len(block))

    def _margin(self, index: int) -> float | None:
        """Of scores of nine decimals; None beside a row that a person chose instead of the first."""
        is_first = self.matches.chosen[index] in (-1, self.matches.first[index])
        return number_or_none(round(float(self.matches.margins[index]), 9)) if is_first else None

    @abstractmethod
    def _lines(self, index: int, row: ListRow, pairs: _Pairs) -> Iterable[Row]:
        """What is written for a row of A; its index is -1 if it was never sent."""

    def _pairs(self, index: int) -> list[tuple[int, float]]:
        """The first is the row of B that it gets, if it gets one."""
        matches, found = self.matches, self.matches.options(index)
        if (chosen := int(matches.chosen[index])) >= 0:
            found = [(chosen, matches.score_of(index, chosen)), *(pair for pair in found if pair[0] != chosen)]
        return found[: self._best]


class MatchRows(_OfMatches):
    """All rows of list A, each once, with their own columns and those of the rows of B that they get. For people our
    headers and the states are words.
    """

    def __init__(self, work: Work, *, for_people: bool = False) -> None:
        """Raises UsageError for a column that list B does not have."""
        super().__init__(work)
        a, b = self.matches.columns_a, self.matches.columns_b
        self._best = work.options.top_k or 1
        self._say = work.say if for_people else str
        self._states = {each: self._say(words) if for_people else _code(each) for each, words in STATES.items()}
        self._own, self.columns_of_b = a.kept, tuple(b.names[at] for at in b.kept)
        self._shown = [b.kept[at] for at in indices_of(work.options.columns, self.columns_of_b)]
        names = [a.names[at] for at in a.kept]
        self.ours: dict[int, str] = {}  # kinds of our columns, by their places
        for number in range(1, self._best + 1):
            side = str(number) if self.matches.is_related else "B" if number == 1 else f"B {number}"
            for at in self._shown:
                names.append(unique(b.names[at] if number == 1 else f"{b.names[at]} ({side})", f" ({side})", names))
            for name in ("score", "margin", "state") if number == 1 else ("score",):
                self.ours[len(names)] = "utf8" if name == "state" else "float64"
                words = work.say(HEADERS[name]) if for_people else name
                names.append(unique(words if number == 1 else f"{words} {number}", " (CF Batch)", names))
        self.columns = tuple(names)
        self.kinds = tuple(self.ours.get(at, "utf8") for at in range(len(names)))

    def unmatched(self) -> Iterator[Row]:
        """The rows of list B that no row of A gets, with their own columns."""
        if not self.matches.is_related:
            rows, left_out = self.matches.unmatched_b().tolist(), left_out_rows(self._work.folder, 2)
            for _, row in in_file_order(self.matches.rows_b, rows, left_out):
                yield [cell_of(row, at) for at in self.matches.columns_b.kept]

    def _lines(self, index: int, row: ListRow, pairs: _Pairs) -> Iterator[Row]:
        """Nothing of B stands beside a row without a match; beside related rows the nearest, however far."""
        matches = self.matches
        chosen = int(matches.first[index] if matches.is_related else matches.chosen[index]) if index >= 0 else -1
        given = pairs if chosen >= 0 else []
        cells: list[Cell] = [cell_of(row, at) for at in self._own]
        for number in range(self._best):
            other, score = given[number] if number < len(given) else (None, math.nan)
            cells += [cell_of(other, at) if other else "" for at in self._shown]
            cells.append(number_or_none(score))
            if number == 0:
                cells.append(self._margin(index) if chosen >= 0 else None)
                cells.append(self._say(row.error) if row.error else self._states[MatchState(matches.states[index])])
        yield cells


class PairRows(_OfMatches):
    """A row for each row of A and each of its best rows of B; the state stands beside the first one."""

    columns: tuple[str, ...] = ("row", "id", "text", "rank", "match_id", "match_text", "score", "margin", "state")
    kinds: tuple[str, ...] = ("int64", "utf8", "utf8", "int64", "utf8", "utf8", "float64", "float64", "utf8")

    def _lines(self, index: int, row: ListRow, pairs: _Pairs) -> Iterator[Row]:
        for rank, (other, score) in enumerate(pairs, 1):
            margin, state = (self._margin(index), _code(self.matches.states[index])) if rank == 1 else (None, "")
            yield row.row, row.id, row.text, rank, other.id, other.text, number_or_none(score), margin, state


_ADDRESS = re.compile(r"\s*(?:https?://|www\.|/)\S*\s*")
_LOOKED_AT = 200  # rows, for what looks like an address


class RedirectRows(_OfMatches):
    """From the address of each matched row of A to that of its row of B; none leads to itself, and none comes twice."""

    columns: tuple[str, ...] = ("old", "new", "score")
    kinds: tuple[str, ...] = ("utf8", "utf8", "float64")

    def __init__(self, work: Work) -> None:
        super().__init__(work)
        found = self.matches
        self._old = _addresses(found.columns_a, found.rows_a(range(min(_LOOKED_AT, len(found.items_a)))))
        self._new = _addresses(found.columns_b, found.rows_b(range(min(_LOOKED_AT, len(found.items_b)))))
        self._seen: set[str] = set()

    def _lines(self, index: int, row: ListRow, pairs: _Pairs) -> Iterator[Row]:
        if index >= 0 and self.matches.states[index] in MATCHED:
            old, new = self._old(row).strip(), self._new(pairs[0][0]).strip()
            if old and new and old != new and old not in self._seen:
                self._seen.add(old)
                yield old, new, number_or_none(pairs[0][1])


def _addresses(columns: ListColumns, rows: Sequence[ListRow]) -> Callable[[ListRow], str]:
    """What gives the address of a row: the column whose cells look like one, the ids before others; else the ids, else
    the text.
    """
    ids = [at for at, role in enumerate(columns.roles) if role is Role.ID]
    cells = {at: [cell for row in rows if (cell := cell_of(row, at))] for at in range(len(columns.names))}
    looks = [at for at in (*ids, *cells) if cells[at] and all(map(_ADDRESS.fullmatch, cells[at]))]
    column = next(chain(looks, ids), None)
    return (lambda row: row.text) if column is None else (lambda row: cell_of(row, column))


def _code(state: int) -> str:
    return MatchState(state).name.lower()


def number_or_none(value: float) -> float | None:
    return None if math.isnan(value) else value
