"""What is said when there can be no window, and which libraries of Linux it lacks.

On standard error, and on the desktop where an icon was clicked.
"""

import ctypes
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from cfbatch_gui.core.messages import message
from cfbatch_gui.core.system.languages import said
from cfbatch_gui.core.system.processes import without_secrets

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
    _say(said(message("There is no screen here. The terminal program “cfbatch” does the same work.")))
    return STATUS


def say_missing_library(soname: str, environ: Mapping[str, str]) -> int:
    """A library that Qt needs is missing; the exit status."""
    sentence = said(missing_sentence(soname))
    _say(sentence)
    if sys.stderr is None or not sys.stderr.isatty():
        show_on_desktop(sentence, environ)
    return STATUS


def _say(sentence: str) -> None:
    if sys.stderr is not None:  # as on Windows
        print(sentence, file=sys.stderr, flush=True)  # noqa: T201


def show_on_desktop(
    sentence: str, environ: Mapping[str, str], *, find: Callable[[str], str | None] = shutil.which
) -> bool:
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
        if (found := find(program)) is None:
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


def named_library(error: BaseException) -> str:
    """The soname of the library for want of which `error` was raised, "" when it is another error."""
    found = _NAMED.search(str(error))
    return found[1] if found else ""


def missing_sentence(soname: str, *, has_apt: bool | None = None) -> str:
    """That there can be no window, for want of which library, and what brings it and all others."""
    way_out = way_to_install(
        _PACKAGES.split(),
        otherwise=message("Install what has such files by the program for packages of your system, and start again."),
        has_apt=has_apt,
    )
    return message(
        "CF Batch cannot open its window: this system lacks {library}. {way_out}", library=soname, way_out=way_out
    )


def way_to_install(packages: Sequence[str], *, otherwise: str, has_apt: bool | None = None) -> str:
    """The one command that installs packages of Debian, in a sentence; `otherwise` where there is no apt-get."""
    if not (shutil.which("apt-get") if has_apt is None else has_apt):
        return otherwise
    command = f"sudo apt-get install {shlex.join(dict.fromkeys(packages))}"
    return message("Type this into a terminal, and start again: {command}", command=command)


def missing_for_screen(environ: Mapping[str, str]) -> str:
    """The soname of the library for want of which Qt could show no window, "" when nothing is missing.

    To be called before there is an application: a plugin of Qt's that cannot be loaded ends the process. Only what Qt
    would load next is loaded.
    """
    missing = ""
    for name in _wanted(environ):
        path = qt_plugin(name)
        if path is None:
            return ""  # Qt knows more, or says what is wrong
        lacks = what_plugin_lacks(path)
        if not lacks:
            return ""
        missing = missing or lacks
    return missing


def qt_plugin(name: str) -> Path | None:
    """The file of Qt's plugin for a platform, such as "xcb"; None where Qt ships none."""
    from PySide6.QtCore import QLibraryInfo

    path = Path(QLibraryInfo.path(QLibraryInfo.LibraryPath.PluginsPath)) / "platforms" / f"libq{name}.so"
    return path if path.is_file() else None


def what_plugin_lacks(path: str | os.PathLike[str], load: Callable[[str], object] = ctypes.CDLL) -> str:
    """The soname of a library for want of which a plugin of Qt's cannot be loaded, "" when it can."""
    try:
        load(os.fspath(path))
    except OSError as error:
        return named_library(error)
    return ""


def _wanted(environ: Mapping[str, str]) -> tuple[str, ...]:
    """The platforms that Qt tries, in its order: those that are asked for, else those of the displays there are."""
    asked_for = environ.get("QT_QPA_PLATFORM", "")
    if asked_for:
        return tuple(each.partition(":")[0] for each in asked_for.split(";"))
    displays = {"wayland": "WAYLAND_DISPLAY", "xcb": "DISPLAY"}
    return tuple(name for name, variable in displays.items() if environ.get(variable))
