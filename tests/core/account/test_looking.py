"""What the account has is looked at: told on the disk, said when it cannot be seen, and given up in time."""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from cfbatch_gui.core.errors import Unreachable
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.account.shards import account_progress
from cfbatch_gui.core.jobs.states import Job, JobState
from cfbatch_gui.core.jobs.store.ledger import Ledger
from cfbatch_gui.core.system.paths import Paths
from tests.core.account.conftest import Account, Computer
from tests.core.account.fault_scene import Scene
from tests.core.account.worker_stand_in import Delivery, Exchange, Rule

NewComputer = Callable[..., Awaitable[Computer]]


@pytest.fixture
def closed_address() -> Iterator[str]:
    """An address at which nobody listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{taken.getsockname()[1]}"


async def handed_over(account: Account, computer: Computer, path: Path) -> Job:
    """A job that the account has all of and collects, and that this computer does not watch."""
    job = computer.draft(path, Kind.EMBED)
    with account.clock.held():
        await computer.program.actions.send(job.id)
        await computer.until(lambda job: account_progress(job).lid_may_close, job.id)
        return await computer.program.runner.pause(job.id)


async def test_other_processes_can_read_what_waits_in_the_account(
    account: Account, new_computer: NewComputer, texts_file: Path
) -> None:
    computer = await new_computer()
    job = await handed_over(account, computer, texts_file)
    await computer.stop()
    seen = []

    def compare(job: Job) -> None:
        if account_progress(job).in_account:
            with closing(Ledger.open_read_only(Paths(computer.folder))) as ledger:
                seen.append((account_progress(ledger.job(job.id)), account_progress(job)))

    await computer.start(on_change=compare)
    await computer.program.runner.carry_on(job.id)
    assert (await computer.program.runner.wait(job.id)).state is JobState.DONE
    assert seen
    assert all(on_disk == shown for on_disk, shown in seen)


async def test_an_account_that_cannot_be_reached_is_said_until_it_can(
    account: Account, new_computer: NewComputer, texts_file: Path, closed_address: str
) -> None:
    computer = await new_computer()
    job = await handed_over(account, computer, texts_file)
    await computer.change_connection(url=closed_address)
    await computer.stop()  # it may have looked at the account before it was paused
    await computer.start()
    await computer.program.runner.carry_on(job.id)
    failing = await computer.until(lambda job: all(batch.error for batch in job.batches), job.id)
    assert failing.state is JobState.WORKING
    assert not computer.program.runner.account.has_looked(failing)
    await computer.change_connection(url=account.address)
    done = await computer.program.runner.wait(job.id)
    assert (done.state, done.error, done.account_problem) == (JobState.DONE, "", "")


async def test_a_program_at_the_end_of_its_patience_pauses_the_job_when_it_does_not_reach_the_account(
    account: Account, new_computer: NewComputer, texts_file: Path, closed_address: str
) -> None:
    computer = await new_computer()
    job = await handed_over(account, computer, texts_file)
    await computer.change_connection(url=closed_address)
    await computer.stop()
    await computer.start(patience=2)
    await computer.program.runner.carry_on(job.id)
    paused = await computer.program.runner.wait(job.id)
    assert paused.state is JobState.PAUSED
    assert isinstance(computer.program.runner.pause_error(job.id), Unreachable)
    await computer.change_connection(url=account.address)
    await computer.program.runner.carry_on(job.id)
    done = await computer.program.runner.wait(job.id)
    assert (done.state, {batch.shard for batch in done.batches}) == (JobState.DONE, {1})


async def test_a_look_that_is_under_way_does_not_undo_what_the_user_decides_meanwhile(scene: Scene) -> None:
    job = await scene.send()
    seen, decided = asyncio.Event(), asyncio.Event()

    async def late(exchange: Exchange) -> Delivery:
        answer = await exchange.pass_on()
        seen.set()
        await decided.wait()
        return answer, None

    scene.stand_in.follow(Rule("status", late))
    with scene.account.clock.held():
        scene.computer.program.runner.check_now(job.id)
        await seen.wait()
        await scene.computer.program.actions.collect_here(job.id)
        decided.set()
        before = scene.stand_in.count("ask")
        while scene.stand_in.count("ask") < before + 3:  # the service itself is asked for all three
            await asyncio.sleep(0.01)
    assert {batch.direct_only for batch in scene.computer.program.ledger.job(job.id).batches} == {True}
    job = await scene.end(job)
    assert (job.state, scene.from_account(job)) == (JobState.DONE, 0)
