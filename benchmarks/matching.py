"""Two lists matched by their vectors, against the bare products in numpy; each row of B once; and few categories.

Of 100,000 rows of A against 100,000 of B the first 10,000 are taken, in the bare products too: all take ten times as
long. The longest time between two steps of the progress is also the longest that a stop takes.
"""

import tempfile
import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.limits import Figures, apart, best_of, peak_memory, seconds
from cfbatch_gui.core.results.matching import MOST_EXACT, Side, assigned, baseline, compare_all, find_candidates

SMALL, WIDE = 5_000, 1_024
LARGE, NARROW, OF_A = 100_000, 256, 10_000
BEST, STEP = 10, 2_048
LIMIT, MEMORY, GAP = 8.0, 600.0, 1.0
CATEGORIES = 30


def main(figures: Figures) -> None:
    """Ratios, memory, the longest wait."""
    with tempfile.TemporaryDirectory() as name:
        _small(figures, Path(name))
        _write(Path(name), LARGE, NARROW)
        _categories(figures, Path(name))
        ours, bare, memory, gap = apart(measure_large, Path(name), OF_A)
    figures.versus(f"{OF_A:,} × {LARGE:,} × {NARROW}", ours, "numpy: bare products", bare, limit=LIMIT)
    figures.add("  memory beyond that of a new process", memory, "MB", limit=MEMORY)
    figures.add("  longest time between two steps", gap, "s", limit=GAP)


def _small(figures: Figures, root: Path) -> None:
    _write(root, SMALL, WIDE)
    a, b = _sides(root)
    ours, bare = best_of(3, lambda: find_candidates(a, b, BEST), lambda: _bare(a.vectors, b.vectors))
    figures.versus(f"{SMALL:,} × {SMALL:,} × {WIDE:,}", ours, "numpy: bare products", bare, limit=LIMIT)
    found = find_candidates(a, b, BEST)
    figures.versus("  the threshold", seconds(lambda: baseline(a, b, found)), "numpy: bare products", bare, limit=LIMIT)
    few_a, few_b = (side.take(np.arange(MOST_EXACT)) for side in (a, b))
    found = find_candidates(few_a, few_b, BEST)
    figures.versus(
        f"  each row once, {MOST_EXACT:,} × {MOST_EXACT:,}",
        seconds(lambda: assigned(few_a, few_b, found)),
        "numpy: all pairs sorted",
        seconds(lambda: np.argsort((few_a.vectors @ few_b.vectors.T).ravel())),
        limit=20.0,
    )


def _categories(figures: Figures, root: Path) -> None:
    a, b = _sides(root)
    b = b.take(np.arange(CATEGORIES))
    ours, bare = best_of(3, lambda: compare_all(a, b, CATEGORIES), lambda: _bare(a.vectors, b.vectors))
    figures.versus(f"{LARGE:,} × {CATEGORIES} × {NARROW}, all in order", ours, "numpy: bare products", bare, limit=30.0)


def _write(root: Path, count: int, dimension: int) -> None:
    """Half of the rows of A are like one of B."""
    draw = np.random.default_rng(4)
    a, b = (np.lib.format.open_memmap(root / name, "w+", np.float32, (count, dimension)) for name in ("a.npy", "b.npy"))
    for start in range(0, count, 5_000):
        block = draw.standard_normal((5_000, dimension), dtype=np.float32)
        b[start : start + 5_000] = block
        block[::2] += 0.5 * draw.standard_normal(block[::2].shape, dtype=np.float32)
        block[1::2] = draw.standard_normal(block[1::2].shape, dtype=np.float32)
        a[start : start + 5_000] = block[::-1]


def _sides(root: Path) -> tuple[Side, Side]:
    a, b = (np.load(root / name, mmap_mode="r") for name in ("a.npy", "b.npy"))
    lengths = [np.concatenate([np.linalg.norm(part, axis=1) for part in np.array_split(each, 20)]) for each in (a, b)]
    keys = np.arange(len(a))
    return Side(a, 1.0 / lengths[0].astype(np.float64), keys), Side(b, 1.0 / lengths[1], keys + len(keys))


def measure_large(root: Path, rows: int) -> tuple[float, float, float, float]:
    """The seconds of ours and of the bare products, the megabytes of ours, and its longest wait."""
    before = peak_memory()
    a, b = _sides(root)
    a = Side(a.vectors[:rows], a.scales[:rows], a.keys[:rows])
    steps = [time.perf_counter()]
    find_candidates(a, b, BEST, progress=lambda share: steps.append(time.perf_counter()))
    memory, gap = peak_memory() - before, float(np.diff(steps).max())
    return steps[-1] - steps[0], seconds(lambda: _bare(a.vectors, b.vectors)), memory, gap


def _bare(a: NDArray[np.float32], b: NDArray[np.float32]) -> None:
    for start in range(0, len(a), STEP):
        for begin in range(0, len(b), STEP):
            a[start : start + STEP] @ b[begin : begin + STEP].T
