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
from html import unescape
from io import BytesIO
from itertools import chain, takewhile
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

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
    workbook = _open_workbook(path, names)
    sheets = [
        (sheet.name, sheet.visible == python_calamine.SheetVisibleEnum.Visible)
        for sheet in workbook.sheets_metadata
        if sheet.typ == python_calamine.SheetTypeEnum.WorkSheet
    ]
    _write(sheets)
    for name, _ in sorted(sheets, key=lambda sheet: not sheet[1]):
        if wanted not in ("", name):
            continue
        try:
            sheet = _sheet(workbook, path, names, name)
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
    if "content.xml" in names:
        last, _ = found.end or (0, 0)
        marks.hidden = set(takewhile(lambda number: number <= last + 1, _hidden_rows(path, names, name)))
    return Sheet(_rows_in(found), marks, (found.start or (0, 0))[1])


def _open_workbook(path: Path, names: dict[str, str]) -> python_calamine.CalamineWorkbook:
    if "content.xml" in names:
        return python_calamine.CalamineWorkbook.from_filelike(_mended(path, names))
    try:
        return python_calamine.CalamineWorkbook.from_filelike(BytesIO(path.read_bytes()))
    except python_calamine.CalamineError:  # by a path the library tries only its suffix, and says if it is protected
        return python_calamine.CalamineWorkbook.from_path(str(path))


_ERROR = re.compile(rb'(<(?:\w+:)?c\s[^>]*?\bt="e"[^>]*>(?:(?!</(?:\w+:)?c>).)*?<(?:\w+:)?v>)[^<]*', re.DOTALL)
_TARGET = re.compile(rb'(?<=\bTarget=")[^"]*')
_OPEN_DOCUMENT = (  # what the library takes for texts of cells or leaves out, cells without a type, and numbers as 007
    (re.compile(rb"<text:tab\b[^>]*/>"), b"&#9;"),
    (re.compile(rb"<text:line-break\b[^>]*/>"), b"&#10;"),
    (
        re.compile(rb'(<table:table-cell\s[^>]*:value-type="error"[^>]*(?<!/)>).*?(?=</table:table-cell>)', re.DOTALL),
        rb"\1",
    ),
    (
        re.compile(rb"<table:table-cell(?![^>]*\soffice:value-type)(?=(?:\s[^>]*[^/])?>\s*<text:p)"),
        b'<table:table-cell office:value-type="string"',
    ),
    (
        re.compile(rb'(\soffice:value-type=)"float"([^>]*)\soffice:value="(\d+)"([^>]*>\s*<text:p>0+\3</text:p>)'),
        rb'\1"string"\2\4',
    ),
)
_ASIDE = re.compile(rb"<(/?)(?:office:annotation|draw:[\w-]+|text:ruby-text)(?=[\s/>])[^>]*?(/?)>")
_TIME = re.compile(rb'\soffice:time-value="(-?)PT(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)(?:[.,]\d+)?S)?"')
_OPEN_DOCUMENT_ROW = re.compile(rb"<table:table-row\b([^>]*)>")
_TABLE_NAME = re.compile(rb'\stable:name="([^"]*)"')
_REPEATED = re.compile(rb':number-rows-repeated="(\d{1,7})"')
_NOT_VISIBLE = re.compile(rb':visibility="(?!visible)')


def _mended(path: Path, names: dict[str, str]) -> BytesIO:
    """A copy of a workbook with names of parts, values of cells with an error, and texts that the library knows."""
    copy = BytesIO()
    with zipfile.ZipFile(path) as archive, zipfile.ZipFile(copy, "w") as written:
        for plain, name in names.items():
            data = archive.read(name)
            if plain.endswith("workbook.xml.rels"):
                data = _TARGET.sub(lambda found: b"/" + _full_name(found[0].decode()).encode(), data)
            elif plain.startswith("xl/worksheets/"):
                data = _ERROR.sub(rb"\1#N/A", data)
            elif plain == "content.xml":
                data = _TIME.sub(_shown_time, _without_asides(data))
                for pattern, instead in _OPEN_DOCUMENT:
                    data = pattern.sub(instead, data)
            written.writestr(plain if plain.startswith("xl/worksheets/") else name.replace("\\", "/"), data)
    copy.seek(0)
    return copy


def _without_asides(data: bytes) -> bytes:
    """The content without notes and shapes, which may lie in each other and may have no end of their own."""
    kept, depth, start = [], 0, 0
    for tag in _ASIDE.finditer(data):
        is_end, is_empty = tag.groups()
        if not depth:
            kept.append(data[start : tag.start()])
        if not is_empty:
            depth = max(0, depth - 1) if is_end else depth + 1
        start = tag.end()
    return b"".join((*kept, data[start:]))


def _shown_time(found: re.Match[bytes]) -> bytes:
    hours, minutes, seconds = (int(part or 0) for part in found.groups()[1:])
    shown = _duration(hours * 3600 + minutes * 60 + seconds)
    return b' office:string-value="%b%b"' % (found[1], shown.encode())


def _hidden_rows(path: Path, names: dict[str, str], sheet: str) -> Iterator[int]:
    """Yield the numbers of the rows of an OpenDocument's sheet that are hidden or filtered."""
    with zipfile.ZipFile(path) as archive:
        tables = re.split(rb"<table:table(?=\s)", archive.read(names["content.xml"]))
    names_of = (unescape(_TABLE_NAME.findall(each)[0].decode()) for each in tables[1:])
    number = 1
    for attributes in _OPEN_DOCUMENT_ROW.findall(dict(zip(names_of, tables[1:], strict=True)).get(sheet, b"")):
        repeated = _REPEATED.search(attributes)
        below = number + (int(repeated[1]) if repeated else 1)
        if _NOT_VISIBLE.search(attributes):
            yield from range(number, below)
        number = below


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


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
