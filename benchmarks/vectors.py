"""Maps, near duplicates and clusters of many vectors, against plain numpy; and how late the window's timer is."""

import asyncio
import sqlite3
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF
from PySide6.QtGui import QColor, QImage, QPainter, QPen
from PySide6.QtWidgets import QApplication

from benchmarks.heartbeat import Heartbeat, add_beats, measured
from benchmarks.limits import Figures, best_of, seconds
from cfbatch_gui.core.job_folder import schema
from cfbatch_gui.core.job_folder.checksums import note_results
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.results.duplicates import find_duplicates
from cfbatch_gui.core.results.embeddings import Embeddings, unit_vectors
from cfbatch_gui.core.results.groups import find_clusters
from cfbatch_gui.core.results.nearest import TextIndex, keep_asked
from cfbatch_gui.core.results.text_map import NEIGHBOURS, make_map, make_tsne_map
from cfbatch_gui.ui.plots import DotMap, PlotData
from cfbatch_gui.ui.plots.colours import by_category
from cfbatch_gui.ui.theme import Scheme, Theme
from cfbatch_gui.ui.window import loop

MAPPED, COMPARED, DIMENSION, TOPICS = 100_000, 20_000, 1_024, 40
THRESHOLD = 0.95
T = TypeVar("T")


def job(path: Path, count: int) -> Embeddings:
    """Texts of some topics, with a spectrum that falls off as that of real embeddings; one in fifty comes twice."""
    draw = np.random.default_rng(4)
    folder = JobFolder(path)
    folder.create()
    schema.create(folder.data)
    with closing(sqlite3.connect(folder.data)) as database, database:
        schema.put_metadata_value(database, "dimension", DIMENSION)
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
    with closing(sqlite3.connect(folder.data)) as database, database:
        note_results(database, 1, vectors)
    return Embeddings(folder)


def plain_map(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """The same plane by the whole covariance matrix."""
    centred = vectors - vectors.mean(axis=0)
    axes = np.linalg.eigh(centred.T @ centred)[1][:, -2:]
    points: NDArray[np.float32] = centred @ axes
    return points


def plain_neighbours(vectors: NDArray[np.float32], count: int) -> NDArray[np.int64]:
    """The indexes of the nearest of each by the whole matrix, a block at a time; no map yet."""
    found = np.empty((len(vectors), count), dtype=np.int64)
    for start in range(0, len(vectors), 1_024):
        alike = vectors[start : start + 1_024] @ vectors.T
        alike[np.arange(len(alike)), np.arange(start, start + len(alike))] = -2
        found[start : start + 1_024] = np.argpartition(alike, -count, axis=1)[:, -count:]
    return found


def plain_duplicates(vectors: NDArray[np.float32]) -> int:
    """How many pairs of all with all are near, a block at a time."""
    pairs = 0
    for start in range(0, len(vectors), 1_024):
        pairs += int(np.count_nonzero(vectors[start : start + 1_024] @ vectors.T >= THRESHOLD))
    return pairs


def search(figures: Figures, embeddings: Embeddings, whole: NDArray[np.float32]) -> None:
    """The best texts for a vector that was just kept with the job, but for the first search, which measures all."""
    index, asked = TextIndex(embeddings), whole[7]
    index.nearest(asked, 20)

    def find() -> None:
        keep_asked(embeddings.folder, [("a question", asked.tobytes(), 1.0, True)])
        index.nearest(asked, 20)

    ours, plain = best_of(5, find, lambda: np.argsort(-(whole @ asked), kind="stable")[:20])
    figures.versus(f"a search in {len(whole):,}", ours, "numpy: product, sort", plain, limit=6.0)
    figures.add("  the same, which must feel immediate", ours, "s", limit=0.15)


def show(figures: Figures, points: NDArray[np.float32]) -> None:
    """How long the map takes to be painted, and to find the dot under the mouse."""
    dots = DotMap("Map")
    dots.resize(1_000, 560)
    colours = by_category(np.arange(len(points)) % 8, [f"Category {number}" for number in range(8)])
    dots.show_points(points, lambda index: "text", lambda: PlotData((), ()), colours)
    dots.grab()

    def paint() -> None:
        dots.zoom(1.02)  # or a kept picture is shown
        dots.grab()

    plain = QImage(dots.size(), QImage.Format.Format_ARGB32_Premultiplied)
    corners = [QPointF(x * 1_000, y * 560) for x, y in np.random.default_rng(1).random(points.shape).tolist()]
    ours, bare = best_of(5, paint, lambda: paint_plainly(plain, corners))
    figures.versus(f"{len(points):,} dots painted", ours, "QPainter.drawPoints", bare, limit=20.0)
    figures.add("  the dot under the mouse", seconds(lambda: dots.dot_at(dots.rect().center().toPointF())), "s")


def paint_plainly(image: QImage, points: list[QPointF]) -> None:
    """Every dot in one colour, by one call."""
    painter = QPainter(image)
    painter.setPen(QPen(QColor("black"), 4))
    painter.drawPoints(points)
    painter.end()


async def main_in_loop(figures: Figures, root: Path) -> None:
    """One after the other, each once: the larger ones take many seconds."""
    beat = Heartbeat()
    idle = await measured(beat, None, 3.0)

    async def versus(name: str, ours: Callable[[], T], way: str, plain: Callable[[], object], limit: float) -> T:
        """Both in a thread, ours under the window's timer."""
        beat.begin()
        began = time.perf_counter()
        found = await asyncio.to_thread(ours)
        took, beats = time.perf_counter() - began, beat.end()
        began = time.perf_counter()
        await asyncio.to_thread(plain)
        figures.versus(name, took, way, time.perf_counter() - began, limit=limit)
        add_beats(figures, "  the window's timer", beats, idle)
        return found

    many, fewer = job(root / "many", MAPPED), job(root / "fewer", COMPARED)
    whole, some = many.rows_of(np.arange(1, MAPPED + 1)), fewer.rows_of(np.arange(1, COMPARED + 1))
    fifths = range(0, MAPPED, COMPARED)
    made = await versus(
        f"PCA of {MAPPED:,}", lambda: make_map(many), "numpy: covariance, eigh", lambda: plain_map(whole), 1.0
    )
    await versus(
        f"t-SNE of {COMPARED:,}",
        lambda: make_tsne_map(unit_vectors(fewer)),
        "numpy: kNN alone",
        lambda: plain_neighbours(some, NEIGHBOURS),
        2.0,
    )
    await versus(
        f"t-SNE of {MAPPED:,}",
        lambda: make_tsne_map(unit_vectors(many)),
        "numpy: kNN alone, in fifths",
        lambda: [plain_neighbours(whole[start : start + COMPARED], NEIGHBOURS) for start in fifths],
        2.0,
    )
    found = await versus(
        f"near duplicates among {COMPARED:,}",
        lambda: find_duplicates(fewer, THRESHOLD),
        "numpy: each with each",
        lambda: plain_duplicates(some),
        0.6,
    )
    figures.add("  near duplicates found", found.gone, "")
    await versus(
        f"8 clusters of {MAPPED:,}",
        lambda: find_clusters(many, 8),
        "numpy: one product with 8 centres",
        lambda: whole @ whole[:8].T,
        200.0,
    )
    search(figures, many, whole)
    show(figures, made.points)


def main(figures: Figures) -> None:
    """Seconds, ratios and delays."""
    app = QApplication(["cfbatch"])
    Theme(Scheme.LIGHT).apply(app)
    with tempfile.TemporaryDirectory() as name:
        loop.run(app, lambda: main_in_loop(figures, Path(name)))
