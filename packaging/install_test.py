"""Install the wheel as people do, by pip, pipx and uv, for every Python there is, and run the self-test of each.

Pythons are those on PATH by their names (python3.11 to python3.13), and those that PYTHONS lists, with colons between
them. Each installation is in a temporary folder and is fetched from the network, or from the caches of pip and uv.

Exit status 0: each self-test passed; 1: one did not, and its lines stand on standard error; 2: there is no Python.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

ROOT = Path(__file__).parents[1]
VERSIONS = ("3.11", "3.12", "3.13")
WAYS = ("pip", "pipx", "uv")
EXTRAS = ("", "practice,parquet")
_MOST_SECONDS = 1200  # of one installation, which fetches 200 MB


@dataclass(frozen=True)
class Wanted:
    """What to install: by which way, for which Python (its version and its path), with which extras."""

    version: str
    python: str
    way: str
    extras: str


@dataclass(frozen=True)
class Installation:
    """One installation and its self-test. `seconds` is that of installing, `size` in bytes."""

    wanted: Wanted
    seconds: float
    size: int
    status: int
    lines: Sequence[str]

    def __str__(self) -> str:
        wanted = self.wanted
        extras = f"[{wanted.extras}]" if wanted.extras else "without extras"
        outcome = "passed" if self.status == 0 else "FAILED"
        figures = f"{self.seconds:6.1f} s {self.size / 1e6:6.0f} MB"
        return f"{outcome}  Python {wanted.version:8} {wanted.way:5} {extras:20} {figures}  {self.lines[-1]}"


def pythons() -> dict[str, str]:
    """The interpreters by their versions, such as "3.12.1", one for each of VERSIONS."""
    named = [path for version in VERSIONS if (path := shutil.which(f"python{version}"))]
    found: dict[str, str] = {}
    for path in (*filter(None, os.environ.get("PYTHONS", "").split(":")), *named):
        command = [path, "-c", "import platform, venv, ensurepip; print(platform.python_version())"]
        answer = subprocess.run(command, capture_output=True, text=True, check=False)
        version = answer.stdout.strip()
        minor = version.rpartition(".")[0]
        if minor in VERSIONS and not any(each.startswith(f"{minor}.") for each in found):
            found[version] = path
    return dict(sorted(found.items()))


def build_wheel(folder: Path) -> Path:
    """The wheel of this checkout."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (path,) = folder.glob("*.whl")
    return path


def install(wanted: Wanted, wheel: Path, tools: Path, folder: Path) -> Path:
    """Install the wheel below `folder`; the path of its cfbatch-gui. Raises CalledProcessError."""
    environ = {name: text for name, text in os.environ.items() if not name.startswith(("VIRTUAL_ENV", "PYTHON"))}
    extras = f"[{wanted.extras}]" if wanted.extras else ""
    requirement = f"cfbatch-gui{extras} @ {wheel.as_uri()}"

    def run(*command: object, **variables: Path) -> None:
        subprocess.run(
            [str(word) for word in command],
            env=environ | {name: str(path) for name, path in variables.items()},
            cwd=folder,
            check=True,
            capture_output=True,
            text=True,
            timeout=_MOST_SECONDS,
        )

    match wanted.way:
        case "pip":
            run(wanted.python, "-m", "venv", folder / "environment")
            run(folder / "environment" / "bin" / "python", "-m", "pip", "install", "--no-input", requirement)
            return folder / "environment" / "bin" / "cfbatch-gui"
        case "pipx":
            places = {"PIPX_HOME": folder / "home", "PIPX_BIN_DIR": folder / "bin", "PIPX_MAN_DIR": folder / "man"}
            run(tools / "pipx", "install", "--python", wanted.python, requirement, **places)
        case _:
            places = {"UV_TOOL_DIR": folder / "home", "UV_TOOL_BIN_DIR": folder / "bin"}
            run(tools / "uv", "tool", "install", "--python", wanted.python, requirement, **places)
    return folder / "bin" / "cfbatch-gui"


def size_of(folder: Path) -> int:
    """The bytes of all files, each counted once, whether or not a cache has them too."""
    return sum(path.lstat().st_size for path in folder.rglob("*") if path.is_file() and not path.is_symlink())


def tried(wanted: Wanted, wheel: Path, tools: Path) -> Installation:
    """Install, and run the self-test with an empty environment."""
    with tempfile.TemporaryDirectory(prefix="cfbatch-install-") as name:
        folder = Path(name).resolve()
        started = time.monotonic()
        try:
            program = install(wanted, wheel, tools, folder)
        except subprocess.CalledProcessError as error:
            lines = [*error.stdout.splitlines(), *error.stderr.splitlines()]
            return Installation(wanted, time.monotonic() - started, 0, error.returncode, lines or ["?"])
        seconds, size = time.monotonic() - started, size_of(folder)
        done = subprocess.run(
            [str(program), "--self-test"], env={}, cwd=folder, capture_output=True, text=True, timeout=300, check=False
        )
        lines = (done.stdout + done.stderr).splitlines() or ["nothing was said"]
        return Installation(wanted, seconds, size, done.returncode, lines)


def installations(found: dict[str, str], ways: Sequence[str], tools: Path) -> Iterator[Installation]:
    """Each Python by each way, without extras and with all."""
    with tempfile.TemporaryDirectory(prefix="cfbatch-wheel-") as folder:
        wheel = build_wheel(Path(folder).resolve())
        for (version, python), way, extras in product(found.items(), ways, EXTRAS):
            yield tried(Wanted(version, python, way, extras), wheel, tools)


def main() -> int:
    """Print a line for each installation as soon as it is there."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tools", type=Path, default=ROOT / "build" / "install" / "bin", help="where pipx and uv are")
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=WAYS, metavar="WAY", help="pip, pipx or uv")
    arguments = parser.parse_args()
    found = pythons()
    if not found:
        print("There is no Python 3.11, 3.12 or 3.13 with venv and pip. Name some in PYTHONS.", file=sys.stderr)
        return 2
    failed = 0
    for each in installations(found, arguments.ways, arguments.tools.absolute()):
        print(each, flush=True)
        if each.status:
            failed += 1
            print("\n".join(each.lines), file=sys.stderr, flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
