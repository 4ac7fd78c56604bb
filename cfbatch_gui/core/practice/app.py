"""The practice service as an ASGI application: called in-process by the program, served on a port for other clients."""

import asyncio
import io
import logging
import sqlite3
import time
from collections.abc import Awaitable, Callable, Iterator, MutableMapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

from cfbatch_gui.core.practice.local_models import PracticeModel, choose_model
from cfbatch_gui.core.practice.loopback import HOST
from cfbatch_gui.core.practice.queue import Pace
from cfbatch_gui.core.practice.responses import Answer, RefusalError
from cfbatch_gui.core.practice.routes import Route, find_route, most_body_bytes
from cfbatch_gui.core.practice.service import PracticeService
from cfbatch_gui.core.practice.vectorize.service import Permission, VectorizeService
from cfbatch_gui.core.workers_ai.limits import MAX_BODY_BYTES

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

_PIECE_BYTES = 1 << 18
_OWN_HOSTS = (HOST, "localhost", "[::1]")

log = logging.getLogger(__name__)


def practice_app(
    folder: Path,
    *,
    seconds_queued: float,
    seconds_running: float,
    seconds_mutating: float = 0.0,
    clock: Callable[[], float] = time.time,
    token: str = "",
    vectorize_permission: Permission = Permission.WRITE,
    load_model: Callable[[], PracticeModel] = choose_model,
) -> Application:
    """Create the service with its queue and its indexes in `folder`, which is created when it is first needed.

    A batch waits and runs for `seconds_queued` and `seconds_running`; a change to an index of Vectorize is applied
    after `seconds_mutating`. `clock` returns seconds since 1970. With `token` "" any well-formed bearer token is
    accepted; what it may do with Vectorize is `vectorize_permission`. `load_model` is called once, in a worker thread,
    when the first vectors are needed.
    """
    pace = Pace(seconds_queued, seconds_running)
    vectorize = VectorizeService(folder, seconds_mutating, clock, vectorize_permission)
    service = PracticeService(folder, pace, clock, token, load_model=load_model, vectorize=vectorize)

    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            raise RuntimeError(f"the practice service speaks HTTP only, not {scope['type']}")
        route = _route(scope)
        most = MAX_BODY_BYTES + 1 if isinstance(route, RefusalError) else most_body_bytes(route)
        body = await _read(receive, most)
        if body is not None:
            await _send(await _answer(service, scope, route, body), send)

    return application


def for_own_hosts(application: Application, port: Callable[[], int]) -> Application:
    """The service for clients that name it by an address of this computer; `port` is asked for with each request.

    A page of the web can have its own host's name resolve to 127.0.0.1, and would then be allowed by the browser to
    read the answers (DNS rebinding). It cannot change the header Host, which has the name.
    """

    async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
        named = [value.decode("latin-1").lower() for name, value in scope["headers"] if name.lower() == b"host"]
        own = {f"{host}:{port()}" for host in _OWN_HOSTS}
        if len(named) == 1 and named[0] in own:
            await application(scope, receive, send)
        elif await _read(receive, 0) is not None:
            words = f"This service is only for programs on its computer, which call it {HOST}:{port()}"
            await _send(RefusalError(421, (7003, words)).answer(), send)

    return guarded


def _route(scope: Scope) -> Route | RefusalError:
    """The operation that a request calls, or the refusal of its address; known before the body is read."""
    try:
        return find_route(scope["method"], _raw_path(scope), scope["query_string"])
    except RefusalError as refusal:
        return refusal


async def _answer(service: PracticeService, scope: Scope, route: Route | RefusalError, body: bytes) -> Answer:
    headers = {name.lower(): value.decode("latin-1") for name, value in scope["headers"]}
    try:
        if isinstance(route, RefusalError):
            raise route
        service.authorize(headers.get(b"authorization", ""))
        return await asyncio.to_thread(service.answer, route, body, headers.get(b"content-type", ""))
    except RefusalError as refusal:
        return refusal.answer()
    except (sqlite3.Error, OSError):
        log.exception("the practice queue cannot be used")
        return RefusalError(500, (10001, "The practice service cannot use its queue; its disk may be full")).answer()


def _raw_path(scope: Scope) -> bytes:
    """The percent-encoded path; encoded from the decoded one when the ASGI server does not supply it."""
    raw: bytes | None = scope.get("raw_path")
    return quote(scope["path"], safe="/@:").encode() if raw is None else raw.partition(b"?")[0]


async def _read(receive: Receive, most: int) -> bytes | None:
    """The body, or None when the client has disconnected.

    A body that is too large is read to its end and truncated to `most` bytes: an answer before the end of the body
    would reset the connection, and the client would not see the reason.
    """
    body = io.BytesIO()  # gives its bytes away without a copy of them
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        body.write(memoryview(message.get("body", b""))[: most - body.tell()])
        if not message.get("more_body", False):
            return body.getvalue()


async def _send(answer: Answer, send: Send) -> None:
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(answer.length).encode()),
        *((name.encode(), value.encode()) for name, value in answer.headers),
    ]
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    for piece in _pieces(answer):
        await send({"type": "http.response.body", "body": piece, "more_body": True})
    await send({"type": "http.response.body", "body": b"", "more_body": False})


def _pieces(answer: Answer) -> Iterator[bytes]:
    """Yield the body in pieces of about 256 KiB, each larger by one element at most."""
    held = bytearray()
    for chunk in answer.chunks:
        held += chunk
        if len(held) >= _PIECE_BYTES:
            yield bytes(held)
            held.clear()
    if held:
        yield bytes(held)
