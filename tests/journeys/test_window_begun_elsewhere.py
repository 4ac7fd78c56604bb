"""A job that a curl line of Cloudflare's own pages has begun is added in the window, watched there, and exported."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("PySide6")

from cfbatch_gui.core.jobs.states import JobState
from tests.canary import TOKEN
from tests.journeys.desktop import Desktop
from tests.journeys.terminal import ACCOUNT, Terminal, read_csv, read_workbook
from tests.support.practice import PracticeServer

pytestmark = pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")

SEEDS = Path(__file__).parents[1] / "data" / "seeds"
ADD, EXPORT, SAVE = -1, 1, -1  # among the main buttons; "New job" is the first


@pytest.fixture
def service(tmp_path: Path) -> Iterator[str]:
    with PracticeServer(tmp_path / "service", seconds_queued=2.0, seconds_running=1.0) as server:
        yield server.url


def send(service: str) -> str:
    """What curl shows for the page's own line; only the host is put in."""
    command = (SEEDS / "batch-rest-2026-send.sh").read_text("utf-8")
    environ = {
        "PATH": os.environ["PATH"],
        "HOME": str(SEEDS),  # no .curlrc there
        "SERVICE": service.removesuffix("/client/v4"),
        **dict.fromkeys(("ACCOUNT_ID", "CLOUDFLARE_ACCOUNT_ID"), ACCOUNT),
        **dict.fromkeys(("API_TOKEN", "CLOUDFLARE_API_TOKEN"), TOKEN),
    }
    done = subprocess.run(["sh", "-c", command], env=environ, capture_output=True, timeout=240, check=True, text=True)
    return done.stdout


def test_it_is_added_watched_and_exported(desktop: Desktop, service: str, tmp_path: Path) -> None:
    desktop.connect(service)
    desktop.start_and_wait()
    answer = send(service)
    window = desktop.wait_for_front()
    desktop.press("ctrl+shift+n")
    desktop.wait_for_front(other_than=window)
    desktop.type(answer.strip())
    desktop.until(lambda: len(desktop.main_buttons()) == 2)
    desktop.click_main_button(ADD)
    desktop.until(lambda: [job.state for job in desktop.jobs()] == [JobState.WORKING])
    name = desktop.jobs()[0].name
    desktop.until(lambda: desktop.is_in(JobState.DONE, name))
    desktop.until(lambda: any(top < 100 for _, top, _, _ in desktop.main_buttons()[EXPORT:]))
    desktop.click_main_button(EXPORT)
    desktop.until(lambda: len(desktop.main_buttons()) == 3)
    desktop.click_main_button(SAVE)
    written = desktop.home / f"{name.replace(':', '-')}.xlsx"
    desktop.until(written.exists)
    assert desktop.close() == 0
    rows = read_workbook(written)
    assert [row["Rank"] for row in rows] == [1, 2, 3]
    assert "Query 1 · Context 1" in rows[0].values(), "the orange cloud, as in the page's own answer"
    job = desktop.job(name)
    assert job is not None and job.attached
    again = tmp_path / "again.csv"
    assert Terminal(desktop.data).run("export", job.id, "--out", again).status == 0
    from_terminal = read_csv(again)
    assert [row["text"] in of_window.values() for row, of_window in zip(from_terminal, rows, strict=True)] == [True] * 3
    assert from_terminal[0]["external_reference"] == "reference-1"
