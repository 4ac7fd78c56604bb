"""`cfbatch verify`: what is damaged is named by its rows, not exported, and put right from the answers."""

import json
from pathlib import Path

import numpy as np
import pytest

from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.system.paths import Paths
from tests.cli.conftest import Run

HEADER = 128  # bytes of vectors.npy before its first row


@pytest.fixture
def job(run: Run, tmp_path: Path, paths: Paths) -> JobFolder:
    texts = tmp_path / "texts.csv"
    texts.write_text("id,text\n1,warm\n2,cold\n3,mild\n")
    arguments = ("run", texts, "--embed", "--connection", "practice", "--at-once", "--json")
    status, out, _ = run(*arguments)
    assert status == 0
    return JobFolder(paths.job(json.loads(out)["job"]))


def flip_a_bit(folder: JobFolder, row: int) -> None:
    dimension = np.load(folder.vectors).shape[1]
    content = bytearray(folder.vectors.read_bytes())
    content[HEADER + row * dimension * 4 + 5] ^= 4
    folder.vectors.write_bytes(content)


def test_without_jobs_there_is_nothing_to_check(run: Run) -> None:
    status, out, err = run("verify")
    assert (status, out) == (0, "") and "nothing to check" in err


def test_a_whole_job_is_said_to_be_whole(run: Run, job: JobFolder) -> None:
    status, out, _ = run("verify")
    assert status == 0 and out.endswith(": whole\n")
    status, out, _ = run("verify", job.path.name, "--json")
    (check,) = json.loads(out)["jobs"]
    assert (status, check["whole"], check["findings"]) == (0, True, [])


def test_a_flipped_bit_is_not_exported_and_is_put_right(run: Run, tmp_path: Path, job: JobFolder) -> None:
    right, out_file = job.vectors.read_bytes(), tmp_path / "out.npy"
    flip_a_bit(job, 1)
    status, _, err = run("export", job.path.name, "--out", out_file)
    assert status == 1 and "The results of rows 2 to 4 are damaged on the disk" in err and "verify" in err
    assert not out_file.exists()
    status, out, _ = run("verify", job.path.name, "--json")
    (found,) = json.loads(out)["jobs"][0]["findings"]
    assert (status, found["damage"], found["outcome"], found["rows"]) == (1, "results", "healable", [3])
    status, out, _ = run("verify", job.path.name, "--mend")
    assert status == 0 and "whole again" in out and "row 3" in out
    assert job.vectors.read_bytes() == right
    assert run("export", job.path.name, "--out", out_file)[0] == 0
    assert np.array_equal(np.load(out_file), np.load(job.vectors))


def test_what_is_lost_can_be_sent_again(run: Run, job: JobFolder) -> None:
    right = job.vectors.read_bytes()
    flip_a_bit(job, 2)
    job.reply(1).unlink()
    status, out, _ = run("verify", "--mend")
    assert status == 1 and "rows 2 to 4" in out and f"cfbatch resume {job.path.name} --failed" in out
    status, out, _ = run("resume", job.path.name, "--failed", "--json")
    assert (status, json.loads(out)["state"]) == (0, "done")
    assert job.vectors.read_bytes() == right
    status, out, _ = run("verify")
    assert "The results are whole" in out or status == 0


def test_a_damaged_answer_beside_whole_results_is_said(run: Run, job: JobFolder) -> None:
    job.reply(1).write_bytes(job.reply(1).read_bytes()[:-20])
    status, out, _ = run("verify", "--mend")
    assert status == 1 and "0001.json.gz, is damaged. The results are whole." in out


def test_data_that_cannot_be_read_is_said(run: Run, job: JobFolder) -> None:
    job.data.write_bytes(b"no database" * 1_000)
    status, out, err = run("verify", "--mend")
    assert status == 1 and "data.db" in out
    assert "Traceback" not in err + out
    job.data.unlink()
    assert run("verify")[0] == 1


def without_results(folder: JobFolder) -> None:
    """As `data.db` is put back by a program that had copied it before the answer came."""
    with folder.open() as database:
        database.executescript(
            "UPDATE requests SET state = 'waiting'; UPDATE batches SET results = NULL, reply_crc = NULL;"
            "DELETE FROM facts WHERE name IN ('dimension', 'pooling', 'references_echoed');"
        )


def test_an_export_completes_the_job_from_its_answers_or_says_what_is_missing(
    run: Run, tmp_path: Path, job: JobFolder
) -> None:
    right = np.load(job.vectors)
    without_results(job)
    assert run("export", job.path.name, "--out", tmp_path / "out.npy")[0] == 0
    assert np.array_equal(np.load(tmp_path / "out.npy"), right)
    without_results(job)
    assert run("resume", job.path.name)[0] == 0
    without_results(job)
    job.reply(1).unlink()
    for command in (("export", job.path.name, "--out", tmp_path / "again.npy"), ("resume", job.path.name)):
        status, _, err = run(*command)
        assert status == 1 and f"cfbatch verify {job.path.name} --mend" in err
    assert not (tmp_path / "again.npy").exists()
