"""Groups of texts that are all alike, against plain nearest neighbours; their names; and how soon a search ends.

The plain way computes a twentieth of the rows, and its time is multiplied.
"""

import asyncio
import random
import tempfile
import threading
import time
from collections import Counter
from itertools import chain
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks import vectors
from benchmarks.limits import Figures, best_of, seconds
from benchmarks.vectors import COMPARED, THRESHOLD, job
from cfbatch_gui.core.job_folder.checksums import note_results
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.results.alike import find_alike
from cfbatch_gui.core.results.duplicates import find_duplicates
from cfbatch_gui.core.results.embeddings import Embeddings
from cfbatch_gui.core.results.group_names import telling_words
from cfbatch_gui.core.system.threads import in_thread

LARGE, GROUPED, DIMENSION, TOPICS, SHARE = 100_000, 20_000, 256, 1_000, 20
WORDS, EACH = 30_000, 15
RATIO, NAMES, NAMES_SECONDS, STOP_MS = 2.0, 8.0, 3.0, 1_000.0


def main(figures: Figures) -> None:
    """Ratios, and the seconds of names."""
    vectors.DIMENSION = DIMENSION
    with tempfile.TemporaryDirectory() as name:
        _likeness(figures, Path(name), f"{TOPICS:,} topics", GROUPED, topics=TOPICS, noise=0.3)
        _likeness(figures, Path(name), "all alike", GROUPED, topics=1, noise=0.3)
        _likeness(figures, Path(name), "nothing alike", GROUPED, topics=GROUPED, noise=1.0)
        asyncio.run(_stop(figures, job(Path(name) / "stop", COMPARED)))
    _names(figures, "Latin", "abcdéfghijkl", " ")
    _names(figures, "Chinese", "".join(map(chr, range(0x4E00, 0x5600))), "")


def _likeness(figures: Figures, root: Path, title: str, count: int, *, topics: int, noise: float) -> None:
    draw = np.random.default_rng(4)
    embeddings = job(root / title, count)
    centres = draw.standard_normal((topics, DIMENSION), dtype=np.float32)
    whole = centres[draw.integers(topics, size=count)]
    whole += noise * draw.standard_normal(whole.shape, dtype=np.float32)
    whole /= np.linalg.norm(whole, axis=1, keepdims=True)
    _store(root / title, whole)
    ours = seconds(lambda: find_alike(embeddings, 0.8))
    plain = seconds(lambda: _neighbours(whole)) * SHARE
    figures.versus(f"{count:,} × {DIMENSION}, {title}", ours, "numpy: ten nearest", plain, limit=RATIO)


def _store(path: Path, whole: NDArray[np.float32]) -> None:
    folder = JobFolder(path)
    np.save(folder.vectors, whole)
    with folder.open() as database:
        note_results(database, 1, whole)


def _neighbours(whole: NDArray[np.float32]) -> None:
    for start in range(0, len(whole) // SHARE, 1_024):
        np.argpartition(whole[start : start + 1_024] @ whole.T, -10, axis=1)


def _names(figures: Figures, title: str, letters: str, between: str) -> None:
    draw = random.Random(1)
    words = ["".join(draw.choices(letters, k=2 if not between else 7)) for _ in range(WORDS)]
    texts = [between.join(words[int(WORDS * draw.random() ** 3)] for _ in range(EACH)) for _ in range(LARGE)]
    members = np.random.default_rng(1).integers(-1, TOPICS, LARGE)
    ours, plain = best_of(
        2,
        lambda: telling_words(texts, members, TOPICS),
        lambda: Counter(chain.from_iterable(text.casefold().split() if between else text for text in texts)),
    )
    name = f"names of {TOPICS:,} groups of {LARGE:,} {title} texts"
    figures.versus(name, ours, "Counter of words" if between else "Counter of characters", plain, limit=NAMES)
    figures.add("  by the clock", ours, "s", limit=NAMES_SECONDS)


async def _stop(figures: Figures, embeddings: Embeddings) -> None:
    """The time from a stop until the thread has ended."""
    begun, ended = threading.Event(), threading.Event()

    def work() -> None:
        try:
            find_duplicates(embeddings, THRESHOLD, progress=lambda share: begun.set())
        finally:
            ended.set()

    task = asyncio.create_task(in_thread(work))
    await asyncio.to_thread(begun.wait)
    await asyncio.sleep(0.2)
    stopped = time.perf_counter()
    task.cancel()
    await asyncio.to_thread(ended.wait)
    figures.add(f"{COMPARED:,} duplicates, stop to end", (time.perf_counter() - stopped) * 1_000, "ms", limit=STOP_MS)
