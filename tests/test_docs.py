"""The pages for whoever carries the work on: what they name is there, and the examples in them still apply."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
ARCHITECTURE = ROOT / "docs" / "architecture.md"
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
SCREEN = 50  # lines


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_to_files(page: Path) -> None:
    links = re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text("utf-8"))
    assert [link for link in links if not (page.parent / link).exists()] == []


def test_the_index_names_files_that_are_there() -> None:
    index = ARCHITECTURE.read_text("utf-8").split("## Where is what")[1].split("\n## ")[0]
    named = re.findall(r"`((?:core|ui|cli|resources)/[\w/.]+)`", index)
    missing = [name for name in named if not any((root / name).exists() for root in (ROOT / "cfbatch_gui", ROOT))]
    assert len(named) >= 12
    assert missing == []


@pytest.mark.parametrize(
    ("example", "folder"),
    [
        ("### a file format", "cfbatch_gui/core/inputs/readers/"),
        ("### an export", "cfbatch_gui/core/results/exports/"),
        ("### a column of the list of jobs", "cfbatch_gui/words/jobs.py"),
        ("### a better sentence", "resources/sentences.txt"),
    ],
)
def test_an_addition_touches_one_place_and_applies(example: str, folder: str) -> None:
    diff = ARCHITECTURE.read_text("utf-8").split(example)[1].split("```diff\n")[1].split("```")[0]
    touched = re.findall(r"^\+\+\+ b/(.+)$", diff, re.MULTILINE)
    assert touched
    assert [path for path in touched if not path.startswith((folder, "resources/sentences.txt"))] == []
    # In a folder above which there is no repository, git apply takes the paths as they are.
    command = ["git", "-c", "safe.directory=*", "apply", "--check", "--recount", "--unidiff-zero", "-"]
    applied = subprocess.run(command, cwd=ROOT, input=diff, capture_output=True, text=True, check=False)
    assert applied.returncode == 0, applied.stderr


def test_nothing_promises_for_how_long_the_service_keeps_results() -> None:
    """Nobody says how long. The translations hold every sentence of the program, as it is written in English."""
    resources = ROOT / "resources"
    pages = [*PAGES, *resources.glob("help/*/*.md"), resources / "translations" / "de.po"]
    promised = re.compile(r"\b(?:about|for|than|within) a week\b|\b(?:etwa|als) eine Woche\b")
    kept = {page.name: found for page in pages if (found := promised.findall(page.read_text("utf-8")))}
    assert set(kept) <= {"scheduling.md", "collecting.md"}, "GitHub's cache, and the price of a bucket"


def test_the_readme_fits_four_screens() -> None:
    assert len((ROOT / "README.md").read_text("utf-8").splitlines()) <= 4 * SCREEN
