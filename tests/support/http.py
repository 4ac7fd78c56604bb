"""HTTP/1.1 without a library, because faults need every byte: reads requests, calls an ASGI application, replies."""

import asyncio
import json
import socket
import struct
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any
from urllib.parse import unquote

from cfbatch_gui.core.practice.app import Application, Message, Receive, Scope, Send

_PATIENCE = 1.0  # seconds for the client to close its side
_ON_ITS_WAY = 0.02  # seconds; a reset discards data that the client has not read yet


@dataclass(frozen=True, slots=True)
class Head:
    """A request without its body. Names of headers are lower case; `length` is the body's, in bytes."""

    method: str
    target: str
    headers: tuple[tuple[str, str], ...]
    length: int

    def header(self, name: str) -> str:
        return next((value for found, value in self.headers if found == name), "")


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole reply. The body is sent `repeated` times, so that a very large reply needs little memory."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes
    repeated: int = 1

    def head(self, *, close: bool) -> bytes:
        phrase = HTTPStatus(self.status).phrase if self.status in set(HTTPStatus) else "Unknown"
        lines = [f"HTTP/1.1 {self.status} {phrase}", *(f"{name}: {value}" for name, value in self.headers)]
        lines.append(f"content-length: {len(self.body) * self.repeated}")
        lines += ["connection: close"] if close else []
        return "\r\n".join([*lines, "", ""]).encode("latin-1", "replace")


class Line:
    """One client's connection: the plain socket, and the streams over it, perhaps with TLS.

    With `close` the next reply announces the end of the connection; `is_over` is whether it has been ended.
    """

    def __init__(self, plain: socket.socket, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.plain, self.reader, self.writer = plain, reader, writer
        self.close = True
        self.is_over = False

    async def send(self, data: bytes) -> None:
        """Write, and wait until the buffer has drained. Raises ConnectionError."""
        self.writer.write(data)
        await self.writer.drain()

    async def reply(self, answer: Answer) -> None:
        """Send a whole reply. Raises ConnectionError."""
        await self.send(answer.head(close=self.close))
        for _ in range(answer.repeated):
            await self.send(answer.body)

    async def end(self, *, rst: bool) -> None:
        """End the connection now: with a TCP reset if `rst`, otherwise in good order."""
        self.is_over = True
        await asyncio.sleep(_ON_ITS_WAY)
        if rst:
            reset_on_close(self.plain)
        else:
            with suppress(OSError, TimeoutError):
                self.plain.shutdown(socket.SHUT_WR)  # with unread data the system would send a reset
                async with asyncio.timeout(_PATIENCE):
                    while await self.reader.read(1 << 16):
                        pass
        self.writer.transport.abort()


def reset_on_close(plain: socket.socket) -> None:
    with suppress(OSError):
        linger = struct.pack("hh" if sys.platform == "win32" else "ii", 1, 0)
        plain.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)


async def read_head(reader: asyncio.StreamReader) -> Head | None:
    """The next request's head; None if the client has disconnected or does not send HTTP."""
    try:
        first_byte = await reader.readexactly(1)
        if not first_byte.isalpha():  # a TLS handshake on a connection without TLS
            return None
        raw = first_byte + await reader.readuntil(b"\r\n\r\n")
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, ConnectionError):
        return None
    first, *lines = raw.decode("latin-1").rstrip("\r\n").split("\r\n")
    method, _, rest = first.partition(" ")
    target, _, version = rest.partition(" ")
    headers = tuple((name.strip().lower(), value.strip()) for name, _, value in (line.partition(":") for line in lines))
    length = next((value for name, value in headers if name == "content-length"), "0")
    return Head(method, target, headers, int(length)) if version and length.isdigit() else None


async def ask(application: Application, head: Head, body: bytes | bytearray) -> Answer:
    path, _, query = head.target.partition("?")
    scope = {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": head.method,
        "scheme": "http",
        "path": unquote(path),
        "raw_path": path.encode("latin-1"),
        "query_string": query.encode("latin-1"),
        "headers": [(name.encode("latin-1"), value.encode("latin-1")) for name, value in head.headers],
    }
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: Message) -> None:
        sent.append(message)

    await application(scope, receive, send)
    start: Any = next(message for message in sent if message["type"] == "http.response.start")
    headers = tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in start["headers"])
    kept = tuple((name, value) for name, value in headers if name != "content-length")
    whole = b"".join(message.get("body", b"") for message in sent if message["type"] == "http.response.body")
    return Answer(start["status"], kept, whole)


def application(answer: Callable[[Head, bytes], Awaitable[Answer]]) -> Application:
    """What answers whole requests, as an application."""

    async def called(scope: Scope, receive: Receive, send: Send) -> None:
        body = b""
        while True:
            message: Message = await receive()
            body += message.get("body", b"")
            if not message.get("more_body", False):
                break
        query = scope["query_string"].decode()
        target = scope["raw_path"].decode() + (f"?{query}" if query else "")
        headers = tuple((name.decode().lower(), value.decode()) for name, value in scope["headers"])
        found: Answer = await answer(Head(scope["method"], target, headers, len(body)), body)
        sent = [(name.encode(), value.encode()) for name, value in found.headers]
        await send({"type": "http.response.start", "status": found.status, "headers": sent})
        await send({"type": "http.response.body", "body": found.body, "more_body": False})

    return called


def as_json(status: int, value: object) -> Answer:
    return Answer(status, (("content-type", "application/json"),), json.dumps(value).encode())


def refused(status: int, code: int, message: str) -> Answer:
    return as_json(status, {"error": {"code": code, "message": message}})
