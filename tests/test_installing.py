"""The wheel among nothing but what its metadata asks for, and the source archive, which gives the same wheel.

Nothing is downloaded: the distributions that are asked for are linked from the environment of the tests. What the
program imports without asking for it is missing there. `make install-test` installs it for real.
"""

import os
import subprocess
import sys
import zipfile
from collections import defaultdict
from collections.abc import Iterator
from importlib.metadata import Distribution, distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import NormalizedName, canonicalize_name

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


def self_test(environment: Linked, folder: Path) -> tuple[int, str]:
    done = subprocess.run(
        [str(environment.bin / "cfbatch-gui"), "--self-test"],
        env={"TMPDIR": os.environ.get("TMPDIR", "/tmp")},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def skipped(said: str) -> Iterator[str]:
    return (line for line in said.splitlines() if line.startswith("skipped"))


def test_the_wheel_works_with_what_it_asks_for_and_nothing_else(wheel: Path, tmp_path: Path) -> None:
    environment = Linked(tmp_path / "environment")
    environment.install(wheel)
    environment.link_requirements()
    status, said = self_test(environment, tmp_path)
    assert status == 0, said
    assert str(environment.packages) in said
    assert [extra for extra in EXTRAS if f"cfbatch-gui[{extra}]" in "".join(skipped(said))] == list(EXTRAS)
    environment.link_requirements(*EXTRAS)
    status, said = self_test(environment, tmp_path)
    assert status == 0, said
    assert "cfbatch-gui[" not in said


def test_the_source_archive_gives_the_same_wheel(wheel: Path, tmp_path: Path) -> None:
    archive = built("sdist", tmp_path)
    command = [*PIP, "wheel", "--no-index", "--no-deps", "--no-build-isolation", "-w", str(tmp_path), str(archive)]
    subprocess.run(command, check=True, capture_output=True)
    archive.unlink()  # the tests' own tokens are in it, where nobody looks for them
    (again,) = tmp_path.glob("*.whl")
    assert again.name == wheel.name
    with zipfile.ZipFile(wheel) as first, zipfile.ZipFile(again) as second:
        assert sorted(second.namelist()) == sorted(first.namelist())
        assert [name for name in first.namelist() if first.read(name) != second.read(name)] == []
