"""Request bodies packed several at a time are the same as those packed one by one."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from cfbatch_gui.core.errors import DataError
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.jobs.plan import requests
from cfbatch_gui.core.jobs.plan.packing import plan
from cfbatch_gui.core.jobs.run import submitting
from cfbatch_gui.core.jobs.run.job_actions import sent
from cfbatch_gui.core.jobs.run.submitting import Bodies
from cfbatch_gui.core.jobs.states import BatchState, Job, JobState
from tests.bodies import body_of
from tests.core.jobs.conftest import Bench

Write = Callable[[str, str], Path]
TEXTS = "\n".join(f"text number {n}" for n in range(95))


def planned(bench: Bench, write: Write, monkeypatch: pytest.MonkeyPatch) -> tuple[JobFolder, Job]:
    """A planned job of five batches that has not been sent."""
    monkeypatch.setattr(requests, "MAX_TEXTS_PER_BATCH", 20)
    job = bench.draft(write("texts.txt", TEXTS), Kind.EMBED)
    folder = bench.store.folder(job.id)
    return folder, sent(job, plan(folder, job), 0.0)(job)


@pytest.mark.parametrize("room", [0, 3_000, 10_000_000])
async def test_each_is_the_one_that_is_packed_alone(
    bench: Bench, write: Write, monkeypatch: pytest.MonkeyPatch, room: int
) -> None:
    folder, job = planned(bench, write, monkeypatch)
    monkeypatch.setattr(submitting, "TOGETHER_BYTES", room)
    bodies = Bodies()
    taken = [bodies.take(folder, job, batch.number) for batch in job.batches]
    assert taken == [body_of(folder, job, batch.number) for batch in job.batches] and len(taken) == 5
    assert bodies.take(folder, job, 2) == taken[1]  # sent again


async def test_one_that_cannot_be_packed_keeps_only_itself_back(
    bench: Bench, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, job = planned(bench, write, monkeypatch)
    broken = tuple(replace(each, requests=9) if each.number == 3 else each for each in job.batches)
    bodies = Bodies()
    taken = [bodies.take(folder, replace(job, batches=broken), number) for number in (1, 2)]
    assert taken == [body_of(folder, job, number) for number in (1, 2)]
    with pytest.raises(DataError, match="not laid out as they were"):
        bodies.take(folder, replace(job, batches=broken), 3)


async def test_only_what_is_to_leave_is_packed(bench: Bench, write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, job = planned(bench, write, monkeypatch)
    bodies = Bodies()
    states = {2: BatchState.DONE}
    job = replace(job, batches=tuple(replace(b, state=states.get(b.number, b.state)) for b in job.batches))
    bodies.take(folder, job, 1)
    folder.data.unlink()
    with pytest.raises(DataError):
        bodies.take(folder, job, 3)


async def test_every_text_is_sent_once(bench: Bench, write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requests, "MAX_TEXTS_PER_BATCH", 20)
    job = await bench.run(bench.draft(write("texts.txt", TEXTS), Kind.EMBED))
    assert job.state is JobState.DONE and len(bench.faulty.submits) == 5
    sent = [text for body in bench.accepted_bodies() for each in json.loads(body)["requests"] for text in each["text"]]
    assert sent == TEXTS.splitlines()
