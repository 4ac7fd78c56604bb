"""Pictures of a window that runs in a bare system, on the screen of this process, and whether they show letters.

The test of letters knows nothing of where they stand: two files of one name, with texts of as many letters, are opened
one after the other. Where a font has the letters, the pictures differ; where boxes stand for them, they are the same.
"""

import shlex
import subprocess
import time
from collections.abc import Mapping

from bare_root import BareRoot
from PySide6.QtGui import QGuiApplication, QImage, QScreen

# Of each script two texts, alike in their numbers of characters, words and bytes.
TEXTS: Mapping[str, tuple[str, str]] = {
    "Latin": ("The quick brown fox", "She packs seven jug"),
    "Arabic": ("النص العربي هنا", "هذه كلماتكم نصك"),
    "CJK": ("日本語の文字 中文 한국어", "漢字を表す紙 言葉 서울말"),
}
_FIELD_CODES = ("%f", "%F", "%u", "%U")
_SECONDS_TO_OPEN = 60.0
_SECONDS_STILL = 1.5  # as long as this the picture has to stay the same
_SECONDS_BETWEEN = 0.25


class NoWindow(Exception):
    """The program ended, or showed no window, or one that did not come to rest."""


def file_of_texts(other: str = "") -> str:
    """A CSV with a row for each script, of which `other` has its other text."""
    return "script,text\n" + "".join(f"{script},{texts[script == other]}\n" for script, texts in TEXTS.items())


def command_of(desktop_file: str, path: str) -> list[str]:
    """What a desktop runs to open a file: the Exec line, with the path in place of its field code, else at its end."""
    (line,) = (line.removeprefix("Exec=") for line in desktop_file.splitlines() if line.startswith("Exec="))
    words = shlex.split(line)
    if not any(word in _FIELD_CODES for word in words):
        words.append(_FIELD_CODES[0])
    return [path if word in _FIELD_CODES else word for word in words]


class Pictures:
    """Takes pictures of the installed program in a bare system; each start has a home of its own."""

    def __init__(self, root: BareRoot, display: str) -> None:
        self._root, self._display = root, display
        self._application = QGuiApplication.instance() or QGuiApplication([])
        self._count = 0

    def of_texts(self, other: str = "") -> QImage:
        """The window with the file of texts, opened as the installed desktop file says. Raises NoWindow."""
        (desktop_file,) = (self._root.path / "usr" / "share" / "applications").glob("*cfbatch*.desktop")
        self._count += 1
        home = self._root.home / str(self._count)
        home.mkdir()
        (home / "texts.csv").write_text(file_of_texts(other), "utf-8")
        self._root.give(home)
        inside = f"/home/{self._root.home.name}/{home.name}"
        command = ["env", "--chdir", inside, *command_of(desktop_file.read_text("utf-8"), f"{inside}/texts.csv")]
        environ = {"HOME": inside, "PATH": "/usr/bin:/bin", "DISPLAY": self._display, "LANG": "C.UTF-8"}
        program = self._root.start_as_person(*command, environ=environ)
        try:
            return self._at_rest(program)
        finally:
            program.terminate()
            program.wait()

    def _at_rest(self, program: "subprocess.Popen[bytes]") -> QImage:
        deadline = time.monotonic() + _SECONDS_TO_OPEN
        before, since = QImage(), time.monotonic()
        while time.monotonic() < deadline:
            if program.poll() is not None:
                raise NoWindow(f"The program ended with status {program.returncode}.")
            picture = _grabbed(QGuiApplication.primaryScreen())
            if picture != before or not self._has_window():
                before, since = picture, time.monotonic()
            elif time.monotonic() - since >= _SECONDS_STILL:
                return picture
            time.sleep(_SECONDS_BETWEEN)
        raise NoWindow(f"No window came to rest in {_SECONDS_TO_OPEN:.0f} seconds.")

    def _has_window(self) -> bool:
        command = ["xdotool", "search", "--onlyvisible", "--name", "CF Batch"]
        return subprocess.run(command, check=False, capture_output=True).returncode == 0


def _grabbed(screen: QScreen) -> QImage:
    return screen.grabWindow(0).toImage()
