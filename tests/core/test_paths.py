"""Where the program's files are, whose they are, and those that come with it."""

import os
import stat
import sys
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PureWindowsPath

import pytest

from cfbatch_gui.core.errors import DataError
from cfbatch_gui.core.resources import resource
from cfbatch_gui.core.system.paths import Paths, default_root
from tests.journeys.terminal import Terminal
from tests.support.sentences import refuses

posix_only = pytest.mark.skipif(sys.platform == "win32", reason="permissions of POSIX")


def test_each_platform_has_its_place() -> None:
    home = {"HOME": "/home/ann"}
    assert default_root(home, "linux") == Path("/home/ann/.local/share/cfbatch")
    assert default_root({**home, "XDG_DATA_HOME": "/data"}, "linux") == Path("/data/cfbatch")
    assert default_root({**home, "XDG_DATA_HOME": "relative"}, "linux") == Path("/home/ann/.local/share/cfbatch")
    assert default_root(home, "darwin") == Path("/home/ann/Library/Application Support/CF Batch")
    local = "C:\\Users\\Ann\\AppData\\Local"
    assert default_root({"LOCALAPPDATA": local}, "win32") == Path(PureWindowsPath(local) / "CF Batch")
    chosen = {"CFBATCH_DATA_DIR": "/chosen", "XDG_DATA_HOME": "/data", "LOCALAPPDATA": local, **home}
    assert {default_root(chosen, platform) for platform in ("linux", "darwin", "win32")} == {Path("/chosen")}


def test_a_folder_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with refuses(DataError, "folder_program_data_folder_cannot_be"):
        Paths(tmp_path / "file" / "data").create()
    assert os.listdir(tmp_path) == ["file"]  # noqa: PTH208


def test_the_list_of_files_has_every_file() -> None:
    """The self-test finds by it what a package has lost. A new file gets a line in it."""
    contents = resource("contents.txt")
    there = {path.relative_to(contents.parent).as_posix() for path in contents.parent.rglob("*") if path.is_file()}
    assert contents.read_text("utf-8").splitlines() == sorted(there - {contents.name})


CLOUDS = "query,text\nclouds,an orange cloud\nclouds,a grey one\n"


@contextmanager
def umask(mask: int) -> Iterator[None]:
    before = os.umask(mask)
    try:
        yield
    finally:
        os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def run(terminal: Terminal, *arguments: object, mask: int = 0) -> None:
    """The program under this umask."""
    with umask(mask):
        ended = terminal.run(*arguments)
    assert ended.status == 0, ended.err


def work(terminal: Terminal, folder: Path) -> Path:
    """A job of scores and one of vectors, an export and a backup; the file of the backup."""
    table, texts = folder / "clouds.csv", folder / "texts.txt"
    table.write_text(CLOUDS)
    texts.write_text("one text\nanother text\n")
    run(terminal, "run", table, "--rank", "--name", "ranked", "--out", folder / "ranked.csv")
    run(terminal, "groups", texts, "--name", "vectors", "--out", folder / "vectors.npy")
    run(terminal, "show", "vectors")
    run(terminal, "backup", folder / "jobs.zip")
    return folder / "jobs.zip"


@posix_only
def test_files_are_this_users_alone_whatever_the_umask_is_and_whatever_was_there_before(tmp_path: Path) -> None:
    """But for exports, which have the permissions that the user gives new files."""
    terminal = Terminal(tmp_path / "data")
    backup = work(terminal, tmp_path)
    assert [path for path in (terminal.data, *terminal.data.rglob("*")) if mode(path) & 0o077] == []
    assert mode(backup) == 0o600
    names = {path.suffix for path in terminal.data.rglob("*")}
    assert {".db", ".npy", ".json", ".jsonl", ".gz"} <= names, "there was something to look at"
    assert [mode(tmp_path / name) for name in ("ranked.csv", "vectors.npy")] == [0o666, 0o666]
    run(terminal, "export", "ranked", "--out", tmp_path / "for the group.csv", mask=0o027)
    assert mode(tmp_path / "for the group.csv") == 0o640
    for path in (terminal.data, *terminal.data.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    run(terminal, "resume")
    assert [mode(terminal.data / name) for name in ("jobs", "ledger.db", "submissions.jsonl")] == [0o700, 0o600, 0o600]
    with zipfile.ZipFile(backup) as archive:
        archive.extractall(tmp_path / "again")
    again = Terminal(tmp_path / "again")
    run(again, "resume")
    assert [job["name"] for job in again.jobs()] == [job["name"] for job in terminal.jobs()]


@posix_only
def test_what_is_not_the_programs_is_left_as_it_is(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "file").write_text("x")
    data = tmp_path / "data"
    (data / "photos").mkdir(parents=True)
    (data / "photos" / "one.jpg").write_text("x")
    (data / "settings.json").write_text("{}")
    (data / "logs").symlink_to(elsewhere)
    for path in (data, *data.rglob("*"), elsewhere, elsewhere / "file"):
        path.chmod(0o755 if path.is_dir() else 0o644)
    Paths(data).create()
    assert [mode(path) for path in (data, data / "photos", data / "photos" / "one.jpg")] == [0o755, 0o755, 0o644]
    assert [mode(path) for path in (elsewhere, elsewhere / "file")] == [0o755, 0o644]
    assert mode(data / "settings.json") == 0o600
