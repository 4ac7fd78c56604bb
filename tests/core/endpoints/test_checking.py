"""The free test of a connection: each failure has a sentence of its own, the failed check, and advice."""

import asyncio
import json
from dataclasses import replace
from pathlib import Path

import pytest

from cfbatch_gui.core.practice.app import PREFIX
from cfbatch_gui.core.workers_ai.checking import CheckResult, check_connection, has_failed, has_passed
from cfbatch_gui.core.workers_ai.connection_kinds import Connection
from tests.core.endpoints.conftest import ACCOUNT, GATEWAY, SECRET, TOKEN, CollectingRoom, Endpoints, service
from tests.support import faults
from tests.support.clients import client_of, cloudflare, gateway, worker
from tests.support.faults import Fault
from tests.support.faulty_service import FaultyService, load_certificate
from tests.support.sentences import code_of

MODEL = "@cf/baai/bge-m3"
EXPIRED = Path(__file__).parents[2] / "data" / "tls" / "expired.pem"


async def check(connection: Connection, *, token: str = TOKEN, model: str = MODEL) -> tuple[CheckResult, ...]:
    return await check_connection(client_of(connection, token, clock=lambda: 1_790_000_000), model)


def verified(word: str, **times: str) -> Fault:
    messages = [{"code": 10000, "message": "This API Token is valid and active"}] if word == "active" else []
    result = {"id": "0" * 32, "status": word, **times}
    return faults.any_reply(body=json.dumps({"result": result, "success": True, "errors": [], "messages": messages}))


ACTIVE, LATER = verified("active"), verified("active", not_before="2027-01-31T12:00:00Z")
UNKNOWN = faults.refusal(status=401, code=10000, message="Authentication error")
FORBIDDEN = faults.refusal(status=403, code=10000, message="Authentication error")
NO_ROUTE = faults.refusal(status=404, code=7003, message="Could not route")
OF_AN_ACCOUNT = faults.refusal(status=401, code=1000, message="Invalid API Token")
EXPIRED_TOKEN = verified("expired", expires_on="2026-01-31T12:00:00Z")
MALFORMED, TOO_OFTEN = faults.refusal(status=400, code=9106), faults.refusal(status=429, retry_after="300")


FAILURES: dict[str, tuple[tuple[Fault, ...], int, str]] = {  # what the service says, the failed question, a sentence
    "wrong id": ((NO_ROUTE,), 2, "service_no_account_id_copy_from"),
    "junk token": ((MALFORMED,), 1, "service_says_is_no_api_token"),
    "unknown token": ((replace(UNKNOWN, times=3),), 1, "service_does_not_know_token_was"),
    "expired": ((UNKNOWN, EXPIRED_TOKEN), 1, "token_expired_on_day_create_new"),
    "switched off": ((UNKNOWN, verified("disabled")), 1, "token_been_switched_off_switch_on"),
    "not valid yet": ((UNKNOWN, LATER), 1, "token_is_valid_from_day_on"),
    "no permission": ((UNKNOWN, ACTIVE), 1, "token_is_valid_but_may_not"),
    "no permission, token of an account": ((UNKNOWN, OF_AN_ACCOUNT, ACTIVE), 1, "token_is_valid_but_may_not"),
    "wrong account": ((FORBIDDEN, ACTIVE), 1, "token_is_not_account_check_account"),
    "wrong account, token of an account": ((replace(FORBIDDEN, times=3),), 1, "token_is_not_account_check_account"),
    "captive portal": ((faults.page(),), 0, "something_other_than_title_answered_if"),
    "asked too often": ((TOO_OFTEN,), 1, "sentence_test_again_n_minutes"),
}


@pytest.mark.parametrize(("follows", "question", "code"), FAILURES.values(), ids=FAILURES)
async def test_every_failure_has_its_sentence(
    endpoints: Endpoints, follows: tuple[Fault, ...], question: int, code: str
) -> None:
    endpoints.rest.follow(*follows)
    results = await check(cloudflare(ACCOUNT, base_url=endpoints.rest.url))
    assert code_of(results[question].sentence) == code
    assert not results[question].ok
    results = results[:question] + results[question + 1 :]
    assert [result.ok for result in results] == [*[True] * question, *[None] * (3 - question)]
    assert not any(result.sentence for result in results[question:])
    assert TOKEN not in repr(results) and not endpoints.rest.submits


async def test_all_is_well_and_until_when_and_a_model_that_is_not_there(endpoints: Endpoints) -> None:
    until = verified("active", expires_on="2027-03-01T12:00:00Z")
    endpoints.rest.follow(replace(until, on="check", number=2))
    results = await check(cloudflare(ACCOUNT, base_url=endpoints.rest.url))
    assert [result.ok for result in results] == [True] * 4
    assert "2027-03-01" in results[1].sentence
    results = await check(cloudflare(ACCOUNT, base_url=endpoints.rest.url), model="@cf/baai/bge-m4")
    assert results[3].ok is False and "@cf/baai/bge-m4" in results[3].sentence


async def test_a_clock_that_is_wrong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(EXPIRED))
    async with FaultyService(service(tmp_path), tls=load_certificate(EXPIRED)) as endpoint:
        results = await check(cloudflare(ACCOUNT, base_url=endpoint.url))
    assert results[0].ok is False and "2026" in results[0].sentence


@pytest.mark.parametrize(
    "reply", [b"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n", b"HTTP/1.1 403 No\r\n\r\n", None]
)
async def test_a_proxy_in_the_way_is_named_without_its_password(
    monkeypatch: pytest.MonkeyPatch, reply: bytes | None
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
    assert results[0].ok is False and f"127.0.0.1:{port}" in results[0].sentence
    assert "their-password" not in repr(results)


# A Worker and a gateway


async def test_a_worker_is_tested_for_free(endpoints: Endpoints) -> None:
    connection = worker(endpoints.worker_url)
    assert [result.ok for result in await check(connection, token=SECRET)] == [True] * 4
    wrong = await check(connection, token="another")
    assert [result.ok for result in wrong] == [True, False, None, None]
    missing = await check(connection, token=SECRET, model="@cf/baai/bge-m4")
    assert [result.ok for result in missing] == [True, True, True, False]
    elsewhere = await check(worker(endpoints.rest.url), token=SECRET)
    assert elsewhere[0].ok is False and elsewhere[0].sentence
    assert not endpoints.worker.submits


@pytest.mark.parametrize(("has_room", "collects"), [(True, True), (True, False), (False, True)])
async def test_a_worker_says_whether_it_collects(tmp_path: Path, has_room: bool, collects: bool) -> None:
    room = CollectingRoom(service(tmp_path / "service"))
    room.is_open = has_room
    async with FaultyService(room.application) as endpoint:
        address = endpoint.url.removesuffix(PREFIX)
        results = await check(worker(address, collects=collects), token=SECRET)
    assert len(results) == 5 and results[4].ok is has_room
    assert bool(results[4].sentence) is not (has_room and collects)
    assert has_passed(results) and not has_failed(results)  # batches can be sent either way


async def test_a_worker_that_cannot_say_whether_it_collects_is_not_called_broken(endpoints: Endpoints) -> None:
    for collects in (True, False):
        endpoints.worker.follow(faults.page(on="check"))
        results = await check(worker(endpoints.worker_url, collects=collects), token=SECRET)
        assert has_passed(results)
        assert [(result.ok, bool(result.sentence)) for result in results[4:]] == ([(None, True)] if collects else [])


async def test_a_gateway_is_tested_as_far_as_it_goes(endpoints: Endpoints) -> None:
    def through(name: str) -> Connection:
        return gateway(ACCOUNT, name, url=endpoints.gateway.url, api_url=endpoints.rest.url)

    results = await check(through(GATEWAY))
    assert [result.ok for result in results] == [True, True, True, None]
    results = await check(through("another"))
    assert results[3].ok is False
    assert not endpoints.gateway.submits
