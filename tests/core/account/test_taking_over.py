"""Another computer with the same connection takes a job over, and both have the same results."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from cfbatch_gui.core.errors import UsageError
from cfbatch_gui.core.export_metadata import metadata_of
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.as_code import save_bodies
from cfbatch_gui.core.jobs.elsewhere import AccountJob
from cfbatch_gui.core.jobs.states import Job, JobState
from cfbatch_gui.core.jobs.verifying import verify_job
from cfbatch_gui.core.results.exports import export
from tests.core.account.conftest import Account, Computer, inputs_of

NewComputer = Callable[..., Awaitable[Computer]]


async def listed(computer: Computer, job_id: str) -> AccountJob:
    jobs = await computer.program.elsewhere.listed(computer.connection_id)
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
    job = await first.hand_over(account, path, kind, keep_days=7)
    found = await listed(second, job.id)
    assert (found.title, found.kind, found.batches, found.is_here) == (job.name, kind, len(job.batches), False)
    await second.program.elsewhere.take_over(second.connection_id, found, inputs_of(path, kind))
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


@pytest.mark.parametrize("change", [("answer 3 to 4", "another answer"), ("question 9,answer 0 to 9\n", "")])
async def test_another_file_is_refused_and_leaves_nothing(
    account: Account, new_computer: NewComputer, rankings_file: Path, tmp_path: Path, change: tuple[str, str]
) -> None:
    first, second = await new_computer(), await new_computer()
    job = await first.hand_over(account, rankings_file, Kind.RANK, keep_days=7)
    other = tmp_path / "other.csv"
    other.write_text(rankings_file.read_text("utf-8").replace(*change), encoding="utf-8")
    found, inputs = await listed(second, job.id), inputs_of(other, Kind.RANK)
    with pytest.raises(UsageError, match="This is not the file that was sent"):
        await second.program.elsewhere.take_over(second.connection_id, found, inputs)
    assert second.program.ledger.jobs() == () and not second.program.folder(job.id).path.exists()


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
    like_names.write_text("query,context\nQuery 1,Query 1 · Context 1\n", encoding="utf-8")
    draft = second.draft(like_names, Kind.RANK)
    second.program.drafts.change(draft.id, options=replace(draft.options, reuse=True))
    assert second.program.drafts.examine(draft.id).reuse is None
    with pytest.raises(UsageError, match="are not here, so it cannot be duplicated"):
        second.program.drafts.duplicate(job.id, "again")
    with pytest.raises(UsageError, match="what was sent is not here"):
        save_bodies(folder, taken, tmp_path)
    with pytest.raises(UsageError, match="sent from elsewhere"):
        await second.program.actions.send_again(job.id, 1)
    with pytest.raises(UsageError, match="is on this computer already"):
        await second.program.elsewhere.take_over(second.connection_id, found)
    assert not list(tmp_path.glob("batch-*.json"))
