"""Fixtures: the practice service in-process, with a clock that the test sets."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest

from cfbatch_gui.core.practice.app import practice_app
from cfbatch_gui.core.practice.local_models import HashedNgrams
from cfbatch_gui.core.practice.vectorize import Permission
from tests.canary import TOKEN

ACCOUNT = "0123456789abcdef0123456789ABCDEF"
BGE_M3 = "@cf/baai/bge-m3"


@dataclass
class Practice:
    """An HTTP client of the service, and the service's clock."""

    folder: Path
    now: float = 1_800_000_000.0
    opened: list[httpx.AsyncClient] = field(default_factory=list)

    def open(
        self,
        *,
        token: str = "",
        seconds_queued: float = 10,
        seconds_running: float = 20,
        seconds_mutating: float = 0,
        vectorize_permission: Permission = Permission.WRITE,
    ) -> httpx.AsyncClient:
        """Return a client of the service as after a (re)start. The client sends a bearer token."""
        app = practice_app(
            self.folder,
            seconds_queued=seconds_queued,
            seconds_running=seconds_running,
            seconds_mutating=seconds_mutating,
            vectorize_permission=vectorize_permission,
            clock=lambda: self.now,
            token=token,
            load_model=HashedNgrams,
        )
        client = httpx.AsyncClient(
            transport=httpx.ASGITransport(app),
            base_url="http://practice/client/v4",
            headers={"Authorization": f"Bearer {token or TOKEN}"},
        )
        self.opened.append(client)
        return client


@pytest.fixture
async def practice(tmp_path: Path) -> AsyncIterator[Practice]:
    service = Practice(tmp_path / "practice")
    yield service
    for client in service.opened:
        await client.aclose()


class Calls:
    """Makes the calls of one client to one model."""

    def __init__(self, client: httpx.AsyncClient, model: str = BGE_M3, account: str = ACCOUNT) -> None:
        self.client = client
        self.address = f"/accounts/{account}/ai/run/{model}"

    async def post(self, body: object, *, queue: bool = True) -> httpx.Response:
        content = body if isinstance(body, bytes) else None
        return await self.client.post(
            self.address + ("?queueRequest=true" if queue else ""),
            content=content,
            json=body if content is None else None,
        )

    async def submit(self, *elements: dict[str, Any]) -> str:
        answer = await self.post({"requests": elements})
        assert answer.status_code == 200, answer.text
        request_id = answer.json()["result"]["request_id"]
        assert isinstance(request_id, str)
        return request_id

    async def poll(self, request_id: str, *, queue: bool = True) -> Any:
        return (await self.post({"request_id": request_id}, queue=queue)).json()


@pytest.fixture
def calls(practice: Practice) -> Calls:
    return Calls(practice.open())
