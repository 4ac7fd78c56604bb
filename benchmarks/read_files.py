"""How fast rows are read, beside the bare csv module and a plain loop over lines, on the same file in the same run."""

import csv
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from cfbatch_gui.core.inputs.file_rows import read_rows
from cfbatch_gui.core.inputs.input_values import FileFormat, Source
from cfbatch_gui.core.inputs.recognise.recogniser import open_source

ROWS = 1_000_000
REPEATS = 3
_LINE = "{number:07},How do I change the address on my invoice?,“Settings → Billing, beside the address”,{number}\n"


def main() -> None:
    """Write one file, read it in several ways, print the seconds and the ratios."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.csv"
        with path.open("w", encoding="utf-8", newline="") as file:
            file.write("id,question,answer,number\n")
            file.writelines(_LINE.format(number=number).replace("“", '"').replace("”", '"') for number in range(ROWS))
        size = path.stat().st_size
        table, seconds_to_open = _timed(lambda: open_source(path))
        lines = Source(path, FileFormat.LINES, ("text",), size, "utf-8")
        bare_csv = _best(lambda: _count(_csv_rows(path)))
        our_csv = _best(lambda: _count(read_rows(table)))
        bare_lines = _best(lambda: _count(_plain_lines(path)))
        our_lines = _best(lambda: _count(read_rows(lines)))
    print(f"{ROWS:,} rows, {size / 1e6:,.0f} MB; recognised in {seconds_to_open:.2f} s")
    print(f"read_rows, CSV    {our_csv:6.2f} s   bare csv.reader  {bare_csv:6.2f} s   ratio {our_csv / bare_csv:.2f}")
    ratio = our_lines / bare_lines
    print(f"read_rows, lines  {our_lines:6.2f} s   plain line loop  {bare_lines:6.2f} s   ratio {ratio:.2f}")


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


def _timed(work: Callable[[], Source]) -> tuple[Source, float]:
    start = time.perf_counter()
    result = work()
    return result, time.perf_counter() - start


def _best(work: Callable[[], int]) -> float:
    seconds = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


if __name__ == "__main__":
    main()
