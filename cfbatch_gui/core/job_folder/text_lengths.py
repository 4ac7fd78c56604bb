"""How long each text of a job is, in bytes as JSON and in tokens by both estimates: counted once, kept in blocks."""

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

import msgspec
import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.errors import DataError
from cfbatch_gui.core.job_folder.schema import Inserts, WriteQueue
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.workers_ai.estimate import count_ascii_tokens, count_tokens

_encode_into = msgspec.json.Encoder().encode_into
_NUMBER = np.dtype("<u4")
_BLOCKS_AT_ONCE = 20
_QUOTE = ord('"')


class LengthWriter:
    """The lengths of texts in the order of their numbers, from 1, in the transaction of `writes`."""

    def __init__(self, writes: WriteQueue) -> None:
        self._new_blocks = Inserts(writes, "INSERT INTO lengths", "(?, ?, ?, ?)", _BLOCKS_AT_ONCE)
        self._count = 0
        self._encoded = bytearray()

    def add(self, texts: Sequence[str]) -> int:
        """Count a block of texts; returns how many bytes they come to."""
        _encode_into(texts, self._encoded)
        self._new_blocks.add(self._count + 1, *_lengths(texts, self._encoded))
        self._new_blocks.write()
        self._count += len(texts)
        return len(self._encoded)

    def write_all(self) -> None:
        """Write what may have been kept until now."""
        self._new_blocks.write_all()


def _lengths(texts: Sequence[str], encoded: bytearray) -> tuple[bytes, ...]:
    characters = np.fromiter(map(len, texts), np.uint32, len(texts))
    if len(encoded) == int(characters.sum(dtype=np.int64)) + 3 * len(texts) + 1:  # all are ASCII, and none is escaped
        columns = (characters + np.uint32(2), *count_ascii_tokens(characters))
    else:
        columns = (_sizes(encoded), *count_tokens(texts))
    return tuple(column.astype(_NUMBER).tobytes() for column in columns)


def _sizes(encoded: bytearray) -> NDArray[np.uint32]:
    """How many bytes of a JSON array of texts each text takes, with its quotation marks."""
    without_escapes = encoded.replace(b"\\\\", b"  ").replace(b'\\"', b"  ")
    quotes = np.flatnonzero(np.frombuffer(without_escapes, np.uint8) == _QUOTE)
    return (quotes[1::2] - quotes[::2] + 1).astype(np.uint32)


@dataclass(frozen=True, slots=True)
class Lengths:
    """Of each text, at index number - 1: bytes as JSON, and tokens by both estimates. uint32 (n,)."""

    sizes: NDArray[np.uint32]
    upper: NDArray[np.uint32]
    lower: NDArray[np.uint32]


def read_lengths(database: sqlite3.Connection) -> Lengths:
    """The lengths of all texts. Raises DataError when they are not those of the texts."""
    (last,) = database.execute("SELECT coalesce(max(text_no), 0) FROM texts").fetchone()
    found = database.execute("SELECT first, sizes, upper, lower FROM lengths ORDER BY first").fetchall()
    known = found[-1][0] - 1 + len(found[-1][1]) // _NUMBER.itemsize if found else 0
    if known < last:
        raise DataError(message("This job's data is damaged."), detail=f"lengths: {known} of {last} texts")
    return Lengths(*(np.frombuffer(b"".join(row[column] for row in found), _NUMBER) for column in (1, 2, 3)))
