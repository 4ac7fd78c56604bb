"""Recognise unsupported files by their first bytes, and say what to do instead."""

import re
from pathlib import Path

from cfbatch_gui.core.errors import InputError
from cfbatch_gui.core.inputs.open_file import open_raw
from cfbatch_gui.core.messages import message

_EMPTY_ZIP = b"PK\x05\x06"
MARK = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"  # of the container of old Office formats
# Names in it: "Workbook" or "Book", in any case, and that of a new workbook with a password.
_WORKBOOK = re.compile(b"(?i)" + "book\0".encode("utf-16-le"))
_PROTECTED = re.compile("EncryptedPackage\0".encode("utf-16-le"))
_DOCUMENTS = (".doc", ".dot", ".ppt", ".pps", ".msg")  # may hold a workbook within
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
    is_old = head.startswith(MARK) and path.suffix.lower() not in _DOCUMENTS
    return is_old and _holds(path, _WORKBOOK) and not _holds(path, _PROTECTED)


def _holds(path: Path, name: re.Pattern[bytes]) -> bool:
    with open_raw(path) as file:  # names begin at multiples of 128 bytes, so no piece ends within one
        return any(name.search(piece) for piece in iter(lambda: file.read(1024 * 1024), b""))


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
    if _holds(path, _PROTECTED):
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
