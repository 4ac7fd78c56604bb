"""Only failed requests are sent again, and a backup holds all files."""

import json
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from cfbatch_gui.core.errors import UsageError
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.jobs.plan.packing import repack_failed
from cfbatch_gui.core.jobs.states import JobState
from cfbatch_gui.core.jobs.store.backup import back_up
from cfbatch_gui.core.workers_ai.catalogue import find_model
from tests.bodies import body_of
from tests.canary import TOKEN
from tests.core.jobs.conftest import Bench
from tests.core.jobs.test_runner import CLOUDS, scores
from tests.support import faults

Write = Callable[[str, str], Path]


async def test_only_the_refused_requests_are_sent_again(bench: Bench, write: Write) -> None:
    rows = "".join(f"query {n},context {n} {c}\n" for n in range(4) for c in range(2))
    bench.faulty.follow(faults.fail_requests(on="poll", times=0, requests=(1, 3)))
    job = await bench.run(bench.draft(write("four.csv", "question,answer\n" + rows), Kind.RANK))
    assert job.state is JobState.PARTLY_DONE and job.batches[0].failed_requests == 2
    bench.faulty.follow()
    await bench.actions.send_failed_again(job.id)
    done = await bench.runner.wait(job.id)
    assert done.state is JobState.DONE and len(done.batches) == 2
    again = json.loads(bench.accepted_bodies()[1])["requests"]
    assert [request["query"] for request in again] == ["query 1", "query 3"]
    assert all(score is not None for _, score in scores(bench, job.id))


async def test_refused_requests_of_many_batches_keep_to_the_limits_of_one(bench: Bench, write: Write) -> None:
    rows = "".join(f"query {n},context {n} {c}\n" for n in range(8) for c in range(2))
    bench.faulty.follow(faults.fail_requests(on="poll", times=0, requests=tuple(range(1, 8))))
    job = await bench.run(bench.draft(write("eight.csv", "question,answer\n" + rows), Kind.RANK))
    folder = JobFolder(bench.paths.job(job.id))
    small = replace(find_model(job.model), body_bytes=400)
    packed = repack_failed(folder, job, small)
    assert len(packed) > 2 and [each.number for each in packed] == list(range(2, 2 + len(packed)))
    assert (sum(each.requests for each in packed), sum(each.texts for each in packed)) == (7, 14)
    bodies = [body_of(folder, job, each.number) for each in packed]
    assert [len(body) for body in bodies] == [each.bytes for each in packed] and max(map(len, bodies)) <= 400
    assert [request["query"] for body in bodies for request in json.loads(body)["requests"]] == [
        f"query {n}" for n in range(1, 8)
    ]
    (again,) = repack_failed(folder, job)  # the ledger has no record of these batches, so the requests are packed again
    assert (again.number, again.requests) == (2, 7)


async def test_a_refused_batch_is_sent_again_as_it_was(bench: Bench, write: Write) -> None:
    bench.faulty.follow(faults.refusal(code=5006, message="AiError: bad input"))
    job = await bench.run(bench.draft(write("clouds.csv", CLOUDS), Kind.RANK))
    assert job.state is JobState.FAILED
    await bench.actions.send_failed_again(job.id)
    assert (await bench.runner.wait(job.id)).state is JobState.DONE
    refused, accepted = bench.faulty.submits
    assert refused.sha256 == accepted.sha256


async def test_nothing_failed_is_said(bench: Bench, write: Write) -> None:
    job = await bench.run(bench.draft(write("clouds.csv", CLOUDS), Kind.RANK))
    with pytest.raises(UsageError, match="Nothing of this job failed"):
        await bench.actions.send_failed_again(job.id)


async def test_a_backup_can_be_unpacked_and_opened(bench: Bench, write: Write, tmp_path: Path) -> None:
    job = await bench.run(bench.draft(write("clouds.csv", CLOUDS), Kind.RANK))
    count = back_up(bench.paths, tmp_path / "backup.zip")
    await bench.stop()
    with zipfile.ZipFile(tmp_path / "backup.zip") as archive:
        assert len(archive.namelist()) == count and archive.testzip() is None
        assert not any(TOKEN.encode() in archive.read(name) for name in archive.namelist())
        for old in (bench.paths.ledger, bench.paths.submissions):
            old.unlink()
        archive.extractall(bench.paths.root)
    bench.start()
    assert bench.ledger.job(job.id).state is JobState.DONE
    assert scores(bench, job.id)[0][0] == "This is a story about an orange cloud"
