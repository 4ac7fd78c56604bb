"""The practice service on a port: large bodies, the lines of Cloudflare's pages, and the command."""

import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from cfbatch_gui.core.practice.app import HOST
from cfbatch_gui.core.practice.local_models import HashedNgrams
from cfbatch_gui.core.practice.server import listen
from tests.canary import CORE, TOKEN
from tests.journeys.terminal import Terminal
from tests.support.practice import PracticeServer, accepted

ROOT = Path(__file__).parents[3]
SEEDS = ROOT / "tests" / "data" / "seeds"
ADDRESS = f"/accounts/{'c' * 32}/ai/run/@cf/baai/bge-m3?queueRequest=true"
STORIES = {0: "orange cloud", 1: "llama", 2: "hugging emoji"}
needs_curl = pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")


def test_a_body_that_is_too_large_is_read(tmp_path: Path) -> None:
    headers = {"Authorization": f"Bearer {TOKEN}"}
    with PracticeServer(tmp_path, load_model=HashedNgrams) as server, httpx.Client(trust_env=False, timeout=60) as http:
        assert http.post(f"{server.url}{ADDRESS}", content=b" " * 30_000_000, headers=headers).status_code == 413


def test_the_body_of_an_answer_does_not_wait_for_the_acknowledgement_of_its_headers() -> None:
    with listen(0) as listener, socket.create_connection((HOST, listener.getsockname()[1])):
        taken, _ = listener.accept()
        with taken:
            assert taken.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PracticeServer]:
    with PracticeServer(tmp_path_factory.mktemp("practice")) as running:
        yield running


def run(server: PracticeServer, name: str, request_id: str = "") -> Any:
    """The answer to the line of a page, with only the host and the ids replaced."""
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(SEEDS),  # a folder without .curlrc
        "SERVICE": server.url.removesuffix("/client/v4"),
        **dict.fromkeys(("ACCOUNT_ID", "CLOUDFLARE_ACCOUNT_ID"), "a" * 32),
        **dict.fromkeys(("API_TOKEN", "CLOUDFLARE_API_TOKEN"), TOKEN),
    }
    line = (SEEDS / name).read_text("utf-8").replace("<uuid>", request_id)
    return json.loads(subprocess.run(["sh", "-c", line], env=environment, capture_output=True, check=True).stdout)


@needs_curl
@pytest.mark.parametrize(("year", "reference"), [("2025", None), ("2026", "reference-1")])
def test_the_pages_of_the_rest_api(server: PracticeServer, year: str, reference: str | None) -> None:
    queued = run(server, f"batch-rest-{year}-send.sh")
    request_id = queued["result"].pop("request_id")
    frame = {"success": True, "errors": [], "messages": []}
    assert queued == {"result": {"status": "queued", "model": "@cf/baai/bge-m3"}, **frame}
    done = run(server, f"batch-rest-{year}-retrieve.sh", request_id)
    (element,) = done["result"].pop("responses")
    scores = {score["id"]: score["score"] for score in element.pop("result")["response"]}
    assert scores.keys() == STORIES.keys() and STORIES[max(scores, key=scores.__getitem__)] == "orange cloud"
    assert element == {"id": 0, "success": True, "external_reference": reference}
    usage = done["result"].pop("usage")
    assert usage["prompt_tokens"] == usage["total_tokens"] > usage["completion_tokens"] == 0
    assert done == {"result": {}, **frame}


@needs_curl
def test_the_page_of_the_model(server: PracticeServer) -> None:
    result = run(server, "bge-m3-model-run.sh")["result"]
    rows, dimension = result["shape"]
    assert [len(row) for row in result["data"]] == [dimension] * rows == [dimension] * 3
    assert len(list(SEEDS.iterdir())) == 5  # and every line is run here


# The command


SERVE = ("practice", "serve", "--port", "0")


def announcement(process: subprocess.Popen[str]) -> str:
    assert process.stderr is not None
    return "".join(process.stderr.readline() for _ in range(6))


@needs_curl
@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.parametrize("token", ["", TOKEN], ids=["any token", "own token"])
def test_the_command_serves_prints_a_curl_line_and_ends_by_ctrl_c(tmp_path: Path, token: str) -> None:
    with Terminal(tmp_path, {"CFBATCH_PRACTICE_TOKEN": token}).start(*SERVE) as process:
        said = announcement(process)
        assert re.search(r"http://127\.0\.0\.1:\d+/client/v4 ", said) and CORE not in said
        environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "CFBATCH_PRACTICE_TOKEN": token}
        line = ["sh", "-c", said[said.index("curl ") :]]
        curl = subprocess.run(line, check=True, env=environment, capture_output=True, text=True)
        assert '"status":"queued"' in curl.stdout
        process.send_signal(signal.SIGINT)
        out, err = process.communicate()
    assert (process.returncode, out, err.count("\n")) == (0, "", 1)
    assert len(accepted(tmp_path / "practice")) == 1


def test_what_cannot_be_served_is_said(tmp_path: Path) -> None:
    with socket.create_server((HOST, 0)) as busy:
        port = str(busy.getsockname()[1])
        for option, value in (("--port", port), ("--port", "70000"), ("--seconds-queued", "-1")):
            ended = Terminal(tmp_path).run_apart("practice", "serve", option, value)
            assert (ended.status, ended.out) == (2, "")
            assert value in ended.err


def test_who_names_another_host_is_refused(tmp_path: Path) -> None:
    with Terminal(tmp_path).start(*SERVE) as process:
        found = re.search(r"http://127\.0\.0\.1:(\d+)/", announcement(process))
        assert found is not None
        port = int(found[1])
        own = [f"127.0.0.1:{port}", f"LocalHost:{port}", f"[::1]:{port}"]
        for host in own:
            assert post(port, host) == 200, host
        for host in (f"rebound.example:{port}", "127.0.0.1", f"localhost:{port}.example", f"user@localhost:{port}", ""):
            assert post(port, host) == 421, host
        for hosts in ((), (own[0], "rebound.example")):
            assert post(port, *hosts) != 200, hosts
    assert len(accepted(tmp_path / "practice")) == len(own)


def post(port: int, *hosts: str) -> int:
    """Send a batch with these headers Host; the status of the answer, 0 where the connection broke."""
    body = b'{"requests": [{"text": "a"}]}'
    connection = http.client.HTTPConnection(HOST, port, timeout=60)
    try:
        connection.putrequest("POST", ADDRESS, skip_host=True)
        for host in hosts:
            connection.putheader("Host", host)
        connection.putheader("Authorization", f"Bearer {TOKEN}")
        connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body)
        return connection.getresponse().status
    except ConnectionError:
        return 0
    finally:
        connection.close()
