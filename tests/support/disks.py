"""A disk that is really full, and a folder in which nothing can be written, for whoever runs the tests."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

FILLER = "filler"


@contextmanager
def small_disk(place: Path, megabytes: int) -> Iterator[Path]:
    """Mount it at a new folder; skips the test where that cannot be done."""
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", str(place)]
    if sys.platform != "linux" or os.geteuid() or subprocess.run(mount, check=False).returncode:
        pytest.skip("a small file system can only be mounted by root on Linux")
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


def fill_up(place: Path) -> None:
    """Leave not one byte."""
    with suppress(OSError), (place / FILLER).open("ab", buffering=0) as filler:
        for size in (65_536, 4_096, 512, 1):
            with suppress(OSError):
                while filler.write(bytes(size)):
                    pass


def free_up(place: Path) -> None:
    """Take the filler away."""
    (place / FILLER).unlink(missing_ok=True)


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """Root may write everywhere but on a read-only mount; everybody else is stopped by the folder's permissions."""
    if sys.platform == "win32":
        pytest.skip("a folder has other permissions there")
    if os.geteuid():
        folders = [folder, *(path for path in folder.rglob("*") if path.is_dir())]
        for each in folders:
            each.chmod(0o500)
        try:
            yield
        finally:
            for each in folders:
                each.chmod(0o700)
        return
    if subprocess.run(["mount", "--bind", str(folder), str(folder)], check=False, capture_output=True).returncode:
        pytest.skip("this system does not let root mount")
    try:
        subprocess.run(["mount", "-o", "remount,bind,ro", str(folder)], check=True)
        yield
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)
