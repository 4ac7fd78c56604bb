"""What came back during a probe: each exchange with its undecoded answer, and what can be read of them.

Everything here tolerates any JSON at all: a probe is made to see what the program does not expect.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.errors import UserError
from cfbatch_gui.core.messages import message, quoted
from cfbatch_gui.core.workers_ai.connection_kinds import ConnectionKind
from cfbatch_gui.core.workers_ai.probe.probe_requests import Form, ProbePlan
from cfbatch_gui.core.workers_ai.transport import HttpAnswer, Transport

_TITLES: Final = {
    ConnectionKind.PRACTICE: message("Practice service"),
    ConnectionKind.CLOUDFLARE: "Cloudflare",
    ConnectionKind.WORKER: message("The Worker"),
    ConnectionKind.GATEWAY: message("The AI Gateway"),
}
_LONGEST_WORD: Final = 24  # characters; an API token has 40 and more, a request id 36


class Recorder(Transport):
    """A transport that keeps the last answer, None when there was none."""

    last: HttpAnswer | None = None

    async def send(self, *arguments: Any, **options: Any) -> HttpAnswer:
        """See `Transport`."""
        self.last = None
        self.last = await super().send(*arguments, **options)
        return self.last


class Step(StrEnum):
    """What an exchange was for."""

    NONSENSE = message("the search for nonsense")
    MODEL = message("the search for the model")
    UNKNOWN_ID = message("the poll for an unknown id")
    UNKNOWN_MODEL = message("the poll of an unknown model")
    SUBMIT = message("a batch")
    POLL = message("a poll")
    AGAIN = message("another poll after the end")
    RUN = message("the call without the queue")


@dataclass(frozen=True, slots=True)
class Exchange:
    """`status` is 0 without an answer; `content` is its decoded JSON, None when it is none.

    `error` is what the program makes of it.
    """

    step: Step
    form: Form | None
    status: int
    headers: Mapping[str, str]
    content: Any
    error: UserError | None

    @property
    def result(self) -> Any:
        """The content without an envelope."""
        if isinstance(self.content, dict) and "result" in self.content and "success" in self.content:
            return self.content["result"]
        return self.content

    @property
    def is_refusal(self) -> bool:
        """Whether the service says no, in whatever form."""
        if isinstance(self.content, dict) and (self.content.get("success") is False or self.content.get("error")):
            return True
        return self.status >= 400

    @property
    def is_good(self) -> bool:
        """Whether there is an answer, and it says yes."""
        return 200 <= self.status < 300 and self.content is not None and not self.is_refusal

    @property
    def errors(self) -> list[tuple[Any, Any]]:
        """Code and message of each error; [] when they stand nowhere."""
        if not isinstance(self.content, dict):
            return []
        if "internalCode" in self.content:  # a gateway's own form
            return [(self.content["internalCode"], self.content.get("message"))]
        listed = self.content.get("errors") or self.content.get("error") or []
        entries = listed if isinstance(listed, list) else [listed]
        return [(each.get("code"), each.get("message")) for each in entries if isinstance(each, dict)]

    @property
    def codes(self) -> list[int]:
        """The codes of all errors that are whole numbers."""
        return [code for code, _ in self.errors if isinstance(code, int) and not isinstance(code, bool)]

    @property
    def elements(self) -> list[dict[str, Any]] | None:
        """The results of a finished batch, in the order of the answer; None while there are none."""
        body = self.result if self.is_good and isinstance(self.result, dict) else {}
        for name in ("responses", "results"):
            if isinstance(body.get(name), list):
                return [each for each in body[name] if isinstance(each, dict)]
        return None


def exchange_of(step: Step, form: Form | None, answer: HttpAnswer | None, error: UserError | None) -> Exchange:
    """The exchange with its answer decoded."""
    if answer is None:
        return Exchange(step, form, 0, {}, None, error)
    try:
        content = json.loads(answer.body)
    except (ValueError, RecursionError):
        content = None
    return Exchange(step, form, answer.status, answer.headers, content, error)


@dataclass(slots=True)
class Evidence:
    """All exchanges of a probe, in their order. `request_ids` are those of accepted batches.

    `title` is the user's name for the connection, which sentences of errors hold.
    """

    plan: ProbePlan
    kind: ConnectionKind
    title: str = ""
    exchanges: list[Exchange] = field(default_factory=list)
    request_ids: dict[Form, str] = field(default_factory=dict)

    def of(self, *steps: Step) -> list[Exchange]:
        """The exchanges of these steps that were answered."""
        return [each for each in self.exchanges if each.step in steps and each.status]

    def error_of(self, *steps: Step) -> str:
        """The sentence of the last error in these steps, "" without one."""
        found = (each.error for each in reversed(self.exchanges) if each.step in steps and each.error)
        return next(map(self.sentence_of, found), "")

    def sentence_of(self, error: UserError) -> str:
        """The sentence of an error for a report, with the kind of connection in place of the user's name for it."""
        return error.message.replace(self.title, _TITLES[self.kind]) if self.title else error.message

    def finished(self) -> dict[Form, Exchange]:
        """For each form the poll that brought the results."""
        return {each.form: each for each in self.of(Step.POLL) if each.form and each.elements is not None}

    def elements(self) -> dict[Form, list[dict[str, Any]]]:
        """The elements of each finished batch, in the order of the answer."""
        return {form: each.elements or [] for form, each in self.finished().items()}

    def references(self, form: Form) -> list[str]:
        """The references of a batch as they were sent."""
        return [request.reference for batch in self.plan.batches if batch.form is form for request in batch.requests]

    def index(self, form: Form, element: Mapping[str, Any]) -> int | None:
        """Which request an element answers, by its reference, else by its id; None when neither says so."""
        sent = self.references(form)
        if element.get("external_reference") in sent:
            return sent.index(element["external_reference"])
        number = element.get("id")
        return number if is_index(number, len(sent)) else None

    def outputs(self, exchange: Exchange | None) -> dict[int, dict[str, Any]]:
        """What the model gave for each request of a finished batch, by the index of the request."""
        found: dict[int, dict[str, Any]] = {}
        if exchange is None or exchange.form is None:
            return found
        for element in exchange.elements or []:
            index, output = self.index(exchange.form, element), element.get("result")
            if isinstance(output, dict) and isinstance(output.get("result"), dict):
                output = output["result"]
            if index is not None and isinstance(output, dict):
                found[index] = output
        return found

    def scores(self) -> dict[int, dict[int, float]]:
        """The scores of each request of the batch of scores, by the index of the context."""
        found = {index: scores_in(output) for index, output in self.outputs(self.finished().get(Form.SCORES)).items()}
        return {index: scores for index, scores in found.items() if scores}

    def vectors(self, form: Form) -> dict[int, list[NDArray[np.float64]]]:
        """The vectors of each request of a batch, in the order of the answer."""
        found = {index: vectors_in(output) for index, output in self.outputs(self.finished().get(form)).items()}
        return {index: vectors for index, vectors in found.items() if vectors}

    def all_vectors(self) -> list[NDArray[np.float64]]:
        """Every vector that came in a batch."""
        return [
            vector
            for form in (Form.CONTEXTS, Form.TEXT)
            for vectors in self.vectors(form).values()
            for vector in vectors
        ]


def scores_in(output: Mapping[str, Any]) -> dict[int, float]:
    """The scores by the index of the context; those that cannot be read are left out."""
    listed = output.get("response")
    return {
        each["id"]: float(each["score"])
        for each in (listed if isinstance(listed, list) else ())
        if isinstance(each, dict) and is_index(each.get("id"), 1 << 20) and is_number(each.get("score"))
    }


def vectors_in(output: Mapping[str, Any]) -> list[NDArray[np.float64]]:
    """The vectors in `response` or `data`, [] when there are none or one of them is not of numbers."""
    listed = output.get("data") or output.get("response")
    rows = listed if isinstance(listed, list) else []
    if not all(isinstance(row, list) and row and all(map(is_number, row)) for row in rows):
        return []
    return [np.array(row, np.float64) for row in rows]


def is_number(value: object) -> bool:
    """Whether it is a number of JSON that a double can hold, not a truth value."""
    return isinstance(value, float) or (isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1 << 62)


def is_index(value: object, count: int) -> bool:
    """Whether it is a whole number from 0 to below `count`."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < count


def shown(value: object) -> str:
    """A value of the service for a report: quoted when it is a short word, else only what it is.

    So no token and no id of an account or a batch can be in a report, wherever the service repeats one.
    """
    match value:
        case None:
            return message("nothing")
        case bool() | int() | float():
            text = str(value)
            return text if len(text) <= _LONGEST_WORD else message("a very long number")
        case str() if len(value) <= _LONGEST_WORD and value.isprintable():
            return quoted(value)
        case str():
            return message("a text of {n:,} characters", n=len(value))
        case list():
            return message("a list of {n:,} values", n=len(value))
        case dict():
            return message("a group of {n:,} values", n=len(value))
    return message("something else")
