"""Bodies that the practice service accepts and refuses, by the published schema and table of errors."""

import hashlib
from typing import Any

import pytest

from tests.core.practice.conftest import ACCOUNT, BGE_M3, Calls, Practice
from tests.support.practice import accepted

SMALL = "@cf/baai/bge-small-en-v1.5"
RANK = {"query": "q", "contexts": [{"text": "a"}, {"text": "b"}]}
TEXTS = {"text": ["a", "b"]}


@pytest.mark.parametrize(
    ("body", "place"),
    [
        (b"", "truncated"),
        (b"not JSON", "malformed"),
        (b'{"text":"\xff"}', "UTF-8"),
        (b'{"text":"\\ud800"}', ""),
        (b'{"x":' + b"[" * 100_000, ""),
        ([], "array"),
        ({}, "'/'"),
        ({"query": "alone"}, "'/'"),
        ({**RANK, **TEXTS}, "2 matches"),
        ({"requests": [RANK], "text": "a"}, "2 matches"),
        ({"requests": [RANK], "request_id": "x"}, "2 matches"),
        ({"request_id": 7}, "'/request_id'"),
        ({"requests": {}}, "'/requests'"),
        ({"requests": [TEXTS, {"query": "alone"}]}, "'/requests/1'"),
        ({"requests": [TEXTS, "text"]}, "'/requests/1'"),
        ({"requests": [{**RANK, **TEXTS}]}, "'/requests/0'"),
        ({"requests": [RANK, {"query": "", "contexts": []}]}, "'/requests/1/query'"),
        ({"requests": [{"query": None, "contexts": []}]}, "'/requests/0/query'"),
        ({"requests": [{"contexts": [{"text": "a"}, {"text": ""}]}]}, "'/requests/0/contexts/1/text'"),
        ({"requests": [{"contexts": [{"text": "a"}, {}]}]}, "'/requests/0/contexts/1'"),
        ({"requests": [{"contexts": ["a"]}]}, "'/requests/0/contexts/0'"),
        ({"requests": [{"text": ["a", ""]}]}, "'/requests/0/text/1'"),
        ({"requests": [{"text": 5}]}, "'/requests/0/text'"),
        ({"requests": [TEXTS, {"text": ["a"] * 101}]}, "<= 100 at '/requests/1/text'"),
        ({"requests": [{**TEXTS, "truncate_inputs": "yes"}]}, "'/requests/0/truncate_inputs'"),
        ({"requests": [{**TEXTS, "external_reference": 1}]}, "'/requests/0/external_reference'"),
    ],
)
@pytest.mark.parametrize("queue", [True, False])
async def test_a_wrong_body_is_refused_with_its_place(
    practice: Practice, calls: Calls, body: Any, place: str, queue: bool
) -> None:
    answer = await calls.post(body, queue=queue)
    assert answer.status_code == 400
    (error,) = answer.json()["errors"]
    assert error["code"] == 5006
    assert error["message"].startswith("AiError: Bad input: ")
    assert place in error["message"]
    assert answer.json() | {"errors": []} == {"result": None, "success": False, "errors": [], "messages": []}
    assert accepted(practice.folder) == []


@pytest.mark.parametrize(
    "element",
    [
        RANK,
        TEXTS,
        {"contexts": [{"text": "a", "external_reference": "story1"}]},
        {"text": "one"},
        {"text": ["a"] * 100},
        {"text": []},
        {**RANK, "truncate_inputs": True, "external_reference": None, "unknown": [1]},
    ],
)
async def test_a_right_body_is_accepted(practice: Practice, calls: Calls, element: dict[str, Any]) -> None:
    request_id = await calls.submit(element, RANK)
    (line,) = accepted(practice.folder)
    assert (line.request_id, line.model, line.account) == (request_id, BGE_M3, ACCOUNT.lower())
    assert line.accepted_at == practice.now


async def test_the_ledger_knows_the_exact_bytes(practice: Practice, calls: Calls) -> None:
    body = b'{ "requests" : [{"text":"\xc3\xa9"}] }'
    await calls.post(body)
    await calls.post(body)
    digests = [(line.sha256, line.size) for line in accepted(practice.folder)]
    assert digests == [(hashlib.sha256(body).hexdigest(), len(body))] * 2


@pytest.mark.parametrize("element", [RANK, {"contexts": []}, {**TEXTS, "query": "q"}])
async def test_a_model_that_cannot_rank_says_so(practice: Practice, element: dict[str, Any]) -> None:
    answer = await Calls(practice.open(), SMALL).post({"requests": [TEXTS, element]})
    assert answer.status_code == 400
    assert answer.json()["errors"][0]["code"] == 5006
    assert "'/requests/1'" in answer.json()["errors"][0]["message"]


async def test_ten_megabytes_are_too_many(practice: Practice, calls: Calls) -> None:
    frame = len(b'{"requests":[{"text":""}]}')
    refused = await calls.post(b'{"requests":[{"text":"%s"}]}' % (b"a" * (10_000_000 - frame)))
    assert (refused.status_code, refused.json()["errors"][0]["code"]) == (413, 3006)
    far_too_large = await calls.post(b"a" * 25_000_000)
    assert far_too_large.status_code == 413
    assert accepted(practice.folder) == []

    taken = await calls.post(b'{"requests":[{"text":"%s"}]}' % (b"a" * (9_999_999 - frame)))
    assert taken.status_code == 200
    assert accepted(practice.folder)[0].size == 9_999_999


async def test_a_batch_without_the_queue_is_refused(practice: Practice, calls: Calls) -> None:
    answer = await calls.post({"requests": [RANK]}, queue=False)
    assert answer.status_code == 400
    assert "queueRequest=true" in answer.json()["errors"][0]["message"]
    assert accepted(practice.folder) == []
