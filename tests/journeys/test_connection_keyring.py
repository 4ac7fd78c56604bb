import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.canary import TOKEN
from tests.support.practice import PracticeServer

PROGRAM = Path(__file__).with_name("connection_window.py")
ROOT = Path(__file__).parents[2]
# $1 python, $2 the program, $3 the data folder, $4 the service's address; the token comes on stdin
TWO_STARTS = """
read -r token
printf test | gnome-keyring-daemon --unlock --components=secrets --daemonize >/dev/null
printf '%s\\n' "$token" | "$1" "$2" "$3" "$4" save && "$1" "$2" "$3" "$4" remove </dev/null
"""

pytest.importorskip("PySide6")


@pytest.mark.skipif(
    not (shutil.which("dbus-run-session") and shutil.which("gnome-keyring-daemon")),
    reason="dbus-run-session or gnome-keyring-daemon is not installed",
)
def test_a_token_typed_into_the_window_is_there_at_the_next_start(tmp_path: Path) -> None:
    environ = {name: text for name, text in os.environ.items() if not name.startswith(("DBUS_", "PYTHON_KEYRING"))}
    environ |= {"PYTHONPATH": str(ROOT), "QT_QPA_PLATFORM": "offscreen", "QT_API": "pyside6"}
    for name in ("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR", "XDG_CACHE_HOME"):
        environ[name] = str(tmp_path / name.lower())
        (tmp_path / name.lower()).mkdir(mode=0o700)
    with PracticeServer(tmp_path / "service", token=TOKEN) as server:
        arguments = (sys.executable, str(PROGRAM), str(tmp_path / "data"), server.url)
        done = subprocess.run(
            ["dbus-run-session", "--", "sh", "-c", TWO_STARTS, "sh", *arguments],
            input=f"{TOKEN}\n",
            capture_output=True,
            text=True,
            timeout=100,
            env=environ,
            check=False,
        )
    untested = " | ".join(["Not tested yet"] * 4)
    works = " | ".join(["Yes"] * 4)
    saved = "A token is saved in this computer’s keyring"
    assert done.stdout.splitlines() == [
        f"a field for a token | {untested}",
        f"{saved} | {works}",
        f"{saved} | {untested}",  # the second start
        f"{saved} | {works}",
        f"a field for a token | {untested}",
    ], done.stderr
    assert TOKEN not in done.stderr and "Traceback" not in done.stderr
    written = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert TOKEN.encode() not in written
