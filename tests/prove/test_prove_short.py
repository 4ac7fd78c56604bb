"""A short `make prove`: some kills of each kind and some broken variants, in a separate process without threads."""

import subprocess
import sys
from base64 import b64encode
from pathlib import Path

import pytest

from tests.canary import TOKEN
from tests.prove.compare import Breach, written_tokens
from tests.prove.report import Report
from tests.prove.variants import VARIANTS
from tests.worker.runtime import installed_runtime

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="fork and kill -9")

SHORT = (
    "--kills",
    "6",
    "--export-kills",
    "4",
    "--judgement-kills",
    "10",
    "--push-kills",
    "8",
    "--every",
    "24",
    "--workers",
    "2",
)
SHORT_COLLECTING = ("--collecting-rounds", "6", "--workers", "2", "--every-variant", "4")
SHORT_EXPORTS = ("--every-form", "8", "--every-export", "50")
EVERY_VARIANT = 6
PARTS = ("random", "steps", "pushes", "exports", "judging", "variants")


@pytest.mark.timeout(300)  # takes a few seconds on an idle machine
def test_nothing_is_lost_doubled_or_mislabelled_and_broken_variants_are_caught(tmp_path: Path) -> None:
    found = tmp_path / "report.json"
    only = [word for part in PARTS for word in ("--only", part)]
    command = (
        sys.executable,
        "-m",
        "tests.prove",
        *SHORT,
        *SHORT_EXPORTS,
        "--every-variant",
        str(EVERY_VARIANT),
        *only,
        "--json",
        str(found),
    )
    ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=280)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    report = Report.load(found)
    assert report.is_clean
    assert report.kills > 20
    assert len(report.catches) == len(VARIANTS[::EVERY_VARIANT]) + 1  # and the book that is written late


@pytest.mark.timeout(300)  # takes some 15 seconds on an idle machine
def test_nothing_is_lost_or_doubled_while_the_account_collects(tmp_path: Path) -> None:
    installed_runtime()  # or the test is skipped
    found = tmp_path / "report.json"
    command = (sys.executable, "-m", "tests.prove", "--only", "collecting", *SHORT_COLLECTING, "--json", str(found))
    ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=280)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    report = Report.load(found)
    assert report.is_clean
    assert report.tried == 6
    assert len(report.catches) == 1


def test_a_token_that_is_written_is_found(tmp_path: Path) -> None:
    log = tmp_path / "world 1" / "child.log"
    log.parent.mkdir()
    log.write_bytes(b"Authorization: Basic " + b64encode(f"user:{TOKEN}".encode()))
    (finding,) = written_tokens(tmp_path)
    assert finding.breach is Breach.TOKEN and "child.log" in finding.words
    log.unlink()
    assert not written_tokens(tmp_path)
