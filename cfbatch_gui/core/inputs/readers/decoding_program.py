"""The program that `decoding_process` runs; it needs python-calamine, orjson or arro3, none of our modules."""

import base64
import datetime
import posixpath
import re
import sys
import zipfile
import zlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from io import BytesIO
from itertools import chain
from pathlib import Path
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import orjson
import python_calamine

CellValue = bool | float | int | str | datetime.date | datetime.time | datetime.timedelta
Cells = tuple[str, ...]
Area = tuple[tuple[int, int], tuple[int, int]]  # rows and columns from 0, first and last
WORD = "--decode"
PARQUET, WORKBOOK = "parquet", "workbook"
DAMAGED, PROTECTED, MISSING = 1, 3, 4  # exit status: cannot be read; has a password; the library is not installed
FORMULA, OUT_OF_RANGE, HIDDEN = "formula", "range", "hidden"  # marks of a row
MOST_CELLS = 64_000_000  # of the rectangle; about 1.5 GB in the library
PIECE = 1024 * 1024
_NO_ROW = "\0"  # in place of the first cell; in a text every NUL is replaced
_LONGEST_ROW = 64 * 1024**2  # bytes of XML
_MOST_MEMORY = 4 * 1024**3  # bytes
_MOST_SECONDS = 600  # of computing; some damaged workbooks keep the library in a loop, also after the program has ended
_CELLS_IN_BLOCK = 6_000  # what waits for a block to be used waits a few milliseconds
_EXACT_INTEGERS = 2.0**53  # above, a float cannot distinguish neighbouring integers
# What the standard library raises on archives and XML that are cut, altered, encrypted, or packed in unknown ways.
DAMAGE = (
    *(zipfile.BadZipFile, zlib.error, ElementTree.ParseError, OSError, EOFError),
    *(LookupError, ValueError, NotImplementedError, RuntimeError),
)


class TooLarge(Exception):
    """A sheet of more cells than can be opened; `args` are its rows and columns."""


@dataclass(slots=True)
class Marks:
    """What a file says beside the values of a sheet, whose rows have numbers from 1, and whose columns from 0."""

    rows: int = 0
    columns: int = 1
    formulas: dict[int, list[int]] = field(default_factory=lambda: defaultdict(list))  # columns not computed, by row
    hidden: set[int] = field(default_factory=set)
    zeros: dict[tuple[int, int], set[int]] = field(default_factory=lambda: defaultdict(set))  # by column and digits
    merged: list[Area] = field(default_factory=list)


@dataclass(slots=True)
class Sheet:
    """The rows of a sheet from its first, all of one width; `left` is the column of their first cells."""

    rows: Iterable[Cells]
    marks: Marks
    left: int = 0


def main(arguments: Sequence[str]) -> int:
    """Write to standard output lines of JSON with what a file holds: of Parquet names of columns, and blocks of rows.

    Of a workbook the first line has the names of the sheets and whether each is visible; the second the name of the
    sheet that was asked for (or of the first with rows, hidden ones last), the number of its hidden rows, and its
    extent if that is too large. Others are blocks: the number of the first row, rows, and marks: an index in the block,
    what the row is, and a column.
    """
    kind, path, *sheet = arguments
    if kind == PARQUET:
        return _write_parquet(path)
    _limit_resources()
    try:
        _write_workbook(Path(path), orjson.loads(sheet[0]))
    except python_calamine.PasswordError:
        return PROTECTED
    except (python_calamine.CalamineError, *DAMAGE) as error:
        sys.stderr.write(f"{type(error).__name__}: {error}")
        return DAMAGED
    return 0


def _write_parquet(path: str) -> int:
    try:
        from arro3.io import read_parquet
    except ImportError as error:
        sys.stderr.write(str(error))
        return MISSING
    batches = read_parquet(path)
    _write(list(batches.schema.names))
    for batch in batches:
        columns = (map(_plain, _values(batch.column(index))) for index in range(batch.num_columns))
        _write(list(zip(*columns, strict=True)))
    return 0


def _values(column: Any) -> list[object]:
    try:
        return list(column.to_pylist())
    except Exception:  # noqa: BLE001 # what the library raises for one such value
        return [_value(each) for each in column]


def _value(scalar: Any) -> object:
    try:
        return scalar.as_py()
    except Exception:  # noqa: BLE001
        return None


def _plain(value: object) -> object:
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [each if isinstance(each, float) else _plain(each) for each in value]
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError:
            return base64.b64encode(value).decode()
    return value if isinstance(value, str | int) or value is None else str(value)


def _write_workbook(path: Path, wanted: str) -> None:
    names = _names(path)
    if "content.xml" in names:
        sheets, read = _open_document_sheets(path), partial(_open_document_sheet, path)
    else:
        workbook = _open_workbook(path)
        sheets = [
            (sheet.name, sheet.visible == python_calamine.SheetVisibleEnum.Visible)
            for sheet in workbook.sheets_metadata
            if sheet.typ == python_calamine.SheetTypeEnum.WorkSheet
        ]
        read = partial(_sheet, workbook, path, names)
    _write(sheets)
    for name, _ in sorted(sheets, key=lambda sheet: not sheet[1]):
        if wanted not in ("", name):
            continue
        try:
            sheet = read(name)
        except TooLarge as large:
            _write((name, 0, large.args))
            return
        blocks = _blocks(sheet)
        if first := next(blocks, None):
            _write((name, len(sheet.marks.hidden), ()))
            for block in chain((first,), blocks):
                _write(block)
            return


def _write(line: object) -> None:
    sys.stdout.buffer.write(orjson.dumps(line) + b"\n")
    sys.stdout.buffer.flush()


def _blocks(sheet: Sheet) -> Iterator[tuple[int, list[Cells], list[tuple[int, str, str]]]]:
    """Yield the rows from the first to the last that is not blank."""
    first = blank = 0
    block: list[Cells] = []
    marks: list[tuple[int, str, str]] = []
    for number, found in enumerate(_as_shown(sheet), 1):
        cells = ("",) * len(found) if found and found[0] == _NO_ROW else found
        is_formula = number in sheet.marks.formulas
        if not (is_formula or cells is not found or any(cells)):
            blank += bool(first)
            continue
        first = first or number
        block += [("",) * len(cells)] * blank
        blank = 0
        if is_formula:
            marks.append((len(block), FORMULA, _letters(min(sheet.marks.formulas[number]))))
        elif cells is not found:
            marks.append((len(block), OUT_OF_RANGE, ""))
        elif number in sheet.marks.hidden:
            marks.append((len(block), HIDDEN, ""))
        block.append(cells)
        if len(block) * len(cells) >= _CELLS_IN_BLOCK:
            yield first, block, marks
            first, block, marks = number + 1, [], []
    if block:
        yield first, block, marks


def _limit_resources() -> None:
    # Elsewhere the library only ends when there is no memory left; the program that waits for it stays.
    if sys.platform == "linux":
        import resource

        for kind, wanted in ((resource.RLIMIT_AS, _MOST_MEMORY), (resource.RLIMIT_CPU, _MOST_SECONDS)):
            _, most = resource.getrlimit(kind)
            resource.setrlimit(kind, (wanted if most == resource.RLIM_INFINITY else min(wanted, most), most))


def _names(path: Path) -> dict[str, str]:
    """The names in a zip archive by their forms in lower case with slashes; {} for any other file."""
    if not zipfile.is_zipfile(path):
        return {}
    with zipfile.ZipFile(path) as archive:
        return {name.replace("\\", "/").lower(): name for name in archive.namelist()}


def _sheet(workbook: python_calamine.CalamineWorkbook, path: Path, names: dict[str, str], name: str) -> Sheet:
    marks = _marks_of(path, names, name) if "xl/workbook.xml" in names else Marks()
    try:
        found = workbook.get_sheet_by_name(name)
    except python_calamine.CalamineError:
        found = python_calamine.CalamineWorkbook.from_filelike(_mended(path, names)).get_sheet_by_name(name)
    marks.merged = list(found.merged_cell_ranges or ())
    return Sheet(_rows_in(found), marks, (found.start or (0, 0))[1])


def _open_workbook(path: Path) -> python_calamine.CalamineWorkbook:
    try:
        return python_calamine.CalamineWorkbook.from_filelike(BytesIO(path.read_bytes()))
    except python_calamine.CalamineError:  # by a path the library tries only its suffix, and says if it is protected
        return python_calamine.CalamineWorkbook.from_path(str(path))


_ERROR = re.compile(rb'(<(?:\w+:)?c\s[^>]*?\bt="e"[^>]*>(?:(?!</(?:\w+:)?c>).)*?<(?:\w+:)?v>)[^<]*', re.DOTALL)
_TARGET = re.compile(rb'(?<=\bTarget=")[^"]*')


def _mended(path: Path, names: dict[str, str]) -> BytesIO:
    """A copy of a workbook with names of parts, and values of cells with an error, that the library knows."""
    copy = BytesIO()
    with zipfile.ZipFile(path) as archive, zipfile.ZipFile(copy, "w") as written:
        for plain, name in names.items():
            data = archive.read(name)
            if plain.endswith("workbook.xml.rels"):
                data = _TARGET.sub(lambda found: b"/" + _full_name(found[0].decode()).encode(), data)
            elif plain.startswith("xl/worksheets/"):
                data = _ERROR.sub(rb"\1#N/A", data)
            written.writestr(plain if plain.startswith("xl/worksheets/") else name.replace("\\", "/"), data)
    copy.seek(0)
    return copy


def _full_name(target: str) -> str:
    """The name of a part, in lower case if it is a sheet, from a target that is relative to the folder "xl"."""
    full = posixpath.normpath(posixpath.join("/xl", target.replace("\\", "/"))).lstrip("/")
    return full.lower() if full.lower().startswith("xl/worksheets/") else full


def _rows_in(sheet: python_calamine.CalamineSheet) -> Iterator[Cells]:
    rows = sheet.iter_rows()
    while True:
        try:
            for values in rows:
                yield tuple([_text_of(value) for value in values])
        except OverflowError:  # after it, the library goes on with the next row
            yield (_NO_ROW, *("",) * (sheet.width - 1))
        else:
            return


def _text_of(value: CellValue) -> str:
    """Write a value as text: 42 and not 42.0, dates and times as ISO 8601, durations as 36:30:00, TRUE and FALSE."""
    if type(value) is str:
        return value if "\0" not in value else value.replace("\0", "\ufffd")
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, float) and value.is_integer() and abs(value) < _EXACT_INTEGERS:
        return str(int(value))
    if isinstance(value, datetime.date | datetime.time):  # datetime is a date
        return value.isoformat()
    if isinstance(value, datetime.timedelta):
        return _duration(value.total_seconds())
    return repr(value)


def _duration(total: float) -> str:
    minutes, seconds = divmod(round(abs(total)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{'-' if total < 0 else ''}{hours}:{minutes:02}:{seconds:02}"


def _as_shown(sheet: Sheet) -> Iterable[Cells]:
    """The rows as a spreadsheet program shows them, but for other formats of numbers.

    Without the numbers that stand in place of values not computed yet, with leading zeros, and with the text of merged
    cells in every row that they cover. Cells of the first row with several texts are left as they are: a header over
    two rows names its columns once.
    """
    marks, left = sheet.marks, sheet.left
    starts: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for (top, column), (bottom, _) in marks.merged:
        if top < bottom:
            starts[top + 1].append((column - left, bottom + 1))
    if not (starts or marks.formulas or marks.zeros):
        yield from sheet.rows
        return
    open_cells: dict[int, tuple[int, str]] = {}  # the last row and the text, by column
    is_below_header = False
    for number, found in enumerate(sheet.rows, 1):
        empty = marks.formulas.get(number, ())
        cells = ["" if column in empty else cell for column, cell in enumerate(found, left)]
        for (column, digits), numbers in marks.zeros.items():
            at = column - left
            if number in numbers and 0 <= at < len(cells) and cells[at].isdecimal():
                cells[at] = cells[at].zfill(digits)
        for column, (last, text) in open_cells.items():
            if number <= last:
                cells[column] = cells[column] or text
        for column, last in starts.get(number, ()) if is_below_header else ():
            if 0 <= column < len(cells):
                open_cells[column] = (last, cells[column])
        is_below_header = is_below_header or sum(map(bool, cells)) > 1
        yield tuple(cells)


_CELL = re.compile(rb"<(?:\w+:)?c(?=[\s/>])")
_ADDRESS = re.compile(rb"""\sr\s*=\s*["']\s*([A-Za-z]+)(\d+)\s*["']""")
_PLAIN_ADDRESS = re.compile(rb'<c r="([A-Z]+)(\d+)"')  # as most programs write all of them
_NOT_PLAIN = (b":c", b"<f", b":f", b"hidden")
_ROW = re.compile(rb"<(?:\w+:)?row(?=[\s/>])([^>]*)>")
_NUMBER = re.compile(rb"""\sr\s*=\s*["']\s*(\d{1,12})""")
_HIDDEN = re.compile(rb"""\shidden\s*=\s*["'](?:1|true)["']""")
_FORMULA_CELL = re.compile(
    rb"<(?:\w+:)?c(\s[^>]*)?>\s*"
    rb"<(?:\w+:)?f(?=[\s/>])(?:[^>]*/>|[^>]*>[^<]*</(?:\w+:)?f\s*>)\s*"
    rb"(?:<(?:\w+:)?v[^>]*>([^<]*))?"
)
_TEXT_RESULT = re.compile(rb"""\st\s*=\s*["']str["']""")  # a formula may have an empty text as its value
_COMPUTED_LATER = re.compile(rb"""<(?:\w+:)?calcPr\s[^>]*\bfullCalcOnLoad\s*=\s*["'](?:1|true)["']""")
_READ_WHOLE = ("xl/styles.xml", "xl/sharedstrings.xml")
_ZEROS = re.compile("0{2,}")


def _marks_of(path: Path, names: dict[str, str], sheet: str) -> Marks:
    """Look through a sheet, and unpack what the library will, so that a lie about its size is found."""
    found = Marks()
    with zipfile.ZipFile(path) as archive:
        for name in _READ_WHOLE:
            if name in names:
                _unpack(archive, names[name])
        is_computed_later = bool(_COMPUTED_LATER.search(_small(archive, names["xl/workbook.xml"])))
        padded = _padded_styles(archive, names)
        for part in _pieces_of(archive, _sheet_member(archive, names, sheet)):
            _look_through(part, found, padded, is_computed_later=is_computed_later)
    if found.rows * found.columns > MOST_CELLS:
        raise TooLarge(found.rows, found.columns)
    return found


def _unpack(archive: zipfile.ZipFile, name: str) -> None:
    with archive.open(name) as member:
        while member.read(PIECE):
            pass


def _sheet_member(archive: zipfile.ZipFile, names: dict[str, str], sheet: str) -> str:
    workbook = ElementTree.fromstring(_small(archive, names["xl/workbook.xml"]))  # noqa: S314 - no entities, see _small
    relations = ElementTree.fromstring(_small(archive, names["xl/_rels/workbook.xml.rels"]))  # noqa: S314
    targets = {item.get("Id"): item.get("Target", "") for item in relations}
    for element in workbook.iter():
        if element.tag.endswith("}sheet") and element.get("name") == sheet:
            relation = next((value for key, value in element.items() if key.endswith("}id")), None)
            return names[_full_name(targets.get(relation, "")).lower()]
    raise KeyError(sheet)


def _small(archive: zipfile.ZipFile, name: str) -> bytes:
    if archive.getinfo(name).file_size > 64 * PIECE:
        raise ValueError(f"{name} is too large")
    data = archive.read(name)
    if b"<!DOCTYPE" in data:  # workbooks have none, and its entities could expand to any size
        raise ValueError(f"{name} has a document type")
    return data


def _padded_styles(archive: zipfile.ZipFile, names: dict[str, str]) -> dict[bytes, int]:
    """The digits that numbers are shown with, such as 5 for 00000, by the index of a style."""
    if "xl/styles.xml" not in names:
        return {}
    styles = ElementTree.fromstring(_small(archive, names["xl/styles.xml"]))  # noqa: S314 - no entities, see _small
    parts = [each for each in styles.iter() if "}" in each.tag]
    codes = {each.get("numFmtId"): each.get("formatCode", "") for each in parts if each.tag.endswith("}numFmt")}
    cells = next((each for each in styles if each.tag.endswith("cellXfs")), ())
    shown = (codes.get(each.get("numFmtId"), each.get("numFmtId", "")) for each in cells)
    return {b"%d" % index: len(code) for index, code in enumerate(shown) if _ZEROS.fullmatch(code)}


def _pieces_of(archive: zipfile.ZipFile, member: str) -> Iterator[bytes]:
    """Yield the XML in pieces of about 1 MB that end with a row, except the last."""
    unfinished = b""
    with archive.open(member) as stream:
        while data := stream.read(PIECE):
            rows, end, unfinished = (unfinished + data).rpartition(b"row>")
            if len(unfinished) > _LONGEST_ROW:
                raise ValueError("a row without an end")
            yield rows + end
    yield unfinished


def _look_through(part: bytes, found: Marks, padded: dict[bytes, int], *, is_computed_later: bool) -> None:
    """Add what is in some rows; the extent is bounded from above. What has no address follows what is before it."""
    addresses, without_address = _PLAIN_ADDRESS.findall(part), 0
    if part.count(b"<c") > len(addresses) or any(sign in part for sign in _NOT_PLAIN):
        addresses = _ADDRESS.findall(part)
        _, *parts = _ROW.split(part)
        for attributes, cells in zip(parts[::2], parts[1::2], strict=True):
            address = _NUMBER.search(attributes)
            number = int(address[1]) if address else found.rows + 1
            found.rows = max(found.rows, number)
            if _HIDDEN.search(attributes):
                found.hidden.add(number)
            for cell in _FORMULA_CELL.finditer(cells) if b"<f" in cells or b":f" in cells else ():
                said, value = cell[1] or b"", (cell[2] or b"").strip()
                is_computed = _TEXT_RESULT.search(said) if not value else value != b"0" or not is_computed_later
                if not is_computed:
                    own = _ADDRESS.search(said)
                    column = _column_number(own[1]) - 1 if own else len(_CELL.findall(cells, 0, cell.start()))
                    found.formulas[int(own[2]) if own else number].append(column)
        if len(addresses) < len(_CELL.findall(part)):
            without_address = max(len(_CELL.findall(cells)) for cells in parts[1::2])
    found.rows = max(found.rows, *map(int, {row for _, row in addresses}), 0)
    widest = max(map(_column_number, {column for column, _ in addresses}), default=0)
    found.columns = max(found.columns, widest + without_address)
    for style, digits in padded.items():
        for tag in re.findall(rb"""<(?:\w+:)?c\s[^>]*\bs=["']%b["'][^>]*>""" % style, part):
            if own := _ADDRESS.search(tag):
                found.zeros[_column_number(own[1]) - 1, digits].add(int(own[2]))


def _letters(column: int) -> str:
    rest, last = divmod(column, 26)
    return (_letters(rest - 1) if rest else "") + chr(ord("A") + last)


def _column_number(letters: bytes) -> int:
    number = 0
    for letter in letters.upper():
        number = number * 26 + letter - 64
    return number


# OpenDocument: the library takes what only surrounds the text of a cell for its text, and loses cells without a type.

_OFFICE, _TABLE, _TEXT, _CALC = (
    f"{{urn:{name}}}"
    for name in (
        "oasis:names:tc:opendocument:xmlns:office:1.0",
        "oasis:names:tc:opendocument:xmlns:table:1.0",
        "oasis:names:tc:opendocument:xmlns:text:1.0",
        "org:documentfoundation:names:experimental:calc:xmlns:calcext:1.0",
    )
)
_SIGNS = {f"{_TEXT}tab": "\1", f"{_TEXT}line-break": "\2", f"{_TEXT}s": "\3"}  # until white space is collapsed
_WITHIN = frozenset(f"{_TEXT}{name}" for name in ("span", "a", "ruby", "ruby-base", "meta", "meta-field"))
_SIGNS_BACK = str.maketrans("\1\2\3", "\t\n ")
_SPACES = re.compile(r"[ \t\r\n]+")
_TIME = re.compile(r"(-?)PT(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)(?:[.,]\d+)?S)?")
_MOST_ROWS, _MOST_COLUMNS = 1_048_576, 16_384


def _open_document_sheets(path: Path) -> list[tuple[str, bool]]:
    hidden: set[str] = set()
    found: list[tuple[str, str]] = []
    for element in _open_document_elements(path):
        if element.tag.endswith("}style") and any(each.get(f"{_TABLE}display") == "false" for each in element):
            hidden.update(value for key, value in element.items() if key.endswith("}name"))
        elif element.tag == f"{_TABLE}table":
            found.append((element.get(f"{_TABLE}name", ""), element.get(f"{_TABLE}style-name", "")))
        elif element.tag == f"{_TABLE}table-row":
            element.clear()
    return [(name, style not in hidden) for name, style in found]


def _open_document_elements(path: Path) -> Iterator[Element]:
    """Yield every element of the content as it ends."""
    with zipfile.ZipFile(path) as archive, archive.open(_names(path)["content.xml"]) as content:
        if b"<!DOCTYPE" in content.read(4096):
            raise ValueError("a document type")
        content.seek(0)
        for _, element in ElementTree.iterparse(content):  # noqa: S314 - no document type, no entities
            yield element


def _open_document_sheet(path: Path, name: str) -> Sheet:
    table: list[list[str]] = []
    marks = Marks()
    blank = cells_read = 0
    for element in _open_document_elements(path):
        if element.tag == f"{_TABLE}table-row":
            repeated = min(int(element.get(f"{_TABLE}number-rows-repeated", "1")), _MOST_ROWS)
            row = len(table) + blank
            cells, formulas, merged = _open_document_cells(element, row)
            marks.merged += merged
            if not any(cells) and not formulas:
                blank += repeated
            else:
                table += [[]] * blank
                cells_read += (blank + repeated) * max(len(cells), 1)
                blank = 0
                if cells_read > MOST_CELLS:
                    raise TooLarge(len(table), len(cells))
                table += [cells] * repeated
                if formulas:
                    marks.formulas.update(dict.fromkeys(range(row + 1, row + 1 + repeated), formulas))
                if element.get(f"{_TABLE}visibility", "visible") != "visible":
                    marks.hidden.update(range(row + 1, row + 1 + repeated))
            element.clear()
        elif element.tag == f"{_TABLE}table":
            if element.get(f"{_TABLE}name") == name:
                break
            table, marks, blank, cells_read = [], Marks(), 0, 0
    width = max(map(len, table), default=0)
    left = min((next((at for at, cell in enumerate(row) if cell), width) for row in table if row), default=0)
    return Sheet([(*row[left:], *("",) * (width - max(len(row), left))) for row in table], marks, left)


def _open_document_cells(element: Element, row: int) -> tuple[list[str], list[int], list[Area]]:
    """The cells of a row without empty ones at its end, the columns of formulas without a value, and merged cells."""
    cells: list[str] = []
    formulas: list[int] = []
    merged: list[Area] = []
    empty = 0
    for cell in element:
        if cell.tag not in (f"{_TABLE}table-cell", f"{_TABLE}covered-table-cell"):
            continue
        text = _open_document_text(cell) if cell.tag.endswith("}table-cell") else ""
        repeated = min(int(cell.get(f"{_TABLE}number-columns-repeated", "1")), _MOST_COLUMNS)
        column = len(cells) + empty
        spanned = int(cell.get(f"{_TABLE}number-rows-spanned", "1"))
        if spanned > 1:
            merged.append(((row, column), (row + spanned - 1, column)))
        if cell.get(f"{_TABLE}formula") and not text and cell.get(f"{_OFFICE}value-type") != "string":
            formulas += range(column, column + repeated)
        if text:
            cells += [*("",) * empty, *(text,) * repeated]
            empty = 0
        else:
            empty += repeated
    return cells, formulas, merged


def _open_document_text(cell: Element) -> str:
    kind = cell.get(f"{_OFFICE}value-type", "")
    shown = "\n".join(_paragraph(each) for each in cell if each.tag == f"{_TEXT}p")
    if cell.get(f"{_CALC}value-type") == "error":
        return ""
    if kind in ("float", "percentage", "currency"):
        value = cell.get(f"{_OFFICE}value", "")
        is_padded = shown.isdecimal() and shown.startswith("0") and value == shown.lstrip("0")
        return shown if is_padded else _text_of(float(value)) if value else ""
    if kind == "boolean":
        return cell.get(f"{_OFFICE}boolean-value", "").upper()
    if kind == "date":
        return cell.get(f"{_OFFICE}date-value", "")
    if kind == "time" and (found := _TIME.fullmatch(cell.get(f"{_OFFICE}time-value", ""))):
        hours, minutes, seconds = (int(part or 0) for part in found.groups()[1:])
        return found[1] + _duration(hours * 3600 + minutes * 60 + seconds)
    return shown or cell.get(f"{_OFFICE}string-value", "")


def _paragraph(element: Element) -> str:
    """The own text of a paragraph: white space counts once, unless it is an element; notes and shapes are not text."""
    return _SPACES.sub(" ", _raw_text(element)).strip(" ").translate(_SIGNS_BACK).replace("\0", "\ufffd")


def _raw_text(element: Element) -> str:
    parts = [element.text or ""]
    for each in element:
        if each.tag in _SIGNS:
            parts.append(_SIGNS[each.tag] * min(int(each.get(f"{_TEXT}c", "1")), 32_767))
        elif each.tag in _WITHIN:
            parts.append(_raw_text(each))
        parts.append(each.tail or "")
    return "".join(parts)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
