"""Each exchange has a connection of its own, and an answer with something before or behind it is refused."""

import asyncio
import select
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from cfbatch_gui.core.errors import OutcomeUnknown, Unreachable
from cfbatch_gui.core.workers_ai.limits import ExchangeLimits
from cfbatch_gui.core.workers_ai.transport import ExchangeError, HttpAnswer, Transport
from tests.core.workers_ai.test_secrecy import BODY, MODEL, connected

CERTIFICATE = Path(__file__).parents[2] / "data" / "tls" / "loopback.pem"
WAITING = b'{"result":{"status":"running"},"success":true,"errors":[],"messages":[]}'
QUEUED = b'{"result":{"status":"queued","request_id":"r-1"},"success":true,"errors":[],"messages":[]}'
Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


def reply(body: bytes, *headers: str) -> bytes:
    lines = ["HTTP/1.1 200 OK", "content-type: application/json", f"content-length: {len(body)}", *headers]
    return "\r\n".join([*lines, "", ""]).encode() + body


def chunked(body: bytes) -> bytes:
    head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n"
    return head + b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)


async def read_request(reader: asyncio.StreamReader) -> bytes:
    """The head of the next request; its body is read too."""
    head = await reader.readuntil(b"\r\n\r\n")
    length = next((line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")), b":0")
    await reader.readexactly(int(length.partition(b":")[2]))
    return head


class Raw:
    """A server that keeps every connection open, and records the heads that arrived on each."""

    def __init__(self, answer: Serve, tls: ssl.SSLContext | None = None) -> None:
        self._answer, self._tls = answer, tls
        self._serving: set[asyncio.Task[None] | None] = set()
        self.heads: list[list[bytes]] = []

    async def __aenter__(self) -> "Raw":
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=self._tls)
        self.port = self._server.sockets[0].getsockname()[1]
        self.url = f"{'https' if self._tls else 'http'}://127.0.0.1:{self.port}"
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        await asyncio.gather(*filter(None, self._serving))

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._serving.add(asyncio.current_task())
        heads: list[bytes] = []
        self.heads.append(heads)
        with suppress(asyncio.IncompleteReadError, ConnectionError, OSError):
            while True:
                heads.append(await read_request(reader))
                await self._answer(reader, writer)
        writer.close()
        with suppress(ConnectionError, OSError):
            await writer.wait_closed()


def sending(*pieces: bytes) -> Serve:
    """Answers with these pieces, each in a packet of its own."""

    async def answer(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for piece in pieces:
            writer.write(piece)
            await writer.drain()

    return answer


@asynccontextmanager
async def raw(*pieces: bytes, tls: ssl.SSLContext | None = None) -> AsyncIterator[Raw]:
    async with Raw(sending(*pieces), tls) as server:
        yield server


async def get(url: str) -> HttpAnswer:
    return await Transport().send("GET", url, headers={}, seconds=10, most_bytes=10_000)


async def test_every_call_has_a_connection_of_its_own_and_says_that_it_is_the_last() -> None:
    async with raw(reply(WAITING, "connection: keep-alive")) as server:
        async with connected(server.url, limits=ExchangeLimits()) as client:
            for _ in range(5):
                await client.ask(MODEL, "r-1")
            await asyncio.gather(*(client.ask(MODEL, "r-1") for _ in range(5)))
        assert [len(heads) for heads in server.heads] == [1] * 10
        assert all(b"connection: close\r\n" in head.lower() for (head,) in server.heads)


@pytest.mark.parametrize("left", [reply(WAITING), b"{}", b"\0"], ids=["an answer", "a body", "a byte"])
@pytest.mark.parametrize("form", [reply, chunked], ids=["with its length", "chunked"])
async def test_bytes_behind_an_answer_put_it_in_doubt(form: Callable[[bytes], bytes], left: bytes) -> None:
    async with raw(form(WAITING) + left) as server:
        with pytest.raises(ExchangeError, match="mixed: bytes after the end"):
            await get(server.url)


async def test_bytes_behind_an_answer_put_it_in_doubt_under_tls_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATE))
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(CERTIFICATE)
    async with raw(reply(WAITING) + reply(WAITING), tls=tls) as server:
        with pytest.raises(ExchangeError, match="mixed: bytes after the end"):
            await get(server.url)
    async with raw(reply(WAITING), tls=tls) as server:
        assert (await get(server.url)).body == WAITING


async def test_one_line_end_too_many_is_no_doubt() -> None:
    async with raw(reply(WAITING) + b"\r\n") as server:
        assert (await get(server.url)).body == WAITING


async def test_a_server_that_speaks_first_is_sent_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    loop = asyncio.get_running_loop()
    connect: Any = loop.create_connection
    heard: list[bytes] = []
    is_connected, is_over = asyncio.Event(), asyncio.Event()

    async def connect_slowly(*arguments: Any, **named: Any) -> Any:
        """Return when the first bytes are there, as they are from a proxy that sends leftovers at once."""
        transport, protocol = await connect(*arguments, **named)
        transport.pause_reading()
        is_connected.set()
        poll = select.poll()
        poll.register(transport.get_extra_info("socket").fileno(), select.POLLIN)
        while not poll.poll(0):
            await asyncio.sleep(0)
        return transport, protocol

    async def speak(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await is_connected.wait()
        writer.write(reply(QUEUED))
        with suppress(ConnectionError):  # closed with unread bytes, which is a reset
            heard.append(await reader.read())
        writer.close()
        is_over.set()

    server = await asyncio.start_server(speak, "127.0.0.1", 0)
    monkeypatch.setattr(loop, "create_connection", connect_slowly)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    async with connected(url, limits=ExchangeLimits()) as client:
        with pytest.raises(Unreachable, match="more than one answer"):
            await client.submit(MODEL, BODY)
    await is_over.wait()
    server.close()
    assert not any(heard)


async def test_a_submit_whose_answer_is_in_doubt_has_an_unknown_outcome() -> None:
    async with (
        raw(reply(QUEUED) + reply(QUEUED)) as server,
        connected(server.url, limits=ExchangeLimits()) as client,
    ):
        with pytest.raises(OutcomeUnknown):
            await client.submit(MODEL, BODY)


async def test_an_answer_through_a_tunnel_is_checked_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATE))
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(CERTIFICATE)

    def tunnel(listener: socket.socket) -> None:
        plain, _ = listener.accept()
        heard.append(plain.recv(10_000))
        plain.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
        with tls.wrap_socket(plain, server_side=True) as inside:
            inside.recv(10_000)
            inside.sendall(reply(WAITING) + reply(WAITING))
            with suppress(OSError):
                inside.recv(1)

    heard: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as listener:
        monkeypatch.setenv("HTTPS_PROXY", f"http://127.0.0.1:{listener.getsockname()[1]}")
        monkeypatch.setattr("cfbatch_gui.core.workers_ai.transport._LOOPBACK", ())
        proxy = asyncio.create_task(asyncio.to_thread(tunnel, listener))
        with pytest.raises(ExchangeError, match="mixed: bytes after the end"):
            await get("https://127.0.0.1/client/v4")
        await proxy
    assert heard[0].startswith(b"CONNECT 127.0.0.1:443 ")
