"""The practice service with one assumption broken: what it answers is changed on the way, and nothing else."""

import json
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from cfbatch_gui.core.practice.app import Application, Message, Receive, Scope, Send, practice_app
from cfbatch_gui.core.practice.local_models import HashedNgrams
from cfbatch_gui.core.workers_ai.probe import NO_MODEL
from tests.canary import TOKEN
from tests.support.http import Answer, Head, ask

Json = dict[str, Any]
JSON = (("content-type", "application/json"),)


class Call:
    """A request, and the answer of the practice service to be changed."""

    def __init__(self, head: Head, body: bytes, answer: Answer) -> None:
        self.head, self.sent = head, json.loads(body) if body else {}
        self.status, self.headers = answer.status, answer.headers
        self.content: Json = json.loads(answer.body)

    @property
    def is_search(self) -> bool:
        return self.head.method == "GET"

    @property
    def is_for_the_model(self) -> bool:
        return self.is_search and "search=bge" in self.head.target

    @property
    def is_submit(self) -> bool:
        return "requests" in self.sent

    @property
    def is_poll(self) -> bool:
        return "request_id" in self.sent and self.status == 200

    @property
    def is_run(self) -> bool:
        return "queueRequest" not in self.head.target and not self.is_search

    @property
    def result(self) -> Any:
        return self.content["result"]

    @property
    def is_waiting(self) -> bool:
        return self.is_poll and "status" in self.result

    @property
    def is_done(self) -> bool:
        return self.is_poll and "responses" in self.result

    def elements(self) -> Iterator[Json]:
        if self.is_done:
            yield from self.result["responses"]

    def outputs(self) -> Iterator[Json]:
        """What the model gave, in a batch and without one."""
        yield from (each["result"] for each in self.elements())
        if self.is_run and self.status == 200:
            yield self.result

    def scores(self) -> Iterator[Json]:
        for output in self.outputs():
            yield from (each for each in output.get("response", ()) if isinstance(each, dict))

    def vectors(self) -> Iterator[Json]:
        """The outputs with vectors."""
        yield from (each for each in self.outputs() if "shape" in each)

    def refuse(self, code: int, message: str, status: int = 400) -> None:
        self.status = status
        self.content = {
            "result": None,
            "success": False,
            "errors": [{"code": code, "message": message}],
            "messages": [],
        }


Break = Callable[[Call], None]
BREAKS: dict[str, Break] = {}


def breaks(name: str) -> Callable[[Break], Break]:
    def note(change: Break) -> Break:
        BREAKS[name] = change
        return change

    return note


@breaks("envelope")
def _(call: Call) -> None:
    if call.is_submit or call.is_poll:
        call.content = call.result


@breaks("content-type")
def _(call: Call) -> None:
    call.headers = (("content-type", "text/plain"),)


@breaks("rate-header")
def _(call: Call) -> None:
    call.headers = (*call.headers, ("ratelimit", "limit=1200, remaining=1100, reset=60"))


@breaks("catalogue-form")
def _(call: Call) -> None:
    if call.is_search:
        call.content["result"] = {"models": call.result}


@breaks("catalogue-entry")
def _(call: Call) -> None:
    for entry in call.result if call.is_search else ():
        entry["properties"] = {each["property_id"]: each["value"] for each in entry["properties"]}


def _set_property(call: Call, name: str, value: Any) -> None:
    for entry in call.result if call.is_for_the_model else ():
        for each in entry["properties"]:
            if each["property_id"] == name:
                each["value"] = value


@breaks("catalogue-queue")
def _(call: Call) -> None:
    _set_property(call, "async_queue", "false")


@breaks("catalogue-dimension")
def _(call: Call) -> None:
    _set_property(call, "output_dimensions", "512")


@breaks("catalogue-price")
def _(call: Call) -> None:
    _set_property(call, "price", [{"unit": "per M input tokens", "price": 0.12, "currency": "USD"}])


@breaks("refusal-form")
def _(call: Call) -> None:
    if call.status == 400:
        call.status = 200


@breaks("unknown-id")
def _(call: Call) -> None:
    if call.status == 400 and NO_MODEL not in call.head.target:
        call.refuse(4711, "AiError: no such thing", 404)


@breaks("unknown-model")
def _(call: Call) -> None:
    if NO_MODEL in call.head.target:
        call.refuse(4711, "AiError: no such thing", 404)


@breaks("queue-taken")
def _(call: Call) -> None:
    if call.is_submit:
        call.refuse(8007, "AiError: This model does not support request queuing")


@breaks("no-queue-code")
def _(call: Call) -> None:
    if call.is_submit:
        call.refuse(4711, "AiError: Queuing is not available for this model")


@breaks("submit-status")
def _(call: Call) -> None:
    if call.is_submit:
        call.result["status"] = "accepted"


@breaks("submit-id")
def _(call: Call) -> None:
    if call.is_submit:
        call.result["batch"] = call.result.pop("request_id")


@breaks("submit-model")
def _(call: Call) -> None:
    if call.is_submit:
        call.result["model"] = "@cf/baai/bge-m4"


@breaks("waiting-status")
def _(call: Call) -> None:
    if call.is_waiting:
        call.result["status"] = "pending"


@breaks("waiting-id")
def _(call: Call) -> None:
    if call.is_waiting:
        call.result["request_id"] = "00000000-1111-4111-8111-000000000000"


@breaks("done-responses")
def _(call: Call) -> None:
    if call.is_done:
        call.result["results"] = call.result.pop("responses")


@breaks("done-without-status")
def _(call: Call) -> None:
    if call.is_done:
        call.result["status"] = "completed"


class Once:
    """The first answer with results is the only one."""

    def __init__(self) -> None:
        self.seen: set[str] = set()

    def __call__(self, call: Call) -> None:
        if call.is_done and call.sent["request_id"] in self.seen:
            call.refuse(5504, "AiError: Request not found in queue")
        elif call.is_done:
            self.seen.add(call.sent["request_id"])


BREAKS["done-again"] = Once()


@breaks("element-ids")
def _(call: Call) -> None:
    for each in call.elements():
        each["id"] += 1


@breaks("references")
def _(call: Call) -> None:
    for each in call.elements():
        each["external_reference"] = None


@breaks("element-success")
def _(call: Call) -> None:
    for each in call.elements():
        del each["success"]


@breaks("result-depth")
def _(call: Call) -> None:
    for each in call.elements():
        each["result"] = {"result": each["result"]}


@breaks("usage")
def _(call: Call) -> None:
    if call.is_done:
        del call.result["usage"]


@breaks("usage-estimate")
def _(call: Call) -> None:
    if call.is_done:
        call.result["usage"] = {name: 1_000 * tokens for name, tokens in call.result["usage"].items()}


@breaks("scores-form")
def _(call: Call) -> None:
    for each in call.scores():
        each["index"] = each.pop("id")


@breaks("scores-range")
def _(call: Call) -> None:
    for each in call.scores():
        each["score"] *= 100


@breaks("scores-meaning")
def _(call: Call) -> None:
    for each in call.scores():
        each["score"] *= -1


@breaks("scores-cosine")
def _(call: Call) -> None:
    for each in call.scores():
        each["score"] = (1 + each["score"]) / 2


def _rename(call: Call, key: str, to: str) -> None:
    for output in call.vectors():
        if key in output:
            output[to] = output.pop(key)


@breaks("contexts-form")
def _(call: Call) -> None:
    _rename(call, "response", "data")


@breaks("text-form")
def _(call: Call) -> None:
    _rename(call, "data", "response")


def _rows(output: Json) -> list[list[float]]:
    rows: list[list[float]] = output["data" if "data" in output else "response"]
    return rows


@breaks("vector-order")
def _(call: Call) -> None:
    for output in call.vectors():
        _rows(output).reverse()


@breaks("vector-shape")
def _(call: Call) -> None:
    for output in call.vectors():
        output["shape"].reverse()


@breaks("vector-dimension")
def _(call: Call) -> None:
    for output in call.vectors():
        if "data" in output:
            shorter = [row[:-1] for row in output["data"]]
            norms = [math.hypot(*row) for row in shorter]
            output["data"] = [[value / norm for value in row] for row, norm in zip(shorter, norms, strict=True)]
            output["shape"][1] -= 1


@breaks("vector-length")
def _(call: Call) -> None:
    for output in call.vectors():
        _rows(output)[:] = [[2 * value for value in row] for row in _rows(output)]


@breaks("vector-pooling")
def _(call: Call) -> None:
    for output in call.vectors():
        output["pooling"] = "mean"


@breaks("run-form")
def _(call: Call) -> None:
    if call.is_run:
        call.content["result"] = {"responses": [{"id": 0, "result": call.result, "success": True}]}


@breaks("run-numbers")
def _(call: Call) -> None:
    if call.is_run:
        for each in call.scores():
            each["score"] -= 0.05


def in_order(call: Call) -> None:
    """The elements in the order of their requests; this breaks nothing."""
    if call.is_done:
        call.result["responses"].sort(key=lambda each: each["id"])


def unbroken(call: Call) -> None:
    """The practice service as it is."""


def broken_service(folder: Path, clock: Callable[[], float], change: Break = unbroken) -> Application:
    """The practice service, ten seconds queued and ten running by `clock`, with every answer passed to `change`."""
    behind = practice_app(
        folder, seconds_queued=10, seconds_running=10, clock=clock, token=TOKEN, load_model=HashedNgrams
    )

    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        body = b""
        while True:
            message: Message = await receive()
            body += message.get("body", b"")
            if not message.get("more_body", False):
                break
        query = scope["query_string"].decode()
        target = scope["raw_path"].decode() + (f"?{query}" if query else "")
        headers = tuple((name.decode().lower(), value.decode()) for name, value in scope["headers"])
        head = Head(scope["method"], target, headers, len(body))
        call = Call(head, body, await ask(behind, head, body))
        change(call)
        answered = [(name.encode(), value.encode()) for name, value in call.headers]
        await send({"type": "http.response.start", "status": call.status, "headers": answered})
        await send({"type": "http.response.body", "body": json.dumps(call.content).encode(), "more_body": False})

    return application
