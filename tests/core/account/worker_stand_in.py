"""Stands on a loopback port between the program and its Worker: passes calls on, but for those of a script."""

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, get_args

import httpx

from tests.support import faults
from tests.support.faults import Fault
from tests.support.http import Answer, Head, Line, read_head

Call: TypeAlias = Literal["submit", "ask", "layout", "hand over", "status", "order", "answer", "forget", "other"]
CALLS: tuple[Call, ...] = get_args(Call)
Delivery: TypeAlias = tuple[Answer, Fault | None]  # a reply, and what becomes of it on its way
Do: TypeAlias = Callable[["Exchange"], Awaitable[Delivery]]

_SHARD = re.compile(r"/collect/[^/]+/[^/]+(/(?P<part>\w+))?")


@dataclass(frozen=True)
class Exchange:
    """A request as it came, and the way on to the Worker at `behind`."""

    head: Head
    body: bytes
    behind: str

    async def pass_on(self, *, without: Sequence[str] = ()) -> Answer:
        """The Worker's reply to it, when it is asked `without` these headers."""
        kept = [(name, value) for name, value in self.head.headers if name not in ("host", "connection", *without)]
        kept += [("accept-encoding", "identity")] if "accept-encoding" in without else []
        async with httpx.AsyncClient(trust_env=False, timeout=60) as client:
            request = client.build_request(
                self.head.method, self.behind + self.head.target, headers=kept, content=self.body or None
            )
            reply = await client.send(request, stream=True)
            body = b"".join([piece async for piece in reply.aiter_raw()])
            await reply.aclose()
        dropped = ("content-length", "transfer-encoding", "connection")
        headers = tuple((name.lower(), value) for name, value in reply.headers.items() if name.lower() not in dropped)
        return Answer(reply.status_code, headers, body)


@dataclass(frozen=True, slots=True)
class Rule:
    """What becomes of the calls of one kind, from the one of this `number` on; `times` of them, 0 for all."""

    on: Call
    do: Do
    number: int = 1
    times: int = 1

    def concerns(self, turn: int) -> bool:
        """Whether it is about the call of this number."""
        return turn >= self.number and (not self.times or turn < self.number + self.times)


class WorkerStandIn:
    """`calls` are those that came, in order."""

    def __init__(self, behind: str) -> None:
        self.url = ""
        self.behind = behind
        self.calls: list[Call] = []
        self._rules: tuple[Rule, ...] = ()
        self._turns: dict[Call, int] = {}

    def follow(self, *rules: Rule) -> None:
        """From now on, with calls counted anew; without rules all are passed on."""
        self._rules, self._turns = rules, {}

    def count(self, call: Call) -> int:
        """How many calls of a kind came."""
        return self.calls.count(call)

    @asynccontextmanager
    async def listening(self) -> AsyncIterator["WorkerStandIn"]:
        """Until the end of the block."""
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        async with server:
            yield self

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await read_head(reader)
            if head is None:
                return
            body = await reader.readexactly(head.length)
            call = call_of(head, body)
            self.calls.append(call)
            turn = self._turns[call] = self._turns.get(call, 0) + 1
            do = next((rule.do for rule in self._rules if rule.on == call and rule.concerns(turn)), passed_on)
            answer, fault = await do(Exchange(head, body, self.behind))
            send = Line.reply if fault is None else fault.send
            await send(Line(writer.get_extra_info("socket"), reader, writer), answer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass  # the program has gone
        finally:
            writer.close()


def call_of(head: Head, body: bytes) -> Call:
    """Which call a request is."""
    path = head.target.partition("?")[0]
    if path.startswith("/ai/run/"):
        return "ask" if b'"request_id"' in body[:100] else "submit"
    found = _SHARD.fullmatch(path)
    if found is None:
        return "other"
    if found["part"] in ("layout", "order"):
        return "layout" if found["part"] == "layout" else "order"
    whole: dict[str, Call] = {"PUT": "hand over", "GET": "status", "DELETE": "forget"}
    return whole.get(head.method, "other") if found["part"] is None else "answer"


async def passed_on(exchange: Exchange) -> Delivery:
    """As if nobody stood between."""
    return await exchange.pass_on(), None


async def lost_before(exchange: Exchange) -> Delivery:
    """The request does not arrive."""
    return Answer(200, (), b""), faults.reset_after_body()


async def lost_after(exchange: Exchange) -> Delivery:
    """The request arrives, its answer does not."""
    return await exchange.pass_on(), faults.reset_after_body()


def cut_at(byte: int) -> Do:
    """The answer's body ends there."""

    async def do(exchange: Exchange) -> Delivery:
        return await exchange.pass_on(), faults.reset_in_reply(byte=byte)

    return do


def says(status: int, body: bytes, kind: str = "application/json") -> Do:
    """This, in place of the Worker."""

    async def do(exchange: Exchange) -> Delivery:
        return Answer(status, (("content-type", kind),), body), None

    return do


def refuses(status: int, code: int, words: str = "No.") -> Do:
    """A refusal in the Worker's form."""
    return says(status, b'{"error":{"code":%d,"message":"%s"}}' % (code, words.encode()))


def changed(change: Callable[[bytes], bytes]) -> Do:
    """The Worker's answer with another body."""

    async def do(exchange: Exchange) -> Delivery:
        answer = await exchange.pass_on(without=["accept-encoding"])
        return replace(answer, body=change(answer.body)), None

    return do


# What a hotel's network answers in everybody's place
page = says(200, b"<!doctype html><html><body>Welcome to the airport. Please sign in.</body></html>", "text/html")
# What Cloudflare shows in place of a Worker: https://developers.cloudflare.com/workers/observability/errors/
EXCEEDED_CPU = says(503, b"<html><title>Worker exceeded resource limits</title>Error 1102</html>", "text/html")
