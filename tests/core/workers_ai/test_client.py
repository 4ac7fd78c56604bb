"""Exchanges over real sockets: whether a byte of the body was sent, what is sent, and what must not be."""

import asyncio
from pathlib import Path

import pytest

from cfbatch_gui.core.errors import OutcomeUnknown, Unreachable, UnreadableReply
from cfbatch_gui.core.practice.app import practice_app
from tests.canary import TOKEN
from tests.core.workers_ai.conftest import BODY, MODEL, connected
from tests.support import faults
from tests.support.faulty_service import FaultyService


async def test_nothing_left_when_a_proxy_makes_way_to_someone_else(monkeypatch: pytest.MonkeyPatch) -> None:
    async def proxy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"CONNECT service.invalid:443 ")
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        await reader.read(100)
        writer.write(b"this is no TLS at all\r\n\r\n")
        writer.close()

    server = await asyncio.start_server(proxy, "127.0.0.1", 0)
    monkeypatch.setenv("HTTPS_PROXY", f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}")
    with pytest.raises(Unreachable, match="not trusted"):
        await connected("https://service.invalid").submit(MODEL, BODY)
    server.close()
    await server.wait_closed()


async def test_a_redirect_is_not_followed_with_the_token(faulty: FaultyService, tmp_path: Path) -> None:
    async with FaultyService(practice_app(tmp_path / "other", seconds_queued=0, seconds_running=0)) as elsewhere:
        faulty.follow(faults.redirect(status=307, location=elsewhere.url))
        with pytest.raises(OutcomeUnknown):
            await connected(faulty.url).submit(MODEL, BODY)
        assert elsewhere.arrivals == []


@pytest.mark.parametrize("frame", ['{{"result":{},"success":true,"errors":[],"messages":[]}}', "{}"])
@pytest.mark.parametrize(
    "body",
    ['{"status":"running","request_id":"r-2"}', '{"responses":[],"request_id":"r-2"}', '{"request_id":"r-2"}'],
    ids=["waiting", "finished", "queued"],
)
async def test_an_answer_about_another_batch_is_not_taken(faulty: FaultyService, frame: str, body: str) -> None:
    faulty.follow(faults.any_reply(body=frame.format(body), times=0))
    service = connected(faulty.url)
    with pytest.raises(UnreadableReply, match="answered about another batch") as caught:
        await service.ask(MODEL, "r-1")
    assert caught.value.raw == frame.format(body).encode()
    await service.ask(MODEL, "r-2")


@pytest.mark.parametrize("request_id", ["x" * 1_000_000, "x" * 201, "two words", "ümlaut", "line\\nend"])
async def test_what_cannot_be_a_request_id_leaves_the_outcome_unknown(faulty: FaultyService, request_id: str) -> None:
    body = f'{{"result":{{"status":"queued","request_id":"{request_id}"}},"success":true,"errors":[],"messages":[]}}'
    faulty.follow(faults.any_reply(body=body))
    with pytest.raises(OutcomeUnknown) as caught:
        await connected(faulty.url).submit(MODEL, BODY)
    assert len(caught.value.detail) < 200


async def test_a_request_id_that_holds_the_token_is_none(faulty: FaultyService) -> None:
    body = f'{{"result":{{"status":"queued","request_id":"{TOKEN}"}},"success":true,"errors":[],"messages":[]}}'
    faulty.follow(faults.any_reply(body=body))
    with pytest.raises(OutcomeUnknown):
        await connected(faulty.url).submit(MODEL, BODY)
