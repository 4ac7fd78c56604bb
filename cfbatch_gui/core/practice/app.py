"""The practice service as an ASGI application: called in-process by the program, served on a port for other clients.

What is posted to a model is read strictly by the published schema; but unlike there, a context must have a text.
"""

import asyncio
import hashlib
import hmac
import io
import logging
import random
import re
import sqlite3
import threading
import time
import uuid
import zlib
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, MutableMapping, Sequence
from contextlib import closing, contextmanager
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, Final, Literal, NamedTuple
from urllib.parse import parse_qs, quote, unquote

import msgspec
import numpy as np
import numpy.typing as npt
from msgspec import UNSET, Meta, UnsetType

from cfbatch_gui.core.practice.local_models import PracticeModel, choose_model
from cfbatch_gui.core.system.databases import connect_durably
from cfbatch_gui.core.workers_ai.catalogue import MODELS, ModelMetadata
from cfbatch_gui.core.workers_ai.limits import MAX_BODY_BYTES, MAX_TEXTS_PER_REQUEST

# The queue: one SQLite file, so that accepted batches survive a crash

KEPT_SECONDS: Final = 7 * 24 * 60 * 60
_FAST: Final = 1  # of zlib's levels

# Every body that was ever taken, with the SHA-256 and the size of the bytes as posted; calls that are answered at once
# are not queued. The body goes after seven days, or at once where it is not needed again.
_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS accepted (
    request_id  TEXT PRIMARY KEY,
    account     TEXT NOT NULL,
    model       TEXT NOT NULL,
    sha256      TEXT NOT NULL,
    size        INTEGER NOT NULL,
    accepted_at REAL NOT NULL,
    is_queued   INTEGER NOT NULL,
    body        BLOB
)
"""


class Queue:
    """The queue in a folder, where a batch waits and then runs for so many seconds.

    Each call opens the file and blocks. Processes may share a folder.
    """

    def __init__(self, folder: Path, seconds_queued: float, seconds_running: float) -> None:
        self._path, self._queued, self._running = folder / "practice.db", seconds_queued, seconds_running

    def accept(self, account: str, model: str, body: bytes, now: float, *, is_queued: bool = True) -> str:
        """Store a body on the disk and return its new request id; those older than seven days go.

        Raises sqlite3.Error, OSError.
        """
        request_id = str(uuid.uuid4())
        digest = hashlib.sha256(body).hexdigest()
        packed = zlib.compress(body, _FAST) if is_queued else None
        with self._opened() as database:
            database.execute(
                "UPDATE accepted SET body = NULL WHERE accepted_at < ? AND body IS NOT NULL", (now - KEPT_SECONDS,)
            )
            row = (request_id, account, model, digest, len(body), now, is_queued, packed)
            database.execute("INSERT INTO accepted VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)
        return request_id

    def poll(self, request_id: str, account: str, model: str, now: float) -> str | bytes | None:
        """The status of a batch, or what was posted once it is done; None when unknown or expired."""
        with self._opened() as database:
            row = database.execute(
                "SELECT accepted_at, body FROM accepted WHERE request_id = ? AND account = ? AND model = ? "
                "AND accepted_at >= ? AND body IS NOT NULL",
                (request_id, account, model, now - KEPT_SECONDS),
            ).fetchone()
        if row is None:
            return None
        age = now - row[0]
        if age < self._queued + self._running:
            return "queued" if age < self._queued else "running"
        return zlib.decompress(row[1])

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        """An exclusive transaction, on disk when the block ends, undone if it raises."""
        with closing(connect_durably(self._path)) as database:
            database.executescript(_SCHEMA)
            database.execute("BEGIN IMMEDIATE")  # one that began with reading could not wait for another's end
            with database:
                yield database


Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]
Json = dict[str, Any]
Values = Mapping[str, str]  # of the query and, by their names, of the path

PREFIX: Final = "/client/v4"
HOST: Final = "127.0.0.1"
_OWN_HOSTS: Final = (HOST, "localhost", "[::1]")
_BEARER: Final = re.compile(r"Bearer +([A-Za-z0-9._~+/-]+=*) *\Z", re.IGNORECASE)
_ACCOUNT: Final = r"/accounts/(?P<account>[0-9a-fA-F]{32})"

log = logging.getLogger(__name__)


class Answer(NamedTuple):
    """`body` is JSON."""

    status: int
    body: bytes


class RefusalError(Exception):
    """A refusal: an HTTP status and (code, message) pairs."""

    def __init__(self, status: int, *errors: tuple[int, str]) -> None:
        super().__init__(f"HTTP {status}: {errors}")
        self.status, self.errors = status, errors

    def answer(self) -> Answer:
        envelope = {"result": None, "success": False, "errors": _coded(self.errors), "messages": []}
        return Answer(self.status, msgspec.json.encode(envelope))


def bad_input(reason: str) -> RefusalError:
    """The refusal of a body that breaks the model's schema (5006), worded as the service does."""
    return RefusalError(400, (5006, f"AiError: Bad input: Error: {reason}"))


def success(result: object, *, messages: Iterable[tuple[int, str]] = (), **more: object) -> Answer:
    """The v4 envelope; `more` are further keys beside `result`."""
    envelope = {"result": result, "success": True, "errors": [], "messages": _coded(messages), **more}
    return Answer(200, msgspec.json.encode(envelope))


def _coded(found: Iterable[tuple[int, str]]) -> list[dict[str, object]]:
    return [{"code": code, "message": message} for code, message in found]


def practice_app(
    folder: Path,
    *,
    seconds_queued: float,
    seconds_running: float,
    clock: Callable[[], float] = time.time,
    token: str = "",
    load_model: Callable[[], PracticeModel] = choose_model,
) -> Application:
    """Create the service with its queue in `folder`.

    `clock` returns seconds since 1970. With `token` "" any well-formed bearer token is accepted. `load_model` is
    called in a worker thread.
    """
    return _Service(Queue(folder, seconds_queued, seconds_running), clock, token, load_model)


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
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(answer.body)).encode())]
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    await send({"type": "http.response.body", "body": answer.body})


class _Service:
    """Workers AI. Every operation blocks."""

    def __init__(
        self, queue: Queue, clock: Callable[[], float], token: str, load_model: Callable[[], PracticeModel]
    ) -> None:
        self._queue, self._clock, self._token, self._load_model = queue, clock, token, load_model
        self._one_at_a_time = threading.Lock()  # limits memory to one answer of 50 MB
        self._routes: tuple[tuple[str, str, Callable[[Values, bytes], Answer]], ...] = (
            ("GET", f"(/user|{_ACCOUNT})/tokens/verify", _verify),
            ("GET", f"{_ACCOUNT}/ai/models/search", self._search),
            ("POST", f"{_ACCOUNT}/ai/run/(?P<model>.*[^/].*)", self._run),
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            raise RuntimeError(f"the practice service speaks HTTP only, not {scope['type']}")
        body = await _read(receive, MAX_BODY_BYTES + 1)
        if body is not None:
            await _send(await self._answer(scope, body), send)

    async def _answer(self, scope: Scope, body: bytes) -> Answer:
        """Refusals among them: 404 for an unknown path or method, a malformed account id, a percent-encoded slash."""
        headers = {name.lower(): value.decode("latin-1") for name, value in scope["headers"]}
        try:
            path = _path(scope)
            for method, form, operation in self._routes:
                if method == scope["method"] and (match := re.fullmatch(form, path)):
                    _authorize(headers.get(b"authorization", ""), self._token)
                    query = parse_qs(scope["query_string"].decode("ascii", "replace"))
                    values = {name: values[-1] for name, values in query.items()} | match.groupdict()
                    return await asyncio.to_thread(operation, values, body)
        except RefusalError as refusal:
            return refusal.answer()
        except (sqlite3.Error, OSError):
            log.exception("the practice queue cannot be used")
            words = "The practice service cannot use its queue; its disk may be full"
            return RefusalError(500, (10001, words)).answer()
        words = f"Could not route to {scope['path']}, perhaps your object identifier is invalid?"
        return RefusalError(404, (7003, words), (7000, "No route for that URI")).answer()

    def _search(self, values: Values, _: bytes) -> Answer:
        wanted = values.get("search", "").casefold()
        with self._one_at_a_time:
            engine = self._load_model()
        listed = (_item(model, engine) for model in MODELS)
        items = [each for each in listed if any(wanted in each[name].casefold() for name in ("name", "description"))]
        number, size = _positive(values.get("page", ""), 1), _positive(values.get("per_page", ""), 20)
        page = items[(number - 1) * size : number * size]
        counts = {"count": len(page), "page": number, "per_page": size, "total_count": len(items)}
        return success(page, result_info=counts)

    def _run(self, values: Values, body: bytes) -> Answer:
        account, served = values["account"].lower(), _served(values["model"])
        if len(body) > MAX_BODY_BYTES:
            words = f"Request is too large: {len(body)} bytes, the limit is {MAX_BODY_BYTES + 1}"
            raise RefusalError(413, (3006, words))
        posted = read_body(body, served)
        if isinstance(posted, str):
            return self._poll(account, served, posted)
        if values.get("queueRequest") == "true":  # a bare element too: it is accepted, and fails as a job
            request_id = self._queue.accept(account, served.name, body, self._clock())
            return _waiting("queued", request_id, served)
        if not isinstance(posted, Element):
            raise bad_input("'requests' is for the queue: the address must end in ?queueRequest=true")
        with self._one_at_a_time:
            (vectors,) = _vectors([_prepare(posted, served)], self._load_model())
            result = _result(posted, vectors, served, random.Random(hashlib.sha256(body).hexdigest()))  # noqa: S311
        self._queue.accept(account, served.name, body, self._clock(), is_queued=False)
        return success(result)

    def _poll(self, account: str, served: ModelMetadata, request_id: str) -> Answer:
        found = self._queue.poll(request_id, account, served.name, self._clock())
        if found is None:
            raise RefusalError(400, (5504, "AiError: Request not found in queue"))
        if isinstance(found, str):
            return _waiting(found, request_id, served)
        batch = read_body(found, served)
        if not isinstance(batch, tuple):
            raise RefusalError(500, (5001, "AiError: Model execution failed: the body had no 'requests'"))
        with self._one_at_a_time:
            return success(run_batch(request_id, batch, served, self._load_model()))


def _path(scope: Scope) -> str:
    """Decoded; "" where a slash is percent-encoded."""
    raw: bytes | None = scope.get("raw_path")
    undecoded = (quote(scope["path"], safe="/@:").encode() if raw is None else raw.partition(b"?")[0]).decode("latin-1")
    parts = [unquote(part) for part in undecoded.removeprefix(PREFIX).split("/")]
    return "" if any("/" in part for part in parts) else "/".join(parts)


def _verify(_: Values, __: bytes) -> Answer:
    valid = (10000, "This API Token is valid and active")
    return success({"id": "practice", "status": "active"}, messages=[valid])


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
        "name": model.name,
        "description": f"{model.title}. Practice stand-in: the vectors are made on this computer by {engine.name} "
        f"({engine.dimension} dimensions), not by the real model.",
        "task": {"name": "Text Embeddings"},
        "properties": [{"property_id": key, "value": value} for key, value in properties.items()],
    }


def _served(name: str) -> ModelMetadata:
    for model in MODELS:
        if model.name == name:
            return model
    raise RefusalError(400, (5007, f"No such model {name} or task"))


def _waiting(status: str, request_id: str, served: ModelMetadata) -> Answer:
    return success({"status": status, "request_id": request_id, "model": served.name})


def _positive(text: str, otherwise: int) -> int:
    return int(text) if text.isascii() and text.isdigit() and 0 < int(text) <= 1000 else otherwise


# What is posted to a model, and what it answers: scores and vectors, in any order

_AI_ERROR: Final = "AiError: "
_DECIMALS = 7  # of a component of a unit vector: about float32's own precision, and half of its digits

# A practice token, the same whichever model makes the vectors: up to four letters or digits of one word, up to three
# signs of punctuation, one character of a script written without spaces, or any other sign; white space has none. For
# English prose that is about one token for four characters, for Chinese and Japanese one a character, as with the XLM-R
# tokenizer of bge-m3.
_TOKEN = re.compile(
    r"[^\W_\u0e00-\u0eff\u1100-\u11ff\u2e80-\ua4cf\uac00-\ud7ff\uf900-\ufaff\U00020000-\U0003ffff]{1,4}"
    r"|[!-/:-@\[-`{-~]{1,3}"
    r"|\S"
)
_NonEmpty = Annotated[str, Meta(min_length=1)]
_Texts = Annotated[list[_NonEmpty], Meta(max_length=MAX_TEXTS_PER_REQUEST)]


class Candidate(msgspec.Struct, frozen=True):
    """One context."""

    text: _NonEmpty


class Element(msgspec.Struct, frozen=True):
    """One inference: `contexts` with or without a `query`, or `text`."""

    query: _NonEmpty | UnsetType = UNSET
    contexts: list[Candidate] | UnsetType = UNSET
    text: _NonEmpty | _Texts | UnsetType = UNSET
    truncate_inputs: bool | UnsetType = UNSET
    pooling: Literal["mean", "cls"] | UnsetType = UNSET
    external_reference: str | None = None


class _Body(Element, frozen=True):
    requests: list[Element] | UnsetType = UNSET
    request_id: str | UnsetType = UNSET


Batch = tuple[Element, ...]


def read_body(data: bytes, model: ModelMetadata) -> str | Batch | Element:
    """The request id of a poll, a batch or a bare element. Raises RefusalError (400, 5006)."""
    try:
        body = msgspec.json.decode(data, type=_Body)
    except msgspec.DecodeError as problem:  # ValidationError is one of them
        raise bad_input(str(problem)) from None
    except UnicodeDecodeError:
        raise bad_input("the body is not UTF-8") from None
    except RecursionError:
        raise bad_input("the body is nested too deeply") from None
    _check_one_of(body, "/", "contexts", "text", "requests", "request_id")
    if body.request_id is not UNSET:
        return body.request_id
    if body.requests is not UNSET:
        for number, element in enumerate(body.requests):
            _check(element, f"/requests/{number}", model)
        return tuple(body.requests)
    _check(body, "/", model)
    return body


def _check(element: Element, where: str, model: ModelMetadata) -> None:
    if not model.can_rank and (element.query is not UNSET or element.contexts is not UNSET):
        raise bad_input(f"required properties at '{where}' are 'text'; {model.name} takes no query and no contexts")
    _check_one_of(element, where, "contexts", "text")


def _check_one_of(element: Element, where: str, *names: str) -> None:
    forms = [name for name in names if getattr(element, name) is not UNSET]
    if len(forms) != 1:
        matches = ", ".join(forms) or f"required properties at '{where}' are 'contexts' or 'text'"
        raise bad_input(f"oneOf at '{where}' not met, {len(forms)} matches: {matches}")


def run_batch(request_id: str, batch: Batch, served: ModelMetadata, engine: PracticeModel) -> dict[str, object]:
    """The result of a finished batch, by the arguments alone.

    Elements, and the scores within one, are shuffled with `request_id` as the seed and never in the given order. An
    element that is too long fails by itself.
    """
    disorder = random.Random(request_id)  # noqa: S311
    answers: dict[int, msgspec.Raw] = {}
    texts: dict[int, tuple[str, ...]] = {}
    for number, element in enumerate(batch):
        try:
            texts[number] = _prepare(element, served)
        except RefusalError as refusal:
            words = refusal.errors[0][1].removeprefix(_AI_ERROR)
            answers[number] = _answered(number, element, success=False, error=words)
    for number, vectors in zip(texts, _vectors([*texts.values()], engine), strict=True):
        result = _result(batch[number], vectors, served, disorder)
        answers[number] = _answered(number, batch[number], result=result, success=True)
    counted = sum(count_tokens(text) for each in texts.values() for text in each)
    return {
        "responses": [answers[number] for number in _disordered(len(batch), disorder)],
        "usage": {"prompt_tokens": counted, "completion_tokens": 0, "total_tokens": counted},
    }


def _prepare(element: Element, served: ModelMetadata) -> tuple[str, ...]:
    """The texts of an element (a query first), truncated where asked. Raises RefusalError for what is too long."""
    texts, most = _texts(element), served.max_tokens
    longest = max(map(count_tokens, texts), default=0)
    if longest > most:
        if not (served.can_truncate and element.truncate_inputs is True):
            raise RefusalError(400, (3030, f"{_AI_ERROR}Sequence too long: {longest} > {most}"))
        texts, longest = tuple(cut(text, most) for text in texts), most
    padded, limit = longest * len(texts), served.padded_tokens
    if 0 < limit < padded:
        words = f"{_AI_ERROR}Max context reached {padded} tokens but model supports only {limit}"
        raise RefusalError(400, (3030, words))
    return texts


def _texts(element: Element) -> tuple[str, ...]:
    if element.contexts is not UNSET:
        query = () if element.query is UNSET else (element.query,)
        return (*query, *(context.text for context in element.contexts))
    if isinstance(element.text, str):
        return (element.text,)
    return () if element.text is UNSET else tuple(element.text)


def _vectors(elements: Sequence[tuple[str, ...]], engine: PracticeModel) -> Iterator[npt.NDArray[np.float32]]:
    """The vectors of each element's texts; each text is embedded once."""
    rows_of: dict[str, int] = {}
    for text in chain.from_iterable(elements):
        rows_of.setdefault(text, len(rows_of))
    vectors = engine.embed(list(rows_of))
    for texts in elements:
        yield vectors[[rows_of[text] for text in texts]]


def _result(
    element: Element, vectors: npt.NDArray[np.float32], served: ModelMetadata, disorder: random.Random
) -> dict[str, object]:
    if element.contexts is not UNSET and element.query is not UNSET:
        scores = (vectors[1:] @ vectors[0]).astype(np.float16).astype(np.float64).tolist()
        order = _disordered(len(scores), disorder)
        return {"response": [{"id": number, "score": scores[number]} for number in order]}
    rows = np.round(vectors.astype(np.float64), _DECIMALS).tolist()
    shape = list(vectors.shape)
    if element.contexts is not UNSET:
        return {"response": rows, "shape": shape, "pooling": "cls"}
    usual = served.poolings[0] if served.poolings else "cls"
    asked = usual if served.can_rank or element.pooling is UNSET else element.pooling
    return {"shape": shape, "data": rows, "pooling": asked}


def _answered(number: int, element: Element, **outcome: object) -> msgspec.Raw:
    """As bytes, which take a fraction of the room."""
    answer = {"id": number, **outcome, "external_reference": element.external_reference}
    return msgspec.Raw(msgspec.json.encode(answer))


def _disordered(count: int, disorder: random.Random) -> list[int]:
    """0 … count - 1 shuffled, for two or more never in order."""
    numbers = list(range(count))
    disorder.shuffle(numbers)
    if numbers == sorted(numbers):
        numbers = numbers[1:] + numbers[:1]
    return numbers


def count_tokens(text: str) -> int:
    """Practice tokens of a text; 0 for white space alone."""
    return len(_TOKEN.findall(text))


def cut(text: str, limit: int) -> str:
    """The longest beginning of at most `limit` tokens."""
    for number, match in enumerate(_TOKEN.finditer(text)):
        if number == limit:
            return text[: match.start()]
    return text
