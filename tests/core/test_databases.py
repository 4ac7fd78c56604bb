"""SQLite's address of a file, for every kind of path that a data folder can have."""

import sqlite3
from contextlib import closing
from pathlib import Path, PurePath, PurePosixPath, PureWindowsPath

import pytest

from cfbatch_gui.core.system.databases import connect_durably, database_address


@pytest.mark.parametrize(
    ("path", "address"),
    [
        (PurePosixPath("/home/jörg/a b.db"), "file:///home/j%C3%B6rg/a%20b.db?mode=rw"),
        (PurePosixPath("/home/100%?#.db"), "file:///home/100%25%3F%23.db?mode=rw"),
        (
            PureWindowsPath(r"C:\Users\Jörg Groß\CF Batch\x.db"),
            "file:///C:/Users/J%C3%B6rg%20Gro%C3%9F/CF%20Batch/x.db?mode=rw",
        ),
        (PureWindowsPath(r"\\server\share $\x.db"), "file:////server/share%20%24/x.db?mode=rw"),
    ],
    ids=["umlaut", "signs", "drive", "share"],
)
def test_no_address_has_a_host(path: PurePath, address: str) -> None:
    assert database_address(path, mode="rw") == address


@pytest.mark.parametrize("name", ["größe 1", "100% #1?mode=ro", "a\\b", "C:", "日本語"])
def test_sqlite_opens_the_file_that_is_meant(tmp_path: Path, name: str) -> None:
    path = tmp_path / name / f"{name}.db"
    with closing(connect_durably(path)) as database:
        database.execute("CREATE TABLE kept(value)")
    assert [each.name for each in path.parent.iterdir()] == [path.name]
    with closing(connect_durably(path, read_only=True)) as database, pytest.raises(sqlite3.OperationalError):
        database.execute("DROP TABLE kept")


def test_a_path_of_a_share_is_read_as_one_by_sqlite(tmp_path: Path) -> None:
    path = PurePosixPath(f"/{tmp_path}/x.db")  # two slashes, as of a share; here the same folder
    with closing(sqlite3.connect(database_address(path, mode="rwc"), uri=True)) as database:
        database.execute("CREATE TABLE kept(value)")
    assert (tmp_path / "x.db").stat().st_size > 0


def test_a_file_that_is_no_database_is_closed_again(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    path.write_bytes(b"no database" * 100)
    with pytest.raises(sqlite3.DatabaseError) as refused:
        connect_durably(path)
    assert refused.value.__traceback__ is not None, "the frames are kept, and what they hold"
    assert not [each for each in open_files() if each == path], "Windows lets nobody put it aside while it is open"


def open_files() -> list[Path]:
    """The files that this process has open; none where the system has no list of them."""
    found = Path("/proc/self/fd")
    return [each.readlink() for each in found.iterdir() if each.is_symlink()] if found.is_dir() else []
