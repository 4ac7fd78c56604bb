"""Batches are handed over once, and their answers come back from the account as from the service."""

import gzip
from collections.abc import Awaitable, Callable
from pathlib import Path

import numpy as np

from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.jobs.account.shards import account_progress
from cfbatch_gui.core.jobs.states import Job, JobState
from tests.core.account.conftest import Computer

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
    new_computer: NewComputer, rankings_file: Path
) -> None:
    computer = await new_computer()
    job = computer.draft(rankings_file, Kind.RANK)
    await computer.program.actions.send(job.id)
    await computer.until(lambda job: account_progress(job).lid_may_close, job.id)
    await computer.stop()
    await computer.start()
    done = await computer.program.runner.wait(job.id)
    assert done.state is JobState.DONE
    reply = gzip.decompress(computer.program.folder(job.id).reply(1).read_bytes())
    assert reply.startswith(b'{"responses"')
    assert not list((computer.program.folder(job.id).path / "replies").glob("*.part"))
