"""Rows read from a file, against the bare csv module and a plain loop over lines."""

import csv
import tempfile
from collections.abc import Iterable
from pathlib import Path

from benchmarks.limits import Figures, best_of, seconds
from cfbatch_gui.core.inputs.file_rows import read_rows
from cfbatch_gui.core.inputs.input_values import FileFormat, Source
from cfbatch_gui.core.inputs.recognise.recogniser import open_source

ROWS = 1_000_000
TURNS = 3
_LINE = '{number:07},How do I change the address on my invoice?,"Settings → Billing, beside the address",{number}\n'


def main(figures: Figures) -> None:
    """One file, read in several ways; the best of several turns each."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.csv"
        with path.open("w", encoding="utf-8", newline="") as file:
            file.write("id,question,answer,number\n")
            file.writelines(_LINE.format(number=number) for number in range(ROWS))
        size = path.stat().st_size
        figures.add(f"{ROWS:,} rows, {size / 1e6:,.0f} MB: recognised", seconds(lambda: open_source(path)), "s")
        table = open_source(path)
        lines = Source(path, FileFormat.LINES, ("text",), size, "utf-8")
        ours, bare = best_of(TURNS, lambda: _count(read_rows(table)), lambda: _count(_csv_rows(path)))
        figures.versus("read as CSV", ours, "csv.reader alone", bare, limit=3.0)
        ours, bare = best_of(TURNS, lambda: _count(read_rows(lines)), lambda: _count(_plain_lines(path)))
        figures.versus("read as lines", ours, "a loop over the lines", bare, limit=5.0)


def _csv_rows(path: Path) -> Iterable[object]:
    with path.open(encoding="utf-8", newline="") as file:
        yield from csv.reader(file)


def _plain_lines(path: Path) -> Iterable[object]:
    with path.open(encoding="utf-8", newline="") as file:
        for line in file:
            yield line.rstrip("\r\n")


def _count(rows: Iterable[object]) -> int:
    count = 0
    for _ in rows:
        count += 1
    return count
