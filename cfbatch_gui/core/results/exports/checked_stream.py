"""Files that are read back after writing and compared by size and checksum.

This finds bytes that the disk lost or changed. That the format is right is proved by the tests, which read it with
other programs.
"""

import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedRandom
from pathlib import Path
from typing import BinaryIO, cast

from cfbatch_gui.core.results.exports.base import Work, not_as_written

_CHUNK = 1 << 20


class CheckedStream:
    """A file that is written from its beginning. `path` is its final path, for messages."""

    def __init__(self, stream: BinaryIO, path: Path) -> None:
        self._stream = stream
        self._path = path
        self._checksum = 0
        self.size = 0

    def write(self, data: bytes | memoryview) -> int:
        """Write all of `data`; returns its length in bytes."""
        self._stream.write(data)
        self._checksum = zlib.crc32(data, self._checksum)
        self.size += memoryview(data).nbytes
        return memoryview(data).nbytes

    def flush(self) -> None:
        """Flush the buffer to the operating system."""
        self._stream.flush()

    def compare(self, work: Work, items: int) -> None:
        """Read the whole file back; it counts as `items` in the progress. Raises ExportError if it differs."""
        self._stream.flush()
        self._stream.seek(0)
        work.tick_back(0)
        checksum = size = 0
        chunk = memoryview(bytearray(_CHUNK))
        while count := cast(BufferedRandom, self._stream).readinto(chunk):
            checksum = zlib.crc32(chunk[:count], checksum)
            size += count
            work.tick_back(items * size // max(1, self.size))
        if (size, checksum) != (self.size, self._checksum):
            not_as_written(self._path, f"{size} bytes with checksum {checksum:08x}")


@contextmanager
def checked_file(folder: Path, name: str, work: Work) -> Iterator[CheckedStream]:
    """A new file in an unfinished folder, compared and flushed to the disk at the end of the block."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("x+b") as stream:
        checked = CheckedStream(stream, work.path / name)
        yield checked
        checked.compare(work, 0)
        os.fsync(stream.fileno())
