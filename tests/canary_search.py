"""Looks for the canary in files, in what is packed in them, and in text, in its usual encodings."""

import base64
import os
import stat
import time
import zipfile
import zlib
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

from tests.canary import CORE, ON_PURPOSE

_PIECE = 4 << 20  # bytes that are searched at a time
_MOST = 64 << 20  # bytes out of a packed member: a bomb in the tests must be none here
_DEPTH = 2  # an archive in an archive
_ZIP = b"PK\x03\x04"
_DEFLATED = (b"\x1f\x8b", b"\x78\x01", b"\x78\x5e", b"\x78\x9c", b"\x78\xda")
_DAMAGED = (OSError, ValueError, RuntimeError, zipfile.BadZipFile, zlib.error)


def _encoded(core: bytes) -> Iterator[tuple[bytes, str]]:
    text = core.decode()
    yield text.encode(), "UTF-8"
    yield text.encode("utf-16-le"), "UTF-16"
    yield text.encode("utf-16-be"), "UTF-16"
    for before in range(3):  # bytes of the group of three that the core begins in
        # Only letters that take none of their bits from a neighbour.
        own = slice(-(-before * 8 // 6), (before + len(core)) * 8 // 6)
        yield base64.urlsafe_b64encode(bytes(before) + core)[own], "base64url"
        yield base64.b64encode(bytes(before) + core)[own], "base64"
    for digits in (core.hex(), core.hex().upper()):
        pairs = [digits[place : place + 2] for place in range(0, len(digits), 2)]
        yield digits.encode(), "hex"
        yield "".join(f"%{pair}" for pair in pairs).encode(), "percent-encoded"
        yield "".join(f"\\u00{pair}" for pair in pairs).encode(), "JSON-escaped"


NEEDLES = dict(_encoded(CORE.encode()))
_OVERLAP = max(map(len, NEEDLES)) - 1


@dataclass(frozen=True, slots=True, order=True)
class Hit:
    """Where the canary was found; never what stood around it."""

    place: str
    encoding: str

    def __str__(self) -> str:
        return f"{self.place} ({self.encoding})"


@dataclass(slots=True)
class Search:
    """What was searched, and what was found that is not there on purpose."""

    files: int = 0
    size: int = 0  # bytes of files, as they stand and unpacked
    seconds: float = 0.0
    unread: int = 0  # files and members that are damaged, locked up, or cut because they are endless
    hits: set[Hit] = field(default_factory=set)

    def folder(self, folder: Path, *, without: Collection[Path] = (), named: str = "") -> None:
        """Every file below a folder, named from there, after `named`; `without` are folders in it that are left out."""
        for above, folders, names in os.walk(folder):
            folders[:] = [name for name in folders if Path(above, name) not in without]
            for name in names:
                path = Path(above, name)
                self.file(path, f"file {named}{path.relative_to(folder).as_posix()}")

    def file(self, path: Path, place: str) -> None:
        """One file, what is packed in it, and its name."""
        started = time.perf_counter()
        self._data(os.fsencode(path), place)
        try:
            if stat.S_ISREG(path.lstat().st_mode):
                self.files += 1
                with path.open("rb") as stream:
                    self._stream(stream, place, _DEPTH, is_file=True)
        except FileNotFoundError:
            pass  # it was there only for a while
        except OSError:
            self.unread += 1
        self.seconds += time.perf_counter() - started

    def text(self, text: str | bytes, place: str) -> None:
        """What was printed, logged or passed on."""
        self._data(text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text, place)

    def _data(self, data: bytes, place: str) -> None:
        for needle, encoding in NEEDLES.items():
            if needle in data and not any(fnmatchcase(place, pattern) for pattern in ON_PURPOSE):
                self.hits.add(Hit(place.replace(CORE, "[canary]"), encoding))

    def _stream(self, stream: BinaryIO, place: str, depth: int, *, is_file: bool = False) -> None:
        head, end, left = b"", b"", _MOST
        while piece := stream.read(_PIECE):
            self._data(end + piece, place)
            self.size += len(piece)
            head, end = head or piece[: len(_ZIP)], piece[-_OVERLAP:]
            left -= len(piece)
            if left <= 0 and not is_file:
                self.unread += 1
                return
        try:
            self._packed(stream, head, place, depth - 1)
        except _DAMAGED:
            self.unread += 1

    def _packed(self, stream: BinaryIO, head: bytes, place: str, depth: int) -> None:
        if depth < 0:
            return
        if head.startswith(_ZIP):
            stream.seek(0)
            with zipfile.ZipFile(stream) as archive:
                for member in archive.infolist():
                    self.text(member.filename, f"{place}: name of a member")
                    with archive.open(member) as content:
                        self._stream(content, f"{place}: {member.filename}", depth)  # type: ignore[arg-type]
        elif head.startswith(_DEFLATED):
            stream.seek(0)
            self._stream(BytesIO(_inflated(stream.read())), f"{place}: decompressed", depth)


def _inflated(packed: bytes) -> bytes:
    """Gzip or zlib, all members of it, also when the end is missing."""
    content = bytearray()
    while packed.startswith(_DEFLATED) and len(content) < _MOST:
        unpacker = zlib.decompressobj(zlib.MAX_WBITS | 32)
        content += unpacker.decompress(packed, _MOST - len(content))
        packed = unpacker.unused_data
    return bytes(content)
