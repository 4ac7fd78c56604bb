"""Requests with more texts than the model takes are refused, halved, and sent; nothing is paid for twice."""

import json
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from cfbatch_gui.core.errors import DataError
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.run import submitting
from cfbatch_gui.core.jobs.states import BatchState, JobState
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
        self.most, self.taken, self.refused = 32, list[str](), 0
        self._behind, self._code, self._words = behind, *REFUSALS[refusal]

    async def answer(self, head: Head, body: bytes) -> Answer:
        posted = json.loads(body or b"{}")
        requests = posted.get("requests", [posted])
        lists = [each.get("text") or [one["text"] for one in each.get("contexts", ())] for each in requests]
        if max(map(len, lists), default=0) <= self.most:
            self.taken += [text for each in lists for text in each]
            return await ask(self._behind, head, body)
        self.refused += 1
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
    ("kind", "at_once", "picky", "refused"),
    [
        (Kind.EMBED, False, "by the schema", 2),  # all that is planned is halved with the one that was refused
        (Kind.EMBED, True, "by the schema", 7),
        (Kind.RANK, False, "by the tokens", 2),
        (Kind.RANK, True, "by the tokens", 7),
    ],
    indirect=["picky"],
)
async def test_a_list_that_is_too_long_is_halved_and_every_text_is_paid_for_once(
    bench: FaultBench, picky: Picky, kind: Kind, at_once: bool, refused: int
) -> None:
    texts = TEXTS[:250] if at_once else TEXTS
    rows = texts if kind is Kind.EMBED else ["query,text", *(f"{n // 100},{text}" for n, text in enumerate(texts))]
    name = "texts.txt" if kind is Kind.EMBED else "pairs.csv"
    job = bench.draft(bench.write(name, "\n".join(rows)), kind, reuse=False)
    job = await bench.run(bench.drafts.change(job.id, options=replace(job.options, at_once=at_once)))
    assert job.state is JobState.DONE and not any(batch.error for batch in job.batches)
    assert Counter(picky.taken) == Counter(texts) and picky.refused == refused
    assert wrong_results(bench.store.folder(job.id)) == [] and bench.results(job.id) == len(texts)
    assert sum(batch.texts for batch in job.batches) == len(texts)


@pytest.mark.parametrize("at_once", [False, True])
async def test_a_layout_that_the_ledger_does_not_learn_of_is_made_again(
    bench: FaultBench, picky: Picky, monkeypatch: pytest.MonkeyPatch, at_once: bool
) -> None:
    def fail(*_: object) -> None:
        raise DataError("The disk is full.")

    job = bench.draft(bench.write("texts.txt", "\n".join(TEXTS[:250])), Kind.EMBED, reuse=False)
    with monkeypatch.context() as full:
        full.setattr(submitting, "write_manifest", fail)
        job = await bench.run(bench.drafts.change(job.id, options=replace(job.options, at_once=at_once)))
    assert job.state is JobState.PAUSED and picky.taken == []
    await bench.restart()
    assert (await bench.ended(bench.runner.carry_on(job.id))).state is JobState.DONE
    assert Counter(picky.taken) == Counter(TEXTS[:250]) and wrong_results(bench.store.folder(job.id)) == []
    assert bench.results(job.id) == 250


async def test_what_cannot_be_halved_fails_as_the_service_said(bench: FaultBench, picky: Picky) -> None:
    picky.most = 0
    job = await bench.run(bench.draft(bench.write("texts.txt", "\n".join(TEXTS[:250])), Kind.EMBED))
    assert [batch.state for batch in job.batches] == [BatchState.FAILED] and picky.taken == []
    assert "must be <= 0" in job.batches[0].error_detail
