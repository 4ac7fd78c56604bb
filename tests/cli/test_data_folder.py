"""What the terminal says about a data folder that was moved, copied or damaged, and how it is answered."""

from pathlib import Path

import pytest

from cfbatch_gui.core.jobs.run import submitting
from cfbatch_gui.core.resources import resource
from tests.journeys.terminal import Terminal
from tests.support.faulty_service import ThreadedService

EXAMPLE = resource("examples/help-centre-ranking.csv")


@pytest.fixture
def url(service: ThreadedService) -> str:
    return service.url


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the seconds between tries to reach the service."""
    monkeypatch.setattr(submitting, "FIRST_WAIT", 0.01)


def terminal(data: Path, url: str) -> Terminal:
    terminal = Terminal(data)
    terminal.connect(url)
    return terminal


def unsent(data: Path) -> None:
    """A job that could not be sent, because nobody listens."""
    ended = terminal(data, "http://127.0.0.1:9").run("run", EXAMPLE, "--rank", "--connection", "cloudflare")
    assert ended.status == 4, ended.err


def test_a_moved_folder_is_asked_about_and_goes_on(tmp_path: Path, url: str) -> None:
    unsent(tmp_path / "data")
    moved = (tmp_path / "data").rename(tmp_path / "moved")
    held = terminal(moved, url).run("resume")
    assert held.status == 1 and "--folder-was moved" in held.err
    refused = terminal(moved, url).run("run", EXAMPLE, "--rank", "--connection", "cloudflare")
    assert refused.status == 2 and "--folder-was moved" in refused.err
    ended = terminal(moved, url).run("resume", "--folder-was", "moved")
    assert ended.status == 0 and [job["state"] for job in terminal(moved, url).jobs()] == ["done"], ended.err
    assert "--folder-was moved" not in terminal(moved, url).run("resume").err


def test_a_copy_sends_only_the_job_that_is_named(tmp_path: Path, url: str) -> None:
    unsent(tmp_path / "data")
    copy = (tmp_path / "data").rename(tmp_path / "copy")
    answered = terminal(copy, url).run("resume", "--folder-was", "copied")
    assert answered.status == 1 and "“cfbatch resume " in answered.err
    again = terminal(copy, url).run("resume")
    assert again.status == 1 and "--folder-was moved" not in again.err and "“cfbatch resume " in again.err
    (line,) = terminal(copy, url).run("jobs").out.splitlines()[1:]
    assert terminal(copy, url).run("resume", line.split()[0]).status == 0


@pytest.mark.parametrize("harm", ["gone", "empty", "damaged"])
def test_a_list_of_jobs_that_is_lost_is_put_together_by_what_reads_it(tmp_path: Path, url: str, harm: str) -> None:
    done = terminal(tmp_path / "data", url)
    assert done.run("run", EXAMPLE, "--rank", "--connection", "cloudflare").status == 0
    (job,) = done.jobs()
    ledger = tmp_path / "data" / "ledger.db"
    for reads in (("jobs",), ("jobs", "--json"), ("show", job["job"]), ("verify",), ("check", EXAMPLE, "--rank")):
        ledger.unlink()
        if harm != "gone":
            ledger.write_bytes(b"garbage" * 999 if harm == "damaged" else b"")
        ended = done.run(*reads)
        assert ended.status == 0 and ended.err, "it is said, once"
        (again,) = done.jobs()
        assert again["job"] == job["job"] and again["batches"][0]["request_id"] == job["batches"][0]["request_id"]
    assert done.run("jobs").err == ""
    assert done.run("resume").status == 0 and done.jobs() == [job]
