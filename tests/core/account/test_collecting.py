"""Batches are handed over once, and their answers come back from the account as from the service."""

import gzip
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.jobs.account.handing_over import order_of
from cfbatch_gui.core.jobs.account.shards import account_progress
from cfbatch_gui.core.jobs.states import Job, JobState
from tests.core.account.conftest import Account, Computer

NewComputer = Callable[..., Awaitable[Computer]]


def vectors(folder: JobFolder) -> "np.ndarray[tuple[int, ...], np.dtype[np.float32]]":
    found: np.ndarray[tuple[int, ...], np.dtype[np.float32]] = np.load(folder.vectors)
    return found


async def sent(computer: Computer, path: Path, kind: Kind = Kind.EMBED) -> Job:
    job = computer.draft(path, kind)
    await computer.program.actions.send(job.id)
    return await computer.program.runner.wait(job.id)


async def test_a_job_comes_back_from_the_account_bit_for_bit(new_computer: NewComputer, texts_file: Path) -> None:
    computer = await new_computer()
    collected = await sent(computer, texts_file)
    assert collected.state is JobState.DONE
    assert len(collected.batches) == 3
    assert {batch.shard for batch in collected.batches} == {1}
    assert collected.account_cleared_at > 0
    await computer.change_connection(collects=False)
    direct = await sent(computer, texts_file)
    assert {batch.shard for batch in direct.batches} == {0}
    theirs, ours = (vectors(computer.program.folder(job.id)) for job in (direct, collected))
    np.testing.assert_array_equal(ours, theirs)
    assert [shard async for shard in computer.collector.shards() if shard.job == collected.id] == []


async def test_the_program_may_be_gone_while_the_account_collects(
    account: Account, new_computer: NewComputer, rankings_file: Path
) -> None:
    computer = await new_computer()
    job = computer.draft(rankings_file, Kind.RANK)
    with account.clock.held():
        await computer.program.actions.send(job.id)
        await computer.until(lambda job: account_progress(job).lid_may_close, job.id)
        await computer.stop()
    await computer.start()
    done = await computer.program.runner.wait(job.id)
    assert done.state is JobState.DONE
    reply = gzip.decompress(computer.program.folder(job.id).reply(1).read_bytes())
    assert reply.startswith(b'{"responses"')
    assert not list((computer.program.folder(job.id).path / "replies").glob("*.part"))


async def at_the_service(computer: Computer, path: Path) -> Job:
    """A job that the service has all of, and the account nothing; paused."""
    await computer.change_connection(collects=False)
    job = computer.draft(path, Kind.EMBED)
    await computer.program.actions.send(job.id)
    await computer.until(lambda job: all(batch.request_id for batch in job.batches), job.id)
    return await computer.program.runner.pause(job.id)


async def test_a_ledger_that_does_not_know_what_was_handed_over_learns_it(
    account: Account, new_computer: NewComputer, texts_file: Path
) -> None:
    """So it is after the ledger was lost, and put together again from the job's folder."""
    computer = await new_computer()
    connection = computer.program.address_book.connection(computer.connection_id)
    with account.clock.held():
        job = await at_the_service(computer, texts_file)
        await computer.collector.hand_over(job.id, 1, order_of(job, job.batches[1:2], connection), b"a layout")
        await computer.program.actions.collect_in_account(job.id)
        await computer.until(lambda job: account_progress(job).lid_may_close, job.id)
    done = await computer.program.runner.wait(job.id)
    assert done.state is JobState.DONE
    assert [batch.shard for batch in done.batches] == [2, 1, 2]


async def test_a_name_that_is_taken_by_other_batches_is_left_to_them(
    account: Account, new_computer: NewComputer, texts_file: Path
) -> None:
    computer = await new_computer()
    connection = computer.program.address_book.connection(computer.connection_id)
    with account.clock.held():
        job = await at_the_service(computer, texts_file)
        other = replace(job.batches[0], request_id="00000000-0000-4000-8000-000000000001")
        await computer.collector.hand_over(job.id, 1, order_of(job, [other], connection), b"a layout")
        await computer.program.actions.collect_in_account(job.id)
        await computer.until(lambda job: account_progress(job).lid_may_close, job.id)
    done = await computer.program.runner.wait(job.id)
    assert done.state is JobState.DONE
    assert [batch.shard for batch in done.batches] == [2, 2, 2]
