"""The house keeps its shape: what may never be called or named, and what a start imports."""

import re
import shutil
import subprocess
import sys
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
