"""After the ledger is deleted or damaged, all jobs and request ids are recovered, and nothing is sent twice."""

from collections.abc import Callable
from pathlib import Path

import pytest

from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.states import BatchState, JobState
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
    place = data.index(b'"connection"')
    data[place + 3] ^= 0x10
    ledger.write_bytes(data)


def cut(ledger: Path) -> None:
    ledger.write_bytes(ledger.read_bytes()[:5_000])


@pytest.mark.parametrize("harm", [delete, garble, flip, cut])
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


async def test_a_finished_job_is_read_again_from_its_own_folder(bench: Bench, write: Write) -> None:
    job = await bench.run(bench.draft(write("clouds.csv", CLOUDS), Kind.RANK))
    asked = len(bench.faulty.arrivals)
    await bench.stop()
    bench.paths.ledger.unlink()
    bench.start()
    await bench.runner.carry_on(job.id)
    assert (await bench.runner.wait(job.id)).state is JobState.DONE
    assert len(bench.faulty.arrivals) == asked


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
