"""Batches are handed over once, and their answers come back from the account as from the service."""

import asyncio
import csv
import socket
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from cfbatch_gui.core.errors import Unreachable, UsageError
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.account import order_of
from cfbatch_gui.core.jobs.elsewhere import NO_ROOM_SENTENCE, AccountJob
from cfbatch_gui.core.jobs.states import Job, JobState, account_progress
from cfbatch_gui.core.practice.local_models import HashedNgrams
from cfbatch_gui.core.workers_ai.connection_kinds import PRACTICE
from tests.core.account.conftest import Account, Computer, Scene
from tests.core.account.worker_stand_in import Delivery, Exchange, Rule

NewComputer = Callable[..., Awaitable[Computer]]


async def sent(computer: Computer, path: Path) -> Job:
    job = computer.draft(path, Kind.EMBED)
    await computer.program.actions.send(job.id)
    return await computer.program.runner.wait(job.id)


async def test_a_job_comes_back_from_the_account_bit_for_bit(
    account: Account, new_computer: NewComputer, texts_file: Path
) -> None:
    computer = await new_computer()
    job = await computer.hand_over(account, texts_file)
    await computer.program.runner.carry_on(job.id)
    collected = await computer.program.runner.wait(job.id)
    assert collected.state is JobState.DONE
    assert len(collected.batches) == 3
    assert {batch.shard for batch in collected.batches} == {1}
    assert collected.account_cleared_at > 0
    await computer.change_connection(collects=False)
    direct = await sent(computer, texts_file)
    assert {batch.shard for batch in direct.batches} == {0}
    theirs, ours = (np.load(computer.program.folder(job.id).vectors) for job in (direct, collected))
    np.testing.assert_array_equal(ours, theirs)
    assert [shard async for shard in computer.collector.shards() if shard.job == collected.id] == []


async def at_the_service(computer: Computer, path: Path) -> Job:
    """A job that the service has all of, and the account nothing; paused."""
    await computer.change_connection(collects=False)
    job = computer.draft(path, Kind.EMBED)
    await computer.program.actions.send(job.id)
    await computer.until(lambda job: all(batch.request_id for batch in job.batches), job.id)
    return await computer.program.runner.pause(job.id)


@pytest.mark.parametrize("is_ours", [True, False])
async def test_a_name_that_the_account_knows_is_learned_or_left_to_others(
    account: Account, new_computer: NewComputer, texts_file: Path, is_ours: bool
) -> None:
    """A ledger that was lost and put together again from the folder does not know what was handed over."""
    computer = await new_computer()
    connection = computer.program.address_book.connection(computer.connection_id)
    with account.clock.held():
        job = await at_the_service(computer, texts_file)
        known = job.batches[1]
        if not is_ours:
            known = replace(known, request_id="00000000-0000-4000-8000-000000000001")
        await computer.collector.hand_over(job.id, 1, order_of(job, [known], connection), b"a layout")
        await computer.program.actions.collect_in_account(job.id)
        await computer.until(lambda job: account_progress(job).lid_may_close, job.id)
    done = await computer.program.runner.wait(job.id)
    assert done.state is JobState.DONE
    assert [batch.shard for batch in done.batches] == [2, 1 if is_ours else 2, 2]


@pytest.fixture
def closed_address() -> Iterator[str]:
    """An address at which nobody listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{taken.getsockname()[1]}"


@pytest.mark.parametrize("patience", [None, 2])
async def test_an_account_that_cannot_be_reached_is_said_until_it_can(
    account: Account, new_computer: NewComputer, texts_file: Path, closed_address: str, patience: int | None
) -> None:
    computer = await new_computer()
    job = await computer.hand_over(account, texts_file)
    await computer.change_connection(url=closed_address)
    await computer.stop()  # it may have looked at the account before it was paused
    await computer.start(patience=patience)
    await computer.program.runner.carry_on(job.id)
    if patience is None:
        failing = await computer.until(lambda job: all(batch.error for batch in job.batches), job.id)
        assert failing.state is JobState.WORKING
        assert not computer.program.runner.account.has_looked(failing)
    else:
        assert (await computer.program.runner.wait(job.id)).state is JobState.PAUSED
        assert isinstance(computer.program.runner.pause_error(job.id), Unreachable)
    await computer.change_connection(url=account.address)
    if patience is not None:
        await computer.program.runner.carry_on(job.id)
    done = await computer.program.runner.wait(job.id)
    assert (done.state, done.error, done.account_problem) == (JobState.DONE, "", "")
    assert {batch.shard for batch in done.batches} == {1}


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


@pytest.fixture
async def computer(new_computer: NewComputer, plain_door: str) -> Computer:
    made = await new_computer()
    await made.change_connection(url=plain_door)
    return made


async def test_a_worker_without_the_room_asks_directly_and_keeps_no_jobs(computer: Computer, texts_file: Path) -> None:
    jobs, gone = computer.program.elsewhere, AccountJob("abcdefgh", "n", Kind.EMBED, "m", 1, (1,), 0.0, False)
    calls = jobs.listed(computer.connection_id), jobs.remove(computer.connection_id, gone)
    for call in (*calls, jobs.take_over(computer.connection_id, gone)):
        with pytest.raises(UsageError, match="no collecting room"):
            await call
    with pytest.raises(UsageError, match="not a Worker"):
        await jobs.listed(PRACTICE.id)
    assert computer.program.ledger.jobs() == ()
    done = await sent(computer, texts_file)
    assert (done.state, done.account_problem) == (JobState.DONE, NO_ROOM_SENTENCE)
    assert not any(batch.handed_over_at for batch in done.batches)
    with texts_file.open(encoding="utf-8", newline="") as file:
        expected = HashedNgrams().embed([row["text"] for row in csv.DictReader(file)])
    np.testing.assert_allclose(np.load(computer.program.folder(done.id).vectors), expected, atol=1e-5)
