"""Figures, the limits they must keep, and the clock, the memory and the process they are measured with.

A limit on a duration is a limit on its ratio to a plain way of doing the same, measured in the same run: a slower or a
busy machine slows both. Limits in absolute units are for memory and counts alone.
"""

import importlib
import os
import resource
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

_STATUS = Path("/proc/self/status")
_LINE = "{:<48}{:>12}{:>12}{:>9}{:>12}  {:<8}{}"
HEADING = _LINE.format("", "measured", "plain way", "ratio", "limit", "", "the plain way").rstrip()


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured number. `limit` is the largest allowed, or the smallest when `is_least`; None when there is none."""

    name: str
    value: float
    unit: str
    limit: float | None = None
    is_least: bool = False

    @property
    def is_broken(self) -> bool:
        """Whether the number is beyond its limit; a number that is not one always is."""
        if self.limit is None:
            return False
        return not (self.value >= self.limit if self.is_least else self.value <= self.limit)

    @property
    def limit_text(self) -> str:
        """ "≤ 3.50 ×", or "" without a limit."""
        if self.limit is None:
            return ""
        return f"{'≥' if self.is_least else '≤'} {quantity(self.limit, self.unit)}"


@dataclass
class Figures:
    """The figures of one part in the order in which they were measured. Each is printed at once, on one line."""

    found: list[Figure] = field(default_factory=list)

    def add(
        self, name: str, value: float, unit: str, *, limit: float | None = None, is_least: bool = False, note: str = ""
    ) -> None:
        """A number by itself."""
        figure = Figure(name, value, unit, limit, is_least)
        self._print(figure, quantity(value, unit), "", "", note)

    def versus(
        self, name: str, ours: float, plain_way: str, plain: float, *, limit: float | None = None, unit: str = "s"
    ) -> None:
        """A number of ours and one of a plain way, both in `unit`; what is limited is the first over the second."""
        figure = Figure(name, ours / plain if plain else float("inf"), "×", limit)
        self._print(figure, quantity(ours, unit), quantity(plain, unit), quantity(figure.value, ""), plain_way)

    def _print(self, figure: Figure, measured: str, plain: str, ratio: str, note: str) -> None:
        self.found.append(figure)
        mark = "" if figure.limit is None else "BROKEN" if figure.is_broken else "ok"
        line = _LINE.format(figure.name, measured, plain, ratio, figure.limit_text, mark, note)
        print(line.rstrip(), flush=True)


def quantity(value: float, unit: str) -> str:
    """Three digits and the unit; a duration of less than a second in milliseconds."""
    if unit == "s" and value < 1:
        value, unit = value * 1000, "ms"
    digits = 0 if value >= 100 else 1 if value >= 10 else 2
    return f"{value:,.{digits}f} {unit}".rstrip()


def seconds(work: Callable[[], object]) -> float:
    """How long a call takes, by the clock on the wall."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def best_of(turns: int, *works: Callable[[], object]) -> list[float]:
    """The shortest time of each of several calls that alternate: whatever else the computer does falls on all."""
    found = [[seconds(work) for work in works] for _ in range(turns)]
    return [min(times) for times in zip(*found, strict=True)]


def peak_memory() -> float:
    """The most memory that was resident since this process began its program, in MB of 1,048,576 bytes.

    On Linux not `ru_maxrss`: that one begins with the peak of the process that started this one.
    """
    if _STATUS.exists():
        return int(_STATUS.read_text("utf-8").partition("VmHWM:")[2].split()[0]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def apart(work: Callable[P, T], *arguments: P.args, **named: P.kwargs) -> T:
    """What a function of a module returns when it is called in a new process, which inherits no memory.

    The function, its arguments and its result are pickled. Its exceptions are raised here.
    """
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(work, *arguments, **named).result()


def measure(part: str) -> list[Figure]:
    """Run one part in this process; its figures, which were printed. Windows are not shown unless a platform is set."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    os.environ.setdefault("QT_LOGGING_RULES", "default.warning=false")  # what that platform does not support
    module = importlib.import_module(f"benchmarks.{part}")
    title = (module.__doc__ or part).split("\n\n")[0].replace("\n", " ")
    print(f"\n{part}: {title}\n{HEADING}", flush=True)
    figures = Figures()
    module.main(figures)
    figures.add("memory of the whole part", peak_memory(), "MB", note="with the plain ways")
    return figures.found
