"""A full disk: a small file system of its own, filled to the last byte."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from cfbatch_gui.core.errors import DiskFull
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.plan import packing
from cfbatch_gui.core.jobs.run.collecting import collect
from cfbatch_gui.core.jobs.states import Batch, BatchState, Job
from cfbatch_gui.core.jobs.store.ledger import RESERVE_BYTES, Ledger
from cfbatch_gui.core.system.paths import Paths
from cfbatch_gui.core.workers_ai.answers import Finished, read_answer
from tests.bodies import body_of
from tests.core.jobs.test_packing import filled
from tests.support.disks import fill_up, free_up, small_disk


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    with small_disk(tmp_path / "disk", 3) as place:
        yield place


def a_job(number: int) -> Job:
    return Job(f"job{number:05}", "n" * 3_000, Kind.EMBED, "@cf/baai/bge-m3", "practice", 1.0)


def test_an_accepted_batch_is_written_down_on_a_full_disk_and_what_is_not_is_not_shown(disk: Path) -> None:
    paths = Paths(disk / "data")
    paths.create()
    ledger = Ledger.open(paths)
    assert paths.reserve_file.stat().st_size == RESERVE_BYTES
    batch = Batch("job00001", 1, BatchState.SENDING, 1, 1, 10)
    ledger.put(a_job(1), [batch])
    fill_up(disk)
    ledger.put(a_job(2), [])  # deletes the reserve file
    assert not paths.reserve_file.exists()
    with pytest.raises(DiskFull):
        for number in range(3, 400):
            ledger.put(a_job(number))
    known = {job.id for job in ledger.jobs()}
    assert {"job00001", "job00002"} <= known
    free_up(disk)
    ledger.put(a_job(999))
    ledger.close()
    again = Ledger.open(paths)
    assert {job.id for job in again.jobs()} == known | {"job00999"}
    again.close()


def test_vectors_without_room_are_said_and_the_process_lives(disk: Path) -> None:
    texts = [f"text {number}" for number in range(1_500)]
    folder = filled(disk / "job", [(None, texts)])
    job = replace(a_job(1), kind=Kind.EMBED)
    packing.plan(folder, job)
    answer = answer_to(body_of(folder, job, 1), dimension=1_024)
    with pytest.raises(DiskFull, match="no room for the vectors"):
        collect(folder, Kind.EMBED, 1, answer)
    assert not folder.vectors.exists()
    with folder.open() as database:
        assert database.execute("SELECT DISTINCT state FROM requests").fetchall() == [("waiting",)]


def answer_to(body: bytes, dimension: int) -> Finished:
    """The answer of a service to a batch of texts, with the same vector for each."""
    vector = [0.5, *[0.0] * (dimension - 1)]
    responses = [
        {"id": index, "success": True, "result": {"data": [vector] * len(request["text"])}}
        for index, request in enumerate(json.loads(body)["requests"])
    ]
    answer = read_answer(json.dumps({"responses": responses}).encode())
    assert isinstance(answer, Finished)
    return answer
