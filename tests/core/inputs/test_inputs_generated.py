"""Generated files of every format, intact and damaged: read exactly as other readers do, or reported as a problem.

`--hypothesis-profile=thorough` tries 5,000 of each format.
"""

import csv
import gzip
import io
import json
import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from xml.sax.saxutils import escape

import openpyxl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE

from cfbatch_gui.core.inputs.file_rows import read_rows
from cfbatch_gui.core.inputs.input_values import ReadOptions
from cfbatch_gui.core.inputs.recognise.recogniser import open_source
from tests.core.inputs.independent import outcome
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


def json_lines(path: Path, table: Table) -> None:
    rows = [dict(zip(columns(table), row, strict=True)) for row in table]
    path.write_text("".join(json.dumps(row, ensure_ascii=len(row) > 2) + "\n" for row in rows), "utf-8", "replace", "")


def json_document(path: Path, table: Table) -> None:
    rows = [dict(zip(columns(table), row, strict=True)) for row in table]
    path.write_text(json.dumps(rows, indent=len(table) % 3, ensure_ascii=len(table) > 2), "utf-8", "replace", "")


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
    zipped(path, "word/document.xml", xml.encode())


def archived(path: Path, table: Table) -> None:
    delimited(",")(path, table)
    zipped(path, "a.csv", path.read_bytes())


def zipped(path: Path, name: str, data: bytes) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, data)


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


def examples(name: str) -> int:
    return tries(SHORT.get(name, 8), 5_000)


@pytest.mark.parametrize("name", list(WRITERS))
def test_files_are_read_to_the_letter_or_refused(name: str, tmp_path: Path) -> None:
    path = tmp_path / name

    @settings(max_examples=examples(name), deadline=None, suppress_health_check=list(HealthCheck))
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
