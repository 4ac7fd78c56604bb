"""Headers told from first rows of data, against csv.Sniffer, in tables that packages ship and in written ones.

The figures in the program were chosen by every second table. The others are held out: they were looked at in the end.
"""

import csv

from benchmarks.header_tables.corpus import REAL, WRITTEN, Table, tables
from benchmarks.limits import Figures, best_of
from cfbatch_gui.core.inputs.recognise.headers import CLOSE, judge_header


def main(figures: Figures) -> None:
    """Shares of right answers, of those that are asked about, and the time."""
    real, written = list(tables(REAL)), list(tables(WRITTEN))
    everything = real + written
    cut = [table.without_first_row() for table in everything if table.is_header and len(table.rows) > 3]
    for name, found in (
        ("tables that packages ship", real),
        ("written tables", written),
        ("of them held out", real[1::2] + written[1::2]),
        ("all tables", everything),
    ):
        sniffed = f"csv.Sniffer {_share([_sniffed(table.text) == table.is_header for table in found]):.1f} %"
        figures.add(f"{len(found)} {name}", _share(_right(found)), "%", limit=95.0, is_least=True, note=sniffed)
    sniffed = f"csv.Sniffer {_share([_sniffed(table.text) is False for table in cut]):.1f} %"
    figures.add(f"{len(cut)} without their header", _share(_right(cut)), "%", limit=95.0, is_least=True, note=sniffed)
    texts = [table.text for table in everything]
    close = [abs(judge_header(table.rows)) < CLOSE for table in everything + cut]
    figures.add("asked about, of all of these", _share(close), "%", limit=15.0)
    ours, theirs = best_of(5, lambda: list(map(_judged, everything)), lambda: list(map(_sniffed, texts)))
    figures.versus("time for all tables", ours, "csv.Sniffer.has_header", theirs, limit=0.8)
    for table, is_right in zip(everything + cut, _right(everything + cut), strict=True):
        if not is_right:
            print(f"wrong{', but asked about' if abs(judge_header(table.rows)) < CLOSE else ''}: {table.name}")


def _right(found: list[Table]) -> list[bool]:
    return [_judged(table) == table.is_header for table in found]


def _judged(table: Table) -> bool:
    return judge_header(table.rows) > 0


def _sniffed(text: str) -> bool | None:
    """What csv.Sniffer says, None where it finds no separator."""
    try:
        return csv.Sniffer().has_header(text)
    except csv.Error:
        return None


def _share(found: list[bool]) -> float:
    """Percent."""
    return 100 * sum(found) / len(found)
