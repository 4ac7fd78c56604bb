"""A folder in which nothing can be written, for whoever runs the tests."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


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
