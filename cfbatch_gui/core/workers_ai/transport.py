"""Single HTTP exchanges, each on a connection of its own; the only importer of httpx.

Where nothing in an answer names its batch, the connection is the only link between them. So no connection is used
twice, and an answer is refused when there were bytes before its request or are bytes after its end. Whether a byte of
the body was sent is known from the transport's trace events, not from the names of exceptions.
"""

import asyncio
import base64
import json
import logging
import re
import socket
import sqlite3
import ssl
import sys
import traceback
import urllib.request
import zlib
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, MutableMapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias, cast
from urllib.parse import quote, urlsplit

import httpcore
import httpx
import truststore

from cfbatch_gui import __version__
from cfbatch_gui.core.errors import UserError
from cfbatch_gui.core.system.databases import address_of
from cfbatch_gui.core.system.files import create_own_file
from cfbatch_gui.core.workers_ai.api_tokens import Token
from cfbatch_gui.core.workers_ai.limits import ExchangeLimit

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Application = Callable[[Scope, Callable[[], Awaitable[Message]], Callable[[Message], Awaitable[None]]], Awaitable[None]]
What: TypeAlias = Literal["submit", "run", "ask", "check", "vectorize", "account", "setup"]

REDACTED: Final = "[redacted]"
_SENDABLE: Final = re.compile(r"[\t -~]*")  # header values
_CERTIFICATE_TIME: Final = (9, 10)  # OpenSSL's numbers for a certificate that is not valid yet, or no longer
_LOOPBACK: Final = ("localhost", "127.0.0.1", "::1")  # reached without a proxy, whatever the system says
_SECRET_HEADERS: Final = ("authorization", "cf-aig-authorization")
_END_SECONDS: Final = 0.25  # for the end of a connection behind its answer
LARGE: Final = 256 * 1024  # bytes; a larger answer is read in a thread, so that a window stays live
_INTERRUPTED: Final = (ssl.SSLWantReadError, ssl.SSLEOFError, ssl.SSLZeroReturnError)  # no certificate errors
_NO_ADDRESS: Final = (httpx.InvalidURL, ValueError, OverflowError)  # of a name or a port; UnicodeError is a ValueError

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    """A complete response.

    Header names are lower case, `body` is decompressed, and secrets of the request are replaced in both.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes = field(repr=False)


class Headers(dict[str, str]):
    """Headers whose repr hides the values, because tracebacks may show local variables."""

    def __repr__(self) -> str:
        return f"Headers({', '.join(self)})"


class ExchangeError(Exception):
    """No complete response was received; `body_left` says whether a byte of the body may have been sent.

    `detail` holds no secret; `proxy` is the host and port of the proxy in the way, else "".
    """

    def __init__(self, reason: str, detail: str, *, body_left: bool = False, proxy: str = "") -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason, self.detail, self.body_left, self.proxy = reason, detail, body_left, proxy


@dataclass(frozen=True, slots=True)
class Exchange:
    """One exchange, or the sum of `count` from `time` until `until`, in seconds since 1970, for the log of what leaves
    this computer. `sent` and `received` are the lengths of the bodies.
    """

    host: str
    what: str
    sent: int
    received: int
    connection: str = ""
    count: int = 1
    time: float = 0.0
    until: float = 0.0


class EchoedSecrets:
    """Removes the secrets of a request from its answer, in their usual spellings.

    As they are, escaped as in JSON, percent-encoded, and in base64, also with other text before them. None is so short,
    or of digits alone, that it occurs by chance: see `check_secret`.
    """

    def __init__(self, secrets: Iterable[str]) -> None:
        self._spellings = {spelling for secret in filter(None, secrets) for spelling in _spellings(secret)}

    def __repr__(self) -> str:
        return "EchoedSecrets(…)"  # tracebacks may show local variables

    def removed_from(self, data: bytes) -> bytes:
        """The same object when there is none in it. What was JSON stays JSON."""
        for spelling in self._spellings:
            if spelling in data:
                data = data.replace(spelling, REDACTED.encode())
        return data

    async def removed(self, answer: HttpAnswer) -> HttpAnswer:
        """The answer without them, in its headers too, where each character is a byte."""
        headers = {
            name: self.removed_from(value.encode("latin-1", "replace")).decode("latin-1")
            for name, value in answer.headers.items()
        }
        if len(answer.body) > LARGE:
            return HttpAnswer(answer.status, headers, await asyncio.to_thread(self.removed_from, answer.body))
        return HttpAnswer(answer.status, headers, self.removed_from(answer.body))


def _spellings(secret: str) -> Iterator[bytes]:
    raw, escaped = secret.encode(), json.dumps(secret)[1:-1]
    yield from (raw, quote(secret, safe="").encode(), escaped.encode(), escaped.replace("/", "\\/").encode())
    for before in range(3):  # bytes in front of it, which decide what it looks like
        own = slice(-(-before * 8 // 6), (before + len(raw)) * 8 // 6)  # the letters that depend on it alone
        yield base64.b64encode(bytes(before) + raw)[own]
        yield base64.urlsafe_b64encode(bytes(before) + raw)[own]


_DECOMPRESSED_AT_ONCE: Final = 1 << 20  # bytes
_UNSUSPICIOUS: Final = 16 << 20  # bytes; below this size any compression ratio is accepted
_MOST_RATIO: Final = 200  # JSON of numbers compresses 3:1, JSON of one repeated sentence about 100:1


class BodyReader:
    """Collects and decompresses a body of at most `limit` bytes. Raises ExchangeError."""

    def __init__(self, encoding: str, limit: int) -> None:
        encoding, self._limit, self._content = encoding.strip().lower(), limit, bytearray()
        if encoding not in ("", "identity", "gzip", "x-gzip"):
            raise ExchangeError("broken", f"content-encoding {encoding[:20]!r}, which was not asked for")
        self._unpacker = zlib.decompressobj(zlib.MAX_WBITS | 16) if "gzip" in encoding else None
        self._received = 0

    def add(self, chunk: bytes) -> None:
        self._received += len(chunk)
        if self._unpacker is None:
            self._keep(chunk)
            return
        try:
            while chunk:
                self._keep(self._unpacker.decompress(chunk, _DECOMPRESSED_AT_ONCE))
                chunk = self._unpacker.unconsumed_tail
        except zlib.error:
            raise ExchangeError("broken", "not the gzip it says it is") from None
        if self._unpacker.unused_data:
            raise ExchangeError("broken", "gzip with something behind it")

    def whole(self) -> bytes:
        if self._unpacker is not None and self._received and not self._unpacker.eof:
            raise ExchangeError("broken", "gzip without its end")
        return bytes(self._content)

    def _keep(self, content: bytes) -> None:
        self._content += content
        size = len(self._content)
        if size > self._limit or size > max(_UNSUSPICIOUS, _MOST_RATIO * self._received):
            raise ExchangeError("too_large", f"more than {min(size, self._limit):,} bytes")


class Transport:
    """Sends single requests. `application` is an ASGI application called in place of the network."""

    def __init__(
        self, *, application: Application | None = None, on_exchange: Callable[[Exchange], None] = lambda exchange: None
    ) -> None:
        self._application, self._on_exchange = application, on_exchange
        self._certificates: ssl.SSLContext | None = None
        # For connections without TLS, which do not use it: httpx would make one, with certificates, for each of them.
        self._no_certificates = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)

    async def send(
        self,
        method: str,
        url: str,
        *,
        what: What = "check",
        headers: Mapping[str, str],
        body: bytes = b"",
        hidden: Sequence[Token] = (),
        limit: ExchangeLimit,
    ) -> HttpAnswer:
        """Send one request, without retries.

        Raises ExchangeError, whatever fails. `hidden` are secrets in the body, replaced in the answer as those in
        headers.
        """
        in_headers = (value.split(" ", 1)[-1] for name, value in headers.items() if name.lower() in _SECRET_HEADERS)
        secrets = EchoedSecrets((*in_headers, *(secret.reveal() for secret in hidden)))
        watch = _Watch()
        answer: HttpAnswer | None = None
        proxy: httpx.Proxy | None = None
        # Raised after the except blocks: httpx's exception would otherwise stay attached as __context__, and its
        # frames hold the request's body, or a proxy's password.
        try:
            request = _request(method, url, headers, body, limit.seconds)
            request.extensions["trace"] = watch.see
            async with asyncio.timeout(limit.seconds):
                proxy = None if self._application is not None else _system_proxy(url)
                async with await self._transport(url, proxy) as transport:
                    answer = await secrets.removed(await _exchange(transport, request, limit.most_bytes))
        except Exception as error:  # noqa: BLE001 - whatever it is, whether a byte has left is what counts
            reason, detail, in_the_way = _told(error, watch, proxy, limit.seconds)
        else:
            return answer
        finally:
            if self._application is None:
                sent = len(body) if watch.body_left else 0
                received = len(answer.body) if answer is not None else 0
                self._on_exchange(Exchange(url.split("/", 3)[2].rpartition("@")[2], what, sent, received))
        if reason in ("tls", "clock"):
            self._certificates = None  # read again next time: the one that was missing may have been installed
        raise ExchangeError(reason, detail, body_left=watch.body_left, proxy=in_the_way)

    async def _transport(self, url: str, proxy: httpx.Proxy | None) -> httpx.AsyncBaseTransport:
        if self._application is not None:
            return httpx.ASGITransport(app=self._application)
        if self._certificates is None and not url.startswith("http:"):
            self._certificates = await asyncio.to_thread(system_certificates)
        limits = httpx.Limits(max_keepalive_connections=0)
        context = self._certificates or self._no_certificates
        return httpx.AsyncHTTPTransport(verify=context, trust_env=False, proxy=proxy, limits=limits)


def _request(method: str, url: str, headers: Mapping[str, str], body: bytes, seconds: float) -> httpx.Request:
    if not all(_SENDABLE.fullmatch(value) for value in headers.values()):
        raise ExchangeError("broken", "a header that cannot be sent")  # httpx would quote it
    return httpx.Request(
        method,
        url,
        headers={
            "user-agent": f"cf-batch/{__version__}",
            "accept": "application/json",
            "accept-encoding": "gzip",
            "connection": "close",
            **headers,
        },
        content=body or None,
        # httpcore does not close the socket of a handshake that is cancelled from outside, so httpx's own limit
        # has to end the handshake first.
        extensions={"timeout": httpx.Timeout(60.0, connect=min(15.0, 0.75 * seconds)).as_dict()},
    )


async def _exchange(transport: httpx.AsyncBaseTransport, request: httpx.Request, most_bytes: int) -> HttpAnswer:
    response = await transport.handle_async_request(request)
    connection = _connection_of(transport)
    try:
        reader = BodyReader(response.headers.get("content-encoding", ""), most_bytes)
        # `aiter_raw` would close the connection at its end.
        async for chunk in cast(httpx.AsyncByteStream, response.stream):
            reader.add(chunk)
        body = reader.whole()
        await _check_end(response, connection)
    finally:
        await response.aclose()
    headers = {name.lower(): value for name, value in response.headers.items()}
    return HttpAnswer(response.status_code, headers, body)


class _Watch:
    """A trace hook for httpcore: before the event "send_request_body" no byte of the body can have been sent.

    Raises ExchangeError when the other end has sent something before the request; with TLS that cannot be seen.
    """

    def __init__(self) -> None:
        self.body_left = False
        self._plain: Any = None  # httpcore's stream, while there is no TLS and no request on it

    async def see(self, event: str, info: Mapping[str, Any]) -> None:
        # CONNECT, the request to a proxy for a tunnel, has no body.
        if event.endswith("send_request_body.started") and info["request"].method != b"CONNECT":
            self.body_left = True
        elif event.endswith("connect_tcp.complete"):
            self._plain = info["return_value"]
        elif event.endswith("start_tls.started"):
            self._plain = None
        elif event.endswith("send_request_headers.started") and self._plain is not None:
            stream, self._plain = self._plain, None
            if stream.get_extra_info("is_readable"):
                raise ExchangeError("mixed", "bytes, or the end, before the request")


def _connection_of(transport: httpx.AsyncBaseTransport) -> Any:
    """httpcore's HTTP/1.1 connection of the exchange; None for an application in this process.

    Private attributes, because httpx does not say what h11 has left over.
    """
    if not isinstance(transport, httpx.AsyncHTTPTransport):
        return None
    (connection,) = transport._pool.connections
    while (inner := getattr(connection, "_connection", None)) is not None:  # proxies have one inside another
        connection = inner
    return connection


async def _check_end(response: httpx.Response, connection: Any) -> None:
    """Raise ExchangeError when bytes follow the end of the answer: they may answer another request."""
    if connection is None:
        return
    left, _ = connection._h11_state.trailing_data
    if not left.strip(b"\r\n"):
        with suppress(httpcore.TimeoutException, httpcore.NetworkError, OSError):
            left = await response.extensions["network_stream"].read(1 << 16, timeout=_END_SECONDS)
    if left.strip(b"\r\n"):
        raise ExchangeError("mixed", "bytes after the end of the answer")


def system_certificates() -> ssl.SSLContext:
    """TLS with the system's certificates; takes about 30 ms where it reads a file."""
    context: ssl.SSLContext = truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    if sys.platform not in ("win32", "darwin"):
        # What truststore does there too, but before each handshake, which took 21 ms of the event loop.
        of_file = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        of_file.set_default_verify_paths()
        if of_file.cert_store_stats()["x509_ca"]:
            context = of_file
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    return context


def _system_proxy(url: str) -> httpx.Proxy | None:
    """The system's proxy for `url`, that for all schemes if its own has none.

    Raises ExchangeError for an address that cannot be read, and for a proxy that does not speak HTTP.
    """
    parts = urlsplit(url)
    host = parts.hostname or ""
    if host in _LOOPBACK or urllib.request.proxy_bypass(host):
        return None
    proxies = urllib.request.getproxies()
    address = proxies.get(parts.scheme) or proxies.get("all") or ""
    if not address:
        return None
    scheme, is_given, rest = address.partition("://")
    if not is_given:  # as curl and others have it
        scheme, rest = "http", address
    with suppress(*_NO_ADDRESS):
        context = system_certificates() if scheme.lower() == "https" else None
        proxy = httpx.Proxy(f"{scheme.lower()}://{rest}", ssl_context=context)
        if proxy.url.host and scheme.lower() in ("http", "https"):  # raises for a name that is none
            return proxy
    raise ExchangeError("proxy_address", "the proxy's address cannot be used")


def _told(error: Exception, watch: _Watch, proxy: httpx.Proxy | None, seconds: float) -> tuple[str, str, str]:
    """The reason, the detail and the proxy of an ExchangeError."""
    if isinstance(error, ExchangeError):
        return error.reason, error.detail, error.proxy
    if isinstance(error, TimeoutError):
        reason, detail = "time", f"no whole answer within {seconds:g} s"
    else:
        causes = list(_causes(error))
        reason, detail = _reason(causes, is_late=watch.body_left), _safe(causes)
        if reason == "broken" and not isinstance(error, httpx.TransportError | OSError):
            # Without what the exception says, which may quote a header.
            _log.error("an exchange failed: %s\n%s", detail, "".join(traceback.format_tb(error.__traceback__)))
    if watch.body_left or proxy is None or reason not in ("name", "refused", "proxy", "time", "address"):
        return reason, detail, ""
    return "proxy", detail, f"{proxy.url.host}:{proxy.url.port}" if proxy.url.port else proxy.url.host


def _causes(error: BaseException) -> Iterator[BaseException]:
    """An exception, and those that it was raised from or stands for."""
    yield error
    inner = error.exceptions if isinstance(error, BaseExceptionGroup) else (error.__cause__ or error.__context__,)
    for each in inner:
        if each is not None:
            yield from _causes(each)


def _reason(causes: Sequence[BaseException], *, is_late: bool) -> str:
    error = causes[0]
    if isinstance(error, httpx.TimeoutException):
        return "time"
    if is_late:
        return "broken"
    for seen in causes:
        if isinstance(seen, socket.gaierror):
            return "name"
        if isinstance(seen, ssl.SSLCertVerificationError) and seen.verify_code in _CERTIFICATE_TIME:
            return "clock"
        if isinstance(seen, ssl.SSLError) and not isinstance(seen, _INTERRUPTED):
            return "tls"
        if isinstance(seen, _NO_ADDRESS) and not isinstance(seen, ssl.SSLError):
            return "address"
    if isinstance(error, httpx.ConnectError | httpx.ProxyError | httpx.UnsupportedProtocol):
        return "refused"
    return "broken"


def _safe(causes: Sequence[BaseException]) -> str:
    number = ""
    for seen in causes:
        if isinstance(seen, ssl.SSLCertVerificationError):
            number = f" ({seen.verify_message})"
        elif isinstance(seen, OSError) and seen.errno:
            number = number or f" ({seen.errno})"
    return f"{type(causes[0]).__name__}{number}"


_SUMS: Final = """CREATE TABLE IF NOT EXISTS sums(
    host, what, sent, received, connection, count, time, until, PRIMARY KEY(host, what, connection)
)"""
_ADD: Final = """INSERT INTO sums VALUES(?, ?, ?, ?, ?, 1, ?, ?) ON CONFLICT DO UPDATE SET
sent = sent + excluded.sent, received = received + excluded.received, count = count + 1, until = excluded.until"""


def note_exchange(path: Path, exchange: Exchange, *, connection: str, now: float) -> None:
    """Add it to the log. A failed write is not raised, because no work depends on this file."""
    try:
        create_own_file(path)
        with closing(sqlite3.connect(path, timeout=1.0)) as database, database:
            database.execute("PRAGMA synchronous = OFF")
            database.execute(_SUMS)
            sums = exchange.host, exchange.what, exchange.sent, exchange.received
            database.execute(_ADD, (*sums, connection, now, now))
    except (sqlite3.Error, OSError, UserError):
        _log.warning("The log of what leaves this computer cannot be written.")


def traffic(path: Path) -> tuple[Exchange, ...]:
    """The sums by host, connection and kind, the latest first; none of a file that cannot be read."""
    address = f"{address_of(path.resolve())}?mode=ro"
    with suppress(sqlite3.Error), closing(sqlite3.connect(address, uri=True)) as database:
        return tuple(Exchange(*row) for row in database.execute("SELECT * FROM sums ORDER BY until DESC"))
    return ()
