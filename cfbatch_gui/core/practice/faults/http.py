"""HTTP/1.1 without a library, because faults need control of every byte: reads requests, calls an ASGI application."""

import asyncio
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any
from urllib.parse import unquote

from cfbatch_gui.core.practice.app import Application, Message


@dataclass(frozen=True, slots=True)
class Head:
    """A request without its body. Names of headers are lower case; `length` is the body's, in bytes."""

    method: str
    target: str
    headers: tuple[tuple[str, str], ...]
    length: int

    def header(self, name: str) -> str:
        """The value of a header, "" without it."""
        return next((value for found, value in self.headers if found == name), "")


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole reply. The body is sent `repeated` times, so that a very large reply needs little memory."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes
    repeated: int = 1

    def head(self, *, close: bool) -> bytes:
        """Return the status line and all headers as bytes, including the body's length."""
        try:
            phrase = HTTPStatus(self.status).phrase
        except ValueError:
            phrase = "Unknown"
        lines = [f"HTTP/1.1 {self.status} {phrase}", *(f"{name}: {value}" for name, value in self.headers)]
        lines.append(f"content-length: {len(self.body) * self.repeated}")
        if close:
            lines.append("connection: close")
        return "\r\n".join([*lines, "", ""]).encode("latin-1", "replace")


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
    parts = first.split(" ")
    if len(parts) != 3:
        return None
    headers = tuple((name.strip().lower(), value.strip()) for name, _, value in (line.partition(":") for line in lines))
    length = next((value for name, value in headers if name == "content-length"), "0")
    return Head(parts[0], parts[1], headers, int(length)) if length.isdigit() else None


async def ask(application: Application, head: Head, body: bytes | bytearray) -> Answer:
    """Call the application and return its reply."""
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
    return Answer(
        start["status"],
        tuple((name, value) for name, value in headers if name != "content-length"),
        b"".join(message.get("body", b"") for message in sent if message["type"] == "http.response.body"),
    )
