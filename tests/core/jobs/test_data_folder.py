"""A data folder that was moved, copied or restored sends nothing before the user has said what happened."""

import os
import shutil
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from cfbatch_gui.core.errors import UsageError
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.states import BatchState, Job, JobState
from cfbatch_gui.core.jobs.store.folder_doubt import FROM_COPY, Doubt, FolderAnswer
from cfbatch_gui.core.jobs.store.submissions import Submission, write_down
from cfbatch_gui.core.system.folder_identity import Identity, Place, read_identity, write_identity
from cfbatch_gui.core.system.paths import Paths
from tests.core.jobs.conftest import Bench
from tests.core.jobs.test_runner import CLOUDS
from tests.support import faults

Write = Callable[[str, str], Path]
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


@pytest.mark.parametrize("days", [0.0, -2.0, 2.0])
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


async def test_a_ledger_of_the_first_version_learns_by_time_once(bench: Bench, waiting: Job) -> None:
    """As its attempts were not kept; the identity of its folder begins with this start."""
    bench.paths.submissions.unlink()
    bench.paths.identity.unlink()
    to_version_1(bench.paths.ledger)
    line = Submission("a1", "r1", "s", bench.clock() + 1, waiting.id, 1, "cloudflare", waiting.model)
    write_down(bench.paths.submissions, line)
    bench.start()
    assert bench.ledger.batch(waiting.id, 1).request_id == "r1"
    assert bench.ledger.has_all_attempts and "a1" in bench.ledger.attempts()


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


def to_version_1(ledger: Path) -> None:
    """Take away what later versions added."""
    import sqlite3
    from contextlib import closing

    with closing(sqlite3.connect(ledger)) as database, database:
        for table in ("attempts", "metadata"):
            database.execute(f"DROP TABLE {table}")
        for column in ("batches", "sum"):
            database.execute(f"ALTER TABLE jobs DROP COLUMN {column}")
        database.execute("PRAGMA user_version = 1")
