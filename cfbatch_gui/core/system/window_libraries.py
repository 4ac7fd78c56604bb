"""The libraries of Linux that a window needs and Qt does not bring along: which are missing, and how to get them."""

import ctypes
import os
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from cfbatch_gui.core.messages import cut_list, message
from cfbatch_gui.core.system.distributions import Installer, way_to_install

# What the loader says: "libEGL.so.1: cannot open shared object file: …", "/usr/lib/libEGL.so.1: file too short".
_NAMED = re.compile(r"(?:^|[\s/'\"])(lib[\w.+-]*\.so(?:\.\d+)*): (?:cannot open|file too short|invalid ELF)")

# The libraries by their sonames, with their packages in Debian and in Arch. Source: the wheels of PySide6 6.11, read
# with ldd. The names for Red Hat, SUSE and Alpine are the sonames themselves, which their packages provide.
_PACKAGES: Final[Mapping[str, tuple[str, str]]] = {
    "libGL.so.1": ("libgl1", "libglvnd"),
    "libEGL.so.1": ("libegl1", "libglvnd"),
    "libfontconfig.so.1": ("libfontconfig1", "fontconfig"),
    "libfreetype.so.6": ("libfreetype6", "freetype2"),
    "libglib-2.0.so.0": ("libglib2.0-0", "glib2"),
    "libgthread-2.0.so.0": ("libglib2.0-0", "glib2"),
    "libdbus-1.so.3": ("libdbus-1-3", "dbus"),
    "libzstd.so.1": ("libzstd1", "zstd"),
    "libxkbcommon.so.0": ("libxkbcommon0", "libxkbcommon"),
    "libX11.so.6": ("libx11-6", "libx11"),
    "libxcb.so.1": ("libxcb1", "libxcb"),
    "libX11-xcb.so.1": ("libx11-xcb1", "libx11"),
    "libxkbcommon-x11.so.0": ("libxkbcommon-x11-0", "libxkbcommon-x11"),
    "libxcb-cursor.so.0": ("libxcb-cursor0", "xcb-util-cursor"),
    "libxcb-icccm.so.4": ("libxcb-icccm4", "xcb-util-wm"),
    "libxcb-image.so.0": ("libxcb-image0", "xcb-util-image"),
    "libxcb-keysyms.so.1": ("libxcb-keysyms1", "xcb-util-keysyms"),
    "libxcb-render-util.so.0": ("libxcb-render-util0", "xcb-util-renderutil"),
    "libxcb-render.so.0": ("libxcb-render0", "libxcb"),
    "libxcb-randr.so.0": ("libxcb-randr0", "libxcb"),
    "libxcb-shape.so.0": ("libxcb-shape0", "libxcb"),
    "libxcb-shm.so.0": ("libxcb-shm0", "libxcb"),
    "libxcb-sync.so.1": ("libxcb-sync1", "libxcb"),
    "libxcb-xfixes.so.0": ("libxcb-xfixes0", "libxcb"),
    "libxcb-xkb.so.1": ("libxcb-xkb1", "libxcb"),
    "libwayland-client.so.0": ("libwayland-client0", "wayland"),
    "libwayland-cursor.so.0": ("libwayland-cursor0", "wayland"),
}
_NAMED_MOST: Final = 3  # libraries, the others are counted; the command brings all
_WAYLAND: Final = frozenset(name for name in _PACKAGES if "wayland" in name)
# Debian 13 and Ubuntu 24.04 have 64 bits for times, and other names for libraries with times in them.
_T64: Final = {"libglib2.0-0": "libglib2.0-0t64"}
_FIRST_WITH_T64: Final = {"debian": 13.0, "ubuntu": 24.04}


def named_library(error: BaseException) -> str:
    """The soname of the library for want of which `error` was raised, "" when it is another error."""
    found = _NAMED.search(str(error))
    return found[1] if found else ""


def missing_libraries(first: str, load: Callable[[str], object] = ctypes.CDLL) -> tuple[str, ...]:
    """`first`, which is known to be missing, and all others that the window would not find after it."""
    others = [name for name in _PACKAGES if name != first and not _is_there(name, load)]
    return (first, *(name for name in others if name not in _WAYLAND or first in _WAYLAND))


def what_plugin_lacks(path: str | os.PathLike[str], load: Callable[[str], object] = ctypes.CDLL) -> str:
    """The soname of a library for want of which a plugin of Qt's cannot be loaded, "" when it can.

    What is loaded here, Qt does not load again.
    """
    try:
        load(os.fspath(path))
    except OSError as error:
        return named_library(error)
    return ""


def missing_sentence(missing: Sequence[str], distribution: Mapping[str, str]) -> str:
    """That there can be no window, for want of which libraries, and what brings them."""
    return message(
        "CF Batch cannot open its window: this system lacks {libraries}. {way_out}",
        libraries=libraries_in_words(missing),
        way_out=way_to_libraries(missing, distribution),
    )


def libraries_in_words(missing: Sequence[str]) -> str:
    """The first of them, and how many there are besides."""
    return cut_list(missing[:_NAMED_MOST], len(missing) - _NAMED_MOST)


def way_to_libraries(missing: Sequence[str], distribution: Mapping[str, str]) -> str:
    """A sentence that says how to get all of them."""
    return way_to_install(
        lambda installer: [_package(name, installer, distribution) for name in missing],
        distribution,
        otherwise=message("Install what has these files by the program for packages of your system, and start again."),
    )


def _package(soname: str, installer: Installer, distribution: Mapping[str, str]) -> str:
    in_debian, in_arch = _PACKAGES.get(soname, ("", ""))
    match installer:
        case Installer.DNF | Installer.ZYPPER:
            return f"{soname}()(64bit)"
        case Installer.APK:
            return f"so:{soname}"
        case Installer.PACMAN:
            return in_arch or soname
        case Installer.APT:
            return _T64.get(in_debian, in_debian) if _has_t64(distribution) else in_debian or soname
    return soname


def _has_t64(distribution: Mapping[str, str]) -> bool:
    try:
        version = float(distribution.get("VERSION_ID", ""))
    except ValueError:  # Debian's testing has none
        return False
    return version >= _FIRST_WITH_T64.get(distribution.get("ID", ""), float("inf"))


def _is_there(soname: str, load: Callable[[str], object]) -> bool:
    try:
        load(soname)
    except OSError:
        return False
    return True
