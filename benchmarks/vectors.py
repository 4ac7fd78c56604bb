"""Map, near duplicates and clusters of many vectors, beside plain numpy; and how late the window's timer is."""

import asyncio
import os
import sqlite3
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from PySide6.QtWidgets import QApplication

from benchmarks.heartbeat import Heartbeat
from cfbatch_gui.core.job_folder import schema
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.results.maps.text_map import make_map, make_near_map
from cfbatch_gui.core.results.maps.tsne import NEIGHBOURS
from cfbatch_gui.core.results.vectors.clusters import find_clusters
from cfbatch_gui.core.results.vectors.embeddings import Embeddings
from cfbatch_gui.core.results.vectors.near_duplicates import find_duplicates
from cfbatch_gui.core.results.vectors.unit_vectors import unit_vectors
from cfbatch_gui.ui.plots import DotMap, PlotData
from cfbatch_gui.ui.plots.colours import by_category
from cfbatch_gui.ui.theme import Scheme, Theme
from cfbatch_gui.ui.window import loop

MAPPED, COMPARED, DIMENSION, TOPICS = 100_000, 20_000, 1_024, 40
THRESHOLD = 0.95
T = TypeVar("T")


def job(path: Path, count: int) -> Embeddings:
    """Texts of some topics, with a spread that falls off as that of real embeddings; one in fifty comes twice."""
    draw = np.random.default_rng(4)
    folder = JobFolder(path)
    folder.create()
    schema.create(folder.data)
    with closing(sqlite3.connect(folder.data)) as database, database:
        schema.put_fact(database, "dimension", DIMENSION)
        database.execute("INSERT INTO requests VALUES(1, 'r', 1, 1, 'done', '')")
        numbers = range(1, count + 1)
        database.executemany("INSERT INTO texts VALUES(?, '', ?, '', 1, ?)", ((n, f"text {n}", n) for n in numbers))
        database.executemany("INSERT INTO items VALUES(?, NULL, ?, 1, 1, ?, NULL)", ((n, n, n) for n in numbers))
    spread = (np.arange(DIMENSION) + 8.0) ** -0.6
    centres = draw.standard_normal((TOPICS, DIMENSION)) * spread
    vectors = np.lib.format.open_memmap(folder.vectors, "w+", np.float32, (count, DIMENSION))
    for start in range(0, count, 5_000):
        topic = draw.integers(TOPICS, size=min(5_000, count - start))
        block = centres[topic] + draw.standard_normal((len(topic), DIMENSION), dtype=np.float32) * spread
        block[1::50] = block[0::50] + 0.1 * block[1::50]
        vectors[start : start + len(topic)] = block / np.linalg.norm(block, axis=1, keepdims=True)
    vectors.flush()
    return Embeddings(folder)


def plain_map(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """The same plane by the whole covariance matrix, all in memory."""
    centred = vectors - vectors.mean(axis=0)
    axes = np.linalg.eigh(centred.T @ centred)[1][:, -2:]
    points: NDArray[np.float32] = centred @ axes
    return points


def plain_neighbours(vectors: NDArray[np.float32], count: int) -> NDArray[np.int64]:
    """The nearest of each by the whole matrix, a block at a time; no map yet."""
    found = np.empty((len(vectors), count), dtype=np.int64)
    for start in range(0, len(vectors), 1_024):
        alike = vectors[start : start + 1_024] @ vectors.T
        alike[np.arange(len(alike)), np.arange(start, start + len(alike))] = -2
        found[start : start + 1_024] = np.argpartition(alike, -count, axis=1)[:, -count:]
    return found


def plain_duplicates(vectors: NDArray[np.float32]) -> int:
    """Each with each, a block at a time."""
    pairs = 0
    for start in range(0, len(vectors), 1_024):
        pairs += int(np.count_nonzero(vectors[start : start + 1_024] @ vectors.T >= THRESHOLD))
    return pairs


async def beside(beat: Heartbeat, name: str, ours: Callable[[], T], plain: Callable[[], object]) -> T:
    """Both in a thread, ours under the heartbeat."""
    beat.begin()
    began = time.perf_counter()
    found = await asyncio.to_thread(ours)
    took = time.perf_counter() - began
    beat.end()
    late = sorted(beat.late) or [0.0]
    began = time.perf_counter()
    await asyncio.to_thread(plain)
    bare = time.perf_counter() - began
    p99 = late[int(len(late) * 0.99)] * 1000
    print(
        f"{name:<42} {took:>6.2f} s {bare:>8.2f} s {took / bare:>7.2f} {p99:>9.1f} {late[-1] * 1000:>7.1f}", flush=True
    )
    return found


def show(points: NDArray[np.float32]) -> None:
    """How long the map takes to be painted, and to be asked what is under the mouse."""
    dots = DotMap("Map")
    dots.resize(1_000, 560)
    dots.show_points(points, lambda place: ("text", ""), lambda: PlotData((), ()))
    colours = by_category(np.arange(len(points)) % 8, [f"Category {number}" for number in range(8)])
    dots.set_colours(colours, colours.places_of_names(points))
    dots.grab()
    times = []
    for _ in range(5):
        dots.zoom(1.02)
        began = time.perf_counter()
        dots.grab()
        times.append(time.perf_counter() - began)
    middle = dots.rect().center().toPointF()
    began = time.perf_counter()
    dots.dot_at(middle)
    asked = time.perf_counter() - began
    print(f"paint {len(points):,} dots anew {sorted(times)[2] * 1000:.0f} ms, find the one below the mouse", end=" ")
    print(f"{asked * 1000:.1f} ms")


async def main_in_loop(root: Path) -> None:
    """One after the other."""
    beat = Heartbeat()
    many, fewer = job(root / "many", MAPPED), job(root / "fewer", COMPARED)
    print(f"{'':<42} {'ours':>8} {'numpy':>10} {'ratio':>7} {'late p99':>9} {'max ms':>7}")
    whole = np.array(many.vectors())
    made = await beside(beat, f"map of {MAPPED:,}", lambda: make_map(many), lambda: plain_map(whole))
    some = np.array(fewer.vectors())
    await beside(
        beat,
        f"by neighbours, {COMPARED:,} (beside: kNN only)",
        lambda: make_near_map(unit_vectors(fewer)),
        lambda: plain_neighbours(some, NEIGHBOURS),
    )
    await beside(
        beat,
        f"by neighbours, {MAPPED:,} (kNN in fifths)",
        lambda: make_near_map(unit_vectors(many)),
        lambda: [plain_neighbours(whole[place : place + COMPARED], NEIGHBOURS) for place in range(0, MAPPED, COMPARED)],
    )
    found = await beside(
        beat,
        f"near duplicates among {COMPARED:,}",
        lambda: find_duplicates(fewer, THRESHOLD),
        lambda: plain_duplicates(some),
    )
    print(f"{'':<42} {found.gone:,} would go")
    await beside(beat, f"8 clusters of {MAPPED:,}", lambda: find_clusters(many, 8), lambda: whole @ whole[:8].T)
    show(made.points)


def main() -> None:
    """Print seconds, ratios and delays."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    app = QApplication.instance() or QApplication(["cfbatch"])
    assert isinstance(app, QApplication)
    Theme(Scheme.LIGHT).apply(app)
    with tempfile.TemporaryDirectory() as name:
        loop.run(app, lambda: main_in_loop(Path(name)))


if __name__ == "__main__":
    main()
