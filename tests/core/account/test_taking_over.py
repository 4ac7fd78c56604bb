"""Another computer with the same connection takes a job over, and both have the same results."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from cfbatch_gui.core.errors import UsageError
from cfbatch_gui.core.export_metadata import metadata_of
from cfbatch_gui.core.inputs.file_rows import preview
from cfbatch_gui.core.inputs.input_values import AttachedInput, Kind, ReadOptions, Role
from cfbatch_gui.core.inputs.recognise.recogniser import open_source
from cfbatch_gui.core.jobs.account.shards import account_progress
from cfbatch_gui.core.jobs.account.taking_over import AccountJob
from cfbatch_gui.core.jobs.as_code import save_bodies
from cfbatch_gui.core.jobs.states import Job, JobState
from cfbatch_gui.core.jobs.verifying import verify_job
from cfbatch_gui.core.results.exports import export
from tests.core.account.conftest import BGE_M3, Account, Computer, inputs_of

NewComputer = Callable[..., Awaitable[Computer]]


async def handed_over(account: Account, computer: Computer, path: Path, kind: Kind) -> Job:
    """Send a job, wait until the account has all of its batches, and pause it."""
    await computer.change_connection(keep_days=7)
    job = computer.draft(path, kind)
    with account.clock.held():
        await computer.program.actions.send(job.id)
        await computer.until(lambda job: account_progress(job).lid_may_close, job.id)
        return await computer.program.runner.pause(job.id)


async def listed(computer: Computer, job_id: str) -> AccountJob:
    jobs = await computer.program.account_jobs.listed(computer.connection_id)
    return next(job for job in jobs if job.id == job_id)


def exported(computer: Computer, job: Job, path: Path) -> str:
    export(computer.program.folder(job.id), metadata_of(job, "any"), path)
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
    job = await handed_over(account, first, path, kind)
    found = await listed(second, job.id)
    assert (found.title, found.kind, found.batches, found.is_here) == (job.name, kind, len(job.batches), False)
    await second.program.account_jobs.take_over(second.connection_id, found, inputs_of(path, kind))
    theirs = await second.program.runner.wait(job.id)
    assert (theirs.state, theirs.taken_over, theirs.texts, theirs.queries) == (
        JobState.DONE,
        True,
        job.texts,
        job.queries,
    )
    await first.program.runner.carry_on(job.id)
    ours = await first.program.runner.wait(job.id)
    assert ours.state is JobState.DONE
    assert exported(second, theirs, tmp_path / "2.csv") == exported(first, ours, tmp_path / "1.csv")
    assert (await listed(second, job.id)).is_here


async def test_without_its_file_texts_have_names_in_the_order_of_the_file(
    account: Account, new_computer: NewComputer, with_repeats: Path
) -> None:
    first, second = await new_computer(), await new_computer()
    job = await handed_over(account, first, with_repeats, Kind.EMBED)
    await second.program.account_jobs.take_over(second.connection_id, await listed(second, job.id))
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


async def test_another_file_is_refused_and_leaves_nothing(
    account: Account, new_computer: NewComputer, rankings_file: Path
) -> None:
    first, second = await new_computer(), await new_computer()
    job = await handed_over(account, first, rankings_file, Kind.RANK)
    found = await listed(second, job.id)
    text = rankings_file.read_text("utf-8")
    others = {
        "its texts are others": text.replace("answer 3 to 4", "another answer"),
        "its rows are others": "".join(text.splitlines(keepends=True)[:50]),
    }
    for words, content in others.items():
        other = rankings_file.with_name("other.csv")
        other.write_text(content, encoding="utf-8")
        with pytest.raises(UsageError, match=f"This is not the file that was sent.*{words}"):
            await second.program.account_jobs.take_over(second.connection_id, found, inputs_of(other, Kind.RANK))
        assert second.program.ledger.jobs() == ()
        assert not second.program.folder(job.id).path.exists()
    await second.program.account_jobs.take_over(second.connection_id, found, inputs_of(rankings_file, Kind.RANK))
    assert (await second.program.runner.wait(job.id)).state is JobState.DONE


async def test_a_job_is_taken_over_once_and_not_sent_from_there(
    account: Account, new_computer: NewComputer, rankings_file: Path
) -> None:
    first, second = await new_computer(), await new_computer()
    job = await handed_over(account, first, rankings_file, Kind.RANK)
    for computer in (first, second):
        found = await listed(computer, job.id)
        if computer is second:
            await second.program.account_jobs.take_over(second.connection_id, found)
        with pytest.raises(UsageError, match="is on this computer already"):
            await computer.program.account_jobs.take_over(computer.connection_id, found)
    with pytest.raises(UsageError, match="sent by another computer"):
        await second.program.actions.send_again(job.id, 1)


async def test_what_was_removed_is_said_to_be_gone(
    account: Account, new_computer: NewComputer, rankings_file: Path
) -> None:
    first, second = await new_computer(), await new_computer()
    job = await handed_over(account, first, rankings_file, Kind.RANK)
    found = await listed(second, job.id)
    await first.program.account_jobs.remove(first.connection_id, found)
    with pytest.raises(UsageError, match="not in your account any more"):
        await second.program.account_jobs.take_over(second.connection_id, found)
    assert second.program.ledger.jobs() == ()
    await first.program.runner.carry_on(job.id)
    done = await first.program.runner.wait(job.id)
    assert done.state is JobState.DONE  # asked for directly


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


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file whose columns nobody would take for what they are, without a header, and with a template over two."""
    path = tmp_path / "odd.txt"
    path.write_text("".join(f"{n};what {n % 5};part {n};other {n}\n" for n in range(30)), encoding="utf-8")
    return path


async def sent_oddly(computer: Computer, path: Path) -> Job:
    await computer.change_connection(keep_days=7)
    source = open_source(path, ReadOptions(separator=";", has_header=False))
    assert len(preview(source)) == 30
    mapping = inputs_of(path, Kind.RANK).mapping
    roles = (Role.ID, Role.QUERY, Role.CONTEXT, Role.KEEP)
    names = source.columns
    mapping = replace(mapping, roles=roles, template=f"{{{names[2]}}}: {{{names[3]}}}", second_roles=())
    job = computer.program.drafts.create(Kind.RANK, "Odd", BGE_M3, computer.connection_id)
    computer.program.drafts.change(job.id, options=replace(job.options, reuse=False))
    computer.program.drafts.load(job.id, source, mapping)
    await computer.program.actions.send(job.id)
    done = await computer.program.runner.wait(job.id)
    assert done.state is JobState.DONE and done.queries == 5
    return done


async def test_its_columns_are_what_they_were(new_computer: NewComputer, file: Path, tmp_path: Path) -> None:
    first, second = await new_computer(), await new_computer()
    job = await sent_oddly(first, file)
    guessed = inputs_of(file, Kind.RANK)
    await second.program.account_jobs.take_over(second.connection_id, await listed(second, job.id), guessed)
    theirs = await second.program.runner.wait(job.id)
    assert theirs.state is JobState.DONE and not theirs.has_named_texts
    written: list[str] = []
    for computer in (first, second):
        path = tmp_path / f"{len(written)}.csv"
        known = computer.program.ledger.job(job.id)
        export(computer.program.folder(job.id), metadata_of(known, "any"), path)
        written.append(path.read_text("utf-8"))
    assert written[0] == written[1] and "what 3" in written[0]


async def test_one_file_is_not_taken_for_two_or_for_other_columns(
    new_computer: NewComputer, file: Path, tmp_path: Path
) -> None:
    first, second = await new_computer(), await new_computer()
    job = await sent_oddly(first, file)
    found, given = await listed(second, job.id), inputs_of(file, Kind.RANK)
    narrow = tmp_path / "narrow.csv"
    narrow.write_text("query,context\na,b\n", encoding="utf-8")
    for inputs, words in (
        (AttachedInput(given.source, given.mapping, given.source), "it was sent as one file"),
        (inputs_of(narrow, Kind.RANK), "its columns are others"),
    ):
        with pytest.raises(UsageError, match=words):
            await second.program.account_jobs.take_over(second.connection_id, found, inputs)
        assert second.program.ledger.jobs() == ()
