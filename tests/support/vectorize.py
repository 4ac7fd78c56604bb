"""A stand-in of Vectorize by docs/vectorize.md, beside the practice service, with what this program asks of it: a file
of indexes, changes and vectors in SQLite.

A change is accepted and made at once, and an index says that it has processed it when it is old enough.
"""

import asyncio
import json
import re
import sqlite3
import time
import uuid
from array import array
from collections.abc import Callable, Iterable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from cfbatch_gui.core.practice.app import Application, Receive, Scope, Send, practice_app
from cfbatch_gui.core.workers_ai import limits
from tests.support import http

Json = dict[str, Any]

_ADDRESS = re.compile(r".*/accounts/(?P<account>\w+)/vectorize/v2/indexes(?:/(?P<name>[^/]+))?(?:/(?P<action>\w+))?")
_MOST_IDS = {"get_by_ids": limits.MAX_READ_IDS, "delete_by_ids": limits.MAX_DELETED_IDS}
_MOST_MATCHES = 100  # of a query that returns neither values nor all metadata
_SCHEMA = """
CREATE TABLE IF NOT EXISTS indexes (key INTEGER PRIMARY KEY, account TEXT, name TEXT, shown TEXT);
CREATE TABLE IF NOT EXISTS changes (
    number INTEGER PRIMARY KEY, index_key INTEGER, mutation_id TEXT, accepted_at REAL, kind TEXT, ids TEXT
);
CREATE TABLE IF NOT EXISTS vectors (
    index_key INTEGER, id TEXT, line TEXT, numbers BLOB, PRIMARY KEY (index_key, id)
) WITHOUT ROWID;
"""


def service_with_indexes(
    folder: Path,
    *,
    seconds_queued: float = 0.0,
    seconds_running: float = 0.0,
    clock: Callable[[], float] = time.time,
    **more: Any,
) -> Application:
    """The practice service, with indexes in its folder, whose changes are processed when `seconds_running` old."""
    times: Json = {"seconds_queued": seconds_queued, "seconds_running": seconds_running, "clock": clock}
    practice = practice_app(folder, **times, **more)

    async def answer(head: http.Head, body: bytes) -> http.Answer:
        return await asyncio.to_thread(_answer, folder / "vectorize.db", seconds_running, clock, head, body)

    indexes = http.application(answer)

    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        await (indexes if _ADDRESS.fullmatch(scope["path"]) else practice)(scope, receive, send)

    return application


class _RefusedError(Exception):
    def __init__(self, status: int, code: int, words: str) -> None:
        super().__init__(words)
        self.status, self.code = status, code


def _check(is_right: bool, code: int, words: str, status: int = 400) -> None:
    if not is_right:
        raise _RefusedError(status, code, words)


def _answer(path: Path, seconds: float, clock: Callable[[], float], head: http.Head, body: bytes) -> http.Answer:
    found = _ADDRESS.fullmatch(head.target.partition("?")[0])
    assert found is not None
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with closing(sqlite3.connect(path, timeout=30, isolation_level=None)) as database:
            database.executescript(_SCHEMA)
            database.execute("BEGIN IMMEDIATE")
            with database:
                account = _Account(database, found["account"].lower(), seconds, clock())
                result = account.answer(head, found["name"] or "", found["action"] or "", body)
    except _RefusedError as error:
        errors = [{"code": error.code, "message": str(error)}]
        return http.as_json(error.status, {"result": None, "success": False, "errors": errors, "messages": []})
    return http.as_json(200, {"result": result, "success": True, "errors": [], "messages": []})


class _Account:
    """The indexes of an account within a transaction, at a moment."""

    def __init__(self, database: sqlite3.Connection, account: str, seconds: float, now: float) -> None:
        self._database, self._account, self._seconds, self._now = database, account, seconds, now

    def answer(self, head: http.Head, name: str, action: str, body: bytes) -> object:
        if not name:
            return self._create(json.loads(body)) if head.method == "POST" else [*self._indexes().values()]
        _check(name in self._indexes(), 3000, f'vectorize.index.not_found - Index name "{name}"', 404)
        shown = self._indexes()[name]
        (key,) = self._rows("SELECT key FROM indexes WHERE account = ? AND name = ?", self._account, name)[0]
        if action == "info":
            return self._info(key, shown)
        if action == "upsert":
            return self._put(key, shown, head, body)
        asked = json.loads(body) if body else {}
        if action == "query":
            return self._nearest(key, shown, asked)
        if action in _MOST_IDS:
            _check(len(asked["ids"]) <= _MOST_IDS[action], 40007, "too many ids in payload")
            return self._read(key, asked["ids"]) if action == "get_by_ids" else self._forget(key, asked["ids"])
        return shown

    def _rows(self, statement: str, *values: object) -> list[Any]:
        return self._database.execute(statement, values).fetchall()

    def _indexes(self) -> dict[str, Json]:
        rows = self._rows("SELECT name, shown FROM indexes WHERE account = ?", self._account)
        return {name: json.loads(shown) for name, shown in rows}

    def _create(self, new: Json) -> Json:
        name, dimensions = new["name"], new["config"]["dimensions"]
        _check(re.fullmatch(limits.INDEX_NAME_FORM, name) is not None, 3001, "vectorize.index.invalid_config - Name")
        _check(32 <= dimensions <= limits.MAX_INDEX_DIMENSIONS, 3001, "vectorize.index.invalid_config - Dimensions")
        _check(name not in self._indexes(), 3002, f'vectorize.index.duplicate_name - Index name "{name}"')
        shown = {"description": "", **new, "created_on": _time(self._now), "modified_on": _time(self._now)}
        row = (self._account, name, json.dumps(shown))
        self._rows("INSERT INTO indexes (account, name, shown) VALUES (?, ?, ?)", *row)
        return shown

    def _accept(self, key: int, kind: str, ids: Iterable[str]) -> Json:
        row = (key, str(uuid.uuid4()), self._now, kind, json.dumps(list(ids)))
        self._rows("INSERT INTO changes (index_key, mutation_id, accepted_at, kind, ids) VALUES (?, ?, ?, ?, ?)", *row)
        return {"mutationId": row[1]}

    def _info(self, key: int, shown: Json) -> Json:
        processed = self._rows(
            "SELECT mutation_id, accepted_at FROM changes WHERE index_key = ? AND accepted_at <= ?"
            " ORDER BY number DESC LIMIT 1",
            key,
            self._now - self._seconds,
        )
        ((count,),) = self._rows("SELECT count(*) FROM vectors WHERE index_key = ?", key)
        return {
            "dimensions": shown["config"]["dimensions"],
            "vectorCount": count,
            "processedUpToMutation": processed[0][0] if processed else None,
            "processedUpToDatetime": _time(processed[0][1] + self._seconds) if processed else None,
        }

    def _put(self, key: int, shown: Json, head: http.Head, body: bytes) -> Json:
        """All of an upload, or nothing."""
        lines = _lines(head, body)
        _check(len(lines) <= limits.MAX_UPLOAD_VECTORS, 40001, "vectorize.limit_exceeded - max vector count")
        vectors = [json.loads(line) for line in lines]
        for each in vectors:
            sizes = (
                (each["id"].encode(), limits.MAX_VECTOR_ID_BYTES, 40008),
                ((each.get("namespace") or "").encode(), limits.MAX_NAMESPACE_BYTES, 40001),
                (_encoded(each.get("metadata", {})), limits.MAX_METADATA_BYTES, 40001),
            )
            for data, most, code in sizes:
                _check(len(data) <= most, code, f"max is {most} bytes, got {len(data)}")
            _check(len(each["values"]) == shown["config"]["dimensions"], 40012, f"invalid vector for id={each['id']}")
        rows = ((key, each["id"], json.dumps({**each, "values": ()}), array("f", each["values"])) for each in vectors)
        self._database.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?, ?)", rows)
        return self._accept(key, "upsert", dict.fromkeys(each["id"] for each in vectors))

    def _forget(self, key: int, ids: list[str]) -> Json:
        self._database.executemany("DELETE FROM vectors WHERE index_key = ? AND id = ?", [(key, each) for each in ids])
        return self._accept(key, "delete", ids)

    def _read(self, key: int, ids: list[str]) -> list[Json]:
        """In the order of ids: that it is another than the request's shows who relies on it."""
        chosen = "SELECT line, numbers FROM vectors WHERE index_key = ? AND id IN (SELECT value FROM json_each(?))"
        rows = self._rows(f"{chosen} ORDER BY id", key, json.dumps(ids))
        return [{**json.loads(line), "values": array("f", numbers).tolist()} for line, numbers in rows]

    def _nearest(self, key: int, shown: Json, asked: Json) -> Json:
        """Exactly: cosines, where more is nearer, or distances or negative products."""
        query, metric, most = np.array(asked["vector"], np.float32), shown["config"]["metric"], asked.get("topK", 5)
        _check(len(query) == shown["config"]["dimensions"], 40006, "invalid query vector")
        _check(most <= _MOST_MATCHES, 40025, f"max top K is {_MOST_MATCHES}, but got {most}")
        rows = self._rows("SELECT id, numbers FROM vectors WHERE index_key = ? ORDER BY id", key)
        vectors = np.frombuffer(b"".join(numbers for _, numbers in rows), np.float32).reshape(-1, len(query))
        scores = np.linalg.norm(vectors - query, axis=1) if metric == "euclidean" else -(vectors @ query)
        if metric == "cosine":
            scores /= -np.linalg.norm(vectors, axis=1) * np.linalg.norm(query)
        order = np.argsort(-scores if metric == "cosine" else scores, kind="stable")[:most].tolist()
        return {"count": len(order), "matches": [{"id": rows[at][0], "score": float(scores[at])} for at in order]}


def _lines(head: http.Head, body: bytes) -> list[bytes]:
    """Of an upload: NDJSON, bare or as the field `vectors` of a form."""
    kind, _, boundary = head.header("content-type").partition("; boundary=")
    if kind == "multipart/form-data":
        start = body.find(b"\r\n\r\n", body.find(b'name="vectors"')) + 4
        body = body[start : body.find(f"\r\n--{boundary}".encode(), start)]
    else:
        _check(kind == "application/x-ndjson", 1005, "vectorize.unknown_content_type")
    _check(len(body) <= limits.MAX_UPLOAD_BYTES, 40001, "vectorize.limit_exceeded - max upload size", 413)
    return [line for line in body.split(b"\n") if line.strip()]


def _encoded(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
