"""The names in a compound file, the container of Excel's and Word's old formats and of workbooks with a password.

Microsoft describes it as [MS-CFB]: sectors of 512 or 4,096 bytes, a table with the number of the sector that follows
each, and a directory in entries of 128 bytes, which may stand anywhere, often at the end.
"""

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from cfbatch_gui.core.inputs.files.open_file import open_raw

MARK = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_SIZES = (512, 4096)
_HEADER = (("<H", 30), ("<I", 48), ("<I", 68))  # the size as a power of two, and the first sectors of two chains
_ENTRY = "<64sH2xIII48x"  # name in UTF-16, its bytes, and the entries before and after it, and the first below it
_NO_ENTRY = 0xFFFFFFFF
_LAST_SECTOR = 0xFFFFFFFA  # greater numbers are marks, such as the end of a chain


def names_in(path: Path) -> frozenset[str]:
    """Return the names at the top in lower case, as they are compared; none for a damaged file. Raises InputError."""
    with open_raw(path) as file:
        try:
            return frozenset(_names(file))
        except (struct.error, OverflowError, LookupError):
            return frozenset()


def _names(file: BinaryIO) -> Iterator[str]:
    head = file.read(512)
    (shift,), (sector,), (further,) = (struct.unpack_from(form, head, at) for form, at in _HEADER)
    size = 1 << shift
    if size not in _SIZES:
        return

    def read(number: int) -> bytes:
        file.seek((number + 1) * size)
        return file.read(size)

    def numbers(number: int) -> tuple[int, ...]:
        return struct.unpack(f"<{size // 4}I", read(number))

    tables = list(struct.unpack_from("<109I", head, 76))  # the sectors of the table, of which large files have more
    seen: set[int] = set()  # a damaged chain may lead back to itself
    while further < _LAST_SECTOR and further not in seen:
        seen.add(further)
        *part, further = numbers(further)
        tables += part
    entries: list[tuple[bytes, int, int, int, int]] = []
    while sector < _LAST_SECTOR and sector not in seen:
        seen.add(sector)
        data = read(sector)
        entries += struct.iter_unpack(_ENTRY, data[: len(data) // 128 * 128])
        sector = numbers(tables[sector // (size // 4)])[sector % (size // 4)]
    yield from _names_at_top(entries)


def _names_at_top(entries: list[tuple[bytes, int, int, int, int]]) -> Iterator[str]:
    """Yield the names beside each other at the top; below are those of documents within the document."""
    *_, top = entries[0]
    open_at, seen = [top], {_NO_ENTRY}
    while open_at:
        if (at := open_at.pop()) not in seen:
            seen.add(at)
            name, length, before, after, _ = entries[at]
            open_at += (before, after)
            yield name[: max(0, length - 2)].decode("utf-16-le", "replace").lower()
