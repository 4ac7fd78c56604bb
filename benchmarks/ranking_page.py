"""A ranking of a million scores in the window: opening, sorting, scrolling; its figures and its comparison.

Times are those of a clock but for opening and frames: these are the computing time of the window's thread, for on a
busy machine one frame in a hundred waits for other programs whatever it does. The limits: 100 ms to open once the data
is read, 1 s to sort, 16 ms for 99 of 100 frames, 500 ms to count what a threshold keeps or to find a text, 400 MB.
Three shapes: many texts each, two texts each, and one query that has them all.
"""

import asyncio
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from cfbatch_gui.core.evaluation.comparison import compare
from cfbatch_gui.core.evaluation.moves import query_moves
from cfbatch_gui.core.evaluation.runs import read_run
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.job_folder import schema
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.jobs.states import Batch, BatchState, Job
from cfbatch_gui.core.program import Program, facts_of
from cfbatch_gui.core.results.rankings.score_figures import score_figures
from cfbatch_gui.core.results.rankings.text_search import TextSearch

SCORES = 1_000_000
SHAPES = {"10,000 × 100": 10_000, "500,000 × 2": 500_000, "1 × 1,000,000": 1}
FRAMES = 300
_TEXT = "How do I change the address on my invoice, and who is told? The settings have a page for it, {number:07}."


def main() -> None:
    """Each shape in a process of its own, so that memory is its own too."""
    if len(sys.argv) == 4:
        _one(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]))
        return
    environ = {**os.environ, "QT_QPA_PLATFORM": os.environ.get("QT_QPA_PLATFORM", "offscreen")}
    for name, queries in SHAPES.items():
        print(f"{name}", flush=True)
        with tempfile.TemporaryDirectory() as root:
            for step in ("fill", "page", "figures"):
                command = [sys.executable, "-m", "benchmarks.ranking_page", step, root, f"{queries}"]
                subprocess.run(command, env=environ, check=True)


def fill(folder: JobFolder, queries: int, *, seed: int) -> None:
    """A finished job: every text under its own query only, scores as a service gives them."""
    scores = np.round(np.random.default_rng(seed).random(SCORES), 4).tolist()
    each = SCORES // queries
    folder.create()
    schema.create(folder.data)
    with folder.open() as database:
        database.executescript("PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY;")
        with schema.transaction(database):
            for fact, value in (("columns", ("query", "text")), ("roles", ("query", "context")), ("layout", "long")):
                schema.put_fact(database, fact, value)
            rows: Iterator[tuple[object, ...]]
            rows = ((number, "", f"question number {number}", 2) for number in range(1, queries + 1))
            database.executemany("INSERT INTO queries VALUES(?, ?, ?, ?)", rows)
            rows = ((number, "", _TEXT.format(number=number), "", 1, number + 1) for number in range(1, SCORES + 1))
            database.executemany("INSERT INTO texts VALUES(?, ?, ?, ?, ?, ?)", rows)
            rows = (
                (
                    number + 1,
                    number // each + 1,
                    number + 1,
                    number % each + 1,
                    number // each + 1,
                    number % each,
                    score,
                )
                for number, score in enumerate(scores)
            )
            database.executemany("INSERT INTO items VALUES(?, ?, ?, ?, ?, ?, ?)", rows)
            rows = ((number, f"r{number}", 1, number - 1, "done") for number in range(1, queries + 1))
            database.executemany(
                "INSERT INTO requests(request_no, reference, batch, position, state) VALUES(?, ?, ?, ?, ?)", rows
            )


def _one(step: str, root: Path, queries: int) -> None:
    from PySide6.QtWidgets import QApplication

    from cfbatch_gui.ui.theme import Scheme, Theme
    from cfbatch_gui.ui.window import loop

    app = QApplication(["cfbatch"])
    theme = Theme(Scheme.LIGHT)
    theme.apply(app)

    async def run() -> None:
        program = await Program.open(root, environ={}, on_change=lambda job: None)
        try:
            jobs = program.ledger.jobs()
            if step == "fill":
                for seed in (1, 2):
                    _job(program, queries, seed)
            elif step == "page":
                await _page(program, jobs[0])
                print(f"  memory with the page     {_memory():6.0f} MB   limit 400", flush=True)
            else:
                _figures(program, jobs)
                print(f"  memory with a comparison {_memory():6.0f} MB   limit 400", flush=True)
        finally:
            await program.close()

    loop.run(app, run)


def _job(program: Program, queries: int, seed: int) -> Job:
    job = program.drafts.create(Kind.RANK, f"Job {seed}", "@cf/baai/bge-m3", "practice")
    fill(program.folder(job.id), queries, seed=seed)
    batch = Batch(job.id, 1, BatchState.DONE, queries, SCORES, 1, request_id="0" * 36)
    return program.ledger.save_plan(replace(job, is_sent=True, queries=queries, texts=SCORES), [batch])


async def _page(program: Program, job: Job) -> None:
    from PySide6.QtCore import Qt
    from PySide6.QtWidgets import QApplication

    from cfbatch_gui.ui.notices import Notices
    from cfbatch_gui.ui.results.ranking_view import RankingView, read_ranking

    view = RankingView(program, Notices())
    view.resize(1004, 700)
    view.show()
    start = time.perf_counter()
    read = await asyncio.to_thread(read_ranking, program.folder(job.id), {})
    print(f"  reading the scores       {_since(start):6.0f} ms")
    start = time.thread_time()
    await view.show_read(job, read)
    view.grab()
    print(f"  opening the page         {(time.thread_time() - start) * 1000:6.0f} ms   limit 100")
    start = time.perf_counter()
    while not view.contexts_model.rowCount():  # noqa: ASYNC110 - the model is another one by then
        await asyncio.sleep(0.005)
    view.grab()
    print(f"  the first query's texts  {_since(start):6.0f} ms")
    start = time.perf_counter()
    view.queries.sortByColumn(2, Qt.SortOrder.AscendingOrder)
    view.queries.grab()
    print(f"  sorting the queries      {_since(start):6.0f} ms   limit 1,000")
    start = time.perf_counter()
    view.contexts.sortByColumn(2, Qt.SortOrder.AscendingOrder)
    view.contexts.grab()
    print(f"  sorting the texts        {_since(start):6.0f} ms   limit 1,000")
    start = time.perf_counter()
    read.rankings.counts(10, 0.5)
    print(f"  counting what is kept    {_since(start):6.0f} ms   limit 500")
    search = TextSearch(program.folder(job.id))
    start = time.perf_counter()
    search.prepare()  # as the page does by itself, once its texts are shown
    print(f"  making ready to find     {_since(start):6.0f} ms")
    for text in ("absent", "0777777", "invoice", "ö", "größe", "привет"):
        start = time.perf_counter()
        search.queries(text)
        print(f"  finding {text:<16} {_since(start):6.0f} ms   limit 500")
    for name, table in (("queries", view.queries), ("texts", view.contexts)):
        bar = table.verticalScrollBar()
        frames = []
        for frame in range(FRAMES):
            start = time.thread_time()
            bar.setValue(bar.maximum() * frame // FRAMES)
            table.viewport().repaint()
            frames.append((time.thread_time() - start) * 1000)
        middle, slow = np.quantile(frames, (0.5, 0.99))
        print(f"  scrolling the {name:<8}   {slow:6.1f} ms   limit 16 (99 of 100 frames; half within {middle:.1f})")
    await view.tasks.close()
    view.deleteLater()
    QApplication.sendPostedEvents()


def _figures(program: Program, jobs: Sequence[Job]) -> None:
    start = time.perf_counter()
    score_figures(program.folder(jobs[0].id))
    print(f"  figures and baseline     {_since(start):6.0f} ms")
    start = time.perf_counter()
    runs = [read_run(program.folder(job.id), facts_of(job, "Practice")) for job in jobs]
    print(f"  reading two jobs         {_since(start):6.0f} ms")
    start = time.perf_counter()
    compared = compare(runs)
    print(f"  matching and ranking     {_since(start):6.0f} ms")
    start = time.perf_counter()
    query_moves(compared, 1)
    print(f"  overlap of each query    {_since(start):6.0f} ms", flush=True)


def _since(start: float) -> float:
    return (time.perf_counter() - start) * 1000


def _memory() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()
