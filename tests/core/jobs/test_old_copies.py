"""After parts of the data folder are lost or restored from an older copy, paid batches are found and not sent again."""

import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path

from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.plan.packing import plan
from cfbatch_gui.core.jobs.states import BatchState, Job, JobState
from cfbatch_gui.core.jobs.store.backup import back_up
from tests.bodies import body_of
from tests.core.jobs.conftest import Bench
from tests.core.jobs.test_runner import CLOUDS, scores
from tests.support import faults

Write = Callable[[str, str], Path]


async def queued(bench: Bench, job: Job) -> Job:
    """Wait until every batch is at the service."""
    while not all(batch.state.is_at_service for batch in bench.store.job(job.id).batches):
        await bench.clock.sleep(0)
    return bench.store.job(job.id)


async def test_answers_in_the_folder_are_enough_when_ledger_and_ids_are_lost(bench: Bench, write: Write) -> None:
    job = await bench.run(bench.draft(write("clouds.csv", CLOUDS), Kind.RANK))
    await bench.stop()
    bench.paths.ledger.unlink()
    bench.paths.submissions.unlink()
    bench.start()
    await bench.runner.carry_on(job.id)
    assert (await bench.runner.wait(job.id)).state is JobState.DONE
    assert len(bench.faulty.submits) == 1


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


async def test_a_backup_holds_the_texts_once(bench: Bench, write: Write, tmp_path: Path) -> None:
    texts = "\n".join(f"text {number} with “quotes” and a \\ in it" for number in range(150))
    job = bench.draft(write("texts.txt", texts), Kind.EMBED)
    folder = bench.store.folder(job.id)
    plan(folder, job)
    body = body_of(folder, job, 1)
    assert list(folder.path.glob("texts-*.json"))
    back_up(bench.paths, tmp_path / "backup.zip")
    await bench.stop()
    shutil.rmtree(bench.paths.root)
    with zipfile.ZipFile(tmp_path / "backup.zip") as archive:
        assert not any("texts-" in name for name in archive.namelist())
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
