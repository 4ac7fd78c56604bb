"""Fixtures: the practice service, a Worker and an AI Gateway in front of it, all over sockets.

The Worker and the gateway are simulations that keep the contract of `workers_ai/endpoints` and of Cloudflare's pages.
"""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
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


def worker(behind: Application, *, secret: str = SECRET, token: str = TOKEN) -> Application:
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
        inner = Head(head.method, target, (("authorization", f"Bearer {token}"),), head.length)
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
