"""The Worker's own refusals, and how it passes on those of the service."""

import json
import re
from pathlib import Path

import pytest

from cfbatch_gui.core.workers_ai.answers import ServiceError
from tests.worker.conftest import BGE_M3, Caller, Callers, read_refusal
from tests.worker.runtime import CONFIG, ROOT, SECRET

WORKER = ROOT / "resources" / "worker"
BATCH = {"requests": [{"text": ["a"]}]}
UNKNOWN_ID = "00000000-0000-4000-8000-000000000000"


@pytest.mark.parametrize("secret", ["", "wrong", SECRET[:-1], SECRET + "x", SECRET.swapcase(), "ä"])
@pytest.mark.parametrize("address", ["/", f"/ai/run/{BGE_M3}", "/elsewhere"])
def test_without_the_secret_everything_is_refused(callers: Callers, secret: str, address: str) -> None:
    http = callers.worker(secret="").http
    headers = {b"Authorization": b"Bearer " + secret.encode()} if secret else None
    for answer in (http.get(address, headers=headers), http.post(address, json=BATCH, headers=headers)):
        assert read_refusal(answer) == (401, 10000)


def test_a_secret_in_another_scheme_is_none(callers: Callers) -> None:
    answer = callers.worker(secret="").http.get("/", headers={"Authorization": SECRET})
    assert read_refusal(answer) == (401, 10000)


def test_a_secret_may_have_spaces_and_what_a_paste_adds_around_it(callers: Callers) -> None:
    assert callers.worker("words-for-a-secret", secret="four words with spaces").post(BATCH).status_code == 200
    assert callers.worker("words-for-a-secret", secret="four words").refusal(BATCH) == (401, 10000)


def test_a_worker_without_a_secret_is_closed_and_says_how_to_open_it(callers: Callers) -> None:
    for secret in ("", SECRET):
        caller = callers.worker("without-secret", secret=secret)
        assert caller.refusal(BATCH) == (401, 10000)
        assert "npx wrangler secret put SHARED_SECRET" in caller.post(BATCH).json()["error"]["message"]


def test_a_worker_is_open_only_when_it_is_told_so(callers: Callers) -> None:
    assert callers.worker("open", secret="").post(BATCH).json()["status"] == "queued"
    assert callers.worker("secret-before-open", secret="").refusal(BATCH) == (401, 10000)
    assert callers.worker("secret-before-open").post(BATCH).json()["status"] == "queued"


def test_it_says_that_it_is_there(worker: Caller) -> None:
    assert worker.http.get("/").json() == {"ok": True}


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b'{"requests":[{"text":"\xff"}]}',
        b"[]",
        b"7",
        b"null",
        b"{}",
        b'{"requests":[]}',
        b'{"requests":{"text":"a"}}',
        b'{"request_id":7}',
        b'{"request_id":""}',
        b'{"text":"a bare request in the queue"}',
    ],
)
def test_a_body_that_is_none_of_the_two_is_refused(worker: Caller, body: bytes) -> None:
    assert worker.refusal(body) == (400, 5006)


def test_a_list_of_requests_needs_the_queue(worker: Caller) -> None:
    assert worker.refusal(BATCH, queue=False) == (400, 5006)


@pytest.mark.parametrize("size", [10_000_000, 30_000_000])
@pytest.mark.parametrize("announced", [True, False], ids=["content-length", "chunked"])
def test_a_body_of_ten_megabytes_is_too_large(worker: Caller, size: int, announced: bool) -> None:
    body = b'{"requests":[{"text":"' + b"a" * (size - 25) + b'"}]}'
    pieces = [body] if announced else [body[start : start + 65536] for start in range(0, size, 65536)]
    address = f"/ai/run/{BGE_M3}?queueRequest=true"
    answer = worker.http.post(address, content=body if announced else iter(pieces))
    assert read_refusal(answer) == (413, 3006)


def test_a_wrong_secret_is_told_to_whoever_sends_much(callers: Callers) -> None:
    """The answer arrives while the body is still being sent."""
    assert callers.worker(secret="wrong").refusal(b" " * 9_000_000) == (401, 10000)


@pytest.mark.parametrize(
    ("method", "address", "allowed"),
    [
        ("GET", f"/ai/run/{BGE_M3}", "POST"),
        ("PUT", f"/ai/run/{BGE_M3}", "POST"),
        ("DELETE", f"/ai/run/{BGE_M3}", "POST"),
        ("POST", "/", "GET"),
    ],
)
def test_the_other_methods_are_refused(worker: Caller, method: str, address: str, allowed: str) -> None:
    answer = worker.http.request(method, address)
    assert read_refusal(answer) == (405, 10405)
    assert answer.headers["allow"] == allowed


@pytest.mark.parametrize(
    "address", ["/ai", "/ai/run", "/client/v4/ai/run", f"/x/ai/run/{BGE_M3}", f"//ai/run/{BGE_M3}"]
)
def test_there_is_nothing_at_other_addresses(worker: Caller, address: str) -> None:
    answer = worker.http.post(address, json=BATCH)
    assert read_refusal(answer) == (404, 7003)


@pytest.mark.parametrize(
    "model",
    [
        "",
        "bge-m3",
        "@cf/bge-m3",
        "@hf/baai/bge-m3",
        "@cf/baai/bge-m3/",
        "@cf/baai/bge-m3/more",
        "@cf%2Fbaai%2Fbge-m3",
        "@cf/baai/bge%20m3",
        "@cf/-/bge-m3",
        "@cf/baai/" + "é",
    ],
)
def test_a_name_that_is_no_models_is_refused(worker: Caller, model: str) -> None:
    assert worker.refusal(BATCH, model=model) == (400, 5006)


def test_only_the_models_of_the_list_are_offered(callers: Callers) -> None:
    caller = callers.worker("two-models")
    assert caller.post(BATCH).json()["status"] == "queued"
    assert caller.post(BATCH, model="@cf/baai/bge-base-en-v1.5").json()["status"] == "queued"
    assert caller.refusal(BATCH, model="@cf/baai/bge-large-en-v1.5") == (400, 5006)


@pytest.mark.parametrize("queue", [True, False])
def test_an_unknown_request_id_is_said_to_be_unknown(worker: Caller, queue: bool) -> None:
    """The free test of a connection relies on this."""
    assert worker.refusal({"request_id": UNKNOWN_ID}, queue=queue) == (404, 5504)


def test_an_unknown_model_and_a_bad_input_keep_the_services_codes(worker: Caller) -> None:
    assert worker.refusal(BATCH, model="@cf/baai/nothing") == (400, 5007)
    answer = worker.post({"text": 5}, queue=False)
    assert read_refusal(answer) == (400, 5006)
    assert "Bad input" in answer.json()["error"]["message"]


def test_a_worker_without_the_binding_says_so_before_anything_is_sent(callers: Callers) -> None:
    caller = callers.worker("without-ai")
    assert caller.refusal(BATCH) == (400, 0)
    assert "binding" in caller.post(BATCH).json()["error"]["message"]


@pytest.mark.parametrize(
    ("model", "status", "error"),
    [
        ("connection", 502, ServiceError(0, "internal error; reference = 0000")),
        ("exception", 400, ServiceError(5006, "required properties are missing")),
        ("page", 502, ServiceError(0, "<h1>Bad gateway</h1>")),
        ("words", 502, ServiceError(0, '{"trouble":true}')),
        ("queue", 400, ServiceError(8007, "This model does not support request queuing")),
        ("capacity", 429, ServiceError(3040, "Capacity temporarily exceeded")),
        ("code", 418, ServiceError(3999, "Something new")),
    ],
)
def test_a_failure_behind_the_binding_keeps_its_code(
    callers: Callers, model: str, status: int, error: ServiceError
) -> None:
    """Without a code the outcome of the request is unknown, which the status 502 expresses."""
    answer = callers.worker("odd-ai").post(BATCH, model=f"@cf/odd/{model}")
    assert read_refusal(answer) == (status, error.code)
    assert answer.json()["error"]["message"] == error.message
    assert answer.headers.get("retry-after") == ("7" if model == "capacity" else None)


def test_the_runtime_runs_what_is_deployed() -> None:
    """The tests use the compatibility date, the module and the binding's name of wrangler.jsonc."""
    text = re.sub(r"^\s*//.*$", "", (WORKER / "wrangler.jsonc").read_text("utf-8"), flags=re.MULTILINE)
    config = json.loads(text)
    assert config["ai"] == {"binding": "AI"}
    assert f'"{config["compatibility_date"]}"' in CONFIG.read_text("utf-8")
    assert f'embed "../../resources/worker/{config["main"]}"' in CONFIG.read_text("utf-8")
    assert Path(WORKER, config["main"]).is_file()
    assert "SHARED_SECRET" not in json.dumps(config)
