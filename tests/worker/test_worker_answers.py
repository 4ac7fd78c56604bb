"""The Worker passes on the service's answers unchanged, in Cloudflare's runtime and through Cloudflare's binding."""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cfbatch_gui.core.workers_ai.answers import (
    Embedded,
    Finished,
    Matched,
    Queued,
    Scored,
    match,
    read_answer,
)
from cfbatch_gui.core.workers_ai.requests import (
    EmbedRequest,
    RankRequest,
    Request,
    encode_batch,
    encode_request,
)
from tests.parsed_requests import parse_requests
from tests.worker.conftest import RUNNING_SECONDS, Caller, Callers, Stage

# The body on both pages about the Workers Binding.
SEED: dict[str, Any] = {
    "requests": [
        {
            "query": "This is a story about Cloudflare",
            "contexts": [
                {"text": "This is a story about an orange cloud"},
                {"text": "This is a story about a llama"},
                {"text": "This is a story about a hugging emoji"},
            ],
        }
    ]
}
REQUESTS: tuple[Request, ...] = (
    RankRequest("a story about clouds", ("an orange cloud", "a llama", "a hugging emoji 🤗"), reference="r-0"),
    EmbedRequest(("東京タワーの高さ", "Straße, naïve café, \u2028 und €", "العربية"), reference="r-1"),
    RankRequest(None, ("contexts without a query", "are embedded"), reference="r-2"),
    EmbedRequest(("one text",), reference="r-3"),
)


def submit(caller: Caller, body: object) -> str:
    answer = caller.post(body)
    assert answer.status_code == 200, answer.text
    queued = read_answer(answer.content)
    assert isinstance(queued, Queued)
    return queued.request_id


def results(caller: Caller, request_id: str, requests: tuple[Request, ...]) -> list[Matched]:
    finished = read_answer(caller.post({"request_id": request_id}).content)
    assert isinstance(finished, Finished)
    expected = requests
    return list(match(finished, expected))


def numbers(matched: list[Matched]) -> list[np.ndarray[Any, Any]]:
    return [
        item.scores if isinstance(item, Scored) else item.vectors
        for item in matched
        if isinstance(item, Scored | Embedded)
    ]


def test_a_batch_is_queued_runs_and_is_done(worker: Caller, stage: Stage) -> None:
    answer = worker.post(SEED)
    assert set(answer.json()) == {"status", "model", "request_id"}
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["cache-control"] == "no-store"
    request_id = answer.json()["request_id"]
    assert worker.post({"request_id": request_id}).json()["status"] == "queued"
    stage.now += RUNNING_SECONDS - 1
    assert worker.post({"request_id": request_id}).json()["status"] == "running"
    stage.wait_for_results()
    done = worker.post({"request_id": request_id}).json()
    assert set(done) == {"responses", "usage"}
    assert len(done["responses"][0]["result"]["response"]) == 3


def test_the_results_are_those_of_the_service_itself(callers: Callers, stage: Stage) -> None:
    body = encode_batch(encode_request(request) for request in REQUESTS)
    direct, worker = callers.direct(), callers.worker()
    answer = direct.post(body).json()["result"]
    through_worker = submit(worker, body)
    stage.wait_for_results()
    expected = numbers(results(direct, answer["request_id"], REQUESTS))
    found = numbers(results(worker, through_worker, REQUESTS))
    assert len(found) == len(expected) == len(REQUESTS)
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_an_answer_is_handed_on_to_the_letter(callers: Callers, stage: Stage) -> None:
    """No byte is added, dropped, reordered or rounded."""
    request_id = submit(callers.worker(), encode_batch(encode_request(request) for request in REQUESTS))
    stage.wait_for_results()
    framed = callers.direct().post({"request_id": request_id}).json()
    assert callers.worker().post({"request_id": request_id}).json() == framed["result"]


@pytest.mark.parametrize("queue", [True, False], ids=["queueRequest", "as the binding polls"])
def test_a_batch_is_asked_for_with_and_without_queue_request(worker: Caller, stage: Stage, queue: bool) -> None:
    request_id = submit(worker, SEED)
    stage.wait_for_results()
    assert "responses" in worker.post({"request_id": request_id}, queue=queue).json()


@pytest.mark.parametrize(
    "element", [SEED["requests"][0], {"text": "one"}, {"text": ["two", "テキスト"]}, {"contexts": [{"text": "alone"}]}]
)
def test_one_bare_request_is_answered_at_once(callers: Callers, element: dict[str, object]) -> None:
    answer = callers.worker().post(element, queue=False)
    assert answer.status_code == 200
    assert answer.json() == callers.direct().post(element, queue=False).json()["result"]


def test_a_body_just_under_the_limit_is_taken(worker: Caller) -> None:
    """The limit is exact, and it is in bytes of UTF-8, not in characters."""
    text = "Ä" * 4_999_000
    body = encode_batch([encode_request(EmbedRequest((text,), reference="r"))])
    body += b" " * (9_999_999 - len(body))
    assert worker.post(body).json()["status"] == "queued"
    assert worker.refusal(body + b" ") == (413, 3006)


def test_what_was_queued_through_the_worker_is_what_was_sent(callers: Callers, stage: Stage) -> None:
    """A text with every kind of character arrives at the service unchanged."""
    text = '\U0001f9d1\u200d\U0001f680 \u00e9 e\u0301 \u202e \x00 \ufeff \\ " / \u2029'
    (parsed,) = parse_requests(encode_batch([encode_request(EmbedRequest((text,), reference="r"))]))
    assert parsed.count == 1
    request_id = submit(callers.worker(), encode_batch([encode_request(parsed)]))
    stage.wait_for_results()
    (found,) = numbers(results(callers.worker(), request_id, (parsed,)))
    synchronous = callers.direct().post({"text": [text]}, queue=False).json()["result"]["data"]
    np.testing.assert_array_equal(found, np.asarray(synchronous, dtype=np.float32))


def test_the_binding_gets_the_body_as_it_was_sent(callers: Callers) -> None:
    """The queue is requested for submits only, and the HTTP status is passed on."""
    caller = callers.worker("odd-ai")
    for body, queue, options in (
        ({"requests": [{"text": "ä", "more": None}]}, True, {"queueRequest": True}),
        ({"request_id": "7"}, True, {}),
        ({"request_id": "7"}, False, {}),
        ({"prompt": "any model's body", "n": 1.5}, False, {}),
    ):
        answer = caller.post(body, model="@cf/odd/echo", queue=queue)
        assert answer.status_code == 202
        assert answer.json() == {"inputs": body, "options": {**options, "returnRawResponse": True}}


@pytest.mark.skipif(sys.platform != "linux", reason="reads a process's peak of memory from /proc")
def test_an_answer_of_50_megabytes_passes_through_without_being_held(callers: Callers, stage: Stage) -> None:
    """A Worker has 128 MB of memory; parsing this answer and writing it again would take about 280 MB."""
    caller = callers.worker("odd-ai")
    before = peak_megabytes(stage.process_id)
    finished = read_answer(caller.post({"request_id": "7"}, model="@cf/odd/large").content)
    assert isinstance(finished, Finished) and len(finished.elements) == 2500
    assert peak_megabytes(stage.process_id) - before < 60


def peak_megabytes(process_id: int) -> float:
    status = Path(f"/proc/{process_id}/status").read_text("ascii")
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024
