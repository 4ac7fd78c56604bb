"""`cfbatch verify`: what is damaged is named by its rows, not exported, and put right from the answers."""

from pathlib import Path

import numpy as np
import pytest

from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.system.paths import Paths
from tests.journeys.terminal import Terminal

HEADER = 128  # bytes of vectors.npy before its first row


@pytest.fixture
def job(terminal: Terminal, tmp_path: Path, paths: Paths) -> JobFolder:
    texts = tmp_path / "texts.csv"
    texts.write_text("id,text\n1,warm\n2,cold\n3,mild\n")
    arguments = ("run", texts, "--embed", "--connection", "practice", "--at-once", "--json")
    return JobFolder(paths.job(terminal.run(*arguments).json["job"]))


def test_a_flipped_bit_is_not_exported_and_is_put_right(terminal: Terminal, tmp_path: Path, job: JobFolder) -> None:
    right, out_file = job.vectors.read_bytes(), tmp_path / "out.npy"
    content = bytearray(right)
    content[HEADER + np.load(job.vectors).shape[1] * 4 + 5] ^= 4  # of the second vector
    job.vectors.write_bytes(content)
    ended = terminal.run("export", job.path.name, "--out", out_file)
    assert ended.status == 1 and "results_rows_are_damaged_on_disk" in ended.codes
    assert not out_file.exists()
    ended = terminal.run("verify", job.path.name, "--json")
    (found,) = ended.json["jobs"][0]["findings"]
    assert (ended.status, found["damage"], found["outcome"], found["rows"]) == (1, "results", "healable", [2, 3, 4])
    assert terminal.run("verify", job.path.name, "--mend").status == 0
    assert job.vectors.read_bytes() == right
    assert terminal.run("export", job.path.name, "--out", out_file).status == 0
    assert np.array_equal(np.load(out_file), np.load(job.vectors))
