"""Answers fetched from the user's account, 40 of 20 MB, into the job; against plain downloads.

The plain way fetches the same bytes with httpx, as many at a time, and writes them to files without looking at them or
waiting for the disk.
"""

import asyncio
import json
import tempfile
import time
import urllib.request
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from benchmarks.account_stub import account_stub
from benchmarks.limits import Figures, apart, peak_memory
from cfbatch_gui.core.connections.credentials import Credentials
from cfbatch_gui.core.inputs.file_rows import preview
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.inputs.recognise.recogniser import open_source
from cfbatch_gui.core.inputs.suggest import suggest_mapping
from cfbatch_gui.core.jobs.plan import requests
from cfbatch_gui.core.jobs.states import Job, JobState, account_progress
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.system.settings import SavedConnection
from cfbatch_gui.core.workers_ai.collector import AccountCollector, StoredAnswer

ANSWERS, TEXTS_PER_ANSWER = 40, 1_000
TOGETHER = 3  # answers at a time, in both ways
MEMORY = 250.0  # MB of a whole process, whatever the number of answers
MB = 1_000_000
_SECRET = "a-made-up-secret-of-a-stub"


@dataclass(frozen=True, slots=True)
class Fetched:
    """What a process did: its seconds, the most memory it held in MB, and what it fetched."""

    seconds: float
    memory: float
    stored: tuple[StoredAnswer, ...] = ()


def main(figures: Figures) -> None:
    """Each way in a process of its own, the Worker in another one."""
    with tempfile.TemporaryDirectory() as name, account_stub() as address:
        folder = Path(name)
        whole = apart(collect_job, address, folder / "whole")
        size = sum(each.size for each in whole.stored)
        title = f"{len(whole.stored)} answers of {size / len(whole.stored) / MB:.0f} MB"
        plain = apart(download_plainly, address, whole.stored, folder / "plain")
        figures.versus(f"{title} into the job", whole.seconds, "httpx to files", plain.seconds, limit=12.0)
        figures.add("  speed", size / whole.seconds / MB, "MB/s")
        figures.add("  memory", whole.memory, "MB", limit=MEMORY)


def collect_job(address: str, folder: Path) -> Fetched:
    """A job whose batches are handed over; timed from when the account has all answers."""
    return asyncio.run(_collect_job(address, folder))


async def _collect_job(address: str, folder: Path) -> Fetched:
    program, connection = await _program(address, folder)
    job = await _handed_over(program, connection, folder, ANSWERS * TEXTS_PER_ANSWER)
    started = time.perf_counter()
    _tell(address, "release")
    program.runner.check_now(job.id)
    stored = (await AccountCollector(program.address_book.client(connection)).status(job.id, 1)).batches
    done = await program.runner.wait(job.id)
    took = time.perf_counter() - started
    assert done.state is JobState.DONE and not done.account_problem, done.error
    await program.close()
    return Fetched(took, peak_memory(), stored)


def download_plainly(address: str, stored: tuple[StoredAnswer, ...], folder: Path) -> Fetched:
    """The plain way."""
    folder.mkdir()
    return asyncio.run(_download_plainly(address, stored, folder))


async def _download_plainly(address: str, stored: tuple[StoredAnswer, ...], folder: Path) -> Fetched:
    async def download(each: StoredAnswer) -> None:
        url = f"{address}/collect/job/1/{each.number}"
        async with httpx.AsyncClient() as client, client.stream("GET", url) as answer:
            with (folder / str(each.number)).open("wb") as file:
                async for chunk in answer.aiter_raw():
                    file.write(chunk)

    started = time.perf_counter()
    await _few_at_a_time(download, stored)
    return Fetched(time.perf_counter() - started, peak_memory())


async def _few_at_a_time(fetch: Callable[[StoredAnswer], Awaitable[None]], stored: Iterable[StoredAnswer]) -> None:
    left = iter(stored)

    async def one_after_the_other() -> None:
        for each in left:
            await fetch(each)

    await asyncio.gather(*(one_after_the_other() for _ in range(TOGETHER)))


async def _program(address: str, folder: Path) -> tuple[Program, str]:
    """The program on a data folder with a connection to the Worker, and the connection's id."""
    vars(requests)["MAX_TEXTS_PER_BATCH"] = TEXTS_PER_ANSWER
    program = await Program.open(folder, environ={}, credentials=Credentials(environ={}))
    worker = SavedConnection("", "Stub", "worker", url=address, collects=True, paid_plan=True)
    return program, (await program.connections.save(worker, secret=_SECRET)).id


async def _handed_over(program: Program, connection: str, folder: Path, texts: int) -> Job:
    """A job of so many texts, sent and handed over, of which the account has nothing yet."""
    path = folder / "texts.txt"
    path.write_text("".join(f"text number {number}\n" for number in range(texts)), "utf-8")
    job = program.drafts.create(Kind.EMBED, "texts", "@cf/baai/bge-m3", connection)
    source = open_source(path)
    program.drafts.load(job.id, source, suggest_mapping(source, Kind.EMBED, preview(source)))
    await program.actions.send(job.id)
    while not account_progress(program.ledger.job(job.id)).lid_may_close:
        assert not program.ledger.job(job.id).account_problem
        await asyncio.sleep(0.01)
    return program.ledger.job(job.id)


def _tell(address: str, what: str) -> Any:
    with urllib.request.urlopen(f"{address}/control/{what}", timeout=30) as answer:
        return json.load(answer)
