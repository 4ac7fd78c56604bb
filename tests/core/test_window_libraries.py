"""A system without the libraries of a window is told which are missing, and the command that brings them."""

from collections.abc import Callable
from pathlib import Path

import pytest

from cfbatch_gui.core.system.distributions import installer_of, this_distribution, way_to_fonts
from cfbatch_gui.core.system.window_libraries import (
    missing_libraries,
    missing_sentence,
    named_library,
    what_plugin_lacks,
)

DEBIAN_12 = {"ID": "debian", "VERSION_ID": "12"}


def loader(*missing: str) -> Callable[[str], object]:
    """A loader that finds all libraries but these."""

    def load(name: str) -> object:
        if name in missing:
            raise OSError(f"{name}: cannot open shared object file: No such file or directory")
        return name

    return load


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("libEGL.so.1: cannot open shared object file: No such file or directory", "libEGL.so.1"),
        ("/usr/lib/x86_64-linux-gnu/libGL.so.1: file too short", "libGL.so.1"),
        ("libxcb-cursor.so.0: cannot open shared object file", "libxcb-cursor.so.0"),
        ("No module named 'PySide6'", ""),
        ("/opt/libqxcb.so: undefined symbol: _ZN5QWind", ""),
    ],
)
def test_the_loader_names_the_library(words: str, name: str) -> None:
    assert named_library(ImportError(words)) == name


def test_all_that_is_missing_is_found_at_once() -> None:
    load = loader("libEGL.so.1", "libGL.so.1", "libxcb-cursor.so.0", "libwayland-client.so.0")
    assert missing_libraries("libEGL.so.1", load) == ("libEGL.so.1", "libGL.so.1", "libxcb-cursor.so.0")
    assert what_plugin_lacks("/plugins/libqxcb.so", loader("/plugins/libqxcb.so")) == "libqxcb.so"
    assert what_plugin_lacks("/plugins/libqxcb.so", loader()) == ""


@pytest.mark.parametrize(
    ("distribution", "command"),
    [
        (DEBIAN_12, "sudo apt-get install libegl1 libglib2.0-0"),
        ({"ID": "debian", "VERSION_ID": "13"}, "sudo apt-get install libegl1 libglib2.0-0t64"),
        ({"ID": "ubuntu", "VERSION_ID": "22.04"}, "sudo apt-get install libegl1 libglib2.0-0"),
        ({"ID": "ubuntu", "VERSION_ID": "24.04"}, "sudo apt-get install libegl1 libglib2.0-0t64"),
        ({"ID": "linuxmint", "ID_LIKE": "ubuntu debian"}, "sudo apt-get install libegl1 libglib2.0-0"),
        ({"ID": "fedora"}, "sudo dnf install 'libEGL.so.1()(64bit)' 'libglib-2.0.so.0()(64bit)'"),
        ({"ID": "opensuse-leap"}, "sudo zypper install 'libEGL.so.1()(64bit)' 'libglib-2.0.so.0()(64bit)'"),
        ({"ID": "endeavouros", "ID_LIKE": "arch"}, "sudo pacman -S libglvnd glib2"),
        ({"ID": "alpine"}, "sudo apk add so:libEGL.so.1 so:libglib-2.0.so.0"),
    ],
)
def test_each_distribution_has_its_command(distribution: dict[str, str], command: str) -> None:
    sentence = missing_sentence(("libEGL.so.1", "libglib-2.0.so.0"), distribution)
    assert "libEGL.so.1" in sentence and "libglib-2.0.so.0" in sentence
    assert sentence.endswith(command)


def test_many_libraries_are_counted_and_their_packages_all_named() -> None:
    load = loader("libGL.so.1", "libfontconfig.so.1", "libdbus-1.so.3", "libX11.so.6")
    sentence = missing_sentence(missing_libraries("libEGL.so.1", load), DEBIAN_12)
    assert "lacks libEGL.so.1, libGL.so.1, libfontconfig.so.1 and 2 more." in sentence
    assert sentence.endswith("sudo apt-get install libegl1 libgl1 libfontconfig1 libdbus-1-3 libx11-6")


def test_one_package_is_named_once_for_two_libraries() -> None:
    sentence = missing_sentence(("libglib-2.0.so.0", "libgthread-2.0.so.0"), DEBIAN_12)
    assert sentence.endswith("sudo apt-get install libglib2.0-0")


def test_a_distribution_that_is_not_known_is_told_the_file() -> None:
    sentence = missing_sentence(("libEGL.so.1",), {"ID": "plan9"})
    assert "libEGL.so.1" in sentence and "sudo" not in sentence


def test_what_the_system_says_of_itself_is_read(tmp_path: Path) -> None:
    path = tmp_path / "os-release"
    path.write_text('# a comment\nID="debian"\nPRETTY_NAME="Debian \\"12\\""\nBROKEN="x\nVERSION_ID=12\n\n')
    found = this_distribution((tmp_path / "missing", path))
    assert (found["ID"], found["VERSION_ID"], found["PRETTY_NAME"]) == ("debian", "12", 'Debian "12"')
    assert installer_of(this_distribution((tmp_path / "missing",))) is None


def test_fonts_are_named_by_the_distribution() -> None:
    both = ("noto", "noto-cjk")
    assert way_to_fonts(both, DEBIAN_12).endswith("sudo apt-get install fonts-noto-core fonts-noto-cjk")
    assert "sudo" not in way_to_fonts(both, {})
