"""What tells a desktop of Linux about the program: valid by its own tools, and of one mind with the program."""

import os
import re
import shutil
import struct
import subprocess
import sys
from configparser import ConfigParser
from datetime import date
from pathlib import Path
from xml.etree import ElementTree

import pytest

pytest.importorskip("PySide6")

from cfbatch_gui import __version__
from cfbatch_gui.core.inputs.readers.formats import FORMATS
from cfbatch_gui.ui.window.main_window import DESKTOP_ID

PACKAGING = Path(__file__).parents[1] / "packaging"
DESKTOP = PACKAGING / f"{DESKTOP_ID}.desktop"
METAINFO = PACKAGING / "io.github.cfbatch.CFBatch.metainfo.xml"

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="desktops of Linux")


def run(*command: object, **environ: str) -> str:
    """What a tool says on both outputs; it has to be content."""
    if not shutil.which(str(command[0])):
        pytest.skip(f"{command[0]} is not installed: scripts/system-packages.sh tests")
    words = [str(word) for word in command]
    done = subprocess.run(
        words, env={**os.environ, "LC_ALL": "C", **environ}, check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def desktop_entry() -> dict[str, str]:
    parser = ConfigParser(interpolation=None, delimiters=("=",))
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read(DESKTOP, encoding="utf-8")
    return dict(parser["Desktop Entry"])


def metainfo() -> ElementTree.Element:
    return ElementTree.parse(METAINFO).getroot()


def texts(path: str) -> list[str]:
    return [(each.text or "").strip() for each in metainfo().findall(path)]


def test_the_desktop_file_is_valid() -> None:
    assert run("desktop-file-validate", "--warn-kde", DESKTOP) == ""


def test_the_metainfo_is_valid() -> None:
    said = run("appstreamcli", "validate", "--no-net", "--no-color", METAINFO)
    assert not re.findall("^[EW]:.*", said, re.MULTILINE)


def test_the_types_of_files_are_those_of_the_suffixes_of_the_table_of_formats(tmp_path: Path) -> None:
    """By Debian's database of types with ours beside it."""
    types = texts("provides/mediatype")
    assert desktop_entry()["MimeType"] == ";".join((*types, ""))
    packages = tmp_path / "mime" / "packages"
    packages.mkdir(parents=True)
    shutil.copy(PACKAGING / "cfbatch-mime.xml", packages)
    run("update-mime-database", packages.parent)
    found = set[str]()
    for suffix in (suffix for each in FORMATS.values() for suffix in each.suffixes):
        path = tmp_path / f"texts{suffix}"
        path.write_bytes(b"\n")
        found.add(run("gio", "info", "-a", "standard::content-type", path, XDG_DATA_HOME=str(tmp_path)).split()[-1])
    assert found == set(types)


def test_a_spreadsheet_stays_what_opens_csv(tmp_path: Path) -> None:
    """Where no default is named, GIO takes the first of all programs that know the type."""
    folder = tmp_path / "applications"
    folder.mkdir()
    shutil.copy(DESKTOP, folder)
    for others in ("gnumeric", "libreoffice-calc", "org.gnome.TextEditor", "org.xfce.mousepad", "vim"):
        entry = "[Desktop Entry]\nType=Application\nName=Other\nExec=true %F\nMimeType=text/csv;text/plain;\n"
        (folder / f"{others}.desktop").write_text(entry)
    (tmp_path / "cfbatch-gui").write_text("#!/bin/sh\n")
    (tmp_path / "cfbatch-gui").chmod(0o755)  # GIO leaves out what cannot be run
    run("update-desktop-database", folder)
    environ = {"XDG_DATA_HOME": str(tmp_path), "XDG_DATA_DIRS": str(tmp_path / "none"), "HOME": str(tmp_path)}
    environ |= {"XDG_CONFIG_HOME": str(tmp_path / "none"), "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    for name in ("text/csv", "text/plain"):
        default, _, known = run("gio", "mime", name, **environ).partition("\n")
        assert default.endswith(": gnumeric.desktop") and DESKTOP.name in known
    assert run("gio", "mime", "application/x-ndjson", **environ).partition("\n")[0].endswith(f": {DESKTOP.name}")


def test_the_metainfo_says_what_the_program_and_the_desktop_file_say() -> None:
    entry = desktop_entry()
    assert texts("launchable") == [DESKTOP.name]
    assert texts("categories/category") == entry["Categories"].strip(";").split(";")
    assert texts("keywords/keyword") == entry["Keywords"].strip(";").split(";")
    assert entry["Exec"].split()[0] in texts("provides/binary")
    releases = metainfo().findall("releases/release")
    assert releases[0].get("version") == __version__
    assert all(date.fromisoformat(each.get("date", "")) for each in releases)


def test_every_screenshot_is_there_and_as_large_as_is_said() -> None:
    images = metainfo().findall("screenshots/screenshot/image")
    assert images
    for image in images:
        address = (image.text or "").strip()
        assert address.startswith("https://")
        path = PACKAGING / "screenshots" / address.rpartition("/packaging/screenshots/")[2]
        width, height = struct.unpack(">II", path.read_bytes()[16:24])  # of a PNG
        assert (image.get("width"), image.get("height")) == (str(width), str(height))
