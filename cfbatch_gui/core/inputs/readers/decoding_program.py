"""The program that `decoding_process` runs; it needs python-calamine, orjson or arro3, none of our modules."""

import datetime
import posixpath
import re
import sys
import zipfile
import zlib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import orjson
import python_calamine

CellValue = bool | float | int | str | datetime.date | datetime.time | datetime.timedelta
Cells = tuple[str, ...]
Merged = Sequence[tuple[tuple[int, int], tuple[int, int]]]  # rows and columns from 0, first and last
WORD = "--decode"
PARQUET, WORKBOOK = "parquet", "workbook"
PROTECTED, DAMAGED = 3, 1  # exit status for a workbook with a password, and for one that cannot be read
FORMULA, OUT_OF_RANGE, HIDDEN = "formula", "range", "hidden"  # marks of a row
MOST_CELLS = 64_000_000  # of the rectangle; about 1.5 GB in the library
PIECE = 1024 * 1024
_NO_ROW = "\0"  # in place of the first cell; in a text every NUL is replaced
_LONGEST_ELEMENT = 512 * 1024**2  # bytes of XML
_MOST_MEMORY = 4 * 1024**3  # bytes
_MOST_SECONDS = 600  # of computing; some damaged workbooks keep the library in a loop, also after the program has ended
_CELLS_IN_BLOCK = 6_000  # what waits for a block to be used waits a few milliseconds
_EXACT_INTEGERS = 2.0**53  # above, a float cannot distinguish neighbouring integers
_TRUE = ("1", "true")
# What the standard library raises on archives and XML that are cut, altered, encrypted, or packed in unknown ways.
DAMAGE = (
    *(zipfile.BadZipFile, zlib.error, ElementTree.ParseError, OSError, EOFError),
    *(LookupError, ValueError, NotImplementedError, RuntimeError),
)


class TooLarge(Exception):
    """A sheet of more cells than can be opened; `args` are its rows and columns."""


@dataclass(slots=True)
class Sheet:
    """Rows of one width from the first of the sheet; by number, from 1, the marks of rows and the columns they name."""

    rows: Iterator[Cells] | Sequence[Cells]
    formulas: Mapping[int, list[int]] = field(default_factory=dict)
    hidden: set[int] = field(default_factory=set)


def main(arguments: Sequence[str]) -> int:
    """Write to standard output what a file holds: Parquet as an Arrow stream, a workbook as lines of JSON.

    Of a workbook the names of its sheets and whether each is visible; of a sheet the number of its hidden rows, and
    blocks of rows and marks: its index in the block, what it is, and a column.
    """
    kind, path, *sheet = arguments
    if kind == PARQUET:
        from arro3.io import read_parquet, write_ipc_stream

        write_ipc_stream(read_parquet(path), sys.stdout.buffer)
        return 0
    _limit_resources()
    try:
        if not sheet:
            _write(_sheets(Path(path)))
            return 0
        found = _sheet(Path(path), orjson.loads(sheet[0]))
        _write(len(found.hidden))
        for block in _blocks(found):
            _write(block)
    except TooLarge as large:
        _write(large.args)
    except python_calamine.PasswordError:
        return PROTECTED
    except (python_calamine.CalamineError, *DAMAGE) as error:
        sys.stderr.write(f"{type(error).__name__}: {error}")
        return DAMAGED
    return 0


def _write(line: object) -> None:
    sys.stdout.buffer.write(orjson.dumps(line) + b"\n")
    sys.stdout.buffer.flush()


def _blocks(sheet: Sheet) -> Iterator[tuple[list[Cells], list[tuple[int, str, str]]]]:
    block: list[Cells] = []
    marks: list[tuple[int, str, str]] = []
    for number, found in enumerate(sheet.rows, 1):
        cells = ("",) * len(found) if found and found[0] == _NO_ROW else found
        if number in sheet.formulas:
            marks.append((len(block), FORMULA, _letters(min(sheet.formulas[number]))))
        elif cells is not found:
            marks.append((len(block), OUT_OF_RANGE, ""))
        elif number in sheet.hidden:
            marks.append((len(block), HIDDEN, ""))
        block.append(cells)
        if len(block) * len(cells) >= _CELLS_IN_BLOCK:
            yield block, marks
            block, marks = [], []
    yield block, marks


def _limit_resources() -> None:
    # Elsewhere the library only ends when there is no memory left; the program that waits for it stays.
    if sys.platform == "linux":
        import resource

        _, most = resource.getrlimit(resource.RLIMIT_AS)
        limit = _MOST_MEMORY if most == resource.RLIM_INFINITY else min(_MOST_MEMORY, most)
        resource.setrlimit(resource.RLIMIT_AS, (limit, most))
        _, most = resource.getrlimit(resource.RLIMIT_CPU)
        seconds = _MOST_SECONDS if most == resource.RLIM_INFINITY else min(_MOST_SECONDS, most)
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, most))


def _names(path: Path) -> dict[str, str]:
    """The names in a zip archive by their forms in lower case with slashes; {} for any other file."""
    with path.open("rb") as file:
        if file.read(2) != b"PK":
            return {}
    with zipfile.ZipFile(path) as archive:
        return {name.replace("\\", "/").lower(): name for name in archive.namelist()}


def _sheets(path: Path) -> list[tuple[str, bool]]:
    if "content.xml" in _names(path):
        return _open_document_sheets(path)
    with _open_workbook(path) as workbook:
        return [
            (sheet.name, sheet.visible == python_calamine.SheetVisibleEnum.Visible)
            for sheet in workbook.sheets_metadata
            if sheet.typ == python_calamine.SheetTypeEnum.WorkSheet
        ]


def _sheet(path: Path, name: str) -> Sheet:
    names = _names(path)
    if "content.xml" in names:
        return _open_document_sheet(path, name)
    extent = _extent_of(path, names, name) if "xl/workbook.xml" in names else _Extent()
    workbook = _open_workbook(path)
    try:
        found = workbook.get_sheet_by_name(name)
    except python_calamine.CalamineError:
        found = python_calamine.CalamineWorkbook.from_filelike(_mended(path, names)).get_sheet_by_name(name)
    rows = _rows_in(found)
    left = (found.start or (0, 0))[1]
    if extent.formulas:
        rows = _without_formulas(rows, extent.formulas, left)
    if extent.zeros:
        rows = _with_zeros(rows, extent.zeros, left)
    merged = [each for each in found.merged_cell_ranges or () if each[0][0] < each[1][0]]
    return Sheet(_filled(rows, merged, left) if merged else rows, extent.formulas, extent.hidden)


def _open_workbook(path: Path) -> python_calamine.CalamineWorkbook:
    """Open a workbook, whatever its name says: by a path the library tries only its suffix."""
    try:
        return python_calamine.CalamineWorkbook.from_path(str(path))
    except python_calamine.PasswordError:
        raise
    except python_calamine.CalamineError as error:
        try:
            return python_calamine.CalamineWorkbook.from_filelike(BytesIO(path.read_bytes()))
        except python_calamine.CalamineError:
            raise error from None


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


def _filled(rows: Iterator[Cells], merged: Merged, left: int) -> Iterator[Cells]:
    """The rows with the text of merged cells in every row that they cover, as a spreadsheet program shows them.

    Cells of the first row with several texts are left as they are: a header over two rows names its columns once.
    """
    starts: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for (top, column), (bottom, _) in merged:
        starts[top].append((column - left, bottom))
    open_cells: dict[int, tuple[int, str]] = {}  # the last row and the text, by column
    is_below_header = False
    for number, found in enumerate(rows):
        cells = tuple([cell or open_cells.get(column, (0, ""))[1] for column, cell in enumerate(found)])
        open_cells = {column: each for column, each in open_cells.items() if number < each[0]}
        for column, bottom in starts.get(number, ()) if is_below_header else ():
            if 0 <= column < len(cells):
                open_cells[column] = (bottom, cells[column])
        is_below_header = is_below_header or _may_be_header(cells)
        yield cells


def _may_be_header(cells: Sequence[str]) -> bool:
    return sum(map(bool, cells)) > 1


_CELL_TAG = re.compile(rb"<(?:\w+:)?c(?=[\s/>])")
_ADDRESS = re.compile(rb"""\sr\s*=\s*["']\s*([A-Za-z]+)(\d+)\s*["']""")
_PLAIN_ROW = re.compile(rb'<row r="(\d{1,12})"')
_FAR_CELL = re.compile(rb'<c r="(?:[A-Z][A-Z]|[^A-Z]|[A-Z]\d{8})')
_ROW_TAG = re.compile(rb"""<(?:\w+:)?row(?=[\s/>])(?:[^>]*?\sr\s*=\s*["']\s*(\d{1,12}))?""")
_ROW_END = re.compile(rb"</(?:\w+:)?row\s*>")
_HIDDEN_ROW = re.compile(
    rb"""<(?:\w+:)?row\s(?=[^>]*\shidden\s*=\s*["'](?:1|true)["'])[^>]*?\br\s*=\s*["'](\d{1,12})"""
)
_FORMULA_CELL = re.compile(
    rb"<(?:\w+:)?c(\s[^>]*)?>\s*"
    rb"<(?:\w+:)?f(?=[\s/>])(?:[^>]*/>|[^>]*>[^<]*</(?:\w+:)?f\s*>)\s*"
    rb"(?:<(?:\w+:)?v[^>]*>([^<]*))?"
)
_TEXT_RESULT = re.compile(rb"""\st\s*=\s*["']str["']""")  # a formula may have an empty text as its value
_COMPUTED_LATER = re.compile(rb"""<(?:\w+:)?calcPr\s[^>]*\bfullCalcOnLoad\s*=\s*["'](?:1|true)["']""")
_READ_WHOLE = ("xl/styles.xml", "xl/sharedstrings.xml")
_ZEROS = re.compile("0{2,}")


@dataclass(slots=True)
class _Extent:
    """What the XML of a sheet says beside the values: rows from 1; of `zeros` by column, from 0, and digits."""

    rows: int = 0
    columns: int = 26  # at least: those whose addresses have one letter are not counted
    formulas: dict[int, list[int]] = field(default_factory=lambda: defaultdict(list))
    hidden: set[int] = field(default_factory=set)
    zeros: dict[tuple[int, int], set[int]] = field(default_factory=lambda: defaultdict(set))


def _extent_of(path: Path, names: dict[str, str], sheet: str) -> _Extent:
    """Look through a sheet, and unpack what the library will, so that a lie about its size is found."""
    found = _Extent()
    with zipfile.ZipFile(path) as archive:
        for name in _READ_WHOLE:
            if name in names:
                _unpack(archive, names[name])
        is_computed_later = bool(_COMPUTED_LATER.search(_small(archive, names["xl/workbook.xml"])))
        padded = _padded_styles(archive, names)
        for part in _pieces_of(archive, _sheet_member(archive, names, sheet), b"row>"):
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


def _pieces_of(archive: zipfile.ZipFile, member: str, end: bytes) -> Iterator[bytes]:
    """Yield the XML in pieces of about 1 MB that end with `end`, except the last."""
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


def _look_through(part: bytes, found: _Extent, padded: dict[bytes, int], *, is_computed_later: bool) -> None:
    """Add what is in some rows; the extent is bounded from above."""
    first_row = found.rows + 1
    rows = _PLAIN_ROW.findall(part)
    if len(rows) == part.count(b"<row") and _has_plain_cells(part):  # as most programs write them
        found.rows = max(found.rows, max(map(int, rows), default=0))
    else:
        for tag in _ROW_TAG.finditer(part):  # rows and cells without an address follow the one before
            found.rows = max(found.rows, int(tag[1])) if tag[1] else found.rows + 1
        addresses = _ADDRESS.findall(part)
        widest = max((_column_number(column) for column, _ in addresses), default=0)
        found.rows = max(found.rows, max((int(row) for _, row in addresses), default=0))
        if len(addresses) < len(_CELL_TAG.findall(part)):
            widest += max(len(_CELL_TAG.findall(row)) for row in _ROW_END.split(part))
        found.columns = max(found.columns, widest)
    if b"hidden" in part:
        found.hidden.update(map(int, _HIDDEN_ROW.findall(part)))
    if b"<f" in part or b":f" in part:
        for cell in _FORMULA_CELL.finditer(part):
            attributes, value = cell[1] or b"", (cell[2] or b"").strip()
            is_computed = _TEXT_RESULT.search(attributes) if not value else value != b"0" or not is_computed_later
            if not is_computed:
                address = _ADDRESS.search(attributes)
                number, column = (
                    (int(address[2]), _column_number(address[1]) - 1)
                    if address
                    else _place(part, cell.start(), first_row)
                )
                found.formulas[number].append(column)
    for style, digits in padded.items():
        for tag in re.findall(rb"""<(?:\w+:)?c\s[^>]*\bs=["']%b["'][^>]*>""" % style, part):
            if address := _ADDRESS.search(tag):
                found.zeros[_column_number(address[1]) - 1, digits].add(int(address[2]))


def _has_plain_cells(part: bytes) -> bool:
    """Whether all cells have addresses, in columns with one letter."""
    cells = part.count(b"<c") - part.count(b"<col")
    return part.count(b'<c r="') == cells and b":c " not in part and b":c>" not in part and not _FAR_CELL.search(part)


def _place(part: bytes, at: int, first_row: int) -> tuple[int, int]:
    """The row and the column of a cell without an address, which follow those before it."""
    number, begin = first_row - 1, 0
    for row in _ROW_TAG.finditer(part, 0, at):
        number, begin = (int(row[1]) if row[1] else number + 1), row.end()
    return number, len(_CELL_TAG.findall(part, begin, at))


def _letters(column: int) -> str:
    rest, last = divmod(column, 26)
    return (_letters(rest - 1) if rest else "") + chr(ord("A") + last)


def _column_number(letters: bytes) -> int:
    number = 0
    for letter in letters.upper():
        number = number * 26 + letter - 64
    return number


def _without_formulas(rows: Iterator[Cells], formulas: Mapping[int, list[int]], left: int) -> Iterator[Cells]:
    """The rows without the numbers that stand in place of a value not computed yet."""
    for number, cells in enumerate(rows, 1):
        empty = formulas.get(number, ())
        yield tuple(["" if column in empty else cell for column, cell in enumerate(cells, left)]) if empty else cells


def _with_zeros(rows: Iterator[Cells], zeros: dict[tuple[int, int], set[int]], left: int) -> Iterator[Cells]:
    for number, cells in enumerate(rows, 1):
        shown = list(cells)
        for (column, digits), numbers in zeros.items():
            if number in numbers and shown[column - left].isdecimal():
                shown[column - left] = shown[column - left].zfill(digits)
        yield tuple(shown)


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
    not_computed: dict[int, list[int]] = {}
    hidden: set[int] = set()
    spanned: dict[int, tuple[int, str]] = {}  # how many rows below have a merged cell, and its text, by column
    blank = cells_read = 0
    is_below_header = False
    for element in _open_document_elements(path):
        if element.tag == f"{_TABLE}table-row":
            repeated = min(int(element.get(f"{_TABLE}number-rows-repeated", "1")), _MOST_ROWS)
            cells, formulas = _open_document_cells(element, spanned)
            if not is_below_header:
                spanned.clear()
                is_below_header = _may_be_header(cells)
            if not any(cells) and not formulas:
                blank += repeated
            else:
                table += [[]] * blank
                cells_read += (blank + repeated) * max(len(cells), 1)
                blank = 0
                if cells_read > MOST_CELLS:
                    raise TooLarge(len(table), len(cells))
                numbers = range(len(table) + 1, len(table) + 1 + repeated)
                if formulas:
                    not_computed.update(dict.fromkeys(numbers, formulas))
                if element.get(f"{_TABLE}visibility", "visible") != "visible":
                    hidden.update(numbers)
                table += [cells] * repeated
            element.clear()
        elif element.tag == f"{_TABLE}table":
            if element.get(f"{_TABLE}name") == name:
                break
            table, spanned, not_computed, hidden, blank, cells_read = [], {}, {}, set(), 0, 0
            is_below_header = False
    else:
        raise KeyError(name)
    width = max(map(len, table), default=0)
    left = min((next((at for at, cell in enumerate(row) if cell), width) for row in table if row), default=0)
    rows = [(*row[left:], *("",) * (width - max(len(row), left))) for row in table]
    return Sheet(rows, not_computed, hidden)


def _open_document_cells(row: Element, spanned: dict[int, tuple[int, str]]) -> tuple[list[str], list[int]]:
    """The cells of a row without empty ones at its end, and the columns of formulas without a value."""
    cells: list[str] = []
    formulas: list[int] = []
    empty = 0
    for cell in row:
        if cell.tag not in (f"{_TABLE}table-cell", f"{_TABLE}covered-table-cell"):
            continue
        text = _open_document_text(cell) if cell.tag.endswith("}table-cell") else ""
        repeated = min(int(cell.get(f"{_TABLE}number-columns-repeated", "1")), _MOST_COLUMNS)
        if not (text or spanned or cell.get(f"{_TABLE}formula")):
            empty += repeated
            continue
        for _ in range(repeated):
            column = len(cells) + empty
            below, above = spanned.pop(column, (0, ""))
            shown = text
            if cell.tag.endswith("}covered-table-cell"):
                shown = above if below else ""
                if below > 1:
                    spanned[column] = (below - 1, above)
            elif (rows := int(cell.get(f"{_TABLE}number-rows-spanned", "1"))) > 1:
                spanned[column] = (rows - 1, text)
            if _is_not_computed(cell, text):
                formulas.append(column)
            if shown:
                cells += [*("",) * empty, shown]
                empty = 0
            else:
                empty += 1
    return cells, formulas


def _is_not_computed(cell: Element, text: str) -> bool:
    kind = cell.get(f"{_OFFICE}value-type", "")
    return bool(cell.get(f"{_TABLE}formula")) and not text and kind != "string"


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
