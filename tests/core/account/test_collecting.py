"""Batches are handed over once; their answers come back from the account, also to another computer of the user."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from cfbatch_gui.core.errors import Unreachable, UsageError
from cfbatch_gui.core.inputs.input_values import AttachedInput, Kind
from cfbatch_gui.core.jobs.account import order_of
from cfbatch_gui.core.jobs.as_code import save_bodies
from cfbatch_gui.core.jobs.elsewhere import AccountJob
from cfbatch_gui.core.jobs.states import Job, JobState, account_progress
from cfbatch_gui.core.jobs.verifying import verify_job
from cfbatch_gui.core.results.exports import export
from cfbatch_gui.core.workers_ai.connection_kinds import PRACTICE
from tests.core.account.conftest import Account, Computer, Scene
from tests.support.faults import Fault
from tests.support.http import Answer, Line
from tests.support.inputs import as_suggested
from tests.support.sentences import refuses

NewComputer = Callable[..., Awaitable[Computer]]


@pytest.mark.parametrize("is_ours", [True, False])
async def test_a_name_that_the_account_knows_is_learned_or_left_to_others(
    account: Account, new_computer: NewComputer, texts_file: Path, is_ours: bool
) -> None:
    """A ledger that was lost and put together again from the folder does not know what was handed over."""
    computer = await new_computer()
    connection = computer.program.address_book.connection(computer.connection_id)
    with account.clock.stopped():
        await computer.change_connection(collects=False)
        job = computer.draft(texts_file, Kind.EMBED)
        await computer.program.actions.send(job.id)
        await computer.until(lambda job: all(batch.request_id for batch in job.batches), job.id)
        job = await computer.program.runner.pause(job.id)
        known = job.batches[1]
        if not is_ours:
            known = replace(known, request_id="00000000-0000-4000-8000-000000000001")
        await computer.collector.hand_over(job.id, 1, order_of(job, [known], connection), b"a layout")
        await computer.program.actions.collect_in_account(job.id)
        await computer.until(lambda job: account_progress(job).lid_may_close, job.id)
    done = await computer.program.runner.wait(job.id)
    assert done.state is JobState.DONE
    assert [batch.shard for batch in done.batches] == [2, 1 if is_ours else 2, 2]


NOBODY_THERE = "http://127.0.0.1:9"


@pytest.mark.parametrize("patience", [None, 2])
async def test_an_account_that_cannot_be_reached_is_said_until_it_can(
    account: Account, new_computer: NewComputer, texts_file: Path, patience: int | None
) -> None:
    computer = await new_computer()
    job = await computer.hand_over(account, texts_file)
    await computer.change_connection(url=NOBODY_THERE)
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

    async def late(line: Line, answer: Answer) -> None:
        seen.set()
        await decided.wait()
        await line.reply(answer)

    scene.passes.follow(Fault("late", on="status", send=late, billed=True))
    with scene.account.clock.stopped():
        scene.computer.program.runner.check_now(job.id)
        await seen.wait()
        await scene.computer.program.actions.collect_here(job.id)
        decided.set()
        before = len(scene.passes.arrivals)
        while [each.kind for each in scene.passes.arrivals[before:]].count("poll") < 3:  # the service is asked for all
            await asyncio.sleep(0.01)
    assert {batch.direct_only for batch in scene.computer.program.ledger.job(job.id).batches} == {True}
    job = await scene.end(job)
    assert (job.state, scene.from_account(job)) == (JobState.DONE, 0)


async def test_a_worker_without_the_room_keeps_no_jobs(new_computer: NewComputer, plain_door: str) -> None:
    computer = await new_computer()
    await computer.change_connection(url=plain_door)
    jobs, gone = computer.program.elsewhere, AccountJob("abcdefgh", "n", Kind.EMBED, "m", 1, (1,), 0.0, False)
    calls = jobs.listed(computer.connection_id), jobs.remove(computer.connection_id, gone)
    for call in (*calls, jobs.take_over(computer.connection_id, gone)):
        with refuses(UsageError, "worker_no_collecting_room_your_account"):
            await call
    with refuses(UsageError, "title_is_not_worker_your_own"):
        await jobs.listed(PRACTICE.id)
    assert computer.program.ledger.jobs() == ()


async def listed(computer: Computer, job_id: str) -> AccountJob:
    jobs = await computer.program.elsewhere.listed(computer.connection_id)
    return next(job for job in jobs if job.id == job_id)


def exported(computer: Computer, job: Job, path: Path) -> str:
    export(computer.program.folder(job.id), job, path)
    return path.read_text("utf-8")


@pytest.fixture
def with_repeats(tmp_path: Path) -> Path:
    """Texts of which some stand there twice, one is empty, and one is too long for the model."""
    path = tmp_path / "repeats.csv"
    rows = [f"{n},text number {n % 40}" for n in range(60)] + ["60,", "61," + "long words " * 30_000, "62,last"]
    path.write_text("id,text\n" + "\n".join(rows) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize("kind", [Kind.RANK, Kind.EMBED])
async def test_with_its_file_the_job_is_the_same_on_both(
    account: Account, new_computer: NewComputer, rankings_file: Path, with_repeats: Path, tmp_path: Path, kind: Kind
) -> None:
    path = rankings_file if kind is Kind.RANK else with_repeats
    first, second = await new_computer(), await new_computer()
    job = await first.hand_over(account, path, kind, keep_days=7)
    found = await listed(second, job.id)
    assert (found.title, found.kind, found.batches, found.is_here) == (job.name, kind, len(job.batches), False)
    await second.program.elsewhere.take_over(second.connection_id, found, AttachedInput(*as_suggested(path, kind)))
    theirs = await second.program.runner.wait(job.id)
    assert theirs.state is JobState.DONE and theirs.taken_over
    assert (theirs.texts, theirs.queries) == (job.texts, job.queries)
    await first.program.runner.carry_on(job.id)
    ours = await first.program.runner.wait(job.id)
    assert ours.state is JobState.DONE
    assert exported(second, theirs, tmp_path / "2.csv") == exported(first, ours, tmp_path / "1.csv")
    assert (await listed(second, job.id)).is_here
    await first.program.runner.account.clear(job.id, at_once=True)
    assert job.id not in [each.id for each in await second.program.elsewhere.listed(second.connection_id)]


async def test_without_its_file_texts_have_names_in_the_order_of_the_file(
    account: Account, new_computer: NewComputer, with_repeats: Path
) -> None:
    first, second = await new_computer(), await new_computer()
    job = await first.hand_over(account, with_repeats, keep_days=7)
    await second.program.elsewhere.take_over(second.connection_id, await listed(second, job.id))
    theirs = await second.program.runner.wait(job.id)
    await first.program.runner.carry_on(job.id)
    ours = await first.program.runner.wait(job.id)
    assert theirs.state is ours.state is JobState.DONE
    with first.program.folder(job.id).open(read_only=True) as database:
        rows = [row[0] for row in database.execute("SELECT item_no FROM items WHERE request_no > 0 ORDER BY item_no")]
    with second.program.folder(job.id).open(read_only=True) as database:
        names = [row[0] for row in database.execute("SELECT text FROM texts ORDER BY text_no")]
    assert names == [f"Text {row}" for row in rows]
    expected = np.load(first.program.folder(job.id).vectors)[np.array(rows) - 1]
    np.testing.assert_array_equal(np.load(second.program.folder(job.id).vectors), expected)


async def test_a_job_that_was_taken_over_is_sound_and_its_texts_are_used_for_nothing(
    account: Account, new_computer: NewComputer, rankings_file: Path, tmp_path: Path
) -> None:
    first, second = await new_computer(), await new_computer()
    job = await first.hand_over(account, rankings_file, Kind.RANK, keep_days=7)
    found = await listed(second, job.id)
    await second.program.elsewhere.take_over(second.connection_id, found)
    taken, folder = await second.program.runner.wait(job.id), second.program.folder(job.id)
    assert taken.state is JobState.DONE and taken.has_named_texts
    assert verify_job(folder, taken, mend=False).findings == ()
    like_names = tmp_path / "like-names.csv"
    like_names.write_text("query,context\nQuery 1,Query 1 · Candidate 1\n", encoding="utf-8")
    draft = second.draft(like_names, Kind.RANK)
    second.program.drafts.change(draft.id, options=replace(draft.options, reuse=True))
    assert second.program.drafts.examine(draft.id).reused == 0
    with refuses(UsageError, "texts_job_are_not_here_cannot"):
        second.program.drafts.duplicate(job.id, "again")
    with refuses(UsageError, "job_was_made_elsewhere_what_was"):
        save_bodies(folder, taken, tmp_path)
    with refuses(UsageError, "job_was_sent_from_elsewhere_is"):
        await second.program.actions.send_again(job.id, 1)
    with refuses(UsageError, "job_name_is_on_computer_already"):
        await second.program.elsewhere.take_over(second.connection_id, found)
    assert not list(tmp_path.glob("batch-*.json"))
