"""The ledger with very many jobs, and with very many batches in one job."""

import asyncio
import os
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from benchmarks.limits import Figures
from benchmarks.many_jobs import fill
from cfbatch_gui.core.errors import NotConnected
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.states import Batch, BatchState, Job
from cfbatch_gui.core.jobs.store.job_store import JobStore
from cfbatch_gui.core.jobs.store.ledger import Ledger
from cfbatch_gui.core.system.paths import Paths
from cfbatch_gui.core.workers_ai.client import WorkersAI

JOBS = 100_000
FEW, MANY, SAVES = 20, 2_000, 200
TURNS = 3


def main(figures: Figures) -> None:
    """The best of several turns each."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        fill(folder / "jobs", JOBS)
        here = (sys.executable, "-m", "cfbatch_gui.cli.main", "jobs", "--data-dir", str(folder / "jobs"))
        plain_way = (sys.executable, "-m", "benchmarks.ledger", str(folder / "jobs" / "ledger.db"))
        ours = _best(lambda: _run(*here))
        plain = _best(lambda: _run(*plain_way))
        figures.versus(f"list {JOBS:,} jobs, a process", ours, "a query and a loop", plain, limit=5)
        among = {count: _best(lambda count=count: _saving(folder, count)) for count in (MANY, FEW)}  # type: ignore[misc]
        figures.versus(f"save one of {MANY:,} batches", among[MANY], f"one of {FEW}", among[FEW], limit=1.5)


def _best(measure: Callable[[], float]) -> float:
    return min(measure() for _ in range(TURNS))


def _run(*command: str) -> float:
    started = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=dict(os.environ))
    return time.perf_counter() - started


def _saving(folder: Path, count: int) -> float:
    """Seconds of one save, through the thread that writes, and shown."""
    with tempfile.TemporaryDirectory(dir=folder) as name:
        paths = Paths(Path(name))
        paths.create()
        ledger = Ledger.open(paths)
        job = Job("job00001", "Articles", Kind.RANK, "@cf/baai/bge-m3", "practice", 1.0, is_sent=True)
        ledger.put(job, [Batch(job.id, number + 1, BatchState.PLANNED, 20, 400, 1) for number in range(count)])
        with ThreadPoolExecutor(1) as disk:
            seconds = asyncio.run(
                _save_some(JobStore(ledger, paths, _nobody, disk=disk, on_change=_shown), job.id, count)
            )
        ledger.close()
        return seconds / SAVES


async def _save_some(store: JobStore, job_id: str, count: int) -> float:
    started = time.perf_counter()
    for turn in range(SAVES):
        batch = store.batch(job_id, turn % count + 1)
        await store.save(replace(batch, state=BatchState.QUEUED, attempt=f"{turn:032}", request_id=f"{turn:036}"))
    return time.perf_counter() - started


def _nobody(connection: str) -> WorkersAI:
    raise NotConnected(connection)


def _shown(job: Job) -> None:
    assert job.state


def _list_plainly(path: str) -> None:
    """What a script would do: every row read, one line printed for each job."""
    database = sqlite3.connect(path)
    batches: dict[str, list[str]] = {}
    for job_id, state in database.execute("SELECT job_id, state FROM batches"):
        batches.setdefault(job_id, []).append(state)
    jobs = database.execute("SELECT id, kind, created_at, name FROM jobs ORDER BY created_at DESC")
    for job_id, kind, created_at, name in jobs:
        states = batches.get(job_id, [])
        made = time.strftime("%Y-%m-%d %H:%M", time.localtime(created_at))
        done = f"{states.count('done')}/{len(states)}"
        print(f"{job_id:<8}  {states[0]:<8}  {kind:<5}  {done:<5}  {made}  {name}")


if __name__ == "__main__":
    _list_plainly(sys.argv[1])
