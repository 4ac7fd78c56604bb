"""Fixtures: jobs with vectors, and the practice service's Vectorize with a clock that the test sets."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.practice.app import Application
from cfbatch_gui.core.practice.local_models import HashedNgrams
from cfbatch_gui.core.system.paths import Paths
from cfbatch_gui.core.vectorize.client import PART_BYTES, Metric, VectorizeIndexes
from cfbatch_gui.core.vectorize.push_values import PushOptions, PushProgress, PushSettings
from cfbatch_gui.core.vectorize.vectorize import Vectorize
from cfbatch_gui.core.workers_ai.api_tokens import Token
from cfbatch_gui.core.workers_ai.client import WorkersAI
from cfbatch_gui.core.workers_ai.connection_kinds import Connection
from cfbatch_gui.core.workers_ai.limits import RateBudget
from cfbatch_gui.core.workers_ai.transport import Transport
from tests.canary import TOKEN
from tests.core.results.folders import WAITING, Outcome, Table, unit_vectors
from tests.support import http
from tests.support.clients import cloudflare
from tests.support.vectorize import Change, accepted_vectors, service_with_indexes

ACCOUNT = "0123456789abcdef0123456789abcdef"
MODEL = "@cf/baai/bge-m3"
Answer = tuple[int, object] | tuple[int, object, dict[str, str]]
Rule = Callable[[str, bytes], Answer | None]


@dataclass
class Bench:
    """Jobs, the service they are pushed to, and both their clocks. Waiting moves the clock on."""

    root: Path
    url: str = ""  # of a service on this computer; "" for one within this process
    now: float = 1_800_000_000.0
    seconds_running: float = 0.0
    most_vectors: int = 5_000
    most_bytes: int = PART_BYTES
    called: list[str] = field(default_factory=list)
    headers: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)  # of the bodies of upserts, in bytes
    waits: list[float] = field(default_factory=list)
    shown: list[PushProgress] = field(default_factory=list)
    before: Rule = lambda path, body: None  # an answer in place of the service's
    after: Rule = lambda path, body: None  # the same, after the service has done what it was asked

    def __post_init__(self) -> None:
        self.connection: Connection = cloudflare(ACCOUNT, base_url=self.url or "https://api.example.com/client/v4")
        self.vectorize = self.opened()

    def opened(self) -> Vectorize:
        """The part of the program as after a start."""
        paths = Paths(self.root / "data")
        client = WorkersAI(
            self.connection,
            self._token,
            transport=Transport() if self.url else Transport(application=self._application()),
            budget=RateBudget(clock=lambda: self.now, sleep=self.sleep),
            clock=lambda: self.now,
        )
        settings = PushSettings(
            lambda: self.now, self.sleep, most_vectors=self.most_vectors, most_bytes=self.most_bytes
        )
        return Vectorize(lambda connection_id: client, self.job, paths, settings)

    async def sleep(self, seconds: float) -> None:
        """Let time pass at once."""
        self.waits.append(seconds)
        self.now += seconds

    def job(self, job_id: str) -> Job:
        """A job, which is in its folder alone."""
        return Job(job_id, f"Job {job_id}", Kind.EMBED, MODEL, "cloudflare", 0.0)

    def add(
        self,
        job_id: str,
        vectors: npt.NDArray[np.float32],
        *,
        ids: Sequence[str] | None = None,
        kept: Mapping[str, Sequence[str]] | None = None,
        waiting: int = 0,
    ) -> JobFolder:
        """A job with a text for each vector, columns of the user's own, and texts that wait for their vectors."""
        columns = kept or {}
        names = [f"id-{number}" for number in range(len(vectors))] if ids is None else ids
        table = Table(self.root / "data" / "jobs" / job_id, kept=tuple(columns))
        texts: list[tuple[str, str, Outcome]] = [(each, f"text {number}", 1.0) for number, each in enumerate(names)]
        texts += [(f"late-{number}", "late", WAITING) for number in range(waiting)]
        all_vectors = np.concatenate([vectors, np.zeros((waiting, vectors.shape[1]), np.float32)])
        table.embed(texts, all_vectors, kept=[*zip(*columns.values(), strict=True)] if columns else ())
        return table.folder

    async def index(self, name: str = "products", dimensions: int = 32) -> None:
        """Create an index."""
        await self.calls.create(name, dimensions, Metric.COSINE)

    async def ready(self, vectors: npt.NDArray[np.float32], **job: Any) -> None:
        """A job and an index for it."""
        self.add("one", vectors, **job)
        await self.index(dimensions=vectors.shape[1])

    @property
    def calls(self) -> VectorizeIndexes:
        """As somebody else makes them."""
        return self.vectorize.calls("cloudflare")

    def show(self, progress: PushProgress) -> None:
        """Keep what a face would show."""
        self.shown.append(progress)

    def events(self, *kinds: str) -> list[Change]:
        """What the service has accepted."""
        return [each for each in accepted_vectors(self.root / "service") if each.kind in (kinds or ("upsert",))]

    async def _token(self) -> Token:
        return Token(TOKEN)

    def _application(self) -> Application:
        times: dict[str, Any] = {"seconds_running": self.seconds_running, "clock": lambda: self.now}
        service = service_with_indexes(self.root / "service", load_model=HashedNgrams, **times)

        async def answer(head: http.Head, body: bytes) -> http.Answer:
            path = head.target.rpartition("/indexes")[2]
            self.called.append(path)
            self.sizes += [len(body)] * path.endswith("/upsert")
            self.headers.append((path, dict(head.headers)))
            if (given := self.before(path, body)) is not None:
                return _enveloped(*given)
            theirs = await http.ask(service, head, body)
            given = self.after(path, body)
            return theirs if given is None else _enveloped(*given)

        return http.application(answer)


def _enveloped(status: int, result: object, headers: Mapping[str, str] = MappingProxyType({})) -> http.Answer:
    ok = status < 400
    content = {"result": result if ok else None, "success": ok, "errors": [] if ok else result, "messages": []}
    answer = http.as_json(status, content)
    return replace(answer, headers=(*answer.headers, *headers.items()))


def first(times: int, action: str, answer: Answer) -> Rule:
    """An answer to the first calls of an action, such as "/upsert"."""
    left = [times]

    def rule(path: str, body: bytes) -> Answer | None:
        if not path.endswith(action) or not left[0]:
            return None
        left[0] -= 1
        return answer

    return rule


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


@pytest.fixture
async def pushed(bench: Bench) -> Bench:
    """A bench whose first job of ten vectors is in the index."""
    await bench.ready(unit_vectors(10, 32))
    await bench.vectorize.push("one", *THROUGH, OPTIONS)
    return bench


OPTIONS = PushOptions()
THROUGH = ("cloudflare", "products")

__all__ = ["OPTIONS", "THROUGH", "Bench", "first", "unit_vectors"]
