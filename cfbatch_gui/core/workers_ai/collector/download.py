"""An answer on its way from the account to the disk, and a layout on its way to memory."""

import hashlib
import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from cfbatch_gui.core.errors import DataError
from cfbatch_gui.core.system.files import remove_own_file, write_own_bytes
from cfbatch_gui.core.workers_ai.answer_body import BodyError
from cfbatch_gui.core.workers_ai.collector.wire import StoredAnswer

FLUSHED_BYTES: Final = 8 << 20  # after so many bytes, what has arrived is flushed to the disk
MOST_LAYOUT_BYTES: Final = 64 << 20
_RANGE: Final = re.compile(r"bytes (\d{1,15})-(\d{1,15})/(\d{1,15})")


class AnswerFile:
    """The raw answer of one batch as an AnswerSink: a file beside the job's answers, named by the answer's mark.

    What a crash left of it is used again up to the last `FLUSHED_BYTES` that were certainly flushed before it.
    """

    def __init__(self, folder: Path, stored: StoredAnswer) -> None:
        mark = hashlib.sha256(f"{stored.etag}\n{stored.size}".encode()).hexdigest()[:12]
        self._folder, self._stored = folder, stored
        self.path = folder / f"{stored.number:04}-{mark}.part"
        self.size = 0  # bytes that are there

    @property
    def is_complete(self) -> bool:
        """All of it has arrived, and is on the disk."""
        return self.size == self._stored.size

    @property
    def headers(self) -> dict[str, str]:
        """What asks for the rest of it; for all of it when the account has another answer by now."""
        return {"range": f"bytes={self.size}-", "if-range": self._stored.etag} if self.size else {}

    def prepare(self) -> None:
        """Look at what is there, and remove parts of other answers to the same batch. Raises DataError."""
        for other in self._folder.glob(f"{self._stored.number:04}-*.part"):
            if other != self.path:
                remove_own_file(other)
        there = self.path.stat().st_size if self.path.exists() else 0
        self.size = max(0, min(there, self._stored.size) - 1) // FLUSHED_BYTES * FLUSHED_BYTES

    def begin(self, status: int, headers: Mapping[str, str]) -> None:
        """See AnswerSink."""
        start, whole = 0, headers.get("content-length", "")
        if status == 206:
            found = _RANGE.fullmatch(headers.get("content-range", ""))
            if found is None:
                raise BodyError("broken", "a part without its place")
            start, whole = int(found[1]), found[3]
        if start != (self.size if status == 206 else 0) or whole not in ("", str(self._stored.size)):
            raise BodyError("broken", "another part, or another answer, than was asked for")
        self.size = start

    def write(self, block: bytes) -> None:
        """See AnswerSink. Raises DiskFull and DataError."""
        while block:
            room = FLUSHED_BYTES - self.size % FLUSHED_BYTES
            piece, block = block[:room], block[room:]
            end = self.size + len(piece)
            if end > self._stored.size:
                raise BodyError("broken", "more bytes than the answer has")
            is_flushed = len(piece) == room or end == self._stored.size
            write_own_bytes(self.path, piece, self.size, is_flushed=is_flushed)
            self.size = end

    def read(self) -> bytes:
        """The whole answer. Raises OSError."""
        return self.path.read_bytes()

    def remove(self) -> None:
        """Once it is stored, or when it cannot be used. Raises DataError."""
        remove_own_file(self.path)
        self.size = 0


def remove_parts(folder: Path) -> None:
    """Remove what was fetched of any answers in a folder; what another program has open stays."""
    for path in folder.glob("*.part"):
        with suppress(DataError):
            remove_own_file(path)


class Layout:
    """An AnswerSink that keeps the body in memory, up to `MOST_LAYOUT_BYTES`."""

    def __init__(self) -> None:
        self.data = b""

    def begin(self, status: int, headers: Mapping[str, str]) -> None:
        """See AnswerSink."""
        self.data = b""

    def write(self, block: bytes) -> None:
        """See AnswerSink."""
        if len(self.data) + len(block) > MOST_LAYOUT_BYTES:
            raise BodyError("too_large", "more than a layout can hold")
        self.data += block
