"""Recognise unsupported files by their first bytes, and say what to do instead."""

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from cfbatch_gui.core.errors import InputError
from cfbatch_gui.core.inputs.open_file import open_raw
from cfbatch_gui.core.messages import message

_EMPTY_ZIP = b"PK\x05\x06"
_WORKBOOKS = {"workbook", "book"}  # Excel 97 and 95; some other programs write them in capitals
_PROTECTED = "encryptedpackage"  # a new workbook in the container of the old ones
_TAR, _TAR_AT = b"ustar", 257
_SPREADSHEET = message("Open it in a spreadsheet program, save it as .xlsx or CSV, and choose that file.")
CHOOSE_TABLE = message("Choose a text file, CSV, JSON Lines or .xlsx.")
_UNPACK = message("Unpack it first, and choose the file that was in it.")
_PICTURES = (b"\x89PNG\r\n", b"\xff\xd8\xff", b"GIF87a", b"GIF89a", b"II*\0", b"MM\0*")
_SIGNATURES: tuple[tuple[bytes, str, str], ...] = (
    (b"%PDF-", message("a PDF document"), message("Copy its text to a text file, and choose that.")),
    *((mark, message("a picture"), CHOOSE_TABLE) for mark in _PICTURES),
    (b"RIFF", message("a picture, sound or film"), CHOOSE_TABLE),
    (b"ID3", message("a sound"), CHOOSE_TABLE),
    (b"OggS", message("a sound or film"), CHOOSE_TABLE),
    (b"BZh", message("compressed (bzip2)"), _UNPACK),
    (b"\xfd7zXZ\0", message("compressed (xz)"), _UNPACK),
    (b"\x28\xb5\x2f\xfd", message("compressed (zstd)"), _UNPACK),
    (b"7z\xbc\xaf\x27\x1c", message("a 7-Zip archive"), _UNPACK),
    (b"Rar!\x1a\x07", message("a RAR archive"), _UNPACK),
    (_EMPTY_ZIP, message("an empty zip archive"), CHOOSE_TABLE),
    (b"ARROW1", message("an Arrow file"), message("Export it as CSV or JSON Lines, and choose that.")),
    (b"SQLite format 3\0", message("a SQLite database"), message("Export a table from it as CSV, and choose that.")),
    (b"\x93NUMPY", message("a NumPy array"), CHOOSE_TABLE),
    (b"\x89HDF\r\n", message("an HDF5 file"), message("Export its table as CSV, and choose that.")),
    (b"{\\rtf", message("a formatted document (RTF)"), message("Save it as plain text, and choose that.")),
    (b"\x7fELF", message("a program"), CHOOSE_TABLE),
    (b"MZ\x90\0", message("a program"), CHOOSE_TABLE),
)
_CONTROLS = tuple(bytes([code]) for code in range(32) if code not in b"\t\n\r\f\v\x1b")


def without_rows(path: Path) -> InputError:
    return InputError(message("{name} is empty. Choose a file with at least one row.", name=path.name))


def only_header(path: Path) -> InputError:
    return InputError(
        message("{name} has a header but no rows below it. Choose a file with at least one row.", name=path.name)
    )


def refusal(path: Path, head: bytes) -> str:
    """The sentence for a file whose beginning shows that it cannot be a table, "" for one that may be."""
    if head.startswith(MARK):
        return _old_office(path)
    if head[_TAR_AT:].startswith(_TAR):
        return message("{name} is a tar archive. {cure}", name=path.name, cure=_UNPACK)
    for signature, what, cure in _SIGNATURES:
        if head.startswith(signature) and not (signature.isalnum() and _is_plain(head)):
            return message("{name} is {what}. {cure}", name=path.name, what=what, cure=cure)
    beginning = head.removeprefix(b"\xef\xbb\xbf").lstrip()[:64].lower()
    if beginning.startswith((b"<!doctype html", b"<html")):
        return message("{name} is a web page, whatever its name says. {cure}", name=path.name, cure=_SPREADSHEET)
    if beginning.startswith(b"<?xml"):
        return message("{name} is an XML file. {cure}", name=path.name, cure=_SPREADSHEET)
    return ""


def protected(path: Path) -> InputError:
    return InputError(_protected(path))


def is_old_workbook(path: Path, head: bytes) -> bool:
    if not head.startswith(MARK):
        return False
    names = names_in(path)
    return not names.isdisjoint(_WORKBOOKS) and _PROTECTED not in names


def is_binary(sample: bytes) -> bool:
    """Whether bytes without a byte order mark are no text; real texts may have single NULs and control characters."""
    if not sample:
        return False
    controls = sum(map(sample.count, _CONTROLS)) / len(sample)
    try:
        sample.decode()
    except UnicodeDecodeError as exc:
        is_cut_at_the_end = exc.reason == "unexpected end of data"
        return controls > (0.5 if is_cut_at_the_end else 0.02)
    return controls > 0.5


def _is_plain(head: bytes) -> bool:
    # "RIFF" or "ID3" may begin a text; what follows in the real formats is no text.
    try:
        text = head[:64].decode()
    except UnicodeDecodeError:
        return False
    return not any(ord(letter) < 9 for letter in text)


def _old_office(path: Path) -> str:
    if _PROTECTED in names_in(path):
        return _protected(path)
    if path.suffix.lower() == ".xls":
        return message("{name} is damaged, or no workbook. {cure}", name=path.name, cure=_SPREADSHEET)
    return message("{name} is a document in an old Office format. {cure}", name=path.name, cure=_SPREADSHEET)


def _protected(path: Path) -> str:
    return message(
        "{name} is protected by a password. Remove the password in your spreadsheet program, save it, and "
        "choose it again.",
        name=path.name,
    )


MARK = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_SIZES = (512, 4096)
_HEADER = (("<H", 30), ("<I", 48), ("<I", 68))  # the size as a power of two, and the first sectors of two chains
_ENTRY = "<64sH2xIII48x"  # name in UTF-16, its bytes, and the entries before and after it, and the first below it
_NO_ENTRY = 0xFFFFFFFF
_LAST_SECTOR = 0xFFFFFFFA  # greater numbers are marks, such as the end of a chain


def names_in(path: Path) -> frozenset[str]:
    """The names at the top in lower case; none for a damaged file. Raises InputError."""
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
    *_, top = entries[0]
    open_at, seen = [top], {_NO_ENTRY}
    while open_at:
        if (at := open_at.pop()) not in seen:
            seen.add(at)
            name, length, before, after, _ = entries[at]
            open_at += (before, after)
            yield name[: max(0, length - 2)].decode("utf-16-le", "replace").lower()
