"""Read workbooks (.xlsx, .xlsm, .xlsb, .xls, .ods) with calamine, after a check of what they would unpack to."""

import re
import zipfile
import zlib
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from itertools import takewhile
from pathlib import Path
from types import MappingProxyType
from typing import Any
from xml.etree import ElementTree

import msgspec
import python_calamine

from cfbatch_gui.core.errors import InputError
from cfbatch_gui.core.inputs.input_values import ProblemKind, Row, Source
from cfbatch_gui.core.inputs.open_file import open_raw, protected, regular_file_size
from cfbatch_gui.core.inputs.readers.decoding_process import DecodingError, decoding
from cfbatch_gui.core.inputs.readers.decoding_program import (
    OUT_OF_RANGE,
    PROTECTED,
    WORKBOOK,
    open_workbook,
    rows_in,
    sheets_in,
)
from cfbatch_gui.core.messages import message

PIECE = 1024 * 1024
_LONGEST_ELEMENT = 512 * 1024**2  # bytes of XML
_READ_WHOLE = ("xl/styles.xml", "xl/sharedstrings.xml")  # in lower case


def pieces_of(archive: zipfile.ZipFile, member: str, end: bytes) -> Iterator[bytes]:
    """Yield the XML in pieces of about 1 MB that end with `end`, such as b"row>", except the last."""
    unfinished: list[bytes] = []
    with archive.open(member) as stream:
        while data := stream.read(PIECE):
            until = data.rfind(end) + len(end)
            if until < len(end):
                unfinished.append(data)
                if len(unfinished) * PIECE > _LONGEST_ELEMENT:
                    raise ValueError(f"no {end.decode()} far and wide")
                continue
            yield b"".join(unfinished) + data[:until]
            unfinished = [data[until:]]
    yield b"".join(unfinished)


MOST_BYTES = 4 * 1024**3  # unpacked; a full sheet of 1,048,576 rows takes about 1 GB
MOST_RATIO = 200  # unpacked to packed, for members over 64 MiB; real sheets stay below 60
_MOST_OLD_WORKBOOK = 256 * 1024**2
_MOST_OTHER = 1024**3  # as MOST_BYTES, of other packed workbooks
RATIO_COUNTS_FROM = 64 * 1024**2
MOST_CELLS = 64_000_000  # of the rectangle; about 1.5 GB in the library

# What the standard library raises on archives and XML that are cut, altered, encrypted, or packed in unknown ways.
DAMAGE = (
    *(zipfile.BadZipFile, zlib.error, ElementTree.ParseError, OSError, EOFError),
    *(LookupError, ValueError, NotImplementedError, RuntimeError),
)

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


def check_archive(path: Path) -> None:
    """Read the zip's directory only. Raises InputError for a damaged zip, a bomb, and any other kind of zip file."""
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
    except DAMAGE as exc:
        raise damaged(path, exc) from exc
    names = {member.filename.lower() for member in members}
    if "content.xml" not in names and not any(name.startswith("xl/workbook.") for name in names):
        raise InputError(_other_zip(path, names), detail=f"no workbook among {len(names):,} members")
    total = sum(member.file_size for member in members)
    swollen = [each for each in members if each.file_size > max(RATIO_COUNTS_FROM, MOST_RATIO * each.compress_size)]
    if swollen or total > (MOST_BYTES if is_xlsx(path) else _MOST_OTHER):
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
    return "xl/workbook.xml" in archive_names(path)


def archive_names(path: Path) -> frozenset[str]:
    """The names in a zip archive in lower case; none for any other file. Raises InputError."""
    with open_raw(path) as raw:
        try:
            with zipfile.ZipFile(raw) as archive:
                return frozenset(name.lower() for name in archive.namelist())
        except DAMAGE:
            return frozenset()


def _check_old(path: Path) -> None:
    size = regular_file_size(path)
    if size > _MOST_OLD_WORKBOOK:
        raise InputError(
            message(
                "{name} has {size:,.0f} MB, more than can be opened in this old form. Save it as .xlsx or CSV, "
                "and choose that.",
                name=path.name,
                size=size / 1000000.0,
            )
        )


def _other_zip(path: Path, names: set[str]) -> str:
    if any(name.startswith("index/") and name.endswith(".iwa") for name in names):
        return message("{name} is an Apple Numbers file. Export it as Excel or CSV and choose that.", name=path.name)
    if any(name.startswith("ppt/") for name in names):
        return message(
            "{name} is a presentation, not a table. Copy its texts to a text file, and choose that.", name=path.name
        )
    return message("{name} is a zip archive. Unpack it and choose a file that was in it.", name=path.name)


def damaged(path: Path, exc: BaseException) -> InputError:
    with open_raw(path):
        pass
    return InputError(
        message(
            "{name} is damaged or incomplete. Open it in a spreadsheet program, save it again, and choose that file.",
            name=path.name,
        ),
        detail=f"{type(exc).__name__}: {exc}",
    )


def formulas_without_value(path: Path, sheet: str) -> Mapping[int, str]:
    """The column of the first such formula by its row (from 1), remembered while the file stays the same.

    Reads a sheet's XML, shared texts and styles once. Raises InputError for a sheet that is too large or damaged.
    """
    return _formulas_without_value(path, sheet, regular_file_size(path), path.stat().st_mtime_ns)


@lru_cache(maxsize=4)
def _formulas_without_value(path: Path, sheet: str, _size: int, _changed: int) -> Mapping[int, str]:
    check_archive(path)
    try:
        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                if name.lower() in _READ_WHOLE:
                    _unpack(archive, name)
            rows, columns, formulas = _read_extent(archive, _sheet_member(archive, sheet))
    except DAMAGE as exc:
        raise damaged(path, exc) from exc
    if rows * columns > MOST_CELLS:
        raise InputError(
            message(
                "The sheet “{sheet}” of {name} spreads over {rows:,} rows and {columns:,} columns, more than can be "
                "opened. Delete what stands far outside the table, or save it as CSV.",
                sheet=sheet,
                name=path.name,
                rows=rows,
                columns=columns,
            ),
            detail=f"more than {MOST_CELLS:,} cells",
        )
    return MappingProxyType(formulas)


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


def _read_extent(archive: zipfile.ZipFile, member: str) -> tuple[int, int, dict[int, str]]:
    """The last row and column, bounded from above, and the column of a formula without a value by its row."""
    last_row = last_column = 0
    formulas: dict[int, str] = {}
    for part in pieces_of(archive, member, b"row>"):
        for row in _ROW_TAG.finditer(part):  # rows and cells without an address follow the one before
            last_row = max(last_row, int(row[1])) if row[1] else last_row + 1
        addresses = _ADDRESS.findall(part)
        columns, rows = zip(*addresses, strict=True) if addresses else ((), ())
        last_row = max(last_row, *map(int, set(rows)), 0)
        widest = max(map(_column_number, set(columns)), default=0)
        if len(addresses) < len(_CELL_TAG.findall(part)):
            widest += max(len(_CELL_TAG.findall(row)) for row in _ROW_END.split(part))
        last_column = max(last_column, widest)
        if b"<f" in part or b":f" in part:
            for attributes, value in _FORMULA_CELL.findall(part):
                address = _ADDRESS.search(b" " + attributes)
                if address and not value.strip() and not _TEXT_RESULT.search(attributes):
                    formulas.setdefault(int(address[2]), address[1].decode().upper())
    return last_row, last_column, formulas


def _column_number(letters: bytes) -> int:
    number = 0
    for letter in letters.upper():
        number = number * 26 + letter - 64
    return number


_PROGRESS_EVERY = 1000  # rows
_TOO_LARGE = message(
    "This row has a number that is shown as a time, and is too large to be one. Format it as a number in a "
    "spreadsheet program, save the file, and choose it again."
)


def read_xlsx(source: Source, progress: Callable[[int], None] | None) -> Generator[Row, None, None]:
    """Yield the rows of `source.sheet` with Excel's numbers.

    A formula without a stored value makes the row a problem; cells with an error such as #N/A are empty.
    """
    skip_header = source.has_header
    blank = 0
    count = 0
    for row in read_records(source.path, source.sheet):
        count += 1
        if progress is not None and count % _PROGRESS_EVERY == 0:
            progress(count)
        if row.number < source.first_line:
            continue
        if skip_header:
            skip_header = False
        elif any(row.cells) or row.problem:
            yield from (Row(earlier, ("",) * len(row.cells)) for earlier in range(row.number - blank, row.number))
            blank = 0
            yield row
        else:
            blank += 1
    if progress is not None:
        progress(count)


def read_records(path: Path, sheet: str) -> Iterator[Row]:
    """Yield every row from the first that is not empty, header included, all equally wide."""
    if is_xlsx(path):
        formulas, rows = formulas_without_value(path, sheet), _rows_of_xlsx(path, sheet)
    else:
        formulas, rows = {}, _rows_of_other(path, sheet)
    started = False
    for number, cells in enumerate(rows, 1):
        started = started or any(cells) or number in formulas
        if cells and cells[0] == OUT_OF_RANGE:
            yield Row(number, ("",) * len(cells), _TOO_LARGE)
        elif number in formulas:
            yield Row(number, cells, _no_value(formulas[number], number), ProblemKind.FORMULA_WITHOUT_VALUE)
        elif started:
            yield Row(number, cells)


def sheets_of(path: Path) -> tuple[tuple[str, bool], ...]:
    """Return (name, visible) of every sheet with cells, in the workbook's order. Raises InputError."""
    if archive_names(path):
        check_archive(path)
    else:
        _check_old(path)
    if is_xlsx(path):
        with _failures(path), open_workbook(path) as workbook:
            return sheets_in(workbook)
    with _decoded(path) as lines:
        return tuple((name, is_visible) for line in lines for name, is_visible in line)


def _rows_of_xlsx(path: Path, sheet: str) -> Iterator[tuple[str, ...]]:
    with _failures(path), open_workbook(path) as workbook:
        yield from rows_in(workbook, sheet)


def _rows_of_other(path: Path, sheet: str) -> Iterator[tuple[str, ...]]:
    with _decoded(path, msgspec.json.encode(sheet).decode()) as lines:
        for block in lines:
            yield from map(tuple, block)


@contextmanager
def _failures(path: Path) -> Iterator[None]:
    try:
        yield
    except (python_calamine.CalamineError, *DAMAGE) as exc:
        raise damaged(path, exc) from exc
    except BaseException as exc:
        if type(exc).__module__ != "pyo3_runtime":  # where alone the class of a panic is, a BaseException
            raise
        raise damaged(path, exc) from exc


@contextmanager
def _decoded(path: Path, *arguments: str) -> Iterator[Iterator[Any]]:
    """Give the lines that the program writes about a workbook. Raises InputError if it ends early."""
    try:
        with decoding(WORKBOOK, path, *arguments) as decoded:
            whole = takewhile(lambda line: line.endswith(b"\n"), decoded.stream)
            yield map(msgspec.json.decode, whole)
            decoded.finish()
    except DecodingError as exc:
        raise protected(path) if exc.status == PROTECTED else damaged(path, exc) from exc


def _no_value(column: str, row: int) -> str:
    return message(
        "The formula in {column}{row} has no stored value. Open the file in a spreadsheet program, save it, and "
        "choose it again.",
        column=column,
        row=row,
    )
