"""Files opened as a file manager opens them, by the desktop file as it is shipped: each becomes a draft with its rows.

The desktop is one of its own: a screen, a session bus, and folders in which the program is what opens CSV files.
"""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

pytest.importorskip("PySide6")

from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.system.paths import Paths
from cfbatch_gui.ui.window.main_window import DESKTOP_ID
from tests.journeys.desktop import WITHOUT_ACTIVATION
from tests.journeys.terminal import ROOT, jobs_in, own_environ, until

DESKTOP_FILE = ROOT / "packaging" / f"{DESKTOP_ID}.desktop"
PROGRAMS = Path(sys.executable).parent
_PATIENCE = 240.0  # seconds
_TOOLS = ("gio", "xdg-open", "update-mime-database", "dbus-run-session", "Xvfb", "xdotool")
# Says where the screen and the bus are, and keeps both until its input ends.
_KEEPER = 'echo "$DISPLAY"; echo "$DBUS_SESSION_BUS_ADDRESS"; exec cat'

pytestmark = [
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="desktops of Linux"),
    pytest.mark.skipif(not all(map(shutil.which, _TOOLS)), reason=f"one of {', '.join(_TOOLS)} is not installed"),
    pytest.mark.skipif(not (PROGRAMS / "cfbatch-gui").exists(), reason="the project is not installed"),
]


@dataclass
class FileManager:
    """What the user does in a file manager, and what the program that it starts has done with it."""

    home: Path
    environ: dict[str, str]

    @property
    def paths(self) -> Paths:
        return Paths(self.home / ".local" / "share" / "cfbatch")

    def file(self, name: str, rows: int) -> Path:
        path = self.home / name
        path.write_text("query,text\n" + "".join(f"clouds,cloud {number}\n" for number in range(rows)))
        return path

    def run(self, *command: object) -> None:
        """Run a command of the desktop to its end; what it starts goes on, with an output that nobody waits for."""
        words = [str(word) for word in command]
        with (self.home / "said.txt").open("ab") as said:
            subprocess.run(words, env=self.environ, check=True, stdout=said, stderr=said, timeout=_PATIENCE)

    def drafts(self) -> dict[Path, int]:
        kept = [(JobFolder(self.paths.job(job.id)).draft(), job.rows_in) for job in jobs_in(self.paths.root)]
        return {Path(draft.path): rows for draft, rows in kept if draft is not None}

    def windows(self) -> list[str]:
        """The processes that show a window of the program, once for each window."""
        search = ["xdotool", "search", "--onlyvisible", "--name", "^CF Batch$", "getwindowpid", "%@"]
        return subprocess.run(search, env=self.environ, check=False, capture_output=True, text=True).stdout.split()

    def close(self) -> None:
        for process in set(self.windows()):
            os.kill(int(process), signal.SIGTERM)
        until(lambda: not self.windows() and not self.paths.window_socket.exists())


@pytest.fixture
def files(tmp_path: Path, runtime_folder: Path) -> Iterator[FileManager]:
    share, config = tmp_path / ".local" / "share", tmp_path / ".config"
    for folder in (share / "applications", share / "mime" / "packages", config):
        folder.mkdir(parents=True)
    shutil.copy(DESKTOP_FILE, share / "applications")
    shutil.copy(ROOT / "packaging" / "cfbatch-mime.xml", share / "mime" / "packages")
    (config / "mimeapps.list").write_text(f"[Default Applications]\ntext/csv={DESKTOP_FILE.name}\n")
    (tmp_path / "bus.conf").write_text(WITHOUT_ACTIVATION)
    environ = own_environ(tmp_path, LC_ALL="C.UTF-8", QT_QPA_PLATFORM="xcb", XDG_RUNTIME_DIR=str(runtime_folder))
    environ |= {"PATH": f"{PROGRAMS}:{os.environ['PATH']}", "XDG_CURRENT_DESKTOP": "X-GNOME"}  # xdg-open asks gio there
    bus = ("dbus-run-session", "--config-file", str(tmp_path / "bus.conf"), "--", "sh", "-c", _KEEPER)
    command = [str(ROOT / "scripts" / "with-screen.sh"), *bus]
    with subprocess.Popen(command, env=environ, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as keeper:
        assert keeper.stdout is not None and keeper.stdin is not None
        environ["DISPLAY"] = keeper.stdout.readline().strip()
        environ["DBUS_SESSION_BUS_ADDRESS"] = keeper.stdout.readline().strip()
        manager = FileManager(tmp_path, environ)
        manager.run("update-mime-database", share / "mime")
        try:
            yield manager
            manager.close()
        finally:
            keeper.stdin.close()


def test_files_that_are_opened_become_drafts_of_one_window_whatever_their_names(files: FileManager) -> None:
    cheese, next_one = files.file("100 % Käse äöü.csv", 3), files.file("next%20one.csv", 5)
    files.run("gio", "open", cheese)
    until(lambda: files.drafts() == {cheese: 3})
    (window,) = files.windows()
    files.run("xdg-open", next_one)
    until(lambda: files.drafts() == {cheese: 3, next_one: 5})
    three, four = files.file("two words.csv", 7), files.file("#4?.csv", 9)
    files.run("gio", "open", three, four)  # which starts the program once for each
    until(lambda: files.drafts() == {cheese: 3, next_one: 5, three: 7, four: 9})
    assert files.windows() == [window]
