"""`cfbatch verify`: what is damaged is named by its rows, not exported, and put right from the answers."""

import json
from pathlib import Path

import numpy as np
import pytest

from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.system.paths import Paths
from tests.cli.conftest import Codes, Run

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


def test_a_flipped_bit_is_not_exported_and_is_put_right(run: Run, codes: Codes, tmp_path: Path, job: JobFolder) -> None:
    right, out_file = job.vectors.read_bytes(), tmp_path / "out.npy"
    flip_a_bit(job, 1)
    assert run("export", job.path.name, "--out", out_file)[0] == 1 and "results_rows_are_damaged_on_disk" in codes()
    assert not out_file.exists()
    status, out, _ = run("verify", job.path.name, "--json")
    (found,) = json.loads(out)["jobs"][0]["findings"]
    assert (status, found["damage"], found["outcome"], found["rows"]) == (1, "results", "healable", [2, 3, 4])
    assert run("verify", job.path.name, "--mend")[0] == 0
    assert job.vectors.read_bytes() == right
    assert run("export", job.path.name, "--out", out_file)[0] == 0
    assert np.array_equal(np.load(out_file), np.load(job.vectors))
