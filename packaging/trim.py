"""What PyInstaller collects and the program does not need; what remains is stripped."""

import fnmatch
import re
import subprocess
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path, PurePosixPath

# Paths inside the folder, as PyInstaller names them. A name counts as matched wherever a pattern fits all of it.
_UNWANTED = (
    # Qt: no OpenGL, no pictures but PNG and SVG, no network of its own (httpx is asked), no dialogs by GTK.
    "PySide6/Qt/plugins/egldeviceintegrations/*",
    "PySide6/Qt/plugins/generic/*",
    "PySide6/Qt/plugins/networkinformation/*",
    "PySide6/Qt/plugins/tls/*",
    "PySide6/Qt/plugins/platformthemes/libqgtk3.so",
    "PySide6/Qt/plugins/wayland-graphics-integration-client/lib[!q]*",
    # How and from where pip installed a package.
    *("*.dist-info/RECORD", "*.dist-info/INSTALLER", "*.dist-info/direct_url.json", "*.dist-info/sboms/*"),
    # Sources and examples that packages ship beside their compiled modules.
    "*.c",
    "*.cpp",
    "*.pxd",
    "*.pyi",
    "*.pyx",
    "*/tests/*",
    "wordllama/RESULTS.md",
)
# Of the plugins in these folders, only these.
_WANTED_PLUGINS: Mapping[str, tuple[str, ...]] = {
    "platforms": ("libqxcb.so", "libqwayland.so", "libqoffscreen.so"),
    "imageformats": ("libqsvg.so",),
    "wayland-shell-integration": ("libxdg-shell.so",),
}
_PLUGIN = re.compile(r"PySide6/Qt/plugins/([^/]+)/(lib[^/]+\.so)")
_QT_TRANSLATION = re.compile(r"PySide6/Qt/translations/(.+)\.qm")

# These come from the system: its own libraries and drivers load the same ones, in versions that they need, and its
# updates close their holes. Inside are those with another name elsewhere (libbz2), and libsqlite3 as it was tested.
_OF_THE_SYSTEM = (
    *("libX*.so.*", "libxcb*.so.*", "libxkbcommon*.so.*", "libwayland-*.so.*", "libGL*.so.*", "libEGL.so.*"),
    *("libstdc++.so.*", "libgcc_s.so.*", "libz.so.*", "libexpat.so.*", "libdrm.so.*"),
    *("libfontconfig.so.*", "libfreetype.so.*", "libpng16.so.*", "libglib-2.0.so.*", "libgthread-2.0.so.*"),
    *("libpcre2-8.so.*", "libdbus-1.so.*", "libssl.so.*", "libcrypto.so.*", "libffi.so.*", "libuuid.so.*"),
    *("libzstd.so.*", "liblzma.so.*", "libbrotli*.so.*"),
    *("libgssapi_krb5.so.*", "libkrb5*.so.*", "libk5crypto.so.*", "libcom_err.so.*", "libkeyutils.so.*"),
)
# Loaded by name while the program runs, so that no file says that it needs them.
_LOADED_BY_NAME = ("libpython3*", "libpyside6*", "libshiboken6*")
_BREAKS_WHEN_STRIPPED = ("numpy", "numpy.libs")


def is_wanted(name: str, languages: Iterable[str]) -> bool:
    """Whether a file belongs into the folder; `languages` are the codes of those that the program speaks."""
    name = name.replace("\\", "/")
    if (plugin := _PLUGIN.fullmatch(name)) is not None and plugin[1] in _WANTED_PLUGINS:
        return plugin[2] in _WANTED_PLUGINS[plugin[1]]
    if (translation := _QT_TRANSLATION.fullmatch(name)) is not None:
        return translation[1] in {f"qtbase_{code}" for code in languages}
    return not any(fnmatch.fnmatchcase(name, pattern) for pattern in _UNWANTED) and not _is_of_the_system(name)


def _is_of_the_system(name: str) -> bool:
    return "/" not in name and any(fnmatch.fnmatchcase(name, pattern) for pattern in _OF_THE_SYSTEM)


def trim(folder: Path) -> None:
    """Remove libraries from PyInstaller's folder that nothing in it needs, and strip the rest."""
    remove_unneeded(folder)
    for path in compiled_files(folder):
        if path.relative_to(folder).parts[0] not in _BREAKS_WHEN_STRIPPED:
            subprocess.run(["strip", "--strip-unneeded", path], check=True)
        if re.search(r"R(?:UN)?PATH\).*\[/", _dynamic_section(path)):  # of the machine that compiled it
            subprocess.run(["patchelf", "--remove-rpath", path], check=True)


def remove_unneeded(folder: Path) -> None:
    """Remove libraries that nothing that is left needs, again and again, and links that lead nowhere."""
    while True:
        needed = {name for path in compiled_files(folder) for name in needed_by(path)}
        libraries = [*folder.glob("lib*.so*"), *folder.glob("PySide6/Qt/lib/lib*.so*")]
        unneeded = [path for path in libraries if not (path.exists() and _is_needed(path.name, needed))]
        if not unneeded:
            return
        for path in unneeded:
            path.unlink()


def _is_needed(name: str, needed: Collection[str]) -> bool:
    return name in needed or any(fnmatch.fnmatchcase(name, pattern) for pattern in _LOADED_BY_NAME)


def compiled_files(folder: Path) -> list[Path]:
    """The libraries and modules below a folder, without links, sorted."""
    found = (path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    return sorted(path for path in found if ".so" in PurePosixPath(path).suffixes)


def needed_by(path: Path) -> list[str]:
    """The names of the libraries that a compiled file says it needs."""
    return re.findall(r"\(NEEDED\)\s+Shared library: \[(.+)\]", _dynamic_section(path))


def _dynamic_section(path: Path) -> str:
    command = ["readelf", "--dynamic", "--wide", str(path)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout
