"""The practice service on a loopback port, with faults: beside the test, or in a thread."""

import asyncio
import email.utils
import functools
import hashlib
import re
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self, get_args

from cfbatch_gui.core.practice.app import HOST, PREFIX, Application
from cfbatch_gui.core.practice.server import listen
from tests.support import faults as faults_of
from tests.support.faults import Fault, Kind
from tests.support.http import Answer, Head, Line, ask, read_head
from tests.support.practice import accepted
from tests.support.vectorize import service_with_indexes

CERTIFICATE = Path(__file__).parents[1] / "data" / "tls" / "loopback.pem"  # of this computer's own address
_PIECE = 1 << 16
_INDEXES = "/vectorize/v2/indexes"
_SHARD = re.compile(r"/collect/[^/]+/[^/]+(?:/(\w+))?")
_OF_SHARDS: dict[tuple[str, str], Kind] = {
    **{("PUT", "layout"): "layout", ("GET", "layout"): "layout", ("GET", "order"): "order"},
    **{("PUT", ""): "hand over", ("GET", ""): "status", ("DELETE", ""): "forget"},
}
_NOBODY_ASKED = {  # stand for the service's answer to a request that it did not get
    kind: faults_of.refusal(status=429, code=40041 if kind == "upload" else 3040, message="Too many requests")
    for kind in get_args(Kind)
}


@dataclass(frozen=True, slots=True)
class Arrival:
    """One exchange, recorded before its reply is sent.

    `sha256` is of what was received of its body. `is_asked` is whether the practice service got the request, `status`
    the HTTP status of its answer, 0 if it did not. `fault` is "" for none. `at` is by the service's clock.
    """

    kind: Kind
    at: float
    sha256: str
    fault: str
    is_asked: bool
    status: int


@dataclass(slots=True)
class _Waiting:
    """A fault, with the number of exchanges that it fits so far (`offered`) and that it has affected (`hit`)."""

    fault: Fault
    offered: int = 0
    hit: int = 0

    @property
    def is_used_up(self) -> bool:
        return 0 < (1 if self.fault.refuses else self.fault.times) <= self.hit

    def fits(self, kinds: frozenset[str]) -> bool:
        return not self.is_used_up and (self.fault.on == "any" or self.fault.on in kinds)

    def takes(self, kinds: frozenset[str]) -> bool:
        if not self.fits(kinds):
            return False
        self.offered += 1
        is_hit = self.offered >= self.fault.number
        self.hit += is_hit
        return is_hit


class FaultyService:
    """An asynchronous context manager; `url` is the base address of the API behind it, /client/v4 included.

    `clock`, in seconds since 1970, is for times in replies and records; waiting takes real time.
    """

    def __init__(
        self,
        application: Application,
        faults: Sequence[Fault] = (),
        *,
        tls: ssl.SSLContext | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._application, self._tls, self._clock = application, tls, clock
        self._port = 0
        self._listener: socket.socket | None = None
        self._accepting: asyncio.Task[None] | None = None
        self._serving: set[asyncio.Task[None]] = set()
        self._has_batch = False
        self.arrivals: list[Arrival] = []
        self.url = ""
        self._plan(faults)

    def _plan(self, faults: Sequence[Fault]) -> None:
        waiting = [_Waiting(fault) for fault in faults]
        self._refusals = [each for each in waiting if each.fault.refuses]
        self._at_connections = [each for each in waiting if each.fault.begin is not None]
        self._at_exchanges = [each for each in waiting if not each.fault.refuses and each.fault.begin is None]
        self._block: Fault | None = None
        self._blocked_until = 0.0

    async def __aenter__(self) -> Self:
        self.open()
        self._close_if_refusing()
        return self

    async def __aexit__(self, *_: object) -> None:
        self.shut()
        for task in self._serving:
            task.cancel()
        await asyncio.gather(*self._serving, return_exceptions=True)

    @property
    def submits(self) -> list[Arrival]:
        return [arrival for arrival in self.arrivals if arrival.kind == "submit"]

    def follow(self, *faults: Fault) -> None:
        self._plan(faults)
        self.open()
        self._close_if_refusing()

    def open(self) -> None:
        if self._listener is not None:
            return
        self._listener = listen(self._port)
        self._listener.setblocking(False)
        self._port = self._listener.getsockname()[1]
        self.url = f"{'https' if self._tls else 'http'}://{HOST}:{self._port}{PREFIX}"
        self._accepting = self._start(self._accept(self._listener))

    def shut(self) -> None:
        """Stop listening: new connections are refused, open ones stay."""
        if self._accepting is not None and self._listener is not None:
            self._accepting.cancel()
            self._listener.close()
            self._listener = None

    def _start(self, work: Any) -> asyncio.Task[None]:
        task: asyncio.Task[None] = asyncio.get_running_loop().create_task(work)
        self._serving.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[None]) -> None:
        """Say now what went wrong in a stand-in: a search for garbage would, in the middle of another test."""
        self._serving.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            task.get_loop().call_exception_handler({"message": "a stand-in failed", "exception": error, "task": task})

    # Connections

    async def _accept(self, listener: socket.socket) -> None:
        while True:
            plain, _ = await asyncio.get_running_loop().sock_accept(listener)
            for each in self._refusals:
                each.offered += each.fits(self._kinds)
            fault = next((each.fault for each in self._at_connections if each.takes(self._kinds)), None)
            self._close_if_refusing()
            connection = self._start(self._connection(plain, fault))
            connection.add_done_callback(functools.partial(_close_unless_served, plain))

    @property
    def _kinds(self) -> frozenset[str]:
        return frozenset({"upload", "poll"} if self._has_batch else {"upload", "submit", "check"})

    def _close_if_refusing(self) -> None:
        for each in self._refusals:
            if each.fits(self._kinds) and each.offered + 1 >= each.fault.number:
                each.hit += 1
                self.shut()
                return

    async def _connection(self, plain: socket.socket, fault: Fault | None) -> None:
        plain.setblocking(False)
        try:
            if fault is not None and fault.begin is not None and await fault.begin(plain):
                return
        except BaseException:
            plain.close()
            raise
        loop = asyncio.get_running_loop()
        reader = asyncio.StreamReader(limit=_PIECE)
        protocol = asyncio.StreamReaderProtocol(reader)
        with suppress(OSError):  # the client may go at any time, or not trust our certificate
            transport, _ = await loop.connect_accepted_socket(lambda: protocol, plain, ssl=self._tls)
            writer = asyncio.StreamWriter(transport, protocol, reader, loop)
            line = Line(plain, reader, writer)
            try:
                while await self._exchange(line):
                    pass
            except asyncio.CancelledError:
                transport.abort()  # closing would wait until the client has read all
                raise
            finally:
                transport.close()
            await writer.wait_closed()

    # Exchanges

    async def _exchange(self, line: Line) -> bool:
        """Receive one request and reply to it; return whether the connection stays open."""
        head = await read_head(line.reader)
        if head is None:
            return False
        if head.header("expect").lower() == "100-continue":
            await line.send(b"HTTP/1.1 100 Continue\r\n\r\n")
        body = bytearray(await line.reader.read(min(head.length, _PIECE))) if head.length else bytearray()
        kind = _kind(head, body)
        fault = self._choose(kind) or Fault("", billed=None)
        await _read_rest(line, head, body, head.length if fault.stops_at is None else fault.stops_at)
        is_asked = fault.stops_at is None and fault.billed is not False
        answer = await ask(self._application, head, body) if is_asked else None
        if answer is not None and kind == "submit" and b'"request_id"' in answer.body:
            self._has_batch = True
            self._close_if_refusing()
        sha256, status = hashlib.sha256(body).hexdigest(), answer.status if answer else 0
        self.arrivals.append(Arrival(kind, self._clock(), sha256, fault.name, is_asked, status))
        # A connection that is kept alive would escape the faults at connections that are still to happen.
        waits_for_connections = not all(each.is_used_up for each in (*self._refusals, *self._at_connections))
        line.close = waits_for_connections or head.header("connection").lower() == "close"
        reply = fault.change(answer or _NOBODY_ASKED[kind].change(Answer(200, (), b"")))
        if wait := self._wait(fault):
            reply = replace(reply, headers=(*reply.headers, ("retry-after", wait)))
        await fault.send(line, reply)
        return not (line.close or line.is_over)

    def _choose(self, kind: Kind) -> Fault | None:
        if self._clock() < self._blocked_until:
            return self._block
        fault = next((each.fault for each in self._at_exchanges if each.takes(frozenset({kind}))), None)
        if fault is not None and fault.blocks:
            self._block, self._blocked_until = fault, self._clock() + fault.blocks
        return fault

    def _wait(self, fault: Fault) -> str:
        """The value of the header Retry-After, "" for none."""
        if fault.retry_date is not None:
            return email.utils.formatdate(self._clock() + fault.retry_date, usegmt=True)
        if fault.blocks and fault.retry_after:
            return str(int(self._blocked_until - self._clock()) + 1)
        return fault.retry_after


def _kind(head: Head, start: bytes | bytearray) -> Kind:
    """The kind of a request by the beginning of its body, because a fault may happen before the rest is read."""
    path, _, _ = head.target.partition("?")
    if _INDEXES in path:
        return "upload" if head.method == "POST" and path.endswith(("/upsert", "/insert")) else "check"
    if shard := _SHARD.search(path):
        return _OF_SHARDS.get((head.method, shard[1] or ""), "answer")
    if head.method != "POST":
        return "check"
    return "poll" if b'"request_id"' in start[:100] else "submit"


async def _read_rest(line: Line, head: Head, body: bytearray, until: int) -> None:
    wanted = min(until, head.length)
    while len(body) < wanted:
        piece = await line.reader.read(min(wanted - len(body), _PIECE))
        if not piece:
            raise ConnectionResetError
        body += piece


def _close_unless_served(plain: socket.socket, serving: asyncio.Task[None]) -> None:
    if serving.cancelled():
        plain.close()


def load_certificate(path: Path = CERTIFICATE) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(path)
    return context


class Threaded:
    """A faulty application in a thread and a loop of its own, for tests whose thread is busy with a window."""

    def __init__(self, application: Application, *faults: Fault) -> None:
        self._faulty = FaultyService(application, faults)
        self._loop = asyncio.new_event_loop()

    @property
    def url(self) -> str:
        return self._faulty.url

    def follow(self, *faults: Fault) -> None:
        """From now on these go wrong; none: all goes well."""
        self._in_loop(lambda: self._faulty.follow(*faults))

    def shut(self) -> None:
        self._in_loop(self._faulty.shut)

    def _in_loop(self, do: Callable[[], None]) -> None:
        async def work() -> None:
            do()

        asyncio.run_coroutine_threadsafe(work(), self._loop).result(10)

    @contextmanager
    def opened(self) -> Iterator[Self]:
        thread = threading.Thread(target=self._loop.run_forever, name="faulty service", daemon=True)
        thread.start()
        asyncio.run_coroutine_threadsafe(self._faulty.__aenter__(), self._loop).result(10)
        try:
            yield self
        finally:
            asyncio.run_coroutine_threadsafe(self._faulty.__aexit__(), self._loop).result(10)
            self._loop.call_soon_threadsafe(self._loop.stop)
            thread.join(10)
            self._loop.close()


class ThreadedService(Threaded):
    def __init__(self, folder: Path, *faults: Fault, clock: Callable[[], float] = time.time) -> None:
        super().__init__(service_with_indexes(folder, clock=clock), *faults)
        self._folder = folder

    def accepted(self) -> list[str]:
        """The request id of every batch that the service has accepted, in order."""
        return [each.request_id for each in accepted(self._folder)]
