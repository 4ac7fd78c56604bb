"""A short `make prove`: a few kills of each kind, power cuts and mutants, in a separate process without threads."""

import re
import subprocess
import sys

import pytest

from cfbatch_gui.core.jobs.run import submitting
from tests.prove import steps
from tests.worker.runtime import installed_runtime

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="fork and kill -9")


def prove(*only: str, every: int) -> tuple[int, int]:
    """Kills, and mutants that were caught, of a run in which nothing was found."""
    parts = [word for part in only for word in ("--only", part)]
    short = ("--kills", "8", "--workers", "2", "--seed", "5", "--every", str(every))
    command = (sys.executable, "-m", "tests.prove", *short, *parts)
    ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=580)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    counts = re.search(r"^(\d+) kills, 0 findings, (\d+) mutants in ", ended.stdout, re.MULTILINE)
    assert counts, ended.stdout
    return int(counts[1]), int(counts[2])


def test_each_step_of_the_order_of_commits_has_its_kill() -> None:
    """The order is written once, where batches are sent; its steps have the names of the kills, in the same order."""
    listed = re.findall(r"^\d+\. (.+)$", submitting.__doc__ or "", re.MULTILINE)
    assert "sending committed" in listed and "id written to submissions.jsonl" in listed
    assert [step.name for step in (*steps.SUBMIT, *steps.COLLECT) if step.name in listed] == listed


@pytest.mark.timeout(600)  # takes half a minute on an idle machine
def test_nothing_is_lost_doubled_or_mislabelled_and_mutants_are_caught() -> None:
    scenes = "random", "steps", "exports", "pushes", "judging", "reviewing", "grouping", "power", "mutants"
    kills, caught = prove(*scenes, every=90)
    assert kills > 20 and caught >= 1


@pytest.mark.timeout(600)  # takes some 15 seconds on an idle machine
def test_nothing_is_lost_or_doubled_while_the_account_collects() -> None:
    installed_runtime()  # or the test is skipped
    kills, caught = prove("account", every=4)
    assert kills > 0 and caught == 1
