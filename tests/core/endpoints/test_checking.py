"""The free test of a connection: each failure has a sentence of its own, the failed check, and advice."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from cfbatch_gui.core.practice.app import PREFIX
from cfbatch_gui.core.workers_ai.checking import CheckResult, check_connection, has_failed, has_passed
from cfbatch_gui.core.workers_ai.connection_kinds import Connection
from tests.core.endpoints.collecting_room import CollectingRoom
from tests.core.endpoints.conftest import ACCOUNT, GATEWAY, SECRET, TOKEN, Endpoints, service
from tests.support import faults
from tests.support.clients import client_of, cloudflare, gateway, worker
from tests.support.faults import Fault
from tests.support.faulty_service import FaultyService, load_certificate

MODEL = "@cf/baai/bge-m3"
EXPIRED = Path(__file__).parents[2] / "data" / "tls" / "expired.pem"
Check = Callable[..., "asyncio.Future[tuple[CheckResult, ...]]"]


@pytest.fixture
def check() -> Check:
    async def checked(connection: Connection, *, token: str = TOKEN, model: str = MODEL) -> tuple[CheckResult, ...]:
        return await check_connection(client_of(connection, token, clock=lambda: 1_790_000_000), model)

    return checked  # type: ignore[return-value]  # a coroutine function


def status(word: str, **times: str) -> str:
    messages = [{"code": 10000, "message": "This API Token is valid and active"}] if word == "active" else []
    result = {"id": "0" * 32, "status": word, **times}
    return json.dumps({"result": result, "success": True, "errors": [], "messages": messages})


REFUSED = faults.refusal(status=401, code=10000, message="Authentication error")
FORBIDDEN = faults.refusal(status=403, code=10000, message="Authentication error")
FAILURES: dict[str, tuple[tuple[Fault, ...], int, str]] = {
    "wrong id": ((faults.refusal(status=404, code=7003, message="Could not route"),), 2, "no account with this id"),
    "junk token": ((faults.refusal(status=400, code=9106, message="Malformed header"),), 1, "this is no API token"),
    "unknown token": ((faults.refusal(status=401, code=10000, times=3),), 1, "does not know this token"),
    "expired": (
        (REFUSED, faults.any_reply(body=status("expired", expires_on="2026-01-31T12:00:00Z"))),
        1,
        "expired on 2026-01-31",
    ),
    "switched off": ((REFUSED, faults.any_reply(body=status("disabled"))), 1, "switched off"),
    "not valid yet": (
        (REFUSED, faults.any_reply(body=status("active", not_before="2027-01-31T12:00:00Z"))),
        1,
        "from 2027-01-31 on",
    ),
    "no permission": ((REFUSED, faults.any_reply(body=status("active"))), 1, "may not use Workers AI"),
    "no permission, token of an account": (
        (
            REFUSED,
            faults.refusal(status=401, code=1000, message="Invalid API Token"),
            faults.any_reply(body=status("active")),
        ),
        1,
        "may not use Workers AI",
    ),
    "wrong account": ((FORBIDDEN, faults.any_reply(body=status("active"))), 1, "not for this account"),
    "wrong account, token of an account": (
        (faults.refusal(status=403, code=10000, times=3),),
        1,
        "not for this account",
    ),
    "captive portal": ((faults.page(),), 0, "sign in first"),
    "asked too often": ((faults.refusal(status=429, retry_after="300"),), 1, "Test again in 5 minutes."),
}


@pytest.mark.parametrize(("faults", "question", "words"), FAILURES.values(), ids=FAILURES)
async def test_every_failure_has_its_sentence(
    endpoints: Endpoints, check: Check, faults: tuple[Fault, ...], question: int, words: str
) -> None:
    endpoints.rest.follow(*faults)
    results = await check(cloudflare(ACCOUNT, base_url=endpoints.rest.url))
    assert words in results[question].sentence
    assert [result.ok for result in results[:question]] == [True] * question and not results[question].ok
    assert [(result.ok, result.sentence) for result in results[question + 1 :]] == [(None, "")] * (3 - question)
    assert TOKEN not in repr(results) and not endpoints.rest.submits


async def test_all_is_well_and_until_when(endpoints: Endpoints, check: Check) -> None:
    endpoints.rest.follow(
        faults.any_reply(on="check", number=2, body=status("active", expires_on="2027-03-01T12:00:00Z"))
    )
    results = await check(cloudflare(ACCOUNT, base_url=endpoints.rest.url))
    assert [result.ok for result in results] == [True] * 4
    assert results[1].sentence == "Valid until 2027-03-01."


async def test_a_model_that_is_not_there(endpoints: Endpoints, check: Check) -> None:
    results = await check(cloudflare(ACCOUNT, base_url=endpoints.rest.url), model="@cf/baai/bge-m4")
    assert results[3].ok is False and "@cf/baai/bge-m4" in results[3].sentence


async def test_a_clock_that_is_wrong(tmp_path: Path, check: Check, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(EXPIRED))
    async with FaultyService(service(tmp_path), tls=load_certificate(EXPIRED)) as endpoint:
        results = await check(cloudflare(ACCOUNT, base_url=endpoint.url))
    assert results[0].ok is False and "2026" in results[0].sentence and "Set the clock" in results[0].sentence


@pytest.mark.parametrize(
    "reply", [b"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n", b"HTTP/1.1 403 No\r\n\r\n", None]
)
async def test_a_proxy_in_the_way_is_named_without_its_password(
    check: Check, monkeypatch: pytest.MonkeyPatch, reply: bytes | None
) -> None:
    async def proxy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(reply or b"")
        writer.close()

    server = await asyncio.start_server(proxy, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    if reply is None:  # no longer listening
        server.close()
    monkeypatch.setenv("HTTPS_PROXY", f"http://someone:their-password@127.0.0.1:{port}")
    results = await check(cloudflare(ACCOUNT))
    server.close()
    await server.wait_closed()
    assert results[0].ok is False and f"proxy, 127.0.0.1:{port}," in results[0].sentence
    assert "their-password" not in repr(results)


# A Worker and a gateway


async def test_a_worker_is_tested_for_free(endpoints: Endpoints, check: Check) -> None:
    connection = worker(endpoints.worker_url)
    assert [result.ok for result in await check(connection, token=SECRET)] == [True] * 4
    wrong = await check(connection, token="another")
    assert [result.ok for result in wrong] == [True, False, None, None] and "SHARED_SECRET" in wrong[1].sentence
    missing = await check(connection, token=SECRET, model="@cf/baai/bge-m4")
    assert [result.ok for result in missing] == [True, True, True, False]
    elsewhere = await check(worker(endpoints.rest.url), token=SECRET)
    assert elsewhere[0].ok is False and elsewhere[0].sentence
    assert not endpoints.worker.submits


@pytest.mark.parametrize(
    ("has_room", "collects", "ok", "words"),
    [
        (True, True, True, ""),
        (True, False, True, "It can. Switch “Collect answers in my account” on"),
        (False, True, False, "npx wrangler deploy --config collect.jsonc"),
    ],
)
async def test_a_worker_says_whether_it_collects(
    tmp_path: Path, check: Check, has_room: bool, collects: bool, ok: bool, words: str
) -> None:
    room = CollectingRoom(service(tmp_path / "service"))
    room.is_open = has_room
    async with FaultyService(room.application) as endpoint:
        address = endpoint.url.removesuffix(PREFIX)
        results = await check(worker(address, collects=collects), token=SECRET)
    assert len(results) == 5 and results[4].ok is ok
    assert words in results[4].sentence and bool(words) == bool(results[4].sentence)
    assert has_passed(results) and not has_failed(results)  # batches can be sent either way


async def test_a_worker_that_cannot_say_whether_it_collects_is_not_called_broken(
    endpoints: Endpoints, check: Check
) -> None:
    for collects in (True, False):
        endpoints.worker.follow(faults.page(on="check"))
        connection = worker(endpoints.worker_url, collects=collects)
        results = await check(connection, token=SECRET)
        assert has_passed(results)
        assert [(result.ok, bool(result.sentence)) for result in results[4:]] == ([(None, True)] if collects else [])


async def test_a_gateway_is_tested_as_far_as_it_goes(endpoints: Endpoints, check: Check) -> None:
    def through(name: str) -> Connection:
        return gateway(ACCOUNT, name, url=endpoints.gateway.url, api_url=endpoints.rest.url)

    results = await check(through(GATEWAY))
    assert [result.ok for result in results] == [True, True, True, None]
    assert "Cloudflare does not say" in results[3].sentence
    results = await check(through("another"))
    assert results[3].ok is False and "no AI Gateway" in results[3].sentence
    assert not endpoints.gateway.submits
