"""Exchanges over real sockets: whether a byte of the body was sent, what is sent, and what must not be."""

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from cfbatch_gui.core.errors import (
    OutcomeUnknown,
    Unreachable,
    UnreadableReply,
)
from cfbatch_gui.core.practice.app import practice_app
from cfbatch_gui.core.practice.local_models import HashedNgrams
from cfbatch_gui.core.workers_ai.answers import Finished, Scored, Waiting, expect, match
from cfbatch_gui.core.workers_ai.api_tokens import Token
from cfbatch_gui.core.workers_ai.client import Reply, WorkersAI
from cfbatch_gui.core.workers_ai.connection_kinds import cloudflare
from cfbatch_gui.core.workers_ai.limits import RateBudget
from cfbatch_gui.core.workers_ai.requests import RankRequest, encode_batch, encode_request
from cfbatch_gui.core.workers_ai.transport import Transport
from tests.canary import TOKEN
from tests.support import faults
from tests.support.faulty_service import FaultyService, load_certificate

CERTIFICATE = Path(__file__).parents[2] / "data" / "tls" / "loopback.pem"
ACCOUNT = "0123456789abcdef0123456789abcdef"
MODEL = "@cf/baai/bge-m3"
REQUEST = RankRequest("cloud", ("an orange cloud", "a llama"), reference="r-1")
BODY = encode_batch([encode_request(REQUEST)])


@pytest.fixture
async def faulty(tmp_path: Path) -> AsyncIterator[FaultyService]:
    service = practice_app(tmp_path, seconds_queued=0, seconds_running=0, token=TOKEN, load_model=HashedNgrams)
    async with FaultyService(service) as made:
        yield made


Connect = Callable[..., WorkersAI]


@pytest.fixture
def client() -> Connect:
    def connect(url: str, *, token: str = TOKEN) -> WorkersAI:
        async def give() -> Token:
            return Token(token)

        return WorkersAI(cloudflare(ACCOUNT, base_url=url), give, transport=Transport(), budget=RateBudget())

    return connect


async def test_a_batch_goes_out_and_its_answer_comes_back(faulty: FaultyService, client: Connect) -> None:
    service = client(faulty.url)
    queued = await service.submit(MODEL, BODY)
    reply = await service.ask(MODEL, queued.request_id)
    assert isinstance(reply, Reply)
    (scored,) = match(reply.finished, [expect(REQUEST)])
    assert isinstance(scored, Scored) and scored.scores[0] > scored.scores[1]


async def test_an_unknown_word_for_the_state_is_passed_on(faulty: FaultyService, client: Connect) -> None:
    faulty.follow(faults.any_reply(body='{"result":{"status":"thinking"},"success":true,"errors":[],"messages":[]}'))
    service = client(faulty.url)
    assert await service.ask(MODEL, "x") == Waiting("thinking")


async def test_an_answer_without_the_envelope_is_read(faulty: FaultyService, client: Connect) -> None:
    faulty.follow(faults.any_reply(body='{"responses":[{"id":0,"result":{"response":[]},"success":true}]}'))
    service = client(faulty.url)
    reply = await service.ask(MODEL, "x")
    assert isinstance(reply, Reply) and isinstance(reply.finished, Finished)


@pytest.mark.parametrize("address", ["http://127.0.0.1:9/client/v4", "https://no-such-host.invalid/client/v4"])
async def test_nothing_left_when_nobody_could_be_reached(address: str, client: Connect) -> None:
    with pytest.raises(Unreachable) as caught:
        await client(address).submit(MODEL, BODY)
    assert "reached" in caught.value.message or "found" in caught.value.message


async def test_nothing_left_when_the_other_end_is_not_trusted(tmp_path: Path, client: Connect) -> None:
    service = practice_app(tmp_path, seconds_queued=0, seconds_running=0)
    async with FaultyService(service, tls=load_certificate(CERTIFICATE)) as faulty:
        with pytest.raises(Unreachable, match="not trusted"):
            await client(faulty.url).submit(MODEL, BODY)
        assert faulty.arrivals == []


async def test_nothing_left_when_a_proxy_makes_way_to_someone_else(
    monkeypatch: pytest.MonkeyPatch, client: Connect
) -> None:
    async def proxy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"CONNECT service.invalid:443 ")
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        await reader.read(100)
        writer.write(b"this is no TLS at all\r\n\r\n")
        writer.close()

    server = await asyncio.start_server(proxy, "127.0.0.1", 0)
    monkeypatch.setenv("HTTPS_PROXY", f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}")
    with pytest.raises(Unreachable, match="not trusted"):
        await client("https://service.invalid").submit(MODEL, BODY)
    server.close()
    await server.wait_closed()


async def test_silence_after_the_body_is_an_unknown_outcome(client: Connect) -> None:
    async def never_answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.close()

    server = await asyncio.start_server(never_answer, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    with pytest.raises(OutcomeUnknown):
        await client(f"http://127.0.0.1:{port}").submit(MODEL, BODY)
    server.close()
    await server.wait_closed()


async def test_a_redirect_is_not_followed_with_the_token(
    faulty: FaultyService, tmp_path: Path, client: Connect
) -> None:
    async with FaultyService(practice_app(tmp_path / "other", seconds_queued=0, seconds_running=0)) as elsewhere:
        faulty.follow(faults.redirect(status=307, location=elsewhere.url))
        with pytest.raises(OutcomeUnknown):
            await client(faulty.url).submit(MODEL, BODY)
        assert elsewhere.arrivals == []


async def test_a_proxys_page_is_not_taken_for_the_service(faulty: FaultyService, client: Connect) -> None:
    faulty.follow(faults.page())
    with pytest.raises(Unreachable, match="sign in first"):
        await client(faulty.url).ask(MODEL, "x")


@pytest.mark.parametrize("frame", ['{{"result":{},"success":true,"errors":[],"messages":[]}}', "{}"])
@pytest.mark.parametrize(
    "body",
    ['{"status":"running","request_id":"r-2"}', '{"responses":[],"request_id":"r-2"}', '{"request_id":"r-2"}'],
    ids=["waiting", "finished", "queued"],
)
async def test_an_answer_about_another_batch_is_not_taken(
    faulty: FaultyService, client: Connect, frame: str, body: str
) -> None:
    faulty.follow(faults.any_reply(body=frame.format(body), times=0))
    service = client(faulty.url)
    with pytest.raises(UnreadableReply, match="answered about another batch") as caught:
        await service.ask(MODEL, "r-1")
    assert caught.value.raw == frame.format(body).encode()
    await service.ask(MODEL, "r-2")


@pytest.mark.parametrize("request_id", ["x" * 1_000_000, "x" * 201, "two words", "ümlaut", "line\\nend"])
async def test_what_cannot_be_a_request_id_leaves_the_outcome_unknown(
    faulty: FaultyService, client: Connect, request_id: str
) -> None:
    body = f'{{"result":{{"status":"queued","request_id":"{request_id}"}},"success":true,"errors":[],"messages":[]}}'
    faulty.follow(faults.any_reply(body=body))
    with pytest.raises(OutcomeUnknown) as caught:
        await client(faulty.url).submit(MODEL, BODY)
    assert len(caught.value.detail) < 200


async def test_a_request_id_that_holds_the_token_is_none(faulty: FaultyService, client: Connect) -> None:
    body = f'{{"result":{{"status":"queued","request_id":"{TOKEN}"}},"success":true,"errors":[],"messages":[]}}'
    faulty.follow(faults.any_reply(body=body))
    with pytest.raises(OutcomeUnknown):
        await client(faulty.url).submit(MODEL, BODY)
