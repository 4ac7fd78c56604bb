"""Single HTTP exchanges, each on a connection of its own; the only importer of httpx.

Where nothing in an answer names its batch, the connection is the only link between them. So no connection is used
twice, and an answer is refused when there were bytes before its request or are bytes after its end. Whether a byte of
the body was sent is known from the transport's trace events, not from the names of exceptions.
"""

import asyncio
import base64
import json
import re
import socket
import ssl
import sys
import urllib.request
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping, MutableMapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final, Literal, Protocol, TypeAlias, cast
from urllib.parse import quote, urlsplit

import httpcore
import httpx
import truststore

from cfbatch_gui import __version__
from cfbatch_gui.core.workers_ai.api_tokens import Token

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Application = Callable[[Scope, Callable[[], Awaitable[Message]], Callable[[Message], Awaitable[None]]], Awaitable[None]]
What: TypeAlias = Literal["submit", "run", "ask", "check", "vectorize", "account", "setup"]
Body: TypeAlias = bytes | tuple[bytes, ...]  # in pieces, where joining them would be one more copy of much

REDACTED: Final = "[redacted]"
_SHORTEST: Final = 8  # characters of a secret that is removed in all its spellings
_SENDABLE: Final = re.compile(r"[\t -~]*")  # header values
_CERTIFICATE_TIME: Final = (9, 10)  # OpenSSL's numbers for a certificate that is not valid yet, or no longer
_LOOPBACK: Final = ("localhost", "127.0.0.1", "::1")  # reached without a proxy, whatever the system says
_SECRET_HEADERS: Final = ("authorization", "cf-aig-authorization")
_END_SECONDS: Final = 0.25  # for the end of a connection behind its answer
_LARGE: Final = 256 * 1024  # bytes; a larger answer is searched for secrets in a thread
_INTERRUPTED: Final = (ssl.SSLWantReadError, ssl.SSLEOFError, ssl.SSLZeroReturnError)  # no certificate errors


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

    def __init__(self, reason: str, detail: str, *, body_left: bool, proxy: str = "") -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason, self.detail, self.body_left, self.proxy = reason, detail, body_left, proxy


@dataclass(frozen=True, slots=True)
class Exchange:
    """One exchange, for the log of what leaves this computer.

    `sent` and `received` are the lengths of the bodies; `status` is 0 when no complete response was received.
    """

    host: str
    what: What
    sent: int
    received: int
    status: int


_DECOMPRESSED_AT_ONCE: Final = 1 << 20  # bytes
_UNSUSPICIOUS: Final = 16 << 20  # bytes; below this size any compression ratio is accepted
_MOST_RATIO: Final = 200  # JSON of numbers compresses 3:1, JSON of one repeated sentence about 100:1


class BodyError(Exception):
    """`reason` is as in ExchangeError; `detail` holds no secret."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason, self.detail = reason, detail


class BodyReader:
    """Collects and decompresses a body of at most `limit` bytes; BodyError unless the encoding is gzip or none."""

    def __init__(self, encoding: str, limit: int) -> None:
        self._encoding, self._limit = encoding.strip().lower(), limit
        self._content = bytearray()
        self._received = 0
        if self._encoding not in ("", "identity", "gzip", "x-gzip"):
            raise BodyError("broken", f"content-encoding {self._encoding[:20]!r}, which was not asked for")
        self._unpacker = zlib.decompressobj(zlib.MAX_WBITS | 16) if "gzip" in self._encoding else None

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
            raise BodyError("broken", "not the gzip it says it is") from None
        if self._unpacker.unused_data:
            raise BodyError("broken", "gzip with something behind it")

    def whole(self) -> bytes:
        """The decompressed content; BodyError when the gzip stream is incomplete."""
        if self._unpacker is not None and self._received and not self._unpacker.eof:
            raise BodyError("broken", "gzip without its end")
        return bytes(self._content)

    def _keep(self, content: bytes) -> None:
        self._content += content
        size = len(self._content)
        if size > self._limit or size > max(_UNSUSPICIOUS, _MOST_RATIO * self._received):
            raise BodyError("too_large", f"more than {min(size, self._limit):,} bytes")


_BLOCK: Final = 1 << 20  # bytes that are examined and handed on at once
_HELD_BACK: Final = 4096  # bytes that wait for those behind them: a secret may stand across two blocks


class AnswerSink(Protocol):
    """Where the body of a successful answer goes. Both methods may raise BodyError and OSError."""

    def begin(self, status: int, headers: Mapping[str, str]) -> None: ...

    def write(self, block: bytes) -> None:
        """Take the next bytes of the body, in a thread."""


class EchoedSecrets:
    """Removes the secrets of a request from its answer, in their usual spellings.

    As they are, percent-encoded, escaped as in JSON, in hexadecimal, and in base64, also with other text before
    them. A short one, or one of digits, also occurs by chance: it goes only as a whole word of a JSON string.
    """

    def __init__(self, secrets: Iterable[str]) -> None:
        self._spellings: set[bytes] = set()
        self._words: list[re.Pattern[bytes]] = []
        for secret in filter(None, secrets):
            if len(secret) >= _SHORTEST and secret.strip("0123456789eE+-."):
                self._spellings.update(_spellings(secret))
            else:
                word = rb"(?<![\w.+-])" + re.escape(secret.encode()) + rb'(?![\w.+-])(?!"\s*:|\s*[,\]}])'
                self._words.append(re.compile(word))

    def __repr__(self) -> str:
        return "EchoedSecrets(…)"  # tracebacks may show local variables

    def removed_from(self, data: bytes) -> bytes:
        """The same object when there is none in it. What was JSON stays JSON."""
        for spelling in self._spellings:
            if spelling in data:
                data = data.replace(spelling, REDACTED.encode())
        for word in self._words:
            data = word.sub(REDACTED.encode(), data)
        return data

    def removed_from_text(self, text: str) -> str:
        """As `removed_from`, for the value of a header, in which each character is a byte."""
        return self.removed_from(text.encode("latin-1", "replace")).decode("latin-1")


def _spellings(secret: str) -> Iterator[bytes]:
    raw, escaped = secret.encode(), json.dumps(secret)[1:-1]
    yield from (raw, raw.hex().encode(), raw.hex().upper().encode(), quote(secret, safe="").encode())
    yield from (escaped.encode(), escaped.replace("/", "\\/").encode())
    for before in range(3):  # bytes in front of it, which decide what it looks like
        own = slice(-(-before * 8 // 6), (before + len(raw)) * 8 // 6)  # the letters that depend on it alone
        yield base64.b64encode(bytes(before) + raw)[own]
        yield base64.urlsafe_b64encode(bytes(before) + raw)[own]


class SinkFeeder:
    """Collects chunks to blocks for a sink.

    Raises BodyError above `limit` bytes, and for an answer with a secret: what was handed on cannot be changed.
    """

    def __init__(self, sink: AnswerSink, secrets: EchoedSecrets, limit: int) -> None:
        self._sink, self._secrets, self._limit = sink, secrets, limit
        self._waiting = bytearray()
        self.received = 0

    def begin(self, status: int, headers: Mapping[str, str]) -> None:
        """Hand on the head; BodyError for a compressed body, of which no part could be asked for."""
        if headers.get("content-encoding", "identity").strip().lower() not in ("", "identity"):
            raise BodyError("broken", "compressed, which was not asked for")
        self._sink.begin(status, headers)

    async def add(self, chunk: bytes) -> None:
        self.received += len(chunk)
        if self.received > self._limit:
            raise BodyError("too_large", f"more than {self._limit:,} bytes")
        self._waiting += chunk
        if len(self._waiting) >= _BLOCK + _HELD_BACK:
            await self._hand_on(len(self._waiting) - _HELD_BACK)

    async def end(self) -> None:
        await self._hand_on(len(self._waiting))

    async def _hand_on(self, count: int) -> None:
        waiting = bytes(self._waiting)
        await asyncio.to_thread(self._check_and_write, waiting, count)
        del self._waiting[:count]

    def _check_and_write(self, waiting: bytes, count: int) -> None:
        if self._secrets.removed_from(waiting) is not waiting:
            raise BodyError("mixed", "the answer repeats the secret of its request")
        self._sink.write(waiting[:count])


class Transport:
    """Sends single requests. `application` is an ASGI application called in place of the network."""

    def __init__(
        self,
        *,
        application: Application | None = None,
        on_exchange: Callable[[Exchange], None] = lambda exchange: None,
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
        body: Body = b"",
        hidden: Sequence[Token] = (),
        seconds: float,
        most_bytes: int,
        sink: AnswerSink | None = None,
    ) -> HttpAnswer:
        """Send one request, without retries. Raises ExchangeError.

        `seconds` limits the whole exchange, `most_bytes` the decompressed body. `hidden` are secrets in the
        body, replaced in the answer as those in headers. With `sink` the body of a 2xx goes there, but for a
        page in HTML.
        """
        if not all(_SENDABLE.fullmatch(value) for value in headers.values()):
            raise ExchangeError("broken", "a header that cannot be sent", body_left=False)  # httpx would quote it
        sent = _length(body)
        request = httpx.Request(
            method,
            url,
            headers={
                "user-agent": f"cf-batch/{__version__}",
                "accept": "application/json",
                "accept-encoding": "identity" if sink is not None else "gzip",
                "connection": "close",
                **headers,
                **({} if isinstance(body, bytes) else {"content-length": str(sent)}),
            },
            content=(body if isinstance(body, bytes) else _pieces(body)) if body else None,
            # httpcore does not close the socket of a handshake that is cancelled from outside, so httpx's own limit
            # has to end the handshake first.
            extensions={"timeout": httpx.Timeout(60.0, connect=min(15.0, 0.75 * seconds)).as_dict()},
        )
        in_headers = (value.split(" ", 1)[-1] for name, value in headers.items() if name.lower() in _SECRET_HEADERS)
        secrets = EchoedSecrets((*in_headers, *(secret.reveal() for secret in hidden)))
        answer: HttpAnswer | None = None
        feeder = SinkFeeder(sink, secrets, most_bytes) if sink is not None else None
        try:
            found = await self._exchange(await self._transport(url), request, seconds, most_bytes, feeder)
            answer = await _without(secrets, found)
        except ExchangeError as error:
            sent = sent if error.body_left else 0
            raise self._by_way_of_proxy(error, url) from None
        finally:
            if self._application is None:
                received, status = (len(answer.body), answer.status) if answer is not None else (0, 0)
                received += feeder.received if feeder is not None else 0
                self._on_exchange(Exchange(request.url.netloc.decode("ascii"), what, sent, received, status))
        return answer

    def _by_way_of_proxy(self, error: ExchangeError, url: str) -> ExchangeError:
        if error.body_left or error.reason not in ("name", "refused", "proxy", "time"):
            return error
        found = None if self._application is not None else _system_proxy(url)
        if found is None:
            return error
        host, port = found.url.host, found.url.port
        proxy = f"{host}:{port}" if port else host
        return ExchangeError("proxy", error.detail, body_left=False, proxy=proxy)

    async def _transport(self, url: str) -> httpx.AsyncBaseTransport:
        if self._application is not None:
            return httpx.ASGITransport(app=self._application)
        proxy = _system_proxy(url)
        if self._certificates is None and not url.startswith("http:"):
            self._certificates = await asyncio.to_thread(system_certificates)
        limits = httpx.Limits(max_keepalive_connections=0)
        context = self._certificates or self._no_certificates
        return httpx.AsyncHTTPTransport(verify=context, trust_env=False, proxy=proxy, limits=limits)

    async def _exchange(
        self,
        transport: httpx.AsyncBaseTransport,
        request: httpx.Request,
        seconds: float,
        most_bytes: int,
        feeder: SinkFeeder | None,
    ) -> HttpAnswer:
        watch = _Watch()
        request.extensions["trace"] = watch.see
        # Raised after the except blocks: httpx's exception would otherwise stay attached as __context__, and its
        # frames hold the request's body.
        try:
            async with asyncio.timeout(seconds), transport:
                response = await transport.handle_async_request(request)
                connection = _connection_of(transport)
                try:
                    body = await _body(response, most_bytes, feeder)
                    await _check_end(response, connection)
                finally:
                    await response.aclose()
                return HttpAnswer(response.status_code, _plain(response.headers), body)
        except BodyError as error:
            failure = ExchangeError(error.reason, error.detail, body_left=watch.body_left)
        except asyncio.CancelledError:
            await watch.close_handshake()
            raise
        except TimeoutError:
            await watch.close_handshake()
            failure = ExchangeError("time", f"no whole answer within {seconds:g} s", body_left=watch.body_left)
        except (httpx.TransportError, OSError) as error:  # broken-off TLS raises ssl's own errors
            reason = "broken" if watch.body_left and not isinstance(error, httpx.TimeoutException) else _reason(error)
            failure = ExchangeError(reason, _safe(error), body_left=watch.body_left)
        if failure.reason in ("tls", "clock"):
            self._certificates = None  # read again next time: the one that was missing may have been installed
        raise failure


class _Watch:
    """A trace hook for httpcore: before the event "send_request_body" no byte of the body can have been sent.

    Raises BodyError when the other end has sent something before the request; with TLS that cannot be seen.
    """

    def __init__(self) -> None:
        self.body_left = False
        self._connected: Any = None  # httpcore's stream, before TLS
        self._plain: Any = None  # the same, while there is no TLS and no request on it
        self._in_handshake: Any = None

    async def see(self, event: str, info: Mapping[str, Any]) -> None:
        # CONNECT, the request to a proxy for a tunnel, has no body.
        if event.endswith("send_request_body.started") and info["request"].method != b"CONNECT":
            self.body_left = True
        elif event.endswith("connect_tcp.complete"):
            self._connected = self._plain = info["return_value"]
        elif event.endswith("start_tls.started"):
            self._in_handshake, self._plain = self._connected, None
        elif event.endswith("start_tls.complete"):
            self._in_handshake = None
        elif event.endswith("send_request_headers.started") and self._plain is not None:
            stream, self._plain = self._plain, None
            if stream.get_extra_info("is_readable"):
                raise BodyError("mixed", "bytes, or the end, before the request")

    async def close_handshake(self) -> None:
        """Close the socket of a cancelled handshake, which httpcore leaves open."""
        if self._in_handshake is not None:
            await self._in_handshake.aclose()
            self._in_handshake = None


def _length(body: Body) -> int:
    return len(body) if isinstance(body, bytes) else sum(map(len, body))


async def _pieces(body: tuple[bytes, ...]) -> AsyncIterator[bytes]:
    for piece in body:
        yield piece


async def _body(response: httpx.Response, most_bytes: int, feeder: SinkFeeder | None) -> bytes:
    is_page = "html" in response.headers.get("content-type", "").lower()
    if feeder is not None and 200 <= response.status_code < 300 and not is_page:
        feeder.begin(response.status_code, _plain(response.headers))
        async for chunk in cast(httpx.AsyncByteStream, response.stream):
            await feeder.add(chunk)
        await feeder.end()
        return b""
    reader = BodyReader(response.headers.get("content-encoding", ""), most_bytes)
    async for chunk in cast(httpx.AsyncByteStream, response.stream):  # `aiter_raw` closes the connection at its end
        reader.add(chunk)
    return reader.whole()


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
    """Raise BodyError when bytes follow the end of the answer: they may answer another request."""
    if connection is None:
        return
    left, _ = connection._h11_state.trailing_data
    if not left.strip(b"\r\n"):
        with suppress(httpcore.TimeoutException, httpcore.NetworkError, OSError):
            left = await response.extensions["network_stream"].read(1 << 16, timeout=_END_SECONDS)
    if left.strip(b"\r\n"):
        raise BodyError("mixed", "bytes after the end of the answer")


async def _without(secrets: EchoedSecrets, answer: HttpAnswer) -> HttpAnswer:
    headers = {name: secrets.removed_from_text(value) for name, value in answer.headers.items()}
    if len(answer.body) > _LARGE:
        return HttpAnswer(answer.status, headers, await asyncio.to_thread(secrets.removed_from, answer.body))
    return HttpAnswer(answer.status, headers, secrets.removed_from(answer.body))


def _plain(headers: httpx.Headers) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}


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
    if scheme.lower() not in ("http", "https"):
        named = rest.rpartition("@")[2].partition("/")[0]
        del address, rest, proxies
        raise ExchangeError("proxy_kind", f"a proxy of the kind {scheme[:10]}", body_left=False, proxy=named)
    try:
        context = system_certificates() if scheme.lower() == "https" else None
        return httpx.Proxy(f"{scheme.lower()}://{rest}", ssl_context=context)
    except (httpx.InvalidURL, ValueError):
        # They may hold a password, and httpx's error quotes parts of it: both stay out of the traceback.
        del address, rest, proxies
    raise ExchangeError("proxy_address", "the proxy's address cannot be read", body_left=False)


def _reason(error: httpx.TransportError | OSError) -> str:
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, socket.gaierror):
            return "name"
        if isinstance(seen, ssl.SSLCertVerificationError) and seen.verify_code in _CERTIFICATE_TIME:
            return "clock"
        if isinstance(seen, ssl.SSLError) and not isinstance(seen, _INTERRUPTED):
            return "tls"
        seen = seen.__cause__ or seen.__context__
    if isinstance(error, httpx.ConnectError | httpx.ProxyError | httpx.UnsupportedProtocol):
        return "refused"
    if isinstance(error, httpx.TimeoutException):
        return "time"
    return "broken"


def _safe(error: httpx.TransportError | OSError) -> str:
    seen: BaseException | None = error
    number = ""
    while seen is not None:
        if isinstance(seen, ssl.SSLCertVerificationError):
            number = f" ({seen.verify_message})"
        elif isinstance(seen, OSError) and seen.errno:
            number = number or f" ({seen.errno})"
        seen = seen.__cause__ or seen.__context__
    return f"{type(error).__name__}{number}"
