"""A stand-in for the collecting room of a Worker, in memory and in this process, for tests of what stands above it.

The room itself runs in Cloudflare's runtime: tests/worker/collecting_runtime.py. This one asks the service only when it
is asked how far a shard is, and can be told to wait.
"""

import asyncio
import json
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

from cfbatch_gui.core.practice.app import PREFIX, Application
from tests.core.endpoints import conftest as stand_ins
from tests.support.http import Answer, Head, application, as_json, ask, refused

_PATH = re.compile(r"/collect/([a-z0-9][a-z0-9-]{0,63})/([1-9][0-9]{0,3})(?:/(layout|order|[1-9][0-9]{0,5}))?")
Order = dict[str, Any]


@dataclass
class Shard:
    at: float
    layout: bytes = b""
    order: Order = field(default_factory=dict)
    answers: dict[int, bytes] = field(default_factory=dict)
    refusals: dict[int, Answer] = field(default_factory=dict)


class CollectingRoom:
    """An application in front of a Worker's, with the shards that it was handed, by job and number.

    While it `is_open` it answers as the room does; a Worker without one answers itself. It collects a batch when
    `collects` says so of its number, and gives an answer out once `gives` is set.
    """

    def __init__(self, behind: Application, *, clock: Callable[[], float] = time.time) -> None:
        self._behind, self._clock = behind, clock
        self._worker = stand_ins.worker(behind)
        self.is_open = True
        self.collects: Callable[[int], bool] = lambda number: True
        self.gives = asyncio.Event()
        self.gives.set()
        self.shards: dict[tuple[str, int], Shard] = {}
        self.looking = 0  # looks at a shard that are under way
        self.application = application(self._answer)

    def put(self, job: str, title: str, *, kind: str = "embed", batches: int = 1, at: float = 0.0) -> None:
        ids = [[number, f"00000000-0000-4000-8000-{number:012}"] for number in range(1, batches + 1)]
        order = {"model": "@cf/baai/bge-m3", "title": title, "kind": kind, "batches": ids}
        self.shards[job, 1] = Shard(at or self._clock(), order=order)

    async def _answer(self, head: Head, body: bytes) -> Answer:
        path = unquote(head.target).removeprefix(PREFIX).partition("?")[0]
        is_here = path in ("/", "/collect") or path.startswith("/collect/")
        if not (self.is_open and is_here):
            return await ask(self._worker, head, body)
        if head.header("authorization") != f"Bearer {stand_ins.SECRET}":
            return refused(401, 10000, "wrong secret")
        if path == "/":
            return as_json(200, {"ok": True, "collects": 1})
        if path == "/collect":
            return as_json(200, {"shards": self._listed(), "cursor": ""})
        found = _PATH.fullmatch(path)
        if found is None:
            return refused(404, 7003, "There is nothing at this address.")
        return await self._about_shard(head, body, (found[1], int(found[2])), found[3] or "")

    async def _about_shard(self, head: Head, body: bytes, key: tuple[str, int], part: str) -> Answer:
        done = as_json(200, {"ok": True})
        if head.method == "DELETE":
            self.shards.pop(key, None)
            return done
        if head.method == "PUT":
            shard = self.shards.setdefault(key, Shard(self._clock()))
            if part == "layout":
                shard.layout = body
            else:
                shard.order = json.loads(body)
            return done
        shard = self.shards.get(key, Shard(0.0))
        if part == "layout" and shard.layout:
            return Answer(200, (("content-type", "application/octet-stream"),), shard.layout)
        if part == "order" and shard.order:
            return as_json(200, {name: shard.order[name] for name in ("model", "title", "kind", "batches")})
        if not part and shard.order:
            return await self._state(shard)
        if part.isdigit() and int(part) in shard.answers:
            await self.gives.wait()
            return Answer(200, (("content-type", "application/json"),), shard.answers[int(part)])
        if part.isdigit() and int(part) in shard.refusals:
            return shard.refusals[int(part)]
        return refused(404, 10404, "Nothing is stored here.")

    async def _state(self, shard: Shard) -> Answer:
        self.looking += 1
        try:
            for number, request_id in shard.order["batches"]:
                if self.collects(number) and number not in (*shard.answers, *shard.refusals):
                    await self._collect(shard, number, request_id)
        finally:
            self.looking -= 1
        stored: list[dict[str, Any]] = [
            {"number": number, "size": len(answer)} for number, answer in shard.answers.items()
        ]
        stored += [{"number": number, "refused": True} for number in shard.refusals]
        state = "ended" if len(stored) == len(shard.order["batches"]) else "collecting"
        return as_json(200, {"state": state, "error": "", "batches": stored, "left": []})

    async def _collect(self, shard: Shard, number: int, request_id: str) -> None:
        target = f"{PREFIX}/ai/run/{shard.order['model']}?queueRequest=true"
        body = json.dumps({"request_id": request_id}).encode()
        headers = (("authorization", f"Bearer {stand_ins.SECRET}"), ("content-type", "application/json"))
        answer = await ask(self._worker, Head("POST", target, headers, len(body)), body)
        if answer.status != 200:
            shard.refusals[number] = answer
        elif b'"responses"' in answer.body[:100]:
            shard.answers[number] = answer.body

    def _listed(self) -> list[dict[str, Any]]:
        return [
            {
                **{name: shard.order[name] for name in ("title", "kind", "model")},
                **{"job": job, "shard": number, "batches": len(shard.order["batches"]), "at": shard.at},
            }
            for (job, number), shard in self.shards.items()
            if shard.order
        ]
