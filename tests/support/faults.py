"""What can go wrong between a client and the service, as values that a `FaultyService` follows.

A fault is offered every exchange of the kind `on`; it affects the one with the number `number`, counted from 1, and
the following ones until it has affected `times`; 0 is for good. The kind of a connection is not known before its first
request: for faults at the connection, "submit" and "check" mean one made before the service has accepted a batch,
"poll" one made afterwards, and "upload" any.

Faults with `billed` have two forms. True: the service does the work, and its answer is what goes astray. False: the
service never gets the request, and the fault affects a refusal. With `rst` a connection ends with a TCP reset,
otherwise in good order.
"""

import asyncio
import gzip
import random
import socket
import zlib
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Final, Literal, TypeAlias, TypedDict, Unpack

import msgspec

from tests.support.http import Answer, Line, reset_on_close
from tests.support.mutations import mutate as mutated
from tests.support.mutations import with_failures

Kind: TypeAlias = Literal[
    "submit",  # a batch, or a single element
    "poll",  # for the result of a batch
    "check",  # everything else
    "upload",  # of Vectorize: vectors upserted or inserted
    "layout",  # this and what follows: of a collecting room, about one shard
    "hand over",
    "status",
    "order",
    "answer",
    "forget",
]
JSON: Final = (("content-type", "application/json"),)
LONG: Final = 60.0  # seconds: longer than any exchange is waited for
_MEGABYTE: Final = 1 << 20
_PAGE: Final = b"<!doctype html>\n<html><head><title>Sign in</title></head><body><h1>Welcome</h1></body></html>\n"


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that goes wrong; made by the functions below.

    `billed` None has no other form: the service does the work if it gets the whole request. `refuses` stops
    listening for good. `begin` is done to a new connection before its first request and returns whether
    that ended it. With `stops_at` no more than so many bytes of the request's body are read. `change` makes another
    reply, which `send` sends. All exchanges are affected for the next `blocks` seconds.
    """

    name: str
    _: KW_ONLY
    on: Literal["any"] | Kind = "any"
    number: int = 1
    times: int = 1
    billed: bool | None = False
    refuses: bool = False
    begin: Callable[[socket.socket], Awaitable[bool]] | None = field(default=None, repr=False)
    stops_at: int | None = None
    change: Callable[[Answer], Answer] = field(default=lambda answer: answer, repr=False)
    send: Callable[[Line, Answer], Awaitable[None]] = field(default=Line.reply, repr=False)
    blocks: float = 0.0
    retry_after: str = ""  # as it is sent
    retry_date: float | None = None  # sent as a date so many seconds from now


class When(TypedDict, total=False):
    on: Literal["any"] | Kind
    number: int
    times: int


class Twin(When, total=False):
    billed: bool


# At the connection


def refuse(**when: Unpack[When]) -> Fault:
    """Nobody listens any more. `times` does not count here."""
    return Fault("refuse", refuses=True, billed=None, **when)


def reset_at_accept(*, rst: bool = True, **when: Unpack[When]) -> Fault:
    """The connection is taken and ended at once."""
    return Fault("reset_at_accept", begin=lambda plain: _end(plain, rst=rst), billed=None, **when)


def reset_after_hello(*, rst: bool = True, **when: Unpack[When]) -> Fault:
    """The connection is ended after the client's first bytes: its hello, where TLS is spoken."""
    return Fault("reset_after_hello", begin=lambda plain: _end(plain, rst=rst, hears=True), billed=None, **when)


def garbage_hello(**when: Unpack[When]) -> Fault:
    """The client's first bytes are answered with bytes that mean nothing."""
    return Fault(
        "garbage_hello", begin=lambda plain: _end(plain, rst=False, hears=True, says=_noise()), billed=None, **when
    )


def stall_at_accept(**when: Unpack[When]) -> Fault:
    """Nothing is read or said for long; then all goes well."""

    async def wait(_: socket.socket) -> bool:
        await asyncio.sleep(LONG)
        return False

    return Fault("stall_at_accept", begin=wait, billed=None, **when)


async def _end(plain: socket.socket, *, rst: bool, hears: bool = False, says: bytes = b"") -> bool:
    loop = asyncio.get_running_loop()
    if hears:
        await loop.sock_recv(plain, 1 << 16)
    await loop.sock_sendall(plain, says)
    if rst:
        reset_on_close(plain)
    plain.close()
    return True


# While the request is received


def reset_after_headers(*, rst: bool = True, **when: Unpack[When]) -> Fault:
    return Fault("reset_after_headers", stops_at=0, send=lambda line, _: line.end(rst=rst), billed=None, **when)


def reset_in_body(*, byte: int = 1, rst: bool = True, **when: Unpack[When]) -> Fault:
    return Fault("reset_in_body", stops_at=byte, send=lambda line, _: line.end(rst=rst), billed=None, **when)


def stall_in_body(*, byte: int = 1, **when: Unpack[When]) -> Fault:
    """From a byte of the request's body on nothing is read for long; then the connection is reset."""

    async def send(line: Line, _: Answer) -> None:
        await asyncio.sleep(LONG)
        await line.end(rst=True)

    return Fault("stall_in_body", stops_at=byte, send=send, billed=None, **when)


# On the way of the reply


def reset_after_body(*, rst: bool = True, **when: Unpack[Twin]) -> Fault:
    return Fault("reset_after_body", send=lambda line, _: line.end(rst=rst), **when)


def reset_in_reply(
    *, byte: int = 20, rst: bool = True, part: Literal["head", "body"] = "body", **when: Unpack[Twin]
) -> Fault:
    """The connection is ended at a byte of the reply's head or of its body, the last one at the latest."""

    async def send(line: Line, answer: Answer) -> None:
        head = answer.head(close=line.close)
        await line.send(head[:-1][:byte] if part == "head" else head + answer.body[:-1][:byte])
        await line.end(rst=rst)

    return Fault("reset_in_reply", send=send, **when)


def stall(*, seconds: float = LONG, **when: Unpack[Twin]) -> Fault:
    """The reply comes so many seconds late."""

    async def send(line: Line, answer: Answer) -> None:
        await asyncio.sleep(seconds)
        await line.reply(answer)

    return Fault("stall", send=send, **when)


def stall_in_reply(*, byte: int = 20, **when: Unpack[Twin]) -> Fault:
    """The reply stops at a byte of its body for long; then it goes on."""

    async def send(line: Line, answer: Answer) -> None:
        await line.send(answer.head(close=line.close) + answer.body[:byte])
        await asyncio.sleep(LONG)
        await line.send(answer.body[byte:])

    return Fault("stall_in_reply", send=send, **when)


def drip(*, seconds: float = 1.0, part: Literal["head", "body"] = "body", **when: Unpack[Twin]) -> Fault:
    """The reply comes one byte at a time, from its head or from its body on; `seconds` is the time between two."""

    async def send(line: Line, answer: Answer) -> None:
        head = answer.head(close=line.close)
        whole = head + answer.body
        start = 0 if part == "head" else len(head)
        await line.send(whole[:start])
        for index in range(start, len(whole)):
            await asyncio.sleep(seconds)
            await line.send(whole[index : index + 1])

    return Fault("drip", send=send, **when)


def garbage(**when: Unpack[Twin]) -> Fault:
    """Random bytes stand in place of the whole reply."""

    async def send(line: Line, _: Answer) -> None:
        await line.send(_noise())
        await line.end(rst=False)

    return Fault("garbage", send=send, **when)


def break_tls(**when: Unpack[Twin]) -> Fault:
    """Bytes that are no TLS record, in the middle of the connection, in place of the reply."""

    async def send(line: Line, _: Answer) -> None:
        with suppress(OSError):
            line.plain.send(_noise())  # directly to the socket, below asyncio's TLS
        await line.end(rst=False)

    return Fault("break_tls", send=send, **when)


# Another reply


def cut_reply(*, byte: int = 20, **when: Unpack[Twin]) -> Fault:
    return Fault("cut_reply", change=lambda answer: replace(answer, body=answer.body[:byte]), **when)


def garbage_body(**when: Unpack[Twin]) -> Fault:
    """Random bytes stand in place of the reply's body."""
    return Fault("garbage_body", change=lambda answer: replace(answer, body=_noise()), **when)


def false_encoding(*, encoding: str = "gzip", **when: Unpack[Twin]) -> Fault:
    """The reply's body is not encoded as it is said to be."""
    return Fault("false_encoding", change=lambda answer: _encoded(answer, encoding, answer.body), **when)


def cut_gzip(**when: Unpack[Twin]) -> Fault:
    def change(answer: Answer) -> Answer:
        packed = gzip.compress(answer.body)
        return _encoded(answer, "gzip", packed[: len(packed) // 2])

    return Fault("cut_gzip", change=change, **when)


def gzip_bomb(*, megabytes: int = 300, **when: Unpack[Twin]) -> Fault:
    """A reply of little size that becomes so many megabytes."""

    def change(_: Answer) -> Answer:
        return _encoded(Answer(200, JSON, b""), "gzip", _bomb(megabytes))

    return Fault("gzip_bomb", change=change, **when)


def large_reply(*, megabytes: int = 300, **when: Unpack[Twin]) -> Fault:
    """A reply of so many megabytes of white space, not compressed."""
    answer = Answer(200, JSON, b" " * _MEGABYTE, repeated=megabytes)
    return Fault("large_reply", change=lambda _: answer, **when)


def page(*, status: int = 200, **when: Unpack[Twin]) -> Fault:
    answer = Answer(status, (("content-type", "text/html; charset=utf-8"),), _PAGE)
    return Fault("page", change=lambda _: answer, **when)


def redirect(*, status: int = 302, location: str = "http://elsewhere.invalid/", **when: Unpack[Twin]) -> Fault:
    answer = Answer(status, (("content-type", "text/html"), ("location", location)), b"")
    return Fault("redirect", change=lambda _: answer, **when)


def refusal(
    *,
    status: int = 400,
    code: int = 0,
    message: str = "",
    envelope: bool = True,
    retry_after: str = "",
    retry_date: float | None = None,
    **when: Unpack[Twin],
) -> Fault:
    """A status with a code, in the service's envelope or without it; code 0 is no error at all."""
    errors = [{"code": code, "message": message}] if code else []
    frame = {"result": None, "success": False, "errors": errors, "messages": []}
    body = msgspec.json.encode(frame if envelope else {"status": status, "error": message or "refused", "code": code})
    answer = Answer(status, JSON, body)
    fault = Fault("refusal", retry_after=retry_after, retry_date=retry_date, **when)
    return replace(fault, change=lambda _: answer)


def block(*, seconds: float = 300.0, told: bool = False, **when: Unpack[Twin]) -> Fault:
    """Every exchange from now on is refused for so many seconds: asked too often. It says how long if `told`."""
    return replace(refusal(status=429, **when), name="block", blocks=seconds, retry_after="told" if told else "")


def any_reply(*, status: int = 200, body: str = "", **when: Unpack[Twin]) -> Fault:
    answer = Answer(status, JSON, body.encode())
    return Fault("any_reply", change=lambda _: answer, **when)


# The true reply, with a difference


def wrong_type(**when: Unpack[When]) -> Fault:
    """The true reply under a wrong content type."""
    return Fault(
        "wrong_type",
        change=lambda answer: replace(answer, headers=(("content-type", "text/html"),)),
        billed=None,
        **when,
    )


def compressed(**when: Unpack[When]) -> Fault:
    return Fault(
        "compressed", change=lambda answer: _encoded(answer, "gzip", gzip.compress(answer.body)), billed=None, **when
    )


def mutate(*, how: str, **when: Unpack[When]) -> Fault:
    """The true reply with one thing wrong, by its name in `mutations`."""
    return Fault(how, change=lambda answer: replace(answer, body=mutated(answer.body, how)), billed=None, **when)


def fail_requests(
    *,
    requests: tuple[int, ...] = (0,),
    error: str = "AiError: Something went wrong with this one",
    **when: Unpack[When],
) -> Fault:
    """Some requests of the batch have failed: `requests` are their places in it, from 0."""

    def change(answer: Answer) -> Answer:
        return replace(answer, body=with_failures(answer.body, requests, error))

    return Fault("fail_requests", change=change, billed=None, **when)


def _noise() -> bytes:
    return random.Random("noise").randbytes(500)


def _encoded(answer: Answer, name: str, body: bytes) -> Answer:
    return Answer(answer.status, (*answer.headers, ("content-encoding", name)), body)


def _bomb(megabytes: int) -> bytes:
    """Well-formed gzip of so many megabytes of spaces, made in the time and the memory of one."""
    block_of_spaces = b" " * _MEGABYTE
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    packed = packer.compress(block_of_spaces) + packer.flush(zlib.Z_FULL_FLUSH)  # can be repeated after that
    checksum = 0
    for _ in range(megabytes):
        checksum = zlib.crc32(block_of_spaces, checksum)
    size = megabytes * _MEGABYTE % (1 << 32)
    head, end = b"\x1f\x8b\x08\0\0\0\0\0\0\xff", packer.flush(zlib.Z_FINISH)
    return head + packed * megabytes + end + checksum.to_bytes(4, "little") + size.to_bytes(4, "little")
