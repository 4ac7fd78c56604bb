"""Fixtures: the practice service in-process, with a clock that the test sets."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest

from cfbatch_gui.core.practice.app import practice_app
from cfbatch_gui.core.practice.local_models import HashedNgrams
from tests.canary import TOKEN

ACCOUNT = "0123456789abcdef0123456789ABCDEF"
BGE_M3 = "@cf/baai/bge-m3"


@dataclass
class Practice:
    """HTTP clients of a service whose batches wait 10 s and run 20 s, and the service's clock."""

    folder: Path
    now: float = 1_800_000_000.0
    opened: list[httpx.AsyncClient] = field(default_factory=list)

    def open(self, **options: Any) -> httpx.AsyncClient:
        """Return a client of the service as after a (re)start. The client sends a bearer token."""
        times = {"seconds_queued": 10.0, "seconds_running": 20.0, "clock": lambda: self.now}
        app = practice_app(self.folder, load_model=HashedNgrams, **{**times, **options})
        client = httpx.AsyncClient(
            transport=httpx.ASGITransport(app),
            base_url="http://practice/client/v4",
            headers={"Authorization": f"Bearer {TOKEN}"},
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
    def __init__(self, client: httpx.AsyncClient, model: str = BGE_M3, account: str = ACCOUNT) -> None:
        self.client = client
        self.address = f"/accounts/{account}/ai/run/{model}"

    async def post(self, body: object, *, queue: bool = True) -> httpx.Response:
        address = self.address + ("?queueRequest=true" if queue else "")
        if isinstance(body, bytes):
            return await self.client.post(address, content=body)
        return await self.client.post(address, json=body)

    async def submit(self, *elements: dict[str, Any]) -> str:
        answer = await self.post({"requests": elements})
        assert answer.status_code == 200, answer.text
        return str(answer.json()["result"]["request_id"])

    async def poll(self, request_id: str, *, queue: bool = True) -> Any:
        return (await self.post({"request_id": request_id}, queue=queue)).json()


@pytest.fixture
def calls(practice: Practice) -> Calls:
    return Calls(practice.open())


def refusal(answer: httpx.Response) -> tuple[int, int]:
    """The status of an answer that refuses, and the code of its one reason."""
    body = answer.json()
    (error,) = body.pop("errors")
    assert body == {"result": None, "success": False, "messages": []}
    return answer.status_code, error["code"]
