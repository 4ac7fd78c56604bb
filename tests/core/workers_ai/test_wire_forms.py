"""Every form of an answer that has been observed, or that a model's schema allows."""

import json
from typing import Any

import numpy as np
import pytest

from cfbatch_gui.core.errors import ReplyError
from cfbatch_gui.core.workers_ai.answers import (
    Answer,
    Embedded,
    Expected,
    Finished,
    Matched,
    Queued,
    Refused,
    Scored,
    Usage,
    Waiting,
    match,
    read_answer,
)

VECTORS = [[0.5, -1, 0.25], [0, 1e-05, 3.0]]
SCORES = [{"id": 1, "score": 0.5}, {"id": 0, "score": 1}]
FRAME = {"success": True, "errors": [], "messages": []}


def answer(body: Any, *, framed: bool = True) -> Answer:
    return read_answer(json.dumps({"result": body, **FRAME} if framed else body).encode())


def matched(element: Any, kind: Any = "embeddings", key: str = "responses") -> Matched:
    finished = answer({key: [{"external_reference": "r", **element}]})
    assert isinstance(finished, Finished)
    [only] = match(finished, [Expected("r", kind, 2)])
    return only


@pytest.mark.parametrize("framed", [True, False])
def test_queued_waiting_and_done_are_told_apart(framed: bool) -> None:
    assert answer({"request_id": "a-b", "status": "queued", "model": "m"}, framed=framed) == Queued(
        "a-b", "m", "queued"
    )
    assert answer({"request_id": "a-b"}, framed=framed) == Queued("a-b", "", "queued")
    assert answer({"request_id": "a-b", "model": None, "status": "running"}, framed=framed) == Queued(
        "a-b", "", "running"
    )
    assert answer({"status": "queued"}, framed=framed) == Waiting("queued")
    assert answer({"status": "thinking it over", "responses": None}, framed=framed) == Waiting("thinking it over")
    assert answer({"status": "running", "responses": []}, framed=framed) == Waiting("running")
    assert answer({"responses": []}, framed=framed) == Finished((), None)


@pytest.mark.parametrize("key", ["responses", "results"])
@pytest.mark.parametrize("framed", [True, False])
def test_done_is_a_list_of_elements_whatever_else_is_there(key: str, framed: bool) -> None:
    other = "results" if key == "responses" else "responses"
    body = {key: [{"id": 0, "result": {}}], other: None, "status": "complete", "request_id": "a", "new": {"a": 1}}
    finished = answer(body, framed=framed)
    assert isinstance(finished, Finished)
    assert len(finished.elements) == 1
    assert isinstance(answer({**body, other: []}, framed=framed), Finished)


@pytest.mark.parametrize(
    ("usage", "read"),
    [
        ({"prompt_tokens": 12, "completion_tokens": None, "total_tokens": 12.0, "more": 1}, Usage(12, 0, 12)),
        ({}, Usage(0, 0, 0)),
        (None, None),
        ("free of charge", None),
        ({"prompt_tokens": -5, "completion_tokens": 7, "total_tokens": 1e308}, Usage(0, 7, 0)),
    ],
)
def test_usage_is_read_leniently(usage: Any, read: Usage | None) -> None:
    finished = answer({"responses": [], "usage": usage})
    assert isinstance(finished, Finished)
    assert finished.usage == read


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{}",
        b"[]",
        b"<html>",
        b'{"result":null,"success":true,"errors":[]}',
        b'{"result":{"status":"queued","request_id":"a"},"success":false,"errors":[{"code":1}]}',
        b'{"result":{"status":""},"success":true}',
        b'{"result":"done","success":true}',
        b'{"responses":{"id":0}}',
        b'{"responses":[1]}',
        b'{"responses":[{"id":0}],"results":[{"id":0}]}',
        b'{"responses":[{"id":0}]',
        b'{"request_id":7}',
        b'{"responses":[{"result":' + b"[" * 100_000,
        b'{"responses":[{"error":"\xff", "external_reference":"\xff"}]}',
    ],
)
def test_anything_else_is_a_reply_error(data: bytes) -> None:
    with pytest.raises(ReplyError):
        read_answer(data)


@pytest.mark.parametrize(
    "result",
    [
        {"response": SCORES},
        {"response": SCORES, "data": None, "shape": None, "meta": {"a": [1]}},
        {"result": {"response": SCORES}},
        {"result": {"response": SCORES}, "response": None},
        {"result": None, "response": SCORES},
    ],
)
def test_scores_stand_in_the_order_of_the_contexts(result: Any) -> None:
    only = matched({"id": 0, "result": result, "success": True}, "scores")
    assert isinstance(only, Scored)
    assert only.scores.tolist() == [1.0, 0.5]
    assert only.scores.dtype == np.float64


@pytest.mark.parametrize(
    "result",
    [
        {"data": VECTORS, "shape": [2, 3], "pooling": "cls"},
        {"data": VECTORS, "shape": [2.0, 3.0], "pooling": "cls", "response": None, "meta": {"time": 1}},
        {"response": VECTORS, "shape": [2, 3], "pooling": "cls"},
        {"response": VECTORS, "pooling": "cls", "data": None},
        {"result": {"data": VECTORS, "shape": None, "pooling": "cls"}},
    ],
)
@pytest.mark.parametrize("key", ["responses", "results"])
def test_vectors_stand_under_two_keys_and_at_two_depths(result: Any, key: str) -> None:
    only = matched({"result": result}, key=key)
    assert isinstance(only, Embedded)
    assert only.vectors.dtype == np.float32
    assert np.array_equal(only.vectors, np.array(VECTORS, dtype=np.float32))
    assert only.pooling == "cls"


def test_pooling_may_be_left_out() -> None:
    only = matched({"id": 0, "result": {"data": VECTORS, "pooling": None}})
    assert isinstance(only, Embedded)
    assert only.pooling == ""


def test_vectors_may_be_laid_out_over_many_lines() -> None:
    body = {"responses": [{"id": 0, "result": {"data": VECTORS}}]}
    finished = read_answer(json.dumps(body, indent="\t").replace("\n", "\r\n").encode())
    assert isinstance(finished, Finished)
    [only] = match(finished, [Expected("r", "embeddings", 2)])
    assert isinstance(only, Embedded)
    assert np.array_equal(only.vectors, np.array(VECTORS, dtype=np.float32))


@pytest.mark.parametrize(
    ("element", "words"),
    [
        ({"success": False, "error": "Sequence too long: 9000 > 8192"}, "Sequence too long: 9000 > 8192"),
        ({"success": False, "error": {"code": 5001, "é": None}}, '{"code":5001,"é":null}'),
        ({"success": False, "errors": [{"message": "bad"}]}, '[{"message":"bad"}]'),
        ({"success": False, "error": None, "message": "bad"}, "bad"),
        ({"success": False, "result": "out of memory"}, "out of memory"),
        ({"success": False, "result": [1, 2]}, ""),
        ({"success": False, "result": {"data": VECTORS}, "error": True}, "true"),
        ({"success": False}, ""),
        ({"error": "no success at all"}, "no success at all"),
    ],
)
def test_a_failed_element_keeps_its_words(element: Any, words: str) -> None:
    data = json.dumps({"responses": [{"id": 0, **element}]}, ensure_ascii=False, separators=(",", ":")).encode()
    finished = read_answer(data)
    assert isinstance(finished, Finished)
    assert list(match(finished, [Expected("r", "embeddings", 2)])) == [Refused(0, words)]


def test_a_number_is_the_nearest_float32() -> None:
    written = ["0.1", "16777217", "-0.023254394531250001", "1e-45", "3.4028234e38", "0.73974609375", "-0.0", "1E-3"]
    data = f'{{"responses":[{{"id":0,"result":{{"data":[[{",".join(written)}]]}}}}]}}'.encode()
    finished = read_answer(data)
    assert isinstance(finished, Finished)
    [only] = match(finished, [Expected("", "embeddings", 1)])
    assert isinstance(only, Embedded)
    assert only.vectors.tobytes() == np.array([[float(number) for number in written]], dtype=np.float32).tobytes()
