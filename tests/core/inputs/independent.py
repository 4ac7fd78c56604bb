"""The rows of a file as read by other libraries, and their exact comparison with this program's."""

import csv
import gzip
import io
import json
import re
import zipfile
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

from cfbatch_gui.core.errors import UserError
from cfbatch_gui.core.inputs.file_rows import read_rows
from cfbatch_gui.core.inputs.input_values import FileFormat, Quoting, ReadOptions, Row, Shape, Source
from cfbatch_gui.core.inputs.recognise.recogniser import open_source

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
            return None if source.quoting is Quoting.COPY or source.marked else list(_delimited(source))
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
