"""A full disk: a small file system of its own, filled to the last byte."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from cfbatch_gui.core.errors import DiskFull
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.states import Batch, BatchState, Job
from cfbatch_gui.core.jobs.store.ledger import RESERVE_BYTES, Ledger
from cfbatch_gui.core.system.paths import Paths
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
