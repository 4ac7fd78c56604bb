"""In the terminal: without the queue, a job that curl has begun, and connections by their names."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import httpx
import pytest

from cfbatch_gui.core.system.settings import SavedConnection, Settings
from tests.canary import TOKEN
from tests.journeys.terminal import ACCOUNT, Terminal, read_csv

BODY = {
    "requests": [
        {"query": "clouds", "contexts": [{"text": "an orange cloud"}, {"text": "a llama"}]},
        {"query": "animals", "contexts": [{"text": "a llama"}, {"text": "a stone"}]},
    ]
}
PAIRS = "query,context\nclouds,an orange cloud\nclouds,a llama\nanimals,a llama\nanimals,a stone\n"


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    path = tmp_path / "pairs.csv"
    path.write_text(PAIRS)
    return path


def test_at_once(terminal: Terminal, service: str, pairs: Path, tmp_path: Path) -> None:
    terminal.connect(service)
    ended = terminal.run("run", pairs, "--rank", "--at-once", "--connection", "cloudflare", "--out", tmp_path / "r.csv")
    assert ended.status == 0 and "2 requests at once" in ended.err
    assert len(read_csv(tmp_path / "r.csv")) == 4
    assert [batch["request_id"] for batch in terminal.jobs()[0]["batches"]] == ["", ""]


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
    subprocess.run(["sh", "-c", command], cwd=tmp_path, env=environ, check=True, timeout=30)
    given = ("--input", pairs) if with_file else ()
    out = tmp_path / "ranked.csv"
    ended = terminal.run(
        "attach", tmp_path / "answer.json", *given, "--rank", "--connection", "cloudflare", "--out", out
    )
    assert ended.status == 0, ended.err
    ranked = out.read_text(encoding="utf-8")
    assert ("an orange cloud" in ranked) is with_file and ("Query 2 · Context 1" in ranked) is not with_file
    assert len(read_csv(out)) == 4
    (job,) = terminal.jobs()
    assert terminal.run("attach", job["batches"][0]["request_id"], "--connection", "cloudflare").status == 2


def test_what_is_no_request_id_is_said(terminal: Terminal, service: str) -> None:
    terminal.connect(service)
    ended = terminal.run("attach", "{}", "--connection", "cloudflare")
    assert ended.status == 2 and "no request ID" in ended.complaint and terminal.jobs() == []


def test_a_connection_by_its_name(terminal: Terminal, service: str, pairs: Path) -> None:
    terminal.data.mkdir()
    saved = SavedConnection("abcd2345", "My account", "cloudflare", account_id=ACCOUNT, url=service)
    Settings(connections=(saved,)).save(terminal.data / "settings.json")
    for name in ("My account", "my ACCOUNT", "abcd2345"):
        ended = terminal.run("run", pairs, "--rank", "--connection", name)
        assert ended.status == 4 and "token is missing" in ended.complaint
    terminal.connect("http://127.0.0.1:9")  # the environment's token is for "cloudflare" alone
    ended = terminal.run("run", pairs, "--rank", "--connection", "My account")
    assert ended.status == 4 and "token is missing" in ended.complaint
    ended = terminal.run("run", pairs, "--rank", "--connection", "Yours")
    assert ended.status == 2 and "My account" in ended.complaint


def test_a_file_of_another_kind_is_read_for_it_as_for_a_run(terminal: Terminal, service: str, tmp_path: Path) -> None:
    terminal.connect(service)
    texts = tmp_path / "texts.csv"
    texts.write_bytes("sku;body\n1;Die Straße ist naß\n2;Ölgemälde\n".encode("cp1252"))
    url = f"{service}/accounts/{ACCOUNT}/ai/run/@cf/baai/bge-m3?queueRequest=true"
    body = {"requests": [{"text": ["Die Straße ist naß", "Ölgemälde"]}]}
    answer = httpx.post(url, json=body, headers={"authorization": f"Bearer {TOKEN}"}).text
    (tmp_path / "answer.json").write_text(answer)
    reading = ("--embed", "--encoding", "cp1252", "--separator", ";", "--role", "body=text")
    out = tmp_path / "vectors.csv"
    ended = terminal.run(
        "attach", tmp_path / "answer.json", "--input", texts, *reading, "--connection", "cloudflare", "--out", out
    )
    assert ended.status == 0, ended.err
    assert "Die Straße ist naß" in out.read_text(encoding="utf-8")
