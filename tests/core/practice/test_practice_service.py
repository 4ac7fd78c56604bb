"""The practice service: addresses and tokens, bodies, a batch over time, and the forms and values of its answers."""

import hashlib
import sys
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cfbatch_gui.core.practice.app import KEPT_SECONDS, count_tokens, cut
from cfbatch_gui.core.practice.local_models import HashedNgrams, PracticeModel, WordLlama, choose_model
from tests.canary import CORE, OTHER_TOKEN, TOKEN
from tests.core.practice.conftest import ACCOUNT, BGE_M3, Calls, Practice, refusal
from tests.support.practice import accepted

SMALL = "@cf/baai/bge-small-en-v1.5"
RANK = {"query": "q", "contexts": [{"text": "a"}, {"text": "b"}]}
TEXTS = {"text": ["a", "b"], "external_reference": "r1"}
BODY = {"requests": [TEXTS]}
SEARCH = f"accounts/{ACCOUNT}/ai/models/search"


# Addresses and tokens


@pytest.mark.parametrize("header", ["", "Bearer ", "Basic eDp5", "Bearer a b"])
async def test_a_request_without_a_bearer_token(calls: Calls, header: str) -> None:
    calls.client.headers["Authorization"] = header
    assert refusal(await calls.post(BODY)) == (400, 9106)


@pytest.mark.parametrize("path", ["user/tokens/verify", f"accounts/{ACCOUNT}/tokens/verify", SEARCH])
async def test_a_wrong_token(practice: Practice, path: str) -> None:
    client = practice.open(token=TOKEN)
    refused = await client.get(path, headers={"Authorization": f"Bearer {OTHER_TOKEN}"})
    assert refusal(refused) == (401, 10000) and CORE not in refused.text
    assert (await client.get(path)).json()["success"] is True


@pytest.mark.parametrize(
    "path",
    [
        f"/accounts/{ACCOUNT[:-1]}/ai/run/{BGE_M3}",
        f"/accounts/{ACCOUNT}/ai/run/@cf%2Fbaai%2Fbge-m3",
        f"/accounts/{ACCOUNT}/ai/run/",
        f"/accounts/{ACCOUNT}/ai",
        "/",
    ],
)
async def test_an_address_that_leads_nowhere(practice: Practice, path: str) -> None:
    answer = await practice.open().post(path, json=BODY)
    assert answer.status_code == 404 and {error["code"] for error in answer.json()["errors"]} == {7000, 7003}


async def test_the_catalogue_says_whose_vectors_they_are(practice: Practice) -> None:
    client = practice.open()
    (item,) = (await client.get(SEARCH, params={"search": "BGE-M3"})).json()["result"]
    assert item["name"] == BGE_M3 and HashedNgrams.name in item["description"]
    properties = {entry["property_id"]: entry["value"] for entry in item["properties"]}
    assert (properties["async_queue"], properties["output_dimensions"]) == ("true", str(HashedNgrams.dimension))
    assert (await client.get(SEARCH, params={"search": "xyzzy-nothing"})).json()["result"] == []


# Bodies


@pytest.mark.parametrize(
    ("body", "place"),
    [
        (b'{"text":"\xff"}', "UTF-8"),
        (b'{"x":' + b"[" * 100_000, ""),
        ({}, "'/'"),
        ({**RANK, **TEXTS}, "2 matches"),
        ({"request_id": 7}, "$.request_id"),
        ({"requests": [TEXTS, {"query": "alone"}]}, "'/requests/1'"),
        ({"requests": [{"contexts": [{"text": "a"}, {"text": ""}]}]}, "$.requests[0].contexts[1].text"),
        ({"requests": [TEXTS, {"text": ["a"] * 101}]}, "<= 100 - at `$.requests[1].text"),
    ],
)
async def test_a_wrong_body_is_refused_with_its_place(calls: Calls, practice: Practice, body: Any, place: str) -> None:
    for queue in (True, False):
        answer = await calls.post(body, queue=queue)
        assert refusal(answer) == (400, 5006) and place in answer.text
    assert accepted(practice.folder) == []


async def test_what_a_model_does_not_take(practice: Practice) -> None:
    assert refusal(await Calls(practice.open(), SMALL).post({"requests": [TEXTS, RANK]})) == (400, 5006)
    assert refusal(await Calls(practice.open(), "@cf/baai/bge-m4").post(BODY)) == (400, 5007)
    assert refusal(await Calls(practice.open()).post(BODY, queue=False)) == (400, 5006)


async def test_ten_megabytes_are_too_many(practice: Practice, calls: Calls) -> None:
    frame = len(b'{"requests":[{"text":""}]}')
    assert refusal(await calls.post(b'{"requests":[{"text":"%s"}]}' % (b"a" * (10_000_000 - frame)))) == (413, 3006)
    assert refusal(await calls.post(b"a" * 25_000_000)) == (413, 3006)
    assert (await calls.post(b'{"requests":[{"text":"%s"}]}' % (b"a" * (9_999_999 - frame)))).status_code == 200
    assert [line.size for line in accepted(practice.folder)] == [9_999_999]


# The queue


async def test_a_batch_waits_then_runs_then_is_done_also_after_a_restart(practice: Practice, calls: Calls) -> None:
    request_id = await calls.submit(*[TEXTS] * 20)
    start, seen = practice.now, []
    for seconds in (0, 9.9, 10, 29.9):
        practice.now = start + seconds
        seen.append((await calls.poll(request_id))["result"])
    assert [result["status"] for result in seen] == ["queued", "queued", "running", "running"]
    assert {(result["request_id"], result["model"]) for result in seen} == {(request_id, BGE_M3)}
    practice.now = start + 30
    done = await calls.poll(request_id)
    assert done["result"].keys() == {"responses", "usage"}
    assert await calls.poll(request_id, queue=False) == done  # the form in which the Workers Binding polls
    assert await Calls(practice.open()).poll(request_id) == done


async def test_an_id_is_known_to_its_account_and_model_alone_and_for_a_week(practice: Practice, calls: Calls) -> None:
    request_id = await calls.submit(TEXTS)
    for stranger in (Calls(calls.client, account="b" * 32), Calls(calls.client, SMALL)):
        assert refusal(await stranger.post({"request_id": request_id})) == (400, 5504)
    assert (await Calls(calls.client, account=ACCOUNT.lower()).poll(request_id))["success"] is True
    practice.now += KEPT_SECONDS
    assert "responses" in (await calls.poll(request_id))["result"]
    practice.now += 1
    assert refusal(await calls.post({"request_id": request_id})) == (400, 5504)
    later = await calls.submit(TEXTS)
    assert [line.request_id for line in accepted(practice.folder)] == [request_id, later]


async def test_what_was_taken_is_known_by_its_exact_bytes(practice: Practice, calls: Calls) -> None:
    body = b'{ "requests" : [{"text":"\xc3\xa9"}] }'
    await calls.post(body)
    answered: httpx.Response = await calls.post(TEXTS, queue=False)
    await calls.post({"contexts": [{"text": ""}]}, queue=False)
    (batch,), (call,) = accepted(practice.folder), accepted(practice.folder, is_queued=False)
    assert (batch.sha256, batch.size) == (hashlib.sha256(body).hexdigest(), len(body))
    assert call.sha256 == hashlib.sha256(answered.request.content).hexdigest()


ENGINE = HashedNgrams()


async def done(practice: Practice, calls: Calls, *elements: dict[str, Any]) -> Any:
    request_id = await calls.submit(*elements)
    practice.now += 30
    return (await calls.poll(request_id))["result"]


def by_id(listed: list[dict[str, Any]]) -> list[dict[str, Any]]:
    ordered = sorted(listed, key=lambda element: int(element["id"]))
    assert [element["id"] for element in ordered] == list(range(len(listed)))
    return ordered


def is_shuffled(ids: list[int]) -> bool:
    """Whether the ids are not in ascending order, nor a rotation of it."""
    return ids not in [[*range(start, len(ids)), *range(start)] for start in range(len(ids))]


async def test_answers_and_scores_come_shuffled(practice: Practice, calls: Calls) -> None:
    contexts = [{"text": f"context {number}"} for number in range(20)]
    elements = [
        {"query": f"query {number}", "contexts": contexts, "external_reference": f"r{number}"} for number in range(50)
    ]
    responses = (await done(practice, calls, *elements))["responses"]
    assert is_shuffled([element["id"] for element in responses])
    for number, element in enumerate(by_id(responses)):
        scores = element["result"]["response"]
        assert element["external_reference"] == f"r{number}"
        assert is_shuffled([score["id"] for score in scores])
        by_id(scores)


async def test_the_three_forms_of_an_answer(practice: Practice, calls: Calls) -> None:
    texts = ["one", "two", "three"]
    contexts = [{"text": text} for text in texts]
    responses = by_id(
        (await done(practice, calls, {"contexts": contexts}, {"text": texts}, {"text": "one"}))["responses"]
    )
    of_contexts, of_texts, of_one = (element["result"] for element in responses)
    assert of_contexts.keys() == {"response", "shape", "pooling"}
    assert of_texts.keys() == {"shape", "data", "pooling"}
    assert of_contexts["response"] == of_texts["data"]
    assert of_one["data"] == of_texts["data"][:1]
    assert (of_texts["shape"], of_one["shape"]) == ([3, 1024], [1, 1024])
    assert {of_contexts["pooling"], of_texts["pooling"]} == {"cls"}
    vectors = np.array(of_texts["data"], np.float32)
    np.testing.assert_allclose(vectors, ENGINE.embed(texts), atol=1e-7)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)


TOO_LONG = "word " * 8_193
AT_THE_LIMIT = "word " * 8_192


@pytest.mark.parametrize(
    ("element", "reason"),
    [
        ({"text": ["short", TOO_LONG]}, "Sequence too long: 8193 > 8192"),
        ({"contexts": [{"text": TOO_LONG}], "truncate_inputs": False}, "Sequence too long: 8193 > 8192"),
        ({"text": [AT_THE_LIMIT, *["short"] * 7]}, "Max context reached 65536 tokens but model supports only 60000"),
        (
            {"text": [TOO_LONG, *["short"] * 7], "truncate_inputs": True},
            "Max context reached 65536 tokens but model supports only 60000",
        ),
    ],
)
async def test_what_is_too_long_fails_alone(
    practice: Practice, calls: Calls, element: dict[str, Any], reason: str
) -> None:
    result = await done(practice, calls, {"text": "before"}, {**element, "external_reference": "long"}, {"text": "b"})
    before, failed, after = by_id(result["responses"])
    assert before["success"] is True
    assert after["success"] is True
    assert failed == {"id": 1, "success": False, "error": reason, "external_reference": "long"}
    assert result["usage"]["total_tokens"] == count_tokens("before") + count_tokens("b")

    synchronous = await calls.post(element, queue=False)
    assert synchronous.status_code == 400
    assert synchronous.json()["errors"] == [{"code": 3030, "message": f"AiError: {reason}"}]


async def test_long_texts_are_cut_when_asked(practice: Practice, calls: Calls) -> None:
    asked = {"text": [TOO_LONG + "tail", AT_THE_LIMIT], "truncate_inputs": True}
    result = await done(practice, calls, asked)
    first, second = result["responses"][0]["result"]["data"]
    assert first == second
    assert result["usage"]["prompt_tokens"] == 2 * 8_192


@settings(max_examples=30)
@given(st.text(max_size=60), st.integers(0, 20))
def test_a_cut_text_is_the_longest_beginning_that_fits(text: str, limit: int) -> None:
    beginning = cut(text, limit)
    assert text.startswith(beginning)
    assert count_tokens(beginning) == min(limit, count_tokens(text))


@pytest.fixture(scope="module", params=[WordLlama, HashedNgrams], ids=lambda kind: kind.__name__)
def model(request: pytest.FixtureRequest) -> PracticeModel:
    if request.param is WordLlama:
        pytest.importorskip("wordllama", reason="the extra “practice” is not installed")
    loaded: PracticeModel = request.param()
    return loaded


@settings(max_examples=20, deadline=None)
@example(texts=[" ", "🤗", "!?", "日本語", "\u200b", "a", "نص", "हिन्दी"])
@given(texts=st.lists(st.text(min_size=1, max_size=40), max_size=12))
def test_every_text_has_a_unit_vector_of_its_own(model: PracticeModel, texts: list[str]) -> None:
    vectors = model.embed(texts)
    assert vectors.shape == (len(texts), model.dimension)
    assert vectors.dtype == np.dtype(np.float32)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    for text, vector in zip(texts, vectors, strict=True):
        np.testing.assert_allclose(model.embed([text])[0], vector, atol=1e-5)


@pytest.mark.parametrize("missing", ["file", "package"])
def test_without_its_file_or_its_package_another_model_is_taken(missing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """That loading touches no network is in tests/journeys/test_network.py."""
    if missing == "package":
        monkeypatch.setitem(sys.modules, "wordllama", None)
    exists = Path.exists
    monkeypatch.setattr(Path, "exists", lambda path: path.suffix != ".safetensors" and exists(path))
    assert choose_model.__wrapped__().name == HashedNgrams.name
