"""A stand-in of Vectorize by docs/vectorize.md, beside the practice service, with what this program asks of it.

A change is accepted and made at once, and an index says that it has processed it when it is old enough.
"""

import asyncio
import json
import pickle
import re
import threading
import time
import uuid
from array import array
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from cfbatch_gui.core.practice.app import Application, Receive, RefusalError, Scope, Send, practice_app, success
from cfbatch_gui.core.workers_ai import limits
from tests.support import http

Json = dict[str, Any]

_ADDRESS = re.compile(r".*/accounts/(?P<account>\w+)/vectorize/v2/indexes(?:/(?P<name>[^/]+))?(?:/(?P<action>\w+))?")
_MOST_IDS = {"get_by_ids": limits.MAX_READ_IDS, "delete_by_ids": limits.MAX_DELETED_IDS}
_one_at_a_time = threading.Lock()


class Change(NamedTuple):
    """What was accepted; `ids` of its vectors are in their order."""

    id: str
    at: float
    kind: str  # "upsert" or "delete"
    ids: tuple[str, ...]


@dataclass
class Index:
    """`vectors` are those that are there by their ids, each as it came and its float32 numbers."""

    shown: Json
    vectors: dict[str, tuple[Json, bytes]] = field(default_factory=dict)
    changes: list[Change] = field(default_factory=list)


Indexes = dict[tuple[str, str], Index]  # by account and name


def file_of(folder: Path) -> Path:
    return folder / "vectorize.pickle"


def read_indexes(folder: Path) -> Indexes:
    """Those that a service has, or had, in this folder."""
    path = file_of(folder)
    return pickle.loads(path.read_bytes()) if path.exists() else {}


def accepted_vectors(folder: Path) -> list[Change]:
    """What was put into the indexes of that folder and deleted again, in the order of acceptance."""
    return [change for index in read_indexes(folder).values() for change in index.changes]


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

    def answered(head: http.Head, body: bytes) -> http.Answer:
        with _one_at_a_time:
            indexes = read_indexes(folder)
            answer = _answer(indexes, seconds_running, clock(), head, body)
            if head.method == "POST":
                folder.mkdir(parents=True, exist_ok=True)
                file_of(folder).write_bytes(pickle.dumps(indexes))
        return answer

    async def answer(head: http.Head, body: bytes) -> http.Answer:
        return await asyncio.to_thread(answered, head, body)

    indexes = http.application(answer)

    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        await (indexes if _ADDRESS.fullmatch(scope["path"]) else practice)(scope, receive, send)

    return application


def _check(is_right: bool, code: int, words: str, status: int = 400) -> None:
    if not is_right:
        raise RefusalError(status, (code, words))


def _answer(indexes: Indexes, seconds: float, now: float, head: http.Head, body: bytes) -> http.Answer:
    found = _ADDRESS.fullmatch(head.target.partition("?")[0])
    assert found is not None
    account, name, action = found["account"].lower(), found["name"] or "", found["action"] or ""
    try:
        if name:
            _check((account, name) in indexes, 3000, f'vectorize.index.not_found - Index name "{name}"', 404)
            result = _do(indexes[account, name], action, seconds, now, head, body)
        elif head.method == "POST":
            result = _created(indexes, account, json.loads(body), now)
        else:
            result = [index.shown for (owner, _), index in indexes.items() if owner == account]
        answer = success(result)
    except RefusalError as refusal:
        answer = refusal.answer()
    return http.Answer(answer.status, (("content-type", "application/json"),), answer.body)


def _created(indexes: Indexes, account: str, new: Json, now: float) -> object:
    name, dimensions = new["name"], new["config"]["dimensions"]
    _check(re.fullmatch(limits.INDEX_NAME_FORM, name) is not None, 3001, "vectorize.index.invalid_config - Name")
    _check(32 <= dimensions <= limits.MAX_INDEX_DIMENSIONS, 3001, "vectorize.index.invalid_config - Dimensions")
    _check((account, name) not in indexes, 3002, f'vectorize.index.duplicate_name - Index name "{name}"')
    indexes[account, name] = Index({"description": "", **new, "created_on": _time(now), "modified_on": _time(now)})
    return indexes[account, name].shown


def _do(index: Index, action: str, seconds: float, now: float, head: http.Head, body: bytes) -> object:
    if action == "info":
        return _info(index, seconds, now)
    if action == "upsert":
        return _put(index, now, head, body)
    asked = json.loads(body) if body else {}
    if action == "query":
        return _nearest(index, asked)
    if action not in _MOST_IDS:
        return index.shown
    ids = asked["ids"]
    _check(len(ids) <= _MOST_IDS[action], 40007, "too many ids in payload")
    if action == "get_by_ids":  # in the order of ids: that it is another than the request's shows who relies on it
        there = (index.vectors[each] for each in sorted(set(ids) & index.vectors.keys()))
        return [{**vector, "values": array("f", numbers).tolist()} for vector, numbers in there]
    for each in ids:
        index.vectors.pop(each, None)
    return _accept(index, now, "delete", ids)


def _accept(index: Index, now: float, kind: str, ids: Iterable[str]) -> Json:
    index.changes.append(Change(str(uuid.uuid4()), now, kind, tuple(ids)))
    return {"mutationId": index.changes[-1].id}


def _info(index: Index, seconds: float, now: float) -> Json:
    last = next((change for change in reversed(index.changes) if change.at <= now - seconds), None)
    return {
        "dimensions": index.shown["config"]["dimensions"],
        "vectorCount": len(index.vectors),
        "processedUpToMutation": last and last.id,
        "processedUpToDatetime": last and _time(last.at + seconds),
    }


def _put(index: Index, now: float, head: http.Head, body: bytes) -> Json:
    """All of an upload, or nothing: NDJSON, bare or as the field `vectors` of a form."""
    kind, _, boundary = head.header("content-type").partition("; boundary=")
    _check(kind in ("multipart/form-data", "application/x-ndjson"), 1005, "vectorize.unknown_content_type")
    if boundary:
        start = body.find(b"\r\n\r\n", body.find(b'name="vectors"')) + 4
        body = body[start : body.find(f"\r\n--{boundary}".encode(), start)]
    vectors = [json.loads(line) for line in body.split(b"\n") if line.strip()]
    _check(len(vectors) <= limits.MAX_UPLOAD_VECTORS, 40001, "vectorize.limit_exceeded - max vector count")
    for each in vectors:
        _check(len(each["id"].encode()) <= limits.MAX_VECTOR_ID_BYTES, 40008, "id too long")
        _check(len(each["values"]) == index.shown["config"]["dimensions"], 40012, f"invalid vector for {each['id']}")
    index.vectors |= {each["id"]: (each, array("f", each.pop("values")).tobytes()) for each in vectors}
    return _accept(index, now, "upsert", dict.fromkeys(each["id"] for each in vectors))


def _nearest(index: Index, asked: Json) -> Json:
    """Exactly: cosines, where more is nearer, or distances or negative products."""
    query, metric, most = np.array(asked["vector"], np.float32), index.shown["config"]["metric"], asked.get("topK", 5)
    _check(len(query) == index.shown["config"]["dimensions"], 40006, "invalid query vector")
    numbers = b"".join(numbers for _, numbers in index.vectors.values())
    vectors = np.frombuffer(numbers, np.float32).reshape(-1, len(query))
    scores = np.linalg.norm(vectors - query, axis=1) if metric == "euclidean" else -(vectors @ query)
    if metric == "cosine":
        scores /= -np.linalg.norm(vectors, axis=1) * np.linalg.norm(query)
    order = np.argsort(-scores if metric == "cosine" else scores, kind="stable")[:most].tolist()
    ids = list(index.vectors)
    return {"count": len(order), "matches": [{"id": ids[at], "score": float(scores[at])} for at in order]}


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
