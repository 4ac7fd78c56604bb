"""The wheel and the source archive: what is in them, and the wheel among nothing but what its metadata asks for.

Nothing is downloaded: the distributions that are asked for are linked from the environment of the tests. What the
program imports without asking for it is missing there. `make install-test` installs it for real.
"""

import os
import subprocess
import sys
import tarfile
import zipfile
from collections import defaultdict
from configparser import ConfigParser
from importlib.metadata import Distribution, distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import NormalizedName, canonicalize_name

from cfbatch_gui import __version__

ROOT = Path(__file__).resolve().parents[1]
NAME = "cfbatch-gui"
EXTRAS = ("practice", "parquet")
PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input", "--quiet")

pytestmark = pytest.mark.skipif(
    sys.platform == "win32" or subprocess.run([*PIP, "--version"], capture_output=True, check=False).returncode != 0,
    reason="needs links to files, and pip",
)


def built(target: str, folder: Path) -> Path:
    command = [sys.executable, "-m", "hatchling", "build", "-t", target, "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (path,) = folder.glob("*.whl" if target == "wheel" else "*.tar.gz")
    return path


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built("wheel", tmp_path_factory.mktemp("wheel"))


class Linked:
    """An environment of its own, into which distributions of this one are linked."""

    def __init__(self, folder: Path) -> None:
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
        self.bin = folder / "bin"
        (self.packages,) = folder.glob("lib/python*/site-packages")
        self._known = {canonicalize_name(each.name): each for each in distributions()}
        self._owners: defaultdict[str, set[str]] = defaultdict(set)  # of each folder and file beside the others
        for name, distribution in self._known.items():
            for file in distribution.files or ():
                self._owners[file.parts[0]].add(name)
        self._linked: set[NormalizedName] = set()

    def install(self, wheel: Path) -> None:
        command = [*PIP, "--python", str(self.bin / "python"), "install", "--no-index", "--no-deps", "--no-compile"]
        subprocess.run([*command, str(wheel)], check=True, capture_output=True)

    def link_requirements(self, *extras: str) -> None:
        """Link what the installed wheel asks for, and what that asks for, each with its extras."""
        (installed,) = (each for each in distributions(path=[str(self.packages)]) if each.name == NAME)
        for name in sorted(self._asked_for(installed, frozenset(extras)) - self._linked):
            self._link(name)
            self._linked.add(name)

    def _asked_for(self, first: Distribution, extras: frozenset[str]) -> set[NormalizedName]:
        seen: set[tuple[NormalizedName, str]] = set()
        waiting: list[tuple[Distribution, frozenset[str]]] = [(first, extras)]
        while waiting:
            distribution, chosen = waiting.pop()
            for requirement in map(Requirement, distribution.requires or ()):
                name = canonicalize_name(requirement.name)
                applies = requirement.marker is None or any(
                    requirement.marker.evaluate({"extra": extra}) for extra in chosen | {""}
                )
                if applies and (name, ",".join(sorted(requirement.extras))) not in seen:
                    seen.add((name, ",".join(sorted(requirement.extras))))
                    waiting.append((self._known[name], frozenset(requirement.extras)))
        return {name for name, _ in seen}

    def _link(self, name: NormalizedName) -> None:
        distribution = self._known[name]
        for file in distribution.files or ():
            if file.parts[0] in ("..", "__pycache__"):
                continue
            # A folder of one distribution as a whole; of a folder that several share, file by file.
            parts = file.parts[:1] if len(self._owners[file.parts[0]]) == 1 else file.parts
            link = self.packages.joinpath(*parts)
            if not link.is_symlink():
                link.parent.mkdir(parents=True, exist_ok=True)
                link.symlink_to(Path(str(distribution.locate_file(Path(*parts)))).resolve())


def test_the_wheel_has_all_of_the_program_and_nothing_of_the_workshop(wheel: Path) -> None:
    ours = {path.relative_to(ROOT).as_posix() for path in (ROOT / "cfbatch_gui").rglob("*.py")}
    for path in (ROOT / "resources").rglob("*"):
        if path.is_file():
            ours.add(f"cfbatch_gui/{path.relative_to(ROOT).as_posix()}")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        (entry_points,) = (name for name in names if name.endswith("/entry_points.txt"))
        parser = ConfigParser()
        parser.read_string(archive.read(entry_points).decode())
    assert ours <= set(names)
    assert {name.partition("/")[0] for name in names} == {"cfbatch_gui", f"cfbatch_gui-{__version__}.dist-info"}
    assert parser["console_scripts"]["cfbatch"] == "cfbatch_gui.cli.main:main"
    assert parser["gui_scripts"]["cfbatch-gui"] == "cfbatch_gui.__main__:main"
    licences = {name.partition("/licenses/")[2] for name in names if "/licenses/" in name}
    assert licences == {"LICENSE", "resources/icons/LICENSE"}


@pytest.mark.timeout(400)
def test_the_wheel_works_with_what_it_asks_for_and_nothing_else(wheel: Path, tmp_path: Path) -> None:
    environment = Linked(tmp_path / "environment")
    environment.install(wheel)
    environment.link_requirements()
    done = subprocess.run(
        [str(environment.bin / "cfbatch-gui"), "--self-test"],
        env={"TMPDIR": os.environ.get("TMPDIR", "/tmp")},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert str(environment.packages) in done.stdout
    skipped = "".join(line for line in done.stdout.splitlines() if line.startswith("skipped"))
    assert [extra for extra in EXTRAS if f"cfbatch-gui[{extra}]" in skipped] == list(EXTRAS)


def test_the_source_archive_has_the_checkout_and_gives_the_same_wheel(wheel: Path, tmp_path: Path) -> None:
    path = built("sdist", tmp_path)
    command = [*PIP, "wheel", "--no-index", "--no-deps", "--no-build-isolation", "-w", str(tmp_path), str(path)]
    subprocess.run(command, check=True, capture_output=True)
    with tarfile.open(path) as archive:
        names = {Path(name).relative_to(f"cfbatch_gui-{__version__}").parts for name in archive.getnames()}
    path.unlink()  # the tests' own tokens are in it, where nobody looks for them
    folders = {"benchmarks", "cfbatch_gui", "docs", "packaging", "requirements", "resources", "scripts", "tests"}
    files = {"CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "Makefile", "README.md", "pyproject.toml", "PKG-INFO"}
    assert {parts[0] for parts in names} == folders | files | {".gitignore"}
    assert not [parts for parts in names if "__pycache__" in parts or parts[-1].endswith((".pyc", ".egg-info"))]
    (again,) = tmp_path.glob("*.whl")
    assert again.name == wheel.name
    with zipfile.ZipFile(wheel) as first, zipfile.ZipFile(again) as second:
        assert sorted(second.namelist()) == sorted(first.namelist())
        assert [name for name in first.namelist() if first.read(name) != second.read(name)] == []
