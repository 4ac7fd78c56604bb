"""A small, paid check of the live service: each assumption about it is held, not held or not seen.

`assumptions.txt` has a row for each, `_CHECKS` says how it is told from what came back. Everything here tolerates any
JSON at all: a probe is made to see what the program does not expect.
"""

import asyncio
import hashlib
import json
import logging
import math
import re
import uuid
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from functools import cache
from itertools import combinations
from operator import mul
from typing import Any, Final, TypeAlias

from cfbatch_gui import __version__
from cfbatch_gui.core.errors import (
    DataError,
    NotConnected,
    OverBudget,
    QueueNotSupported,
    ServiceBusy,
    ServiceRefused,
    TokenRefused,
    Unreachable,
    UserError,
)
from cfbatch_gui.core.messages import comma_list, message, quoted, stored_message
from cfbatch_gui.core.system.paths import resource
from cfbatch_gui.core.workers_ai.catalogue import DEFAULT_MODEL, ModelMetadata, Price, find_model, price
from cfbatch_gui.core.workers_ai.client import WorkersAI, is_passing
from cfbatch_gui.core.workers_ai.connection_kinds import ConnectionKind
from cfbatch_gui.core.workers_ai.estimate import tokens_lower, tokens_most
from cfbatch_gui.core.workers_ai.requests import EmbedRequest, RankRequest, Request, encode_batch, encode_request
from cfbatch_gui.core.workers_ai.transport import HttpAnswer, Transport

READ_ON: Final = "2026-08"  # when the sources of the assumptions were read
MOST_DOLLARS: Final = 0.001  # a probe that may cost more is not made
WAIT_SECONDS: Final = 300.0  # for all batches: Cloudflare's page says that they usually take up to five minutes
NONSENSE: Final = "no-model-is-called-so-6f1b"
NO_MODEL: Final = "@cf/baai/no-such-model-6f1b"
_LONGEST_PAUSE: Final = 15.0  # seconds between two polls
_CANCEL_SECONDS: Final = 1.5  # that a submit in flight has left when a probe is cancelled: the window may be closing
_MARGIN: Final = 2  # counted tokens are at most so many times the high estimate, at least the low one divided by it

_QUERY: Final = "How do I cancel my order?"
_RELATED: Final = "Orders can be cancelled until they have been shipped."
_UNRELATED: Final = "The museum is closed on Mondays."
_ORDERS: Final = ((_UNRELATED, _QUERY, _RELATED), (_QUERY, _RELATED, _UNRELATED))

_log = logging.getLogger(__name__)
Vector: TypeAlias = list[float]
Samples: TypeAlias = Iterable[tuple[Any, bool]]  # what was seen, and whether it is as assumed


# What is assumed


@dataclass(frozen=True, slots=True)
class Assumption:
    """`otherwise` is what the program does if it is not true; `reason` says why a probe cannot see it.

    `source` is a path below https://developers.cloudflare.com/; `kinds` are those of connections.
    """

    id: str
    area: str
    sentence: str
    source: str
    otherwise: str
    reason: str
    kinds: frozenset[str]

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
        id_, sentence, source, otherwise, reason, kinds = (stored_message(cell.strip()) for cell in line.split("|"))
        about = frozenset(kinds.split() or ConnectionKind)
        found.append(Assumption(str(id_), area, sentence, source, otherwise, reason, about))
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

    SCORES = message("query and contexts")
    CONTEXTS = message("contexts")
    TEXT = message("text")


@dataclass(frozen=True, slots=True)
class ProbeBatch:
    """Two requests of one form, with the same texts in two orders."""

    form: Form
    requests: tuple[Request, ...]

    @property
    def body(self) -> bytes:
        return encode_batch(map(encode_request, self.requests))

    @property
    def tokens(self) -> tuple[int, int]:
        texts = [text for request in self.requests for text in _texts_of(request)]
        return sum(map(tokens_lower, texts)), sum(tokens_most(text) + 2 for text in texts)


@dataclass(frozen=True, slots=True)
class ProbePlan:
    """The batches, and the first request once more without the queue; `price` is the most that all of it costs."""

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
            is_text = form is Form.TEXT
            requests.append(EmbedRequest(texts, reference) if is_text else RankRequest(query, texts, reference))
        batches.append(ProbeBatch(form, tuple(requests)))
    once_more = ProbeBatch(batches[0].form, batches[0].requests[:1])
    cost = price(_MARGIN * sum(each.tokens[1] for each in (*batches, once_more)), model)
    if cost.dollars >= MOST_DOLLARS:
        raise OverBudget(
            message(
                "A check of {name} may cost ${dollars:.3f}, and a check must cost less than ${most}. "
                "Nothing was sent. Choose another model.",
                name=model.name,
                dollars=cost.dollars,
                most=MOST_DOLLARS,
            )
        )
    return ProbePlan(model, tuple(batches), cost)


def _texts_of(request: Request) -> tuple[str, ...]:
    if isinstance(request, EmbedRequest):
        return request.texts
    return request.contexts if request.query is None else (request.query, *request.contexts)


# What came back


class Step(StrEnum):
    NONSENSE = message("the search for nonsense")
    MODEL = message("the search for the model")
    UNKNOWN_ID = message("the poll for an unknown id")
    UNKNOWN_MODEL = message("the poll of an unknown model")
    SUBMIT = message("a batch")
    POLL = message("a poll")
    AGAIN = message("another poll after the end")
    RUN = message("the call without the queue")


class Recorder(Transport):
    """A transport that keeps the last answer."""

    _last: HttpAnswer | None = None

    async def send(self, *arguments: Any, **options: Any) -> HttpAnswer:
        self._last = await super().send(*arguments, **options)
        return self._last

    def taken(self) -> HttpAnswer | None:
        """The answer since the last time; None when there was none."""
        last, self._last = self._last, None
        return last


@dataclass(frozen=True, slots=True)
class Exchange:
    """`status` is 0 without an answer; `content` is its JSON, None when it is none; `error` is the program's."""

    step: Step
    form: Form | None
    status: int
    headers: Mapping[str, str]
    content: Any
    error: UserError | None

    @property
    def is_wrapped(self) -> bool:
        return isinstance(self.content, dict) and {"result", "success"} <= self.content.keys()

    @property
    def result(self) -> Any:
        return self.content["result"] if self.is_wrapped else self.content

    @property
    def is_refusal(self) -> bool:
        return self.status >= 400 or _get(self.content, "success") is False or bool(_get(self.content, "error"))

    @property
    def is_good(self) -> bool:
        return 200 <= self.status < 300 and self.content is not None and not self.is_refusal

    @property
    def errors(self) -> list[tuple[Any, Any]]:
        """Code and message of each error."""
        if _get(self.content, "internalCode") is not None:  # a gateway's own form
            return [(self.content["internalCode"], self.content.get("message"))]
        listed = _get(self.content, "errors") or _get(self.content, "error")
        return [(each.get("code"), each.get("message")) for each in _groups(listed)]

    @property
    def codes(self) -> list[int]:
        return [code for code, _ in self.errors if isinstance(code, int) and not isinstance(code, bool)]

    @property
    def elements(self) -> list[dict[str, Any]] | None:
        """The results of a finished batch; None while there are none."""
        found = _get(self.result, "responses")
        found = _get(self.result, "results") if found is None else found
        return _groups(found) if self.is_good and isinstance(found, list) else None


@dataclass(slots=True)
class Evidence:
    """All exchanges of a probe, in their order."""

    plan: ProbePlan
    kind: ConnectionKind
    title: str = ""
    exchanges: list[Exchange] = field(default_factory=list)
    request_ids: dict[Form, str] = field(default_factory=dict)

    def of(self, *steps: Step) -> list[Exchange]:
        return [each for each in self.exchanges if each.status and (not steps or each.step in steps)]

    def good(self, *steps: Step) -> list[Exchange]:
        return [each for each in self.of(*steps) if each.is_good]

    def fields(self, name: str, *steps: Step) -> list[Any]:
        """What the good answers of these steps have under a name, None where nothing."""
        return [_get(each.result, name) for each in self.good(*steps) if isinstance(each.result, dict)]

    def sentence_of(self, error: UserError) -> str:
        """The sentence with the kind of connection in place of the user's name for it."""
        return error.message.replace(self.title or "\n", str(self.kind))

    def finished(self) -> dict[Form, Exchange]:
        return {each.form: each for each in self.of(Step.POLL) if each.form and each.elements is not None}

    def elements(self) -> list[tuple[ProbeBatch, list[dict[str, Any]]]]:
        finished = self.finished()
        return [(batch, finished[batch.form].elements or []) for batch in self.plan.batches if batch.form in finished]

    def outputs(self, *forms: Form) -> list[tuple[tuple[str, ...], dict[str, Any]]]:
        """What the model gave for the requests of these forms, with their texts."""
        return [
            (texts, output)
            for batch, elements in self.elements()
            if not forms or batch.form in forms
            for element in elements
            if isinstance(output := _output(element), dict) and (texts := _texts_asked(batch, element))
        ]

    def scores(self) -> list[tuple[tuple[str, ...], dict[int, float]]]:
        """The texts of each request, the query first, with its scores by context."""
        return [(texts, scores) for texts, output in self.outputs(Form.SCORES) if (scores := _scores_in(output))]

    def vectors(self) -> list[tuple[str, Vector]]:
        outputs = self.outputs(Form.CONTEXTS, Form.TEXT)
        return [pair for texts, output in outputs for pair in zip(texts, _vectors_in(output), strict=False)]

    def entry(self) -> dict[str, Any] | None:
        listed = [entry for each in self.good(Step.MODEL) for entry in _groups(each.result)]
        return next((each for each in listed if each.get("name") == self.plan.model.name), None)

    def properties(self) -> dict[str, Any]:
        listed = _groups(_get(self.entry(), "properties"))
        return {str(each["property_id"]): each.get("value") for each in listed if "property_id" in each}

    @property
    def is_taken(self) -> bool:
        return bool(self.fields("request_id", Step.SUBMIT))

    def holds(self, *ids: str) -> bool:
        return all((found := list(_CHECKS[id_](self))) and all(is_right for _, is_right in found) for id_ in ids)


def _get(value: object, name: str) -> Any:
    return value.get(name) if isinstance(value, dict) else None


def _groups(value: object) -> list[dict[str, Any]]:
    return [each for each in (value if isinstance(value, list) else [value]) if isinstance(each, dict)]


def _output(element: Mapping[str, Any]) -> Any:
    output, inner = element.get("result"), _get(element.get("result"), "result")
    return inner if isinstance(inner, dict) else output


def _index(batch: ProbeBatch, element: Mapping[str, Any]) -> int | None:
    sent = [request.reference for request in batch.requests]
    if element.get("external_reference") in sent:
        return sent.index(element["external_reference"])
    number = element.get("id")
    return number if isinstance(number, int) and _is_count(number, len(sent)) else None


def _texts_asked(batch: ProbeBatch, element: Mapping[str, Any]) -> tuple[str, ...]:
    index = _index(batch, element)
    return () if index is None else _texts_of(batch.requests[index])


def _scores_in(output: object) -> dict[int, float]:
    listed = _get(output, "response")
    return {
        each["id"]: float(each["score"])
        for each in (_groups(listed) if isinstance(listed, list) else ())
        if _is_count(each.get("id"), 1 << 20) and _is_number(each.get("score"))
    }


def _vectors_in(output: object) -> list[Vector]:
    listed = _get(output, "data") or _get(output, "response")
    rows = listed if isinstance(listed, list) else []
    if not all(isinstance(row, list) and row and all(map(_is_number, row)) for row in rows):
        return []
    return [list(map(float, row)) for row in rows]


def _is_number(value: object) -> bool:
    return isinstance(value, float) or (isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1 << 62)


def _is_count(value: object, below: int = 10**12) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < below


def _number(value: object) -> float | None:
    if isinstance(value, str):
        with suppress(ValueError):
            return float(value.replace(",", ""))
    return float(value) if _is_number(value) else None  # type: ignore[arg-type]  # it is a number


def _cosine(one: Vector, other: Vector) -> float:
    norms = math.hypot(*one) * math.hypot(*other)
    return sum(map(mul, one, other)) / norms if 0 < norms < math.inf else 0.0


# How it is told whether an assumption holds


def _equal(found: Iterable[Any], *expected: Any) -> Samples:
    return ((each, each in expected) for each in found)


def _true(found: Iterable[bool]) -> Samples:
    return _equal(found, True)


def _within(found: Iterable[float], least: float, most: float) -> Samples:
    return ((each, least <= each <= most) for each in found)


def _code(evidence: Evidence, step: Step, *expected: int) -> Samples:
    for each in evidence.of(step):
        codes, is_right = each.codes, bool(set(each.codes) & set(expected))
        if not each.is_refusal:
            yield False, each.content is None
        elif codes and (is_right or not set(codes) & _OF_SOMETHING_ELSE):
            yield str(codes[0]), is_right


def _has_list(name: str, outputs: Iterable[Any]) -> Samples:
    return _true(isinstance(_get(each, name), list) for each in outputs)


def _listed_entry(evidence: Evidence) -> Samples:
    listed = _get(evidence.entry(), "properties")
    is_right = bool(listed) and all({"property_id", "value"} <= each.keys() for each in _groups(listed))
    return ((listed, is_right) for each in evidence.good(Step.MODEL) if isinstance(each.result, list))


def _listed_dimension(evidence: Evidence) -> Samples:
    listed = _number(evidence.properties().get("output_dimensions"))
    lengths = {len(vector) for _, vector in evidence.vectors()}
    return _equal([listed] if listed is not None and len(lengths) == 1 else (), *lengths)


def _listed_price(evidence: Evidence) -> Samples:
    known, listed = find_model(evidence.plan.model.name), evidence.properties().get("price")
    if listed is not None and known.is_listed:
        of_input = (each for each in _groups(listed) if "input tokens" in str(each.get("unit")).lower())
        found = next((_number(each.get("price")) for each in of_input), None)
        yield found, found is not None and abs(found / known.dollars_per_million - 1) < 0.1


def _refusal_form(evidence: Evidence) -> Samples:
    for each in evidence.of():
        if each.is_refusal:
            has_form = all(isinstance(code, int) and isinstance(text, str) for code, text in each.errors)
            yield f"HTTP {each.status}", bool(each.errors) and has_form and 400 <= each.status < 500


def _queue_taken(evidence: Evidence) -> Samples:
    refused = [False for each in evidence.of(Step.SUBMIT) if isinstance(each.error, QueueNotSupported)]
    return _true([True] if evidence.is_taken else refused[:1])


def _no_queue_code(evidence: Evidence) -> Samples:
    for each in evidence.of(Step.SUBMIT):
        if _NO_QUEUE in each.codes or any("queu" in str(text).lower() for _, text in each.errors):
            yield str(next(iter(each.codes), None)), _NO_QUEUE in each.codes


def _waiting_status(evidence: Evidence) -> Samples:
    waiting = [_get(each.result, "status") for each in evidence.good(Step.POLL) if not each.elements]
    return _equal((each for each in waiting if each is not None), "queued", "running")


def _waiting_id(evidence: Evidence) -> Samples:
    answers = [each for each in evidence.good(Step.POLL, Step.AGAIN) if each.form]
    named = [(_get(each.result, "request_id"), each.form) for each in answers]
    return _true(found == evidence.request_ids.get(form) for found, form in named if form and found is not None)


def _done_again(evidence: Evidence) -> Samples:
    first = {form: _sorted(each) for form, each in evidence.finished().items()}
    return _true(_sorted(each) == first[each.form] for each in evidence.of(Step.AGAIN) if each.form in first)


def _sorted(exchange: Exchange) -> list[str]:
    return sorted(map(repr, exchange.elements or ()))


def _element_ids(evidence: Evidence) -> Samples:
    for batch, elements in evidence.elements():
        ids: list[Any] = [each.get("id") for each in elements]
        count = len(batch.requests)
        yield ids, all(_is_count(each, count) for each in ids) and sorted(ids) == list(range(count))


def _same_references(evidence: Evidence) -> Samples:
    for batch, elements in evidence.elements():
        found = [each.get("external_reference") for each in elements]
        yield found, sorted(map(str, found)) == sorted(request.reference for request in batch.requests)


def _another_order(evidence: Evidence) -> Samples:
    for batch, elements in evidence.elements():
        places = [place for each in elements if (place := _index(batch, each)) is not None]
        if places != sorted(places):
            yield True, True


def _results(evidence: Evidence, name: str) -> list[Any]:
    elements = [each for _, elements in evidence.elements() for each in elements]
    return [each.get(name) for each in elements if each.get("result") is not None]


def _usage(evidence: Evidence) -> Samples:
    for each in evidence.finished().values():
        usage = each.result.get("usage")
        counts = [_get(usage, "prompt_tokens"), _get(usage, "total_tokens")]
        yield counts[1], all(_is_count(count) and count > 0 for count in counts)


def _usage_estimate(evidence: Evidence) -> Samples:
    batches = [batch for batch, _ in evidence.elements()]
    low, high = (sum(batch.tokens[end] for batch in batches) for end in (0, 1))
    counted = [sum(tokens for tokens, _ in _usage(evidence))] if evidence.holds("usage") else []
    return _within(counted, low / _MARGIN, high * _MARGIN)


def _score_ids(evidence: Evidence) -> Samples:
    for _, output in evidence.outputs(Form.SCORES):
        ids = [each.get("id") for each in _groups(output.get("response"))]
        yield ids, len(ids) == 3 and sorted(_scores_in(output)) == [0, 1, 2]


def _best_score(evidence: Evidence) -> Samples:
    found = evidence.scores() if evidence.holds("scores-form") else []
    return _true(texts[1:][max(scores, key=scores.__getitem__)] == _QUERY for texts, scores in found)


def _score_and_cosine(evidence: Evidence) -> Iterator[float]:
    vectors = dict(evidence.vectors())
    for (query, *contexts), scores in evidence.scores():
        if vectors and evidence.holds("scores-range", "scores-meaning", "vector-order"):
            yield from (abs(each - _cosine(vectors[query], vectors[contexts[n]])) for n, each in scores.items())


def _same_texts(evidence: Evidence) -> Iterator[float]:
    for (text, vector), (other_text, other) in combinations(evidence.vectors(), 2):
        if text == other_text and len(vector) == len(other):
            yield _cosine(vector, other)


def _with_vectors(evidence: Evidence) -> list[tuple[dict[str, Any], list[Vector]]]:
    return [(output, vectors) for _, output in evidence.outputs() if (vectors := _vectors_in(output))]


def _shape(evidence: Evidence) -> Samples:
    for output, vectors in _with_vectors(evidence):
        yield output.get("shape"), output.get("shape") == [len(vectors), len(vectors[0])]


def _pooling(evidence: Evidence) -> Samples:
    model = evidence.plan.model
    expected = "cls" if model.name == DEFAULT_MODEL else model.poolings[0] if model.poolings else None
    found = [output["pooling"] for output, _ in _with_vectors(evidence) if output.get("pooling") is not None]
    return _equal(found if expected else (), expected)


def _run_form(evidence: Evidence) -> Samples:
    key = "data" if evidence.plan.batches[0].form is Form.TEXT else "response"
    return _has_list(key, (each.result for each in evidence.good(Step.RUN)))


def _run_numbers(evidence: Evidence) -> Samples:
    direct = next((each.result for each in evidence.good(Step.RUN)), None)
    asked = _texts_of(evidence.plan.batches[0].requests[0])
    queued = next((output for texts, output in evidence.outputs(evidence.plan.batches[0].form) if texts == asked), None)
    scores, others = _scores_in(queued), _scores_in(direct)
    if scores.keys() == others.keys() and scores:
        return _within((abs(scores[each] - others[each]) for each in scores), 0, _SAME_SCORE)
    pairs = zip(_vectors_in(queued), _vectors_in(direct), strict=False)
    return _within((_cosine(one, other) for one, other in pairs if len(one) == len(other)), *_SAME_VECTOR)


_JSON: Final = "application/json"
_RATE: Final = re.compile(r";\s*r=\d+\s*;\s*t=\d+")
_NO_QUEUE: Final = 8007
_OF_SOMETHING_ELSE: Final = frozenset({8007, 3021, 3036, 3040, 4006, 5504, 10000, 1000, 9106, 9109, 2001, 2009})
_SAME_SCORE: Final = 0.02  # numbers of half precision, and a model that may be computed in another order
_SAME_VECTOR: Final = (0.99, 1.01)  # cosine
_ONE: Final = (0.99, 1.01)  # the length of a unit vector
_SCORES: Final = (-1.01, 1.01)  # half precision may round 1 up
_CHECKS: Final[dict[str, Callable[[Evidence], Samples]]] = {
    "envelope": lambda e: _true(each.is_wrapped for each in e.good()),
    "binding-without-envelope": lambda e: _true(not each.is_wrapped for each in e.good()),
    "content-type": lambda e: _equal(
        (each.headers.get("content-type", "").partition(";")[0] for each in e.of() if each.content is not None), _JSON
    ),
    "rate-header": lambda e: (
        (each, bool(_RATE.search(each))) for found in e.of() if (each := found.headers.get("ratelimit")) is not None
    ),
    "catalogue-form": lambda e: _equal((each.result for each in e.good(Step.NONSENSE)), []),
    "catalogue-entry": _listed_entry,
    "catalogue-queue": lambda e: _equal(
        [str(e.properties().get("async_queue")).lower()] if e.properties() and e.is_taken else (), "true"
    ),
    "catalogue-dimension": _listed_dimension,
    "catalogue-price": _listed_price,
    "refusal-form": _refusal_form,
    "unknown-id": lambda e: _code(e, Step.UNKNOWN_ID, 5504),
    "unknown-model": lambda e: _code(e, Step.UNKNOWN_MODEL, 5007, 3042, 7000, 7003),
    "queue-taken": _queue_taken,
    "no-queue-code": _no_queue_code,
    "gateway-batches": lambda e: _true([True]) if e.is_taken else _code(e, Step.SUBMIT),
    "submit-status": lambda e: _equal(e.fields("status", Step.SUBMIT), "queued"),
    "submit-id": lambda e: _true(
        isinstance(each, str) and 0 < len(each) <= 200 for each in e.fields("request_id", Step.SUBMIT)
    ),
    "submit-model": lambda e: _equal(e.fields("model", Step.SUBMIT), e.plan.model.name),
    "waiting-status": _waiting_status,
    "waiting-id": _waiting_id,
    "done-responses": lambda e: _true(
        "responses" in each.result
        for each in e.good(Step.POLL)
        if isinstance(each.result, dict) and ("responses" in each.result or not each.result.get("status"))
    ),
    "done-without-status": lambda e: _equal((each.result.get("status") for each in e.finished().values()), None),
    "done-again": _done_again,
    "element-ids": _element_ids,
    "references": _same_references,
    "order": _another_order,
    "element-success": lambda e: _equal(_results(e, "success"), True),
    "result-depth": lambda e: _true("result" not in each for each in _results(e, "result") if isinstance(each, dict)),
    "usage": _usage,
    "usage-estimate": _usage_estimate,
    "scores-form": _score_ids,
    "scores-range": lambda e: _within((each for _, scores in e.scores() for each in scores.values()), *_SCORES),
    "scores-meaning": _best_score,
    "scores-cosine": lambda e: _within(_score_and_cosine(e), 0, _SAME_SCORE),
    "contexts-form": lambda e: _has_list("response", (each for _, each in e.outputs(Form.CONTEXTS))),
    "text-form": lambda e: _has_list("data", (each for _, each in e.outputs(Form.TEXT))),
    "vector-order": lambda e: _within(_same_texts(e), *_SAME_VECTOR),
    "vector-shape": _shape,
    "vector-dimension": lambda e: ((len(each), len(each) == len(e.vectors()[0][1])) for _, each in e.vectors()),
    "vector-length": lambda e: _within((math.hypot(*each) for _, each in e.vectors()), *_ONE),
    "vector-pooling": _pooling,
    "run-form": _run_form,
    "run-numbers": _run_numbers,
}


def judge_all(evidence: Evidence) -> tuple[Finding, ...]:
    """A finding for every assumption, in the order of the table."""
    return tuple(Finding(each, *_judged(each, evidence)) for each in all_assumptions())


def _judged(assumption: Assumption, evidence: Evidence) -> tuple[Outcome, str]:
    if not assumption.is_visible:
        return Outcome.NOT_SEEN, message("A check cannot see this: {reason}.", reason=assumption.reason)
    if evidence.kind not in assumption.kinds:
        return Outcome.NOT_SEEN, message("This is about another kind of connection.")
    samples = list(_CHECKS[assumption.id](evidence))
    wrong = [found for found, is_right in samples if not is_right]
    if not samples:
        paid = [each.error for each in evidence.exchanges if each.error and each.step in (Step.SUBMIT, Step.POLL)]
        said = evidence.sentence_of(paid[-1]) if paid else message("Nothing that came back tells.")
        return Outcome.NOT_SEEN, said
    outcome, found = (Outcome.NOT_HELD, wrong) if wrong else (Outcome.HELD, [found for found, _ in samples])
    if all(isinstance(each, bool) for each in found):
        return outcome, message("So in {n} of {all} answers.", n=len(samples) - len(wrong), all=len(samples))
    if all(isinstance(each, float) for each in found):
        return outcome, message("From {least:.4f} to {most:.4f}.", least=min(found), most=max(found))
    return outcome, message("Seen: {values}.", values=comma_list(list(dict.fromkeys(map(_shown, found)))[:4]))


def _shown(value: object) -> str:
    """A value for a report, quoted only when it is a short word: it may repeat a token or an id."""
    if value is None:
        return message("nothing")
    if isinstance(value, list) and 0 < len(value) <= 4:
        return comma_list(list(map(_shown, value)))
    if isinstance(value, str | int | float) and len(word := str(value)) <= _LONGEST_WORD and word.isprintable():
        return quoted(word) if isinstance(value, str) else word
    if isinstance(value, str | list | dict):
        return message("something of length {n:,}", n=len(value))
    return message("something else")


_LONGEST_WORD: Final = 24  # characters; an API token has 40 and more, a request id 36


# The calls


@dataclass(frozen=True, slots=True)
class Accepted:
    """A batch that the service took; `sha256` is of its body."""

    form: Form
    attempt: str
    request_id: str
    sha256: str
    time: float


@dataclass(frozen=True, slots=True)
class ProbedBatch:
    """What became of a batch; `request_id` is "" when there is none."""

    form: Form
    request_id: str
    sentence: str


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """The findings in the order of the table; `started` in seconds since 1970."""

    account_mark: str
    started: float
    findings: tuple[Finding, ...]
    batches: tuple[ProbedBatch, ...]
    evidence: Evidence


class Probe:
    """Free calls first, then one batch of each form, then one call without the queue; nothing is sent twice.

    `recorder` is the transport of `client`; `keep` has written an accepted batch down when it returns.
    """

    def __init__(
        self,
        client: WorkersAI,
        recorder: Recorder,
        plan: ProbePlan,
        *,
        keep: Callable[[Accepted], Awaitable[None]],
        show: Callable[[str], None] = lambda sentence: None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        wait_seconds: float = WAIT_SECONDS,
    ) -> None:
        self._client, self._recorder, self._plan = client, recorder, plan
        self._keep, self._show, self._sleep, self._wait_seconds = keep, show, sleep, wait_seconds
        self._evidence = Evidence(plan, client.connection.kind, client.connection.title)
        self._sentences: dict[Form, str] = {}

    async def run(self) -> ProbeResult:
        """Raises ConnectionProblem, ServiceRefused and ServiceBusy from the first, free calls."""
        started = self._client.now()
        await self._free_calls()
        for batch in self._plan.batches:
            if not await self._submit(batch):
                break
        await self._wait()
        if not any(each.step is Step.SUBMIT and each.error and not each.status for each in self._evidence.exchanges):
            self._show(message("Sending one request without the queue…"))  # the connection has not broken
            body = encode_request(self._plan.batches[0].requests[0])
            await self._call(Step.RUN, None, self._client.run(self._plan.model.name, body))
        ids = self._evidence.request_ids
        batches = tuple(ProbedBatch(form, ids.get(form, ""), said) for form, said in self._sentences.items())
        mark = self._client.connection.account_mark
        return ProbeResult(mark, started, judge_all(self._evidence), batches, self._evidence)

    async def _free_calls(self) -> None:
        name = self._plan.model.name
        if self._client.connection.kind is not ConnectionKind.WORKER:  # which has no list of models
            self._show(message("Searching the list of models…"))
            await self._first(Step.NONSENSE, self._client.find_models(NONSENSE))
            await self._first(Step.MODEL, self._client.find_models(name.rsplit("/", 1)[-1]))
        self._show(message("Asking for a batch that does not exist…"))
        await self._first(Step.UNKNOWN_ID, self._client.probe(name))
        await self._first(Step.UNKNOWN_MODEL, self._client.probe(NO_MODEL))

    async def _first(self, step: Step, call: Coroutine[Any, Any, Any]) -> None:
        """Make a free call, and go no further if it does not get through."""
        exchange = await self._call(step, None, call)
        error = exchange.error
        is_shut = isinstance(error, NotConnected | TokenRefused | ServiceBusy)
        is_silent = isinstance(error, Unreachable) and exchange.content is None
        if error is not None and (
            is_shut or is_silent or (step is Step.NONSENSE and isinstance(error, ServiceRefused))
        ):
            raise error

    async def _call(self, step: Step, form: Form | None, call: Coroutine[Any, Any, Any]) -> Exchange:
        error = content = None
        try:
            await call
        except UserError as found:
            error = found
        answer = self._recorder.taken() or HttpAnswer(0, {}, b"")
        with suppress(ValueError, RecursionError):
            content = json.loads(answer.body)
        self._evidence.exchanges.append(Exchange(step, form, answer.status, answer.headers, content, error))
        return self._evidence.exchanges[-1]

    async def _submit(self, batch: ProbeBatch) -> bool:
        """Send a batch, once, not cut off; whether it makes sense to send the next one."""
        self._show(message("Sending a batch of the form “{form}”…", form=stored_message(batch.form)))
        sending = asyncio.create_task(self._call(Step.SUBMIT, batch.form, self._send(batch)))
        try:
            error = (await asyncio.shield(sending)).error
        except asyncio.CancelledError:
            await asyncio.wait({sending}, timeout=_CANCEL_SECONDS)
            raise
        if error is not None:
            self._sentences[batch.form] = self._evidence.sentence_of(error)
        return error is None

    async def _send(self, batch: ProbeBatch) -> None:
        body, attempt = batch.body, uuid.uuid4().hex
        request_id = (await self._client.submit(self._plan.model.name, body)).request_id
        self._evidence.request_ids[batch.form] = request_id
        self._sentences[batch.form] = message("It was accepted.")
        digest = hashlib.sha256(body).hexdigest()
        try:
            await self._keep(Accepted(batch.form, attempt, request_id, digest, self._client.now()))
        except DataError as error:
            self._show(
                message("Its id could not be written down, so keep it yourself. {sentence}", sentence=error.message)
            )
        self._show(message("Accepted as {request_id}.", request_id=request_id))

    async def _wait(self) -> None:
        waiting, model = dict(self._evidence.request_ids), self._plan.model.name
        until, pause = self._client.now() + self._wait_seconds, self._client.connection.first_check
        if waiting:
            self._show(message("Waiting for the results…"))
        while waiting:
            for form, request_id in tuple(waiting.items()):
                if await self._is_over(form, request_id):
                    del waiting[form]
            if not waiting or self._client.now() + pause > until:
                break
            await self._sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)
        for form in waiting:
            self._sentences[form] = message("It was accepted, and was not finished in the time that the check waits.")
        for form in list(self._evidence.finished())[:1]:
            await self._call(Step.AGAIN, form, self._client.ask(model, self._evidence.request_ids[form]))

    async def _is_over(self, form: Form, request_id: str) -> bool:
        exchange = await self._call(Step.POLL, form, self._client.ask(self._plan.model.name, request_id))
        says_wait = exchange.is_good and bool(_get(exchange.result, "status"))
        if exchange.elements or (exchange.elements is not None and not says_wait):
            self._sentences[form] = message("It is finished.")
            return True
        if exchange.error is None or is_passing(exchange.error) or says_wait:
            return False
        self._sentences[form] = self._evidence.sentence_of(exchange.error)
        return True


# The report: no token, no account id and no whole request id


def counts_sentence(findings: tuple[Finding, ...]) -> str:
    """ "41 held, 1 not held, 24 not seen." """
    counts = Counter(each.outcome for each in findings)
    return ", ".join(f"{counts[outcome]} {outcome}" for outcome in Outcome) + "."


def text_report(result: ProbeResult) -> str:
    """The report as text; what did not hold comes first."""
    return "\n".join(_lines(_facts(result), counts_sentence(result.findings))) + "\n"


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
        "connection": str(result.evidence.kind),
        "account_mark": result.account_mark,
        "model": result.evidence.plan.model.name,
        "most_dollars": round(result.evidence.plan.price.dollars, 6),
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
            for each in result.findings
        ],
        "batches": [
            {
                "form": str(each.form),
                "request_id": f"{each.request_id[:4]}…" if each.request_id else "",
                "sentence": each.sentence,
            }
            for each in result.batches
        ],
        "calls": [
            {"step": f"{each.step}, {each.form}" if each.form else str(each.step), "status": each.status}
            for each in result.evidence.exchanges
        ],
    }


def _lines(facts: dict[str, Any], counts: str) -> Iterator[str]:
    mark = facts["account_mark"]
    yield from (f"{facts['program']}: {facts['report']}", "")
    yield f"Date:        {facts['date']}"
    yield f"Program:     CF Batch {facts['version']}; its assumptions were read in {facts['assumptions_read']}"
    yield f"Connection:  {facts['connection']}" + (f", account mark {mark}" if mark else "")
    yield f"Model:       {facts['model']}"
    yield f"Result:      {counts}"
    for outcome in (Outcome.NOT_HELD, Outcome.HELD, Outcome.NOT_SEEN):
        found = [each for each in facts["assumptions"] if each["outcome"] == outcome]
        yield from ("", f"{outcome.capitalize()} ({len(found)})" if found else f"{outcome.capitalize()}: none")
        for each in found:
            yield from (f"  {each['id']}: {each['sentence']}", f"          {each['observation']}")
            if "otherwise" in each:
                yield f"          What the program does then: {each['otherwise']}"
    yield from ("", "Batches")
    yield from (f"  {each['form']} ({each['request_id'] or 'no id'}): {each['sentence']}" for each in facts["batches"])
    yield from ("", "Calls, with their HTTP status")
    yield from (f"  {each['step']}: {each['status'] or 'no answer'}" for each in facts["calls"])
