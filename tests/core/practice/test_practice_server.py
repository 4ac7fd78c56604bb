"""The practice service on a port: start, restart, large bodies, and the end of the command by Ctrl+C."""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import httpx
import pytest

from cfbatch_gui.core.practice.local_models import HashedNgrams
from tests.canary import CORE, TOKEN
from tests.support.practice import PracticeServer, accepted

ROOT = Path(__file__).parents[3]
ADDRESS = f"/accounts/{'c' * 32}/ai/run/@cf/baai/bge-m3?queueRequest=true"
HEADERS = {"Authorization": f"Bearer {TOKEN}"}
COMMAND = """
import argparse, sys
from pathlib import Path
from cfbatch_gui.cli import practice
parser = argparse.ArgumentParser()
practice.add_arguments(parser, parents=[])
sys.exit(practice.run(parser.parse_args(sys.argv[2:]), Path(sys.argv[1])))
"""


def client(server: PracticeServer) -> httpx.Client:
    return httpx.Client(base_url=server.url, headers=HEADERS, trust_env=False, timeout=60)


def test_a_batch_survives_a_restart_of_the_server(tmp_path: Path) -> None:
    with PracticeServer(tmp_path, load_model=HashedNgrams, seconds_queued=3600) as server, client(server) as http:
        request_id = http.post(ADDRESS, json={"requests": [{"text": "a"}]}).json()["result"]["request_id"]
        assert http.post(ADDRESS, json={"request_id": request_id}).json()["result"]["status"] == "queued"
    with PracticeServer(tmp_path, load_model=HashedNgrams) as server, client(server) as http:
        result = http.post(ADDRESS, json={"request_id": request_id}).json()["result"]
    assert [element["id"] for element in result["responses"]] == [0]
    assert [line.request_id for line in accepted(tmp_path)] == [request_id]


def test_a_body_of_ten_megabytes_is_read_and_refused(tmp_path: Path) -> None:
    with PracticeServer(tmp_path, load_model=HashedNgrams) as server, client(server) as http:
        answer = http.post(ADDRESS, content=b" " * 30_000_000)
        assert (answer.status_code, answer.json()["errors"][0]["code"]) == (413, 3006)
        assert http.post(ADDRESS, json={"requests": []}).status_code == 200


def test_many_clients_at_once(tmp_path: Path) -> None:
    elements = [{"text": [f"{number} {letter}" for letter in "abc"]} for number in range(50)]
    found: list[int] = []
    with PracticeServer(tmp_path, load_model=HashedNgrams) as server:

        def work() -> None:
            with client(server) as http:
                request_id = http.post(ADDRESS, json={"requests": elements}).json()["result"]["request_id"]
                found.append(len(http.post(ADDRESS, json={"request_id": request_id}).json()["result"]["responses"]))

        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert found == [50] * 8
    assert len(accepted(tmp_path)) == 8


@contextmanager
def command(folder: Path, *options: str, token: str = "") -> Iterator[subprocess.Popen[str]]:
    environment = {key: value for key, value in os.environ.items() if key != "CFBATCH_PRACTICE_TOKEN"}
    if token:
        environment["CFBATCH_PRACTICE_TOKEN"] = token
    process = subprocess.Popen(
        [sys.executable, "-W", "error", "-c", COMMAND, str(folder), "serve", *options],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def announcement(stderr: IO[str] | None) -> str:
    assert stderr is not None
    lines: list[str] = []
    while len(lines) < 6:
        lines.append(stderr.readline())
    return "".join(lines)


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
@pytest.mark.parametrize("token", ["", TOKEN], ids=["any token", "own token"])
def test_the_command_serves_prints_a_curl_line_and_ends_by_ctrl_c(tmp_path: Path, token: str) -> None:
    with command(tmp_path, "--port", "0", "--seconds-queued", "0", "--seconds-running", "0", token=token) as process:
        said = announcement(process.stderr)
        assert re.search(r"listens on http://127\.0\.0\.1:\d+/client/v4 ", said)
        assert CORE not in said
        line = said[said.index("curl ") :]
        environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "CFBATCH_PRACTICE_TOKEN": token}
        curl = subprocess.run(
            ["sh", "-c", line], check=True, env=environment, capture_output=True, text=True, timeout=60
        )
        assert '"status":"queued"' in curl.stdout
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert (process.returncode, out, err) == (0, "", "Stopped.\n")
    assert len(accepted(tmp_path / "practice")) == 1


def test_a_busy_port_is_said_in_a_sentence(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as busy:
        port = str(busy.getsockname()[1])
        with command(tmp_path, "--port", port) as process:
            out, err = process.communicate(timeout=30)
    assert (process.returncode, out) == (2, "")
    assert err.startswith(f"Port {port} on this computer cannot be used.")
    assert "Traceback" not in err


@pytest.mark.parametrize("options", [["--port", "70000"], ["--seconds-queued", "-1"], ["--seconds-running", "nan"]])
def test_a_wrong_option_is_bad_usage(tmp_path: Path, options: list[str]) -> None:
    with command(tmp_path, *options) as process:
        _, err = process.communicate(timeout=30)
    assert process.returncode == 2
    assert options[1] in err
