"""A keyring that is locked, refused, slow or absent: never blank, never wrong, and everything goes on by itself."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.canary import TOKEN
from tests.support.practice import PracticeServer

PROGRAM = Path(__file__).with_name("keyring_window.py")
ROOT = Path(__file__).parents[2]
# $1 python, $2 the program, $3 the data folder, $4 the service's address, $5 a journey; the token comes on stdin
PREPARED = """
read -r token
printf test | gnome-keyring-daemon --unlock --components=secrets --foreground >/dev/null &
first=$!
printf '%s\\n' "$token" | "$1" "$2" "$3" "$4" prepare || exit 1
"""
LOCKED = """
kill $first; wait $first
gnome-keyring-daemon --start --foreground --components=secrets >/dev/null &
"$1" "$2" "$3" "$4" "$5"
"""
SLOW = """
trap 'kill -CONT $first' EXIT
kill -STOP $first
KEYRING_PID=$first "$1" "$2" "$3" "$4" slow
"""
ABSENT = """
printf '%s\\n' "$token" | DBUS_SESSION_BUS_ADDRESS=unix:path=/nonexistent "$1" "$2" "$3" "$4" absent
"""
WAITS = "What waits for it goes on by itself as soon as it does."

pytest.importorskip("PySide6")
pytestmark = pytest.mark.skipif(
    not (shutil.which("dbus-run-session") and shutil.which("gnome-keyring-daemon")),
    reason="dbus-run-session or gnome-keyring-daemon is not installed",
)


def seen(tmp_path: Path, script: str, journey: str = "") -> list[str]:
    """What the program wrote after the keyring had the token; beside a Secret Service of its own, without a display."""
    foreign = ("DBUS_", "PYTHON_KEYRING", "DISPLAY", "WAYLAND_")
    environ = {name: text for name, text in os.environ.items() if not name.startswith(foreign)}
    environ |= {"PYTHONPATH": str(ROOT), "QT_QPA_PLATFORM": "offscreen", "QT_API": "pyside6"}
    for name in ("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"):
        environ[name] = str(tmp_path / name.lower())
        (tmp_path / name.lower()).mkdir(mode=0o700)
    with (
        PracticeServer(tmp_path / "service", token=TOKEN) as server,
        # gnome-keyring makes sockets there; below a test's own folder their paths are longer than a socket's may be.
        TemporaryDirectory(prefix="cfbatch-", dir="/tmp") as runtime,
    ):
        environ["XDG_RUNTIME_DIR"] = runtime
        arguments = (sys.executable, str(PROGRAM), str(tmp_path / "data"), server.url, journey)
        done = subprocess.run(
            ["dbus-run-session", "--", "sh", "-c", PREPARED + script, "sh", *arguments],
            input=f"{TOKEN}\n",
            capture_output=True,
            text=True,
            timeout=300,
            env=environ,
            check=False,
        )
    assert TOKEN not in done.stdout + done.stderr
    assert done.returncode == 0 and "Traceback" not in done.stderr, f"{done.stdout}\n{done.stderr}"
    lines = done.stdout.splitlines()
    assert lines[:1] == ["kept in the keyring"], done.stderr
    return lines[1:]


def test_a_locked_keyring_is_called_locked_and_all_goes_on_once_it_is_unlocked(tmp_path: Path) -> None:
    assert seen(tmp_path, LOCKED, "locked") == [
        "Your keyring is locked · Unlock | a page: True",
        "Your keyring was not unlocked. Unlock it; what waits for it goes on by itself.",
        "refused, asked again: refused",
        "done | new jobs are sent there",
    ]


def test_a_slow_keyring_holds_up_no_page_and_its_late_answer_is_taken(tmp_path: Path) -> None:
    assert seen(tmp_path, SLOW) == [
        "Checking the keyring… | a page: True",
        "settings | checking: True",
        f"Your keyring does not answer | Your keyring does not answer. {WAITS}",
        "done | new jobs are sent there",
    ]


def test_without_a_keyring_the_token_is_asked_for_and_kept_for_this_time(tmp_path: Path) -> None:
    missing, *rest = seen(tmp_path, ABSENT)
    assert missing.startswith("The API token is missing.") and "CLOUDFLARE_API_TOKEN" in missing
    assert rest == [
        "kept in the session",
        "done | new jobs are sent there",
    ]
