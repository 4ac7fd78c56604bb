"""Fixtures: the practice service, a Worker with a collecting room and an AI Gateway in front of it, all over sockets.

They are simulations that keep the contract of `workers_ai/endpoints`, of tests/worker and of Cloudflare's pages. The
room asks the service only when it is asked how far a shard is, and can be told to wait.
"""

import asyncio
import json
import re
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from cfbatch_gui.core.connections.credentials import Credentials
from cfbatch_gui.core.practice.app import PREFIX, Application, practice_app
from cfbatch_gui.core.practice.local_models import HashedNgrams
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.system.settings import SavedConnection
from cfbatch_gui.core.workers_ai.connection_kinds import PRACTICE, Connection
from tests import canary
from tests.support import clients
from tests.support.faulty_service import FaultyService
from tests.support.http import Answer, Head, application, as_json, ask, refused

TOKEN, SECRET = canary.TOKEN, canary.SECRET
ACCOUNT = "0123456789abcdef0123456789abcdef"
GATEWAY = "my-gateway"
GATEWAY_TOKEN = f"{SECRET}-of-the-gateways-own"


def service(folder: Path, *, token: str = TOKEN, **more: Any) -> Application:
    times = {"seconds_queued": 0.0, "seconds_running": 0.0}
    return practice_app(folder, token=token, load_model=HashedNgrams, **times | more)


def worker(behind: Application, *, secret: str = SECRET) -> Application:
    """A Worker with its own URL and secret. Its binding is the service, called with the service's token."""

    async def answer(head: Head, body: bytes) -> Answer:
        if secret and head.header("authorization") != f"Bearer {secret}":
            return refused(401, 10000, "wrong secret")
        path = unquote(head.target).removeprefix(PREFIX)
        if path == "/":
            return as_json(200, {"ok": True})
        if not path.startswith("/ai/run/"):
            return refused(404, 7003, "There is nothing at this address.")
        target = f"{PREFIX}/accounts/{ACCOUNT}{path}"
        inner = Head(head.method, target, (("authorization", f"Bearer {TOKEN}"),), head.length)
        found = await ask(behind, inner, body)
        envelope = json.loads(found.body)
        if envelope["success"]:
            return as_json(200, envelope["result"])
        error = envelope["errors"][0]
        return refused(found.status, error["code"], error["message"])

    return application(answer)


def gateway(behind: Application, *, gateway_token: str = "", kept: list[bytes] | None = None) -> Application:
    """An AI Gateway, which passes on the service's answers; its own refusals have a different form.

    Unless a call forbids it, it repeats what failed, answers from its cache, and keeps bodies in its logs.
    """
    cache: dict[tuple[str, bytes], Answer] = {}

    async def passed_on(head: Head, body: bytes) -> Answer:
        key = head.target, body
        if head.header("cf-aig-skip-cache") != "true" and key in cache:
            return cache[key]
        if kept is not None and head.header("cf-aig-collect-log-payload") != "false":
            kept.append(body)
        for _ in range(int(head.header("cf-aig-max-attempts") or 5)):
            cache[key] = await ask(behind, head, body)
            if cache[key].status < 500:
                break
        return cache[key]

    async def answer(head: Head, body: bytes) -> Answer:
        if gateway_token and head.header("cf-aig-authorization") != f"Bearer {gateway_token}":
            return as_json(401, {"name": "AiGatewayError", "internalCode": 2009, "message": "Unauthorized"})
        path = unquote(head.target).removeprefix(PREFIX)
        begin = f"/{ACCOUNT}/{GATEWAY}/workers-ai/"
        if path.startswith(begin):
            path = f"/accounts/{ACCOUNT}/ai/run/{path.removeprefix(begin)}"
        elif not path.startswith("/accounts/") or (head.header("cf-aig-gateway-id") or GATEWAY) != GATEWAY:
            error = [{"code": 2001, "message": "Please configure AI Gateway in the Cloudflare dashboard"}]
            return as_json(400, {"success": False, "result": [], "messages": [], "error": error})
        return await passed_on(Head(head.method, PREFIX + path, head.headers, head.length), body)

    return application(answer)


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
    """A Worker with a collecting room, which itself runs in Cloudflare's runtime: the shards that it was handed.

    While it `is_open` it answers as the room does; a Worker without one answers itself. It collects a batch when
    `collects` says so of its number, and gives an answer out once `gives` is set.
    """

    def __init__(self, behind: Application, *, clock: Callable[[], float] = time.time) -> None:
        self._behind, self._clock = behind, clock
        self._worker = worker(behind)
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
        if head.header("authorization") != f"Bearer {SECRET}":
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
        headers = (("authorization", f"Bearer {SECRET}"), ("content-type", "application/json"))
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


@dataclass
class Endpoints:
    """The base URLs of the servers, and the requests that they received."""

    behind: Application
    rest: FaultyService
    worker: FaultyService
    gateway: FaultyService
    locked_gateway: FaultyService

    @property
    def worker_url(self) -> str:
        return self.worker.url.removesuffix(PREFIX)


def connection(endpoints: Endpoints, kind: str) -> Connection:
    match kind:
        case "rest":
            return clients.cloudflare(ACCOUNT, base_url=endpoints.rest.url)
        case "worker":
            return clients.worker(endpoints.worker_url, title="My Worker")
        case "practice":
            return replace(PRACTICE, base_url=endpoints.rest.url, api_base_url=endpoints.rest.url)
    url = (endpoints.locked_gateway if "with a token" in kind else endpoints.gateway).url
    return clients.gateway(ACCOUNT, GATEWAY, url=url, api_url=url, by_header="by header" in kind)


@asynccontextmanager
async def opened_program(root: Path) -> AsyncIterator[Program]:
    """A program that has nothing of this computer's: no variable of the environment, no keyring."""
    program = await Program.open(root, environ={}, credentials=Credentials(environ={}))
    try:
        yield program
    finally:
        await program.close()


@asynccontextmanager
async def opened(behind: Application) -> AsyncIterator[Endpoints]:
    async with (
        FaultyService(behind) as rest,
        FaultyService(worker(behind)) as workers,
        FaultyService(gateway(behind)) as gateways,
        FaultyService(gateway(behind, gateway_token=GATEWAY_TOKEN)) as locked,
    ):
        yield Endpoints(behind, rest, workers, gateways, locked)


@pytest.fixture
async def program(tmp_path: Path, endpoints: Endpoints) -> AsyncIterator[Program]:
    """A program with an account and a Worker."""
    account = SavedConnection("", "Account", "cloudflare", account_id=ACCOUNT, url=endpoints.rest.url)
    async with opened_program(tmp_path / "data") as opened:
        await opened.connections.save(account, secret=TOKEN)
        await opened.connections.save(SavedConnection("", "Mine", "worker", url=endpoints.worker_url), secret=SECRET)
        yield opened


@pytest.fixture
async def endpoints(tmp_path: Path) -> AsyncIterator[Endpoints]:
    async with opened(service(tmp_path / "service")) as made:
        yield made
