"""Check an .xlsx file before the library opens it: its size, its extent, its formulas without values.

The library holds a sheet as a full rectangle, and aborts the whole process if there is no memory for it. Therefore zip
bombs, and sheets with two cells in opposite corners, are refused first.
"""

import re
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from xml.etree import ElementTree

from cfbatch_gui.core.errors import InputError
from cfbatch_gui.core.inputs.files.open_file import open_raw, regular_file_size
from cfbatch_gui.core.inputs.readers.xlsx_texts import PIECE, has_inexact_texts, pieces_of, shared_texts
from cfbatch_gui.core.messages import message

MOST_BYTES = 4 * 1024**3  # unpacked; a full sheet of 1,048,576 rows takes about 1 GB
MOST_RATIO = 200  # unpacked to packed, for members over 64 MiB; real sheets stay below 60
RATIO_COUNTS_FROM = 64 * 1024**2
MOST_CELLS = 64_000_000  # of the rectangle; about 1.5 GB in the library

# What the standard library raises on archives and XML that are cut, altered, encrypted, or packed in unknown ways.
DAMAGE = (
    *(zipfile.BadZipFile, zlib.error, ElementTree.ParseError, OSError, EOFError),
    *(LookupError, ValueError, NotImplementedError, RuntimeError),
)

# The form in which common programs write a cell; other forms are read by the slower patterns below.
_USUAL_CELL = re.compile(rb'<c r="([A-Z]{1,3})(\d{1,7})"')
_CELL_TAG = re.compile(rb"<(?:\w+:)?c(?=[\s/>])")
_ADDRESS = re.compile(rb"""\sr\s*=\s*["']\s*([A-Za-z]+)(\d+)\s*["']""")
_ROW_TAG = re.compile(rb"""<(?:\w+:)?row(?=[\s/>])(?:[^>]*?\sr\s*=\s*["']\s*(\d{1,12}))?""")
_ROW_END = re.compile(rb"</(?:\w+:)?row\s*>")
_FORMULA_CELL = re.compile(
    rb"<(?:\w+:)?c\s([^>]*)>\s*"
    rb"<(?:\w+:)?f(?=[\s/>])(?:[^>]*/>|[^>]*>[^<]*</(?:\w+:)?f\s*>)\s*"
    rb"(?:<(?:\w+:)?v[^>]*>([^<]*))?"
)
_TEXT_RESULT = re.compile(rb"""\bt\s*=\s*["']str["']""")  # a formula may have an empty text as its value


@dataclass(frozen=True, slots=True)
class SheetExtent:
    """The extent of one sheet, which is the `member` of the archive.

    `formulas` maps a row (from 1) to the column of its first formula without a value. `has_inexact_texts` is whether
    the library would change texts of it.
    """

    member: str
    rows: int
    columns: int
    formulas: Mapping[int, str]
    has_inexact_texts: bool


def check_archive(path: Path) -> None:
    """Read the zip's directory only. Raises InputError for a damaged zip, a bomb, and any other kind of zip file."""
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
    except DAMAGE as exc:
        raise damaged(path, exc) from exc
    names = {member.filename for member in members}
    if "xl/workbook.xml" not in {name.lower() for name in names}:
        raise InputError(_other_zip(path, names), detail=f"no xl/workbook.xml among {len(names):,} members")
    total = sum(member.file_size for member in members)
    swollen = [
        member
        for member in members
        if member.file_size > max(RATIO_COUNTS_FROM, MOST_RATIO * max(1, member.compress_size))
    ]
    if total > MOST_BYTES or swollen:
        raise InputError(
            message(
                "{name} would unpack to {total:,.1f} GB, far more than a spreadsheet of its size holds, so it was "
                "not opened. If you trust it, save it as CSV and choose that.",
                name=path.name,
                total=total / 1e9,
            ),
            detail=f"{total:,} bytes in {len(members):,} members; swollen: {[m.filename for m in swollen][:3]}",
        )


def is_xlsx(path: Path) -> bool:
    """Return whether the file is a zip archive with an .xlsx workbook; False for a damaged archive."""
    return "xl/workbook.xml" in archive_names(path)


def archive_names(path: Path) -> frozenset[str]:
    """Return the names in a zip archive in lower case; an empty set for any other file. Raises InputError."""
    with open_raw(path) as raw:
        try:
            with zipfile.ZipFile(raw) as archive:
                return frozenset(name.lower() for name in archive.namelist())
        except DAMAGE:
            return frozenset()


def check_other_workbook(path: Path) -> None:
    """Refuse an .ods, .xlsb or .xls that would take more memory than there may be. Raises InputError.

    These formats do not state the position of each cell, so only sizes and repetitions can be checked.
    """
    size = regular_file_size(path)
    names = archive_names(path)
    if not names:
        if size > _MOST_OLD_WORKBOOK:
            raise InputError(
                message(
                    "{name} has {size:,.0f} MB, more than can be opened in this old form. Save it as .xlsx or CSV, "
                    "and choose that.",
                    name=path.name,
                    size=size / 1000000.0,
                ),
            )
        return
    try:
        with zipfile.ZipFile(path) as archive:
            total = sum(member.file_size for member in archive.infolist())
            if total > min(_MOST_OTHER, max(RATIO_COUNTS_FROM, MOST_RATIO * size)):
                raise _too_large(path, total, len(names))
            if "content.xml" in names and _cells_of_document(archive) > MOST_CELLS:
                raise _too_large(path, total, len(names))
    except DAMAGE as exc:
        raise damaged(path, exc) from exc


_MOST_OLD_WORKBOOK = 256 * 1024**2
_MOST_OTHER = 1024**3
_REPEATED_CELL = re.compile(rb"<table:(?:covered-)?table-cell\s[^>]*?table:number-columns-repeated=\"(\d+)\"[^>]*>")
_REPEATED_ROW = re.compile(rb"<table:table-row\b[^>]*?table:number-rows-repeated=\"(\d+)\"")


def _cells_of_document(archive: zipfile.ZipFile) -> int:
    """Return an upper bound of the largest filled rectangle's cells, without empty cells repeated to the edge."""
    data = archive.read("content.xml")
    most = 0
    for table in data.split(b"<table:table ")[1:]:
        rows = columns = 0
        for row in table.split(b"<table:table-row")[1:]:
            if b"office:value-type" not in row and b"<text:p" not in row:
                continue
            again = _REPEATED_ROW.match(b"<table:table-row" + row)
            rows += int(again[1]) if again else 1
            filled = row[: row.rfind(b"<text:p")] if b"<text:p" in row else row
            wide = filled.count(b"<table:table-cell") + sum(int(found) for found in _REPEATED_CELL.findall(filled))
            columns = max(columns, wide)
        most = max(most, rows * columns)
    return most


def _too_large(path: Path, total: int, members: int) -> InputError:
    return InputError(
        message(
            "{name} would unpack to more than a spreadsheet of its size holds, so it was not opened. If you trust "
            "it, save it as CSV and choose that.",
            name=path.name,
        ),
        detail=f"{total:,} bytes in {members:,} members",
    )


def _other_zip(path: Path, names: set[str]) -> str:
    lower = {name.lower() for name in names}
    if any(name.startswith("index/") and name.endswith(".iwa") for name in lower):
        return message("{name} is an Apple Numbers file. Export it as Excel or CSV and choose that.", name=path.name)
    if any(name.startswith("ppt/") for name in lower):
        return message(
            "{name} is a presentation, not a table. Copy its texts to a text file, and choose that.", name=path.name
        )
    return message("{name} is a zip archive. Unpack it and choose a file that was in it.", name=path.name)


def damaged(path: Path, exc: BaseException) -> InputError:
    """Return the error for a zip or a workbook that cannot be read. Raises InputError if the file went away."""
    with open_raw(path):
        pass
    return InputError(
        message(
            "{name} is damaged or incomplete. Open it in a spreadsheet program, save it again, and choose that file.",
            name=path.name,
        ),
        detail=f"{type(exc).__name__}: {exc}",
    )


def sheet_extent(path: Path, sheet: str) -> SheetExtent:
    """Read the XML of one sheet once, in pieces; remembered as long as the file stays the same.

    Also unpacks the shared texts and styles, because only unpacking shows whether the sizes in the directory are
    true. Raises InputError when the file is damaged or spreads over too many cells.
    """
    size = regular_file_size(path)
    return _sheet_extent(path, sheet, size, path.stat().st_mtime_ns)


@lru_cache(maxsize=4)
def _sheet_extent(path: Path, sheet: str, _size: int, _changed: int) -> SheetExtent:
    check_archive(path)
    try:
        with zipfile.ZipFile(path) as archive:
            member = _sheet_member(archive, sheet)
            for name in archive.namelist():
                if name.lower() == "xl/styles.xml":
                    _unpack(archive, name)
            shared = [has_inexact_texts(part, has_prefixes=b"<si>" not in part) for part in shared_texts(archive)]
            extent = _read_extent(archive, member, is_inexact=any(shared))
    except DAMAGE as exc:
        raise damaged(path, exc) from exc
    if extent.rows * extent.columns > MOST_CELLS:
        raise InputError(
            message(
                "The sheet “{sheet}” of {name} spreads over {rows:,} rows and {columns:,} columns, more than can be "
                "opened. Delete what stands far outside the table, or save it as CSV.",
                sheet=sheet,
                name=path.name,
                rows=extent.rows,
                columns=extent.columns,
            ),
            detail=f"more than {MOST_CELLS:,} cells",
        )
    return extent


def _unpack(archive: zipfile.ZipFile, name: str) -> None:
    with archive.open(name) as member:
        while member.read(PIECE):
            pass


def _sheet_member(archive: zipfile.ZipFile, sheet: str) -> str:
    names = {name.lower(): name for name in archive.namelist()}
    workbook = ElementTree.fromstring(_small(archive, names["xl/workbook.xml"]))  # noqa: S314 - no entities, see _small
    relations = ElementTree.fromstring(_small(archive, names["xl/_rels/workbook.xml.rels"]))  # noqa: S314
    targets = {item.get("Id"): item.get("Target", "") for item in relations}
    for element in workbook.iter():
        if element.tag.endswith("}sheet") and element.get("name") == sheet:
            relation = next((value for key, value in element.items() if key.endswith("}id")), None)
            target = targets.get(relation, "")
            full = target.lstrip("/") if target.startswith("/") else f"xl/{target}"
            return names[full.lower()]
    raise KeyError(sheet)


def _small(archive: zipfile.ZipFile, name: str) -> bytes:
    if archive.getinfo(name).file_size > 64 * PIECE:
        raise ValueError(f"{name} is too large")
    data = archive.read(name)
    if b"<!DOCTYPE" in data:  # workbooks have none, and its entities could expand to any size
        raise ValueError(f"{name} has a document type")
    return data


def _read_extent(archive: zipfile.ZipFile, member: str, *, is_inexact: bool) -> SheetExtent:
    last_row, last_column = 0, 0
    known_columns: set[bytes] = set()
    formulas: dict[int, str] = {}
    for part in pieces_of(archive, member, b"row>"):
        cells = _USUAL_CELL.findall(part)
        if cells:
            columns, rows = zip(*cells, strict=True)
            known_columns.update(columns)
            last_row = max(last_row, *map(int, set(rows)))
        has_prefixes = b":c" in part  # or a text such as "note:check", which only costs some time
        if has_prefixes or len(cells) != part.count(b"<c"):
            last_row, widest = _unusual_cells(part, last_row)
            last_column = max(last_column, widest)
        is_inexact = is_inexact or has_inexact_texts(part, has_prefixes=has_prefixes)
        if b"<f" in part or has_prefixes:
            for row, column in _formulas_without_value(part):
                formulas.setdefault(row, column)
    last_column = max(last_column, *map(_column_number, known_columns), 0)
    return SheetExtent(member, last_row, last_column, MappingProxyType(formulas), is_inexact)


def _unusual_cells(part: bytes, last_row: int) -> tuple[int, int]:
    """Bound the last row and column from above, whatever order and form the tags have.

    Rows and cells without an address follow the one before.
    """
    for row in _ROW_TAG.finditer(part):
        last_row = max(last_row, int(row[1])) if row[1] else last_row + 1
    addresses = _ADDRESS.findall(part)
    last_row = max(last_row, *(int(row) for _, row in addresses), 0)
    widest = max((_column_number(column) for column in {column for column, _ in addresses}), default=0)
    if len(addresses) < len(_CELL_TAG.findall(part)):
        widest += max(len(_CELL_TAG.findall(row)) for row in _ROW_END.split(part))
    return last_row, widest


def _formulas_without_value(part: bytes) -> Iterator[tuple[int, str]]:
    for attributes, value in _FORMULA_CELL.findall(part):
        if value.strip() or _TEXT_RESULT.search(attributes):
            continue
        if address := _ADDRESS.search(b" " + attributes):
            yield int(address[2]), address[1].decode().upper()


def _column_number(letters: bytes) -> int:
    number = 0
    for letter in letters.upper():
        number = number * 26 + letter - 64
    return number
