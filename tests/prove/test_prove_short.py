"""A short `make prove`: a few kills of each kind, power cuts and mutants, in a separate process without threads."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from cfbatch_gui.core.jobs.run import submitting
from tests.prove import steps
from tests.prove.report import Report
from tests.worker.runtime import installed_runtime

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="fork and kill -9")

SHORT = ("--kills", "8", "--workers", "2", "--seed", "5")


def prove(found: Path, *only: str, every: int) -> Report:
    parts = [word for part in only for word in ("--only", part)]
    command = (sys.executable, "-m", "tests.prove", *SHORT, "--every", str(every), *parts, "--json", str(found))
    ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=580)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    report = Report.load(found)
    assert report.is_clean
    return report


def test_each_step_of_the_order_of_commits_has_its_kill() -> None:
    """The order is written once, where batches are sent; its steps have the names of the kills, in the same order."""
    listed = re.findall(r"^\d+\. (.+)$", submitting.__doc__ or "", re.MULTILINE)
    assert "sending committed" in listed and "id written to submissions.jsonl" in listed
    assert [step.name for step in (*steps.SUBMIT, *steps.COLLECT) if step.name in listed] == listed


@pytest.mark.timeout(600)  # takes half a minute on an idle machine
def test_nothing_is_lost_doubled_or_mislabelled_and_mutants_are_caught(tmp_path: Path) -> None:
    report = prove(tmp_path / "report", "random", "steps", "exports", "pushes", "judging", "power", "mutants", every=90)
    assert report.kills > 20
    assert len(report.catches) >= 1


@pytest.mark.timeout(600)  # takes some 15 seconds on an idle machine
def test_nothing_is_lost_or_doubled_while_the_account_collects(tmp_path: Path) -> None:
    installed_runtime()  # or the test is skipped
    report = prove(tmp_path / "report", "account", every=4)
    assert report.kills > 0 and len(report.catches) == 1
