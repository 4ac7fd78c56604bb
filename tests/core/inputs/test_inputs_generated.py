"""Generated files of every format, intact and damaged: read exactly as other readers do, or reported as a problem.

`--hypothesis-profile=thorough` tries 5,000 of each format.
"""

import csv
import gzip
import io
import json
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import openpyxl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE

from cfbatch_gui.core.errors import UserError
from cfbatch_gui.core.inputs.file_rows import read_rows
from cfbatch_gui.core.inputs.input_values import FileFormat, Quoting, ReadOptions, Row, Shape, Source
from cfbatch_gui.core.inputs.recognise.recogniser import open_source
from tests.core.inputs.files import zipped
from tests.thorough import tries

SHORT = {"a.xlsx": 5, "a.parquet": 5}
pytestmark = [pytest.mark.thorough, pytest.mark.timeout(tries(120, 3600))]

Table = list[list[str]]
Writer = Callable[[Path, Table], None]

_pieces = st.sampled_from(
    [*',;|\t"\'\n\\#=', " ", "\r\n", "\r", "\u2028", "\u0085", "\ufeff", "\0", "007", "1,5", "3.10", "a", "ß", "日本",
     "🌍", "e\u0301", "text", "query", "id", "NULL", "\\N", "Total", "sep=;", "{", "[]", "https://a.example/?b=1;c=2"]
)  # fmt: skip
cells = st.one_of(st.lists(_pieces, max_size=6).map("".join), st.text(max_size=12))
tables = st.integers(1, 4).flatmap(
    lambda width: st.lists(st.lists(cells, min_size=width, max_size=width), min_size=1, max_size=8)
)
NOISE = [
    *(b'"', b"'", b"\\", b"\r", b"\n\n", b"\0", b"\xff", b"\xef\xbb\xbf"),
    *(b"{", b"]", b"\xed\xa0\x80", b"sep=;\n", b",", b";;"),
]
damage = st.lists(st.tuples(st.integers(0, 10_000), st.sampled_from(["cut", *NOISE])), max_size=2)


def columns(table: Table) -> dict[str, list[str]]:
    return {f"column {number}": [row[number] for row in table] for number in range(len(table[0]))}


def delimited(separator: str, encoding: str = "utf-8", end: str = "\r\n", quoting: int = csv.QUOTE_MINIMAL) -> Writer:
    def write(path: Path, table: Table) -> None:
        text = io.StringIO(newline="")
        csv.writer(text, delimiter=separator, lineterminator=end, quoting=quoting).writerows(table)  # type: ignore[arg-type]
        data = text.getvalue().encode(encoding, "replace")
        if not encoding.startswith("utf"):  # control characters would mark it as binary
            data = bytes(byte for byte in data if byte >= 32 or byte in b"\t\r\n")
        path.write_bytes(gzip.compress(data, 1, mtime=0) if path.suffix == ".gz" else data)

    return write


def plain_text(path: Path, table: Table) -> None:
    path.write_bytes("\n".join(" ".join(row) for row in table).encode("utf-8", "replace"))


def records(table: Table) -> list[dict[str, str]]:
    return [dict(zip(columns(table), row, strict=True)) for row in table]


def json_lines(path: Path, table: Table) -> None:
    lines = "".join(json.dumps(row, ensure_ascii=len(row) > 2) + "\n" for row in records(table))
    path.write_text(lines, "utf-8", "replace", "")


def json_document(path: Path, table: Table) -> None:
    path.write_text(
        json.dumps(records(table), indent=len(table) % 3, ensure_ascii=len(table) > 2), "utf-8", "replace", ""
    )


def workbook(path: Path, table: Table) -> None:
    book = openpyxl.Workbook()
    for row, texts in enumerate(table, 1):
        for column, text in enumerate(texts, 1):
            cell = book.active.cell(row, column)
            cell.value = as_xml(text)
            cell.data_type = "s"  # a text, though it begins with "="
    book.save(path)


def parquet(path: Path, table: Table) -> None:
    core, arro = pytest.importorskip("arro3.core"), pytest.importorskip("arro3.io")
    texts = {
        name: [text.encode("utf-8", "replace").decode() for text in column] for name, column in columns(table).items()
    }
    arrays = {name: core.Array(column, core.DataType.utf8()) for name, column in texts.items()}
    arro.write_parquet(core.Table.from_pydict(arrays), str(path))


def document(path: Path, table: Table) -> None:
    texts = "".join(f"<w:p><w:r><w:t>{escape(as_xml(text))}</w:t></w:r></w:p>" for row in table for text in row)
    main = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    xml = f'<w:document xmlns:w="{main}"><w:body>{texts}</w:body></w:document>'
    path.write_bytes(zipped(("word/document.xml", xml.encode())))


def archived(path: Path, table: Table) -> None:
    delimited(",")(path, table)
    path.write_bytes(zipped(("a.csv", path.read_bytes())))


def as_xml(text: str) -> str:
    return str(ILLEGAL_CHARACTERS_RE.sub("", text.encode("utf-8", "replace").decode()))


WRITERS: dict[str, Writer] = {
    "a.csv": delimited(","),
    "b.csv": delimited(";", "utf-8-sig", "\n", csv.QUOTE_ALL),
    "c.csv": delimited(",", "utf-16", "\r\n"),
    "d.csv": delimited(";", "cp1252"),
    "a.tsv": delimited("\t", "utf-8", "\n"),
    "a.psv": delimited("|", "gb18030"),
    "a.csv.gz": delimited(",", "utf-8", "\n"),
    "a.txt": plain_text,
    "a.jsonl": json_lines,
    "a.json": json_document,
    "a.docx": document,
    "a.zip": archived,
    "a.xlsx": workbook,
    "a.parquet": parquet,
}


@pytest.mark.parametrize("name", list(WRITERS))
def test_files_are_read_to_the_letter_or_refused(name: str, tmp_path: Path) -> None:
    path = tmp_path / name

    @settings(max_examples=tries(SHORT.get(name, 8), 5_000), deadline=None, suppress_health_check=list(HealthCheck))
    @given(tables, damage)
    def files(table: Table, harm: list[tuple[int, str | bytes]]) -> None:
        WRITERS[name](path, table)
        if harm:
            data = path.read_bytes()
            for position, what in harm:
                at = position % (len(data) + 1)
                data = data[:at] if isinstance(what, str) else data[:at] + what + data[at:]
            path.write_bytes(data)
        outcome(path)

    files()


def as_read(cell: str) -> str:
    return re.sub("(?<=[\r\n])\ufeff+", "", cell).replace("\0", "\ufffd").encode("utf-8", "replace").decode()


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_a_table_comes_back_as_it_was_written(separator: str, tmp_path: Path) -> None:
    """With the separator given, rows without a problem are exactly those written, whatever their content."""
    path = tmp_path / "a.csv"

    @settings(max_examples=tries(8, 2_000), deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.lists(st.lists(cells, min_size=3, max_size=3), min_size=3, max_size=8))
    def round_trip(table: Table) -> None:
        written = [["id", "text", "note"], *([f"{number}", *row[1:]] for number, row in enumerate(table, 10))]
        delimited(separator, quoting=csv.QUOTE_ALL)(path, written)
        source = open_source(path, ReadOptions(separator=separator, has_header=True, encoding="utf-8"))
        expected = [[as_read(cell) for cell in row] for row in written]
        assert list(source.columns) == expected[0]
        assert [list(row.cells) for row in read_rows(source)] == expected[1:]

    round_trip()


Cells = tuple[str | None, ...]  # None for cells that are not compared: numbers, lists

csv.field_size_limit(2**31 - 1)
_DIALECTS: dict[Quoting, dict[str, Any]] = {
    Quoting.DOUBLED: {"quotechar": '"', "doublequote": True},
    Quoting.ESCAPED: {"quotechar": '"', "escapechar": "\\"},
    Quoting.SINGLE: {"quotechar": "'"},
    Quoting.SPACED: {"skipinitialspace": True},
    Quoting.NONE: {"quoting": csv.QUOTE_NONE},
}


def outcome(path: Path, options: ReadOptions | None = None) -> str:
    """Read a file: "accepted", "in part" or "refused". Raises AssertionError for any difference to other readers."""
    try:
        source = open_source(path, options or ReadOptions())
        rows = list(read_rows(source))
    except UserError as error:
        assert error.message.endswith((".", "!", "?", "}.")), error.message
        return "refused"
    compare(source, rows)
    return "in part" if any(row.problem for row in rows) else "accepted"


def compare(source: Source, rows: list[Row]) -> None:
    """Assert that rows without a problem equal the other reader's, in order, and that no row is missing."""
    theirs = other_rows(source)
    if theirs is None:
        return
    filled = [row for row in rows if row.problem or any(row.cells)]
    for number, other in enumerate(theirs):
        assert number < len(filled), f"lost: {other!r}"
        row = filled[number]
        if row.problem:
            if _is_end(row):
                assert number == len(filled) - 1
                return
            if "opens in this row" in row.problem:  # where the csv module reads one row, ours reads several below it
                return
            continue
        assert source.format != FileFormat.DELIMITED or None not in other, f"ragged, and not said: {row!r}"
        assert len(row.cells) == len(source.columns)
        for ours, cell in zip(row.cells, other, strict=True):
            assert cell is None or ours == cell, (row.number, ours, cell)
    rest = filled[len(theirs) :]
    assert all(row.problem for row in rest), f"invented: {rest[:3]!r}"


def _is_end(row: Row) -> bool:
    return "rest of the file" in row.problem or "From here on" in row.problem


def other_rows(source: Source) -> list[Cells] | None:
    """The rows that are not empty; None when no other reader supports such a file."""
    match source.format:
        case FileFormat.DELIMITED:
            return None if source.quoting is Quoting.COPY else list(_delimited(source))
        case FileFormat.LINES:
            lines = [line for line in re.split("\r\n|\r|\n", _text(source)) if line.strip()]
            return [(line,) for line in lines[source.has_header :]]
        case FileFormat.PARAGRAPHS:
            return _paragraphs(re.split("(?<=\n)|(?<=\r)(?!\n)", _text(source)))
        case FileFormat.JSON_LINES if source.shape is Shape.PLAIN:
            return _filled(_of_object(source, line) for line in re.split("\r\n|\r|\n", _text(source)) if line.strip())
        case FileFormat.JSON if source.shape is Shape.PLAIN:
            return _of_document(source)
        case _:
            return None


def _paragraphs(lines: list[str]) -> list[Cells]:
    """The texts between blank lines, without their last line end."""
    found = ("".join(group) for is_filled, group in groupby(lines, lambda line: bool(line.strip())) if is_filled)
    return [(re.sub("(\r\n|\r|\n)\\Z", "", text),) for text in found]


def _text(source: Source) -> str:
    data = source.path.read_bytes()
    if data.startswith(b"\x1f\x8b"):
        data = gzip.decompress(data)
    if data.startswith(b"PK\x03\x04"):
        archive = zipfile.ZipFile(source.path)
        data = archive.read(archive.namelist()[0])
    if source.end:
        data = data[: source.end]
    text = re.sub("(\\A|[\r\n])\ufeff+", r"\1", data.decode(source.encoding, "replace"))
    return text.replace("\0", "\ufffd")


def _delimited(source: Source) -> Iterator[Cells]:
    lines = io.StringIO(_text(source), newline="")
    for _ in range(source.first_line - 1):
        lines.readline()
    reader = csv.reader(lines, delimiter=source.separator, **_DIALECTS[source.quoting])
    records = (record for record in reader if record)
    if source.has_header:
        next(records, None)
    width = len(source.columns)
    found = list(records)
    if found and found[-1] == [""]:
        del found[-1]  # made by csv of a quotation mark at the very end
    for record in found:
        if len(record) not in (source.habits.widths or (width,)) or any(record[width:]):
            yield (None,) * width  # must be reported as a problem
        elif any(record):
            yield (*record[:width], *("",) * (width - len(record)))


def _of_object(source: Source, line: str) -> Cells:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return (None,) * len(source.columns)
    return _cells(source, value)


def _cells(source: Source, value: object) -> Cells:
    if isinstance(value, str):
        value = {"text": value}
    if not isinstance(value, dict):
        return (None,) * len(source.columns)
    return tuple(_cell(value.get(name)) for name in source.columns)


def _cell(value: object) -> str | None:
    if value is None:
        return ""
    if not isinstance(value, str):
        return None
    return value.replace("\0", "\ufffd").encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _of_document(source: Source) -> list[Cells] | None:
    try:
        value = json.loads(_text(source))
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, list):
        return None
    return _filled(_cells(source, each) for each in value)


def _filled(rows: Iterable[Cells]) -> list[Cells]:
    return [row for row in rows if any(cell != "" for cell in row)]
