"""The programs that are measured, each used as its makers advise and in its favour where that is open.

The others are told each file's encoding, and csv.Sniffer and CleverCSV the four separators too; ours is told nothing.
"""

import csv
import importlib.util
import io
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from benchmarks.messy_csv.judging import Detector, Found
from benchmarks.messy_csv.model import Cells, MessyFile
from cfbatch_gui.core.errors import InputError
from cfbatch_gui.core.inputs.file_rows import read_rows
from cfbatch_gui.core.inputs.input_values import FileFormat
from cfbatch_gui.core.inputs.recognise.recogniser import open_source

_SEPARATORS = ",;\t|"


def ours(file: MessyFile) -> Iterator[Found]:
    """From the bytes alone."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "file.csv"
        path.write_bytes(file.data)
        try:
            source = open_source(path)
            rows = tuple(row.cells for row in read_rows(source))
        except InputError:
            return
        is_table = source.format == FileFormat.DELIMITED
        names = _original(source.columns) if source.has_header else ()
        yield Found(source.separator if is_table else "", names, rows, source.encoding)


def _original(columns: Cells) -> Cells:
    """Without the names that we give to columns that have none."""
    return tuple("" if name == f"Column {number}" else name for number, name in enumerate(columns, 1))


def csv_sniffer(file: MessyFile) -> Iterator[Found]:
    """The standard library."""
    sniffer = csv.Sniffer()
    try:
        dialect: Any = sniffer.sniff(file.text, delimiters=_SEPARATORS)
    except csv.Error:
        dialect = csv.excel  # what everybody falls back on
    try:
        header = sniffer.has_header(file.text)
    except csv.Error:
        header = False
    with suppress(csv.Error):
        yield _found(dialect.delimiter, list(csv.reader(io.StringIO(file.text, newline=""), dialect)), header)


def clevercsv(file: MessyFile) -> Iterator[Found]:
    """van den Burg, Nazábal, Sutton: Wrangling messy CSV files by detecting row and type patterns, 2019."""
    import clevercsv as library
    from clevercsv.dialect import SimpleDialect
    from clevercsv.exceptions import NoDetectionResult

    sniffer, usual = library.Sniffer(), SimpleDialect(",", '"', "")  # everybody falls back on the usual one
    try:
        found: Any = sniffer.sniff(file.text, delimiters=list(_SEPARATORS)) or usual
    except (library.Error, NoDetectionResult):
        found = usual
    try:
        header = sniffer.has_header(file.text)
    except (library.Error, NoDetectionResult):
        header = False
    yield _found(found.delimiter, list(library.reader(io.StringIO(file.text, newline=""), found)), header)


def duckdb(file: MessyFile) -> Iterator[Found]:
    """DuckDB's sniffer, and its reader as the sniffer says: by itself, and with its two ways of being lenient."""
    import duckdb as library

    with tempfile.TemporaryDirectory() as folder, library.connect() as database:
        path = Path(folder) / "file.csv"
        path.write_text(file.text, encoding="utf-8", newline="")
        for lenient in (
            "",
            ", null_padding = true",
            ", null_padding = true, strict_mode = false, ignore_errors = true",
        ):
            with suppress(library.Error):
                yield _duckdb(database, path, lenient)


def _duckdb(database: Any, path: Path, lenient: str) -> Found:
    sniffed = database.sql(
        f"SELECT Delimiter, Quote, Escape, SkipRows, HasHeader, Columns, Comment"
        f" FROM sniff_csv('{path}', sample_size = -1{lenient})"
    ).fetchall()[0]
    separator, quote, escape, skipped, header, columns, comment = sniffed
    said = {"delim": separator, "quote": quote, "escape": escape, "comment": comment}
    options = "".join(
        f", {name} = '{'' if value in (None, '(empty)') else value.replace(chr(39), chr(39) * 2)}'"
        for name, value in said.items()
    )
    rows = database.sql(
        f"SELECT * FROM read_csv('{path}', all_varchar = true, sample_size = -1, skip = {skipped},"
        f" header = {header}{options}{lenient})"
    ).fetchall()
    cells = tuple(tuple("" if cell is None else str(cell) for cell in row) for row in rows)
    names = tuple(column["name"] for column in columns) if header else ()
    # DuckDB completes a name that is missing, as we do.
    names = tuple("" if name.startswith("column") and name[6:].isdigit() else name for name in names)
    return Found(separator, names, cells)


def _found(separator: str, rows: list[list[str]], header: bool) -> Found:
    filled = [tuple(row) for row in rows if any(row)]
    return Found(separator, filled[0] if header and filled else (), tuple(filled[header:]))


def is_here(name: str) -> bool:
    """Whether the other program is installed."""
    return name == "csv.Sniffer" or importlib.util.find_spec(name.lower()) is not None


RIVALS: dict[str, Detector] = {"csv.Sniffer": csv_sniffer, "CleverCSV": clevercsv, "DuckDB": duckdb}
