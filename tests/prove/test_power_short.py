"""A short form of the part "power" of `make prove`, and the model of a disk by itself."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.prove.power_trace import why_not
from tests.prove.report import Report

SHORT = ("--only", "power", "--every-place", "60", "--mutants", "2", "--workers", "2", "--seed", "5")


@pytest.mark.timeout(300)  # takes a few seconds on an idle machine
def test_a_power_cut_loses_nothing_and_a_missing_flush_is_caught(tmp_path: Path) -> None:
    reason = why_not()
    if reason:
        pytest.skip(reason)
    found = tmp_path / "report.json"
    command = (sys.executable, "-m", "tests.prove", *SHORT, "--json", str(found))
    ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=280)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    report = Report.load(found)
    assert report.is_clean
    assert report.states > 500
    assert [catch.how for catch in report.catches] == ["lost", "lost"]
