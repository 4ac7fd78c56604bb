"""A keyring that is locked, never wrong, and all goes on once it is open; and a real server of notices."""

import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.canary import TOKEN
from tests.journeys.desktop import WITHOUT_ACTIVATION
from tests.journeys.terminal import ROOT, own_environ, run_well
from tests.support.practice import PracticeServer

# "$@" is the program with its data folder and the service's address; the token comes on stdin
PREPARED = """
read -r token
printf test | gnome-keyring-daemon --unlock --components=secrets --foreground >/dev/null &
first=$!
printf '%s\\n' "$token" | "$@" prepare || exit 1
"""
LOCKED = """
kill $first; wait $first
gnome-keyring-daemon --start --foreground --components=secrets >/dev/null &
"$@" locked
"""
NOTICED = """
dunst -conf "$HOME/dunstrc" &
server=$!
until dunstctl count displayed >/dev/null 2>&1; do sleep 0.05; done
QT_QPA_PLATFORM=offscreen "$@" noticed
kill -0 "$server" 2>/dev/null || { wait "$server"; echo "the server had ended: $?" >&2; }
"""
# The server reads markup. A notice stays until it is closed, however long the machine takes to look at it.
SERVER = "[global]\nmarkup = full\n[urgency_low]\ntimeout = 0\n[urgency_normal]\ntimeout = 0\n"

pytest.importorskip("PySide6")


def seen(tmp_path: Path, script: str, *session: object) -> list[str]:
    """What the program wrote in a session of its own, without a display."""
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    (home / "dunstrc").write_text(SERVER)
    environ = own_environ(home, QT_QPA_PLATFORM="offscreen", QT_API="pyside6")
    with (
        PracticeServer(tmp_path / "service", token=TOKEN) as server,
        # Sockets are made there; below a test's own folder their paths are longer than a socket's may be.
        TemporaryDirectory(prefix="cfbatch-", dir="/tmp") as environ["XDG_RUNTIME_DIR"],
    ):
        program = (sys.executable, "-m", "tests.journeys.desktop_services", tmp_path / "data", server.url)
        command = (*session, "--", "sh", "-c", script, "sh", *program)
        return run_well(*command, environ=environ, given=f"{TOKEN}\n").splitlines()


@pytest.mark.skipif(
    not all(map(shutil.which, ("dbus-run-session", "gnome-keyring-daemon"))),
    reason="dbus-run-session or gnome-keyring-daemon is not installed",
)
def test_a_locked_keyring_is_called_locked_and_all_goes_on_once_it_is_unlocked(tmp_path: Path) -> None:
    assert seen(tmp_path, PREPARED + LOCKED, "dbus-run-session") == [
        "kept in the keyring",
        "Your keyring is locked · Unlock | a page: True",
        "your_keyring_was_not_unlocked_unlock",
        "refused, asked again: refused",
        "done | new jobs are sent there",
    ]


@pytest.mark.skipif(
    not all(map(shutil.which, ("dbus-run-session", "dunst", "Xvfb"))),
    reason="dbus-run-session, dunst or Xvfb is not installed",
)
def test_a_notice_arrives_without_a_tray_and_a_click_opens_the_job(tmp_path: Path) -> None:
    (tmp_path / "bus.conf").write_text(WITHOUT_ACTIVATION)
    # A screen of its own: on the one of all tests, its windows lie over what another test clicks.
    session = (ROOT / "scripts/with-screen.sh", "dbus-run-session", "--config-file", tmp_path / "bus.conf")
    assert seen(tmp_path, NOTICED, *session) == [
        "tray: False | open: ",
        # A name is plain text, also to a server that reads markup.
        "CF Batch | CF Batch | “Prices &lt;b&gt;&amp;amp; terms&lt;/b&gt;” is finished.",
        "open: Second",
    ]
