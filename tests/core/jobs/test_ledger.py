"""The ledger stores jobs, admits one writer, refuses damaged files, and keeps what was accepted on a full disk."""

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from cfbatch_gui.core.errors import DiskFull, LedgerDamaged, UsageError
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.states import Attempt, Batch, BatchState, Job, JobOptions
from cfbatch_gui.core.jobs.store.ledger import RESERVE_BYTES, Ledger
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.system.paths import Paths
from tests.support.disks import fill_up, free_up, small_disk
from tests.support.sentences import refuses


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    made = Paths(tmp_path)
    made.create()
    return made


def a_job(job_id: str = "abcd2345", name: str = "Ünïcode “job” 日本", created_at: float = 1.0) -> Job:
    return Job(job_id, name, Kind.EMBED, "@cf/baai/bge-m3", "practice", created_at, options=JobOptions(pooling="cls"))


OTHER = {str: "Ünïcode\n“", int: 2**40, float: 0.1 + 0.2, bool: True}


def other_values(kind: type[Any]) -> dict[str, Any]:
    """Another value than the default for each field that has a plain one."""
    return {each.name: OTHER[type(each.default)] for each in fields(kind) if type(each.default) in OTHER}


def a_ledger(paths: Paths) -> Ledger:
    """With a job of one batch that is at the service."""
    job = replace(a_job(), **{**other_values(Job), "deleted_at": 0.0}, tags=("a", "ü"))
    batch = Batch(job.id, 1, BatchState.QUEUED, 3, 30, 999, earlier=(Attempt(1.0, 2, 3), Attempt(0.1 + 0.2, 2)))
    batch = replace(batch, **other_values(Batch))
    batch = replace(batch, attempt="an attempt", request_id="a request", error=message("n_rows_are_hidden_file", n=3))
    ledger = Ledger.open(paths)
    ledger.put(job, [batch])
    return ledger


def test_everything_is_there_after_a_restart(paths: Paths) -> None:
    with closing(a_ledger(paths)) as ledger:
        saved = ledger.jobs()
    for opened in (Ledger.open, Ledger.open_read_only):
        with closing(opened(paths)) as again:
            assert again.jobs() == saved and again.jobs()[0].batches[0].state is BatchState.QUEUED


def test_several_jobs_change_together_or_not_at_all(paths: Paths) -> None:
    ledger = Ledger.open(paths)
    batch = Batch("abcd2345", 1, BatchState.QUEUED, 3, 30, 999, request_id="r-1")
    ledger.put(a_job(), [batch])
    ledger.put(a_job("efgh2345", "other"))
    with pytest.raises(UsageError):
        ledger.change_all(["abcd2345", "no such"], lambda job: replace(job, tags=("a",)))
    assert all(job.tags == () for job in ledger.jobs())
    changed = ledger.change_all(["abcd2345", "efgh2345"], lambda job: replace(job, tags=("a", "b")))
    assert changed[0].batches == (batch,)
    ledger.close()
    again = Ledger.open(paths)
    assert {job.id: job.tags for job in again.jobs()} == {"abcd2345": ("a", "b"), "efgh2345": ("a", "b")}
    assert again.job("abcd2345").batches == (batch,)
    again.close()


@pytest.mark.parametrize(
    "damage",
    [
        "DELETE FROM jobs",
        "PRAGMA application_id = 3",
        "PRAGMA user_version = 0",
        "DELETE FROM data_folder",
        "UPDATE jobs SET reused = 0; DELETE FROM batches",
        "UPDATE batches SET state = 'sold'",
        "UPDATE jobs SET options = '{'",
        "UPDATE jobs SET rows_in = 'many'",
    ],
)
def test_damage_is_noticed(paths: Paths, damage: str) -> None:
    a_ledger(paths).close()
    with closing(sqlite3.connect(paths.ledger)) as database, database:
        database.executescript(damage)
    with pytest.raises(LedgerDamaged):
        Ledger.open(paths)
    with pytest.raises(LedgerDamaged):
        Ledger.open_read_only(paths)


def test_no_bit_flips_unnoticed_in_what_money_depends_on(paths: Paths) -> None:
    """Neither in the rows nor in the indexes, in which the columns stand behind each other."""
    with closing(a_ledger(paths)) as ledger:
        (job,) = ledger.jobs()
    batch = job.batches[0]
    known = (job.id, job.connection, job.model, batch.state.value, batch.attempt + batch.request_id)
    whole = paths.ledger.read_bytes()
    places = [match for text in known for match in re.finditer(text.encode(), whole)]
    assert len(places) >= 2 * len(known)
    for at in (at for match in places for at in range(*match.span())):
        flipped = bytearray(whole)
        flipped[at] ^= 1 << at % 7
        paths.ledger.write_bytes(flipped)
        with pytest.raises(LedgerDamaged):
            Ledger.open(paths)


def test_jobs_are_found_by_id_name_and_the_beginning_of_an_id(paths: Paths) -> None:
    ledger = Ledger.open(paths)
    ledger.put(a_job("aaaa1111", "first"))
    ledger.put(a_job("aaaa2222", "second", 2.0))
    assert ledger.find("second").id == "aaaa2222"
    assert ledger.find("aaaa1").name == "first"
    with refuses(UsageError, "name_fits_n_jobs_use_id", n=2):
        ledger.find("aaaa")
    with refuses(UsageError, "there_is_no_job_name_cfbatch"):
        ledger.find("zzz")
    assert [job.id for job in ledger.jobs()] == ["aaaa2222", "aaaa1111"]
    ledger.close()


def test_a_ledger_whose_tables_were_not_finished_has_no_jobs(tmp_path: Path) -> None:
    paths = Paths(tmp_path)
    with closing(sqlite3.connect(paths.ledger)) as database:
        database.executescript("CREATE TABLE unfinished(x); DROP TABLE unfinished;")  # a page, and no version
    assert paths.has_ledger()
    assert Ledger.open_read_only(paths).jobs() == ()


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    with small_disk(tmp_path / "disk", 3) as place:
        yield place


def test_an_accepted_batch_is_written_down_on_a_full_disk_and_what_is_not_is_not_shown(disk: Path) -> None:
    paths = Paths(disk / "data")
    paths.create()
    ledger = Ledger.open(paths)
    assert paths.reserve_file.stat().st_size == RESERVE_BYTES
    batch = Batch("job00001", 1, BatchState.SENDING, 1, 1, 10)
    ledger.put(a_job("job00001", "n" * 3_000), [batch])
    fill_up(disk)
    ledger.put(a_job("job00002", "n" * 3_000), [])  # deletes the reserve file
    assert not paths.reserve_file.exists()
    with pytest.raises(DiskFull):
        for number in range(3, 400):
            ledger.put(a_job(f"job{number:05}", "n" * 3_000))
    known = {job.id for job in ledger.jobs()}
    assert {"job00001", "job00002"} <= known
    free_up(disk)
    ledger.put(a_job("job00999", "n" * 3_000))
    ledger.close()
    again = Ledger.open(paths)
    assert {job.id for job in again.jobs()} == known | {"job00999"}
    again.close()
