"""A system without the libraries of a window is told which are missing, also on the desktop, and what brings them."""

import os
import time
from pathlib import Path

import pytest

from cfbatch_gui.without_window import lacking, show_on_desktop
from tests.canary import TOKEN

SENTENCE = "This system lacks libEGL.so.1; type: x && <b>y</b>"


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("libEGL.so.1: cannot open shared object file: No such file or directory", "libEGL.so.1"),
        ("/usr/lib/x86_64-linux-gnu/libGL.so.1: file too short", "libGL.so.1"),
        ("No module named 'PySide6'", ""),
        ("/opt/libqxcb.so: undefined symbol: _ZN5QWind", ""),
    ],
)
def test_the_loader_names_the_library(words: str, name: str) -> None:
    assert lacking(ImportError(words)) == (f"This system lacks {name}." if name else "")


@pytest.mark.skipif(os.name == "nt", reason="a shell script stands in for the desktop's program")
@pytest.mark.filterwarnings("ignore::ResourceWarning")  # nobody waits for the program
@pytest.mark.parametrize("program", ["zenity", "xmessage"])
def test_the_first_program_there_is_gets_the_sentence_as_it_is(program: str, tmp_path: Path) -> None:
    shown = tmp_path / "shown"
    stand_in = tmp_path / program
    script = (f"PATH={os.environ['PATH']}", f'{{ printf "%s\\n" "$@"; env; }} >{shown}.new; mv {shown}.new {shown}')
    stand_in.write_text("\n".join(("#!/bin/sh", *script, "")))
    stand_in.chmod(0o755)
    given = {"CLOUDFLARE_API_TOKEN": TOKEN, "LD_LIBRARY_PATH": "/packed", "LD_LIBRARY_PATH_ORIG": "/own"}
    assert show_on_desktop(SENTENCE, {**given, "PATH": str(tmp_path)})
    deadline = time.monotonic() + 60
    while not shown.exists():
        assert time.monotonic() < deadline, "the program was not started"
        time.sleep(0.01)
    lines = shown.read_text().splitlines()
    assert SENTENCE in lines or f"--text={SENTENCE}" in lines
    assert "LD_LIBRARY_PATH=/own" in lines and TOKEN not in shown.read_text()
