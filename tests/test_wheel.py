"""The wheel holds all that the program needs to run away from its checkout; the source archive, the checkout."""

import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from configparser import ConfigParser
from pathlib import Path

import pytest

from cfbatch_gui import __version__

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[zipfile.ZipFile]:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (path,) = folder.glob("*.whl")
    with zipfile.ZipFile(path) as archive:
        yield archive


def test_the_wheel_has_every_resource(wheel: zipfile.ZipFile) -> None:
    ours = {path.relative_to(ROOT).as_posix() for path in (ROOT / "resources").rglob("*") if path.is_file()}
    assert {f"cfbatch_gui/{name}" for name in ours} <= set(wheel.namelist())


def test_the_wheel_has_every_module_and_nothing_of_the_workshop(wheel: zipfile.ZipFile) -> None:
    modules = {path.relative_to(ROOT).as_posix() for path in (ROOT / "cfbatch_gui").rglob("*.py")}
    assert modules <= set(wheel.namelist())
    assert {name.partition("/")[0] for name in wheel.namelist()} == {
        "cfbatch_gui",
        f"cfbatch_gui-{__version__}.dist-info",
    }


def test_the_wheel_has_both_commands_and_both_licences(wheel: zipfile.ZipFile) -> None:
    (entry_points,) = (name for name in wheel.namelist() if name.endswith("/entry_points.txt"))
    parser = ConfigParser()
    parser.read_string(wheel.read(entry_points).decode())
    assert parser["console_scripts"]["cfbatch"] == "cfbatch_gui.cli.main:main"
    assert parser["gui_scripts"]["cfbatch-gui"] == "cfbatch_gui.__main__:main"
    licences = {name.partition("/licenses/")[2] for name in wheel.namelist() if "/licenses/" in name}
    assert licences == {"LICENSE", "resources/icons/LICENSE"}


def test_resources_are_found_from_inside_an_unpacked_wheel(wheel: zipfile.ZipFile, tmp_path: Path) -> None:
    wheel.extractall(tmp_path)
    script = "from cfbatch_gui.core.system.resources import resource; print(resource('icons/plus.svg'))"
    answer = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, check=True, capture_output=True, text=True)
    assert Path(answer.stdout.strip()) == tmp_path / "cfbatch_gui" / "resources" / "icons" / "plus.svg"


def test_the_source_archive_has_what_the_folder_has_and_nothing_that_is_made(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (path,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(path) as archive:
        names = {Path(name).relative_to(f"cfbatch_gui-{__version__}").parts for name in archive.getnames()}
    path.unlink()  # the tests' own tokens are in it, where nobody looks for them
    folders = {"benchmarks", "cfbatch_gui", "docs", "packaging", "requirements", "resources", "scripts", "tests"}
    files = {
        "CHANGELOG.md",
        "CONTRIBUTING.md",
        "LICENSE",
        "Makefile",
        "README.md",
        "pyproject.toml",
        "PKG-INFO",
        ".gitignore",
    }
    assert {parts[0] for parts in names} == folders | files
    assert not [parts for parts in names if "__pycache__" in parts or parts[-1].endswith((".pyc", ".egg-info"))]
