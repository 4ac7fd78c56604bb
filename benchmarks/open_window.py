"""How long the window takes to open over ten thousand jobs, beside one with none, in the same run.

Each opening is a process of its own, from its first instruction to the first painted page with its list of jobs.
"""

import os
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.states import Batch, BatchState, Job
from cfbatch_gui.core.jobs.store.ledger import Ledger
from cfbatch_gui.core.system.paths import Paths

JOBS = 10_000
RUNS = 5
_OPEN = """
import asyncio, sys, time
began = time.perf_counter()
from pathlib import Path
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication
from cfbatch_gui.core.program import Program
from cfbatch_gui.ui import loop
from cfbatch_gui.ui.theme import Scheme, Theme
from cfbatch_gui.ui.window.workspace import Workspace

app = QApplication(["cfbatch"])
theme = Theme(Scheme.LIGHT)
theme.apply(app)

async def main():
    program = await Program.open(Path(sys.argv[1]), environ={}, on_change=lambda job: None)
    workspace = Workspace(program, theme)
    await workspace.begin(None, with_example=False)
    painted = asyncio.Event()
    QTimer.singleShot(0, painted.set)  # after what is waiting to be painted
    await painted.wait()
    print(time.perf_counter() - began)
    await workspace.close()
    await program.close()
    workspace.window.finish()

loop.run(app, main)
"""


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
    """In one transaction: ten thousand commits that reach the disk take minutes."""
    from cfbatch_gui.core.jobs.store.ledger import _batch_row, _job_row

    jobs = list(ledger._jobs.values())
    ledger._write([_job_row(job) for job in jobs], [_batch_row(batch) for job in jobs for batch in job.batches])


def opening(root: Path) -> float:
    """Seconds of one opening."""
    environ = {**os.environ, "QT_QPA_PLATFORM": os.environ.get("QT_QPA_PLATFORM", "offscreen")}
    done = subprocess.run(
        [sys.executable, "-c", _OPEN, str(root)], env=environ, capture_output=True, text=True, check=True
    )
    return float(done.stdout)


def main() -> None:
    """Print seconds and their ratio."""
    with tempfile.TemporaryDirectory() as name:
        empty, full = Path(name) / "empty", Path(name) / "full"
        fill(empty, 0)
        fill(full, JOBS)
        seconds: dict[Path, list[float]] = {empty: [], full: []}
        for _ in range(RUNS):  # by turns: whatever else the computer does falls on both
            for root, found in seconds.items():
                found.append(opening(root))
        best = {root: min(found) for root, found in seconds.items()}
        print(f"{'jobs':>8} {'best of ' + str(RUNS):>12}")
        print(f"{0:>8,} {best[empty]:>10.2f} s")
        print(f"{JOBS:>8,} {best[full]:>10.2f} s   ratio {best[full] / best[empty]:.2f}")


if __name__ == "__main__":
    main()
