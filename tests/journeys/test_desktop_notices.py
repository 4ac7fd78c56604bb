"""A notice of the desktop reaches a real server without a tray, and a click on it opens the job."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.journeys.desktop import WITHOUT_ACTIVATION

PROGRAM = Path(__file__).with_name("notified_window.py")
ROOT = Path(__file__).parents[2]
# $1 python, $2 the program, $3 the data folder, $4 the server's settings
SERVED = """
dunst -conf "$4" &
server=$!
until dunstctl count displayed >/dev/null 2>&1; do sleep 0.05; done
QT_QPA_PLATFORM=offscreen "$1" "$2" "$3"
kill -0 "$server" 2>/dev/null || { wait "$server"; echo "the server had ended: $?" >&2; }
"""
# The server reads markup. A notice stays until it is closed, however long the machine takes to look at it.
SERVER = """[global]
markup = full
[urgency_low]
timeout = 0
[urgency_normal]
timeout = 0
[urgency_critical]
timeout = 0
"""

pytest.importorskip("PySide6")
pytestmark = pytest.mark.skipif(
    not all(map(shutil.which, ("dbus-run-session", "dunst", "Xvfb"))),
    reason="dbus-run-session, dunst or Xvfb is not installed",
)


def test_a_notice_arrives_without_a_tray_and_a_click_opens_the_job(tmp_path: Path) -> None:
    environ = {name: text for name, text in os.environ.items() if not name.startswith(("DBUS_", "PYTHON_KEYRING"))}
    environ |= {"PYTHONPATH": str(ROOT), "QT_API": "pyside6"}
    for name in ("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR", "XDG_CACHE_HOME"):
        environ[name] = str(tmp_path / name.lower())
        (tmp_path / name.lower()).mkdir(mode=0o700)
    (tmp_path / "bus.conf").write_text(WITHOUT_ACTIVATION)
    (tmp_path / "dunstrc").write_text(SERVER)
    done = subprocess.run(
        [
            # A screen of its own: on the one of all tests, its windows lie over what another test clicks.
            *(str(ROOT / "scripts/with-screen.sh"), "dbus-run-session", "--config-file", str(tmp_path / "bus.conf")),
            *("--", "sh", "-c", SERVED, "sh"),
            *(sys.executable, str(PROGRAM), str(tmp_path / "data"), str(tmp_path / "dunstrc")),
        ],
        capture_output=True,
        text=True,
        timeout=240,
        env=environ,
        check=False,
    )
    assert "Traceback" not in done.stderr, done.stderr
    assert done.stdout.splitlines() == [
        "tray: False | open: ",
        # A name is plain text, also to a server that reads markup.
        "CF Batch | CF Batch | “Prices &lt;b&gt;&amp;amp; terms&lt;/b&gt;” is finished.",
        "open: Second",
    ], done.stderr
