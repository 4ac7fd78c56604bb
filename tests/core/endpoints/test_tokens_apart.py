"""Services that refuse each other's tokens: no call of one connection is sent with the token of another."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from cfbatch_gui.core.connections.credentials import Credentials
from cfbatch_gui.core.errors import NotConnected, UsageError
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.states import BatchState, Job, JobState
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.system.settings import SavedConnection
from cfbatch_gui.core.workers_ai.transport import traffic
from tests.canary import OTHER_TOKEN as OTHER
from tests.canary import SECRET
from tests.canary import TOKEN as ONE
from tests.core.endpoints.conftest import ACCOUNT, service, worker
from tests.support.faulty_service import FaultyService
from tests.support.inputs import as_suggested
from tests.support.keyrings import MemoryKeyring

OTHER_ACCOUNT = "fedcba9876543210fedcba9876543210"
CLOUDS = "query,context\nCloudflare,an orange cloud\nCloudflare,a llama\n"


@dataclass
class World:
    root: Path
    one: FaultyService
    other: FaultyService
    worker: FaultyService
    ring: MemoryKeyring
    changed: asyncio.Event
    program: Program

    async def restart(self) -> None:
        await self.program.close()
        self.program = await started(self.root, self.ring, self.changed)

    async def until_queued(self) -> None:
        while any(batch.state is not BatchState.QUEUED for job in self.program.ledger.jobs() for batch in job.batches):
            self.changed.clear()
            await self.changed.wait()


async def started(root: Path, ring: MemoryKeyring, changed: asyncio.Event) -> Program:
    return await Program.open(
        root / "data", environ={}, credentials=Credentials(ring, {}), patience=2, on_change=lambda job: changed.set()
    )


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    ring = MemoryKeyring()
    async with (
        FaultyService(service(tmp_path / "one", token=ONE, seconds_queued=1.0)) as one,
        FaultyService(service(tmp_path / "other", token=OTHER, seconds_queued=1.0)) as other,
        FaultyService(worker(service(tmp_path / "third", seconds_queued=1.0))) as third,
    ):
        changed = asyncio.Event()
        made = World(tmp_path, one, other, third, ring, changed, await started(tmp_path, ring, changed))
        yield made
        await made.program.close()


async def connected(world: World) -> tuple[str, str, str]:
    program = world.program
    first = await program.connections.save(
        SavedConnection("", "First", "cloudflare", account_id=ACCOUNT, url=world.one.url), secret=ONE
    )
    second = await program.connections.save(
        SavedConnection("", "Second", "cloudflare", account_id=OTHER_ACCOUNT, url=world.other.url), secret=OTHER
    )
    url = world.worker.url.removesuffix("/client/v4")
    third = await program.connections.save(SavedConnection("", "Mine", "worker", url=url), secret=SECRET)
    return first.id, second.id, third.id


def draft(world: World, connection: str) -> Job:
    path = world.root / "clouds.csv"
    path.write_text(CLOUDS)
    job = world.program.drafts.create(Kind.RANK, "clouds", "@cf/baai/bge-m3", connection)
    return world.program.drafts.load(job.id, *as_suggested(path, Kind.RANK))


async def test_never_mixed_over_restart_and_resume(world: World) -> None:
    ids = await connected(world)
    jobs = [draft(world, each) for each in ids for _ in range(2)]
    for job in jobs:
        await world.program.actions.send(job.id)
    await world.until_queued()
    await world.restart()
    await world.program.runner.resume_all()
    done = [await world.program.runner.wait(job.id) for job in jobs]
    assert [job.state for job in done] == [JobState.DONE] * 6
    services = world.one, world.other, world.worker
    assert not {arrival.status for each in services for arrival in each.arrivals} & {401, 403}
    assert [len(each.submits) for each in services] == [2, 2, 2]


async def test_a_deleted_connections_jobs_pause_and_are_asked_for_through_no_other(world: World) -> None:
    first, *_ = await connected(world)
    job = draft(world, first)
    await world.program.actions.send(job.id)
    await world.program.connections.remove(first)
    paused = world.program.ledger.job(job.id)
    assert paused.state is JobState.PAUSED and paused.paused_because
    assert not any(first in name for _, name in world.ring.stored)
    await world.restart()
    await world.program.runner.carry_on(job.id)
    again = await world.program.runner.wait(job.id)
    assert again.state is JobState.PAUSED
    assert not world.other.arrivals and not world.worker.arrivals
    with pytest.raises(NotConnected):
        world.program.address_book.connection(first)


async def test_a_connection_that_gets_another_account_does_not_ask_it_for_old_batches(world: World) -> None:
    first, *_ = await connected(world)
    job = draft(world, first)
    await world.program.actions.send(job.id)
    await world.until_queued()
    await world.program.runner.pause(job.id)
    await world.program.connections.save(
        SavedConnection(first, "First", "cloudflare", account_id=OTHER_ACCOUNT, url=world.one.url)
    )
    asked = len(world.one.arrivals)
    await world.program.runner.carry_on(job.id)
    stopped = await world.program.runner.wait(job.id)
    assert stopped.state is JobState.PAUSED
    assert len(world.one.arrivals) == asked
    await world.program.connections.save(
        SavedConnection(first, "First", "cloudflare", account_id=ACCOUNT, url=world.one.url)
    )
    await world.program.runner.carry_on(job.id)
    assert (await world.program.runner.wait(job.id)).state is JobState.DONE


async def test_names_and_ids_are_unique_and_stable(world: World) -> None:
    first, second, third = await connected(world)
    assert len({first, second, third, "practice", "cloudflare"}) == 5
    for taken in ("Second", "second", "practice", "Practice service", "cloudflare", ""):
        with pytest.raises(UsageError):
            await world.program.connections.save(SavedConnection(first, taken, "cloudflare", account_id=ACCOUNT))
    renamed = await world.program.connections.save(SavedConnection(third, "Yours", "worker", url="http://127.0.0.1:9"))
    assert renamed.id == third and world.program.address_book.find("yours") == third
    await world.restart()
    facts = {each.id: each for each in await world.program.connections.summaries()}
    assert facts[third].title == "Yours"
    with pytest.raises(UsageError):
        world.program.address_book.find("nobody")


async def test_what_left_is_in_the_log_without_a_word_of_it(world: World) -> None:
    first, *_ = await connected(world)
    job = draft(world, first)
    await world.program.actions.send(job.id)
    await world.program.runner.wait(job.id)
    (submits,) = [each for each in traffic(world.program.paths.traffic) if each.what == "submit"]
    assert submits.host == world.one.url.split("/")[2] and submits.connection == first
    assert submits.sent == world.program.ledger.job(job.id).batches[0].bytes and submits.count == 1
    log = world.program.paths.traffic.read_bytes().decode("latin-1")
    assert first in log and "llama" not in log and ONE not in log and ACCOUNT not in log
