"""The Worker in Cloudflare's runtime: answers passed on unchanged, refusals, and what of it is deployed."""

import json
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from cfbatch_gui.core.workers_ai.answers import Finished, ServiceError, read_answer
from cfbatch_gui.core.workers_ai.requests import Request, encode_batch, encode_request
from tests.worker.collecting_room import ONE_REQUEST, Room, order
from tests.worker.conftest import BGE_M3, RUNNING_SECONDS, Caller, Stage, read_refusal
from tests.worker.runtime import CONFIG, SECRET, WORKER, configuration, peak_megabytes

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


def test_an_answer_is_handed_on_to_the_letter(stage: Stage) -> None:
    """No byte is added, dropped, reordered or rounded."""
    answer = stage.worker().post(encode_batch(map(encode_request, REQUESTS)))
    assert answer.status_code == 200, answer.text
    request_id = answer.json()["request_id"]
    stage.wait_for_results()
    framed = stage.direct().post({"request_id": request_id}).json()
    assert stage.worker().post({"request_id": request_id}).json() == framed["result"]


@pytest.mark.parametrize(
    "element", [SEED["requests"][0], {"text": "one"}, {"text": ["two", "テキスト"]}, {"contexts": [{"text": "alone"}]}]
)
def test_one_bare_request_is_answered_at_once(stage: Stage, element: dict[str, object]) -> None:
    answer = stage.worker().post(element, queue=False)
    assert answer.status_code == 200
    assert answer.json() == stage.direct().post(element, queue=False).json()["result"]


def test_a_body_just_under_the_limit_is_taken(worker: Caller) -> None:
    """The limit is exact, and it is in bytes of UTF-8, not in characters."""
    text = "Ä" * 4_999_000
    body = encode_batch([encode_request(Request((text,), reference="r"))])
    body += b" " * (9_999_999 - len(body))
    assert worker.post(body).json()["status"] == "queued"
    assert worker.refusal(body + b" ") == (413, 3006)


def test_the_binding_gets_the_body_as_it_was_sent(stage: Stage) -> None:
    """The queue is requested for submits only, and the HTTP status is passed on."""
    caller = stage.worker("odd-ai")
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
def test_an_answer_of_50_megabytes_passes_through_without_being_held(stage: Stage) -> None:
    """A Worker has 128 MB of memory; parsing this answer and writing it again would take about 280 MB."""
    caller = stage.worker("odd-ai")
    before = peak_megabytes(stage.process_id)
    finished = read_answer(caller.post({"request_id": "7"}, model="@cf/odd/large").content)
    assert isinstance(finished, Finished) and len(finished.elements) == 2500
    assert peak_megabytes(stage.process_id) - before < 60


BATCH = {"requests": [{"text": ["a"]}]}
UNKNOWN_ID = "00000000-0000-4000-8000-000000000000"


ROUTES = {
    "door": (("GET", "/"), ("POST", "/"), ("POST", f"/ai/run/{BGE_M3}"), ("GET", "/elsewhere")),
    "room": (
        *(("GET", "/"), ("POST", f"/ai/run/{BGE_M3}"), ("GET", "/collect"), ("GET", "/collect/no/such/route")),
        *(("PUT", "{shard}"), ("GET", "{shard}"), ("DELETE", "{shard}"), ("GET", "{shard}/order")),
        *(("PUT", "{shard}/layout"), ("GET", "{shard}/layout"), ("GET", "{shard}/1"), ("PATCH", "{shard}/1")),
    ),
}
ALLOWED = {
    "door": {f"/ai/run/{BGE_M3}": "POST", "/": "GET"},
    "room": {
        "/": "GET",
        "/collect": "GET",
        "{shard}": "GET, PUT, DELETE",
        "{shard}/order": "GET",
        "{shard}/layout": "GET, PUT",
        "{shard}/1": "GET",
    },
}
NOTHING = {
    "door": ("/ai", "/ai/run", "/client/v4/ai/run", f"/x/ai/run/{BGE_M3}", f"//ai/run/{BGE_M3}", "/elsewhere"),
    "room": (
        *("/collect/", "/collect/job", "/collect/job/", "/collect/job/0", "/collect/job/01", "/collect/job/1/"),
        *("/collect/job/-1", "/collect/job/1.0", "/collect/job/10000", "/collect/Job/1", "/collect/-job/1"),
        *("/collect/jo_b/1", "/collect/j%6Fb/1", "/collect/job%2F1/1", "/collect//1", f"/collect/{'j' * 65}/1"),
        *("/collect/job/1/0", "/collect/job/1/07", "/collect/job/1/1000000", "/collect/job/1/ended"),
        *("/collect/job/1/1.refusal", "/collect/job/1/Order", "/collect/job/1/order/", "/collect/job/1/1/1"),
        *("/collected", "/x/collect/job/1", "/elsewhere"),
    ),
}


@pytest.fixture(params=["door", "room"])
def end(request: pytest.FixtureRequest) -> "End":
    """The Worker alone, or with the collecting room, in which there is a shard."""
    if request.param == "door":
        return End("door", request.getfixturevalue("stage").worker().http)
    room: Room = request.getfixturevalue("room")
    return End("room", room.http, request.getfixturevalue("shard"))


@dataclass(frozen=True)
class End:
    name: str
    http: httpx.Client
    shard: str = ""

    def refusal(self, method: str, path: str, **more: Any) -> tuple[int, int]:
        return read_refusal(self.http.request(method, path.format(shard=self.shard), content=ORDER, **more))


ORDER = json.dumps(order([(1, "done")])).encode()


@pytest.mark.parametrize("secret", ["", "wrong", SECRET[:-1], SECRET + "x", SECRET.swapcase(), "ä"])
def test_without_the_secret_everything_is_refused(end: End, secret: str) -> None:
    headers = {b"Authorization": b"Bearer " + secret.encode()} if secret else {}
    with httpx.Client(base_url=end.http.base_url, trust_env=False, limits=ONE_REQUEST) as anyone:
        stranger = End(end.name, anyone, end.shard)
        for method, path in ROUTES[end.name]:
            assert stranger.refusal(method, path, headers=headers) == (401, 10000), path


def test_the_other_methods_are_refused(end: End) -> None:
    for path, allowed in ALLOWED[end.name].items():
        for method in {"GET", "PUT", "DELETE", "POST", "PATCH", "OPTIONS"} - set(allowed.split(", ")):
            assert end.refusal(method, path) == (405, 10405)
            answer = end.http.request(method, path.format(shard=end.shard))
            assert answer.headers["allow"] == allowed


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "POST"])
def test_there_is_nothing_at_other_addresses(end: End, method: str) -> None:
    for path in NOTHING[end.name]:
        assert end.refusal(method, path) == (404, 7003), path


def test_a_secret_in_another_scheme_is_none(stage: Stage) -> None:
    answer = stage.worker(secret="").http.get("/", headers={"Authorization": SECRET})
    assert read_refusal(answer) == (401, 10000)


NO_BATCHES = (
    *(b"", b"{", b'{"requests":[{"text":"\xff"}]}', b"[]", b"7", b"null", b"{}", b'{"requests":[]}'),
    *(b'{"requests":{"text":"a"}}', b'{"request_id":7}', b'{"request_id":""}'),
    b'{"text":"a bare request in the queue"}',
)
NO_MODELS = (
    *("", "bge-m3", "@cf/bge-m3", "@hf/baai/bge-m3", "@cf/baai/bge-m3/", "@cf/baai/bge-m3/more"),
    *("@cf%2Fbaai%2Fbge-m3", "@cf/baai/bge%20m3", "@cf/-/bge-m3", "@cf/baai/" + "é"),
)
UNKNOWN = {"request_id": UNKNOWN_ID}
FOUR = "four words with spaces"


@pytest.mark.parametrize(
    ("deployment", "secret", "body", "more", "answer"),
    [
        ("words-for-a-secret", FOUR, BATCH, {}, None),
        ("words-for-a-secret", "four words", BATCH, {}, (401, 10000)),
        ("without-secret", "", BATCH, {}, (401, 10000)),
        ("without-secret", SECRET, BATCH, {}, (401, 10000)),
        ("open", "", BATCH, {}, None),  # open only when it is told so
        ("secret-before-open", "", BATCH, {}, (401, 10000)),
        ("secret-before-open", SECRET, BATCH, {}, None),
        *(("with-secret", SECRET, body, {}, (400, 5006)) for body in NO_BATCHES),
        ("with-secret", SECRET, BATCH, {"queue": False}, (400, 5006)),
        *(("with-secret", SECRET, BATCH, {"model": model}, (400, 5006)) for model in NO_MODELS),
        ("two-models", SECRET, BATCH, {}, None),
        ("two-models", SECRET, BATCH, {"model": "@cf/baai/bge-base-en-v1.5"}, None),
        ("two-models", SECRET, BATCH, {"model": "@cf/baai/bge-large-en-v1.5"}, (400, 5006)),
        # The free test of a connection relies on these two.
        ("with-secret", SECRET, UNKNOWN, {}, (404, 5504)),
        ("with-secret", SECRET, UNKNOWN, {"queue": False}, (404, 5504)),
        ("with-secret", SECRET, BATCH, {"model": "@cf/baai/nothing"}, (400, 5007)),
        ("with-secret", SECRET, {"text": 5}, {"queue": False}, (400, 5006)),
        ("without-ai", SECRET, BATCH, {}, (400, 0)),
    ],
)
def test_a_batch_is_queued_or_refused_with_its_code(
    stage: Stage, deployment: str, secret: str, body: object, more: dict[str, Any], answer: tuple[int, int] | None
) -> None:
    caller = stage.worker(deployment, secret=secret)
    if answer is None:
        assert caller.post(body, **more).json()["status"] == "queued"
    else:
        assert caller.refusal(body, **more) == answer


@pytest.mark.parametrize("size", [10_000_000, 30_000_000])
@pytest.mark.parametrize("announced", [True, False], ids=["content-length", "chunked"])
def test_a_body_of_ten_megabytes_is_too_large(worker: Caller, size: int, announced: bool) -> None:
    body = b'{"requests":[{"text":"' + b"a" * (size - 25) + b'"}]}'
    pieces = [body] if announced else [body[start : start + 65536] for start in range(0, size, 65536)]
    address = f"/ai/run/{BGE_M3}?queueRequest=true"
    answer = worker.http.post(address, content=body if announced else iter(pieces))
    assert read_refusal(answer) == (413, 3006)


def test_a_wrong_secret_is_told_to_whoever_sends_much(stage: Stage) -> None:
    """The answer arrives while the body is still being sent."""
    assert stage.worker(secret="wrong").refusal(b" " * 9_000_000) == (401, 10000)


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
    stage: Stage, model: str, status: int, error: ServiceError
) -> None:
    """Without a code the outcome of the request is unknown, which the status 502 expresses."""
    answer = stage.worker("odd-ai").post(BATCH, model=f"@cf/odd/{model}")
    assert read_refusal(answer) == (status, error.code)
    assert answer.json()["error"]["message"] == error.message
    assert answer.headers.get("retry-after") == ("7" if model == "capacity" else None)


def test_the_runtime_runs_what_is_deployed() -> None:
    """The tests use the compatibility date, the module and the binding's name of wrangler.jsonc."""
    config = configuration(WORKER / "wrangler.jsonc")
    assert config["ai"] == {"binding": "AI"}
    assert f'"{config["compatibility_date"]}"' in CONFIG.read_text("utf-8")
    assert f'embed "../../resources/worker/{config["main"]}"' in CONFIG.read_text("utf-8")
    assert Path(WORKER, config["main"]).is_file()
    assert "SHARED_SECRET" not in json.dumps(config)


def test_the_door_can_be_deployed_alone() -> None:
    """On the dashboard `src/index.js` is pasted: it must not import anything."""
    assert re.findall(r"^import|^export .* from|import\(", (WORKER / "src" / "index.js").read_text("utf-8"), re.M) == []


def test_nothing_under_collecting_submits() -> None:
    """What a workflow repeats after a cut would be billed again."""
    for name in ("collect.js", "orders.js", "rounds.js", "storing.js"):
        text = (WORKER / "src" / name).read_text("utf-8")
        assert "queueRequest" not in text
        asks = re.findall(r"\.run\((.*)\)", text)
        assert asks == (
            ["model, { request_id: requestId }, { returnRawResponse: true }"] if name == "storing.js" else []
        )


def test_without_the_bucket_it_says_how_to_get_it_and_is_a_door_all_the_same(stage: Stage) -> None:
    caller = stage.worker("collecting-without-bucket")
    answer = caller.http.get("/collect")
    assert read_refusal(answer) == (400, 0)
    assert "npx wrangler deploy --config collect.jsonc" in answer.json()["error"]["message"]
    assert read_refusal(caller.http.put("/collect/job/1", json={})) == (400, 0)
    assert caller.refusal({"request_id": UNKNOWN_ID}) == (404, 5504)
    assert caller.post({"requests": [{"text": ["a"]}]}, model=BGE_M3).json()["status"] == "queued"
