"""What is inside the built folder, whose it is, and the texts of the licences it comes under."""

import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

_OWN_TEXTS = Path(__file__).resolve().parent / "licences"
# Texts that packages do not ship. Those of Qt and ICU name the code of others that is compiled into them.
_FORGOTTEN: Mapping[str, tuple[str, ...]] = {
    "arro3-core": ("Apache-2.0.txt",),
    "arro3-io": ("Apache-2.0.txt",),
    "pyside6-essentials": ("LGPL-3.txt", "GPL-3.txt", "Qt.txt", "ICU.txt"),
    "shiboken6": ("LGPL-3.txt", "GPL-3.txt"),
    "tokenizers": ("Apache-2.0.txt",),
}
_TEXT = re.compile(r"LICEN[SC]E|COPYING|NOTICE|AUTHORS|/sboms/", re.IGNORECASE)  # in files of a package's metadata
_LONGEST_NAME = 80  # characters; some packages give the text of the licence instead of its name
_OURS = ("cfbatch_gui/", "LICENSE")
_OF_PYINSTALLER = ("_pyi_rth_utils",)


class UnknownOrigin(Exception):
    """A file is inside that nobody is known to have made, or a package without the text of its licence."""


@dataclass(frozen=True, order=True)
class Part:
    """Something inside that others made. `licence` is "" where only its text says which one it is.

    `purl` is its name in bills of materials. `texts` are licences, and what wheels say of the libraries in them.
    """

    name: str
    version: str
    licence: str
    purl: str
    texts: tuple[Path, ...]


def parts_inside(folder: Path) -> list[Part]:
    """What PyInstaller's folder holds, by the packages of this Python and of Debian. Raises UnknownOrigin."""
    owners = {str(file): each for each in metadata.distributions() for file in each.files or ()}
    found = {"pyinstaller": metadata.distribution("pyinstaller")}  # both programs begin with its code
    libraries, unknown = [], []
    for path in sorted(path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()):
        name = path.relative_to(folder).as_posix()
        if name.startswith((*_OURS, *_OF_PYINSTALLER)):
            continue
        if (owner := owners.get(re.sub(r"\.pyc$", ".py", name))) is not None:
            found[_canonical(owner.name)] = owner
        elif path.parent == folder and re.fullmatch(r"lib.+\.so.*", name) and not name.startswith("libpython"):
            libraries.append(name)
        elif not _is_of_python(name):
            unknown.append(name)
    if unknown:
        raise UnknownOrigin(f"Whose are these files? {', '.join(unknown)}")
    parts = [_python(), *map(_of_distribution, found.values()), *_of_debian(libraries)]
    if missing := [part.name for part in parts if not part.texts]:
        raise UnknownOrigin(f"No text of the licence of {', '.join(missing)}: put it into packaging/licences.")
    return sorted(parts, key=lambda part: part.name.lower())


def copy_texts(parts: Iterable[Part], folder: Path) -> None:
    """Write the texts of each part to a folder of its name."""
    for part in parts:
        own = folder / part.name
        own.mkdir(parents=True)
        for text in part.texts:
            number = sum(text.name == other.name for other in part.texts[: part.texts.index(text)])
            shutil.copyfile(text, own / (f"{number}-{text.name}" if number else text.name))


def _is_of_python(name: str) -> bool:
    if name.startswith((f"python{sysconfig.get_python_version()}/", "libpython", "base_library.zip")):
        return True
    return (Path(sysconfig.get_path("stdlib")) / re.sub(r"\.pyc$", ".py", name)).exists()


def _python() -> Part:
    version = ".".join(map(str, sys.version_info[:3]))
    folder = Path(sysconfig.get_path("stdlib"))
    texts = tuple(path for path in (folder / "LICENSE.txt", Path("/usr/share/doc/python3/copyright")) if path.exists())
    return Part("Python", version, "PSF-2.0", f"pkg:generic/python@{version}", texts[:1])


def _of_distribution(found: metadata.Distribution) -> Part:
    name = _canonical(found.name)
    texts = [Path(str(file.locate())) for file in found.files or () if _TEXT.search(str(file).partition("-info/")[2])]
    texts += [_OWN_TEXTS / text for text in _FORGOTTEN.get(name, ())]
    licence = next((found.metadata[key] for key in ("License-Expression", "License") if key in found.metadata), "")
    short = licence if len(licence) <= _LONGEST_NAME and "\n" not in licence else ""
    return Part(found.name, found.version, short, f"pkg:pypi/{name}@{found.version}", tuple(sorted(texts)))


def _of_debian(libraries: Sequence[str]) -> list[Part]:
    """The packages that libraries were taken from, by dpkg. Raises UnknownOrigin."""
    packages = set()
    for name in libraries:
        asked = ["dpkg-query", "--search", f"/usr/lib/*/{name}", f"/lib/*/{name}"]
        said = subprocess.run(asked, check=False, capture_output=True, text=True).stdout
        if not said:
            raise UnknownOrigin(f"No package of this system has {name}.")
        packages.add(said.partition(":")[0])
    parts = []
    for package in sorted(packages):
        asked = ["dpkg-query", "--show", "--showformat=${Version}", package]
        version = subprocess.run(asked, check=True, capture_output=True, text=True).stdout
        texts = tuple(Path("/usr/share/doc", package).glob("copyright"))
        parts.append(Part(package, version, "", f"pkg:deb/debian/{package}@{version}", texts))
    return parts


def _canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
