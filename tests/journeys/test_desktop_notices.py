"""A notice of the desktop reaches a real server without a tray, and a click on it opens the job."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).with_name("notified_window.py")
ROOT = Path(__file__).parents[2]
# $1 python, $2 the program, $3 the data folder
SERVED = """
dunst >/dev/null 2>&1 &
until dunstctl count displayed >/dev/null 2>&1; do sleep 0.05; done
"$1" "$2" "$3" clicked
"""
DYING = """
dunst >/dev/null 2>&1 &
until dunstctl count displayed >/dev/null 2>&1; do sleep 0.05; done
"$1" "$2" "$3" without
"""

pytest.importorskip("PySide6")
pytestmark = pytest.mark.skipif(
    not (shutil.which("dbus-run-session") and shutil.which("dunst") and os.environ.get("DISPLAY")),
    reason="dbus-run-session or dunst is not installed, or there is no screen",
)


def run(tmp_path: Path, script: str) -> subprocess.CompletedProcess[str]:
    environ = {name: text for name, text in os.environ.items() if not name.startswith(("DBUS_", "PYTHON_KEYRING"))}
    environ |= {"PYTHONPATH": str(ROOT), "QT_QPA_PLATFORM": "offscreen", "QT_API": "pyside6"}
    for name in ("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR", "XDG_CACHE_HOME"):
        environ[name] = str(tmp_path / name.lower())
        (tmp_path / name.lower()).mkdir(mode=0o700)
    done = subprocess.run(
        ["dbus-run-session", "--", "sh", "-c", script, "sh", sys.executable, str(PROGRAM), str(tmp_path / "data")],
        capture_output=True,
        text=True,
        timeout=100,
        env=environ,
        check=False,
    )
    assert "Traceback" not in done.stderr, done.stderr
    return done


def test_a_notice_arrives_without_a_tray_and_a_click_opens_the_job(tmp_path: Path) -> None:
    done = run(tmp_path, SERVED)
    assert done.stdout.splitlines() == [
        "tray: False | open: ",
        # A name is plain text, also to a server that reads markup.
        "CF Batch | CF Batch | “Prices &lt;b&gt;&amp;amp; terms&lt;/b&gt;” is finished.",
        "open: Second",
    ], done.stderr


def test_a_server_that_dies_holds_up_nothing(tmp_path: Path) -> None:
    done = run(tmp_path, DYING)
    assert done.stdout.splitlines() == ["done"], done.stderr
