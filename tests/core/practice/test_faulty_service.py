"""The faulty service on a real socket: exchanges passed on unchanged, its counts, and the command that starts it."""

import asyncio
import os
import shutil
import signal
import ssl
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
from cfbatch_gui.core.practice.faults import script
from cfbatch_gui.core.practice.faults.faulty_service import FaultyService

from cfbatch_gui.core.practice.app import practice_app
from cfbatch_gui.core.practice.local_models import HashedNgrams
from cfbatch_gui.core.practice.server import load_certificate
from tests.support.practice import accepted

ROOT = Path(__file__).parents[3]
CERTIFICATE = ROOT / "tests" / "data" / "tls" / "loopback.pem"
ADDRESS = f"/accounts/{'c' * 32}/ai/run/@cf/baai/bge-m3?queueRequest=true"
BATCH = {"requests": [{"text": "a"}, {"text": "b"}]}


@pytest.fixture
async def faulty(tmp_path: Path) -> AsyncIterator[FaultyService]:
    service = practice_app(tmp_path, seconds_queued=0, seconds_running=0, load_model=HashedNgrams)
    async with FaultyService(service) as made:
        yield made


def client(faulty: FaultyService, verify: ssl.SSLContext | bool = True) -> httpx.AsyncClient:
    headers = {"Authorization": "Bearer any-token"}
    return httpx.AsyncClient(base_url=faulty.url, headers=headers, trust_env=False, verify=verify, timeout=10)


async def test_without_faults_it_is_the_practice_service(faulty: FaultyService, tmp_path: Path) -> None:
    async with client(faulty) as http:
        queued = (await http.post(ADDRESS, json=BATCH)).json()["result"]
        answer = (await http.post(ADDRESS, json={"request_id": queued["request_id"]})).json()["result"]
        assert (await http.get("/user/tokens/verify")).status_code == 200
    assert len(answer["responses"]) == 2
    (line,) = accepted(tmp_path)
    assert [(arrival.kind, arrival.status, arrival.is_asked) for arrival in faulty.arrivals] == [
        ("submit", 200, True),
        ("poll", 200, True),
        ("check", 200, True),
    ]
    assert (faulty.submits[0].sha256, faulty.submits[0].received) == (line.sha256, line.size)
    assert faulty.connections == 1


async def test_a_fault_follows_one_batch_by_its_hash(faulty: FaultyService) -> None:
    async with client(faulty) as http:
        await http.post(ADDRESS, json=BATCH)
        faulty.follow(script.Page(sha256=faulty.submits[0].sha256, times=0, status=502))
        assert (await http.post(ADDRESS, json=BATCH)).status_code == 502
        other = await http.post(ADDRESS, json={"requests": [{"text": "other"}]})
        assert other.status_code == 200
        assert (await http.post(ADDRESS, json={"request_id": other.json()["result"]["request_id"]})).status_code == 200


async def test_a_large_batch_goes_through_and_can_be_cut(faulty: FaultyService, tmp_path: Path) -> None:
    large = {"requests": [{"text": "word " * 1_500_000}]}
    async with client(faulty) as http:
        assert (await http.post(ADDRESS, json=large, headers={"Expect": "100-continue"})).status_code == 200
        faulty.follow(script.ResetInBody(byte=5_000_000))
        with pytest.raises(httpx.TransportError):
            await http.post(ADDRESS, json=large)
    assert len(accepted(tmp_path)) == 1
    assert faulty.submits[1].received == 5_000_000


async def test_nobody_listens_for_a_while(faulty: FaultyService) -> None:
    faulty.follow(script.Refuse(seconds=0.05))
    async with client(faulty) as http:
        with pytest.raises(httpx.ConnectError):
            await http.get("/user/tokens/verify")
        async with asyncio.timeout(10):
            while True:
                try:
                    assert (await http.get("/user/tokens/verify")).status_code == 200
                except httpx.ConnectError:
                    continue
                break


async def test_tls_with_a_certificate_of_ones_own(tmp_path: Path) -> None:
    service = practice_app(tmp_path, seconds_queued=0, seconds_running=0, load_model=HashedNgrams)
    trust = ssl.create_default_context(cafile=str(CERTIFICATE))
    async with FaultyService(service, tls=load_certificate(CERTIFICATE)) as faulty, client(faulty, trust) as http:
        assert faulty.url.startswith("https://127.0.0.1:")
        assert (await http.get("/user/tokens/verify")).status_code == 200


async def test_what_is_no_request_ends_the_connection(faulty: FaultyService) -> None:
    port = int(faulty.url.split(":")[2].split("/")[0])
    for nonsense in (
        b"\x16\x03\x01",
        b"GET /\r\n\r\n",
        b"x" * 200_000,
        b"POST / HTTP/1.1\r\ncontent-length: -5\r\n\r\n",
    ):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(nonsense)
        with pytest.raises((asyncio.IncompleteReadError, ConnectionError)):
            await reader.readexactly(1)
        writer.close()
    assert faulty.arrivals == []


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
@pytest.mark.parametrize("tls", [False, True])
def test_the_command_misbehaves_as_it_is_told_and_says_so(tmp_path: Path, tls: bool) -> None:
    faults = tmp_path / "faults.json"
    faults.write_text('{"faults":[{"on":"submit","do":"reset_after_body","billed":true}]}')
    options = ["--certificate", str(CERTIFICATE)] if tls else []
    command = [sys.executable, "-W", "error", "-m", "cfbatch_gui.cli.main", "practice", "serve", "--port", "0"]
    process = subprocess.Popen(
        [*command, "--data-dir", str(tmp_path), "--faults", str(faults), *options],
        cwd=ROOT,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    try:
        said = [process.stderr.readline() for _ in range(6)]
        assert f"listens on http{'s' if tls else ''}://127.0.0.1:" in said[0]
        line = "".join(said)[len(said[0]) :].strip()
        environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "CURL_CA_BUNDLE": str(CERTIFICATE)}
        runs = [
            subprocess.run(["sh", "-c", line], env=environment, capture_output=True, check=False, text=True, timeout=60)
            for _ in range(2)
        ]
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)
    finally:
        process.kill()
        process.communicate()
    assert (runs[0].returncode, runs[0].stdout) != (0, "") and runs[0].stdout == ""
    assert '"status":"queued"' in runs[1].stdout
    lines = err.splitlines()
    assert lines[0].endswith("answered 200, reset_after_body") and lines[1].endswith("answered 200, no fault")
    assert (lines[-1], process.returncode) == ("Stopped.", 0)
    assert len(accepted(tmp_path / "practice")) == 2


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--certificate", "x.pem"], "goes with --faults"),
        (["--faults", "no-such-file.json"], "could not be read"),
        (["--faults", str(ROOT / "README.md")], "not JSON"),
    ],
)
def test_what_cannot_be_served_is_said_in_a_sentence(tmp_path: Path, arguments: list[str], words: str) -> None:
    command = [sys.executable, "-m", "cfbatch_gui.cli.main", "practice", "serve", "--data-dir", str(tmp_path)]
    ended = subprocess.run([*command, *arguments], cwd=ROOT, capture_output=True, check=False, text=True, timeout=60)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert words in ended.stderr and "Traceback" not in ended.stderr
