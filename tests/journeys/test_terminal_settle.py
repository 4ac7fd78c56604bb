"""What was sent and not answered is decided by the user, in the terminal too; and what is there can be backed up."""

import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from cfbatch_gui.core.system.paths import resource
from tests.journeys.terminal import Terminal, read_csv
from tests.support import faults
from tests.support.faulty_service import ThreadedService
from tests.support.practice import accepted

EXAMPLE = resource("examples/help-centre-ranking.csv")


@pytest.fixture
def in_doubt(terminal: Terminal, tmp_path: Path) -> Iterator[str]:
    """A job whose one batch was accepted, and the answer lost; its id. The service is there and well."""
    with ThreadedService(tmp_path / "service", faults.reset_after_body(billed=True)).opened() as service:
        terminal.connect(service.url)
        out = str(tmp_path / "ranked.csv")
        run = ("run", EXAMPLE, "--rank", "--connection", "cloudflare", "--out", out, "--json")
        ended = terminal.run(*run)
        assert ended.status == 3
        yield ended.json["job"]


def test_the_right_id_brings_the_paid_answer(terminal: Terminal, in_doubt: str, tmp_path: Path) -> None:
    (batch,) = accepted(tmp_path / "service")
    ended = terminal.run("settle", in_doubt, "--request-id", batch.request_id)
    assert ended.status == 0
    assert len(read_csv(tmp_path / "ranked.csv")) == 82
    assert len(accepted(tmp_path / "service")) == 1


def test_a_wrong_id_changes_nothing(terminal: Terminal, in_doubt: str, tmp_path: Path) -> None:
    ended = terminal.run("settle", in_doubt, "--request-id", "not-an-id")
    assert ended.status == 1
    assert (terminal.run("show", in_doubt, "--json")).json["state"] == "outcome_unknown"


def test_it_is_sent_again_on_the_users_word(terminal: Terminal, in_doubt: str, tmp_path: Path) -> None:
    ended = terminal.run("settle", in_doubt, "1", "--send-again")
    assert ended.status == 0
    assert len(accepted(tmp_path / "service")) == 2


def test_above_the_budget_it_is_not_sent_again(terminal: Terminal, in_doubt: str, tmp_path: Path) -> None:
    ended = terminal.run("settle", in_doubt, "--send-again", "--budget", "0")
    assert ended.status == 5
    assert "your budget for a job is $0. Nothing was sent. Allow more with --budget DOLLARS." in ended.complaint
    assert len(accepted(tmp_path / "service")) == 1


def test_above_the_budget_what_failed_is_not_sent_again(terminal: Terminal, tmp_path: Path) -> None:
    with ThreadedService(tmp_path / "service", faults.refusal(on="submit", code=5006)).opened() as service:
        terminal.connect(service.url)
        run = ("run", EXAMPLE, "--rank", "--connection", "cloudflare", "--json")
        job = (terminal.run(*run)).json["job"]
        ended = terminal.run("resume", job, "--failed", "--budget", "0")
        assert ended.status == 5 and "Nothing was sent." in ended.complaint
        assert (terminal.run("resume", job, "--failed", "--budget", "1")).status == 0
        assert len(accepted(tmp_path / "service")) == 1


def test_it_is_dismissed(terminal: Terminal, in_doubt: str, tmp_path: Path) -> None:
    ended = terminal.run("settle", in_doubt, "--dismiss")
    assert ended.status == 1
    assert len(accepted(tmp_path / "service")) == 1
    again = terminal.run("settle", in_doubt, "--dismiss")
    assert again.status == 2 and "unknown outcome" in again.complaint


def test_a_backup_is_written_and_restored(terminal: Terminal, tmp_path: Path) -> None:
    ran = terminal.run("run", EXAMPLE, "--rank", "--connection", "practice", "--json")
    assert terminal.run("backup", tmp_path / "jobs.zip").status == 0
    restored = Terminal(tmp_path / "restored")
    with zipfile.ZipFile(tmp_path / "jobs.zip") as archive:
        archive.extractall(restored.data)
    assert restored.run("show", ran.json["job"]).out == terminal.run("show", ran.json["job"]).out
