"""The texts of a job as JSON in one file, one after the other, and how long each is; `data.db` knows it by name and
size, and texts are written out anew without it.
"""

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import BinaryIO, cast

import msgspec
import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.errors import DataError
from cfbatch_gui.core.job_folder.schema import Inserts, WriteQueue, metadata_value, put_metadata_value
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.workers_ai.estimate import count_ascii_tokens, count_tokens

_METADATA_NAME = "packed_texts"  # its value: name and size of the file
_encode, _encode_into = msgspec.json.Encoder().encode, msgspec.json.Encoder().encode_into
_NUMBER = np.dtype("<u4")
_BLOCKS = """
SELECT first, start, sizes FROM packed
WHERE first < ? AND first >= coalesce((SELECT max(first) FROM packed WHERE first <= ?), 1) ORDER BY first
"""
_BLOCKS_AT_ONCE = 20
_QUOTE = ord('"')


class TextPacker:
    """Texts in the order of their numbers, from 1. What `writes` takes is in the caller's transaction."""

    def __init__(
        self, writes: WriteQueue, stream: BinaryIO, written: Callable[[int], None] = lambda position: None
    ) -> None:
        self._new_blocks = Inserts(writes, "INSERT INTO packed", "(?, ?, ?, ?, ?)", _BLOCKS_AT_ONCE)
        self._stream, self._written = stream, written
        self._position, self._count = 0, 0
        self._encoded = bytearray()

    def add(self, texts: Sequence[str]) -> int:
        """Write a block of texts; returns how many bytes they came to."""
        _encode_into(texts, self._encoded)
        self._new_blocks.add(*_lengths(self._count + 1, self._position, texts, self._encoded))
        self._new_blocks.write()
        self._count += len(texts)
        self._encoded[-1:] = b","
        size = self._stream.write(memoryview(self._encoded)[1:])
        self._position += size
        self._written(self._position)
        return size

    def write_all(self) -> None:
        """Write what the data is told of the texts so far, of which a part may be kept until then."""
        self._new_blocks.write_all()

    def note(self, database: sqlite3.Connection, name: str) -> None:
        put_metadata_value(database, _METADATA_NAME, [name, self._position])


def _lengths(first: int, start: int, texts: Sequence[str], encoded: bytearray) -> tuple[object, ...]:
    characters = np.fromiter(map(len, texts), np.uint32, len(texts))
    if len(encoded) == int(characters.sum(dtype=np.int64)) + 3 * len(texts) + 1:  # all are ASCII, and none is escaped
        columns = (characters + np.uint32(2), *count_ascii_tokens(characters))
    else:
        columns = (_sizes(encoded), *count_tokens(texts))
    return first, start, *(column.astype(_NUMBER).tobytes() for column in columns)


def _sizes(encoded: bytearray) -> NDArray[np.uint32]:
    """How many bytes of a JSON array of texts each text takes, with its quotation marks."""
    without_escapes = encoded.replace(b"\\\\", b"  ").replace(b'\\"', b"  ")
    quotes = np.flatnonzero(np.frombuffer(without_escapes, np.uint8) == _QUOTE)
    return (quotes[1::2] - quotes[::2] + 1).astype(np.uint32)


class TextsOfTable:
    """The same without the file: texts are read from their table, and written out."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database

    def prepare(self, first: int, stop: int, *, is_all: bool) -> None: ...

    def joined(self, first: int, count: int) -> memoryview:
        """So many texts from the number `first` on, as JSON with commas between."""
        return memoryview(b",".join(self._read(first, count)))

    def cut(self, joined: memoryview, first: int, count: int) -> list[memoryview]:
        sizes = list(map(len, self._read(first, count)))
        starts = accumulate((size + 1 for size in sizes), initial=0)
        return [joined[start : start + size] for start, size in zip(starts, sizes, strict=False)]

    def _read(self, first: int, count: int) -> list[bytes]:
        rows = self._database.execute(
            "SELECT text FROM texts WHERE text_no BETWEEN ? AND ? ORDER BY text_no", (first, first + count - 1)
        )
        return [_encode(text) for (text,) in rows]


class PackedTexts:
    """The file of texts, open for reading."""

    def __init__(self, database: sqlite3.Connection, stream: BinaryIO) -> None:
        self._database, self._stream = database, stream
        self._first, self._starts, self._sizes = 1, np.empty(0, np.int64), np.empty(0, _NUMBER)
        self._data, self._data_start = memoryview(b""), 0

    def prepare(self, first: int, stop: int, *, is_all: bool) -> None:
        """Find out where the texts from `first` to before `stop` stand; of others nothing may be asked."""
        blocks = self._database.execute(_BLOCKS, (stop, first)).fetchall()
        self._first = blocks[0][0]
        self._sizes = np.frombuffer(b"".join([block[2] for block in blocks]), _NUMBER)
        ends = np.cumsum(self._sizes + 1, dtype=np.int64)  # each with a comma
        self._starts = blocks[0][1] + ends - (self._sizes + 1)
        if is_all:
            self._read(first, stop - first)

    def _read(self, first: int, count: int) -> None:
        start, stop = self._extent(first, count)
        self._stream.seek(start)
        self._data, self._data_start = memoryview(self._stream.read(stop - start)), start

    def joined(self, first: int, count: int) -> memoryview | None:
        """So many texts from the number `first` on, as JSON with commas between; None when the file is not as noted."""
        start, stop = self._extent(first, count)
        if not self._data_start <= start <= stop <= self._data_start + len(self._data):
            self._read(first, count)
        data = self._data[start - self._data_start : stop - self._data_start]
        is_whole = len(data) == stop - start and data[0] == _QUOTE and data[-1] == _QUOTE
        return data if is_whole else None

    def cut(self, joined: memoryview, first: int, count: int) -> list[memoryview]:
        index = first - self._first
        starts = (self._starts[index : index + count] - self._starts[index]).tolist()
        sizes = self._sizes[index : index + count].tolist()
        return [joined[start : start + size] for start, size in zip(starts, sizes, strict=True)]

    def _extent(self, first: int, count: int) -> tuple[int, int]:
        index = first - self._first
        last = index + count - 1
        return int(self._starts[index]), int(self._starts[last]) + int(self._sizes[last])


@contextmanager
def open_texts(folder: Path, database: sqlite3.Connection) -> Iterator[PackedTexts | TextsOfTable]:
    """The texts of a job, from their file, or else from their table."""
    noted = metadata_value(database, _METADATA_NAME)
    name, size = noted if isinstance(noted, list) and len(noted) == 2 else ("", 0)
    path = folder / Path(str(name)).name
    if not name or not _has_size(path, size):
        yield TextsOfTable(database)
        return
    with path.open("rb", buffering=0) as stream:
        yield PackedTexts(database, cast(BinaryIO, stream))


def _has_size(path: Path, size: int) -> bool:
    try:
        return path.stat().st_size == size
    except OSError:
        return False


@dataclass(frozen=True, slots=True)
class Lengths:
    """Of each text, at index number - 1: bytes as JSON, and tokens by both estimates. uint32 (n,)."""

    sizes: NDArray[np.uint32]
    upper: NDArray[np.uint32]
    lower: NDArray[np.uint32]


def read_lengths(database: sqlite3.Connection) -> Lengths:
    """The lengths of all texts. Raises DataError when they are not those of the texts."""
    (last,) = database.execute("SELECT coalesce(max(text_no), 0) FROM texts").fetchone()
    found = database.execute("SELECT first, sizes, upper, lower FROM packed ORDER BY first").fetchall()
    known = found[-1][0] - 1 + len(found[-1][1]) // _NUMBER.itemsize if found else 0
    if known < last:
        raise DataError(message("This job's data is damaged."), detail=f"packed: {known} of {last} texts")
    return Lengths(*(np.frombuffer(b"".join(row[column] for row in found), _NUMBER) for column in (1, 2, 3)))
