"""The window opened over ten thousand jobs, against one with none.

Each opening is a process of its own, from its start to the first painted page with its list of jobs.
"""

import asyncio
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from benchmarks.limits import Figures, apart
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.states import Batch, BatchState, Job
from cfbatch_gui.core.jobs.store.ledger import Ledger
from cfbatch_gui.core.system.paths import Paths

JOBS = 10_000
TURNS = 5


def fill(root: Path, count: int) -> None:
    """Finished jobs of one batch each, as a busy year leaves them."""
    paths = Paths(root)
    paths.create()
    ledger = Ledger.open(paths)
    now = 1_790_000_000.0
    done = Batch("", 1, BatchState.DONE, 20, 400, 120_000, request_id="0" * 36, sent_at=now, changed_at=now + 240)
    for number in range(count):
        job = Job(
            f"job{number:05}", f"Articles, week {number}", Kind.RANK, "@cf/baai/bge-m3", "practice", now + number,
            is_sent=True, sent_at=now + number, finished_at=now + number + 240, source_name="articles.csv",
            rows_in=400, queries=20, texts=400,
        )  # fmt: skip
        ledger._jobs[job.id] = replace(job, batches=(replace(done, job_id=job.id),))
    _write_all(ledger)
    ledger.close()


def _write_all(ledger: Ledger) -> None:
    """In one transaction: ten thousand commits that are flushed to the disk take minutes."""
    jobs = list(ledger._jobs.values())
    ledger._write(jobs, [batch for job in jobs for batch in job.batches])


def opening(root: Path) -> float:
    """Seconds of one opening."""
    started = time.time()
    return apart(open_once, root) - started


def open_once(root: Path) -> float:
    """When the window over a data folder was painted, in seconds since 1970; then it is closed."""
    from PySide6.QtCore import QTimer
    from PySide6.QtWidgets import QApplication

    from cfbatch_gui.core.program import Program
    from cfbatch_gui.ui.theme import Scheme, Theme
    from cfbatch_gui.ui.window import loop
    from cfbatch_gui.ui.window.workspace import Workspace

    app = QApplication(["cfbatch"])
    theme = Theme(Scheme.LIGHT)
    theme.apply(app)

    async def run() -> float:
        program = await Program.open(root, environ={})
        workspace = Workspace(program, theme)
        await workspace.begin(None, with_example=False)
        painted = asyncio.Event()
        QTimer.singleShot(0, painted.set)  # after the paint events that wait
        await painted.wait()
        at = time.time()
        await workspace.close()
        await program.close()
        workspace.window.finish()
        return at

    return loop.run(app, run)


def main(figures: Figures) -> None:
    """The best of several turns each."""
    with tempfile.TemporaryDirectory() as name:
        empty, full = Path(name) / "empty", Path(name) / "full"
        fill(empty, 0)
        fill(full, JOBS)
        seconds: dict[Path, list[float]] = {empty: [], full: []}
        for _ in range(TURNS):
            for root, found in seconds.items():
                found.append(opening(root))
        ours, plain = min(seconds[full]), min(seconds[empty])
        figures.versus(f"window over {JOBS:,} jobs, open", ours, "over none", plain, limit=2.2)
