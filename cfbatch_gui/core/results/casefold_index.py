"""Many texts without case, as bytes one after the other: what is looked for in a million of them is there at once.

SQLite compares without case in ASCII only, and has to take each text out of its table first. Here the texts are taken
out once, made case-free as Python does it in every script, and kept: in memory while they are few, otherwise in a file
without a name that ends with this value. In UTF-8 a text is found in another exactly where its bytes are.
"""

import io
import shutil
import tempfile
import threading
import weakref
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import IO

import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.results.numbers import distinct

_END = b"\xff"  # stands after each text; it is part of no letter
_IN_MEMORY = 16_000_000  # bytes
_ROOM = 4  # times the job's data must be free on the disk
_BLOCK_SIZE = 1_000_000  # bytes of texts that are taken out at once, about; at most _MOST_TEXTS
_MOST_TEXTS = 5_000
_MANY = 4  # times in each text: more take longer to be counted than to be passed over


@dataclass(frozen=True, slots=True, eq=False)
class _Block:
    """`ends` are the places after the last text of each number. Both of shape (n,)."""

    numbers: NDArray[np.int32]
    ends: NDArray[np.uint32]
    size: int


@dataclass(frozen=True, slots=True, eq=False)
class _Kept:
    blocks: list[_Block]
    stream: IO[bytes]


class CasefoldIndex:
    """Texts of a job, which never change, under numbers; neighbours may have the same one.

    `statement` is SQL that gives a row's key, its number and one text or more, for the keys after `?`, rising, and at
    most `?` of them. A folder that cannot take another file costs time only: the texts are read again each time.
    Methods may be called from several threads, one waits for the other. They raise DataError.
    """

    def __init__(self, folder: JobFolder, statement: str) -> None:
        self._folder, self._statement = folder, statement
        self._lock = threading.Lock()
        self._kept: _Kept | None = None

    def prepare(self) -> None:
        """Take the texts out now, so that the first search takes no longer than others. Blocking: seconds for a
        million.
        """
        with self._lock:
            if self._kept is None:
                for _ in self._taken_out():
                    pass

    def find(self, text: str) -> NDArray[np.int32]:
        """The numbers of all texts that have `text` in them, rising; case is ignored in every script. Blocking."""
        needle = _folded(text)
        found = [np.empty(0, dtype=np.int32)]
        with self._lock:
            for block, data in self._taken_out() if self._kept is None else _read_again(self._kept):
                if needle in data:
                    found.append(block.numbers[_indices_with(data, needle, block.ends)])
        return distinct(np.concatenate(found))

    def _taken_out(self) -> Iterator[tuple[_Block, bytes]]:
        blocks: list[_Block] = []
        stream: IO[bytes] | None = io.BytesIO()
        for rows in self._read():
            block, data = _block_of(rows)
            if stream is not None:
                stream = self._written(stream, data)
                blocks.append(block)
            yield block, data
        if stream is not None and (stream := self._written(stream, b"")) is not None:
            self._kept = _Kept(blocks, stream)

    def _read(self) -> Iterator[list[tuple[int, int, str]]]:
        """In blocks, so that a running job can store its answers between two of them."""
        with self._folder.open(read_only=True) as database:
            (count,) = database.execute("SELECT max(text_no) FROM texts").fetchone()
            size = max(1, min(_MOST_TEXTS, _BLOCK_SIZE * (count or 1) // self._folder.data.stat().st_size))
            last = 0
            while rows := database.execute(self._statement, (last, size)).fetchall():
                yield rows
                last = rows[-1][0]

    def _written(self, stream: IO[bytes], data: bytes) -> IO[bytes] | None:
        """Where it is now, on disk if it has become much; None when there is no room."""
        try:
            if isinstance(stream, io.BytesIO) and stream.tell() + len(data) > _IN_MEMORY:
                if not self._is_room():
                    return None
                so_far, stream = stream, tempfile.TemporaryFile(dir=self._folder.path)  # noqa: SIM115
                weakref.finalize(self, stream.close)
                stream.write(so_far.getbuffer())
            stream.write(data)
            stream.flush()
        except OSError:
            with suppress(OSError):
                stream.close()  # what it took is needed more by the jobs
            return None
        return stream

    def _is_room(self) -> bool:
        """A search must not be what fills the disk on which jobs are being sent."""
        return shutil.disk_usage(self._folder.path).free > _ROOM * self._folder.data.stat().st_size


def _read_again(kept: _Kept) -> Iterator[tuple[_Block, bytes]]:
    kept.stream.seek(0)
    for block in kept.blocks:
        yield block, kept.stream.read(block.size)


def _block_of(rows: Sequence[tuple[int, int, str]]) -> tuple[_Block, bytes]:
    numbers: list[int] = []
    parts: list[bytes] = []
    for number, of_number in groupby(rows, itemgetter(1)):
        numbers.append(number)
        parts.append(b"".join([_folded(text) + _END for row in of_number for text in row[2:]]))
    ends = np.cumsum(np.fromiter(map(len, parts), dtype=np.uint32, count=len(parts)), dtype=np.uint32)
    data = b"".join(parts)
    return _Block(np.array(numbers, dtype=np.int32), ends, len(data)), data


def _folded(text: str) -> bytes:
    return text.casefold().encode("utf-8", "surrogatepass")


def _indices_with(data: bytes, needle: bytes, ends: NDArray[np.uint32]) -> NDArray[np.int64]:
    """Which of those that end at `ends` have it."""
    if 0 < data.count(needle) <= _MANY * len(ends) and needle:
        between = np.fromiter(map(len, data.split(needle)), dtype=np.int64)
        starts = np.cumsum(between[:-1] + len(needle)) - len(needle)
        indices = np.searchsorted(ends, starts, side="right")
        return distinct(indices)
    return np.array(_one_by_one(data, needle, ends.tolist()), dtype=np.int64)


def _one_by_one(data: bytes, needle: bytes, ends: list[int]) -> list[int]:
    """The same where many have it many times: what is behind the first time is not looked at."""
    indices: list[int] = []
    start = data.find(needle)
    while start >= 0 and (index := bisect_right(ends, start)) < len(ends):
        indices.append(index)
        start = data.find(needle, ends[index])
    return indices
