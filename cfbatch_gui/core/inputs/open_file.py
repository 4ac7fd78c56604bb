"""Open a file for reading, compressed or not, and say of an unsupported one what it is and what to do instead.

Failures are InputErrors with a sentence for the user.
"""

import gzip
import os
import re
import stat
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, BinaryIO, cast

from cfbatch_gui.core.errors import Action, InputError
from cfbatch_gui.core.messages import Message, message

GZIP = b"\x1f\x8b"
ZIP = b"PK\x03\x04"
PACKED_SUFFIXES = (".gz", ".zip")
_MOST_UNPACKED = 64 * 1024**3  # bytes
_MOST_RATIO = 300  # unpacked to packed; text comes to 3 to 30, a table of the same row over and over to 200
_RATIO_COUNTS_FROM = 256 * 1024**2
MOST_TRIED = 16 * 1024**2  # bytes of a packed file that are unpacked before its first rows are shown
_PIECE = 1024 * 1024
# What the standard library raises on packed files that are cut, altered, encrypted, or packed in unknown ways.
_DAMAGE = (zipfile.BadZipFile, gzip.BadGzipFile, zlib.error, EOFError, NotImplementedError, RuntimeError)


def regular_file_size(path: Path) -> int:
    """The size in bytes. Raises InputError if it is missing, a folder, or not an ordinary file."""
    status = _status(path)
    if stat.S_ISDIR(status.st_mode):
        raise InputError(message("name_is_folder_choose_file", name=path.name or path), detail=str(path))
    if not stat.S_ISREG(status.st_mode):
        raise InputError(message("name_is_device_or_pipe_not", name=path.name), detail=str(path))
    return status.st_size


def is_folder(path: Path) -> bool:
    """Whether the path is a folder. Raises InputError if it does not exist."""
    return stat.S_ISDIR(_status(path).st_mode)


def check_name(path: Path) -> None:
    """Raise InputError for a path that is not in UTF-8, which could not be found again."""
    try:
        os.fspath(path).encode()
    except UnicodeEncodeError as exc:
        shown = path.name.encode("utf-8", "replace").decode()
        raise InputError(message("name_name_or_folder_is_is", name=shown), detail=ascii(str(path))) from exc


def _status(path: Path) -> os.stat_result:
    with looking_at(path):
        return path.stat()


@contextmanager
def looking_at(path: Path) -> Iterator[None]:
    """Raise an InputError about the file or folder for an OSError within the block."""
    try:
        yield
    except (OSError, ValueError) as exc:  # a ValueError: a name that cannot be one
        raise _cannot_open(path, exc) from exc


@contextmanager
def open_raw(path: Path) -> Iterator[BinaryIO]:
    """Open a file as it is; an OSError, also within the block, becomes an InputError."""
    regular_file_size(path)
    try:
        with path.open("rb", buffering=0) as file:
            yield cast(BinaryIO, file)
    except OSError as exc:
        raise _cannot_open(path, exc) from exc


@contextmanager
def open_bytes(path: Path, end: int = 0) -> Iterator[BinaryIO]:
    """Open the content of a file, a gzip file or a zip archive's only file unpacked, up to `end` bytes.

    Raises InputError, also for damage and bombs.
    """
    with open_raw(path) as raw:
        head = raw.read(4)
        raw.seek(0)
        if head.startswith(GZIP):
            with _unpacking(path), gzip.GzipFile(fileobj=raw) as unpacked:
                yield cast(BinaryIO, _Unpacked(unpacked, path, end))
        elif head.startswith(ZIP):
            with _unpacking(path), zipfile.ZipFile(raw) as archive, archive.open(_the_member(path, archive)) as member:
                yield cast(BinaryIO, _Unpacked(member, path, end))
        else:
            yield cast(BinaryIO, _Unpacked(raw, path, end)) if end else raw


@contextmanager
def _unpacking(path: Path) -> Iterator[None]:
    try:
        yield
    except _DAMAGE as exc:
        raise InputError(
            message("name_is_damaged_or_protected_password", name=path.name), detail=f"{type(exc).__name__}: {exc}"
        ) from exc


@contextmanager
def open_archive(path: Path) -> Iterator[zipfile.ZipFile]:
    with open_raw(path) as raw, _unpacking(path), zipfile.ZipFile(raw) as archive:
        yield archive


@contextmanager
def open_member(path: Path, archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> Iterator[BinaryIO]:
    """Open a file of the archive at `path`. Raises InputError for damage, passwords and bombs."""
    with _unpacking(path), archive.open(member) as file:
        yield cast(BinaryIO, _Unpacked(file, path))


def content_name(path: Path, head: bytes) -> str:
    """The name of what is read: without .gz, or of the only file in a zip archive."""
    if head.startswith(GZIP):
        return path.stem if path.suffix.lower() in (".gz", ".gzip") else path.name
    if head.startswith(ZIP):
        with open_raw(path) as raw, zipfile.ZipFile(raw) as archive:
            return PurePosixPath(_the_member(path, archive).filename).name
    return path.name


def _the_member(path: Path, archive: zipfile.ZipFile) -> zipfile.ZipInfo:
    members = members_of(archive)
    if len(members) == 1:
        return members[0]
    if members:
        raise InputError(message("name_holds_n_files_unpack_choose", name=path.name, n=len(members)))
    raise InputError(message("name_holds_no_file_unpack_choose", name=path.name))


def members_of(archive: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
    """The files in a zip archive, without by-products of packers; folders are parted by "/" on every system."""
    for member in archive.infolist():
        member.filename = member.filename.replace("\\", "/")  # it is found by its first name all the same
    return [
        member
        for member in archive.infolist()
        if member.filename
        and not member.is_dir()
        and not any(part.startswith((".", "__MACOSX")) for part in member.filename.split("/"))
    ]


def unpacked_size(path: Path, head: bytes) -> tuple[int, bool]:
    """The bytes that `open_bytes` gives, and whether that is certain: of a packed file `MOST_TRIED` bytes are tried."""
    if not head.startswith((GZIP, ZIP)):
        return regular_file_size(path), True
    size = 0
    with open_bytes(path) as file:
        while size <= MOST_TRIED and (data := file.read(_PIECE)):
            size += len(data)
    if size <= MOST_TRIED:
        return size, True
    if head.startswith(ZIP):
        with open_archive(path) as archive:
            return max(size, _the_member(path, archive).file_size), False
    with open_raw(path) as raw:
        raw.seek(-4, os.SEEK_END)
        # What gzip says of its last member, without multiples of 4 GiB.
        return max(size, int.from_bytes(raw.read(4), "little")), False


class _Unpacked:
    """The unpacked bytes of a file; raises InputError above the limit of `_MOST_RATIO`."""

    def __init__(self, file: IO[bytes] | gzip.GzipFile, path: Path, end: int = 0) -> None:
        self._file, self._path, self._end = file, path, end
        self._most = min(_MOST_UNPACKED, max(_RATIO_COUNTS_FROM, _MOST_RATIO * regular_file_size(path)))
        self._position = 0

    def read(self, size: int) -> bytes:
        if self._end:
            size = max(0, min(size, self._end - self._position))
        data = self._file.read(size)
        self._position += len(data)
        if self._position > self._most:
            raise InputError(message("name_unpacks_more_than_most_gb", name=self._path.name, most=self._most / 1e9))
        return data

    def seek(self, position: int) -> int:
        self._position = self._file.seek(position)
        return self._position


def _cannot_open(path: Path, exc: OSError | ValueError) -> InputError:
    action = Action.CHOOSE_FILE
    if isinstance(exc, FileNotFoundError | NotADirectoryError):
        sentence = message("there_is_no_file_name_was", name=path.name or path)
    elif isinstance(exc, PermissionError):
        sentence = message("name_cannot_be_opened_account_may", name=path.name or path)
    else:
        action = Action.RETRY
        sentence = message("name_cannot_be_read_from_disk", name=path.name)
    return InputError(sentence, detail=f"{path}: {exc}", action=action)


OLE_MARK = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"  # of the container of old Office formats
_DOCUMENTS = (".doc", ".dot", ".ppt", ".pps", ".msg")  # may hold a workbook within
_SPREADSHEET = message("open_spreadsheet_program_save_xlsx_or")
CHOOSE_TABLE = message("choose_text_file_csv_json_lines")
_UNPACK = message("unpack_first_choose_file_was")
_WORKBOOKS = (".xls", ".xlsx", ".xlsm", ".slk", ".dif")
_WEB_PAGE = message("web_page_whatever_name_says")
# Pictures, sounds, films, numbers, programs. A text may begin with the same letters, but has no such signs below.
_NO_TEXT = (
    rb"\x89PNG\r\n|\xff\xd8\xff|II\*\0|MM\0\*|\x93NUMPY|\x89HDF\r\n|\x7fELF|MZ\x90\0"
    rb"|(?:GIF8[79]a|RIFF|ID3|OggS)(?s:.{0,60}?)[\0-\x08]"
)
_REFUSED: tuple[tuple[bytes, str, str], ...] = (
    (rb"(?s:.{257})ustar", message("tar_archive"), _UNPACK),
    (rb"%PDF-", message("pdf_document"), message("copy_text_text_file_choose")),
    (_NO_TEXT, message("picture_program_or_other_data"), CHOOSE_TABLE),
    (rb"BZh[1-9]1AY&SY", message("compressed_bzip2"), _UNPACK),
    (rb"\xfd7zXZ\0", message("compressed_xz"), _UNPACK),
    (rb"\x28\xb5\x2f\xfd", message("compressed_zstd"), _UNPACK),
    (rb"7z\xbc\xaf\x27\x1c", message("7_zip_archive"), _UNPACK),
    (rb"Rar!\x1a\x07", message("rar_archive"), _UNPACK),
    (rb"PK\x05\x06", message("empty_zip_archive"), CHOOSE_TABLE),
    (re.escape(OLE_MARK), message("document_old_office_format"), _SPREADSHEET),
    (rb"ARROW1\0", message("arrow_file"), message("export_csv_or_json_lines_choose")),
    (rb"SQLite format 3\0", message("sqlite_database"), message("export_table_from_csv_choose")),
    (rb"\{\\rtf", message("formatted_document_rtf"), message("save_plain_text_choose")),
    (rb"(?i:<!doctype html|<html|MIME-Version:)", _WEB_PAGE, _SPREADSHEET),
    (rb"(?i:<\?xml)", message("xml_file"), _SPREADSHEET),
    (rb"ID;P[^\r\n]*\r?\n[BCFOP];", message("table_old_form_sylk"), _SPREADSHEET),
    (rb"TABLE\r?\n0,1\r?\n", message("table_old_form_dif"), _SPREADSHEET),
)
_CONTROLS = tuple(bytes([code]) for code in range(32) if code not in b"\t\n\r\f\v\x1b")


def without_rows(path: Path) -> InputError:
    return InputError(message("name_is_empty_choose_file_least", name=path.name))


def only_header(path: Path) -> InputError:
    return InputError(message("name_header_but_no_rows_below", name=path.name))


def damaged(path: Path, cause: BaseException | str, cure: Message) -> InputError:
    with open_raw(path):  # says what else may be wrong with the file
        pass
    detail = cause if isinstance(cause, str) else f"{type(cause).__name__}: {cause}"
    return InputError(message("name_is_damaged_or_incomplete_cure", name=path.name, cure=cure), detail=detail)


def refusal(path: Path, head: bytes) -> str:
    """The sentence for a file whose beginning shows that it cannot be a table, "" for one that may be."""
    beginning = head.removeprefix(b"\xef\xbb\xbf").lstrip()[:2000]
    _, what, cure = next((each for each in _REFUSED if re.match(each[0], beginning)), (b"", "", ""))
    if not what and path.suffix.lower() in _WORKBOOKS and beginning.startswith(b"<"):
        what, cure = _WEB_PAGE, _SPREADSHEET
    return message("name_is_what_cure", name=path.name, what=what, cure=cure) if what else ""


def is_old_workbook(path: Path, head: bytes) -> bool:
    return head.startswith(OLE_MARK) and path.suffix.lower() not in _DOCUMENTS


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
