"""A small, paid check of the live service: what the program takes for granted, and would not notice, is tried once.

The answers are read by the client, which refuses what contradicts itself or the request: that is not judged once more,
and is the sentence of its batch. `assumptions.txt` has a row for each assumption, `_CHECKS` how it is told.
"""

import asyncio
import hashlib
import json
import uuid
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from functools import cache, partial
from itertools import combinations
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from cfbatch_gui import __version__
from cfbatch_gui.core.errors import (
    ConnectionProblem,
    DataError,
    OutcomeUnknown,
    OverBudget,
    QueueNotSupported,
    RequestGone,
    ServiceBusy,
    Unreachable,
    UserError,
)
from cfbatch_gui.core.messages import Message, literal, message
from cfbatch_gui.core.resources import resource
from cfbatch_gui.core.workers_ai.answers import Embedded, Finished, Matched, Scored, expected_of, match, read_run
from cfbatch_gui.core.workers_ai.catalogue import ModelMetadata, Price, price
from cfbatch_gui.core.workers_ai.client import NO_REQUEST, Reply, WorkersAI, is_passing
from cfbatch_gui.core.workers_ai.connection_kinds import Connection
from cfbatch_gui.core.workers_ai.estimate import tokens_lower, tokens_most
from cfbatch_gui.core.workers_ai.requests import Request, encode_batch, encode_request

READ_ON: Final = "2026-08"  # when the sources of the assumptions were read
MOST_DOLLARS: Final = 0.001  # a probe that may cost more is not made
WAIT_SECONDS: Final = 300.0  # for all batches: Cloudflare's page says that they usually take up to five minutes
_LONGEST_PAUSE: Final = 15.0  # seconds between two polls
_CANCEL_SECONDS: Final = 1.5  # that a submit in flight has left when a probe is cancelled: the window may be closing
_MARGIN: Final = 2  # counted tokens are at most so many times the high estimate, at least the low one divided by it

_QUERY: Final = "How do I cancel my order?"
_RELATED: Final = "Orders can be cancelled until they have been shipped."
_UNRELATED: Final = "The museum is closed on Mondays."
_ORDERS: Final = ((_UNRELATED, _QUERY, _RELATED), (_QUERY, _RELATED, _UNRELATED))

_SHUT: Final = (ConnectionProblem, ServiceBusy)  # go no further

T = TypeVar("T")
Samples: TypeAlias = Iterable[tuple[bool | float, bool]]  # what was seen, and whether it is as assumed
Vector: TypeAlias = NDArray[np.float32]


# What is assumed


@dataclass(frozen=True, slots=True)
class Assumption:
    """`otherwise` is what the program does if it is not true; `reason` says why a probe cannot see it.

    `source` is a path below https://developers.cloudflare.com/.
    """

    id: str
    area: str
    sentence: str
    source: str
    otherwise: str
    reason: str

    @property
    def is_visible(self) -> bool:
        return self.id in _CHECKS


@cache
def all_assumptions() -> tuple[Assumption, ...]:
    """All of them, by area."""
    found, area = [], ""
    for line in resource("assumptions.txt").read_text("utf-8").splitlines():
        if line.startswith("# "):
            area = line[2:]
            continue
        id_, sentence, source, otherwise, reason = (literal(cell.strip()) for cell in line.split("|"))
        found.append(Assumption(str(id_), area, sentence, source, otherwise, reason))
    return tuple(found)


class Outcome(StrEnum):
    """How an assumption came off."""

    HELD = "held"
    NOT_HELD = "not held"
    NOT_SEEN = "not seen"


@dataclass(frozen=True, slots=True)
class Finding:
    """`observation` is one line about what was seen, or why nothing was."""

    assumption: Assumption
    outcome: Outcome
    observation: str


# What is sent


class Form(StrEnum):
    """The forms of a request; a batch of a probe has one alone."""

    SCORES = message("query_contexts")
    CONTEXTS = message("contexts")
    TEXT = message("plain_text")


@dataclass(slots=True)
class ProbeBatch:
    """Two requests of one form, with the same texts in two orders, and what became of them.

    `sentence` is "" until it is sent. `results` are those of the two requests, in their order.
    """

    form: Form
    requests: tuple[Request, ...]
    request_id: str = ""
    sentence: str = ""
    answer: Finished | None = None
    again: Finished | None = None
    results: list[Matched] = field(default_factory=list)

    @property
    def tokens(self) -> tuple[int, int]:  # at least, and at most
        texts = [text for request in self.requests for text in _texts_of(request)]
        return sum(map(tokens_lower, texts)), sum(tokens_most(text) + 2 for text in texts)


@dataclass(frozen=True, slots=True)
class ProbePlan:
    """For one probe: the batches, and the first request once more without the queue; `price` is the most of it all."""

    model: ModelMetadata
    batches: tuple[ProbeBatch, ...]
    price: Price


def plan_probe(model: ModelMetadata, mark: str) -> ProbePlan:
    """Plan a probe. `mark` makes its references unique. Raises OverBudget from MOST_DOLLARS on."""
    batches = []
    for form in Form if model.can_rank else (Form.TEXT,):
        requests: list[Request] = []
        for number, texts in enumerate(_ORDERS):
            reference = f"probe-{mark}-{form.name.lower()}-{number}"
            query = _QUERY if form is Form.SCORES else None
            requests.append(Request(texts, query, reference, in_contexts=form is Form.CONTEXTS))
        batches.append(ProbeBatch(form, tuple(requests)))
    once_more = ProbeBatch(batches[0].form, batches[0].requests[:1])
    cost = price(_MARGIN * sum(each.tokens[1] for each in (*batches, once_more)), model)
    if cost.dollars >= MOST_DOLLARS:
        raise OverBudget(
            message("check_name_may_cost_dollars_check", name=model.name, dollars=cost.dollars, most=MOST_DOLLARS)
        )
    return ProbePlan(model, tuple(batches), cost)


def _texts_of(request: Request) -> tuple[str, ...]:
    return request.texts if request.query is None else (request.query, *request.texts)


# What came back


class Step(StrEnum):
    UNKNOWN_ID = "the poll for an unknown id"
    SUBMIT = "a batch"
    POLL = "a poll"
    AGAIN = "another poll after the end"
    RUN = "the call without the queue"


class Failure(NamedTuple):
    """A call whose answer the program could not use."""

    step: Step
    form: Form | None
    error: UserError


@dataclass(slots=True)
class ProbeResult:
    """What the calls of a probe have brought, and the findings in the order of the table.

    `started` is in seconds since 1970; `direct` is the result without the queue.
    """

    plan: ProbePlan
    connection: Connection
    started: float
    failures: list[Failure] = field(default_factory=list)
    direct: Matched | None = None
    findings: tuple[Finding, ...] = ()

    @property
    def sent(self) -> list[ProbeBatch]:
        return [batch for batch in self.plan.batches if batch.sentence]

    @property
    def answered(self) -> list[tuple[ProbeBatch, Finished]]:
        return [(batch, batch.answer) for batch in self.plan.batches if batch.answer is not None]

    @property
    def is_whole(self) -> bool:
        """Whether batches were sent, and all of them finished."""
        return 0 < len(self.sent) == len(self.answered)

    def errors(self, *steps: Step) -> list[UserError]:
        return [each.error for each in self.failures if each.step in steps]

    def sentence_of(self, error: UserError) -> str:
        """The sentence with the kind of connection in place of the user's name for it."""
        return error.message.replace(self.connection.title or "\n", str(self.connection.kind))

    def asked(self) -> Iterator[tuple[tuple[str, ...], Matched]]:
        """The texts of each request that was answered, the query first, with its result."""
        for batch in self.plan.batches:
            for request, result in zip(batch.requests, batch.results, strict=False):
                yield _texts_of(request), result

    def scores(self) -> list[tuple[tuple[str, ...], list[float]]]:
        return [(texts, found.scores.tolist()) for texts, found in self.asked() if isinstance(found, Scored)]

    def vectors(self) -> list[tuple[str, Vector]]:
        found = ((texts, each.vectors) for texts, each in self.asked() if isinstance(each, Embedded))
        return [pair for texts, vectors in found for pair in zip(texts, vectors, strict=True)]

    def holds(self, *ids: str) -> bool:
        return all((found := list(_CHECKS[id_](self))) and all(is_right for _, is_right in found) for id_ in ids)


def _cosine(one: Vector, other: Vector) -> float:
    norms = float(np.linalg.norm(one)) * float(np.linalg.norm(other))
    return float(one @ other) / norms if norms else 0.0


# How it is told whether an assumption holds


def _true(found: Iterable[bool]) -> Samples:
    return ((each, each) for each in found)


def _within(found: Iterable[float], least: float, most: float) -> Samples:
    return ((each, least <= each <= most) for each in found)


def _queue_taken(seen: ProbeResult) -> Samples:
    refused = [False for error in seen.errors(Step.SUBMIT) if isinstance(error, QueueNotSupported)]
    return _true([True] if any(batch.request_id for batch in seen.plan.batches) else refused[:1])


def _done_again(seen: ProbeResult) -> Samples:
    both = ((answer, batch.again) for batch, answer in seen.answered if batch.again is not None)
    return _true([*(False for _ in seen.errors(Step.AGAIN)), *(_sorted(one) == _sorted(other) for one, other in both)])


def _sorted(finished: Finished) -> list[bytes]:
    return sorted(map(msgspec.json.encode, finished.elements))


def _references(seen: ProbeResult) -> Samples:
    return _true(
        sorted(str(each.external_reference) for each in answer.elements) == [each.reference for each in batch.requests]
        for batch, answer in seen.answered
    )


def _usage_estimate(seen: ProbeResult) -> Samples:
    counted = [(float(answer.tokens), *batch.tokens) for batch, answer in seen.answered if answer.tokens]
    return ((tokens, low / _MARGIN <= tokens <= high * _MARGIN) for tokens, low, high in counted)


def _score_and_cosine(seen: ProbeResult) -> Iterator[float]:
    vectors = dict(seen.vectors())
    for (query, *contexts), scores in seen.scores():
        if vectors and seen.holds("scores-range", "scores-meaning", "vector-order"):
            for context, score in zip(contexts, scores, strict=True):
                yield abs(score - _cosine(vectors[query], vectors[context]))


def _same_texts(seen: ProbeResult) -> Iterator[float]:
    for (text, vector), (other_text, other) in combinations(seen.vectors(), 2):
        if text == other_text and len(vector) == len(other):
            yield _cosine(vector, other)


def _run_numbers(seen: ProbeResult) -> Samples:
    queued = next((result for _, result in seen.asked()), None)
    match queued, seen.direct:
        case Scored(), Scored():
            return _within(np.abs(queued.scores - seen.direct.scores).tolist(), 0, _SAME_SCORE)
        case Embedded(), Embedded():
            return _within(map(_cosine, queued.vectors, seen.direct.vectors), *_SAME_VECTOR)
    return ()


_SAME_SCORE: Final = 0.02  # numbers of half precision, and a model that may be computed in another order
_SAME_VECTOR: Final = (0.99, 1.01)  # cosine
_SCORES: Final = (-1.01, 1.01)  # half precision may round 1 up
_CHECKS: Final[dict[str, Callable[[ProbeResult], Samples]]] = {
    "unknown-id": lambda e: _true(isinstance(error, RequestGone) for error in e.errors(Step.UNKNOWN_ID)),
    "queue-taken": _queue_taken,
    "done-again": _done_again,
    "references": _references,
    "usage-estimate": _usage_estimate,
    "scores-range": lambda e: _within((each for _, scores in e.scores() for each in scores), *_SCORES),
    "scores-meaning": lambda e: _true(texts[1:][scores.index(max(scores))] == _QUERY for texts, scores in e.scores()),
    "scores-cosine": lambda e: _within(_score_and_cosine(e), 0, _SAME_SCORE),
    "vector-order": lambda e: _within(_same_texts(e), *_SAME_VECTOR),
    "run-numbers": _run_numbers,
}


def _judged(assumption: Assumption, seen: ProbeResult) -> tuple[Outcome, str]:
    samples = list(_CHECKS[assumption.id](seen))
    wrong = [found for found, is_right in samples if not is_right]
    if not samples:
        paid = seen.errors(Step.SUBMIT, Step.POLL, Step.RUN)
        return Outcome.NOT_SEEN, seen.sentence_of(paid[-1]) if paid else message("nothing_came_back_tells")
    outcome, found = (Outcome.NOT_HELD, wrong) if wrong else (Outcome.HELD, [found for found, _ in samples])
    if isinstance(found[0], bool):
        return outcome, message("n_all_answers", n=len(samples) - len(wrong), all=len(samples))
    return outcome, message("from_least_most", least=round(min(found), 4), most=round(max(found), 4))


# The calls


class Probe:
    """A free call first, then one batch of each form, then one call without the queue; nothing is sent twice.

    `keep` has written an accepted batch down when it returns: its attempt, its request id, the SHA-256 of its body.
    """

    def __init__(
        self,
        client: WorkersAI,
        plan: ProbePlan,
        *,
        keep: Callable[[str, str, str], Awaitable[None]],
        show: Callable[[str], None] = lambda sentence: None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        wait_seconds: float = WAIT_SECONDS,
    ) -> None:
        self._client, self._plan, self._ask = client, plan, partial(client.ask, plan.model.name)
        self._keep, self._show, self._sleep, self._wait_seconds = keep, show, sleep, wait_seconds
        self._result = ProbeResult(plan, client.connection, client.now())

    async def run(self) -> ProbeResult:
        """Raises NotConnected, TokenRefused, ServiceBusy and Unreachable from the first, free call."""
        self._show(message("asking_batch_does_not_exist"))
        await self._call(Step.UNKNOWN_ID, None, self._ask(NO_REQUEST))
        for batch in self._plan.batches:
            await self._submit(batch)
            if not batch.request_id:
                break
        await self._wait()
        if not any(isinstance(each, OutcomeUnknown | Unreachable) for each in self._result.errors(Step.SUBMIT)):
            self._show(message("sending_one_request_without_queue"))  # the connection has not broken
            self._result.direct = await self._call(Step.RUN, None, self._run())
        found = (each for each in all_assumptions() if each.is_visible)
        self._result.findings = tuple(Finding(each, *_judged(each, self._result)) for each in found)
        return self._result

    async def _run(self) -> Matched:
        request = self._plan.batches[0].requests[0]
        raw = await self._client.run(self._plan.model.name, encode_request(request))
        return next(match(read_run(raw), [expected_of(request)]))

    async def _call(self, step: Step, form: Form | None, call: Awaitable[T]) -> T | None:
        """None for a call that failed, whose error is noted. Raises _SHUT from the first call."""
        try:
            return await call
        except UserError as error:
            if step is Step.UNKNOWN_ID and isinstance(error, _SHUT):
                raise
            self._result.failures.append(Failure(step, form, error))
            return None

    async def _submit(self, batch: ProbeBatch) -> None:
        """Send a batch, once, not cut off."""
        self._show(message("sending_batch_form_form", form=literal(batch.form)))
        sending = asyncio.create_task(self._call(Step.SUBMIT, batch.form, self._send(batch)))
        try:
            await asyncio.shield(sending)
        except asyncio.CancelledError:
            await asyncio.wait({sending}, timeout=_CANCEL_SECONDS)
            raise
        if not batch.request_id:
            batch.sentence = self._result.sentence_of(self._result.failures[-1].error)

    async def _send(self, batch: ProbeBatch) -> None:
        body, attempt = encode_batch(map(encode_request, batch.requests)), uuid.uuid4().hex
        batch.request_id = (await self._client.submit(self._plan.model.name, body)).request_id
        batch.sentence = message("was_accepted")
        digest = hashlib.sha256(body).hexdigest()
        try:
            await self._keep(attempt, batch.request_id, digest)
        except DataError as error:
            self._show(message("id_could_not_be_written_down", sentence=error.message))
        self._show(message("accepted_request_id", request_id=batch.request_id))

    async def _wait(self) -> None:
        waiting = [batch for batch in self._plan.batches if batch.request_id]
        until, pause = self._client.now() + self._wait_seconds, self._client.connection.first_check
        if waiting:
            self._show(message("waiting_results"))
        while waiting:
            waiting = [batch for batch in waiting if not await self._is_over(batch)]
            if not waiting or self._client.now() + pause > until:
                break
            await self._sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)
        for batch in waiting:
            batch.sentence = message("was_accepted_was_not_finished_time")
        for batch, _ in self._result.answered[:1]:
            found = await self._call(Step.AGAIN, batch.form, self._ask(batch.request_id))
            batch.again = found.finished if isinstance(found, Reply) else None

    async def _is_over(self, batch: ProbeBatch) -> bool:
        try:
            answer = await self._ask(batch.request_id)
            if not isinstance(answer, Reply):
                return False
            expected = list(map(expected_of, batch.requests))
            batch.results, batch.answer = list(match(answer.finished, expected)), answer.finished
            batch.sentence = message("is_finished")
        except UserError as error:
            self._result.failures.append(Failure(Step.POLL, batch.form, error))
            if is_passing(error):
                return False
            batch.sentence = self._result.sentence_of(error)
        return True


# The report: no token, no account id and no whole request id


def counts_sentence(findings: tuple[Finding, ...]) -> Message:
    """ "15 held, 1 not held, 2 not seen." """
    outcomes = [each.outcome for each in findings]
    held, broken, unseen = map(outcomes.count, (Outcome.HELD, Outcome.NOT_HELD, Outcome.NOT_SEEN))
    return message("held_held_broken_not_held_unseen", held=held, broken=broken, unseen=unseen)


def report_for(result: ProbeResult, path: Path) -> bytes:
    """The report for a file: as JSON where its name says so, else as text."""
    report = json_report if path.suffix.lower() == ".json" else text_report
    return report(result).encode()


def text_report(result: ProbeResult) -> str:
    """The report as text: what is one value, then each list; what did not hold comes first."""
    lines = [str(counts_sentence(result.findings))]
    for name, value in _facts(result).items():
        title = name.replace("_", " ").capitalize()
        if isinstance(value, list):
            lines += ["", title if value else f"{title}: none"]
            lines += ["  " + " | ".join(str(word) for word in entry.values() if word) for entry in value]
        elif not isinstance(value, dict):
            lines.append(f"{title}: {value}")
    return "\n".join(lines) + "\n"


def json_report(result: ProbeResult) -> str:
    """The report as one JSON object, indented."""
    return json.dumps(_facts(result), indent=2, ensure_ascii=False) + "\n"


def _facts(result: ProbeResult) -> dict[str, Any]:
    counts = Counter(each.outcome for each in result.findings)
    return {
        "report": "check of the service",
        "program": "CF Batch",
        "version": __version__,
        "date": f"{datetime.fromtimestamp(result.started, UTC):%Y-%m-%d %H:%M} UTC",
        "connection": str(result.connection.kind),
        "account_mark": result.connection.account_mark,
        "model": result.plan.model.name,
        "most_dollars": round(result.plan.price.dollars, 6),
        "assumptions_read": READ_ON,
        "outcomes": {str(outcome): counts[outcome] for outcome in Outcome},
        "assumptions": [
            {
                "id": each.assumption.id,
                "outcome": str(each.outcome),
                "observation": each.observation,
                "sentence": each.assumption.sentence,
                **({"otherwise": each.assumption.otherwise} if each.outcome is Outcome.NOT_HELD else {}),
            }
            for each in sorted(result.findings, key=lambda each: each.outcome is not Outcome.NOT_HELD)
        ],
        "batches": [
            {
                "form": str(each.form),
                "request_id": f"{each.request_id[:4]}…" if each.request_id else "",
                "sentence": each.sentence,
            }
            for each in result.sent
        ],
        "errors": [
            {
                "step": f"{step}, {form}" if form else str(step),
                "error": type(error).__name__,
                "code": error.code,
            }
            for step, form, error in result.failures
        ],
    }
