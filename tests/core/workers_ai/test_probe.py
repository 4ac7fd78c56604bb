"""A probe says of each assumption whether it held: against the stand-in with each of them broken, exactly that one."""

import json
from collections.abc import Awaitable, Callable
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from cfbatch_gui.core.connections.user_connections import learn
from cfbatch_gui.core.errors import DataError, OutcomeUnknown, OverBudget, ReplyError, UserError
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.practice.app import Application, practice_app
from cfbatch_gui.core.practice.local_models import HashedNgrams
from cfbatch_gui.core.system.settings import Learned
from cfbatch_gui.core.workers_ai.catalogue import DEFAULT_MODEL, MODELS, find_model
from cfbatch_gui.core.workers_ai.connection_kinds import Connection
from cfbatch_gui.core.workers_ai.probe import (
    MOST_DOLLARS,
    READ_ON,
    Assumption,
    Form,
    Outcome,
    Probe,
    ProbeResult,
    all_assumptions,
    json_report,
    plan_probe,
    text_report,
)
from tests.canary import SECRET, TOKEN
from tests.core.endpoints import conftest as stand_ins
from tests.core.endpoints.conftest import ACCOUNT, GATEWAY
from tests.core.jobs.conftest import Clock
from tests.support import faults
from tests.support.clients import client_of, cloudflare, gateway, worker
from tests.support.faults import Fault
from tests.support.faulty_service import FaultyService
from tests.support.http import Answer, Head, application, ask
from tests.support.sentences import code_of

ASSUMPTIONS = all_assumptions()
VISIBLE = [each.id for each in ASSUMPTIONS if each.is_visible]


Json = dict[str, Any]


class Call:
    """A request, and the answer of the practice service to be changed."""

    def __init__(self, head: Head, body: bytes, answer: Answer) -> None:
        self.head, self.sent = head, json.loads(body) if body else {}
        self.status, self.headers = answer.status, answer.headers
        self.content: Json = json.loads(answer.body)
        self.is_submit = "requests" in self.sent
        self.is_poll = "request_id" in self.sent and answer.status == 200
        self.is_run = "queueRequest" not in head.target
        self.is_done = self.is_poll and "responses" in self.result
        self.elements: list[Json] = self.result["responses"] if self.is_done else []
        self.outputs = [each["result"] for each in self.elements]
        if self.is_run and self.status == 200 and "result" in self.content:
            self.outputs.append(self.result)
        listed = [each for output in self.outputs for each in output.get("response", ())]
        self.scores: list[Json] = [each for each in listed if isinstance(each, dict)]
        self.vectors = [each for each in self.outputs if "shape" in each]

    @property
    def result(self) -> Any:
        return self.content["result"]

    def refuse(self, code: int, message: str, status: int = 400, *, when: bool = True) -> None:
        if not when:
            return
        self.status = status
        errors = [{"code": code, "message": message}]
        self.content = {"result": None, "success": False, "errors": errors, "messages": []}


Break = Callable[[Call], object]
SEEN: set[str] = set()  # ids whose results were given


def given_once(call: Call) -> None:
    if call.is_done and call.sent["request_id"] in SEEN:
        call.refuse(5504, "AiError: Request not found in queue")
    elif call.is_done:
        SEEN.add(call.sent["request_id"])


def usage_of_more(call: Call) -> None:
    if call.is_done:
        call.result["usage"] = {name: 1_000 * tokens for name, tokens in call.result["usage"].items()}


def rescored(change: Callable[[float], float], *, at_once: bool = False) -> Break:
    return lambda call: [each.update(score=change(each["score"])) for each in call.scores if call.is_run or not at_once]


BREAKS: dict[str, Break] = {
    "unknown-id": lambda call: call.refuse(4711, "AiError: no such thing", 404, when=call.status == 400),
    "queue-taken": lambda call: call.refuse(8007, "AiError: It does not support request queuing", when=call.is_submit),
    "done-again": given_once,
    "usage-estimate": usage_of_more,
    "references": lambda call: [each.update(external_reference=None) for each in call.elements],
    "scores-range": rescored(lambda score: 1.5 * score),
    "scores-meaning": rescored(lambda score: -score),
    "scores-cosine": rescored(lambda score: (1 + score) / 2),
    "run-numbers": rescored(lambda score: score - 0.05, at_once=True),
    "vector-order": lambda call: [each["data" if "data" in each else "response"].reverse() for each in call.vectors],
}


def unbroken(call: Call) -> None: ...


def changed(inner: Application, change: Break) -> Application:
    """A service with every answer passed to `change`."""

    async def answer(head: Head, body: bytes) -> Answer:
        call = Call(head, body, await ask(inner, head, body))
        change(call)
        return Answer(call.status, call.headers, json.dumps(call.content).encode())

    return application(answer)


class Bench:
    """Makes probes through a connection, and keeps what they write down and show."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.clock = folder, Clock()
        self.kept: list[tuple[str, str]] = []  # request ids, and the hashes of bodies
        self.shown: list[str] = []
        self.service: FaultyService | None = None

    def app(self, change: Break = unbroken) -> Application:
        """The practice service, ten seconds queued and ten running, with every answer passed to `change`."""
        inner = practice_app(
            self.folder / "service",
            seconds_queued=10,
            seconds_running=10,
            clock=self.clock,
            token=TOKEN,
            load_model=HashedNgrams,
        )
        return changed(inner, change)

    async def probe(
        self, change: Break = unbroken, *faults: Fault, title: str = "Cloudflare", **options: Any
    ) -> ProbeResult:
        async with FaultyService(self.app(change), faults) as self.service:
            return await self.through(cloudflare(ACCOUNT, base_url=self.service.url, title=title), **options)

    async def through(
        self,
        connection: Connection,
        *,
        model: str = DEFAULT_MODEL,
        token: str = TOKEN,
        keep: Callable[[str, str, str], Awaitable[None]] | None = None,
        wait_seconds: float = 300.0,
    ) -> ProbeResult:
        async def note(attempt: str, request_id: str, sha256: str) -> None:
            self.kept.append((request_id, sha256))

        probe = Probe(
            client_of(connection, token, clock=self.clock),
            plan_probe(find_model(model), "0f1e2d"),
            keep=keep or note,
            show=self.shown.append,
            sleep=self.clock.sleep,
            wait_seconds=wait_seconds,
        )
        return await probe.run()


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def named(result: ProbeResult, outcome: Outcome) -> set[str]:
    return {each.assumption.id for each in result.findings if each.outcome is outcome}


# The table


async def test_of_the_practice_service_everything_that_can_be_seen_is_held(bench: Bench) -> None:
    result = await bench.probe()
    assert named(result, Outcome.HELD) == set(VISIBLE)


@pytest.mark.parametrize("broken", VISIBLE)
async def test_exactly_the_broken_assumption_is_named(bench: Bench, broken: str) -> None:
    result = await bench.probe(BREAKS[broken])
    assert named(result, Outcome.NOT_HELD) == {broken}, text_report(result)
    (finding,) = [each for each in result.findings if each.assumption.id == broken]
    assert finding.observation.endswith(".") and finding.observation in text_report(result)


@pytest.mark.parametrize("model", [each.name for each in MODELS if not each.can_rank])
async def test_a_model_that_does_not_rank_is_probed_by_texts_alone(bench: Bench, model: str) -> None:
    result = await bench.probe(model=model)
    assert named(result, Outcome.NOT_HELD) == set()
    assert named(result, Outcome.NOT_SEEN) == {"scores-range", "scores-meaning", "scores-cosine"}
    assert [batch.form for batch in result.sent] == [Form.TEXT]


# Worker and gateway


async def test_a_worker_and_a_gateway_are_checked_alike(bench: Bench) -> None:
    app = bench.app()
    async with (
        FaultyService(app) as api,
        FaultyService(stand_ins.worker(app)) as workers,
        FaultyService(stand_ins.gateway(app)) as gateways,
    ):
        mine = await bench.through(worker(workers.url.removesuffix("/client/v4")), token=SECRET)
        theirs = await bench.through(gateway(ACCOUNT, GATEWAY, url=gateways.url, api_url=api.url))
    assert named(mine, Outcome.HELD) == named(theirs, Outcome.HELD) == set(VISIBLE)


# What it sends, and what becomes of it


def test_it_costs_less_than_a_tenth_of_a_cent_or_is_not_made() -> None:
    for model in MODELS:
        assert 0 < plan_probe(model, "0f1e2d").price.dollars < MOST_DOLLARS
    with pytest.raises(OverBudget):
        plan_probe(replace(find_model(DEFAULT_MODEL), neurons_per_million=10**6), "0f1e2d")


async def test_each_batch_is_sent_once_and_written_down_with_its_id_first(bench: Bench) -> None:
    result = await bench.probe()
    assert bench.service is not None
    sent = [each.sha256 for each in bench.service.submits]
    kept, hashes = zip(*bench.kept, strict=True)
    assert list(hashes) == sent[:3] and len(sent) == 4  # the last one is without the queue
    assert [(each.form, each.request_id) for each in result.sent] == list(zip(Form, kept, strict=True))
    assert {message("accepted_request_id", request_id=each) for each in kept} <= {*bench.shown}
    assert {code_of(each.sentence) for each in result.sent} == {"is_finished"} and result.is_whole


async def test_an_outcome_that_is_unknown_is_said_and_nothing_is_sent_again(bench: Bench) -> None:
    result = await bench.probe(unbroken, faults.reset_after_body(on="submit", number=2, billed=True))
    assert bench.service is not None
    assert len(bench.service.submits) == 2
    scores, contexts = result.sent
    assert code_of(scores.sentence) == "is_finished"
    assert contexts.sentence and OutcomeUnknown in {type(each.error) for each in result.failures}
    assert "run-numbers" in named(result, Outcome.NOT_SEEN)
    assert named(result, Outcome.NOT_HELD) == set()


async def test_a_batch_that_takes_too_long_can_be_collected_later(bench: Bench) -> None:
    result = await bench.probe(wait_seconds=5)
    assert not result.is_whole and not result.answered
    assert "references" in named(result, Outcome.NOT_SEEN)
    assert "queue-taken" in named(result, Outcome.HELD)


async def test_an_answer_that_the_program_would_not_take_is_the_sentence_of_its_batch(bench: Bench) -> None:
    def change(call: Call) -> None:
        for element in call.elements:
            element["id"] += 1

    result = await bench.probe(change)
    assert not result.is_whole and named(result, Outcome.NOT_HELD) == set()
    assert {type(each.error) for each in result.failures if each.form is Form.TEXT} >= {ReplyError}


async def test_an_id_that_cannot_be_written_down_is_shown(bench: Bench) -> None:
    async def full(*accepted: object) -> None:
        raise DataError("FULL")

    result = await bench.probe(keep=full)
    assert named(result, Outcome.NOT_HELD) == set()
    assert any("FULL" in each for each in bench.shown if code_of(each) == "id_could_not_be_written_down")
    assert [code_of(each) for each in bench.shown].count("accepted_request_id") == 3


@pytest.mark.parametrize("fault", [faults.refusal(times=0, status=401, code=10000), faults.page(times=0)])
async def test_when_the_free_calls_fail_nothing_is_sent(bench: Bench, fault: Fault) -> None:
    with pytest.raises(UserError):
        await bench.probe(unbroken, fault)
    assert bench.service is not None and not bench.service.submits


# Reports


async def test_the_reports_hold_nothing_that_is_secret(bench: Bench) -> None:
    def echo(call: Call) -> None:
        """Repeats the token, the account and the id in every text of the answer."""
        secret = f"{call.head.header('authorization')} {ACCOUNT}"

        def spoil(value: object) -> object:
            if isinstance(value, dict):
                return {name: spoil(each) for name, each in value.items()}
            if isinstance(value, list):
                return [spoil(each) for each in value]
            return f"{value} {secret}" if isinstance(value, str) and call.result is not None else value

        if not call.is_submit:
            call.content = spoil(call.content)  # type: ignore[assignment]

    for change in (unbroken, echo):
        bench.kept.clear()
        result = await bench.probe(change)
        for report in (text_report(result), json_report(result)):
            for secret in (TOKEN, ACCOUNT, *(request_id for request_id, _ in bench.kept)):
                assert secret not in report
            assert result.connection.account_mark in report and DEFAULT_MODEL in report
        assert sum(json.loads(json_report(result))["outcomes"].values()) == len(VISIBLE)


async def test_the_users_name_for_the_connection_is_in_no_report(bench: Bench) -> None:
    for fault in (
        faults.reset_after_body(on="submit", billed=True),
        faults.refusal(on="submit", status=403, code=5018),
    ):
        result = await bench.probe(unbroken, fault, title="Secret project")
        assert "Secret project" not in text_report(result) + json_report(result)
        assert result.sent[0].form is Form.SCORES


async def test_what_is_learned_is_known_of_this_connection_model_and_account(bench: Bench) -> None:
    known: tuple[Learned, ...] = (Learned("lisbon", DEFAULT_MODEL, "mark", False, False, 1.0),)
    lisbon, seen = known[0], [("references", True, False), ("queue-taken", False, False), ("", True, True)]
    for broken, queue, references in seen:  # without a batch no reference is seen, and what was known of them stays
        result = await bench.probe(BREAKS.get(broken, unbroken))
        known = learn(result, "berlin", known)
        facts = (DEFAULT_MODEL, result.connection.account_mark, queue, references, result.started)
        assert known == (lisbon, Learned("berlin", *facts))
    known = learn(await bench.probe(BREAKS["queue-taken"]), "berlin", [replace(known[1], account_mark="other")])
    assert [(each.queue, each.references) for each in known] == [(False, None)]


ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "protocol.md"


def page(introduction: str) -> str:
    lines = [introduction]
    for area, entries in groupby(all_assumptions(), key=lambda each: each.area):
        lines += [f"## {area}", "", "| id | assumed | source | otherwise | a check looks |", "|---|---|---|---|---|"]
        lines += [_row(each) for each in entries]
        lines.append("")
    return "\n".join(lines)


def _row(each: Assumption) -> str:
    sight = f"no: {each.reason}" if each.reason else "yes"
    return f"| `{each.id}` | {each.sentence} | {each.source} | {each.otherwise} | {sight} |"


def test_the_page_shows_the_table_of_the_code(request: pytest.FixtureRequest) -> None:
    introduction = PAGE.read_text("utf-8").partition("\n## ")[0]
    if request.config.getoption("--write-docs"):
        PAGE.write_text(page(introduction), "utf-8")
    assert PAGE.read_text("utf-8") == page(introduction) and f"as it was in {READ_ON}" in " ".join(introduction.split())
