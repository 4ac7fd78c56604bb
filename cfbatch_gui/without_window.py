"""What is said when there can be no window, and which libraries of Linux it lacks.

On standard error, and on the desktop where an icon was clicked.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from typing import Final

from cfbatch_gui.core.messages import message
from cfbatch_gui.core.system.printing import put
from cfbatch_gui.core.system.processes import without_secrets
from cfbatch_gui.words.languages import said

STATUS = 2  # as for wrong usage: the user can do something about it

# What the loader says: "libEGL.so.1: cannot open shared object file: …", "/usr/lib/libEGL.so.1: file too short".
_NAMED = re.compile(r"(?:^|[\s/'\"])(lib[\w.+-]*\.so(?:\.\d+)*): (?:cannot open|file too short|invalid ELF)")

# Debian's packages of the libraries that a window needs and Qt does not bring along.
# Source: the wheels of PySide6 6.11, read with ldd.
_PACKAGES: Final = (
    "libgl1 libegl1 libfontconfig1 libfreetype6 libglib2.0-0 libdbus-1-3 libzstd1 libxkbcommon0 libx11-6 libxcb1"
    " libx11-xcb1 libxkbcommon-x11-0 libxcb-cursor0 libxcb-icccm4 libxcb-image0 libxcb-keysyms1 libxcb-render-util0"
    " libxcb-render0 libxcb-randr0 libxcb-shape0 libxcb-shm0 libxcb-sync1 libxcb-xfixes0 libxcb-xkb1"
    " libwayland-client0 libwayland-cursor0"
)


def say_no_screen() -> int:
    """There is no display; the exit status."""
    _say(said(message("there_is_no_screen_here_terminal")))
    return STATUS


def say_no_window(reason: str, environ: Mapping[str, str]) -> int:
    """Qt cannot be loaded, or shows no window; the exit status."""
    sentence = said(missing_sentence(reason))
    _say(sentence)
    if sys.stderr is None or not sys.stderr.isatty():
        show_on_desktop(sentence, environ)
    return STATUS


def watch_qt(end: Callable[[str], int]) -> None:
    """Where Qt gives up, which would end the process, call `end` with the reason, and exit with its status."""
    from PySide6.QtCore import QMessageLogContext, QtMsgType, qInstallMessageHandler

    of_platforms: list[str] = []  # the first has the cause

    def heard(kind: QtMsgType, context: QMessageLogContext, text: str) -> None:
        if str(context.category).startswith("qt.qpa"):
            of_platforms.append(text)
        if kind is QtMsgType.QtFatalMsg:
            os._exit(end((of_platforms or [text])[0]))
        _say(text)

    qInstallMessageHandler(heard)


def _say(sentence: str) -> None:
    put(sys.stderr, f"{sentence}\n")


def show_on_desktop(sentence: str, environ: Mapping[str, str]) -> bool:
    """Show the sentence by a program of the desktop's own; whether there is one. Does not wait until it is read.

    The program gets no secrets, and not the folder of libraries that a packed program puts before the system's.
    """
    given = without_secrets(environ)
    original = given.pop("LD_LIBRARY_PATH_ORIG", None)  # kept there by PyInstaller
    if original is not None:
        given["LD_LIBRARY_PATH"] = original
    for program, *arguments in (
        # A sentence of ours begins with no hyphen, so none takes it for an option.
        ("zenity", "--error", "--title=CF Batch", "--no-markup", "--width=420", f"--text={sentence}"),
        ("kdialog", "--title", "CF Batch", "--error", sentence),
        ("xmessage", "-center", "-title", "CF Batch", sentence),
        ("notify-send", "--urgency=critical", "--app-name=CF Batch", "CF Batch", sentence),
    ):
        if (found := shutil.which(program, path=environ.get("PATH"))) is None:
            continue
        try:
            subprocess.Popen(  # noqa: S603 # a list of arguments, without a shell
                [found, *arguments],
                env=given,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        except OSError:
            continue
        return True
    return False


def lacking(error: BaseException) -> str:
    """That a library is missing, for want of which `error` was raised, "" when it is another error."""
    found = _NAMED.search(str(error))
    return message("system_lacks_library", library=found[1]) if found else ""


def missing_sentence(reason: str) -> str:
    """That there can be no window, why, and what brings all that it needs."""
    way_out = message("install_what_such_files_program_packages")
    if shutil.which("apt-get"):
        way_out = message("type_into_terminal_start_again_command", command=f"sudo apt-get install {_PACKAGES}")
    return message("cf_batch_cannot_open_window_reason", reason=reason, way_out=way_out)
