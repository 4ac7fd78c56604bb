"""Answers to values: every form that was observed or that a schema allows, and what is put aside."""

import json
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cfbatch_gui.core.errors import ForeignReply, ReplyError
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.workers_ai.answers import (
    Answer,
    Embedded,
    Expected,
    Finished,
    Matched,
    Refused,
    Scored,
    ServiceError,
    Waiting,
    match,
    read_answer,
    read_envelope,
    read_run,
)

DIMENSION = 3


def value_of(request: int, item: int, index: int = 0) -> float:
    """A value that differs for all arguments and is exact in float32."""
    return float(1 + request * 100 + item * 10 + index)


def element(index: int, wanted: Expected) -> dict[str, Any]:
    if wanted.kind is Kind.RANK:
        result: dict[str, Any] = {"response": [{"id": i, "score": value_of(index, i)} for i in range(wanted.count)]}
    else:
        rows = [[value_of(index, i, component) for component in range(DIMENSION)] for i in range(wanted.count)]
        result = {"data": rows, "shape": [wanted.count, DIMENSION], "pooling": "cls"}
    return {"id": index, "result": result, "success": True, "external_reference": wanted.reference}


def done(data: bytes) -> Finished:
    finished = read_answer(data)
    assert isinstance(finished, Finished)
    return finished


def run(elements: list[Any], expected: list[Expected], dimension: int | None = None, **options: bool) -> list[Matched]:
    finished = done(json.dumps({"responses": elements}, ensure_ascii=False).encode("utf-8", "surrogatepass"))
    return list(match(finished, expected, dimension=dimension, **options))


def vectors_of(matched: Matched) -> Any:
    assert isinstance(matched, Embedded)
    return matched.vectors


def plain(results: list[Matched]) -> list[Any]:
    return [
        r.error
        if isinstance(r, Refused)
        else r.scores.tolist()
        if isinstance(r, Scored)
        else (r.vectors.tolist(), r.pooling)
        for r in results
    ]


def right(expected: list[Expected]) -> list[Any]:
    """The expected result, computed without the code under test."""
    return [
        [value_of(index, i) for i in range(wanted.count)]
        if wanted.kind is Kind.RANK
        else ([[value_of(index, i, p) for p in range(DIMENSION)] for i in range(wanted.count)], "cls")
        for index, wanted in enumerate(expected)
    ]


kinds = st.sampled_from(Kind)
batches = st.lists(st.tuples(kinds, st.integers(1, 4)), min_size=1, max_size=5).map(
    lambda shapes: [Expected(f"ref-{i}", kind, count) for i, (kind, count) in enumerate(shapes)]
)


@given(batches, st.randoms(use_true_random=False), st.sampled_from(["both", "id", "reference", "either"]))
def test_the_order_of_arrival_means_nothing(expected: list[Expected], random: Any, marks: str) -> None:
    elements = [element(index, wanted) for index, wanted in enumerate(expected)]
    random.shuffle(elements)
    for one in elements:
        if isinstance(one["result"].get("response"), list):
            random.shuffle(one["result"]["response"])
        if marks == "id":
            one["external_reference"] = None
        elif marks == "reference" or (marks == "either" and random.random() < 0.5):
            del one["id"]
    assert plain(run(elements, expected)) == right(expected)


TWO = [Expected("a", Kind.EMBED, 1), Expected("b", Kind.EMBED, 1)]
VECTOR = {"data": [[1, 2]]}


def two(first: dict[str, Any], second: dict[str, Any]) -> list[Any]:
    return [{"result": VECTOR, **first}, {"result": VECTOR, **second}]


@pytest.mark.parametrize(
    "elements",
    [
        two({"id": 0}, {"id": 0}),
        two({"id": 0}, {"external_reference": "a"}),
        two({"id": 0}, {"id": 2}),
        two({"id": 0}, {"id": 1, "external_reference": "a"}),
        two({"id": 0}, {"id": 1, "external_reference": "c"}),
        two({"id": 0}, {}),
        two({"id": 0}, {"id": "1"}),
        two({"id": 0}, {"id": 1})[:1],
        two({"id": 0, "result": {**VECTOR, "pooling": "cls"}}, {"id": 1, "result": {**VECTOR, "pooling": "mean"}}),
        *(
            two({"id": 0}, {"id": 1, "success": True, "result": result})
            for result in (
                *(None, "x", {}, {"data": [[1, 2]], "response": [[1, 2]]}, {"data": [[1, 2], [3, 4]]}),
                *({"data": [[2], 1]}, {"data": [[1, 2, 3]]}, {"data": [[1, None]]}, {"data": [[1, "2"]]}),
                *({"data": [[1, 4e38]]}, {"data": [[0, -0.0]]}, {"data": [[1, 2]], "shape": [1, 3]}),
                *({"data": [[1, 2]], "shape": [1, 2.5]}, {"response": [{"id": 0, "score": 1}]}),
            )
        ),
    ],
)
def test_an_answer_that_contradicts_itself_or_the_request_is_put_aside(elements: list[Any]) -> None:
    with pytest.raises(ReplyError) as caught:
        run(elements, TWO)
    assert caught.value.message.endswith(".")


FIRST = {"id": 0, "score": 1}


@pytest.mark.parametrize(
    "scores",
    [
        *(None, [FIRST], [FIRST, FIRST], [FIRST, {"id": 2, "score": 1}], [FIRST, {"id": 1.0, "score": 1}]),
        *([FIRST, {"id": 1, "score": score}] for score in (None, float("nan"), 1e308, -1e308, 1000.5, -1001)),
    ],
)
def test_scores_are_one_a_context_and_such_as_models_give(scores: Any) -> None:
    with pytest.raises(ReplyError):
        run([{"id": 0, "result": {"response": scores}}], [Expected("a", Kind.RANK, 2)])


def test_a_request_sent_without_a_reference_goes_by_its_id_alone() -> None:
    wanted = [Expected("", Kind.EMBED, 1), Expected("", Kind.EMBED, 1)]
    results = run([{"id": 1, "result": {"data": [[5]]}}, {"id": 0, "result": {"data": [[4]]}}], wanted)
    assert [r.vectors.tolist() for r in results if isinstance(r, Embedded)] == [[[4.0]], [[5.0]]]
    with pytest.raises(ReplyError):
        run([{"result": {"data": [[5]]}}, {"id": 0, "result": {"data": [[4]]}}], wanted)


def test_a_reference_that_two_requests_share_names_neither() -> None:
    wanted = [Expected("same", Kind.EMBED, 1), Expected("same", Kind.EMBED, 1)]
    with pytest.raises(ReplyError):
        run([{"external_reference": "same", "result": VECTOR}] * 2, wanted)
    assert len(run([{"id": i, "external_reference": "same", "result": VECTOR} for i in (1, 0)], wanted)) == 2


def test_the_dimension_of_earlier_batches_binds() -> None:
    elements = two({"id": 0}, {"id": 1})
    assert len(run(elements, TWO, 2)) == 2
    with pytest.raises(ReplyError):
        run(elements, TWO, 3)


@given(st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), min_size=1, max_size=40))
def test_float32_comes_back_bit_for_bit(numbers: list[float]) -> None:
    if not any(numbers):
        return
    [only] = run([{"id": 0, "result": {"data": [numbers]}}], [Expected("", Kind.EMBED, 1)])
    assert vectors_of(only).tobytes() == np.array([numbers], dtype=np.float32).tobytes()


VECTORS = [[0.5, -1, 0.25], [0, 1e-05, 3.0]]
SCORES = [{"id": 1, "score": 0.5}, {"id": 0, "score": 1}]
FRAME = {"success": True, "errors": [], "messages": []}


def framed_as(body: Any, *, framed: bool = True) -> bytes:
    return json.dumps({"result": body, **FRAME} if framed else body).encode()


def answer(body: Any, *, framed: bool = True) -> Answer:
    return read_answer(framed_as(body, framed=framed))


def matched(element: Any, kind: Kind = Kind.EMBED, key: str = "responses") -> Matched:
    [only] = match(done(framed_as({key: [{"external_reference": "r", **element}]})), [Expected("r", kind, 2)])
    return only


@pytest.mark.parametrize("framed", [True, False])
def test_queued_waiting_and_done_are_told_apart(framed: bool) -> None:
    assert answer({"request_id": "a-b", "status": "queued", "model": "m"}, framed=framed) == Waiting(
        "queued", "a-b", "m"
    )
    assert answer({"request_id": "a-b"}, framed=framed) == Waiting("queued", "a-b")
    assert answer({"request_id": "a-b", "model": None, "status": "running"}, framed=framed) == Waiting("running", "a-b")
    assert answer({"status": "queued"}, framed=framed) == Waiting("queued")
    assert answer({"status": "thinking it over", "responses": None}, framed=framed) == Waiting("thinking it over")
    assert answer({"status": "running", "responses": []}, framed=framed) == Waiting("running")
    assert answer({"responses": []}, framed=framed) == Finished(())


@pytest.mark.parametrize("key", ["responses", "results"])
@pytest.mark.parametrize("framed", [True, False])
def test_done_is_a_list_of_elements_whatever_else_is_there(key: str, framed: bool) -> None:
    other = "results" if key == "responses" else "responses"
    body = {key: [{"id": 0, "result": {}}], other: None, "status": "complete", "request_id": "a", "new": {"a": 1}}
    assert len(done(framed_as(body, framed=framed)).elements) == 1
    assert len(done(framed_as({**body, other: []}, framed=framed)).elements) == 1


@pytest.mark.parametrize(
    ("usage", "tokens"),
    [
        ('{"prompt_tokens":12,"completion_tokens":null,"total_tokens":12.0,"more":1}', 12),
        ('{"total_tokens":1e308}', 0),
        *(
            (text, 0)
            for text in ("{}", "null", '"free"', "1e400", "[1]", '{"total_tokens":-1}', '{"total_tokens":"\\ud800"}')
        ),
    ],
)
def test_a_usage_that_is_none_spoils_no_result(usage: str, tokens: int) -> None:
    text = f'{{"responses":[{{"id":0,"result":{{"response":[{{"id":0,"score":0.5}}]}}}}],"usage":{usage}}}'
    finished = done(text.encode())
    assert finished.tokens == tokens
    assert len(list(match(finished, [Expected("a", Kind.RANK, 1)]))) == 1


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{}",
        b'{"result":null,"success":true,"errors":[]}',
        b'{"result":{"status":"queued","request_id":"a"},"success":false,"errors":[{"code":1}]}',
        b'{"request_id":"a","result":{"request_id":"b","responses":[]},"success":true}',
        b'{"responses":{"id":0}}',
        b'{"responses":[{"id":0}],"results":[{"id":0}]}',
        b'{"responses":[{"id":0}]',
        b'{"responses":[{"result":' + b"[" * 100_000,
        b'{"responses":[{"error":"\xff", "external_reference":"\xff"}]}',
        b"<!DOCTYPE html><title>Sign in</title>",
        b'{"success":"no","errors":[]}',
    ],
)
def test_anything_else_is_a_reply_error(data: bytes) -> None:
    with pytest.raises(ReplyError):
        read_answer(data)
    if not data.startswith((b"{}", b'{"re')):  # what a frame may hold
        with pytest.raises(ReplyError):
            read_envelope(data, 200)


@pytest.mark.parametrize(
    "result",
    [{"response": SCORES}, {"result": {"response": SCORES}}, {"result": {"response": SCORES}, "response": None}],
)
def test_scores_stand_in_the_order_of_the_contexts(result: Any) -> None:
    only = matched({"id": 0, "result": result, "success": True}, Kind.RANK)
    assert isinstance(only, Scored)
    assert only.scores.tolist() == [1.0, 0.5]
    assert only.scores.dtype == np.float64


@pytest.mark.parametrize(
    "result",
    [
        {"data": VECTORS, "shape": [2, 3], "pooling": "cls"},
        {"response": VECTORS, "shape": [2, 3], "pooling": "cls"},
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


@pytest.mark.parametrize(
    ("element", "words"),
    [
        ({"success": False, "error": "Sequence too long: 9000 > 8192"}, "Sequence too long: 9000 > 8192"),
        ({"success": False, "error": {"code": 5001, "é": None}}, '{"code":5001,"é":null}'),
        ({"success": False, "errors": [{"message": "bad"}]}, '[{"message":"bad"}]'),
        ({"success": False, "result": "out of memory"}, "out of memory"),
        ({"success": False, "result": {"data": VECTORS}, "error": True}, "true"),
        ({"error": "no success at all"}, "no success at all"),
    ],
)
def test_a_failed_element_keeps_its_words(element: Any, words: str) -> None:
    data = json.dumps({"responses": [{"id": 0, **element}]}, ensure_ascii=False, separators=(",", ":")).encode()
    assert list(match(done(data), [Expected("r", Kind.EMBED, 2)])) == [Refused(words)]


def test_a_number_is_the_nearest_float32() -> None:
    written = ["0.1", "16777217", "-0.023254394531250001", "1e-45", "3.4028234e38", "0.73974609375", "-0.0", "1E-3"]
    data = f'{{"responses":[{{"id":0,"result":{{"data":[[{",".join(written)}]]}}}}]}}'.encode()
    [only] = match(done(data), [Expected("", Kind.EMBED, 1)])
    assert vectors_of(only).tobytes() == np.array([[float(number) for number in written]], dtype=np.float32).tobytes()


def some(*references: str | None, failed: int | None = None) -> list[Any]:
    """An element for each reference; the one at `failed` has an error in place of scores."""
    scores = {"response": [{"id": 0, "score": 0.5}, {"id": 1, "score": 0.25}]}
    return [
        {"id": index, "external_reference": reference}
        | ({"error": "out of memory", "success": False} if index == failed else {"result": scores, "success": True})
        for index, reference in enumerate(references)
    ]


OURS = [Expected("a", Kind.RANK, 2), Expected("b", Kind.RANK, 2)]


@pytest.mark.parametrize(
    ("elements", "required", "taken"),
    [
        (some("a", None), False, False),
        (some("", "b"), False, False),
        (some(None, None), True, False),
        (some("", ""), True, False),
        (some(None, None, failed=0), True, False),
        (some("a", None), True, False),
        (some(None, None), False, True),
        (some("a", "b"), True, True),
        (some("a", None, failed=1), True, True),  # of a request that failed no reference is asked
    ],
)
def test_results_without_the_reference_that_others_have_are_not_taken(
    elements: list[Any], required: bool, taken: bool
) -> None:
    with nullcontext() if taken else pytest.raises(ForeignReply):
        assert len(run(elements, OURS, references_required=required)) == 2


def test_a_synchronous_answer_never_has_references() -> None:
    answer = b'{"result":{"response":[{"id":0,"score":0.5},{"id":1,"score":0.25}]},"success":true}'
    (scored,) = match(read_run(answer), OURS[:1], references_required=True)
    assert isinstance(scored, Scored)


@pytest.mark.parametrize("name", ["request_id", "responses", "results"])
def test_the_answer_to_a_batch_is_none_to_a_single_request(name: str) -> None:
    with pytest.raises(ReplyError):
        read_run(json.dumps({"result": {"response": [], name: ["x"]}, "success": True}).encode())
    with pytest.raises(ReplyError):
        read_run(json.dumps({"result": {"response": []}, "request_id": "x", "success": True}).encode())


@pytest.mark.parametrize("text", [b'"no \\ud83d here"', b'"no \xed\xa0\xbd here"', b'{"message":"\\udead"}'])
def test_half_a_character_in_an_error_spoils_no_result(text: bytes) -> None:
    data = b'{"responses":[{"id":0,"result":{"response":[{"id":0,"score":0.5}]},"success":true},'
    data += b'{"id":1,"success":false,"error":%s}]}' % text
    scored, refused = match(done(data), [Expected("a", Kind.RANK, 1), Expected("b", Kind.RANK, 1)])
    assert isinstance(scored, Scored) and isinstance(refused, Refused)
    assert "\ufffd" in refused.error or "\\ufffd" in refused.error  # an error that is an object is shown as JSON


def test_a_backslash_before_an_escape_is_no_surrogate() -> None:
    finished = done(b'{"responses":[{"id":0,"success":false,"error":"C:\\\\ud800 \\ud83d\\ude00"}]}')
    (refused,) = match(finished, [Expected("a", Kind.RANK, 1)])
    assert isinstance(refused, Refused) and refused.error == "C:\\ud800 😀"


@pytest.mark.parametrize("frame", ['{{"result":{},"success":true}}', "{}"], ids=["enveloped", "bare"])
@pytest.mark.parametrize("rest", ['"status":"running"', '"responses":[]'])
def test_an_answer_says_which_batch_it_is_of(frame: str, rest: str) -> None:
    body = '{"request_id":"r-7",' + rest + "}"
    assert read_answer(frame.format(body).encode()).request_id == "r-7"


@pytest.mark.parametrize("status", [401, 429, 500, 200])
@pytest.mark.parametrize("result", ['"result":null,', '"result":{},', ""])
def test_a_refusal_comes_with_its_errors(status: int, result: str) -> None:
    data = f'{{{result}"success":false,"errors":[{{"code":10000,"message":"Authentication error"}}],"messages":null}}'
    answer = read_envelope(data.encode(), status)
    assert not answer.ok
    assert answer.is_enveloped
    assert answer.errors == (ServiceError(10000, "Authentication error"),)


def test_inner_errors_follow_their_outer_one() -> None:
    inner = [{"code": "6111", "message": "Invalid format for Authorization header"}]
    errors = [{"code": 6003, "message": "Invalid request headers", "error_chain": inner}, {"message": {"a": 1}}, {}]
    answer = read_envelope(json.dumps({"success": False, "errors": errors}).encode(), 400)
    assert answer.errors == (
        ServiceError(6003, "Invalid request headers"),
        ServiceError(6111, "Invalid format for Authorization header"),
        ServiceError(0, '{"a": 1}'),
        ServiceError(0, ""),
    )


def test_a_frame_that_says_success_under_an_error_status_is_not_ok() -> None:
    assert not read_envelope(b'{"result":{},"success":true,"errors":null}', 502).ok


@pytest.mark.parametrize("status", [200, 202, 403])
def test_an_answer_without_a_frame_is_itself_the_result(status: int) -> None:
    data = b'{"status":"queued","request_id":"1"}'
    answer = read_envelope(data, status)
    assert answer.ok == (status < 300)
    assert not answer.is_enveloped
    assert bytes(answer.result) == data


ANSWERS = Path(__file__).parents[2] / "data" / "seeds_answers"


@pytest.mark.parametrize(
    ("page", "request_id"),
    [
        *((page, "768f15b7-4fd6-4498-906e-ad94ffc7f8d2") for page in ("rest_2025", "rest_2026")),
        *((page, "000-000-000") for page in ("binding_2025", "binding_2026")),
    ],
)
def test_the_answers_on_the_pages_of_the_service_are_read(page: str, request_id: str) -> None:
    data = (ANSWERS / f"{page}_queued.json").read_bytes()
    assert read_answer(data) == Waiting("queued", request_id, "@cf/baai/bge-m3")
    finished = done((ANSWERS / f"{page}_done.json").read_bytes())
    assert finished.tokens == 12
    [scored] = match(finished, [Expected("reference-1", Kind.RANK, 3)])
    assert isinstance(scored, Scored)
    assert scored.scores.tolist() == [0.73974609375, 0.642578125, 0.6220703125]
