"""CSV files of which one character spoilt one row: rows sent without a word; and what the checks for that cost.

The files are made from other seeds than those with which the reader was mended.
"""

import csv
import random
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from benchmarks.limits import Figures, apart, best_of, peak_memory
from benchmarks.polluted_rows.files import clean_file, polluted_files
from benchmarks.polluted_rows.judging import false_alarms, is_silent_in_csv_module, judge
from cfbatch_gui.core.inputs.file_rows import read_blocks
from cfbatch_gui.core.inputs.input_values import Block, Source
from cfbatch_gui.core.inputs.recognise.recogniser import open_source

_SEEDS = range(31_000, 31_080)
_CLEAN_SEEDS = range(40_000, 40_500)
_ROWS = 300_000
_CELL = 50_000_000  # characters
_CHECKED = 20_000
_TURNS = 5
_LINE = '{number:07},How do I change the address on my invoice?,"Settings → Billing, beside the address",{number}\n'


def main(figures: Figures) -> None:
    """Silent rows, false alarms, lost rows, and the cost of the checks in files that need them and in others."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.csv"
        _judge(figures, path)
        _blank_lines(figures, path)
        _ragged(figures, Path(folder))
        figures.add(
            f"memory for a cell of {_CELL / 1e6:,.0f} MB",
            apart(_peak_of_long_cell, path) / (_CELL / 1e6),
            "×",
            limit=5.0,
            note="its size",
        )


def _judge(figures: Figures, path: Path) -> None:
    files = silent = plain = lost = alarms = rows = 0
    kinds: Counter[str] = Counter()
    for seed in _SEEDS:
        chance = random.Random(seed)
        clean = clean_file(chance)
        for file in polluted_files(chance, clean):
            verdict = judge(file, path)
            files += 1
            silent += verdict.silent > 0
            plain += is_silent_in_csv_module(file)
            lost += verdict.lost
            if verdict.silent:
                kinds[file.what.partition(" in ")[0].partition(" after ")[0]] += 1
    for seed in _CLEAN_SEEDS:
        wrong, count = false_alarms(clean_file(random.Random(seed)), path)
        alarms += wrong
        rows += count
    figures.add(
        f"{files:,} spoilt files: a wrong row, no word", silent, "files", limit=0.0, note=f"csv.reader {plain:,}"
    )
    figures.add(f"false alarms in {rows:,} sound rows", 1000 * alarms / rows, "in 1,000", limit=1.0)
    figures.add("sound rows lost for a spoilt one", lost / files, "rows", limit=3.0)
    for kind, count in kinds.items():
        print(f"silent: {kind}, {count}")


def _blank_lines(figures: Figures, path: Path) -> None:
    plain = "".join(_LINE.format(number=number) for number in range(_ROWS))
    path.write_text(f"id,question,answer,number\n{plain}", encoding="utf-8", newline="")
    blank = path.with_name("blank.csv")
    blank.write_text("id,question,answer,number\n" + plain.replace("\n", "\n\n"), encoding="utf-8", newline="")
    table, other = open_source(path), open_source(blank)
    with_blank, without = best_of(_TURNS, lambda: _count(other), lambda: _count(table))
    figures.versus("rows with a blank line below each", with_blank, "the same without", without, limit=1.3)
    ours, bare = best_of(_TURNS, lambda: _count(table), lambda: _bare(path))
    figures.versus("rows checked, in blocks", ours, "csv.reader alone", bare, limit=2.0)


def _ragged(figures: Figures, folder: Path) -> None:
    """`cfbatch check` of files of which every second row is short, or opens a mark and never closes it."""
    spoilt = {
        "short": "{number:07},How do I change it?\n",
        "with an open mark": '{number:07},How?,"Settings,{number}\n',
    }
    whole = _written(folder / "whole.csv", _LINE)
    for name, line in spoilt.items():
        other = _written(folder / "spoilt.csv", line)
        ours, bare = best_of(3, partial(_check, other, folder), partial(_check, whole, folder))
        figures.versus(f"check, every second row {name}", ours, "the same rows whole", bare, limit=3.0)


def _written(path: Path, line: str) -> Path:
    lines = (_LINE if number % 2 else line for number in range(_CHECKED))
    rows = "".join(each.format(number=number) for number, each in enumerate(lines))
    path.write_text(f"id,question,answer,number\n{rows}", encoding="utf-8", newline="")
    return path


def _check(path: Path, folder: Path) -> None:
    program = [sys.executable, "-m", "cfbatch_gui.cli.main", "--data-dir", str(folder / "data")]
    command = [*program, "check", str(path), "--embed", "--doubtful", "skip"]
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)  # 1: rows are left out


def _count(source: Source) -> int:
    return sum(len(each.rows) for each in read_blocks(source) if isinstance(each, Block))


def _bare(path: Path) -> int:
    with path.open(encoding="utf-8", newline="") as file:
        return sum(1 for _ in csv.reader(file))


def _peak_of_long_cell(path: Path) -> float:
    """Megabytes that a process takes to read a file with such a cell, less those that it takes before."""
    before = peak_memory()
    with path.open("w", encoding="utf-8") as file:
        file.writelines(_long_cell())
    if _count(open_source(path)) != 2:
        raise AssertionError("the rows beside the long cell were not read")
    return peak_memory() - before


def _long_cell() -> Iterator[str]:
    yield 'id,text\n1,one\n2,"'
    yield from ("words " * 1000 for _ in range(_CELL // 6000))
    yield '"\n3,three\n'
