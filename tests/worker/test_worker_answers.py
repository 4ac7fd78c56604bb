"""The Worker passes on the service's answers unchanged, in Cloudflare's runtime and through Cloudflare's binding."""

import sys
from typing import Any

import pytest

from cfbatch_gui.core.workers_ai.answers import Finished, Waiting, read_answer
from cfbatch_gui.core.workers_ai.requests import Request, encode_batch, encode_request
from tests.worker.conftest import RUNNING_SECONDS, Caller, Callers, Stage
from tests.worker.runtime import peak_megabytes

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
NASTY = 'ä \U0001f9d1\u200d\U0001f680 \u00e9 e\u0301 \u202e \x00 \ufeff \\ " / \u2029'
REQUESTS: tuple[Request, ...] = (
    Request(("an orange cloud", "a llama", "a hugging emoji 🤗"), "a story about clouds", reference="r-0"),
    Request(("東京タワーの高さ", "Straße, naïve café, \u2028 und €", "العربية"), reference="r-1"),
    Request(("contexts without a query", "are embedded"), reference="r-2", in_contexts=True),
    Request(("one text",), reference="r-3"),
)


def submit(caller: Caller, body: object) -> str:
    answer = caller.post(body)
    assert answer.status_code == 200, answer.text
    queued = read_answer(answer.content)
    assert isinstance(queued, Waiting)
    return queued.request_id


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


def test_an_answer_is_handed_on_to_the_letter(callers: Callers, stage: Stage) -> None:
    """No byte is added, dropped, reordered or rounded."""
    request_id = submit(callers.worker(), encode_batch(encode_request(request) for request in REQUESTS))
    stage.wait_for_results()
    framed = callers.direct().post({"request_id": request_id}).json()
    assert callers.worker().post({"request_id": request_id}).json() == framed["result"]


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
    body = encode_batch([encode_request(Request((text,), reference="r"))])
    body += b" " * (9_999_999 - len(body))
    assert worker.post(body).json()["status"] == "queued"
    assert worker.refusal(body + b" ") == (413, 3006)


def test_the_binding_gets_the_body_as_it_was_sent(callers: Callers) -> None:
    """The queue is requested for submits only, and the HTTP status is passed on."""
    caller = callers.worker("odd-ai")
    for body, queue, options in (
        ({"requests": [{"text": NASTY, "more": None}]}, True, {"queueRequest": True}),
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
