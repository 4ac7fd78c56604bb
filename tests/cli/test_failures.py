"""The output of failures on stdout and stderr, and that no way of starting the command ends in a traceback."""

import locale
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from cfbatch_gui.cli.export import list_separator
from cfbatch_gui.cli.main import main

COMMAND = [sys.executable, "-m", "cfbatch_gui.cli.main"]
MANY = "id,text\n" + "1,warm\n2,\n"


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    path = tmp_path / "texts.csv"
    path.write_text(MANY)
    return path


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
