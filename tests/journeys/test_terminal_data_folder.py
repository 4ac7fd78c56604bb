"""A data folder that cannot be used says which one it is and why; what can be read there is read."""

import subprocess
import sys
from pathlib import Path

import pytest

from cfbatch_gui.cli.console import ExitStatus
from cfbatch_gui.core.system.paths import Paths
from tests.journeys.terminal import COMMAND, Terminal
from tests.support.disks import read_only

CLOUDS = "query,text\nclouds,an orange cloud\nclouds,a grey one\n"


@pytest.fixture
def finished(terminal: Terminal, tmp_path: Path) -> Terminal:
    table, texts = tmp_path / "clouds.csv", tmp_path / "texts.txt"
    table.write_text(CLOUDS)
    texts.write_text("one text\nanother text\n")
    assert terminal.run("run", table, "--rank", "--name", "ranked").status == 0
    assert terminal.run("groups", texts, "--name", "vectors").status == 0
    return terminal


def test_jobs_in_a_read_only_folder_are_listed_shown_exported_and_backed_up(finished: Terminal, tmp_path: Path) -> None:
    before = [finished.run("show", name).out for name in ("ranked", "vectors")]
    files = {path: path.read_bytes() for path in finished.data.rglob("*") if path.is_file()}
    with read_only(finished.data):
        assert len(finished.jobs()) == 2
        assert [finished.run("show", name).out for name in ("ranked", "vectors")] == before
        for name, file in (("ranked", "ranked.csv"), ("vectors", "vectors.npy"), ("ranked", "ranked.jsonl")):
            ended = finished.run("export", name, "--out", tmp_path / file)
            assert (ended.status, (tmp_path / file).stat().st_size > 0) == (0, True), ended.err
        assert finished.run("backup", tmp_path / "jobs.zip").status == 0
    changed = [path for path, data in files.items() if "logs" not in path.parts and path.read_bytes() != data]
    assert changed == []


@pytest.mark.parametrize("command", ["run", "resume"])
def test_what_would_write_in_a_read_only_folder_says_so(finished: Terminal, tmp_path: Path, command: str) -> None:
    arguments = {"run": ("run", tmp_path / "clouds.csv", "--rank"), "resume": ("resume",)}[command]
    with read_only(finished.data):
        ended = finished.run(*arguments)
        assert ended.status == ExitStatus.FAILED
        assert "folder_program_data_folder_is_read" in ended.codes and str(finished.data) in ended.complaint
    assert len(finished.jobs()) == 2


@pytest.mark.skipif(sys.platform != "linux", reason="strace")
def test_the_program_on_a_disk_without_locks(terminal: Terminal, tmp_path: Path) -> None:
    if subprocess.run(["sh", "-c", "strace -V"], check=False, capture_output=True).returncode:
        pytest.skip("strace is not installed")
    (tmp_path / "clouds.csv").write_text(CLOUDS)
    strace = ("strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=flock", "-e", "inject=flock:error=ENOLCK")
    with terminal.start_command((*strace, *COMMAND), "run", tmp_path / "clouds.csv", "--rank") as process:
        _, said = process.communicate(timeout=240)
    assert process.returncode == ExitStatus.FAILED
    assert "has no file locks" in said and "already at work" not in said and "Traceback" not in said
    assert not list(Paths(terminal.data).unfinished.glob("*")), "no list that no start could tell whose it is"
