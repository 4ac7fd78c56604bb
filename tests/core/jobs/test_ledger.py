"""The ledger stores jobs, admits one writer, and refuses files that are damaged or of another version."""

import sqlite3
import subprocess
import sys
import zlib
from dataclasses import replace
from pathlib import Path

import pytest

from cfbatch_gui.core.errors import DataError, UsageError
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.states import Batch, BatchState, Job, JobOptions
from cfbatch_gui.core.jobs.store.ledger import Ledger
from cfbatch_gui.core.system.paths import Paths


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    made = Paths(tmp_path)
    made.create()
    return made


def a_job(job_id: str = "abcd2345", name: str = "Ünïcode “job” 日本", created_at: float = 1.0) -> Job:
    return Job(job_id, name, Kind.EMBED, "@cf/baai/bge-m3", "practice", created_at, options=JobOptions(pooling="cls"))


def test_everything_is_there_after_a_restart(paths: Paths) -> None:
    ledger = Ledger.open(paths)
    batch = Batch("abcd2345", 1, BatchState.QUEUED, 3, 30, 999, request_id="r-1", error="because")
    saved = ledger.save_plan(a_job(), [batch])
    ledger.close()
    again = Ledger.open(paths)
    assert again.jobs() == (saved,) and again.batch("abcd2345", 1) == batch
    again.close()


def test_several_jobs_change_together_or_not_at_all(paths: Paths) -> None:
    ledger = Ledger.open(paths)
    batch = Batch("abcd2345", 1, BatchState.QUEUED, 3, 30, 999, request_id="r-1")
    ledger.save_plan(a_job(), [batch])
    ledger.save_job(a_job("efgh2345", "other"))
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


def test_a_second_writer_is_told_and_a_reader_is_let_in(paths: Paths) -> None:
    ledger = Ledger.open(paths)
    ledger.save_job(a_job())
    with pytest.raises(DataError, match="already at work"):
        Ledger.open(paths)
    reader = Ledger.open_read_only(paths)
    assert [job.name for job in reader.jobs()] == ["Ünïcode “job” 日本"]
    reader.close()
    ledger.close()


def test_a_dead_writer_leaves_no_lock(paths: Paths) -> None:
    program = (
        "import os, sys; from pathlib import Path; from cfbatch_gui.core.system.paths import Paths;"
        "from cfbatch_gui.core.jobs.store.ledger import Ledger; Ledger.open(Paths(Path(sys.argv[1]))); os._exit(9)"
    )
    assert subprocess.run([sys.executable, "-c", program, str(paths.root)], check=False).returncode == 9
    Ledger.open(paths).close()


def test_a_ledger_of_another_version_is_refused_unharmed_and_said_to_be_where_it_is(paths: Paths) -> None:
    Ledger.open(paths).close()
    with sqlite3.connect(paths.ledger) as database:
        database.execute("PRAGMA user_version = 99")
        database.execute("UPDATE metadata SET value = 99 WHERE name = 'version'")
    database.close()
    before = paths.ledger.read_bytes()
    with pytest.raises(DataError, match=f"another version of CF Batch.*“{paths.root}”"):
        Ledger.open(paths)
    assert paths.ledger.read_bytes() == before


_LOOSE = "PRIMARY KEY(job_id, number, value)"  # the columns are stored in the same order


def put_in_twice(database: sqlite3.Connection) -> None:
    """Two rows of a batch, each as it was once written, as a page of an older file leaves them."""
    (sql,) = database.execute("SELECT sql FROM sqlite_master WHERE name = 'batches'").fetchone()
    rows = database.execute("SELECT * FROM batches").fetchall()
    database.execute("DROP TABLE batches")
    database.execute(sql.replace("PRIMARY KEY(job_id, number)", _LOOSE))
    rows += [(job_id, number, value + b" ", zlib.crc32(value + b" ")) for job_id, number, value, _ in rows]
    database.executemany("INSERT INTO batches VALUES(?, ?, ?, ?)", rows)
    database.execute("PRAGMA writable_schema = 1")
    database.execute("UPDATE sqlite_master SET sql = ? WHERE name = 'batches'", (sql,))


@pytest.mark.parametrize("damage", ["row", "header", "a row twice"])
def test_damage_is_noticed(paths: Paths, damage: str) -> None:
    ledger = Ledger.open(paths)
    ledger.save_plan(a_job(), [Batch("abcd2345", 1, BatchState.QUEUED, 3, 30, 999, request_id="r-1")])
    ledger.close()
    if damage == "a row twice":
        with sqlite3.connect(paths.ledger) as database:
            put_in_twice(database)
        database.close()
    elif damage == "row":
        with sqlite3.connect(paths.ledger) as database:
            database.execute("UPDATE jobs SET value = replace(value, 'practice', 'practise')")
        database.close()
    else:
        paths.ledger.write_bytes(b"not a database at all" * 400)
    with pytest.raises(DataError, match="damaged"):
        Ledger.open(paths)


def test_jobs_are_found_by_id_name_and_the_beginning_of_an_id(paths: Paths) -> None:
    ledger = Ledger.open(paths)
    ledger.save_job(a_job("aaaa1111", "first"))
    ledger.save_job(a_job("aaaa2222", "second", 2.0))
    assert ledger.find("second").id == "aaaa2222"
    assert ledger.find("aaaa1").name == "first"
    with pytest.raises(UsageError, match="fits 2 jobs"):
        ledger.find("aaaa")
    with pytest.raises(UsageError, match="no job"):
        ledger.find("zzz")
    assert [job.id for job in ledger.jobs()] == ["aaaa2222", "aaaa1111"]
    ledger.close()
