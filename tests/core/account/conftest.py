"""A program connected to the collecting Worker in Cloudflare's runtime, with the practice service behind it."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from cfbatch_gui.core.connections import address_book
from cfbatch_gui.core.connections.credentials import Credentials
from cfbatch_gui.core.inputs.file_rows import preview
from cfbatch_gui.core.inputs.input_values import AttachedInput, Kind
from cfbatch_gui.core.inputs.recognise.recogniser import open_source
from cfbatch_gui.core.inputs.suggest import suggest_mapping
from cfbatch_gui.core.jobs.plan import requests
from cfbatch_gui.core.jobs.states import Job, account_progress
from cfbatch_gui.core.practice.local_models import HashedNgrams
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.system.settings import SavedConnection
from cfbatch_gui.core.workers_ai.collector import AccountCollector
from cfbatch_gui.core.workers_ai.connection_kinds import PRACTICE
from tests.core.account.fault_scene import FIRST_CHECK, TEXTS_PER_BATCH, Scene
from tests.core.account.worker_stand_in import WorkerStandIn
from tests.support.practice import PracticeServer
from tests.worker.collecting_runtime import CollectingRuntime
from tests.worker.runtime import SECRET, running_worker

BGE_M3 = "@cf/baai/bge-m3"
DEADLINE = 60.0  # seconds until something that does not come fails a test


class ServiceClock:
    """The service's clock, which can be held: no batch becomes done until it goes on."""

    def __init__(self) -> None:
        self._behind = 0.0
        self._held_at: float | None = None

    def __call__(self) -> float:
        return (self._held_at or time.time()) - self._behind

    def skip(self, seconds: float) -> None:
        """Set it forward."""
        self._behind -= seconds

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold it until the end of the block."""
        self._held_at = time.time()
        try:
            yield
        finally:
            self._behind += time.time() - self._held_at
            self._held_at = None


@dataclass
class Account:
    """The user's account: the Worker at `address`, and the service behind it with its clock and its record's folder."""

    runtime: CollectingRuntime
    practice: PracticeServer
    address: str
    clock: ServiceClock
    folder: Path


@contextmanager
def running_account(folders: pytest.TempPathFactory) -> Iterator[Account]:
    """An account in folders of its own, until the end of the block."""
    folder, clock = folders.mktemp("practice"), ServiceClock()
    with (
        PracticeServer(
            folder, seconds_queued=0.2, seconds_running=0.2, clock=clock, load_model=HashedNgrams
        ) as practice,
        CollectingRuntime(practice.url, folders.mktemp("account")) as runtime,
    ):
        yield Account(runtime, practice, runtime.address, clock, folder)


@pytest.fixture(scope="session")
def account(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Account]:
    with running_account(tmp_path_factory) as account:
        yield account


@pytest.fixture(scope="session")
def plain_door(account: Account) -> Iterator[str]:
    """The address of a Worker without a collecting room, before the same service."""
    with running_worker(httpx.URL(account.practice.url).netloc.decode()) as running:
        yield running.addresses["with-secret"]


class Computer:
    """A data folder of its own, and the program that is at work in it."""

    def __init__(self, folder: Path, address: str) -> None:
        self.folder, self._address = folder, address
        self.program: Program
        self.connection_id = ""

    async def start(self, *, collects: bool = True, secret: str = SECRET, **options: Any) -> Program:
        """Start the program, by the options of `Program.open`, and connect it to the Worker the first time."""
        self.program = await Program.open(self.folder, environ={}, credentials=Credentials(environ={}), **options)
        if not self.connection_id:
            record = SavedConnection("", "My Worker", "worker", url=self._address, collects=collects)
        else:
            record = next(each for each in self.program.address_book.saved() if each.id == self.connection_id)
        self.connection_id = (await self.program.connections.save(record, secret=secret)).id
        await self.program.resume_all()
        return self.program

    async def stop(self) -> None:
        await self.program.close()

    async def change_connection(self, **changes: object) -> None:
        saved = next(each for each in self.program.address_book.saved() if each.id == self.connection_id)
        await self.program.connections.save(replace(saved, **changes))  # type: ignore[arg-type]

    def draft(self, path: Path, kind: Kind, name: str = "") -> Job:
        job = self.program.drafts.create(kind, name or path.stem, BGE_M3, self.connection_id)
        options = replace(job.options, reuse=False)
        self.program.drafts.change(job.id, options=options)
        inputs = inputs_of(path, kind)
        return self.program.drafts.load(job.id, inputs.source, inputs.mapping)

    async def hand_over(self, account: Account, path: Path, kind: Kind = Kind.EMBED, *, keep_days: int = 0) -> Job:
        """Send a job, and pause it when the account has all of its batches, none of which is done."""
        await self.change_connection(keep_days=keep_days)
        job = self.draft(path, kind)
        with account.clock.held():
            await self.program.actions.send(job.id)
            await self.until(lambda job: account_progress(job).lid_may_close, job.id)
            return await self.program.runner.pause(job.id)

    async def until(self, condition: Callable[[Job], bool], job_id: str) -> Job:
        """Wait until a job is as wanted."""
        return await until(lambda: self.program.ledger.job(job_id), condition)

    @property
    def collector(self) -> AccountCollector:
        return AccountCollector(self.program.address_book.client(self.connection_id))


async def until(find: Callable[[], Job], condition: Callable[[Job], bool]) -> Job:
    deadline = time.monotonic() + DEADLINE
    while not condition(find()):
        assert time.monotonic() < deadline, f"it did not come to that: {find()}"
        await asyncio.sleep(0.01)
    return find()


def inputs_of(path: Path, kind: Kind) -> AttachedInput:
    source = open_source(path)
    return AttachedInput(source, suggest_mapping(source, kind, preview(source)))


@pytest.fixture
async def new_computer(account: Account, tmp_path: Path) -> AsyncIterator[Callable[..., Awaitable[Computer]]]:
    made: list[Computer] = []

    async def new(*, collects: bool = True) -> Computer:
        computer = Computer(tmp_path / f"computer {len(made) + 1}", account.address)
        made.append(computer)
        await computer.start(collects=collects)
        return computer

    yield new
    for computer in made:
        await computer.stop()


@pytest.fixture
def texts_file(tmp_path: Path) -> Path:
    """Texts for three batches of a Worker on the Free plan."""
    path = tmp_path / "texts.csv"
    words = "an orange cloud over the harbour with a small boat and many words "
    rows = (f'id-{n},"{n} {words * 60}"\n' for n in range(600))
    path.write_text("id,text\n" + "".join(rows), encoding="utf-8")
    return path


@pytest.fixture
def rankings_file(tmp_path: Path) -> Path:
    path = tmp_path / "rankings.csv"
    rows = (f"question {q},answer {c} to {q}\n" for q in range(20) for c in range(10))
    path.write_text("query,context\n" + "".join(rows), encoding="utf-8")
    return path


@pytest.fixture
async def scene(account: Account, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Scene]:
    """A computer whose Worker is a stand-in, with small batches that are soon asked for."""
    monkeypatch.setattr(requests, "MAX_TEXTS_PER_BATCH", TEXTS_PER_BATCH)
    monkeypatch.setattr(address_book, "PRACTICE", replace(PRACTICE, first_check=FIRST_CHECK))
    async with WorkerStandIn(account.address).listening() as stand_in:
        computer = Computer(tmp_path / "computer", stand_in.url)
        await computer.start()
        yield Scene(account, computer, stand_in, tmp_path)
        await computer.stop()
