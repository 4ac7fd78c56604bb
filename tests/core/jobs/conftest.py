"""A runner with real stores, a practice service with faults, and a clock that advances only when it is slept on."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cfbatch_gui.core.inputs.input_values import Kind, Split
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.jobs.drafts import Drafts
from cfbatch_gui.core.jobs.elsewhere import JobsElsewhere
from cfbatch_gui.core.jobs.reuse import EarlierResults
from cfbatch_gui.core.jobs.run.job_actions import JobActions
from cfbatch_gui.core.jobs.run.runner import Runner
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.jobs.store.data_folder import open_or_recover, place_of
from cfbatch_gui.core.jobs.store.job_store import JobStore
from cfbatch_gui.core.practice.app import practice_app
from cfbatch_gui.core.system.paths import Paths
from cfbatch_gui.core.workers_ai.limits import RateBudget
from cfbatch_gui.core.workers_ai.transport import Transport
from tests.support import faults
from tests.support.clients import client_of, cloudflare
from tests.support.faults import Fault
from tests.support.faulty_service import FaultyService
from tests.support.inputs import as_suggested
from tests.support.practice import accepted_bodies

ACCOUNT = "0123456789abcdef0123456789abcdef"
CLOUDS = (
    "question,answer\n"
    "This is a story about Cloudflare,This is a story about a llama\n"
    "This is a story about Cloudflare,This is a story about an orange cloud\n"
    "This is a story about Cloudflare,This is a story about a hugging emoji\n"
)


class Clock:
    """A clock in seconds that advances only in `sleep`. `set_by` is how far it is ahead of the service's clock."""

    def __init__(self) -> None:
        self.now = 1_790_000_000.0
        self.set_by = 0.0
        self.slept: list[float] = []

    def __call__(self) -> float:
        return self.now + self.set_by

    def of_service(self) -> float:
        """The time of the service, which `set_by` does not change."""
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds
        # Who waits for less than a second looks for something that is under way, and leaves it some real time.
        await asyncio.sleep(0.001 if seconds < 1 else 0)


class Bench:
    """A data folder and the parts of the program that run jobs in it, which can be stopped and restarted."""

    def __init__(
        self,
        root: Path,
        faulty: FaultyService,
        clock: Clock,
        *,
        service_folder: Path,
        new_transport: Callable[[], Transport] = Transport,
    ) -> None:
        self.service_folder, self._new_transport = service_folder, new_transport
        self.paths, self.faulty, self.clock = Paths(root, root.parent / "state"), faulty, clock
        self.seen: list[Job] = []
        self.start()

    def start(self) -> None:
        """Create all parts, as a start of the program does."""
        self.paths.create()
        self.opened = open_or_recover(self.paths, clock=self.clock, here=place_of(self.paths.root))
        self.ledger = self.opened.ledger
        self.earlier = EarlierResults(
            self.ledger.jobs,
            lambda job_id: JobFolder(self.paths.job(job_id)),
            lambda job: f"service of {job.connection}",
        )
        self.drafts = Drafts(self.ledger, self.paths, clock=self.clock, earlier=self.earlier)
        self.disk = ThreadPoolExecutor(1)
        budget = RateBudget(clock=self.clock, sleep=self.clock.sleep)
        self.transport = self._new_transport()

        here = cloudflare(ACCOUNT, base_url=self.faulty.url)
        self.client = client_of(here, transport=self.transport, budget=budget, clock=self.clock)
        self.store = JobStore(
            self.ledger, self.paths, lambda _: self.client, disk=self.disk, on_change=self.seen.append, clock=self.clock
        )
        self.store.holds_back = self.opened.is_doubtful
        self.start_runner(patience=3)

    def start_runner(self, *, patience: int | None) -> None:
        self.runner = Runner(self.store, clock=self.clock, sleep=self.clock.sleep, patience=patience)
        self.actions = JobActions(self.store, self.runner, earlier=self.earlier)
        self.elsewhere = JobsElsewhere(self.store, self.drafts, self.runner)

    async def stop(self) -> None:
        """Close all parts, as closing the window does."""
        await self.runner.close()
        self.disk.shutdown()
        self.ledger.close()

    async def restart(self) -> None:
        """Stop and start again, as the program does."""
        await self.stop()
        self.start()
        await self.runner.resume_all()

    def accepted_bodies(self) -> list[bytes]:
        """The request bodies that the service has accepted and still has, oldest first."""
        return accepted_bodies(self.service_folder)

    def draft(
        self, path: Path, kind: Kind, *, model: str = "@cf/baai/bge-m3", reuse: bool = True, split: Split | None = None
    ) -> Job:
        """A draft with the rows of a file and the suggested mapping of its columns."""
        job = self.drafts.create(kind, path.stem, model, "cloudflare")
        if not reuse:
            job = self.drafts.change(job.id, options=replace(job.options, reuse=False))
        return self.drafts.load(job.id, *as_suggested(path, kind, split=split))

    def write(self, name: str, content: str) -> Path:
        """A file with this content, beside the data folder."""
        path = self.paths.root.parent / name
        path.write_text(content, encoding="utf-8", newline="")
        return path

    def clouds(self, name: str = "clouds", *, reuse: bool = True) -> Job:
        """A draft with one query and three texts to rank."""
        return self.draft(self.write(f"{name}.csv", CLOUDS), Kind.RANK, reuse=reuse)

    async def partly_done(self) -> Job:
        """A job of four queries, of which the service refused the second and the fourth; it refuses nothing more."""
        rows = "".join(f"query {n},context {n} {c}\n" for n in range(4) for c in range(2))
        self.faulty.follow(faults.fail_requests(on="poll", times=0, requests=(1, 3)))
        job = await self.run(self.draft(self.write("four.csv", f"question,answer\n{rows}"), Kind.RANK))
        self.faulty.follow()
        return job

    async def sent(self) -> Job:
        """A job that was told to be sent, and has not ended."""
        return await self.actions.send(self.clouds().id)

    def scores(self, job_id: str) -> list[tuple[str, float]]:
        """The texts of a job with their scores, best first."""
        with self.store.folder(job_id).open(read_only=True) as database:
            rows = database.execute(
                "SELECT t.text, i.score FROM items i JOIN texts t USING(text_no) ORDER BY i.score DESC"
            )
            return rows.fetchall()

    async def run(self, job: Job) -> Job:
        """Send the job, wait until it ends or needs the user, and return it."""
        return await self.ended(self.actions.send(job.id))

    async def ended(self, doing: Awaitable[Job]) -> Job:
        """Have something done with a job, wait until it ends or needs the user, and return it."""
        return await self.runner.wait((await doing).id)

    async def until(self, is_so: Callable[[], object]) -> None:
        """Look without a pause: while one waits, the clock may go on by hours."""
        async with asyncio.timeout(240):
            while not is_so():
                await asyncio.sleep(0)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@asynccontextmanager
async def opened_bench(root: Path, clock: Clock, *faults: Fault, **options: Any) -> AsyncIterator[Bench]:
    """A bench with a practice service that takes minutes for a batch, unless its `options` say otherwise."""
    times = {"seconds_queued": 300.0, "seconds_running": 400.0, "clock": clock.of_service}
    service = practice_app(root / "service", **{**times, **options})
    async with FaultyService(service, faults, clock=clock) as faulty:
        bench = Bench(root / "data", faulty, clock, service_folder=root / "service")
        try:
            yield bench
        finally:
            await bench.stop()


@pytest.fixture
async def bench(tmp_path: Path, clock: Clock) -> AsyncIterator[Bench]:
    async with opened_bench(tmp_path, clock) as made:
        yield made
