"""The practice service on a loopback socket, with the faults of a script."""

import asyncio
import functools
import hashlib
import json
import socket
import ssl
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Self, get_args

from cfbatch_gui.core.practice.app import Application
from cfbatch_gui.core.practice.faults import script
from cfbatch_gui.core.practice.faults.bad_replies import blocked, noise, reply_to, unasked
from cfbatch_gui.core.practice.faults.delivery import Line, deliver, reset
from cfbatch_gui.core.practice.faults.http import Answer, Head, ask, read_head
from cfbatch_gui.core.practice.faults.schedule import Plan
from cfbatch_gui.core.practice.faults.script import AnyFault, Kind
from cfbatch_gui.core.practice.loopback import HOST, listen
from cfbatch_gui.core.practice.routes import PREFIX

_PIECE = 1 << 16
_INDEXES = "/vectorize/v2/indexes"
_VECTORIZE: tuple[Kind, ...] = get_args(script.VectorizeKind)
_BEFORE: frozenset[Kind] = frozenset(("submit", "check", *_VECTORIZE))
_AFTER: frozenset[Kind] = frozenset(("poll", *_VECTORIZE))


@dataclass(frozen=True, slots=True)
class Arrival:
    """One exchange as received, recorded when its fault, if any, is chosen.

    `received` of the body's `size` bytes were received, and `sha256` is their hash. `is_asked` is whether the practice
    service got the request, `status` the HTTP status of its answer, 0 if it did not. `fault` is "" for none. `at` is by
    the service's clock, in seconds since 1970.
    """

    kind: Kind
    at: float
    size: int
    received: int
    sha256: str
    fault: str
    is_asked: bool
    status: int


class FaultyService:
    """An asynchronous context manager; `url` is the base address of the API behind it, /client/v4 included.

    `application` is the practice service. `tls` enables TLS. `clock`, in seconds since 1970, is for times in replies
    and records; waiting takes real time. `tell` is called with every arrival. Raises OSError if the port is in use.
    """

    def __init__(
        self,
        application: Application,
        faults: Sequence[AnyFault] = (),
        *,
        port: int = 0,
        tls: ssl.SSLContext | None = None,
        clock: Callable[[], float] = time.time,
        tell: Callable[[Arrival], None] | None = None,
    ) -> None:
        self._application, self._port, self._tls = application, port, tls
        self._clock, self._tell = clock, tell
        self._listener: socket.socket | None = None
        self._accepting: asyncio.Task[None] | None = None
        self._serving: set[asyncio.Task[None]] = set()
        self._batches: dict[str, str] = {}  # request id → hash of the body that it was given for
        self._plan = Plan(faults)
        self._block = script.Block(), 0.0  # and until when
        self.arrivals: list[Arrival] = []
        self.connections = 0
        self.url = ""

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
    def uploads(self) -> list[Arrival]:
        """The exchanges that brought vectors, or a part of them."""
        return [arrival for arrival in self.arrivals if arrival.kind == "upload"]

    @property
    def submits(self) -> list[Arrival]:
        """The exchanges that brought a batch, or a part of one."""
        return [arrival for arrival in self.arrivals if arrival.kind == "submit"]

    def follow(self, *faults: AnyFault) -> None:
        """Replace the script."""
        self._plan = Plan(faults)
        self._block = script.Block(), 0.0
        self.open()
        self._close_if_refusing()

    def open(self) -> None:
        """Listen, at the same port as before."""
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

    def _start(self, work: "asyncio._CoroutineLike[None]") -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(work)
        self._serving.add(task)
        task.add_done_callback(self._serving.discard)
        return task

    # Connections

    async def _accept(self, listener: socket.socket) -> None:
        while True:
            plain, _ = await asyncio.get_running_loop().sock_accept(listener)
            self.connections += 1
            fault = self._plan.at_connection(self._kinds)
            self._close_if_refusing()
            connection = self._start(self._connection(plain, fault))
            connection.add_done_callback(functools.partial(_close_unless_served, plain))

    @property
    def _kinds(self) -> frozenset[Kind]:
        return _AFTER if self._batches else _BEFORE

    def _close_if_refusing(self) -> None:
        refusal = self._plan.refusal(self._kinds)
        if refusal is not None:
            self.shut()
            if refusal.seconds:
                self._start(self._open_again(refusal.seconds))

    async def _open_again(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
        self.open()

    async def _connection(self, plain: socket.socket, fault: AnyFault | None) -> None:
        plain.setblocking(False)
        try:
            is_over = await self._spoil_beginning(plain, fault)
        except BaseException:
            plain.close()
            raise
        if is_over:
            return
        loop = asyncio.get_running_loop()
        reader = asyncio.StreamReader(limit=_PIECE)
        protocol = asyncio.StreamReaderProtocol(reader)
        with suppress(OSError):  # the client may go at any time, or not trust our certificate
            transport, _ = await loop.connect_accepted_socket(lambda: protocol, plain, ssl=self._tls)
            writer = asyncio.StreamWriter(transport, protocol, reader, loop)
            try:
                while await self._exchange(Line(plain, reader, writer)):
                    pass
            except asyncio.CancelledError:
                transport.abort()  # closing would wait until the client has read all
                raise
            finally:
                transport.close()
            await writer.wait_closed()

    async def _spoil_beginning(self, plain: socket.socket, fault: AnyFault | None) -> bool:
        """Apply a fault at the connection; return whether the connection has ended."""
        loop = asyncio.get_running_loop()
        match fault:
            case script.ResetAtAccept():
                _end(plain, rst=fault.rst)
            case script.ResetAfterHello():
                await loop.sock_recv(plain, _PIECE)
                _end(plain, rst=fault.rst)
            case script.GarbageHello():
                await loop.sock_recv(plain, _PIECE)
                await loop.sock_sendall(plain, noise())
                _end(plain, rst=False)
            case script.StallAtAccept():
                await asyncio.sleep(fault.seconds)
                return False
            case _:
                return False
        return True

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
        if self._plan.needs_batch(kind):
            await _read_rest(line, head, body)
        fault = self._faults(kind, body)
        if isinstance(fault, script.RequestFault):
            return await self._spoil_request(fault, kind, head, body, line)
        await _read_rest(line, head, body)
        return await self._reply(fault, kind, head, body, line)

    def _faults(self, kind: Kind, body: bytearray) -> AnyFault | None:
        if self._clock() < self._block[1]:
            return self._block[0]
        fault = self._plan.at_exchange(kind, self._batch(kind, body))
        if isinstance(fault, script.Block):
            self._block = fault, self._clock() + fault.seconds
        return fault

    def _batch(self, kind: Kind, body: bytearray) -> str:
        if kind != "poll":
            return hashlib.sha256(body).hexdigest()
        with suppress(ValueError):
            found = json.loads(body)
            return self._batches.get(str(found.get("request_id")), "") if isinstance(found, dict) else ""
        return ""

    async def _spoil_request(
        self, fault: script.RequestFault, kind: Kind, head: Head, body: bytearray, line: Line
    ) -> bool:
        rst = True
        match fault:
            case script.ResetAfterHeaders():
                rst = fault.rst
            case script.ResetInBody():
                await _read_rest(line, head, body, fault.byte)
                rst = fault.rst
            case script.StallInBody():
                await _read_rest(line, head, body, fault.byte)
        self._note(kind, head, body, fault, None)
        if isinstance(fault, script.StallInBody):
            await asyncio.sleep(fault.seconds)
        await line.end(rst=rst)
        return False

    async def _reply(self, fault: AnyFault | None, kind: Kind, head: Head, body: bytearray, line: Line) -> bool:
        is_asked = fault.billed if isinstance(fault, script.TwinFault) else True
        true = await ask(self._application, head, body) if is_asked else None
        if true is not None and kind == "submit":
            self._remember(true, body)
        self._note(kind, head, body, fault, true)
        answer = true or unasked(kind)
        if isinstance(fault, script.Block):
            answer = blocked(self._block[1] - self._clock(), told=fault.told)
        elif isinstance(fault, script.ReplyFault):
            answer = reply_to(fault, answer, now=self._clock())
        close = self._plan.waits_for_connections or head.header("connection").lower() == "close"
        return await deliver(fault, answer, line, close=close)

    def _remember(self, true: Answer, body: bytearray) -> None:
        with suppress(ValueError, KeyError, TypeError):
            self._batches[json.loads(true.body)["result"]["request_id"]] = hashlib.sha256(body).hexdigest()
            self._close_if_refusing()

    def _note(self, kind: Kind, head: Head, body: bytearray, fault: script.Fault | None, true: Answer | None) -> None:
        name = str(fault.__struct_config__.tag) if fault is not None else ""
        sha256 = hashlib.sha256(body).hexdigest()
        status = true.status if true is not None else 0
        arrival = Arrival(kind, self._clock(), head.length, len(body), sha256, name, true is not None, status)
        self.arrivals.append(arrival)
        if self._tell is not None:
            self._tell(arrival)


def _kind(head: Head, start: bytes | bytearray) -> Kind:
    """The kind of a request by the beginning of its body, because a fault may happen before the rest is read."""
    path, _, _ = head.target.partition("?")
    _, is_vectorize, rest = path.partition(_INDEXES)
    if is_vectorize:
        return _vectorize_kind(head.method, rest)
    if head.method != "POST":
        return "check"
    return "poll" if b'"request_id"' in start[:100] else "submit"


def _vectorize_kind(method: str, path: str) -> Kind:
    match [method, *path.split("/")[2:]]:
        case ["POST", "upsert" | "insert"]:
            return "upload"
        case ["POST", "query"]:
            return "query"
        case ["GET", "info"]:
            return "progress"
        case ["GET", *_] | ["POST", "get_by_ids"]:
            return "lookup"
    return "mutate"


async def _read_rest(line: Line, head: Head, body: bytearray, until: int | None = None) -> None:
    wanted = head.length if until is None else min(until, head.length)
    while len(body) < wanted:
        piece = await line.reader.read(min(wanted - len(body), _PIECE))
        if not piece:
            raise ConnectionResetError
        body += piece


def _close_unless_served(plain: socket.socket, serving: asyncio.Task[None]) -> None:
    """Close the socket of a task that was cancelled, perhaps before its first step."""
    if serving.cancelled():
        plain.close()


def _end(plain: socket.socket, *, rst: bool) -> None:
    if rst:
        reset(plain)
    plain.close()
