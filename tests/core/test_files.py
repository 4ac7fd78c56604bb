import errno
import hashlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from cfbatch_gui.core.errors import DataError, DiskFull, ExportError, InputError
from cfbatch_gui.core.system.files import append_line_durably, atomic_writer, sha256_of, write_atomically

needs_posix = pytest.mark.skipif(sys.platform == "win32", reason="POSIX only")


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_writes_and_replaces_and_leaves_nothing_else(tmp_path: Path) -> None:
    target = tmp_path / "ranked.csv"
    write_atomically(target, b"one")
    write_atomically(target, b"two")
    assert target.read_bytes() == b"two"
    assert names(tmp_path) == ["ranked.csv"]


def test_the_part_file_is_hidden_beside_the_target_and_the_old_file_stands_until_the_end(tmp_path: Path) -> None:
    target = tmp_path / "ranked.csv"
    target.write_bytes(b"old")
    with atomic_writer(target) as stream:
        stream.write(b"new")
        stream.flush()
        (part,) = [name for name in names(tmp_path) if name != "ranked.csv"]
        assert part.startswith(".")
        assert part.endswith(".part")
        assert target.read_bytes() == b"old"
    assert target.read_bytes() == b"new"


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


def test_the_stream_can_seek_and_be_read(tmp_path: Path) -> None:
    with atomic_writer(tmp_path / "book.xlsx") as stream:
        stream.write(b"....tail")
        stream.seek(0)
        stream.write(b"head")
        stream.seek(0)
        assert stream.read() == b"headtail"


def test_a_folder_of_that_name_is_said(tmp_path: Path) -> None:
    (tmp_path / "out.csv").mkdir()
    with pytest.raises(ExportError) as caught:
        write_atomically(tmp_path / "out.csv", b"x")
    assert caught.value.message == (
        "“out.csv” could not be written: there is a folder of that name. Choose another place."
    )


def test_a_missing_folder_is_said(tmp_path: Path) -> None:
    with pytest.raises(ExportError, match=r"“out\.csv” could not be written: its folder does not exist"):
        write_atomically(tmp_path / "nowhere" / "out.csv", b"x")


def test_a_name_that_is_too_long_is_said(tmp_path: Path) -> None:
    with pytest.raises(ExportError, match="its name is too long"):
        write_atomically(tmp_path / f"{'x' * 300}.csv", b"x")
    assert names(tmp_path) == []


@needs_posix
def test_a_device_is_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.csv"
    os.mkfifo(pipe)
    with pytest.raises(ExportError, match="not an ordinary file"):
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


@needs_posix
def test_a_folder_without_permission_is_said(tmp_path: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may write everywhere")
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(ExportError, match="this user may not write there"):
            write_atomically(tmp_path / "out.csv", b"x")
    finally:
        tmp_path.chmod(0o700)


@pytest.fixture
def full_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 64 KiB. Only root may make one."""
    if sys.platform != "linux" or os.geteuid() != 0:
        pytest.skip("only root on Linux may mount a small file system")
    folder = tmp_path / "small"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(folder)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("this system lets nobody mount a small file system")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def test_a_full_disk_keeps_the_old_file(full_disk: Path) -> None:
    target = full_disk / "ranked.csv"
    target.write_bytes(b"old")
    with pytest.raises(DiskFull, match=r"The disk is full: “ranked\.csv” was not written"):
        write_atomically(target, b"x" * 1_000_000)
    assert target.read_bytes() == b"old"
    assert names(full_disk) == ["ranked.csv"]


def test_a_line_that_does_not_fit_is_taken_back(full_disk: Path) -> None:
    target = full_disk / "submissions.jsonl"
    append_line_durably(target, b"first")
    with pytest.raises(DiskFull):
        append_line_durably(target, b"x" * 1_000_000)
    assert target.read_bytes() == b"first\n"


SMALL_FILES_ONLY = """
import resource, sys
from pathlib import Path
from cfbatch_gui.core.errors import DiskFull
from cfbatch_gui.core.system.files import append_line_durably, write_atomically
folder = Path(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))
for attempt in (write_atomically, append_line_durably):
    try:
        attempt(folder / "data", b"x" * 100_000)
    except DiskFull as error:
        print(error.message)
"""


@needs_posix
def test_a_quota_is_a_full_disk(tmp_path: Path) -> None:
    (tmp_path / "data").write_bytes(b"old\n")
    done = subprocess.run(
        [sys.executable, "-c", SMALL_FILES_ONLY, str(tmp_path)], capture_output=True, text=True, check=True
    )
    assert done.stdout.count("The disk is full: “data” was not written. What was there before is intact") == 2
    assert (tmp_path / "data").read_bytes() == b"old\n"
    assert names(tmp_path) == ["data"]


def test_lines_are_added_one_by_one(tmp_path: Path) -> None:
    target = tmp_path / "submissions.jsonl"
    append_line_durably(target, b'{"a":1}')
    append_line_durably(target, b'{"b":2}\n')
    assert target.read_bytes() == b'{"a":1}\n{"b":2}\n'


def test_a_torn_line_does_not_spoil_the_next(tmp_path: Path) -> None:
    target = tmp_path / "submissions.jsonl"
    target.write_bytes(b'{"a":1}\n{"b":')
    append_line_durably(target, b'{"c":3}')
    assert target.read_bytes().splitlines() == [b'{"a":1}', b'{"b":', b'{"c":3}']


def test_a_line_for_a_missing_folder_is_said(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="its folder does not exist"):
        append_line_durably(tmp_path / "nowhere" / "submissions.jsonl", b"x")


def test_the_checksum_is_of_the_bytes(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"\r\n\xff" * 100_000)
    assert sha256_of(tmp_path / "a") == hashlib.sha256(b"\r\n\xff" * 100_000).hexdigest()
    with pytest.raises(InputError, match="“b” could not be read"):
        sha256_of(tmp_path / "b")
