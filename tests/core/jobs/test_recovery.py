"""What is lost, damaged, older, moved or copied: paid batches are found, and nothing is sent twice or before a word."""

import shutil
import zipfile
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from pathlib import Path

import pytest

from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.plan.packing import body_of, plan
from cfbatch_gui.core.jobs.states import BatchState, Job, JobState
from cfbatch_gui.core.jobs.store.data_folder import Identity, back_up, open_or_recover, read_identity, write_identity
from cfbatch_gui.core.jobs.store.ledger import Ledger
from cfbatch_gui.core.system.paths import Paths
from tests.canary import TOKEN
from tests.core.jobs.conftest import CLOUDS, Bench
from tests.support import faults


def flip(ledger: Path) -> None:
    data = bytearray(ledger.read_bytes())
    data[data.index(b"cloudflare") + 3] ^= 0x10
    ledger.write_bytes(data)


async def start_without(bench: Bench, *files: Path) -> None:
    """Start again, with files gone: without any named, with the ledger."""
    await bench.stop()
    for path in files or (bench.paths.ledger,):
        path.unlink()
    bench.start()


async def queued(bench: Bench, job: Job) -> Job:
    """Wait until every batch is at the service."""
    await bench.until(lambda: all(batch.state.is_at_service for batch in bench.store.job(job.id).batches))
    return bench.store.job(job.id)


@pytest.mark.parametrize("harm", [Path.unlink, lambda ledger: ledger.write_bytes(b"\0garbage\xff" * 2_000), flip])
async def test_a_job_on_its_way_is_collected_after_the_ledger_was_lost(
    bench: Bench, harm: Callable[[Path], object]
) -> None:
    job = await bench.sent()
    request_id = (await queued(bench, job)).batches[0].request_id
    await bench.stop()
    harm(bench.paths.ledger)
    damaged = [path.read_bytes() for path in bench.paths.root.glob("ledger.db")]
    bench.start()
    assert [(each.id, each.batches[0].request_id) for each in bench.opened.recovered] == [(job.id, request_id)]
    assert [path.read_bytes() for path in bench.paths.root.glob("ledger.db.damaged-*")] == damaged
    assert bench.ledger.job(job.id).state is JobState.PAUSED and bench.opened.damage
    assert (await bench.ended(bench.runner.carry_on(job.id))).state is JobState.DONE
    assert len(bench.faulty.submits) == 1
    assert bench.scores(job.id)[0][0] == "This is a story about an orange cloud"


@pytest.mark.parametrize("are_lines_lost", [False, True])
async def test_a_batch_that_may_have_left_is_not_sent_again(bench: Bench, are_lines_lost: bool) -> None:
    """By submissions.jsonl, or by what its own folder says."""
    bench.faulty.follow(faults.reset_after_body(billed=True))
    job = await bench.run(bench.clouds())
    if are_lines_lost:
        for path in bench.paths.root.parent.rglob("*.jsonl"):
            path.unlink()
    await start_without(bench)
    assert (await bench.ended(bench.runner.carry_on(job.id))).batches[0].state is BatchState.OUTCOME_UNKNOWN
    assert len(bench.faulty.submits) == 1


@pytest.mark.parametrize("harm", ["the file", "a value in it"])
async def test_a_folder_whose_job_cannot_be_read_is_named(bench: Bench, harm: str) -> None:
    job = bench.clouds()
    folder = bench.store.folder(job.id)
    if harm == "the file":
        folder.data.write_bytes(b"no database" * 1_000)
    else:
        with folder.open() as database:
            database.execute("UPDATE facts SET value = substr(value, 1, 99) || char(0)")
    await start_without(bench)
    assert bench.ledger.jobs() == ()
    assert [str(folder.path) in sentence for sentence in bench.opened.damage] == [True]


async def test_a_job_of_earlier_results_alone_is_finished_after_the_ledger_was_lost(bench: Bench) -> None:
    path = bench.write("clouds.csv", CLOUDS)
    await bench.run(bench.draft(path, Kind.RANK))
    job = await bench.run(bench.draft(path, Kind.RANK, reuse=True))
    assert job.batches == () and job.finished_at
    await start_without(bench)
    found = bench.ledger.job(job.id)
    assert (found.state, found.paused_because, found.finished_at) == (JobState.DONE, "", job.finished_at)


async def test_answers_in_the_folder_are_enough_when_ledger_and_ids_are_lost(bench: Bench) -> None:
    job = await bench.run(bench.clouds())
    asked = len(bench.faulty.arrivals)
    await start_without(bench, bench.paths.ledger, bench.paths.submissions)
    assert (await bench.ended(bench.runner.carry_on(job.id))).state is JobState.DONE
    assert len(bench.faulty.arrivals) == asked


async def test_a_copy_of_a_finished_jobs_folder_is_not_sent(bench: Bench) -> None:
    job = await bench.run(bench.clouds())
    await bench.stop()
    shutil.copytree(bench.paths.job(job.id), bench.paths.job("copied"))
    bench.start()
    assert (await bench.ended(bench.runner.carry_on("copied"))).state is JobState.DONE
    assert len(bench.faulty.submits) == 1
    await bench.restart()  # reads the state from the disk
    assert bench.ledger.job(job.id).batches == job.batches
    assert bench.ledger.job("copied").batches_done == 1


async def test_what_was_sent_again_is_collected_after_the_ledger_was_lost(bench: Bench) -> None:
    job = await bench.partly_done()
    await bench.actions.send_again(job.id)
    await bench.until(lambda: bench.store.job(job.id).batches[1].state.is_at_service)
    await start_without(bench)
    assert (await bench.ended(bench.runner.carry_on(job.id))).state is JobState.DONE
    assert len(bench.faulty.submits) == 2
    assert all(score is not None for _, score in bench.scores(job.id))


@pytest.mark.parametrize("is_ledger_lost", [False, True])
async def test_a_batch_that_is_sent_again_leaves_and_no_earlier_answer_ends_it(
    bench: Bench, is_ledger_lost: bool
) -> None:
    bench.faulty.follow(faults.mutate(on="poll", times=0, how="element_repeated"))
    job = await bench.run(bench.clouds())
    assert job.batches[0].state is BatchState.FAILED
    bench.faulty.follow()
    await bench.actions.send_again(job.id, 1)
    if is_ledger_lost:
        await queued(bench, job)
        await start_without(bench)
        await bench.runner.carry_on(job.id)
    else:
        await bench.restart()
    assert (await bench.runner.wait(job.id)).state is JobState.DONE
    assert len(bench.faulty.submits) == 2


async def test_a_start_that_is_cut_short_leaves_no_attempt_to_be_taken_for_a_later_one(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.faulty.follow(faults.reset_after_body(on="submit"))
    job = await bench.run(bench.clouds())
    job = await bench.ended(bench.actions.send_again(job.id, 1))
    await bench.stop()
    bench.paths.ledger.unlink()
    with monkeypatch.context() as cut, suppress(AttributeError):
        cut.delattr(Ledger, "learn_attempts")
        open_or_recover(bench.paths)
    bench.start()
    assert (await bench.ended(bench.runner.carry_on(job.id))).state is JobState.DONE
    assert len(bench.faulty.submits) == 2


@pytest.mark.parametrize("was_draft", [False, True])
async def test_an_older_ledger_does_not_send_what_was_accepted_since(bench: Bench, was_draft: bool) -> None:
    """In the older one the batch has not been sent, or it knows a draft only."""
    job = bench.clouds()
    bench.faulty.follow(faults.refuse(on="submit"))
    if not was_draft:
        await bench.run(job)
    await bench.stop()
    older = bench.paths.ledger.read_bytes()
    bench.start()
    bench.faulty.follow()
    await (bench.actions.send(job.id) if was_draft else bench.runner.carry_on(job.id))
    known = await queued(bench, job)
    await bench.stop()
    bench.paths.ledger.write_bytes(older)
    bench.start()
    await bench.runner.resume_all()
    done = await bench.ended(bench.runner.carry_on(job.id))
    assert done.state is JobState.DONE and done.batches[0].request_id == known.batches[0].request_id
    assert len(bench.faulty.submits) == 1


async def test_a_backup_has_all_that_was_paid_for_and_sends_nothing_by_itself(bench: Bench, tmp_path: Path) -> None:
    bench.faulty.follow(faults.refuse(on="submit"))
    unsent = await bench.run(bench.clouds())
    bench.faulty.follow()
    paid = bench.draft(bench.write("paid.csv", CLOUDS.replace("orange", "green")), Kind.RANK)
    await bench.actions.send(paid.id)
    await queued(bench, paid)
    draft = bench.draft(
        bench.write("texts.txt", "\n".join(f"text {n} with “quotes” and a \\ in it" for n in range(150))), Kind.EMBED
    )
    folder = bench.store.folder(draft.id)
    body = body_of(folder, draft, plan(folder, draft).batches[0])
    count = back_up(bench.paths, tmp_path / "backup.zip")
    assert (await bench.ended(bench.runner.carry_on(unsent.id))).state is JobState.DONE
    await bench.stop()
    shutil.rmtree(bench.paths.root)
    with zipfile.ZipFile(tmp_path / "backup.zip") as archive:
        assert len(archive.namelist()) == count
        assert not any(TOKEN.encode() in archive.read(name) for name in archive.namelist())
        archive.extractall(bench.paths.root)
    bench.start()
    await bench.runner.resume_all()
    assert (await bench.runner.wait(paid.id)).state is JobState.DONE
    restored = await bench.runner.wait(unsent.id)
    assert restored.state is JobState.PAUSED and "backup" in restored.paused_because
    assert len(bench.accepted_bodies()) == 2
    assert (await bench.run(bench.ledger.job(draft.id))).state is JobState.DONE
    assert bench.accepted_bodies()[2:] == [body]


DAY = 86_400.0


@pytest.fixture
async def waiting(bench: Bench) -> AsyncIterator[Job]:
    """A job with a batch that could not be sent; the service can be reached again, and the program is stopped."""
    bench.faulty.follow(faults.refuse(on="submit", times=0))
    job = await bench.run(bench.clouds())
    assert job.batches[0].state is BatchState.PLANNED and not bench.accepted_bodies()
    bench.faulty.follow()
    await bench.stop()
    yield job


def use(bench: Bench, root: Path) -> None:
    """Start the program with another data folder."""
    bench.paths = Paths(root, bench.paths.state)
    bench.start()


@pytest.mark.parametrize("is_put_back", [False, True])
async def test_a_copy_in_the_same_home_learns_what_left_from_the_original(
    bench: Bench, waiting: Job, tmp_path: Path, is_put_back: bool
) -> None:
    """Beside the original, or in its place."""
    shutil.copytree(bench.paths.root, tmp_path / "copy")
    bench.start()
    done = await bench.ended(bench.runner.carry_on(waiting.id))
    await bench.stop()
    if is_put_back:
        shutil.rmtree(bench.paths.root)
        (tmp_path / "copy").rename(bench.paths.root)
        bench.start()
    else:
        use(bench, tmp_path / "copy")
    learned = bench.ledger.batch(waiting.id, 1)
    assert (learned.state, learned.request_id) == (BatchState.QUEUED, done.batches[0].request_id)
    await bench.runner.resume_all()
    assert (await bench.ended(bench.runner.carry_on(waiting.id))).state is JobState.DONE
    assert len(bench.accepted_bodies()) == 1


async def test_a_folder_put_back_without_what_is_kept_elsewhere_asks(
    bench: Bench, waiting: Job, tmp_path: Path
) -> None:
    shutil.copytree(bench.paths.root, tmp_path / "backup")
    assert bench.paths.state is not None
    bench.start()
    await bench.ended(bench.runner.carry_on(waiting.id))
    await bench.stop()
    (lines,) = bench.paths.state.glob("*.jsonl")
    lines.unlink()
    shutil.rmtree(bench.paths.root)
    (tmp_path / "backup").rename(bench.paths.root)
    bench.start()
    assert bench.opened.is_doubtful
    await bench.ended(bench.runner.carry_on(waiting.id))
    assert len(bench.accepted_bodies()) == 1


@pytest.mark.parametrize("days", [-2.0, 2.0])
async def test_an_older_ledger_does_not_send_what_left_since_whatever_the_clock_says(
    bench: Bench, waiting: Job, days: float
) -> None:
    older = bench.paths.ledger.read_bytes()
    bench.clock.set_by = days * DAY
    bench.start()
    bench.faulty.follow(faults.reset_after_body(on="submit", billed=True))
    unknown = await bench.ended(bench.runner.carry_on(waiting.id))
    assert unknown.batches[0].state is BatchState.OUTCOME_UNKNOWN
    await bench.stop()
    bench.paths.ledger.write_bytes(older)
    bench.start()
    assert bench.ledger.batch(waiting.id, 1).state is BatchState.OUTCOME_UNKNOWN
    await bench.ended(bench.runner.carry_on(waiting.id))
    assert len(bench.accepted_bodies()) == 1


async def test_what_is_at_the_service_is_collected_while_the_question_is_open(
    bench: Bench, waiting: Job, tmp_path: Path
) -> None:
    bench.start()
    other = bench.clouds("other")
    await bench.actions.send(other.id)
    await bench.until(lambda: bench.store.job(other.id).batches[0].state.is_at_service)
    await bench.stop()
    use(bench, bench.paths.root.rename(tmp_path / "moved"))
    assert bench.opened.is_doubtful
    await bench.runner.resume_all()
    assert (await bench.runner.wait(other.id)).state is JobState.DONE
    assert bench.ledger.batch(waiting.id, 1).state is BatchState.PLANNED


async def test_a_folder_in_which_nothing_waits_is_not_asked_about(bench: Bench, tmp_path: Path) -> None:
    job = await bench.run(bench.clouds())
    await bench.stop()
    before = read_identity(bench.paths.identity)
    use(bench, bench.paths.root.rename(tmp_path / "moved"))
    after = read_identity(bench.paths.identity)
    assert not bench.opened.is_doubtful and bench.ledger.job(job.id).state is JobState.DONE
    assert before is not None and after is not None and before.id != after.id  # either may be the copy


@pytest.mark.parametrize(
    "change",
    [
        lambda kept: Identity("another", kept.place, kept.generation),
        lambda kept: Identity(kept.id, "another computer", 1),
    ],
)
async def test_another_folders_ledger_and_another_computer_are_noticed(
    bench: Bench, waiting: Job, change: Callable[[Identity], Identity]
) -> None:
    kept = read_identity(bench.paths.identity)
    assert kept is not None
    write_identity(bench.paths.identity, change(kept))
    bench.start()
    assert bench.opened.is_doubtful
