"""The house keeps its shape: who imports whom, what is described, what may never be called."""

import ast
import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "cfbatch_gui"


def tracked_files() -> list[Path]:
    """What git keeps, as far as it stands in the work tree; the test is for a clone, not for an installed wheel."""
    if not (ROOT / ".git").exists() or not shutil.which("git"):
        pytest.skip("not a clone, or no git")
    command = ["git", "-c", "safe.directory=*", "ls-files", "-z"]  # whoever owns the clone
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, check=True, text=True).stdout
    return [path for name in listed.split("\0") if name and (path := ROOT / name).is_file()]


def lines_with(pattern: str, folder: Path) -> list[str]:
    found = []
    for path in sorted(folder.rglob("*.py")):
        for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1):
            if re.search(pattern, line):
                found.append(f"{path.relative_to(ROOT)}:{number}: {line.strip()}")
    return found


def test_imports_run_one_way() -> None:
    script = "from importlinter.cli import lint_imports; import sys; sys.exit(lint_imports(no_cache=True))"
    answer = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, check=False, text=True)
    assert answer.returncode == 0, answer.stdout + answer.stderr


def room(module: str) -> str:
    """The folder or file of the core that a module belongs to."""
    return ".".join(module.split(".")[:3])


def test_what_a_room_of_the_core_shows_to_others_is_described() -> None:
    """A function or class of the core that another room imports says in a docstring what its name cannot."""
    undescribed = set()
    for path in PACKAGE.rglob("*.py"):
        importer = room(".".join(path.relative_to(ROOT).with_suffix("").parts))
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            module = getattr(node, "module", None) or ""
            home = ROOT.joinpath(*module.split(".")).with_suffix(".py")
            if module.startswith("cfbatch_gui.core.") and room(module) != importer and home.exists():
                names = {alias.name for alias in node.names}  # type: ignore[attr-defined]
                undescribed |= {f"{module}.{name}" for name in names & without_docstring(home)}
    assert undescribed == set()


@cache
def without_docstring(path: Path) -> frozenset[str]:
    defined = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    body = ast.parse(path.read_text("utf-8")).body
    return frozenset(node.name for node in body if isinstance(node, defined) and not ast.get_docstring(node))


def test_the_window_never_blocks_its_loop() -> None:
    """A nested event loop inside a coroutine kills every other task.

    Dragging has no other way, and is begun by an event of the mouse, outside of any coroutine.
    """
    assert (
        lines_with(r"(?<!\bdrag)\.exec_?\(|QMessageBox\.(question|warning|critical|information)\(", PACKAGE / "ui")
        == []
    )
    assert lines_with(r"QFileDialog\.get|QInputDialog\.get|QColorDialog\.get|QFontDialog\.get", PACKAGE / "ui") == []


def test_a_start_of_the_window_imports_what_it_shows_alone() -> None:
    """numpy comes with the first file or result, httpx with the first job that is sent."""
    script = "import sys, cfbatch_gui.ui.window.app; print(sorted({'numpy', 'httpx'} & set(sys.modules)))"
    answer = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, check=True, text=True)
    assert answer.stdout == "[]\n"


# Spelled in pieces, so that this file does not find itself.
FOREIGN = [
    "pypi" + r"\.org",
    "python" + "hosted",
    "registry\\.npm" + "js",
    "deb" + r"ian\.org",
    r"(?<![\w.])/ro" + r"ot/[a-z.]",
    r"--(?:extra-)?index" + "-url",
    "--find" + "-links",
]
if len(ROOT.parts) > 2:
    FOREIGN.append(re.escape(str(ROOT)) + r"(?![\w-])")


def test_nothing_names_a_download_host_or_a_place_on_one_machine() -> None:
    pattern = re.compile("|".join(FOREIGN).encode())
    found = []
    for path in tracked_files():
        for number, line in enumerate(path.read_bytes().splitlines(), start=1):
            if pattern.search(line):
                found.append(f"{path.relative_to(ROOT)}:{number}: {line[:120]!r}")
    assert found == []


@pytest.mark.parametrize("path", sorted((ROOT / "requirements").glob("*.txt")), ids=lambda path: path.stem)
def test_every_requirement_is_pinned_with_a_hash(path: Path) -> None:
    entries = [entry for entry in re.split(r"\n(?=\S)", path.read_text("utf-8")) if not entry.startswith("#")]
    assert entries
    for entry in entries:
        assert re.match(r"[a-z0-9][a-z0-9._-]*==\S+", entry), entry
        assert "--hash=sha256:" in entry
    assert "://" not in path.read_text("utf-8")
