"""What was sent and not answered is decided by the user, in the terminal too; and curl's job is added."""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.canary import TOKEN
from tests.journeys.terminal import ACCOUNT, EXAMPLE, Terminal, read_csv
from tests.support import faults
from tests.support.faulty_service import ThreadedService
from tests.support.practice import accepted


@pytest.fixture
def in_doubt(terminal: Terminal, tmp_path: Path) -> Iterator[str]:
    """A job whose one batch was accepted, and the answer lost; its id. The service is there and well."""
    with ThreadedService(tmp_path / "service", faults.reset_after_body(billed=True)).opened() as service:
        terminal.connect(service.url)
        out = str(tmp_path / "ranked.csv")
        run = ("run", EXAMPLE, "--rank", "--connection", "cloudflare", "--out", out, "--json")
        ended = terminal.run(*run)
        assert ended.status == 3
        assert ended.json["batches"][0]["request_id"] == ""
        yield ended.json["job"]


def test_the_right_id_brings_the_paid_answer(terminal: Terminal, in_doubt: str, tmp_path: Path) -> None:
    (batch,) = accepted(tmp_path / "service")
    ended = terminal.run("settle", in_doubt, "--request-id", batch.request_id)
    assert ended.status == 0
    assert len(read_csv(tmp_path / "ranked.csv")) == 82
    assert len(accepted(tmp_path / "service")) == 1


def test_it_is_sent_again_on_the_users_word_within_the_budget(
    terminal: Terminal, in_doubt: str, tmp_path: Path
) -> None:
    assert terminal.run("settle", in_doubt, "--request-id", "not-an-id").status == 1
    assert terminal.run("show", in_doubt, "--json").json["state"] == "outcome_unknown"
    ended = terminal.run("settle", in_doubt, "--send-again", "--budget", "0")
    assert ended.status == 5 and "job_may_cost_amount_your_budget" in ended.codes
    assert len(accepted(tmp_path / "service")) == 1
    assert terminal.run("settle", in_doubt, "1", "--send-again").status == 0
    assert len(accepted(tmp_path / "service")) == 2


def test_above_the_budget_what_failed_is_not_sent_again(terminal: Terminal, tmp_path: Path) -> None:
    with ThreadedService(tmp_path / "service", faults.refusal(on="submit", code=5006)).opened() as service:
        terminal.connect(service.url)
        run = ("run", EXAMPLE, "--rank", "--connection", "cloudflare", "--json")
        job = (terminal.run(*run)).json["job"]
        ended = terminal.run("resume", job, "--failed", "--budget", "0")
        assert ended.status == 5
        assert (terminal.run("resume", job, "--failed", "--budget", "1")).status == 0
        assert len(accepted(tmp_path / "service")) == 1


def test_it_is_dismissed(terminal: Terminal, in_doubt: str, tmp_path: Path) -> None:
    ended = terminal.run("settle", in_doubt, "--dismiss")
    assert ended.status == 1
    assert len(accepted(tmp_path / "service")) == 1
    again = terminal.run("settle", in_doubt, "--dismiss")
    assert (again.status, again.codes) == (2, {"no_batch_job_id_unknown_outcome"})


BODY = {
    "requests": [
        {"query": "clouds", "contexts": [{"text": "an orange cloud"}, {"text": "a llama"}], "external_reference": "x"},
        {"query": "animals", "contexts": [{"text": "a llama"}, {"text": "a stone"}]},
    ]
}
PAIRS = "query,context\nclouds,an orange cloud\nclouds,a llama\nanimals,a llama\nanimals,a stone\n"


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    path = tmp_path / "pairs.csv"
    path.write_text(PAIRS)
    return path


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
@pytest.mark.parametrize("with_file", [True, False])
def test_a_job_that_curl_has_begun(
    terminal: Terminal, service: str, pairs: Path, tmp_path: Path, with_file: bool
) -> None:
    terminal.connect(service)
    command = (
        f'curl -s "{service}/accounts/{ACCOUNT}/ai/run/@cf/baai/bge-m3?queueRequest=true"'
        f" --header \"Authorization: Bearer $CLOUDFLARE_API_TOKEN\" --json '{json.dumps(BODY)}' > answer.json"
    )
    environ = {"PATH": os.environ["PATH"], "CLOUDFLARE_API_TOKEN": TOKEN}
    subprocess.run(["sh", "-c", command], cwd=tmp_path, env=environ, check=True, timeout=240)
    given = ("--input", pairs) if with_file else ()
    out = tmp_path / "ranked.csv"
    ended = terminal.run(
        "attach", tmp_path / "answer.json", *given, "--rank", "--connection", "cloudflare", "--out", out
    )
    assert ended.status == 0, ended.err
    ranked = out.read_text(encoding="utf-8")
    assert ("an orange cloud" in ranked) is with_file and ("Query 2 · Candidate 1" in ranked) is not with_file
    sent = {row["query"]: row["external_reference"] for row in read_csv(out)}
    assert len(read_csv(out)) == 4 and sent["clouds" if with_file else "Query 1"] == "x", "not a reference of ours"
    (job,) = terminal.jobs()
    assert terminal.run("attach", job["batches"][0]["request_id"], "--connection", "cloudflare").status == 2
