"""A Worker without a collecting room: its jobs are asked for by the program, and it keeps none."""

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from cfbatch_gui.core.errors import UsageError
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.account.collection import NO_ROOM_SENTENCE
from cfbatch_gui.core.jobs.account.taking_over import AccountJob
from cfbatch_gui.core.jobs.states import JobState
from cfbatch_gui.core.workers_ai.connection_kinds import PRACTICE
from tests.core.account.conftest import Computer

NewComputer = Callable[..., Awaitable[Computer]]


@pytest.fixture
async def computer(new_computer: NewComputer, plain_door: str) -> Computer:
    made = await new_computer()
    await made.change_connection(url=plain_door)
    return made


async def test_its_jobs_are_asked_for_directly(computer: Computer, texts_file: Path) -> None:
    job = computer.draft(texts_file, Kind.EMBED)
    await computer.program.actions.send(job.id)
    done = await computer.program.runner.wait(job.id)
    assert (done.state, done.account_problem) == (JobState.DONE, NO_ROOM_SENTENCE)
    assert not any(batch.handed_over_at for batch in done.batches)


async def test_it_keeps_no_jobs(computer: Computer) -> None:
    jobs, gone = computer.program.account_jobs, AccountJob("abcdefgh", "n", Kind.EMBED, "m", 1, (1,), 0.0, False)
    for call in (jobs.listed(computer.connection_id), jobs.remove(computer.connection_id, gone)):
        with pytest.raises(UsageError, match="no collecting room"):
            await call
    with pytest.raises(UsageError, match="no collecting room"):
        await jobs.take_over(computer.connection_id, gone)
    assert computer.program.ledger.jobs() == ()


async def test_neither_does_the_practice_service(computer: Computer) -> None:
    with pytest.raises(UsageError, match="not a Worker"):
        await computer.program.account_jobs.listed(PRACTICE.id)
