"""Files: each written whole or not at all, removed when a crash left it; and databases, wherever they are."""

import errno
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path, PurePath, PurePosixPath, PureWindowsPath

import pytest

from cfbatch_gui.core.errors import DiskFull, ExportError
from cfbatch_gui.core.system.databases import address_of, connect_durably
from cfbatch_gui.core.system.files import (
    append_line_durably,
    atomic_writer,
    end_list,
    keep_list,
    list_unfinished,
    listing,
    write_atomically,
)
from tests.support.disks import small_disk
from tests.support.sentences import refuses

needs_posix = pytest.mark.skipif(sys.platform == "win32", reason="POSIX only")


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("interruption", [ValueError, KeyboardInterrupt, OSError(errno.ENOENT, "gone", "/other/file")])
def test_an_exception_in_the_block_keeps_the_old_file_and_flies_on(
    tmp_path: Path, interruption: type[BaseException] | BaseException
) -> None:
    target = tmp_path / "ranked.csv"
    target.write_bytes(b"old")
    kind = interruption if isinstance(interruption, type) else type(interruption)
    with pytest.raises(kind), atomic_writer(target) as stream:
        stream.write(b"half")
        raise interruption
    assert target.read_bytes() == b"old"
    assert names(tmp_path) == ["ranked.csv"]


@needs_posix
def test_a_device_is_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.csv"
    os.mkfifo(pipe)
    with refuses(ExportError, "name_could_not_be_written_is"):
        write_atomically(pipe, b"x")
    assert pipe.is_fifo()


@needs_posix
def test_a_link_stays_a_link_and_permissions_stay(tmp_path: Path) -> None:
    real = tmp_path / "real.csv"
    real.write_bytes(b"old")
    real.chmod(0o640)
    link = tmp_path / "link.csv"
    link.symlink_to(real)
    write_atomically(link, b"new")
    assert link.is_symlink()
    assert real.read_bytes() == b"new"
    assert real.stat().st_mode & 0o777 == 0o640


@pytest.fixture
def full_disk(tmp_path: Path) -> Iterator[Path]:
    with small_disk(tmp_path / "small", 1) as place:
        yield place


def test_a_line_that_does_not_fit_is_taken_back(full_disk: Path) -> None:
    target = full_disk / "submissions.jsonl"
    append_line_durably(target, b"first")
    with pytest.raises(DiskFull):
        append_line_durably(target, b"x" * 2_000_000)
    assert target.read_bytes() == b"first\n"


def test_a_torn_line_does_not_spoil_the_next(tmp_path: Path) -> None:
    target = tmp_path / "submissions.jsonl"
    target.write_bytes(b'{"a":1}\n{"b":')
    append_line_durably(target, b'{"c":3}')
    assert target.read_bytes().splitlines() == [b'{"a":1}', b'{"b":', b'{"c":3}']


WRITING = """
import os, sys
from pathlib import Path
from cfbatch_gui.core.system import files
files.keep_list(Path(sys.argv[1]))
with files.temporary_folder() as folder, files.atomic_writer(Path(sys.argv[2])) as stream:
    (folder / "part").write_bytes(b"text")
    stream.write(b"half")
    stream.flush()
    print(folder, flush=True)
    sys.stdin.read()
"""


def begin(lists: Path, target: Path) -> tuple["subprocess.Popen[str]", Path]:
    command = (sys.executable, "-c", WRITING, str(lists), str(target))
    environ = {**os.environ, "TMPDIR": str(lists.parent), "PYTHONPATH": str(Path.cwd())}
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environ)
    assert process.stdout
    return process, Path(process.stdout.readline().strip())


@needs_posix
def test_what_a_killed_process_was_writing_goes_at_the_next_start(tmp_path: Path) -> None:
    lists, out = tmp_path / "unfinished", tmp_path / "a place\nof the user's"
    out.mkdir()
    (out / ".cfbatch-of-another-program.part").write_bytes(b"not ours to remove")
    process, temporary = begin(lists, out / "result.csv")
    assert temporary.is_dir() and len(list(out.iterdir())) == 2
    with listing(lists):  # beside it, as a second command would
        assert temporary.is_dir() and len(list(out.iterdir())) == 2
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert temporary.is_dir() and len(list(out.iterdir())) == 2
    with listing(lists):
        assert not temporary.exists()
        assert [path.name for path in out.iterdir()] == [".cfbatch-of-another-program.part"]
    assert list(lists.iterdir()) == []


def test_only_files_of_our_own_kind_are_removed(tmp_path: Path) -> None:
    precious = tmp_path / "thesis.docx"
    precious.write_bytes(b"ten years")
    lists = tmp_path / "unfinished"
    keep_list(lists)
    list_unfinished(precious)
    end_list(lists)
    assert precious.read_bytes() == b"ten years"


@pytest.mark.parametrize("name", ["größe 1", "100% #1?mode=ro", "a\\b", "C:", "日本語"])
def test_sqlite_opens_the_file_that_is_meant(tmp_path: Path, name: str) -> None:
    path = tmp_path / name / f"{name}.db"
    with closing(connect_durably(path)) as database:
        database.execute("CREATE TABLE kept(value)")
    assert [each.name for each in path.parent.iterdir()] == [path.name]
    with closing(connect_durably(path, read_only=True)) as database, pytest.raises(sqlite3.OperationalError):
        database.execute("DROP TABLE kept")


@pytest.mark.parametrize(
    ("path", "address"),
    [
        (PurePosixPath("/home/100%?#.db"), "file:///home/100%25%3F%23.db"),
        (PureWindowsPath(r"C:\Users\Jörg Groß\x.db"), "file:///C:/Users/J%C3%B6rg%20Gro%C3%9F/x.db"),
        (PureWindowsPath(r"\\server\share $\x.db"), "file:////server/share%20%24/x.db"),
    ],
    ids=["signs", "drive", "share"],
)
def test_no_address_of_a_database_has_a_host(path: PurePath, address: str) -> None:
    assert address_of(path) == address
