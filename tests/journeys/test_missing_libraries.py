"""A system that lacks a library of a window: a sentence and a command, on the desktop too, and no traceback.

The library is hidden by an empty file over it, which only root can mount, for this program alone.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# $1 the library's file, $2 an empty file; then the program
HIDDEN = 'mount --bind "$2" "$1" && shift 2 && exec "$@"'

pytest.importorskip("PySide6")


def folder_of_libraries() -> Path:
    """Where the loader finds the libraries of this system."""
    listed = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True, check=False).stdout
    paths = [line.split()[-1] for line in listed.splitlines() if "libEGL.so.1 " in line and "x86-64" in line]
    return Path(paths[0]).parent if paths else Path("/nowhere")


def can_hide() -> bool:
    if sys.platform != "linux" or not shutil.which("unshare") or not folder_of_libraries().is_dir():
        return False
    command = ["unshare", "--mount", "mount", "--bind", "/dev/null", "/etc/hostname"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


@pytest.mark.skipif(not can_hide(), reason="only root can hide a library from one program")
@pytest.mark.parametrize(("soname", "package"), [("libEGL.so.1", "libegl1"), ("libxcb-cursor.so.0", "libxcb-cursor0")])
def test_the_library_and_its_command_are_said(soname: str, package: str, tmp_path: Path) -> None:
    shown = tmp_path / "shown"
    os.mkfifo(shown)
    empty = tmp_path / "empty"
    empty.touch()
    # Stands in for the desktop's program, which waits until it is read.
    program = tmp_path / "zenity"
    program.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {shown}\n')
    program.chmod(0o755)
    library = (folder_of_libraries() / soname).resolve()
    done = subprocess.run(
        [
            *("unshare", "--mount", "sh", "-c", HIDDEN, "sh", str(library), str(empty)),
            *(sys.executable, "-m", "cfbatch_gui", "--data-dir", str(tmp_path / "data")),
        ],
        env={"PATH": f"{tmp_path}:/usr/bin:/bin", "DISPLAY": ":990", "HOME": str(tmp_path), "LC_ALL": "C"},
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 2, done.stderr
    (sentence,) = done.stderr.splitlines()
    assert f"this system lacks {soname}" in sentence
    if Path("/usr/bin/apt-get").exists():
        assert sentence.endswith(f"sudo apt-get install {package}")
    assert f"--text={sentence}" in shown.read_text().splitlines()
    assert not (tmp_path / "data").exists()
