"""The plugins by which Qt shows windows on Linux. They are tried first: one that cannot be loaded ends the process."""

from collections.abc import Mapping
from pathlib import Path

from PySide6.QtCore import QLibraryInfo

from cfbatch_gui.core.system.window_libraries import what_plugin_lacks


def missing_for_screen(environ: Mapping[str, str]) -> str:
    """The soname of the library for want of which Qt could show no window, "" when nothing is missing.

    To be called before there is an application. Only what Qt would load next is loaded.
    """
    missing = ""
    for name in _wanted(environ):
        path = plugin(name)
        if path is None:
            return ""  # Qt knows more, or says what is wrong
        lacks = what_plugin_lacks(path)
        if not lacks:
            return ""
        missing = missing or lacks
    return missing


def plugin(name: str) -> Path | None:
    """The file of the plugin for a platform, such as "xcb"; None where Qt ships none."""
    path = Path(QLibraryInfo.path(QLibraryInfo.LibraryPath.PluginsPath)) / "platforms" / f"libq{name}.so"
    return path if path.is_file() else None


def _wanted(environ: Mapping[str, str]) -> tuple[str, ...]:
    """The platforms that Qt tries, in its order: those that are asked for, else those of the displays there are."""
    asked_for = environ.get("QT_QPA_PLATFORM", "")
    if asked_for:
        return tuple(each.partition(":")[0] for each in asked_for.split(";"))
    displays = {"wayland": "WAYLAND_DISPLAY", "xcb": "DISPLAY"}
    return tuple(name for name, variable in displays.items() if environ.get(variable))
