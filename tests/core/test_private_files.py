"""Files and folders of the program are this user's alone, whatever the umask is and whatever was there before."""

import os
import stat
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from cfbatch_gui.core.system.files import atomic_writer, own_file_writer, write_atomically, write_own_file
from cfbatch_gui.core.system.paths import Paths
from tests.journeys.terminal import Terminal

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="permissions of POSIX")

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


def open_to_others(root: Path) -> list[str]:
    """What others have a right to, the folder itself included."""
    return [f"{path} {mode(path):o}" for path in (root, *sorted(root.rglob("*"))) if mode(path) & 0o077]


def run(terminal: Terminal, *arguments: object, mask: int = 0) -> None:
    """The program in a process of its own, under this umask."""
    with umask(mask):
        ended = terminal.run_apart(*arguments)
    assert ended.status == 0, ended.err


def work(terminal: Terminal, folder: Path) -> Path:
    """A job of scores and one of vectors, an export and a backup; the file of the backup."""
    table, texts = folder / "clouds.csv", folder / "texts.txt"
    table.write_text(CLOUDS)
    texts.write_text("one text\nanother text\n")
    run(terminal, "run", table, "--rank", "--name", "ranked", "--out", folder / "ranked.csv")
    run(terminal, "run", texts, "--embed", "--name", "vectors", "--out", folder / "vectors.npy")
    run(terminal, "show", "vectors", "--duplicates", "0.9")
    run(terminal, "backup", folder / "jobs.zip")
    return folder / "jobs.zip"


def test_a_new_folder_is_private_under_any_umask(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path / "data")
    backup = work(terminal, tmp_path)
    assert open_to_others(terminal.data) == []
    assert mode(backup) == 0o600
    names = {path.suffix for path in terminal.data.rglob("*")}
    assert {".db", ".npy", ".json", ".jsonl", ".gz"} <= names, "there was something to look at"


def test_exports_have_the_permissions_that_the_user_gives_new_files(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path / "data")
    work(terminal, tmp_path)
    assert [mode(tmp_path / name) for name in ("ranked.csv", "vectors.npy")] == [0o666, 0o666]
    run(terminal, "export", "ranked", "--out", tmp_path / "for the group.csv", mask=0o027)
    assert mode(tmp_path / "for the group.csv") == 0o640


def test_a_folder_that_was_open_is_closed_at_the_next_start(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path / "data")
    backup = work(terminal, tmp_path)
    for path in (terminal.data, *terminal.data.rglob("*"), backup):
        path.chmod(0o755 if path.is_dir() else 0o644)
    assert len(open_to_others(terminal.data)) > 15
    run(terminal, "resume")
    run(terminal, "backup", backup)
    assert open_to_others(terminal.data) == []
    assert mode(backup) == 0o600


def test_every_name_in_the_data_folder_is_known(tmp_path: Path) -> None:
    """An unknown one would keep the folder itself as open as it was."""
    terminal = Terminal(tmp_path / "data")
    work(terminal, tmp_path)
    terminal.data.chmod(0o755)
    run(terminal, "resume")
    assert mode(terminal.data) == 0o700, sorted(os.listdir(terminal.data))  # noqa: PTH208


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


def test_a_pass_that_was_cut_short_goes_on(tmp_path: Path) -> None:
    paths = Paths(tmp_path / "data")
    paths.create()
    for name in ("one", "two"):
        folder = paths.job(name)
        folder.mkdir()
        (folder / "data.db").write_text("")
        (folder / "data.db").chmod(0o644)
        folder.chmod(0o755)
    (paths.job("one") / "data.db").chmod(0o600)  # as if the pass had ended here
    paths.create()
    assert open_to_others(paths.root) == []


def test_a_file_of_the_program_is_closed_when_it_replaces_an_open_one(tmp_path: Path) -> None:
    own, private, export = tmp_path / "own", tmp_path / "private", tmp_path / "export"
    with umask(0):
        for path in (own, private, export):
            path.write_text("")
            path.chmod(0o664)
        write_own_file(own, b"1")
        with atomic_writer(private, private=True) as stream:
            stream.write(b"1")
            (part,) = [path for path in tmp_path.iterdir() if path.name.startswith(".")]
            assert mode(part) == 0o600, "also before it has its name"
        write_atomically(export, b"1")
        with own_file_writer(tmp_path / "new") as stream:
            stream.write(b"1")
    assert [mode(path) for path in (own, private, export, tmp_path / "new")] == [0o600, 0o600, 0o664, 0o600]


@pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="the program lets only root see its memory")
def test_no_file_is_made_open_and_closed_later(tmp_path: Path) -> None:
    """Between the two others could open it, and would keep it open."""
    if subprocess.run(["sh", "-c", "strace -V"], check=False, capture_output=True).returncode:
        pytest.skip("strace is not installed")
    table, record = tmp_path / "clouds.csv", tmp_path / "record"
    table.write_text(CLOUDS)
    terminal = Terminal(tmp_path / "data")
    with umask(0):
        traced = ["strace", "-f", "-qq", "-o", str(record), "-e", "trace=openat,open,creat,mkdir,mkdirat"]
        command = [*traced, sys.executable, "-m", "cfbatch_gui.cli.main", "run", str(table), "--rank"]
        environ = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "CFBATCH_DATA_DIR": str(terminal.data)}
        environ |= {"PYTHONPATH": os.getcwd(), "CFBATCH_PRACTICE_SECONDS": "0"}  # noqa: PTH109
        subprocess.run(command, check=True, env=environ, capture_output=True, timeout=100)
    made = [line for line in record.read_text().splitlines() if f'"{terminal.data}' in line]
    made = [line for line in made if "O_CREAT" in line or "mkdir" in line]
    first = {line.split('"')[1]: line for line in reversed(made) if '/data.db"' not in line}  # was data.new.db
    assert len(first) > 10
    assert [line for line in first.values() if ", 0600" not in line and ", 0700" not in line] == []


def test_a_backup_can_be_put_back(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path / "data")
    with zipfile.ZipFile(work(terminal, tmp_path)) as archive:
        archive.extractall(tmp_path / "again")
    again = Terminal(tmp_path / "again")
    run(again, "resume")
    assert [job["name"] for job in again.jobs()] == [job["name"] for job in terminal.jobs()]
    assert open_to_others(again.data) == []
