"""A job that was taken over without its file has names in place of its texts: they are taken for no texts."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import pytest

from cfbatch_gui.core.errors import UsageError
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.as_code import save_bodies
from cfbatch_gui.core.jobs.states import Job, JobState
from cfbatch_gui.core.jobs.verify.verifying import verify_job
from tests.core.account.conftest import Computer
from tests.core.account.test_taking_over import listed

NewComputer = Callable[..., Awaitable[Computer]]


@pytest.fixture
async def second(new_computer: NewComputer) -> Computer:
    return await new_computer()


@pytest.fixture
async def taken(new_computer: NewComputer, second: Computer, rankings_file: Path) -> Job:
    first = await new_computer()
    await first.change_connection(keep_days=7)
    job = first.draft(rankings_file, Kind.RANK)
    await first.program.actions.send(job.id)
    assert (await first.program.runner.wait(job.id)).state is JobState.DONE
    await second.program.account_jobs.take_over(second.connection_id, await listed(second, job.id))
    done = await second.program.runner.wait(job.id)
    assert done.state is JobState.DONE and done.has_named_texts
    return done


async def test_its_results_are_found_sound(second: Computer, taken: Job) -> None:
    check = verify_job(second.program.folder(taken.id), taken, mend=False)
    assert check.findings == ()


async def test_its_results_are_taken_for_no_draft_with_texts_like_the_names(
    second: Computer, taken: Job, tmp_path: Path
) -> None:
    path = tmp_path / "like-names.csv"
    path.write_text("query,context\nQuery 1,Query 1 · Context 1\n", encoding="utf-8")
    draft = second.draft(path, Kind.RANK)
    second.program.drafts.change(draft.id, options=replace(draft.options, reuse=True))
    assert second.program.drafts.examine(draft.id).reuse is None


async def test_its_texts_are_not_sent_or_shown_as_code(second: Computer, taken: Job, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="are not here, so it cannot be duplicated"):
        second.program.drafts.duplicate(taken.id, "again")
    with pytest.raises(UsageError, match="what was sent is not here"):
        save_bodies(second.program.folder(taken.id), taken, tmp_path)
    assert not list(tmp_path.glob("batch-*.json"))


async def test_a_copy_of_a_job_begins_anew_with_the_account(new_computer: NewComputer, rankings_file: Path) -> None:
    computer = await new_computer()
    job = computer.draft(rankings_file, Kind.RANK)
    await computer.program.actions.send(job.id)
    done = await computer.program.runner.wait(job.id)
    assert done.account_cleared_at > 0
    changes = {"account_problem": "It has stopped.", "taken_over": True}
    await computer.program.store.change(job.id, lambda known: replace(known, **changes))  # type: ignore[arg-type]
    copy = computer.program.drafts.duplicate(job.id, "again")
    assert (copy.account_problem, copy.account_cleared_at, copy.taken_over) == ("", 0.0, False)
