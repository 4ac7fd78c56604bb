"""The practice service as an ASGI application: called in-process by the program, served on a port for other clients."""

import asyncio
import hashlib
import hmac
import io
import logging
import re
import sqlite3
import threading
import time
import uuid
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qs, quote, unquote

from cfbatch_gui.core.practice.exchange import (
    Answer,
    Operation,
    RefusalError,
    Request,
    bad_input,
    no_route,
    success,
)
from cfbatch_gui.core.practice.inference import Element, Poll, TooLongError, read_body, run_batch, run_one
from cfbatch_gui.core.practice.local_models import PracticeModel, choose_model
from cfbatch_gui.core.practice.queue import Queue, State
from cfbatch_gui.core.practice.vectorize import VectorizeIndexes
from cfbatch_gui.core.workers_ai.catalogue import MODELS, ModelMetadata
from cfbatch_gui.core.workers_ai.limits import MAX_BODY_BYTES, MAX_TEXTS_PER_REQUEST, MAX_UPLOAD_BYTES

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]
Json = dict[str, Any]
Table = list[tuple[str, re.Pattern[str], Operation]]

PREFIX: Final = "/client/v4"
HOST: Final = "127.0.0.1"
_OWN_HOSTS: Final = (HOST, "localhost", "[::1]")
_FRAMING_BYTES: Final = 1 << 16  # of multipart/form-data around the lines of an upload
_BEARER: Final = re.compile(r"Bearer +([A-Za-z0-9._~+/-]+=*) *\Z", re.IGNORECASE)
_ACCOUNT: Final = r"/accounts/(?P<account>[0-9a-fA-F]{32})"

log = logging.getLogger(__name__)


def practice_app(
    folder: Path,
    *,
    seconds_queued: float,
    seconds_running: float,
    seconds_mutating: float = 0.0,
    clock: Callable[[], float] = time.time,
    token: str = "",
    load_model: Callable[[], PracticeModel] = choose_model,
) -> Application:
    """Create the service with its queue and its indexes in `folder`.

    `clock` returns seconds since 1970. With `token` "" any well-formed bearer token is accepted. `load_model` is
    called once, in a worker thread.
    """
    service = _Service(Queue(folder, seconds_queued, seconds_running), clock, load_model)
    vectorize = VectorizeIndexes(folder, seconds_mutating, clock)
    table = [(method, re.compile(path), operation) for method, path, operation in service.operations()]
    table += [
        (method, re.compile(f"{_ACCOUNT}/vectorize/v2/indexes{path}"), operation)
        for method, path, operation in vectorize.operations()
    ]

    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            raise RuntimeError(f"the practice service speaks HTTP only, not {scope['type']}")
        is_upload = scope["path"].endswith(("/upsert", "/insert"))
        body = await _read(receive, MAX_UPLOAD_BYTES + _FRAMING_BYTES if is_upload else MAX_BODY_BYTES + 1)
        if body is not None:
            await _send(await _answer(table, token, scope, body), send)

    return application


def for_own_hosts(application: Application, port: int) -> Application:
    """The service for clients that name it by an address of this computer.

    A web page can have its own name resolve to 127.0.0.1 (DNS rebinding), but cannot change the header Host.
    """

    async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
        named = [value.decode("latin-1").lower() for name, value in scope["headers"] if name.lower() == b"host"]
        if len(named) == 1 and named[0] in {f"{host}:{port}" for host in _OWN_HOSTS}:
            await application(scope, receive, send)
        elif await _read(receive, 0) is not None:
            words = f"This service is only for programs on its computer, which call it {HOST}:{port}"
            await _send(RefusalError(421, (7003, words)).answer(), send)

    return guarded


async def _answer(table: Table, token: str, scope: Scope, body: bytes) -> Answer:
    headers = {name.lower(): value.decode("latin-1") for name, value in scope["headers"]}
    try:
        operation, values = _find(table, scope)
        _authorize(headers.get(b"authorization", ""), token)
        return await asyncio.to_thread(operation, Request(values, body, headers.get(b"content-type", "")))
    except RefusalError as refusal:
        return refusal.answer()
    except (sqlite3.Error, OSError):
        log.exception("the practice queue cannot be used")
        return RefusalError(500, (10001, "The practice service cannot use its queue; its disk may be full")).answer()


def _find(table: Table, scope: Scope) -> tuple[Operation, Mapping[str, str]]:
    """The operation of a request, with its values.

    Raises RefusalError: 404 for an unknown path, a malformed account id or a percent-encoded slash; 405 for the
    wrong method.
    """
    raw: bytes | None = scope.get("raw_path")
    undecoded = (quote(scope["path"], safe="/@:").encode() if raw is None else raw.partition(b"?")[0]).decode("latin-1")
    parts = [unquote(part) for part in undecoded.removeprefix(PREFIX).split("/")]
    path = "" if any("/" in part for part in parts) else "/".join(parts)
    found = [(method, match, operation) for method, form, operation in table if (match := form.fullmatch(path))]
    for method, match, operation in found:
        if method == scope["method"]:
            query = parse_qs(scope["query_string"].decode("ascii", "replace"))
            return operation, {name: values[-1] for name, values in query.items()} | match.groupdict()
    if found:
        allowed = (("allow", found[0][0]),)
        raise RefusalError(405, (10405, "Method not allowed for this authentication scheme"), headers=allowed)
    raise no_route(undecoded)


def _authorize(authorization: str, token: str) -> None:
    """Raises RefusalError: 400/9106 for no bearer token, 401/10000 for a wrong one."""
    found = _BEARER.match(authorization)
    if found is None:
        raise RefusalError(400, (9106, "Missing or malformed Authorization header: a bearer token is needed"))
    if token and not hmac.compare_digest(found[1].encode(), token.encode()):
        raise RefusalError(401, (10000, "Authentication error"))


async def _read(receive: Receive, most: int) -> bytes | None:
    """The body, or None when the client has disconnected.

    One that is too large is read to its end and cut to `most` bytes: an early answer would reset the connection
    before the client sees the reason.
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
        (b"content-length", str(len(answer.body)).encode()),
        *((name.encode(), value.encode()) for name, value in answer.headers),
    ]
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    await send({"type": "http.response.body", "body": answer.body})


class _Service:
    """Workers AI, independent of HTTP. Every operation blocks."""

    def __init__(self, queue: Queue, clock: Callable[[], float], load_model: Callable[[], PracticeModel]) -> None:
        self._queue, self._clock, self._load_model = queue, clock, load_model
        self._loaded: PracticeModel | None = None
        self._one_at_a_time = threading.Lock()  # limits memory to one answer of 50 MB, and loads the model once

    def operations(self) -> list[tuple[str, str, Operation]]:
        return [
            ("GET", "/user/tokens/verify", _verify),
            ("GET", f"{_ACCOUNT}/tokens/verify", _verify),
            ("GET", f"{_ACCOUNT}/ai/models/search", self._search),
            ("GET", f"{_ACCOUNT}/ai/models/schema", _schema),
            ("POST", f"{_ACCOUNT}/ai/run/(?P<model>.*[^/].*)", self._run),
        ]

    def _search(self, request: Request) -> Answer:
        values = request.values
        with self._one_at_a_time:
            items = _listed(values.get("search", ""), self._model())
        number, size = _positive(values.get("page", ""), 1), _positive(values.get("per_page", ""), 20)
        page = items[(number - 1) * size : number * size]
        counts = {"count": len(page), "page": number, "per_page": size, "total_count": len(items)}
        return success(page, result_info=counts)

    def _run(self, request: Request) -> Answer:
        values, body = request.values, request.body
        account, served = values["account"].lower(), _served(values["model"])
        if len(body) > MAX_BODY_BYTES:
            words = f"Request is too large: {len(body)} bytes, the limit is {MAX_BODY_BYTES + 1}"
            raise RefusalError(413, (3006, words))
        posted = read_body(body, served)
        if isinstance(posted, Poll):
            return self._poll(account, served, posted.request_id)
        if values.get("queueRequest") == "true":  # a bare element too: it is accepted, and fails as a job
            request_id = self._queue.accept(account, served.name, body, self._clock())
            return _waiting(State.QUEUED, request_id, served)
        if not isinstance(posted, Element):
            raise bad_input("'requests' is for the queue: the address must end in ?queueRequest=true")
        try:
            with self._one_at_a_time:
                result = run_one(hashlib.sha256(body).hexdigest(), posted, served, self._model())
        except TooLongError as problem:
            raise RefusalError(400, (3030, f"AiError: {problem}")) from None
        self._queue.accept(account, served.name, body, self._clock(), is_queued=False)
        return success(result)

    def _poll(self, account: str, served: ModelMetadata, request_id: str) -> Answer:
        found = self._queue.poll(request_id, account, served.name, self._clock())
        if found is None:
            raise RefusalError(400, (5504, "AiError: Request not found in queue"))
        state, body = found
        if state is not State.DONE:
            return _waiting(state, request_id, served)
        batch = read_body(body, served)
        if not isinstance(batch, tuple):
            raise RefusalError(500, (5001, "AiError: Model execution failed: the body had no 'requests'"))
        with self._one_at_a_time:
            return success(run_batch(request_id, batch, served, self._model()))

    def _model(self) -> PracticeModel:
        if self._loaded is None:
            self._loaded = self._load_model()
        return self._loaded


def _verify(_: Request) -> Answer:
    valid = (10000, "This API Token is valid and active")
    return success({"id": "practice", "status": "active"}, messages=[valid])


def _schema(request: Request) -> Answer:
    """The published one, without its descriptions and the forms of answers."""
    can_rank = _served(request.values.get("model", "")).can_rank
    options = {"truncate_inputs": _TRUNCATE} if can_rank else {"pooling": _POOLING}
    forms: list[Json] = [{"properties": {"text": _TEXT, **options}, "required": ["text"]}]
    if can_rank:
        contexts = {"query": _ONE_TEXT, "contexts": _CONTEXTS, **options}
        forms.insert(0, {"properties": contexts, "required": ["contexts"]})
    requests = {"type": "array", "items": {"type": "object", "oneOf": forms}}
    batch = {"properties": {"requests": requests}, "required": ["requests"]}
    return success({"input": {"type": "object", "oneOf": [*forms, batch]}, "output": {"type": "object"}})


_ONE_TEXT: Final[Json] = {"type": "string", "minLength": 1}
_TEXTS: Final[Json] = {"type": "array", "items": _ONE_TEXT, "maxItems": MAX_TEXTS_PER_REQUEST}
_TEXT: Final[Json] = {"oneOf": [_ONE_TEXT, _TEXTS]}
_CONTEXTS: Final[Json] = {"type": "array", "items": {"type": "object", "properties": {"text": _ONE_TEXT}}}
_TRUNCATE: Final[Json] = {"type": "boolean", "default": False}
_POOLING: Final[Json] = {"type": "string", "enum": ["mean", "cls"], "default": "mean"}


def _listed(words: str, engine: PracticeModel) -> list[Json]:
    """Models whose name or description holds `words`; the dimension is the practice model's."""
    items, wanted = (_item(model, engine) for model in MODELS), words.casefold()
    return [item for item in items if wanted in item["name"].casefold() or wanted in item["description"].casefold()]


def _item(model: ModelMetadata, engine: PracticeModel) -> Json:
    properties: Json = {
        "async_queue": "true",
        "context_window": str(model.padded_tokens or model.max_tokens),
        "max_input_tokens": str(model.max_tokens),
        "output_dimensions": str(engine.dimension),
        "price": [{"unit": "per M input tokens", "price": model.dollars_per_million, "currency": "USD"}],
    }
    return {
        "id": str(uuid.uuid5(uuid.NAMESPACE_URL, model.name)),
        "source": 1,
        "name": model.name,
        "description": f"{model.title}. Practice stand-in: the vectors are made on this computer by {engine.name} "
        f"({engine.dimension} dimensions), not by the real model.",
        "task": {"id": str(uuid.uuid5(uuid.NAMESPACE_URL, "Text Embeddings")), "name": "Text Embeddings"},
        "tags": [],
        "properties": [{"property_id": key, "value": value} for key, value in properties.items()],
    }


def _served(name: str) -> ModelMetadata:
    for model in MODELS:
        if model.name == name:
            return model
    raise RefusalError(400, (5007, f"No such model {name} or task"))


def _waiting(state: State, request_id: str, served: ModelMetadata) -> Answer:
    return success({"status": state, "request_id": request_id, "model": served.name})


def _positive(text: str, otherwise: int) -> int:
    return int(text) if text.isascii() and text.isdigit() and 0 < int(text) <= 1000 else otherwise
