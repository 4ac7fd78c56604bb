"""A start of the program until its window is painted, and the window at rest, against a bare window with a table.

Each window is a process of its own. What is measured is the computing time of the whole process, all its threads and
the start of Python with it, and the most memory that it had.
"""

import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from benchmarks.limits import Figures
from benchmarks.many_jobs import fill, fill_with_waiting

TURNS = 5
IDLE = 60  # seconds
WAITING = 10  # batches
_MORE = {1_000: 1.0, 10_000: 4.0}  # so much more than without jobs, in starts of the bare window


@dataclass(frozen=True, slots=True)
class Opened:
    """What a window took to its first painting, in seconds and MB, and what it took at rest."""

    seconds: float
    peak: float
    at_rest: float = 0.0
    peak_at_rest: float = 0.0


def opened(what: str, root: Path, *, idle: int = 0) -> Opened:
    """Open a window in a process of its own. Raises CalledProcessError."""
    command = [sys.executable, "-m", "benchmarks.started_window", what, str(root), str(idle)]
    environ = {**os.environ, "CFBATCH_PRACTICE_SECONDS": "36000"}
    environ.pop("PYTHONDONTWRITEBYTECODE", None)  # users have compiled modules
    done = subprocess.run(command, env=environ, check=True, capture_output=True, text=True, timeout=60 + 2 * idle)
    first, *rest = ([float(word) for word in line.split()] for line in done.stdout.splitlines())
    return Opened(*first, *(rest[0] if rest else ()))


def main(figures: Figures) -> None:
    """The best of several turns of each window, in which they alternate."""
    with tempfile.TemporaryDirectory() as name:
        roots = {count: Path(name) / f"jobs-{count}" for count in (0, *_MORE)}
        for count, root in roots.items():
            fill(root, count)
        found: dict[int | str, list[Opened]] = {}
        for _ in range(TURNS):
            found.setdefault("bare", []).append(opened("bare", Path(name)))
            for count, root in roots.items():
                found.setdefault(count, []).append(opened("ours", root))
        seconds = {key: min(each.seconds for each in all_of) for key, all_of in found.items()}
        peaks = {key: max(each.peak for each in all_of) for key, all_of in found.items()}
        figures.versus("start, computing time", seconds[0], "a bare window with a table", seconds["bare"], limit=4.0)
        figures.add("start, most memory", peaks[0], "MB", limit=110.0, note=f"the bare window: {peaks['bare']:.0f} MB")
        for count, limit in _MORE.items():
            more = max(0.0, seconds[count] - seconds[0])
            note = f"{seconds[count] * 1_000:.0f} ms and {peaks[count]:.0f} MB in all"
            figures.versus(f"  more for {count:,} jobs", more, f"the bare window; {note}", seconds["bare"], limit=limit)
        _at_rest(figures, Path(name), seconds["bare"])


def _at_rest(figures: Figures, folder: Path, start: float) -> None:
    """In a minute, against the start of the bare window, which takes about a hundred times what it takes at rest."""
    fill_with_waiting(folder / "waiting", WAITING)
    empty = opened("ours", folder / "jobs-0", idle=IDLE)
    figures.versus(
        "computing time of a window at rest", empty.at_rest, "the start of the bare window", start, limit=1.0
    )
    waiting = opened("ours", folder / "waiting", idle=IDLE)
    plain_way = f"the start of the bare window; {waiting.peak_at_rest:.0f} MB"
    figures.versus(f"  with {WAITING} batches that wait", waiting.at_rest, plain_way, start, limit=1.0)
