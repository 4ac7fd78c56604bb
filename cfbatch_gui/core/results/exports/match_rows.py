"""The rows of an export of matches: list A with what it gets of list B, the pairs one by one, and redirects."""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict
from heapq import merge
from itertools import chain, islice
from typing import TypeVar

import numpy as np

from cfbatch_gui.core.inputs.input_values import Role
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.results.exports.base import Cell, Row, Work, indices_of
from cfbatch_gui.core.results.matches import MATCHED, ListColumns, ListRow, Matches, MatchState, read_matches
from cfbatch_gui.core.results.outcomes import count_items

T = TypeVar("T")

_ROWS_AT_ONCE = 2_000
STATES = {
    MatchState.MATCHED: message("matched"),
    MatchState.SAME: message("same_text"),
    MatchState.ACCEPTED: message("match_by_you"),
    MatchState.CHECK: message("to_check"),
    MatchState.WITHOUT: message("without_match"),
    MatchState.NONE: message("no_match_by_you"),
}
_HEADERS = {
    **{"score": message("score_2"), "margin": message("margin"), "state": message("state_2")},
    "error": message("reason_2"),
}
_KINDS = {"score": "float64", "margin": "float64"}


class _OfMatches:
    """What all tables of matches share: the matches, and how many rows of B each row of A may have."""

    def __init__(self, work: Work) -> None:
        self._work = work
        self.matches = matches = _matches_of(work)
        self._best = work.options.top_k or work.job.options.matching.best
        items = matches.items_a.tolist()
        self._chosen = [row for row, item in enumerate(items) if work.options.has_item(item)]

    @property
    def notes(self) -> dict[str, object]:
        """Notes for the manifest."""
        options = asdict(self._work.job.options.matching) | {"threshold": self.matches.threshold}
        return {"matches": {**options, **self.matches.tally()}}

    def _pairs(self, row: int) -> list[tuple[int, float]]:
        """The best rows of B for a row of A with their scores; first the one that it gets, if it gets one."""
        matches = self.matches
        chosen, options = int(matches.chosen[row]), matches.options(row)
        if chosen >= 0:
            options.sort(key=lambda pair: pair[0] != chosen)
            if chosen not in dict(options):
                options.insert(0, (chosen, math.nan))
        return options[: self._best]

    def _blocks_of_a(self) -> Iterator[tuple[Sequence[int], list[ListRow]]]:
        """The rows of A that have a text."""
        for block in _blocks(self._chosen):
            yield block, self.matches.rows_a(block)
            self._work.steps.wrote(len(block))

    def _others(self, rows: Sequence[int]) -> dict[int, ListRow]:
        """These rows of B, by their indices."""
        wanted = sorted(set(rows))
        return dict(zip(wanted, self.matches.rows_b(wanted), strict=True))


def _matches_of(work: Work) -> Matches:
    found = read_matches(work.folder, work.job, work.decided, progress=lambda share: work.steps.wrote(0))
    if not found.is_related:
        work.steps.wrote(len(found.items_b) + len(found.left_out(2)))
    return found if work.options.threshold is None else found.with_threshold(work.options.threshold)


class MatchRows(_OfMatches):
    """All rows of list A in the order of their file, each once, with their own columns, beside those of list B. The
    state and the headers that are ours are words `for_people`.
    """

    def __init__(self, work: Work, *, for_people: bool = False) -> None:
        """Raises UsageError for a column that list B does not have."""
        super().__init__(work)
        matches, say = self.matches, work.say if for_people else str
        a, b = matches.columns_a, matches.columns_b
        if not (matches.is_related or work.options.top_k):
            self._best = 1
        self._own = a.kept
        self.columns_of_b = tuple(b.names[at] for at in b.kept)
        self._shown = [b.kept[at] for at in indices_of(work.options.columns, self.columns_of_b)]
        self._states = {state: say(words) if for_people else state.name.lower() for state, words in STATES.items()}
        self._say = say
        with work.folder.open(read_only=True) as database:
            self._has_reasons = not for_people or count_items(database, work.job.failed_batches).missing > 0
        of_first = ("score", "margin", "state", *(("error",) if self._has_reasons else ()))
        names = [a.names[at] for at in a.kept]
        self.ours: dict[int, str] = {}  # what our columns hold, by their places
        for number in range(1, self._best + 1):
            side = str(number) if matches.is_related else "B" if number == 1 else f"B {number}"
            names += [_unique(b.names[at], f" ({side})", names, always=number > 1) for at in self._shown]
            for name in of_first if number == 1 else ("score",):
                self.ours[len(names)] = name
                word = say(_HEADERS[name]) if for_people else name
                names.append(_unique(word if number == 1 else f"{word} {number}", " (CF Batch)", names))
        self.columns = tuple(names)
        self.kinds = tuple(_KINDS.get(self.ours.get(at, ""), "utf8") for at in range(len(names)))

    def blocks(self) -> Iterator[list[Row]]:
        left_out = [] if self._work.options.items is not None else self.matches.left_out(1)
        found = _in_file_order(self.matches.rows_a, self._chosen, left_out)
        for block in _blocks(found):
            pairs = [self._given(row) for row, _ in block]
            others = self._others([other for of_row in pairs for other, _ in of_row])
            yield [self._row(*each, of_row, others) for each, of_row in zip(block, pairs, strict=True)]
            self._work.steps.wrote(len(block))

    def unmatched(self) -> Iterator[Row]:
        """The rows of list B that no row of A gets, with their own columns."""
        if self.matches.is_related:
            return
        kept, rows = self.matches.columns_b.kept, self.matches.unmatched_b().tolist()
        for _, row in _in_file_order(self.matches.rows_b, rows, self.matches.left_out(2)):
            yield [_cell(row, at) for at in kept]

    def _given(self, row: int) -> list[tuple[int, float]]:
        """Nothing for a row without a match; of related rows the nearest, however far."""
        has_match = row >= 0 and (self.matches.is_related or self.matches.chosen[row] >= 0)
        return self._pairs(row) if has_match else []

    def _row(self, index: int, row: ListRow, pairs: list[tuple[int, float]], others: dict[int, ListRow]) -> Row:
        found: list[Cell] = [_cell(row, at) for at in self._own]
        for number in range(self._best):
            other, score = pairs[number] if number < len(pairs) else (-1, math.nan)
            found += [_cell(others[other], at) if other >= 0 else "" for at in self._shown]
            found.append(_number(score))
            if number == 0:
                is_first = other >= 0 and other == self.matches.first[index]
                found.append(_number(float(self.matches.margins[index])) if is_first else None)
                found.append("" if row.error else self._states[MatchState(self.matches.states[index])])
                found += [self._say(row.error)] * self._has_reasons
        return found


class PairRows(_OfMatches):
    """A row for each row of A and each of its best rows of B; the state stands beside the one that counts."""

    columns: tuple[str, ...] = ("row", "id", "text", "rank", "match_id", "match_text", "score", "state")
    kinds: tuple[str, ...] = ("int64", "utf8", "utf8", "int64", "utf8", "utf8", "float64", "utf8")

    def blocks(self) -> Iterator[list[Row]]:
        for indices, rows in self._blocks_of_a():
            pairs = [self._pairs(index) for index in indices]
            others = self._others([other for of_row in pairs for other, _ in of_row])
            yield [
                self._row(index, row, rank, others[other], score)
                for index, row, of_row in zip(indices, rows, pairs, strict=True)
                for rank, (other, score) in enumerate(of_row, 1)
            ]

    def _row(self, index: int, row: ListRow, rank: int, other: ListRow, score: float) -> Row:
        state = MatchState(self.matches.states[index]).name.lower() if rank == 1 else ""
        return row.row, row.id, row.text, rank, other.id, other.text, _number(score), state


_ADDRESS = re.compile(r"(?:https?://|www\.|/)\S*")
_LOOKED_AT = 200  # rows, for what looks like an address


class RedirectRows(_OfMatches):
    """From the address of each matched row of A to that of its row of B; none leads to itself, and none comes twice."""

    columns: tuple[str, ...] = ("old", "new", "score")
    kinds: tuple[str, ...] = ("utf8", "utf8", "float64")

    def blocks(self) -> Iterator[list[Row]]:
        matches, seen = self.matches, set[str]()
        some = range(min(_LOOKED_AT, len(matches.items_a))), range(min(_LOOKED_AT, len(matches.items_b)))
        old_at = _column_of_addresses(matches.columns_a, matches.rows_a(some[0]))
        new_at = _column_of_addresses(matches.columns_b, matches.rows_b(some[1]))
        is_matched = np.isin(matches.states, MATCHED)
        for indices, rows in self._blocks_of_a():
            others = self._others([int(matches.chosen[index]) for index in indices if is_matched[index]])
            found: list[Row] = []
            for index, row in zip(indices, rows, strict=True):
                if not is_matched[index]:
                    continue
                other = int(matches.chosen[index])
                old, new = _address(row, old_at), _address(others[other], new_at)
                if old and new and old != new and old not in seen:
                    seen.add(old)
                    found.append((old, new, _number(matches.score_of(index, other))))
            yield found


def _column_of_addresses(columns: ListColumns, rows: Sequence[ListRow]) -> int | None:
    """The column whose cells look like addresses, the ids if they are among several such; else the ids, else None."""
    ids = [at for at, role in enumerate(columns.roles) if role is Role.ID]
    looks = [at for at in range(len(columns.names)) if _are_addresses([_cell(row, at) for row in rows])]
    return next(chain((at for at in ids if at in looks), looks, ids), None)


def _are_addresses(cells: Sequence[str]) -> bool:
    filled = [cell.strip() for cell in cells if cell.strip()]
    return bool(filled) and all(map(_ADDRESS.fullmatch, filled))


def _address(row: ListRow, at: int | None) -> str:
    return (row.text if at is None else _cell(row, at)).strip()


def _in_file_order(
    read: Callable[[Sequence[int]], list[ListRow]], rows: Sequence[int], left_out: Sequence[ListRow]
) -> Iterator[tuple[int, ListRow]]:
    """The rows of a list with their indices, among them those that were never sent, whose index is -1."""
    found = (pair for block in _blocks(rows) for pair in zip(block, read(block), strict=True))
    return merge(found, ((-1, row) for row in left_out), key=lambda pair: pair[1].row)


def _blocks(rows: Iterable[T]) -> Iterator[list[T]]:
    left = iter(rows)
    while block := list(islice(left, _ROWS_AT_ONCE)):
        yield block


def _cell(row: ListRow, at: int) -> str:
    return row.cells[at] if at < len(row.cells) else ""


def _number(value: float) -> float | None:
    return None if math.isnan(value) else value


def _unique(name: str, more: str, taken: Sequence[str], *, always: bool = False) -> str:
    known = {each.casefold() for each in taken}
    found = name + more if always else name
    while found.casefold() in known:
        found += more
    return found
