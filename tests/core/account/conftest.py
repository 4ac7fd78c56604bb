"""A program connected to the collecting Worker in Cloudflare's runtime, with the practice service behind it.

Between them may stand one on a loopback port that passes calls on, but for those that go wrong.
"""

import asyncio
import gzip
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Unpack

import httpx
import numpy as np
import pytest

from cfbatch_gui.core.connections import address_book
from cfbatch_gui.core.connections.credentials import Credentials
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.plan import requests
from cfbatch_gui.core.jobs.states import BatchState, Job, JobState, account_progress
from cfbatch_gui.core.practice.app import PREFIX, Application
from cfbatch_gui.core.practice.local_models import HashedNgrams
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.system.settings import SavedConnection
from cfbatch_gui.core.workers_ai.collector import AccountCollector
from cfbatch_gui.core.workers_ai.connection_kinds import PRACTICE
from tests.canary import TOKEN
from tests.screen.past import Clock
from tests.support import faults
from tests.support.faults import Fault, Twin, When
from tests.support.faulty_service import FaultyService
from tests.support.http import Answer, Head, application
from tests.support.inputs import as_suggested
from tests.support.practice import PracticeServer, accepted, answer_to
from tests.worker.runtime import SECRET, CollectingRuntime, running_worker


def passed_on(address: str) -> Application:
    """What hands each request on to the Worker there, and its answer back as it came."""

    async def answer(head: Head, body: bytes) -> Answer:
        kept = [(name, value) for name, value in head.headers if name not in ("host", "connection")]
        async with (
            httpx.AsyncClient(trust_env=False, timeout=60) as client,
            client.stream(head.method, address + head.target, headers=kept, content=body or None) as reply,
        ):
            whole = b"".join([piece async for piece in reply.aiter_raw()])
        dropped = ("content-length", "transfer-encoding", "connection")
        headers = tuple((name.lower(), value) for name, value in reply.headers.items() if name.lower() not in dropped)
        return Answer(reply.status_code, headers, whole)

    return application(answer)


def refuses(status: int, code: int, **when: Unpack[Twin]) -> Fault:
    """A refusal in the Worker's form."""
    return faults.any_reply(status=status, body=json.dumps({"error": {"code": code, "message": "No."}}), **when)


def changed(change: Callable[[bytes], bytes], **when: Unpack[When]) -> Fault:
    """The Worker's answer with another body."""

    def rewritten(answer: Answer) -> Answer:
        headers = dict(answer.headers)
        body = gzip.decompress(answer.body) if headers.pop("content-encoding", "") else answer.body
        return Answer(answer.status, tuple(headers.items()), change(body))

    return Fault("changed", change=rewritten, billed=True, **when)


BGE_M3 = "@cf/baai/bge-m3"
ACCOUNT_ID = "0123456789abcdef0123456789abcdef"
DEADLINE = 60.0  # seconds until something that does not come fails a test


@dataclass
class Account:
    """The user's account: the Worker at `address`, and the service behind it with its clock and its record's folder."""

    runtime: CollectingRuntime
    practice: PracticeServer
    address: str
    clock: Clock
    folder: Path


@contextmanager
def running_account(folders: pytest.TempPathFactory) -> Iterator[Account]:
    """An account in folders of its own, until the end of the block."""
    folder, clock = folders.mktemp("practice"), Clock()
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

    async def start(self, **options: Any) -> Program:
        """Start the program, by the options of `Program.open`, and connect it to the Worker the first time."""
        self.program = await Program.open(self.folder, environ={}, credentials=Credentials(environ={}), **options)
        if not self.connection_id:
            record = SavedConnection("", "My Worker", "worker", url=self._address, collects=True)
        else:
            record = next(each for each in self.program.address_book.saved() if each.id == self.connection_id)
        self.connection_id = (await self.program.connections.save(record, secret=SECRET)).id
        await self.program.resume_all()
        return self.program

    async def stop(self) -> None:
        await self.program.close()

    async def change_connection(self, **changes: object) -> None:
        saved = next(each for each in self.program.address_book.saved() if each.id == self.connection_id)
        await self.program.connections.save(replace(saved, **changes))  # type: ignore[arg-type]

    def draft(self, path: Path, kind: Kind) -> Job:
        job = self.program.drafts.create(kind, path.stem, BGE_M3, self.connection_id)
        self.program.drafts.change(job.id, options=replace(job.options, reuse=False))
        return self.program.drafts.load(job.id, *as_suggested(path, kind))

    async def hand_over(self, account: Account, path: Path, kind: Kind = Kind.EMBED, *, keep_days: int = 0) -> Job:
        """Send a job, and pause it when the account has all of its batches, none of which is done."""
        await self.change_connection(keep_days=keep_days)
        job = self.draft(path, kind)
        with account.clock.stopped():
            await self.program.actions.send(job.id)
            await self.until(lambda job: account_progress(job).lid_may_close, job.id)
            return await self.program.runner.pause(job.id)

    async def until(self, condition: Callable[[Job], bool], job_id: str) -> Job:
        """Wait until a job is as wanted."""
        deadline = time.monotonic() + DEADLINE
        while not condition(job := self.program.ledger.job(job_id)):
            assert time.monotonic() < deadline, f"it did not come to that: {job}"
            await asyncio.sleep(0.01)
        return job

    @property
    def collector(self) -> AccountCollector:
        return AccountCollector(self.program.address_book.client(self.connection_id))


TEXTS = [f"text number {n} about an orange cloud over the harbour" for n in range(50)]
TEXTS_PER_BATCH = 20  # so that they are three
FIRST_CHECK = 0.06  # seconds
DAYS = 86_400.0  # seconds


@dataclass
class Scene:
    """A computer whose Worker is the one that `passes` calls on to the real one of the account."""

    account: Account
    computer: Computer
    passes: FaultyService
    folder: Path

    def __post_init__(self) -> None:
        self._accepted_before = len(accepted(self.account.folder))

    async def send(self, *wrong: Fault, job: Job | None = None) -> Job:
        """Send a job while these go wrong, and return before any batch is done: when the account has all of it, or has
        given up, or the job is paused.
        """
        job = job or self.draft()
        self.passes.follow(*wrong)
        with self.account.clock.stopped():
            await self.computer.program.actions.send(job.id)
            return await self.computer.until(is_decided, job.id)

    def draft(self) -> Job:
        path = self.folder / "texts.txt"
        path.write_text("\n".join(TEXTS) + "\n", encoding="utf-8")
        return self.computer.draft(path, Kind.EMBED)

    async def stored(self, *wrong: Fault) -> Job:
        """Send a job, leave, and return when the account has all three answers; these go wrong from then on."""
        job = await self.send()
        await self.computer.program.runner.pause(job.id)
        while len((await self._behind("GET", f"collect/{job.id}/1")).json()["batches"]) < 3:
            pass
        self.passes.follow(*wrong)
        return job

    async def copy(self, job_id: str, number: int) -> bytes:
        """What the account has of a batch."""
        return (await self._behind("GET", f"collect/{job_id}/1/{number}")).content

    def put_copy(self, job_id: str, number: int, data: bytes) -> None:
        """Put something in place of what the account has of a batch."""
        self.account.runtime.order("putObjects", keys=[f"answers/{job_id}/1/{number}"], text=data.decode("utf-8"))

    async def remove(self, job_id: str) -> None:
        """Another computer removes the job from the account."""
        assert (await self._behind("DELETE", f"collect/{job_id}/1")).json() == {"ok": True}

    async def end(self, job: Job) -> Job:
        """Go on if the job is paused, and wait for its end."""
        if self.computer.program.ledger.job(job.id).paused_because:
            await self.computer.program.runner.carry_on(job.id)
        return await self.computer.program.runner.wait(job.id)

    def from_account(self, job: Job) -> int:
        """How many answers came from there: a batch that was handed over is not asked for directly, unless it has to
        be."""
        done = [batch for batch in job.batches if batch.state is BatchState.DONE]
        return sum(batch.handed_over_at > 0 and not batch.direct_only for batch in done)

    async def check_done(self, job: Job, *, problem: str = "", from_account: int, is_cleared: bool = True) -> None:
        """The job has its results, each batch was accepted once, and neither here nor there is anything left."""
        assert (job.state, job.account_problem, job.paused_because) == (JobState.DONE, problem, "")
        assert [batch.error for batch in job.batches] == ["", "", ""]
        self.check_accepted_once(job)
        self.check_vectors(job)
        folder = self.computer.program.folder(job.id)
        for batch in job.batches:
            theirs = answer_to(self.account.practice.url, ACCOUNT_ID, BGE_M3, batch.request_id)
            assert folder.read_reply(batch.number) == theirs
        assert self.from_account(job) == from_account
        assert (job.account_cleared_at > 0) == (is_cleared and any(batch.shard for batch in job.batches))
        assert bool(self.left(job)) is not is_cleared

    def check_accepted_once(self, job: Job) -> None:
        """No submit was repeated, by the service's own record."""
        ours = sorted(batch.request_id for batch in job.batches)
        assert sorted(each.request_id for each in accepted(self.account.folder)[self._accepted_before :]) == ours

    def check_vectors(self, job: Job) -> None:
        """Each text has its own vector."""
        vectors = np.load(self.computer.program.folder(job.id).vectors)
        np.testing.assert_allclose(vectors, HashedNgrams().embed(TEXTS), atol=1e-5)

    def left(self, job: Job) -> list[str]:
        """What the account still has of it."""
        return self.account.runtime.stored(job.id)

    async def _behind(self, method: str, path: str) -> httpx.Response:
        async with httpx.AsyncClient(trust_env=False, timeout=60) as client:
            headers = {"Authorization": f"Bearer {TOKEN}"}
            return await client.request(method, f"{self.account.address}/{path}", headers=headers)


def is_decided(job: Job) -> bool:
    """The account has all of it, or has given up, or the job is paused."""
    return account_progress(job).lid_may_close or bool(job.account_problem) or job.state is JobState.PAUSED


@pytest.fixture
async def new_computer(account: Account, tmp_path: Path) -> AsyncIterator[Callable[..., Awaitable[Computer]]]:
    made: list[Computer] = []

    async def new() -> Computer:
        computer = Computer(tmp_path / f"computer {len(made) + 1}", account.address)
        made.append(computer)
        await computer.start()
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
    """A computer between whose calls and the Worker something may go wrong, with small batches, soon asked for."""
    monkeypatch.setattr(requests, "MAX_TEXTS_PER_BATCH", TEXTS_PER_BATCH)
    monkeypatch.setattr(address_book, "PRACTICE", replace(PRACTICE, first_check=FIRST_CHECK))
    async with FaultyService(passed_on(account.address)) as passes:
        computer = Computer(tmp_path / "computer", passes.url.removesuffix(PREFIX))
        await computer.start()
        yield Scene(account, computer, passes, tmp_path)
        await computer.stop()
