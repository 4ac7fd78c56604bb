"""What this program asks of Vectorize, in the practice service, by docs/vectorize.md: a file of indexes, changes and
vectors in SQLite.

A change is accepted and made at once, and an index says that it has processed it when it is old enough.
"""

import math
import re
import sqlite3
import uuid
from array import array
from collections.abc import Callable, Collection, Iterator, Sequence
from datetime import UTC, datetime
from email.message import Message
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, Final, Literal, NamedTuple, TypeVar

import msgspec
import numpy as np
from msgspec import UNSET, Meta, UnsetType

from cfbatch_gui.core.practice.exchange import Answer, Operation, RefusalError, Request, success
from cfbatch_gui.core.practice.queue import opened
from cfbatch_gui.core.workers_ai import limits

Json = dict[str, Any]
_Form = TypeVar("_Form")

_BLOCK: Final = 2_000  # vectors that are compared at once
_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS indexes (key INTEGER PRIMARY KEY, account TEXT, name TEXT, shown TEXT);
CREATE TABLE IF NOT EXISTS changes (
    number INTEGER PRIMARY KEY, index_key INTEGER, mutation_id TEXT, accepted_at REAL, kind TEXT, ids TEXT
);
CREATE TABLE IF NOT EXISTS vectors (
    index_key INTEGER, id TEXT, namespace TEXT, metadata TEXT, numbers BLOB, PRIMARY KEY (index_key, id)
) WITHOUT ROWID;
"""


class _Config(msgspec.Struct, frozen=True):
    dimensions: int
    metric: Literal["cosine", "euclidean", "dot-product"]


class _NewIndex(msgspec.Struct, frozen=True):
    name: str
    config: _Config
    description: str = ""


class _Vector(msgspec.Struct, frozen=True, omit_defaults=True):
    id: Annotated[str, Meta(min_length=1)]
    values: list[float]
    namespace: str | None = None
    metadata: Json | UnsetType = UNSET


class _Ids(msgspec.Struct, frozen=True):
    ids: list[str]


class _Query(msgspec.Struct, frozen=True, rename="camel"):
    vector: list[float]
    top_k: Annotated[float, Meta(ge=1)] = 5


class _Index(NamedTuple):
    """One index within a transaction."""

    database: sqlite3.Connection
    key: int
    shown: Json

    def vectors(self, columns: str, where: str = "", *values: object) -> sqlite3.Cursor:
        """In the order of ids."""
        return self.database.execute(
            f"SELECT {columns} FROM vectors WHERE index_key = ? {where} ORDER BY id",  # noqa: S608
            (self.key, *values),
        )


class VectorizeIndexes:
    """The indexes in a folder. A change is processed when it is `seconds` old."""

    def __init__(self, folder: Path, seconds: float, clock: Callable[[], float]) -> None:
        self._path, self._seconds, self._clock = folder / "vectorize.db", seconds, clock

    def operations(self) -> list[tuple[str, str, Operation]]:
        index = "/(?P<name>[^/]+)"
        return [
            ("GET", "", self._list),
            ("POST", "", self._create),
            ("GET", index, self._on_index(lambda found, _: found.shown)),
            ("GET", f"{index}/info", self._on_index(self._describe)),
            ("POST", f"{index}/upsert", self._on_index(self._put)),
            ("POST", f"{index}/get_by_ids", self._on_index(_get)),
            ("POST", f"{index}/delete_by_ids", self._on_index(self._forget)),
            ("POST", f"{index}/query", self._on_index(_query)),
        ]

    def _on_index(self, do: Callable[[_Index, Request], object]) -> Operation:
        """An operation in one transaction."""

        def operation(request: Request) -> Answer:
            name = request.values["name"]
            with opened(self._path, _SCHEMA) as database:
                for index in _indexes(database, request):
                    if index.shown["name"] == name:
                        return success(do(index, request))
            raise RefusalError(404, (3000, f'vectorize.index.not_found - Index name "{name}"'))

        return operation

    def _list(self, request: Request) -> Answer:
        with opened(self._path, _SCHEMA) as database:
            return success([index.shown for index in _indexes(database, request)])

    def _create(self, request: Request) -> Answer:
        new = _read(request, _NewIndex)
        lowest, highest = limits.MIN_INDEX_DIMENSIONS, limits.MAX_INDEX_DIMENSIONS
        wrong = ""
        if len(new.name) > limits.MAX_INDEX_NAME_BYTES or re.fullmatch(limits.INDEX_NAME_FORM, new.name) is None:
            wrong = f"Name must match ^({limits.INDEX_NAME_FORM})$"
        elif not lowest <= new.config.dimensions <= highest:
            wrong = f"Dimensions must be in range: [{lowest}, {highest}]"
        if wrong:
            raise RefusalError(400, (3001, f"vectorize.index.invalid_config - {wrong}"))
        now = _time(self._clock())
        shown = {**msgspec.to_builtins(new), "created_on": now, "modified_on": now}
        with opened(self._path, _SCHEMA) as database:
            names = [index.shown["name"] for index in _indexes(database, request)]
            if new.name in names:
                raise RefusalError(400, (3002, f'vectorize.index.duplicate_name - Index name "{new.name}"'))
            _limit(len(names) + 1, limits.MAX_INDEXES, "index count")
            row = (request.values["account"].lower(), new.name, _encoded(shown))
            database.execute("INSERT INTO indexes (account, name, shown) VALUES (?, ?, ?)", row)
        return success(shown)

    def _accept(self, index: _Index, kind: str, ids: Collection[str]) -> Json:
        mutation_id = str(uuid.uuid4())
        index.database.execute(
            "INSERT INTO changes (index_key, mutation_id, accepted_at, kind, ids) VALUES (?, ?, ?, ?, ?)",
            (index.key, mutation_id, self._clock(), kind, _encoded(list(ids))),
        )
        return {"mutationId": mutation_id}

    def _describe(self, index: _Index, _: Request) -> Json:
        change = index.database.execute(
            "SELECT mutation_id, accepted_at FROM changes "
            "WHERE index_key = ? AND accepted_at <= ? ORDER BY number DESC LIMIT 1",
            (index.key, self._clock() - self._seconds),
        ).fetchone()
        return {
            "dimensions": index.shown["config"]["dimensions"],
            "vectorCount": index.vectors("count(*)").fetchone()[0],
            "processedUpToMutation": change and change[0],
            "processedUpToDatetime": change and _time(change[1] + self._seconds),
        }

    def _put(self, index: _Index, request: Request) -> Json:
        vectors = {each.id: each for each in _vectors(request, index.shown["config"]["dimensions"])}
        rows = (
            (index.key, each.id, each.namespace or None, _encoded(each.metadata), array("f", each.values))
            for each in vectors.values()
        )
        index.database.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?, ?, ?)", rows)
        return self._accept(index, "upsert", vectors)

    def _forget(self, index: _Index, request: Request) -> Json:
        ids = _ids(request, limits.MAX_DELETED_IDS)
        rows = [(index.key, each) for each in ids]
        index.database.executemany("DELETE FROM vectors WHERE index_key = ? AND id = ?", rows)
        return self._accept(index, "delete", dict.fromkeys(ids))


def _indexes(database: sqlite3.Connection, request: Request) -> Iterator[_Index]:
    account = request.values["account"].lower()
    for key, shown in database.execute("SELECT key, shown FROM indexes WHERE account = ?", (account,)).fetchall():
        yield _Index(database, key, msgspec.json.decode(shown))


def _get(index: _Index, request: Request) -> list[_Vector]:
    """In the order of ids: that it is another than the request's shows who relies on it."""
    ids = msgspec.json.encode(_ids(request, limits.MAX_READ_IDS)).decode()
    found = index.vectors("id, namespace, metadata, numbers", "AND id IN (SELECT value FROM json_each(?))", ids)
    return [
        _Vector(key, array("f", numbers).tolist(), namespace, msgspec.json.decode(metadata) if metadata else UNSET)
        for key, namespace, metadata, numbers in found
    ]


def _query(index: _Index, request: Request) -> Json:
    """The nearest vectors, exactly: cosines, where more is nearer, or distances or negative products."""
    query = _read(request, _Query)
    dimensions, metric = index.shown["config"]["dimensions"], index.shown["config"]["metric"]
    if len(query.vector) != dimensions:
        raise RefusalError(400, (40006, f"invalid query vector, {_lengths(dimensions, len(query.vector))}"))
    if query.top_k > limits.MAX_MATCHES:
        raise RefusalError(400, (40025, f"max top K is {limits.MAX_MATCHES}, but got {int(query.top_k)}"))
    wanted = np.asarray(query.vector, dtype=np.float32).astype(np.float64)
    sign = -1.0 if metric == "cosine" else 1.0
    rows = index.vectors("id, numbers")
    best: list[tuple[float, str]] = []
    while block := list(islice(rows, _BLOCK)):
        scores = _scores(b"".join(numbers for _, numbers in block), wanted, metric)
        ids = (key for key, _ in block)
        best = sorted((*best, *zip(scores, ids, strict=True)), key=lambda each: sign * each[0])[: int(query.top_k)]
    return {"count": len(best), "matches": [{"id": key, "score": score} for score, key in best]}


def _scores(numbers: bytes, query: Any, metric: str) -> list[float]:
    block = np.frombuffer(numbers, dtype=np.float32).reshape(-1, len(query)).astype(np.float64)
    found = np.linalg.norm(block - query, axis=1) if metric == "euclidean" else -(block @ query)
    if metric == "cosine":
        lengths = np.linalg.norm(block, axis=1) * np.linalg.norm(query)
        found = np.divide(-found, lengths, out=np.zeros_like(found), where=lengths > 0)
    scores: list[float] = found.tolist()
    return scores


def _vectors(request: Request, dimensions: int) -> Iterator[_Vector]:
    """The vectors of an upload: NDJSON, bare or as the field `vectors` of a form. Raises RefusalError."""
    decoder, count = msgspec.json.Decoder(_Vector), 0
    for number, line in enumerate(_lines(request)):
        if not line.strip():
            continue
        count += 1
        _limit(count, limits.MAX_UPLOAD_VECTORS, "vector count")
        try:
            vector = decoder.decode(line)
            if not all(map(math.isfinite, array("f", vector.values))):
                raise msgspec.ValidationError("a value does not fit into float32")
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as problem:
            words = f"failed to parse upsert vectors request in ndjson format: line Some({number}) was not expected"
            raise RefusalError(400, (40023, f"vectorize.upstream_error - {words} format: {problem}")) from None
        _check_ids([vector.id])
        if len(vector.values) != dimensions:
            words = f'invalid vector for id="{vector.id}", {_lengths(dimensions, len(vector.values))}'
            raise RefusalError(400, (40012, words))
        _limit(len((vector.namespace or "").encode()), limits.MAX_NAMESPACE_BYTES, "namespace size")
        _limit(len(_encoded(vector.metadata) or b""), limits.MAX_METADATA_BYTES, "metadata size")
        yield vector


def _lines(request: Request) -> list[bytes]:
    header = Message()
    header["content-type"] = request.content_type
    body, start, end = request.body, 0, len(request.body)
    if header.get_content_type() == "multipart/form-data":
        start = body.find(b"\r\n\r\n", body.find(b'name="vectors"')) + 4
        end = body.find(f"\r\n--{header.get_param('boundary')}".encode(), start)
    elif header.get_content_type() != "application/x-ndjson":
        raise RefusalError(400, (1005, "vectorize.unknown_content_type"))
    _limit(end - start, limits.MAX_UPLOAD_BYTES, "upload size", status=413)
    return body[start:end].split(b"\n")


def _read(request: Request, form: type[_Form]) -> _Form:
    try:
        return msgspec.json.decode(request.body, type=form)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as problem:
        raise RefusalError(400, (40026, f"Failed to parse the request body as JSON: {problem}")) from None


def _ids(request: Request, most: int) -> list[str]:
    ids = _read(request, _Ids).ids
    if len(ids) > most:
        raise RefusalError(400, (40007, f"too many ids in payload; max id count is {most}, got {len(ids)}"))
    _check_ids(ids)
    return ids


def _check_ids(ids: Sequence[str]) -> None:
    for size in map(len, map(str.encode, ids)):
        if size > limits.MAX_VECTOR_ID_BYTES:
            most = limits.MAX_VECTOR_ID_BYTES
            raise RefusalError(400, (40008, f"id too long; max is {most} bytes, got {size} bytes"))


def _limit(found: int, most: int, words: str, *, status: int = 400) -> None:
    if found > most:
        raise RefusalError(status, (40001, f"vectorize.limit_exceeded - max {words} is {most}, got {found}"))


def _lengths(expected: int, found: int) -> str:
    return f"expected {expected} dimensions, and got {found} dimensions"


def _encoded(value: Json | list[str] | UnsetType) -> str | None:
    return None if value is UNSET else msgspec.json.encode(value).decode()


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
