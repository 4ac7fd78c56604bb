"""Single HTTP exchanges. The only importer of httpx.

It adds to httpx: whether a byte of the body was sent (from the transport's trace events, not from the names of
exceptions), limits on the size and duration of a whole exchange, no redirects, no settings from the environment, the
system's certificates, and errors whose text cannot hold a header.
"""

import asyncio
import re
import socket
import ssl
import urllib.request
import zlib
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias
from urllib.parse import urlsplit

import httpx
import truststore

from cfbatch_gui import __version__

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Application = Callable[[Scope, Callable[[], Awaitable[Message]], Callable[[Message], Awaitable[None]]], Awaitable[None]]
What: TypeAlias = Literal["submit", "run", "ask", "check"]

_DECOMPRESSED_AT_ONCE: Final = 1 << 20  # bytes
_UNSUSPICIOUS: Final = 16 << 20  # bytes; below this size any compression ratio is accepted
_MOST_RATIO: Final = 200  # JSON of numbers compresses 3:1, JSON of one repeated sentence about 100:1
_SENDABLE: Final = re.compile(r"[\t -~]*")  # header values
_CERTIFICATE_TIME: Final = (9, 10)  # OpenSSL's numbers for a certificate that is not valid yet, or no longer
_INTERRUPTED: Final = (ssl.SSLWantReadError, ssl.SSLEOFError, ssl.SSLZeroReturnError)  # no certificate errors


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    """A complete response. Header names are lower case; `body` is decompressed."""

    status: int
    headers: Mapping[str, str]
    body: bytes = field(repr=False)


class Headers(dict[str, str]):
    """Headers of a request whose repr hides the values, because tracebacks may show local variables."""

    def __repr__(self) -> str:
        return f"Headers({', '.join(self)})"


class ExchangeError(Exception):
    """No complete response was received. `body_left` says whether a byte of the request's body may have been sent.

    `reason` is one of "name", "refused", "proxy", "proxy_address", "tls", "clock", "time", "broken", "too_large";
    `detail` holds no secret. `proxy` is the host and port of a proxy that could not be reached, else "".
    """

    def __init__(self, reason: str, detail: str, *, body_left: bool, proxy: str = "") -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason, self.detail, self.body_left, self.proxy = reason, detail, body_left, proxy


@dataclass(frozen=True, slots=True)
class Exchange:
    """One exchange, for the log of what leaves this computer.

    `sent` and `received` are the lengths of the bodies in bytes; `sent` is 0 when it is certain that none of the body
    was sent. `status` is HTTP's, 0 when no complete response was received.
    """

    host: str
    what: What
    sent: int
    received: int
    status: int


class Transport:
    """Sends single requests. `application` is an ASGI application that is called in-process instead of the network.

    `on_exchange` is called after each request over the network, also after one that failed.
    """

    def __init__(
        self,
        *,
        application: Application | None = None,
        on_exchange: Callable[[Exchange], None] = lambda exchange: None,
    ) -> None:
        self._application, self._on_exchange = application, on_exchange
        self._kept: httpx.AsyncClient | None = None

    async def send(
        self,
        method: str,
        url: str,
        *,
        what: What = "check",
        headers: Mapping[str, str],
        body: bytes = b"",
        seconds: float,
        most_bytes: int,
        own_connection: bool = False,
    ) -> HttpAnswer:
        """Send one request, without retries, and return the response. Raises ExchangeError.

        `seconds` limits the whole exchange, `most_bytes` the decompressed body. With `own_connection` a new connection
        is opened and closed afterwards: a kept connection may be dead without notice, and then it would be unknown
        whether the request arrived.
        """
        if not all(_SENDABLE.fullmatch(value) for value in headers.values()):
            raise ExchangeError("broken", "a header that cannot be sent", body_left=False)  # httpx would quote it
        request = httpx.Request(
            method,
            url,
            headers={
                "user-agent": f"cf-batch/{__version__}",
                "accept": "application/json",
                "accept-encoding": "gzip",
                **headers,
            },
            content=body or None,
            # httpcore does not close the socket of a handshake that is cancelled from outside, so httpx's own limit
            # has to end the handshake first.
            extensions={"timeout": httpx.Timeout(60.0, connect=min(15.0, 0.75 * seconds)).as_dict()},
        )
        sent = len(body)
        answer: HttpAnswer | None = None
        try:
            if own_connection:
                async with self._client(url, keep=False) as client:
                    answer = await self._exchange(client, request, seconds, most_bytes)
            else:
                if self._kept is None:
                    self._kept = self._client(url, keep=True)
                answer = await self._exchange(self._kept, request, seconds, most_bytes)
        except ExchangeError as error:
            sent = sent if error.body_left else 0
            raise self._by_way_of_proxy(error, url) from None
        finally:
            if self._application is None:
                received, status = (len(answer.body), answer.status) if answer is not None else (0, 0)
                self._on_exchange(Exchange(request.url.netloc.decode("ascii"), what, sent, received, status))
        return answer

    def _by_way_of_proxy(self, error: ExchangeError, url: str) -> ExchangeError:
        """Return `error`, or an error with reason "proxy" when it was the proxy that could not be reached."""
        if error.body_left or error.reason not in ("name", "refused", "proxy", "time"):
            return error
        found = None if self._application is not None else _system_proxy(url)
        if found is None:
            return error
        host, port = found.url.host, found.url.port
        proxy = f"{host}:{port}" if port else host
        return ExchangeError("proxy", error.detail, body_left=False, proxy=proxy)

    async def close(self) -> None:
        """Close the kept connections. A later `send` opens new ones."""
        if self._kept is not None:
            await self._kept.aclose()
            self._kept = None

    def _client(self, url: str, *, keep: bool) -> httpx.AsyncClient:
        return httpx.AsyncClient(
            transport=httpx.ASGITransport(app=self._application) if self._application is not None else None,
            verify=_certificates(),
            trust_env=False,
            proxy=None if self._application is not None else _system_proxy(url),
            follow_redirects=False,
            limits=httpx.Limits(max_keepalive_connections=4 if keep else 0),
        )

    async def _exchange(
        self,
        client: httpx.AsyncClient,
        request: httpx.Request,
        seconds: float,
        most_bytes: int,
    ) -> HttpAnswer:
        watch = _Watch()
        request.extensions["trace"] = watch.see
        # Raised after the except blocks: httpx's exception would otherwise stay attached as __context__, and its
        # frames hold the request's body.
        try:
            async with asyncio.timeout(seconds):
                response = await client.send(request, stream=True)
                try:
                    return HttpAnswer(response.status_code, _plain(response.headers), await _body(response, most_bytes))
                finally:
                    await response.aclose()
        except BodyError as error:
            failure = ExchangeError(error.reason, error.detail, body_left=True)
        except asyncio.CancelledError:
            await watch.close_handshake()
            raise
        except TimeoutError:
            await watch.close_handshake()
            await self._replace_kept(client)
            failure = ExchangeError("time", f"no whole answer within {seconds:g} s", body_left=watch.body_left)
        except (httpx.TransportError, OSError) as error:  # broken-off TLS raises ssl's own errors
            await self._replace_kept(client)
            reason = "broken" if watch.body_left and not isinstance(error, httpx.TimeoutException) else _reason(error)
            failure = ExchangeError(reason, _safe(error), body_left=watch.body_left)
        raise failure

    async def _replace_kept(self, client: httpx.AsyncClient) -> None:
        # Cancelling a request in flight can leave httpx's pool unusable; a new pool costs one handshake.
        if client is self._kept:
            self._kept = None
            await client.aclose()


class _Watch:
    """A trace hook for httpcore. Before the event "send_request_body" no byte of the body can have been sent."""

    def __init__(self) -> None:
        self.body_left = False
        self._connected: Any = None  # httpcore's stream, before TLS
        self._in_handshake: Any = None

    async def see(self, event: str, info: Mapping[str, Any]) -> None:
        # CONNECT, the request to a proxy for a tunnel, has no body.
        if event.endswith("send_request_body.started") and info["request"].method != b"CONNECT":
            self.body_left = True
        elif event.endswith("connect_tcp.complete"):
            self._connected = info["return_value"]
        elif event.endswith("start_tls.started"):
            self._in_handshake = self._connected
        elif event.endswith("start_tls.complete"):
            self._in_handshake = None

    async def close_handshake(self) -> None:
        """Close the socket of a handshake that was cancelled from outside, which httpcore leaves open."""
        if self._in_handshake is not None:
            await self._in_handshake.aclose()
            self._in_handshake = None


class BodyError(Exception):
    """A body that cannot be read. `reason` is "too_large" or "broken"; `detail` holds no secret."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason, self.detail = reason, detail


class BodyReader:
    """Collects a body from its chunks and decompresses it.

    `encoding` is the Content-Encoding header; `limit` is in bytes of decompressed content. Raises BodyError for an
    encoding other than gzip.
    """

    def __init__(self, encoding: str, limit: int) -> None:
        self._encoding, self._limit = encoding.strip().lower(), limit
        self._content = bytearray()
        self._received = 0
        if self._encoding not in ("", "identity", "gzip", "x-gzip"):
            raise BodyError("broken", f"content-encoding {self._encoding[:20]!r}, which was not asked for")
        self._unpacker = zlib.decompressobj(zlib.MAX_WBITS | 16) if "gzip" in self._encoding else None

    def add(self, chunk: bytes) -> None:
        """Add the next chunk as received. Raises BodyError for content above the limit and for broken gzip."""
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
        """The decompressed content. Raises BodyError when the gzip stream is incomplete."""
        if self._unpacker is not None and self._received and not self._unpacker.eof:
            raise BodyError("broken", "gzip without its end")
        return bytes(self._content)

    def _keep(self, content: bytes) -> None:
        self._content += content
        size = len(self._content)
        if size > self._limit or size > max(_UNSUSPICIOUS, _MOST_RATIO * self._received):
            raise BodyError("too_large", f"more than {min(size, self._limit):,} bytes")


async def _body(response: httpx.Response, most_bytes: int) -> bytes:
    reader = BodyReader(response.headers.get("content-encoding", ""), most_bytes)
    async for chunk in response.aiter_raw():
        reader.add(chunk)
    return reader.whole()


def _plain(headers: httpx.Headers) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}


def _certificates() -> ssl.SSLContext:
    context = truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    return context


def _system_proxy(url: str) -> httpx.Proxy | None:
    """The system's proxy for `url`, with this module's TLS settings. Raises ExchangeError for an unreadable address."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    if host in ("localhost", "127.0.0.1", "::1") or urllib.request.proxy_bypass(host):
        return None
    address = urllib.request.getproxies().get(parts.scheme) or ""
    if not address.startswith(("http://", "https://")):
        return None
    try:
        return httpx.Proxy(address, ssl_context=_certificates() if address.startswith("https:") else None)
    except (httpx.InvalidURL, ValueError):
        del address  # may hold a password, and httpx's error quotes parts of it: both stay out of the traceback
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
    """The exception's type and error number. Its text is left out because it can hold a header with the token."""
    seen: BaseException | None = error
    number = ""
    while seen is not None:
        if isinstance(seen, ssl.SSLCertVerificationError):
            number = f" ({seen.verify_message})"
        elif isinstance(seen, OSError) and seen.errno:
            number = number or f" ({seen.errno})"
        seen = seen.__cause__ or seen.__context__
    return f"{type(error).__name__}{number}"
