"""Everything that a job may send, in the order it is sent, as numbers: where it stands, and how long it is."""

import sqlite3
from dataclasses import dataclass, fields, replace

import msgspec
import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.job_folder.packed_texts import Lengths, read_lengths
from cfbatch_gui.core.job_folder.schema import ITEMS_ARE_TEXTS, fact
from cfbatch_gui.core.workers_ai.estimate import tokens_lower, tokens_most

_BLOCK = 10_000
_encode = msgspec.json.Encoder().encode
_Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Sequence:
    """int64 (n,) each. `part` is 0 for a whole text, `query` 0 without one; `size` is in bytes as JSON, `upper` and
    `lower` are tokens.
    """

    item: _Numbers
    part: _Numbers
    query: _Numbers
    text: _Numbers
    size: _Numbers
    upper: _Numbers
    lower: _Numbers

    def __len__(self) -> int:
        return len(self.item)

    def only(self, mask: NDArray[np.bool_]) -> "Sequence":
        """Those where `mask` is set."""
        return self if mask.all() else Sequence(*(getattr(self, field.name)[mask] for field in fields(self)))

    def breaks(self) -> _Numbers:
        """Places, but the first, that do not carry on where the one before ends: with the next item and text."""
        is_break = (np.diff(self.item) != 1) | (np.diff(self.text) != 1) | (self.part[1:] > 0) | (self.part[:-1] > 0)
        return np.flatnonzero(is_break) + 1


def read_sequence(database: sqlite3.Connection, kind: Kind) -> tuple[Sequence, Lengths]:
    """What there is to send, without items that repeat another, and the lengths of all texts."""
    lengths = read_lengths(database)
    if kind is Kind.RANK:
        item, query, text = _read(
            database,
            "SELECT item_no, query_no, text_no FROM items WHERE query_no IS NOT NULL ORDER BY query_no, position",
        )
    elif fact(database, ITEMS_ARE_TEXTS, False):
        (last,) = database.execute("SELECT coalesce(max(item_no), 0) FROM items").fetchone()
        item = text = np.arange(1, last + 1, dtype=np.int64)
        query = np.zeros(last, np.int64)
    else:
        item, query, text = _read(database, "SELECT item_no, 0, text_no FROM items ORDER BY item_no")
    place = text - 1
    sequence = Sequence(
        item,
        np.zeros(len(item), np.int64),
        query,
        text,
        lengths.sizes[place].astype(np.int64),
        lengths.upper[place].astype(np.int64),
        lengths.lower[place].astype(np.int64),
    )
    repeated = [number for (number,) in database.execute("SELECT item_no FROM repeats")]
    if repeated:
        sequence = sequence.only(~np.isin(item, np.array(repeated, np.int64)))
    return (_with_parts(database, sequence) if kind is Kind.RANK else sequence), lengths


def _read(database: sqlite3.Connection, query: str) -> tuple[_Numbers, _Numbers, _Numbers]:
    """Three columns of numbers."""
    found = database.execute(query)
    blocks = []
    while rows := found.fetchmany(_BLOCK):
        blocks.append(np.array(rows, np.int64))
    table = np.concatenate(blocks) if blocks else np.empty((0, 3), np.int64)
    return table[:, 0].copy(), table[:, 1].copy(), table[:, 2].copy()


def _with_parts(database: sqlite3.Connection, whole: Sequence) -> Sequence:
    """Items that have parts give way to these."""
    counts = dict(database.execute("SELECT item_no, count(*) FROM parts GROUP BY item_no"))
    if not counts:
        return whole
    times = np.array([counts.get(number, 1) for number in whole.item.tolist()], np.int64)
    places = np.repeat(np.arange(len(whole)), times)
    sequence = Sequence(*(getattr(whole, field.name)[places] for field in fields(whole)))
    first = dict(zip(whole.item.tolist(), (np.cumsum(times) - times).tolist(), strict=True))
    part, size, upper, lower = (
        column.copy() for column in (sequence.part, sequence.size, sequence.upper, sequence.lower)
    )
    for item_no, number, text in database.execute(
        "SELECT p.item_no, p.part, substr(t.text, p.start + 1, p.stop - p.start) FROM parts p JOIN items USING(item_no)"
        " JOIN texts t USING(text_no) ORDER BY p.item_no, p.part"
    ):
        if item_no in first:
            place = first[item_no] + number - 1
            part[place], size[place] = number, len(_encode(text))
            upper[place], lower[place] = tokens_most(text), tokens_lower(text)
    return replace(sequence, part=part, size=size, upper=upper, lower=lower)
