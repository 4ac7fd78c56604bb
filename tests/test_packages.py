"""What `make package` decides by itself; the packages are tried by `make package-test`, in a bare system."""

import io
import os
import tarfile
from pathlib import Path

import pytest
from reproducible import settle, write_tar
from system_packages import configuration, with_new_names
from system_tree import Release
from trim import is_wanted

EPOCH = 1_700_000_000
PLUGINS = "PySide6/Qt/plugins"


NEEDED = (
    f"{PLUGINS}/platforms/libqxcb.so",
    f"{PLUGINS}/platforms/libqwayland.so",
    f"{PLUGINS}/platforminputcontexts/libibusplatforminputcontextplugin.so",
    f"{PLUGINS}/imageformats/libqsvg.so",
    f"{PLUGINS}/wayland-graphics-integration-client/libqt-plugin-wayland-egl.so",
    "PySide6/Qt/translations/qtbase_de.qm",
    "libsqlite3.so.0",
    "libpython3.11.so.1.0",
    "numpy.libs/libscipy_openblas64_-32a4b2a6.so",
    "cfbatch_gui/resources/translations/de.mo",
    "keyring-25.7.0.dist-info/entry_points.txt",
    # On another system the names of its libraries are other ones.
    r"PySide6\plugins\platforms\qwindows.dll",
)
NOT_NEEDED = (
    f"{PLUGINS}/platforms/libqeglfs.so",
    f"{PLUGINS}/platformthemes/libqgtk3.so",
    f"{PLUGINS}/imageformats/libqtiff.so",
    f"{PLUGINS}/wayland-graphics-integration-client/libdrm-egl-server.so",
    f"{PLUGINS}/tls/libqopensslbackend.so",
    "PySide6/Qt/translations/qtbase_fr.qm",
    "PySide6/Qt/translations/qt_help_de.qm",
    "keyring-25.7.0.dist-info/direct_url.json",
    "wordllama/algorithms/kmeans.c",
    "numpy/random/tests/data.csv",
    # From the system, whose drivers and updates bring their own.
    "libstdc++.so.6",
    "libX11.so.6",
    "libssl.so.3",
)


@pytest.mark.parametrize(("names", "is_needed"), [(NEEDED, True), (NOT_NEEDED, False)])
def test_what_the_program_needs_is_kept_and_nothing_else(names: tuple[str, ...], is_needed: bool) -> None:
    assert [name for name in names if is_wanted(name, ["de"]) is not is_needed] == []


def test_packages_with_another_name_in_later_releases_are_asked_for_by_both() -> None:
    needs = "libssl3 (>= 3.0.0), libglib2.0-0 (>= 2.26.0), libx11-xcb1 (>= 2:1.8.4), zlib1g"
    assert with_new_names(needs) == [
        "libglib2.0-0 (>= 2.26.0) | libglib2.0-0t64 (>= 2.26.0)",
        "libssl3 (>= 3.0.0) | libssl3t64 (>= 3.0.0)",
        "libx11-xcb1",
        "zlib1g",
    ]


def test_each_kind_of_package_asks_for_a_font_and_certificates_beside_its_libraries() -> None:
    release = Release("1.2", EPOCH, (), "")
    overrides = configuration(Path("usr"), ["libc6"], ["libc.so.6()(64bit)"], release)["overrides"]
    assert {"libc6", "ca-certificates", "fontconfig"} <= set(overrides["deb"]["depends"])
    assert {"libc.so.6()(64bit)", "ca-certificates", "fontconfig"} <= set(overrides["rpm"]["depends"])
    assert "fonts-noto-cjk" in overrides["deb"]["recommends"]


def test_archives_of_the_same_files_are_the_same_whenever_and_wherever_they_were_written(tmp_path: Path) -> None:
    archives = []
    for name, times in (("one", (1, 1)), ("two", (2, 2))):
        program = tmp_path / name / "lib" / "program"
        program.parent.mkdir(parents=True)
        names = [program, program.with_name("data.txt")]
        for path in names if name == "one" else reversed(names):  # the folder lists them in another order
            path.write_text("text", "utf-8")
            os.utime(path, times)
        names[1].chmod(0o700)
        (tmp_path / name / "link").symlink_to("lib/program")
        settle(tmp_path / name, ["program"], EPOCH)
        stream = io.BytesIO()
        write_tar(tmp_path / name, "top", stream, EPOCH)
        archives.append(stream.getvalue())
    assert archives[0] == archives[1]
    with tarfile.open(fileobj=io.BytesIO(archives[0])) as archive:
        assert {info.name: oct(info.mode) for info in archive if info.isfile()} == {
            "top/lib/program": "0o755",
            "top/lib/data.txt": "0o644",
        }
        assert {(info.uname, info.mtime) for info in archive} == {("root", EPOCH)}
