"""Exchanges over real sockets: TLS and proxies, what left and what must not, the log of them and their budget."""

import asyncio
import base64
import select
import socket
import ssl
import warnings
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from cfbatch_gui.core.errors import OutcomeUnknown, Unreachable
from cfbatch_gui.core.workers_ai.limits import ExchangeLimit, RateBudget
from cfbatch_gui.core.workers_ai.transport import Exchange, ExchangeError, HttpAnswer, Transport, note_exchange, traffic
from tests.canary import CORE, TOKEN
from tests.core.endpoints.conftest import service
from tests.core.jobs.conftest import Clock
from tests.core.workers_ai.conftest import BODY, MODEL, connected
from tests.core.workers_ai.telling import everything_told, holds_token
from tests.support import faults
from tests.support.faulty_service import CERTIFICATE, FaultyService, load_certificate
from tests.support.sentences import code_of

FAR_AWAY = "https://service.example/client/v4"  # not a name of this computer, so the system's proxy applies
NOT_PROXIED = b"HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n"
NAMES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")


@pytest.fixture(autouse=True)
def _no_proxy_of_this_computer(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@pytest.fixture
def trusted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATE))


async def failure(url: str = FAR_AWAY, token: str = TOKEN, *, code: str = "") -> str:
    """All that is told by a submit that fails before its body has left."""
    with pytest.raises(Unreachable) as caught:
        await connected(url, token).submit(MODEL, BODY)
    assert not code or code_of(caught.value.message) == code
    return everything_told(caught.value)


async def test_no_keys_of_a_session_are_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, trusted: None) -> None:
    keys = tmp_path / "keys.log"
    monkeypatch.setenv("SSLKEYLOGFILE", str(keys))
    async with FaultyService(service(tmp_path / "service"), tls=load_certificate()) as faulty:
        client = connected(faulty.url)
        queued = await client.submit(MODEL, BODY)
        await client.ask(MODEL, queued.request_id)
        assert not keys.exists()
    ssl.create_default_context()
    assert keys.exists(), "Python no longer honours the variable, so this test says nothing"


@pytest.mark.parametrize("is_trusted", [True, False])
async def test_the_session_with_a_proxy_is_as_safe_as_the_services(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_trusted: bool
) -> None:
    monkeypatch.setenv("SSLKEYLOGFILE", str(tmp_path / "keys.log"))
    if is_trusted:
        monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATE))
    async with raw(NOT_PROXIED, tls=load_certificate()) as proxy:
        monkeypatch.setenv("HTTPS_PROXY", f"https://127.0.0.1:{proxy.port}")
        await failure()
    assert proxy.heard.startswith(b"CONNECT service.example:443 ") if is_trusted else proxy.heard == b""
    assert not (tmp_path / "keys.log").exists()


def old_tls() -> ssl.SSLContext:
    """A server that supports TLS up to version 1.1 only."""
    context = load_certificate()
    context.set_ciphers("ALL:@SECLEVEL=0")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        context.minimum_version = context.maximum_version = ssl.TLSVersion.TLSv1_1
    return context


async def test_tls_1_1_is_refused(tmp_path: Path, trusted: None) -> None:
    async with FaultyService(service(tmp_path / "service"), tls=old_tls()) as faulty:
        await failure(faulty.url)
        assert faulty.arrivals == []

        careless = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        careless.load_verify_locations(CERTIFICATE)
        careless.set_ciphers("ALL:@SECLEVEL=0")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            careless.minimum_version = ssl.TLSVersion.TLSv1
        port = int(faulty.url.split(":")[2].split("/")[0])
        _, writer = await asyncio.open_connection("127.0.0.1", port, ssl=careless)
        assert writer.get_extra_info("ssl_object").version() == "TLSv1.1", "the service could not speak it at all"
        writer.close()
        await writer.wait_closed()


async def test_a_proxy_hears_where_to_and_no_token(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The canary is in the proxy's password here, which may be sent to the proxy only."""
    caplog.set_level("DEBUG")
    async with raw(NOT_PROXIED) as proxy:
        monkeypatch.setenv("HTTPS_PROXY", f"http://user:{CORE}@127.0.0.1:{proxy.port}")
        told = await failure(token=TOKEN.replace(CORE, "0" * 24))
    assert proxy.heard.startswith(b"CONNECT service.example:443 ")
    assert base64.b64encode(f"user:{CORE}".encode()) in proxy.heard
    assert b"cfut" not in proxy.heard and b"ai/run" not in proxy.heard
    assert not holds_token(told) and not holds_token(caplog.text)


@pytest.mark.parametrize(
    "address",
    [f"http://user:{CORE}/x@127.0.0.1:9", f"http://user:{CORE}@127.0.0.1:port", f"http://user:{CORE}@[::1"],
    ids=["slash", "port", "bracket"],
)
async def test_a_proxy_whose_address_is_wrong_is_said_without_its_password(
    monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", address)
    assert not holds_token(await failure(code="computer_proxy_cannot_be_used_address"))


@pytest.mark.parametrize(
    ("url", "proxy", "reason"),
    [
        ("https://127.0.0.1:99999/", "", "address"),
        ("https://xn--/", "", "address"),
        ("https://xn--a/", "", "address"),
        ("https://[::1/", "", "address"),
        ("https://\x7f/", "", "address"),
        ("https://a..b/", "", "name"),
        (FAR_AWAY, "http://127.0.0.1:99999", "proxy"),
        (FAR_AWAY, "http://127.0.0.1:-1", "proxy"),
        (FAR_AWAY, "http://127.0.0.1:0", "proxy"),
        (FAR_AWAY, f"http://{'a' * 70}:80", "proxy"),
        (FAR_AWAY, "http://xn--:80", "proxy_address"),
        (FAR_AWAY, "http://:80", "proxy_address"),
    ],
)
async def test_whatever_fails_before_the_first_byte_left_nothing(
    monkeypatch: pytest.MonkeyPatch, url: str, proxy: str, reason: str
) -> None:
    if proxy:
        monkeypatch.setenv("HTTPS_PROXY", proxy)
    with pytest.raises(ExchangeError) as caught:
        await Transport().send("POST", url, headers={}, body=BODY, limit=ExchangeLimit(10, 100))
    assert (caught.value.reason, caught.value.body_left) == (reason, False)


async def test_a_failure_of_any_class_before_the_first_byte_is_not_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> ssl.SSLContext:
        raise RuntimeError(TOKEN)

    monkeypatch.setattr("cfbatch_gui.core.workers_ai.transport.system_certificates", fail)
    assert not holds_token(await failure())


@pytest.mark.parametrize(
    ("names", "url", "none_for"),
    [
        (("HTTP_PROXY",), "https://no-such-host.invalid/client/v4", ""),
        (("ALL_PROXY", "HTTP_PROXY", "HTTPS_PROXY"), "http://127.0.0.1:9/client/v4", ""),
        (("ALL_PROXY", "HTTP_PROXY", "HTTPS_PROXY"), "https://localhost:9/client/v4", ""),
        (("HTTPS_PROXY",), "https://no-such-host.invalid/client/v4", ".invalid"),
    ],
    ids=["not for https", "not to this computer", "not to this computer by name", "not where none is wanted"],
)
async def test_other_proxies_of_the_environment_are_not_used(
    monkeypatch: pytest.MonkeyPatch, names: tuple[str, ...], url: str, none_for: str
) -> None:
    monkeypatch.setenv("NO_PROXY", none_for)
    async with raw(NOT_PROXIED) as proxy:
        for name in names:
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")
            monkeypatch.setenv(name.lower(), f"http://127.0.0.1:{proxy.port}")
        await failure(url)
    assert proxy.heads == []


async def test_the_proxy_for_all_schemes_is_used_where_https_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    client = connected(FAR_AWAY)
    async with raw(NOT_PROXIED) as general, raw(NOT_PROXIED) as own:
        monkeypatch.setenv("ALL_PROXY", f"http://127.0.0.1:{general.port}")
        with pytest.raises(Unreachable):
            await client.ask(MODEL, "x")
        assert general.heard.startswith(b"CONNECT service.example:443 ")
        monkeypatch.setenv("HTTPS_PROXY", f"127.0.0.1:{own.port}")  # without a scheme, as curl takes it too
        with pytest.raises(Unreachable):
            await client.ask(MODEL, "x")
    assert (len(general.heads), len(own.heads)) == (1, 1)


@pytest.mark.parametrize("name", ["ALL_PROXY", "HTTPS_PROXY"])
@pytest.mark.parametrize("scheme", ["socks5", "ftp"])
async def test_a_proxy_that_does_not_speak_http_is_refused_aloud(
    monkeypatch: pytest.MonkeyPatch, name: str, scheme: str
) -> None:
    """It is neither used nor passed by: whoever sets one may not wish a connection without it."""
    async with raw(NOT_PROXIED) as proxy:
        monkeypatch.setenv(name, f"{scheme}://user:{CORE}@127.0.0.1:{proxy.port}/")
        told = await failure(code="computer_proxy_cannot_be_used_address")
    assert proxy.heads == [] and not holds_token(told)


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

    @property
    def heard(self) -> bytes:
        return b"".join(head for heads in self.heads for head in heads)

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
    return await Transport().send("GET", url, headers={}, limit=ExchangeLimit(10, 10_000))


async def test_every_call_has_a_connection_of_its_own_and_says_that_it_is_the_last() -> None:
    async with raw(reply(WAITING, "connection: keep-alive")) as server:
        client = connected(server.url)
        for _ in range(5):
            await client.ask(MODEL, "r-1")
        await asyncio.gather(*(client.ask(MODEL, "r-1") for _ in range(5)))
        assert [len(heads) for heads in server.heads] == [1] * 10
        assert all(b"connection: close\r\n" in head.lower() for (head,) in server.heads)


@pytest.mark.parametrize("left", [reply(WAITING), b"{}", b"\0"], ids=["an answer", "a body", "a byte"])
@pytest.mark.parametrize("form", [reply, chunked], ids=["with its length", "chunked"])
@pytest.mark.parametrize("tls", [load_certificate(), None], ids=["TLS", "plain"])
async def test_bytes_behind_an_answer_put_it_in_doubt(
    trusted: None, form: Callable[[bytes], bytes], left: bytes, tls: ssl.SSLContext | None
) -> None:
    async with raw(form(WAITING) + left, tls=tls) as server:
        with pytest.raises(ExchangeError, match="mixed: bytes after the end"):
            await get(server.url)


@pytest.mark.parametrize("tls", [load_certificate(), None], ids=["TLS", "plain"])
async def test_one_line_end_too_many_is_no_doubt(trusted: None, tls: ssl.SSLContext | None) -> None:
    async with raw(reply(WAITING) + (b"" if tls else b"\r\n"), tls=tls) as server:
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
    await failure(url, code="connection_title_held_more_than_one")
    await is_over.wait()
    server.close()
    assert not any(heard)


async def test_a_submit_whose_answer_is_in_doubt_has_an_unknown_outcome() -> None:
    async with raw(reply(QUEUED) + reply(QUEUED)) as server:
        with pytest.raises(OutcomeUnknown):
            await connected(server.url).submit(MODEL, BODY)


async def test_an_answer_through_a_tunnel_is_checked_too(monkeypatch: pytest.MonkeyPatch, trusted: None) -> None:
    def tunnel(listener: socket.socket) -> None:
        plain, _ = listener.accept()
        heard.append(plain.recv(10_000))
        plain.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
        with load_certificate().wrap_socket(plain, server_side=True) as inside:
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


async def test_nothing_left_when_a_proxy_makes_way_to_someone_else(monkeypatch: pytest.MonkeyPatch) -> None:
    async def make_way(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        await reader.read(100)
        writer.write(b"this is no TLS at all\r\n\r\n")
        writer.close()

    async with Raw(make_way) as proxy:
        monkeypatch.setenv("HTTPS_PROXY", proxy.url)
        await failure("https://service.invalid", code="connection_title_is_not_trusted_computer")
    assert proxy.heard.startswith(b"CONNECT service.invalid:443 ")


async def test_a_redirect_is_not_followed_with_the_token(faulty: FaultyService, tmp_path: Path) -> None:
    async with FaultyService(service(tmp_path / "other")) as elsewhere:
        faulty.follow(faults.redirect(status=307, location=elsewhere.url))
        with pytest.raises(OutcomeUnknown):
            await connected(faulty.url).submit(MODEL, BODY)
        assert elsewhere.arrivals == []


@pytest.mark.parametrize(
    "request_id", ["x" * 1_000_000, "x" * 201, "two words", "ümlaut", "line\\nend", TOKEN], ids=lambda text: text[:3]
)
async def test_what_cannot_be_a_request_id_leaves_the_outcome_unknown(faulty: FaultyService, request_id: str) -> None:
    body = f'{{"result":{{"status":"queued","request_id":"{request_id}"}},"success":true,"errors":[],"messages":[]}}'
    faulty.follow(faults.any_reply(body=body))
    with pytest.raises(OutcomeUnknown) as caught:
        await connected(faulty.url).submit(MODEL, BODY)
    assert len(caught.value.detail) < 200


@pytest.fixture
def limited(clock: Clock) -> RateBudget:
    return RateBudget(clock=clock, sleep=clock.sleep)


async def test_the_services_word_shrinks_it(limited: RateBudget, clock: Clock) -> None:
    began = clock.now
    limited.heed('"default";r=2;t=30')
    assert limited.left == 2
    for _ in range(3):
        await limited.take()
    assert clock.now >= began + 30


async def test_ten_thousand_questions_stay_within_the_budget_for_hours(limited: RateBudget, clock: Clock) -> None:
    began, times = clock.now, list[float]()

    async def ask_on_and_on() -> None:
        while clock.now < began + 2 * 3600:
            await limited.take()
            times.append(clock.now)
            await asyncio.sleep(0)

    await asyncio.gather(*(ask_on_and_on() for _ in range(10)))
    assert len(times) > 12_500
    assert all(later - earlier >= 300 for earlier, later in zip(times, times[800:], strict=False))


def test_hosts_are_told_apart_and_summed(tmp_path: Path) -> None:
    path = tmp_path / "traffic.db"
    assert traffic(path) == ()
    note_exchange(path, Exchange("api.example.com", "submit", 1_000, 200), connection="c", now=10.0)
    note_exchange(path, Exchange("api.example.com", "ask", 60, 5_000), connection="c", now=20.0)
    note_exchange(path, Exchange("api.example.com", "submit", 500, 0), connection="c", now=30.0)
    note_exchange(path, Exchange("mine.example.dev", "run", 70, 90), connection="w", now=25.0)
    note_exchange(tmp_path / "gone" / "traffic.db", Exchange("a", "ask", 1, 1), connection="c", now=1.0)
    assert traffic(path) == (
        Exchange("api.example.com", "submit", 1_500, 200, "c", 2, 10.0, 30.0),
        Exchange("mine.example.dev", "run", 70, 90, "w", 1, 25.0, 25.0),
        Exchange("api.example.com", "ask", 60, 5_000, "c", 1, 20.0, 20.0),
    )
    path.write_bytes(b"not a database at all" * 100)
    note_exchange(path, Exchange("a", "ask", 1, 1), connection="c", now=1.0)
    assert traffic(path) == ()
