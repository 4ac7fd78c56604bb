"""Services that refuse each other's tokens: no call of one connection is sent with the token of another."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

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
from tests.screen.past import Clock
from tests.support.faulty_service import FaultyService
from tests.support.inputs import as_suggested
from tests.support.keyrings import MemoryKeyring

MODEL = "@cf/baai/bge-m3"
OTHER_ACCOUNT = "fedcba9876543210fedcba9876543210"
CLOUDS = "query,context\nCloudflare,an orange cloud\nCloudflare,a llama\n"


@dataclass
class World:
    """Three services behind connections of one program: two accounts and a Worker."""

    root: Path
    services: tuple[FaultyService, ...]
    ring: MemoryKeyring
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    ids: list[str] = field(default_factory=list)
    clock: Clock = field(default_factory=Clock)  # of the services, at which a batch waits for an hour

    async def start(self) -> None:
        self.program = await Program.open(
            self.root / "data",
            environ={},
            credentials=Credentials(self.ring, {}),
            patience=2,
            on_change=lambda job: self.changed.set(),
        )

    async def restart(self) -> None:
        await self.program.close()
        await self.start()

    async def save(self, record: SavedConnection, secret: str = "") -> str:
        saved = await self.program.connections.save(record, secret=secret)
        return saved.id

    def account(self, connection: str = "", account: str = ACCOUNT, name: str = "First") -> SavedConnection:
        return SavedConnection(connection, name, "cloudflare", account_id=account, url=self.services[0].url)

    async def send(self, connection: str) -> Job:
        path = self.root / "clouds.csv"
        path.write_text(CLOUDS)
        drafts = self.program.drafts
        job = drafts.load(drafts.create(Kind.RANK, "clouds", MODEL, connection).id, *as_suggested(path, Kind.RANK))
        await self.program.actions.send(job.id)
        return job

    async def until_queued(self) -> None:
        while any(batch.state is not BatchState.QUEUED for job in self.program.ledger.jobs() for batch in job.batches):
            self.changed.clear()
            await self.changed.wait()


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    made = World(tmp_path, (), MemoryKeyring())
    waits: dict[str, Any] = {"seconds_queued": 3600.0, "clock": made.clock}
    async with (
        FaultyService(service(tmp_path / "one", token=ONE, **waits)) as one,
        FaultyService(service(tmp_path / "other", token=OTHER, **waits)) as other,
        FaultyService(worker(service(tmp_path / "third", **waits))) as third,
    ):
        made.services = (one, other, third)
        await made.start()
        second = SavedConnection("", "Second", "cloudflare", account_id=OTHER_ACCOUNT, url=other.url)
        mine = SavedConnection("", "Mine", "worker", url=third.url.removesuffix("/client/v4"))
        for record, secret in ((made.account(), ONE), (second, OTHER), (mine, SECRET)):
            made.ids.append(await made.save(record, secret))
        yield made
        await made.program.close()


async def test_never_mixed_over_restart_and_resume(world: World) -> None:
    jobs = [await world.send(each) for each in world.ids for _ in range(2)]
    await world.until_queued()
    await world.restart()
    await world.program.runner.resume_all()
    world.clock.offset += 3600
    done = [await world.program.runner.wait(job.id) for job in jobs]
    assert [job.state for job in done] == [JobState.DONE] * 6
    assert not {arrival.status for each in world.services for arrival in each.arrivals} & {401, 403}
    assert [len(each.submits) for each in world.services] == [2, 2, 2]


async def test_a_deleted_connections_jobs_pause_and_are_asked_for_through_no_other(world: World) -> None:
    first, *_ = world.ids
    job = await world.send(first)
    await world.program.connections.remove(first)
    paused = world.program.ledger.job(job.id)
    assert paused.state is JobState.PAUSED and paused.paused_because
    assert not any(first in name for _, name in world.ring.stored)
    await world.restart()
    await world.program.runner.carry_on(job.id)
    again = await world.program.runner.wait(job.id)
    assert again.state is JobState.PAUSED and again.paused_because
    assert not any(each.arrivals for each in world.services[1:])
    with pytest.raises(NotConnected):
        world.program.address_book.connection(first)


async def test_a_connection_that_gets_another_account_does_not_ask_it_for_old_batches(world: World) -> None:
    first, runner, service = world.ids[0], world.program.runner, world.services[0]
    job = await world.send(first)
    await world.until_queued()
    await runner.pause(job.id)
    await world.save(world.account(first, OTHER_ACCOUNT))
    asked = len(service.arrivals)
    await runner.carry_on(job.id)
    assert (await runner.wait(job.id)).state is JobState.PAUSED
    assert len(service.arrivals) == asked
    await world.save(world.account(first))
    world.clock.offset += 3600
    await runner.carry_on(job.id)
    assert (await runner.wait(job.id)).state is JobState.DONE


async def test_names_and_ids_are_unique_and_stable(world: World) -> None:
    assert len({*world.ids, "practice", "cloudflare"}) == 5
    for taken in ("Second", "second", "practice", "Practice service", "cloudflare", ""):
        with pytest.raises(UsageError):
            await world.save(world.account(world.ids[0], name=taken))
    first, *_ = world.ids
    assert await world.save(world.account(first, name="Yours")) == first == world.program.address_book.find("yours")
    await world.restart()
    titles = {each.id: each.title for each in await world.program.address_book.summaries()}
    assert titles[first] == "Yours" and [each for each in titles if each in world.ids] == world.ids, "each in its place"
    with pytest.raises(UsageError):
        world.program.address_book.find("nobody")


async def test_what_left_is_in_the_log_without_a_word_of_it(world: World) -> None:
    first, *_ = world.ids
    job = await world.send(first)
    await world.until_queued()
    (submits,) = [each for each in traffic(world.program.paths.traffic) if each.what == "submit"]
    assert submits.host == world.services[0].url.split("/")[2] and submits.connection == first
    assert submits.sent == world.program.ledger.job(job.id).batches[0].bytes and submits.count == 1
    log = world.program.paths.traffic.read_bytes().decode("latin-1")
    assert first in log and "llama" not in log and ONE not in log and ACCOUNT not in log
