"""Requests with more texts than the model takes are refused, and sent again in halves; nothing is paid for twice."""

import json
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.plan.packing import repack
from cfbatch_gui.core.jobs.states import JobState
from cfbatch_gui.core.practice.app import Application, practice_app
from tests.core.faults.conftest import FaultBench, TinyModel, wrong_results
from tests.core.jobs.conftest import Clock
from tests.support.faulty_service import FaultyService
from tests.support.http import Answer, Head, application, as_json, ask

TEXTS = [f"text number {n}" for n in range(4_250)]
REFUSALS = {
    "by the schema": (5006, "AiError: Bad input: Error: Length of '/requests/0/text' must be <= {most}"),
    "by the tokens": (3030, "AiError: Max context reached 99 tokens but model supports only {most}"),
}


class Picky:
    """A model that takes at most so many texts in one request; `taken` are those that it was paid for."""

    def __init__(self, behind: Application, refusal: str) -> None:
        self.most, self.taken = 32, list[str]()
        self._behind, self._code, self._words = behind, *REFUSALS[refusal]

    async def answer(self, head: Head, body: bytes) -> Answer:
        posted = json.loads(body or b"{}")
        requests = posted.get("requests", [posted])
        lists = [each.get("text") or [one["text"] for one in each.get("contexts", ())] for each in requests]
        if max(map(len, lists), default=0) <= self.most:
            self.taken += [text for each in lists for text in each]
            return await ask(self._behind, head, body)
        error = {"code": self._code, "message": self._words.format(most=self.most)}
        return as_json(400, {"result": None, "success": False, "errors": [error], "messages": []})


@pytest.fixture
def picky(tmp_path: Path, clock: Clock, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Picky:
    monkeypatch.setattr("cfbatch_gui.core.workers_ai.limits.PRACTICE_DIMENSIONS", frozenset({TinyModel.dimension}))
    behind = practice_app(
        tmp_path / "service", seconds_queued=0, seconds_running=0, clock=clock.of_service, load_model=TinyModel
    )
    return Picky(behind, getattr(request, "param", "by the schema"))


@pytest.fixture
async def bench(tmp_path: Path, clock: Clock, picky: Picky) -> AsyncIterator[FaultBench]:
    async with FaultyService(application(picky.answer), clock=clock) as faulty:
        made = FaultBench(tmp_path / "data", faulty, clock, service_folder=tmp_path / "service")
        yield made
        await made.stop()


@pytest.mark.parametrize(
    ("kind", "at_once", "picky"),
    [
        (Kind.EMBED, False, "by the schema"),
        (Kind.EMBED, True, "by the schema"),
        (Kind.RANK, False, "by the tokens"),
        (Kind.RANK, True, "by the tokens"),
    ],
    indirect=["picky"],
)
@pytest.mark.parametrize("is_lost", [False, True])
async def test_a_list_that_is_too_long_is_halved_and_every_text_is_paid_for_once(
    bench: FaultBench, picky: Picky, kind: Kind, at_once: bool, is_lost: bool
) -> None:
    texts = TEXTS[:250] if at_once else TEXTS
    rows = texts if kind is Kind.EMBED else ["query,text", *(f"{n // 100},{text}" for n, text in enumerate(texts))]
    name = "texts.txt" if kind is Kind.EMBED else "pairs.csv"
    job = bench.draft(bench.write(name, "\n".join(rows)), kind, reuse=False)
    job = await bench.run(bench.drafts.change(job.id, options=replace(job.options, at_once=at_once)))
    assert job.state is JobState.FAILED and picky.taken == []
    if is_lost:  # a layout that the ledger does not learn of is made again
        repack(bench.store.folder(job.id), job)
    while bench.ledger.job(job.id).state is not JobState.DONE:
        job = await bench.ended(bench.actions.send_again(job.id))
    assert job.state is JobState.DONE and not any(batch.error for batch in job.batches)
    assert Counter(picky.taken) == Counter(texts)
    assert wrong_results(bench.store.folder(job.id)) == [] and bench.results(job.id) == len(texts)
    assert sum(batch.texts for batch in job.batches) == len(texts)
