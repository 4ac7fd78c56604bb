"""Fixtures: the whole core over a faulty service. One exchange has a short deadline; nothing else is changed."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.practice.app import practice_app
from cfbatch_gui.core.practice.local_models import HashedNgrams
from cfbatch_gui.core.workers_ai import limits
from cfbatch_gui.core.workers_ai.limits import ExchangeLimit
from cfbatch_gui.core.workers_ai.transport import HttpAnswer, Transport, What
from tests.core.jobs.conftest import Bench, Clock
from tests.support.faulty_service import CERTIFICATE, FaultyService, load_certificate

DEADLINE = 0.5  # seconds; on loopback an exchange takes a few milliseconds
MOST_BYTES = 8 << 20  # of an answer, decompressed; the program takes more, which fills the memory of a test worker


class TinyModel(HashedNgrams):
    """A model with vectors of eight numbers computed from the text: small answers with known values."""

    name = "tiny 8"
    dimension = 8

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Unit vectors of the texts, of shape (n, 8)."""
        return np.array([vector_of(text) for text in texts], dtype=np.float32).reshape(-1, self.dimension)


@cache
def vector_of(text: str) -> npt.NDArray[np.float32]:
    numbers = np.random.default_rng(list(text.encode())).normal(size=8)
    return (numbers / np.linalg.norm(numbers)).astype(np.float32)


def score_of(query: str, context: str) -> float:
    """The score of a context, rounded to half precision as the service does."""
    return float(np.float16(vector_of(context) @ vector_of(query)))


@cache
def sent_as(text: str) -> list[float]:
    """The vector of a text as written in an answer and decoded from it."""
    rounded: list[float] = np.round(vector_of(text).astype(np.float64), 7).astype(np.float32).tolist()
    return rounded


class HastyTransport(Transport):
    """A transport with a limit of half a second for the first exchange of one kind, to which the fault applies.

    All others keep the program's limits, so that they do not time out on a busy machine.
    """

    def __init__(self, hasty: What | None) -> None:
        super().__init__()
        self._hasty = hasty

    async def send(self, *arguments: Any, **options: Any) -> HttpAnswer:
        limit: ExchangeLimit = options["limit"]
        if options["what"] == self._hasty:
            self._hasty, limit = None, limit._replace(seconds=DEADLINE)
        options["limit"] = limit._replace(most_bytes=min(limit.most_bytes, MOST_BYTES))
        return await super().send(*arguments, **options)


class FaultBench(Bench):
    def pairs(self, *, reuse: bool = True) -> Job:
        """A draft of three queries with two contexts each."""
        lines = "".join(f"query {n},context {n} {c}\n" for n in range(3) for c in range(2))
        return self.draft(self.write("pairs.csv", f"query,context\n{lines}"), Kind.RANK, reuse=reuse)

    def results(self, job_id: str) -> int:
        with self.store.folder(job_id).open(read_only=True) as database:
            found: int = database.execute(
                "SELECT count(*) FROM items JOIN requests r USING(request_no) WHERE r.state = 'done'"
            ).fetchone()[0]
        return found


def wrong_results(folder: JobFolder) -> list[object]:
    """Every stored result that is not the correct one of its text. A result that is missing is not wrong."""
    with folder.open(read_only=True) as database:
        rows = database.execute(
            "SELECT i.item_no, q.text, t.text, i.score, r.state FROM items i JOIN texts t USING(text_no)"
            " LEFT JOIN queries q USING(query_no) JOIN requests r USING(request_no)"
        ).fetchall()
    vectors = np.load(folder.vectors) if folder.vectors.exists() else None
    wrong: list[object] = []
    for item_no, query, text, score, state in rows:
        if query is None:
            is_right = state != "done" or (vectors is not None and vectors[item_no - 1].tolist() == sent_as(text))
        else:
            is_right = score is None if state != "done" else abs(score - score_of(query, text)) < 1e-3
        wrong += [] if is_right else [(query, text, score, state)]
    return wrong


Open = Callable[..., AbstractAsyncContextManager[FaultBench]]


@pytest.fixture
def open_bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Open:
    """A function that opens a bench over a faulty service, with `tls` over TLS; `trusted` is about its certificate.

    `hasty` is the kind of exchange whose first call has a short deadline.
    """

    @asynccontextmanager
    async def opened(
        *, tls: bool = False, trusted: bool = True, hasty: What | None = None
    ) -> AsyncIterator[FaultBench]:
        clock = Clock()
        folder = tmp_path / "service"
        service = practice_app(folder, seconds_queued=0, seconds_running=0, clock=clock, load_model=TinyModel)
        monkeypatch.setattr(limits, "PRACTICE_DIMENSIONS", limits.PRACTICE_DIMENSIONS | {TinyModel.dimension})
        if tls and trusted:
            monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATE))
        async with FaultyService(service, clock=clock, tls=load_certificate() if tls else None) as faulty:
            transport = partial(HastyTransport, hasty)
            bench = FaultBench(tmp_path / "data", faulty, clock, service_folder=folder, new_transport=transport)
            try:
                yield bench
            finally:
                await bench.stop()

    return opened
