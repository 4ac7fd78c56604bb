"""The output of failures on stdout and stderr, and that no way of starting the command ends in a traceback."""

import json
import locale
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from cfbatch_gui.cli.export import list_separator
from cfbatch_gui.cli.main import main
from tests.cli.conftest import Run

COMMAND = [sys.executable, "-m", "cfbatch_gui.cli.main"]
MANY = "id,text\n" + "1,warm\n2,\n"


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    path = tmp_path / "texts.csv"
    path.write_text(MANY)
    return path


def test_of_a_job_whose_file_could_not_be_written_the_object_says_so(run: Run, tmp_path: Path, texts: Path) -> None:
    if not os.access("/proc", os.W_OK):
        pytest.skip("needs a folder in which nobody can write")
    arguments = ("run", texts, "--embed", "--connection", "practice", "--at-once", "--json")
    good, bad = tmp_path / "good.npy", "/proc/bad.npy"
    status, out, err = run(*arguments, "--out", good, "--out", bad)
    said = json.loads(out)
    assert (status, said["state"]) == (1, "done")
    assert [file["path"] for file in said["files"]] == [str(good)]
    assert "“bad.npy” could not be written" in err

    status, out, _ = run("resume", said["job"], "--json")
    assert (status, json.loads(out)["job"]) == (1, said["job"])
    status, out, _ = run("resume", "--json")
    assert (status, [job["job"] for job in json.loads(out)["jobs"]]) == (1, [said["job"]])


def test_a_file_is_no_place_for_jobs(capsys: pytest.CaptureFixture[str], texts: Path) -> None:
    assert main(["jobs", "--data-dir", str(texts)]) == 2
    assert "is a file" in capsys.readouterr().err
    assert texts.read_text() == MANY


@pytest.mark.parametrize(
    ("closed", "arguments", "status"),
    [
        (">&-", ("jobs", "--json"), 0),
        ("2>&-", ("show", "nothing"), 2),
        ("<&-", ("run", "-", "--embed", "--connection", "practice"), 2),
    ],
)
@pytest.mark.skipif(os.name == "nt", reason="a shell of Unix closes the streams")
def test_a_stream_that_was_closed_before_the_start(
    tmp_path: Path, closed: str, arguments: Sequence[str], status: int
) -> None:
    command = [*COMMAND, *arguments, "--data-dir", str(tmp_path / "data")]
    ended = subprocess.run(["sh", "-c", f'"$@" {closed}', "sh", *command], capture_output=True, text=True, check=False)
    assert ended.returncode == status
    assert "should not have" not in ended.stderr
    assert "Traceback" not in ended.stderr


@pytest.mark.parametrize("name", ["C", "xx_NOWHERE"])
def test_a_comma_elsewhere_and_where_the_system_knows_nothing(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    before = locale.setlocale(locale.LC_NUMERIC)
    for variable in ("LC_ALL", "LC_NUMERIC", "LANG"):
        monkeypatch.setenv(variable, name)
    assert list_separator() == ","
    assert locale.setlocale(locale.LC_NUMERIC) == before, "as it was"
