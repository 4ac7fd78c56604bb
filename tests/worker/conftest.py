"""Fixtures: the Worker in Cloudflare's runtime with the practice service behind its binding, started once.

The Worker that collects runs in another one, with a bucket and a workflow, which is started once too.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest

from cfbatch_gui.core.practice.local_models import HashedNgrams
from tests.support.practice import PracticeServer
from tests.worker.collecting_room import Room
from tests.worker.runtime import SECRET, CollectingRuntime, running_worker
from tests.worker.scripted_service import QUEUED, Reply, ScriptedService

ACCOUNT = "0123456789abcdef0123456789abcdef"
BGE_M3 = "@cf/baai/bge-m3"
ANSWER = Reply(b'{"responses":[]}')
LAYOUT = bytes(range(256)) * 20
QUEUED_SECONDS = 10
RUNNING_SECONDS = 20


class Caller:
    """Sends bodies to one URL, with one secret or token."""

    def __init__(self, address: str, secret: str) -> None:
        headers = {"Authorization": f"Bearer {secret}"} if secret else {}
        self.http = httpx.Client(base_url=address, headers=headers, timeout=60, trust_env=False)

    def post(self, body: object, *, model: str = BGE_M3, queue: bool = True) -> httpx.Response:
        """Post a body: bytes unchanged, everything else as JSON."""
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        return self.http.post(f"/ai/run/{model}" + ("?queueRequest=true" if queue else ""), content=content)

    def refusal(self, body: object, *, model: str = BGE_M3, queue: bool = True) -> tuple[int, int]:
        """Post a body that is refused; the HTTP status and the error code. Asserts that there is a message."""
        return read_refusal(self.post(body, model=model, queue=queue))


@dataclass
class Stage:
    """The practice service's URL and clock, and the Worker's URL in each of its deployments."""

    opened: ExitStack
    practice_url: str = ""
    workers: Mapping[str, str] = field(default_factory=dict)
    process_id: int = 0
    now: float = 1_800_000_000.0

    def wait_for_results(self) -> None:
        """Advance the service's clock by the duration of a batch."""
        self.now += QUEUED_SECONDS + RUNNING_SECONDS

    def worker(self, deployment: str = "with-secret", *, secret: str = SECRET) -> Caller:
        return self._open(self.workers[deployment], secret)

    def direct(self) -> Caller:
        """A caller of the practice service without the Worker."""
        return self._open(f"{self.practice_url}/accounts/{ACCOUNT}", "any-token")

    def _open(self, address: str, secret: str) -> Caller:
        caller = Caller(address, secret)
        self.opened.callback(caller.http.close)
        return caller


@pytest.fixture(scope="session")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    with ExitStack() as opened:
        stage = Stage(opened)
        server = PracticeServer(
            tmp_path_factory.mktemp("practice"),
            seconds_queued=QUEUED_SECONDS,
            seconds_running=RUNNING_SECONDS,
            clock=lambda: stage.now,
            load_model=HashedNgrams,
        )
        stage.practice_url = opened.enter_context(server).url
        running = opened.enter_context(running_worker(httpx.URL(server.url).netloc.decode()))
        stage.workers, stage.process_id = running.addresses, running.process_id
        yield stage


def read_refusal(answer: httpx.Response) -> tuple[int, int]:
    error: dict[str, Any] = answer.json()["error"]
    assert set(error) == {"code", "message"}
    assert error["message"]
    assert answer.headers["cache-control"] == "no-store"
    return answer.status_code, error["code"]


@pytest.fixture
def worker(stage: Stage) -> Caller:
    """A caller of the Worker deployed with a secret, as recommended."""
    return stage.worker()


@pytest.fixture
def room(collecting: Room) -> Iterator[Room]:
    """The collecting Worker, which runs once for all."""
    yield collecting
    collecting.service.forget()


@pytest.fixture(scope="session")
def collecting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Room]:
    """The collecting Worker. Its practice service is done with a batch at once, and has the real clock."""
    with (
        PracticeServer(tmp_path_factory.mktemp("practice"), load_model=HashedNgrams) as practice,
        ScriptedService() as scripted,
        CollectingRuntime(practice.url, tmp_path_factory.mktemp("room"), scripted_url=scripted.address) as runtime,
        Room(runtime, scripted) as room,
    ):
        yield room


@pytest.fixture
def shard(room: Room) -> Iterator[str]:
    """A shard of two batches, of which the first is done and the second waits. It is removed after the test."""
    room.service.script("done", ANSWER)
    room.service.script("waits", QUEUED)
    shard = room.new_shard()
    assert room.http.put(f"{shard}/layout", content=LAYOUT).json() == {"ok": True}
    assert room.hand_over(shard, [(1, "done"), (2, "waits")]).json() == {"ok": True}
    room.until(shard, lambda said: len(said["batches"]) == 1)
    yield shard
    room.http.delete(shard)
