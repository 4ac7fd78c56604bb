"""What is lost, damaged, older, moved or copied: paid batches are found, and nothing is sent twice or before a word."""

import os
import shutil
import zipfile
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from pathlib import Path

import pytest

from cfbatch_gui.core.errors import UsageError
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.plan.packing import plan
from cfbatch_gui.core.jobs.states import BatchState, Job, JobState
from cfbatch_gui.core.jobs.store.backup import back_up
from cfbatch_gui.core.jobs.store.data_folder import (
    FROM_COPY,
    Doubt,
    FolderAnswer,
    Identity,
    Place,
    read_identity,
    write_identity,
)
from cfbatch_gui.core.jobs.store.ledger import Ledger
from cfbatch_gui.core.jobs.store.recovery import open_or_recover
from cfbatch_gui.core.system.paths import Paths
from tests.bodies import body_of
from tests.core.jobs.conftest import Bench
from tests.core.jobs.test_runner import CLOUDS, scores
from tests.support import faults

Write = Callable[[str, str], Path]


def delete(ledger: Path) -> None:
    ledger.unlink()


def garble(ledger: Path) -> None:
    ledger.write_bytes(b"\0garbage\xff" * 2_000)


def flip(ledger: Path) -> None:
    data = bytearray(ledger.read_bytes())
    data[data.index(b"cloudflare") + 3] ^= 0x10
    ledger.write_bytes(data)


@pytest.mark.parametrize("harm", [delete, garble, flip])
async def test_a_job_on_its_way_is_collected_after_the_ledger_was_lost(
    bench: Bench, write: Write, harm: Callable[[Path], None]
) -> None:
    job = bench.draft(write("clouds.csv", CLOUDS), Kind.RANK)
    await bench.actions.send(job.id)
    while bench.store.job(job.id).batches[0].state is not BatchState.QUEUED:
        await bench.clock.sleep(0)
    request_id = bench.store.job(job.id).batches[0].request_id
    await bench.stop()
    harm(bench.paths.ledger)
    bench.start()
    assert [(each.id, each.batches[0].request_id) for each in bench.opened.recovered] == [(job.id, request_id)]
    assert bench.ledger.job(job.id).state is JobState.PAUSED
    await bench.runner.carry_on(job.id)
    assert (await bench.runner.wait(job.id)).state is JobState.DONE
    assert len(bench.faulty.submits) == 1
    assert scores(bench, job.id)[0][0] == "This is a story about an orange cloud"


async def test_what_was_damaged_is_kept_beside(bench: Bench, write: Write) -> None:
    bench.draft(write("clouds.csv", CLOUDS), Kind.RANK)
    await bench.stop()
    garble(bench.paths.ledger)
    before = bench.paths.ledger.read_bytes()
    bench.start()
    (aside,) = bench.paths.root.glob("ledger.db.damaged-*")
    assert aside.read_bytes() == before


async def test_a_batch_that_may_have_left_is_not_sent_again(bench: Bench, write: Write) -> None:
    bench.faulty.follow(faults.reset_after_body(billed=True))
    job = await bench.run(bench.draft(write("clouds.csv", CLOUDS), Kind.RANK))
    await bench.stop()
    bench.paths.ledger.unlink()
    bench.start()
    await bench.runner.carry_on(job.id)
    assert (await bench.runner.wait(job.id)).batches[0].state is BatchState.OUTCOME_UNKNOWN
    assert len(bench.faulty.submits) == 1


async def test_a_job_of_earlier_results_alone_is_finished_after_the_ledger_was_lost(bench: Bench, write: Write) -> None:
    path = write("clouds.csv", CLOUDS)
    await bench.run(bench.draft(path, Kind.RANK))
    job = await bench.run(bench.draft(path, Kind.RANK, reuse=True))
    assert job.batches == () and job.finished_at
    await bench.stop()
    bench.paths.ledger.unlink()
    bench.start()
    found = bench.ledger.job(job.id)
    assert (found.state, found.paused_because, found.finished_at) == (JobState.DONE, "", job.finished_at)


async def test_drafts_come_back_as_drafts(bench: Bench, write: Write) -> None:
    job = bench.draft(write("clouds.csv", CLOUDS), Kind.RANK)
    await bench.stop()
    bench.paths.ledger.unlink()
    bench.start()
    assert [each.state for each in bench.opened.recovered] == [JobState.DRAFT]
    assert (await bench.run(bench.ledger.job(job.id))).state is JobState.DONE


async def queued(bench: Bench, job: Job) -> Job:
    """Wait until every batch is at the service."""
    while not all(batch.state.is_at_service for batch in bench.store.job(job.id).batches):
        await bench.clock.sleep(0)
    return bench.store.job(job.id)


async def test_answers_in_the_folder_are_enough_when_ledger_and_ids_are_lost(bench: Bench, write: Write) -> None:
    job = await bench.run(bench.draft(write("clouds.csv", CLOUDS), Kind.RANK))
    asked = len(bench.faulty.arrivals)
    await bench.stop()
    bench.paths.ledger.unlink()
    bench.paths.submissions.unlink()
    bench.start()
    await bench.runner.carry_on(job.id)
    assert (await bench.runner.wait(job.id)).state is JobState.DONE
    assert len(bench.faulty.arrivals) == asked


async def test_a_copy_of_a_finished_jobs_folder_is_not_sent(bench: Bench, write: Write) -> None:
    job = await bench.run(bench.draft(write("clouds.csv", CLOUDS), Kind.RANK))
    await bench.stop()
    shutil.copytree(bench.paths.job(job.id), bench.paths.job("copied"))
    bench.start()
    await bench.runner.carry_on("copied")
    assert (await bench.runner.wait("copied")).state is JobState.DONE
    assert len(bench.faulty.submits) == 1
    await bench.stop()
    bench.start()  # reads the state from the disk
    assert bench.ledger.job(job.id).batches == job.batches
    assert bench.ledger.job("copied").batches_done == 1


async def test_what_was_sent_again_is_collected_after_the_ledger_was_lost(bench: Bench, write: Write) -> None:
    rows = "".join(f"query {n},context {n} {c}\n" for n in range(4) for c in range(2))
    bench.faulty.follow(faults.fail_requests(on="poll", times=0, requests=(1, 3)))
    job = await bench.run(bench.draft(write("four.csv", "question,answer\n" + rows), Kind.RANK))
    bench.faulty.follow()
    await bench.actions.send_failed_again(job.id)
    while not bench.store.job(job.id).batches[1].state.is_at_service:
        await bench.clock.sleep(0)
    await bench.stop()
    bench.paths.ledger.unlink()
    bench.start()
    await bench.runner.carry_on(job.id)
    assert (await bench.runner.wait(job.id)).state is JobState.DONE
    assert len(bench.faulty.submits) == 2
    assert all(score is not None for _, score in scores(bench, job.id))


async def test_the_answer_to_an_earlier_attempt_does_not_end_the_later_one(bench: Bench, write: Write) -> None:
    bench.faulty.follow(faults.mutate(on="poll", times=0, how="element_repeated"))
    job = await bench.run(bench.draft(write("clouds.csv", CLOUDS), Kind.RANK))
    assert job.batches[0].state is BatchState.FAILED
    bench.faulty.follow()
    await bench.actions.send_again(job.id, 1)
    await queued(bench, job)
    await bench.stop()
    bench.paths.ledger.unlink()
    bench.start()
    await bench.runner.carry_on(job.id)
    assert (await bench.runner.wait(job.id)).state is JobState.DONE
    assert len(bench.faulty.submits) == 2


async def test_a_start_that_is_cut_short_leaves_no_attempt_to_be_taken_for_a_later_one(
    bench: Bench, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.faulty.follow(faults.reset_after_body(on="submit"))
    job = await bench.run(bench.draft(write("clouds.csv", CLOUDS), Kind.RANK))
    await bench.actions.send_again(job.id, 1)
    job = await bench.runner.wait(job.id)
    await bench.stop()
    bench.paths.ledger.unlink()
    with monkeypatch.context() as cut, suppress(AttributeError):
        cut.delattr(Ledger, "learn_attempts")
        open_or_recover(bench.paths)
    bench.start()
    await bench.runner.carry_on(job.id)
    assert (await bench.runner.wait(job.id)).state is JobState.DONE
    assert len(bench.faulty.submits) == 2


async def test_an_older_ledger_does_not_send_what_was_accepted_since(bench: Bench, write: Write) -> None:
    job = bench.draft(write("clouds.csv", CLOUDS), Kind.RANK)
    bench.faulty.follow(faults.refuse(on="submit"))
    await bench.run(job)
    await bench.stop()
    older = bench.paths.ledger.read_bytes()  # in this copy the batch has not been sent
    bench.start()
    bench.faulty.follow()
    await bench.runner.carry_on(job.id)
    known = await queued(bench, job)
    await bench.stop()
    bench.paths.ledger.write_bytes(older)
    bench.start()
    await bench.runner.resume_all()
    await bench.runner.carry_on(job.id)
    done = await bench.runner.wait(job.id)
    assert done.state is JobState.DONE and done.batches[0].request_id == known.batches[0].request_id
    assert len(bench.faulty.submits) == 1


async def test_an_older_ledger_knows_a_draft_where_a_job_was_sent(bench: Bench, write: Write) -> None:
    job = bench.draft(write("clouds.csv", CLOUDS), Kind.RANK)
    await bench.stop()
    older = bench.paths.ledger.read_bytes()
    bench.start()
    await bench.actions.send(job.id)
    await queued(bench, job)
    await bench.stop()
    bench.paths.ledger.write_bytes(older)
    bench.start()
    assert bench.ledger.job(job.id).state is JobState.PAUSED
    await bench.runner.carry_on(job.id)
    assert (await bench.runner.wait(job.id)).state is JobState.DONE
    assert len(bench.faulty.submits) == 1


async def test_a_batch_that_is_sent_again_on_the_users_word_still_leaves(bench: Bench, write: Write) -> None:
    job = await bench.run(bench.draft(write("clouds.csv", CLOUDS), Kind.RANK))
    bench.faulty.follow(faults.mutate(on="poll", times=0, how="element_repeated"))
    again = await bench.run(bench.draft(write("again.csv", CLOUDS), Kind.RANK, reuse=False))
    assert (job.state, again.state) == (JobState.DONE, JobState.FAILED)
    await bench.actions.send_again(again.id, 1)
    await bench.stop()
    bench.faulty.follow()
    bench.start()
    await bench.runner.resume_all()
    assert (await bench.runner.wait(again.id)).state is JobState.DONE


async def test_a_backup_sends_nothing_by_itself(bench: Bench, write: Write, tmp_path: Path) -> None:
    job = bench.draft(write("clouds.csv", CLOUDS), Kind.RANK)
    bench.faulty.follow(faults.refuse(on="submit"))
    await bench.run(job)
    back_up(bench.paths, tmp_path / "backup.zip")
    bench.faulty.follow()
    await bench.runner.carry_on(job.id)
    assert (await bench.runner.wait(job.id)).state is JobState.DONE
    await bench.stop()
    shutil.rmtree(bench.paths.root)
    with zipfile.ZipFile(tmp_path / "backup.zip") as archive:
        archive.extractall(bench.paths.root)
    bench.start()
    await bench.runner.resume_all()
    restored = await bench.runner.wait(job.id)
    assert restored.state is JobState.PAUSED and "backup" in restored.paused_because
    assert len(bench.faulty.submits) == 1


async def test_a_job_is_sent_from_a_backup_as_it_would_have_been(bench: Bench, write: Write, tmp_path: Path) -> None:
    texts = "\n".join(f"text {number} with “quotes” and a \\ in it" for number in range(150))
    job = bench.draft(write("texts.txt", texts), Kind.EMBED)
    folder = bench.store.folder(job.id)
    plan(folder, job)
    body = body_of(folder, job, 1)
    back_up(bench.paths, tmp_path / "backup.zip")
    await bench.stop()
    shutil.rmtree(bench.paths.root)
    with zipfile.ZipFile(tmp_path / "backup.zip") as archive:
        archive.extractall(bench.paths.root)
    bench.start()
    assert body_of(folder, job, 1) == body
    assert (await bench.run(bench.ledger.job(job.id))).state is JobState.DONE
    assert bench.accepted_bodies() == [body]


async def test_a_paid_batch_is_collected_from_a_backup(bench: Bench, write: Write, tmp_path: Path) -> None:
    job = bench.draft(write("clouds.csv", CLOUDS), Kind.RANK)
    await bench.actions.send(job.id)
    await queued(bench, job)
    await bench.stop()
    back_up(bench.paths, tmp_path / "backup.zip")
    shutil.rmtree(bench.paths.root)
    with zipfile.ZipFile(tmp_path / "backup.zip") as archive:
        archive.extractall(bench.paths.root)
    bench.start()
    await bench.runner.resume_all()
    assert (await bench.runner.wait(job.id)).state is JobState.DONE
    assert len(bench.faulty.submits) == 1


DAY = 86_400.0


@pytest.fixture
async def waiting(bench: Bench, write: Write) -> AsyncIterator[Job]:
    """A job with a batch that could not be sent; the service can be reached again, and the program is stopped."""
    bench.faulty.follow(faults.refuse(on="submit", times=0))
    job = await bench.run(bench.draft(write("clouds.csv", CLOUDS), Kind.RANK))
    assert job.batches[0].state is BatchState.PLANNED and not bench.accepted_bodies()
    bench.faulty.follow()
    await bench.stop()
    yield job


def use(bench: Bench, root: Path, state: Path | None = None) -> None:
    """Start the program with another data folder; `state` for another home."""
    bench.paths = Paths(root, state or bench.paths.state)
    bench.start()


async def carried_on(bench: Bench, job: Job) -> Job:
    """Carry on, and wait for the job's end."""
    await bench.runner.carry_on(job.id)
    return await bench.runner.wait(job.id)


async def test_a_folder_that_stays_where_it_is_is_never_asked_about(bench: Bench, waiting: Job) -> None:
    for _ in range(3):
        bench.start()
        assert bench.opened.doubt is None
        await bench.stop()
    bench.start()
    assert (await carried_on(bench, waiting)).state is JobState.DONE


async def test_a_moved_folder_goes_on_once_the_user_has_said_so(bench: Bench, waiting: Job) -> None:
    root = bench.paths.root.rename(bench.paths.root.with_name("moved"))
    use(bench, root)
    assert bench.opened.doubt is Doubt.PLACE
    await carried_on(bench, waiting)
    assert not bench.accepted_bodies()  # held back, also when the user carries on
    with pytest.raises(UsageError, match="copied or restored"):
        await bench.actions.send(waiting.id)
    assert await bench.settle_doubt(FolderAnswer.MOVED) == ()
    assert (await bench.runner.wait(waiting.id)).state is JobState.DONE
    await bench.restart()
    assert bench.opened.doubt is None
    assert len(bench.accepted_bodies()) == 1


async def test_a_copied_folder_sends_only_what_the_user_names(bench: Bench, waiting: Job, tmp_path: Path) -> None:
    shutil.copytree(bench.paths.root, tmp_path / "copy")
    bench.start()
    assert bench.opened.doubt is None  # the original is where it was
    assert (await carried_on(bench, waiting)).state is JobState.DONE
    await bench.stop()
    use(bench, tmp_path / "copy", tmp_path / "another home")
    assert bench.opened.doubt is Doubt.PLACE
    (paused,) = await bench.settle_doubt(FolderAnswer.COPIED)
    assert paused.paused_because == FROM_COPY and paused.id == waiting.id
    await bench.restart()
    assert bench.opened.doubt is None  # asked once
    await bench.runner.resume_all()
    assert (await bench.runner.wait(waiting.id)).state is JobState.PAUSED
    assert len(bench.accepted_bodies()) == 1


async def test_a_copy_in_the_same_home_learns_what_left_from_the_original(
    bench: Bench, waiting: Job, tmp_path: Path
) -> None:
    shutil.copytree(bench.paths.root, tmp_path / "copy")
    bench.start()
    done = await carried_on(bench, waiting)
    await bench.stop()
    use(bench, tmp_path / "copy")
    assert bench.ledger.batch(waiting.id, 1).request_id == done.batches[0].request_id
    assert (await carried_on(bench, waiting)).state is JobState.DONE
    assert len(bench.accepted_bodies()) == 1


async def test_without_an_answer_it_is_asked_again(bench: Bench, waiting: Job, tmp_path: Path) -> None:
    shutil.copytree(bench.paths.root, tmp_path / "copy")
    for _ in range(2):
        use(bench, tmp_path / "copy")
        assert bench.opened.doubt is Doubt.PLACE
        await carried_on(bench, waiting)
        await bench.stop()
    assert not bench.accepted_bodies()
    bench.start()


async def test_a_whole_folder_that_is_put_back_knows_what_was_sent_since(
    bench: Bench, waiting: Job, tmp_path: Path
) -> None:
    shutil.copytree(bench.paths.root, tmp_path / "backup")
    bench.start()
    done = await carried_on(bench, waiting)
    await bench.stop()
    shutil.rmtree(bench.paths.root)
    shutil.copytree(tmp_path / "backup", bench.paths.root)
    bench.start()
    learned = bench.ledger.batch(waiting.id, 1)
    assert (learned.state, learned.request_id) == (BatchState.QUEUED, done.batches[0].request_id)
    await bench.runner.resume_all()
    assert (await carried_on(bench, waiting)).state is JobState.DONE
    assert len(bench.accepted_bodies()) == 1


async def test_a_folder_put_back_without_what_is_kept_elsewhere_asks(
    bench: Bench, waiting: Job, tmp_path: Path
) -> None:
    shutil.copytree(bench.paths.root, tmp_path / "backup")
    assert bench.paths.state is not None
    bench.start()
    await carried_on(bench, waiting)
    await bench.stop()
    (lines,) = bench.paths.state.glob("*.jsonl")
    lines.unlink()
    shutil.rmtree(bench.paths.root)
    shutil.copytree(tmp_path / "backup", bench.paths.root)
    bench.start()
    assert bench.opened.doubt is Doubt.OLDER
    await carried_on(bench, waiting)
    assert len(bench.accepted_bodies()) == 1


@pytest.mark.parametrize("days", [-2.0, 2.0])
async def test_an_older_ledger_does_not_send_what_left_since_whatever_the_clock_says(
    bench: Bench, waiting: Job, days: float
) -> None:
    older = bench.paths.ledger.read_bytes()
    bench.clock.set_by = days * DAY
    bench.start()
    bench.faulty.follow(faults.reset_after_body(on="submit", billed=True))
    unknown = await carried_on(bench, waiting)
    assert unknown.batches[0].state is BatchState.OUTCOME_UNKNOWN
    await bench.stop()
    bench.paths.ledger.write_bytes(older)
    bench.start()
    assert bench.ledger.batch(waiting.id, 1).state is BatchState.OUTCOME_UNKNOWN
    await carried_on(bench, waiting)
    assert len(bench.accepted_bodies()) == 1


async def test_what_is_at_the_service_is_collected_while_the_question_is_open(
    bench: Bench, write: Write, waiting: Job, tmp_path: Path
) -> None:
    bench.start()
    other = bench.draft(write("other.csv", CLOUDS), Kind.RANK)
    await bench.actions.send(other.id)
    while not bench.store.job(other.id).batches[0].state.is_at_service:
        await bench.clock.sleep(0)
    await bench.stop()
    use(bench, bench.paths.root.rename(tmp_path / "moved"))
    assert bench.opened.doubt is Doubt.PLACE
    await bench.runner.resume_all()
    assert (await bench.runner.wait(other.id)).state is JobState.DONE
    assert bench.ledger.batch(waiting.id, 1).state is BatchState.PLANNED


async def test_a_folder_in_which_nothing_waits_is_not_asked_about(bench: Bench, write: Write, tmp_path: Path) -> None:
    job = await bench.run(bench.draft(write("clouds.csv", CLOUDS), Kind.RANK))
    await bench.stop()
    before = read_identity(bench.paths.identity)
    use(bench, bench.paths.root.rename(tmp_path / "moved"))
    after = read_identity(bench.paths.identity)
    assert bench.opened.doubt is None and bench.ledger.job(job.id).state is JobState.DONE
    assert before is not None and after is not None and before.id != after.id  # either may be the copy


async def test_the_ledger_of_another_folder_is_noticed(bench: Bench, waiting: Job, tmp_path: Path) -> None:
    identity = read_identity(bench.paths.identity)
    assert identity is not None
    write_identity(bench.paths.identity, Identity("another", identity.place, identity.generation))
    bench.start()
    assert bench.opened.doubt is Doubt.FOREIGN


async def test_another_computer_with_the_same_path_is_noticed(bench: Bench, waiting: Job) -> None:
    identity = read_identity(bench.paths.identity)
    assert identity is not None
    write_identity(bench.paths.identity, Identity(identity.id, Place(identity.place.path, "other"), 1))
    bench.start()
    assert bench.opened.doubt is Doubt.PLACE


@pytest.mark.skipif(os.geteuid() == 0 if hasattr(os, "geteuid") else True, reason="root writes everywhere")
async def test_a_home_that_cannot_be_written_is_no_obstacle(bench: Bench, waiting: Job) -> None:
    assert bench.paths.state is not None
    shutil.rmtree(bench.paths.state)
    bench.paths.state.parent.chmod(0o500)
    try:
        bench.start()
        assert bench.opened.doubt is None
    finally:
        bench.paths.state.parent.chmod(0o700)
