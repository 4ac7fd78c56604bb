"""The window's thread while a ranking of 10,000 scores is read, and its list of 10,000 jobs drawn again after a change.

The first against an idle loop, the second against a list of 100 jobs; the best of several turns each.
"""

import asyncio
import tempfile
from dataclasses import replace
from pathlib import Path

from PySide6.QtWidgets import QApplication

from benchmarks.heartbeat import BEAT, Heartbeat, measured
from benchmarks.limits import Figures, best_of
from benchmarks.ranking_page import make_job
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.states import Batch, BatchState, Job
from cfbatch_gui.core.program import Program
from cfbatch_gui.ui.jobs.library import Library
from cfbatch_gui.ui.notices import Notices
from cfbatch_gui.ui.results.ranking_view import RankingView
from cfbatch_gui.ui.theme import Scheme, Theme
from cfbatch_gui.ui.window import loop

QUERIES, SCORES = 500, 10_000
JOBS, FEW_JOBS = 10_000, 100
TURNS = 5


def main(figures: Figures) -> None:
    """Both."""
    app = QApplication(["cfbatch"])
    Theme(Scheme.LIGHT).apply(app)
    with tempfile.TemporaryDirectory() as name:
        loop.run(app, lambda: _read_ranking(figures, Path(name)))
    ours, plain = best_of(TURNS, DrawnAgain(JOBS), DrawnAgain(FEW_JOBS))
    title = f"list of {JOBS:,} jobs drawn again"
    figures.versus(title, ours, f"of {FEW_JOBS} jobs; promised: 300 ms", plain, limit=5.0)


async def _read_ranking(figures: Figures, root: Path) -> None:
    beat = Heartbeat()
    idle = await measured(beat, None, 2.0)
    program = await Program.open(root, environ={})
    job = make_job(program, QUERIES, seed=1, scores=SCORES)
    most = min([await _most_late(beat, program, job) for _ in range(TURNS)])
    title = f"{SCORES:,} scores read: max"
    figures.versus(title, BEAT + most, "idle loop; promised: 410 ms", BEAT + idle.most, limit=8.0)
    await program.close()


async def _most_late(beat: Heartbeat, program: Program, job: Job) -> float:
    """How late the timer is at most while a page shows a job, twenty queries are chosen, and a limit is set."""
    view = RankingView(program, Notices())
    view.resize(1004, 700)
    view.show()
    view.grab()
    beat.begin()
    view.show_job(job)
    while view.contexts_model.rowCount() != SCORES // QUERIES:  # noqa: ASYNC110 - no event says so
        await asyncio.sleep(0.005)
    for row in range(1, 20):
        view.queries.selectRow(row)
        await asyncio.sleep(0)
    view.limits_bar.set_top(3)
    while not view.kept.text().endswith(f" of {SCORES:,}"):  # noqa: ASYNC110
        await asyncio.sleep(0.005)
    most = beat.end().most
    await view.tasks.close()
    view.deleteLater()
    return most


class DrawnAgain:
    """A list of finished jobs and one at work; each call draws it after the one at work has changed."""

    def __init__(self, count: int) -> None:
        done = Batch("", 1, BatchState.DONE, 20, 400, 120_000)
        finished = Job("", "", Kind.RANK, "m", "practice", 0.0, is_sent=True, queries=20)
        self._jobs = tuple(
            replace(finished, id=f"{number}", name=f"Job {number}", batches=(replace(done, job_id=f"{number}"),))
            for number in range(count)
        )
        self._running = Batch("running", 1, BatchState.RUNNING, 20, 400, 120_000)
        self._working = replace(finished, id="running", name="Running")
        self._library = Library()
        self._library.resize(276, 820)
        self._library.show()
        self()

    def __call__(self) -> None:
        self._running = replace(self._running, checked_at=self._running.checked_at + 1)
        self._library.show_jobs((*self._jobs, replace(self._working, batches=(self._running,))))
        self._library.grab()
