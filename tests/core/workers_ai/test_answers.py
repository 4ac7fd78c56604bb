"""Answers to values: every form that was observed or that a schema allows, and what is put aside."""

import copy
import json
from collections.abc import Iterator
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cfbatch_gui.core.errors import ForeignReply, ReplyError
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.workers_ai.answers import (
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
from tests.thorough import tries

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


def run(elements: list[Any], expected: list[Expected], key: str = "responses", **options: Any) -> list[Matched]:
    data = json.dumps({key: elements}, ensure_ascii=False, separators=(",", ":"))
    return list(match(done(data.encode("utf-8", "surrogatepass")), expected, **options))


def plain(result: Matched) -> Any:
    """A result as values that can be compared."""
    if isinstance(result, Scored):
        assert result.scores.dtype == np.float64
        return result.scores.tolist()
    if isinstance(result, Embedded):
        assert result.vectors.dtype == np.float32
        return result.vectors.tolist(), result.pooling
    return result.error


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
    assert list(map(plain, run(elements, expected))) == right(expected)


ODD: list[Any] = [None, True, False, "", "1", -1, 0, 1, 2, 0.0, 1.5, 10**30, [], {}, [[]], [[1.0]], {"id": 0}]


def places(node: Any) -> Iterator[tuple[Any, Any]]:
    """Every value, as its container and its key or index."""
    for key in list(node) if isinstance(node, dict) else range(len(node)) if isinstance(node, list) else ():
        yield node, key
        yield from places(node[key])


def spoil(elements: list[Any], random: Any) -> None:
    """Drop, repeat or replace one value, swap the marks of two elements, or add a second result for one."""
    holder, key = random.choice(list(places(elements)))
    match random.choice(["drop", "repeat", "odd", "swap", "again"]):
        case "drop":
            holder.pop(key)
        case "repeat" if isinstance(holder, list):
            holder.insert(random.randrange(len(holder) + 1), copy.deepcopy(holder[key]))
        case "swap" if len(elements) > 1:
            first, second = random.sample(elements, 2)
            mark = random.choice(["id", "external_reference"])
            first[mark], second[mark] = second[mark], first[mark]
        case "again":
            elements.append(json.loads(json.dumps(random.choice(elements)).replace(".0", ".5")))
        case _:  # a different number in a vector or score cannot be detected
            is_value = isinstance(holder[key], float)
            holder[key] = random.choice([odd for odd in ODD if not (is_value and type(odd) in (int, float))])


@pytest.mark.thorough
@settings(max_examples=tries(200, 20_000), deadline=None)
@given(batches, st.randoms(use_true_random=False))
def test_a_spoilt_answer_is_put_aside_or_changes_nothing(expected: list[Expected], random: Any) -> None:
    elements = [element(index, wanted) for index, wanted in enumerate(expected)]
    spoil(elements, random)
    with suppress(ReplyError):
        for found, wanted in zip(map(plain, run(elements, expected)), right(expected), strict=True):
            numbers = (found[0], wanted[0]) if isinstance(found, tuple) else (found, wanted)
            assert isinstance(found, str) or numbers[0] == numbers[1]  # it failed, or has its own


ONE, PAIR = [Expected("r", Kind.EMBED, 2)], [Expected("a", Kind.RANK, 2)]
TWO = [Expected("a", Kind.EMBED, 1), Expected("b", Kind.EMBED, 1)]
NAMELESS, NAMESAKES = [Expected("", Kind.EMBED, 1)] * 2, [Expected("same", Kind.EMBED, 1)] * 2
VECTOR = {"data": [[1, 2]]}
FIRST = {"id": 0, "score": 1}
VECTORS = [[0.5, -1.0, 0.25], [0.0, 2.0, 3.0]]
SCORES = [{"id": 1, "score": 0.5}, {"id": 0, "score": 1}]
ANSWER_OF_TWO = ([[1.0, 2.0]], "")


def two(first: dict[str, Any], second: dict[str, Any]) -> list[Any]:
    return [{"result": VECTOR, **first}, {"result": VECTOR, **second}]


def one(result: Any, **more: Any) -> list[Any]:
    return [{"id": 0, "external_reference": "r", "success": True, "result": result, **more}]


@pytest.mark.parametrize(
    ("elements", "expected"),
    [
        *(
            (elements, TWO)
            for elements in (
                two({"id": 0}, {"id": 0}),
                two({"id": 0}, {"external_reference": "a"}),
                two({"id": 0}, {"id": 2}),
                two({"id": 0}, {"id": 1, "external_reference": "a"}),
                two({"id": 0}, {"id": 1, "external_reference": "c"}),
                two({"id": 0}, {}),
                two({"id": 0}, {"id": "1"}),
                two({"id": 0}, {"id": 1})[:1],
                two({"id": 0, "result": {**VECTOR, "pooling": "cls"}}, {"id": 1, "result": VECTOR | {"pooling": "x"}}),
            )
        ),
        *(
            (two({"id": 0}, {"id": 1, "success": True, "result": result}), TWO)
            for result in (
                *(None, "x", {}, {"data": [[1, 2]], "response": [[1, 2]]}, {"data": [[1, 2], [3, 4]]}),
                *({"data": [[2], 1]}, {"data": [[1, 2, 3]]}, {"data": [[1, None]]}, {"data": [[1, "2"]]}),
                *({"data": [[1, 4e38]]}, {"data": [[0, -0.0]]}, {"data": [[1, 2]], "shape": [1, 3]}),
                *({"data": [[1, 2]], "shape": [1, 2.5]}, {"response": [{"id": 0, "score": 1}]}),
            )
        ),
        *(
            ([{"id": 0, "result": {"response": scores}}], PAIR)
            for scores in (
                *(None, [FIRST], [FIRST, FIRST], [FIRST, {"id": 2, "score": 1}], [FIRST, {"id": 1.0, "score": 1}]),
                *([FIRST, {"id": 1, "score": score}] for score in (None, float("nan"), 1e308, -1e308, 1000.5, -1001)),
            )
        ),
        (two({}, {"id": 0}), NAMELESS),  # a request without a reference goes by its id alone
        ([{"external_reference": "same", "result": VECTOR}] * 2, NAMESAKES),  # a shared one names neither
    ],
)
def test_an_answer_that_contradicts_itself_or_the_request_is_put_aside(
    elements: list[Any], expected: list[Expected]
) -> None:
    with pytest.raises(ReplyError):
        run(elements, expected)


@pytest.mark.parametrize("key", ["responses", "results"])
@pytest.mark.parametrize(
    ("elements", "expected", "results"),
    [
        (two({"id": 1}, {"id": 0, "result": {"data": [[4, 5]]}}), NAMELESS, [([[4.0, 5.0]], ""), ANSWER_OF_TWO]),
        ([{"id": at, "external_reference": "same", "result": VECTOR} for at in (1, 0)], NAMESAKES, [ANSWER_OF_TWO] * 2),
        *(
            (one(result, external_reference="a"), PAIR, [[1.0, 0.5]])
            for result in (
                {"response": SCORES},
                {"result": {"response": SCORES}},
                {"result": {"response": SCORES}, "response": None},
            )
        ),
        *(
            (one(result), ONE, [(VECTORS, "cls")])
            for result in (
                {"data": VECTORS, "shape": [2, 3], "pooling": "cls"},
                {"response": VECTORS, "shape": [2, 3], "pooling": "cls"},
                {"result": {"data": VECTORS, "shape": None, "pooling": "cls"}},
            )
        ),
        # A failed element keeps its words.
        *(
            ([{"id": 0, **failed}], ONE, [words])
            for failed, words in (
                ({"success": False, "error": "Sequence too long: 9000 > 8192"}, "Sequence too long: 9000 > 8192"),
                ({"success": False, "error": {"code": 5001, "é": None}}, '{"code":5001,"é":null}'),
                ({"success": False, "errors": [{"message": "bad"}]}, '[{"message":"bad"}]'),
                ({"success": False, "result": "out of memory"}, "out of memory"),
                ({"success": False, "result": {"data": VECTORS}, "error": True}, "true"),
                ({"error": "no success at all"}, "no success at all"),
                ({"error": "C:\\ud800 \U0001f600"}, "C:\\ud800 \U0001f600"),  # a backslash is no half of a character
            )
        ),
    ],
)
def test_every_form_of_a_result_is_read(
    elements: list[Any], expected: list[Expected], results: list[Any], key: str
) -> None:
    assert list(map(plain, run(elements, expected, key))) == results


def test_the_dimension_of_earlier_batches_binds() -> None:
    elements = two({"id": 0}, {"id": 1})
    assert len(run(elements, TWO, dimension=2)) == 2
    with pytest.raises(ReplyError):
        run(elements, TWO, dimension=3)


def test_a_number_is_the_nearest_float32() -> None:
    written = ["0.1", "16777217", "-0.023254394531250001", "1e-45", "3.4028234e38", "0.73974609375", "-0.0", "1E-3"]
    data = f'{{"responses":[{{"id":0,"result":{{"data":[[{",".join(written)}]]}}}}]}}'.encode()
    (only,) = match(done(data), [Expected("", Kind.EMBED, 1)])
    assert isinstance(only, Embedded)
    assert only.vectors.tobytes() == np.array([[float(number) for number in written]], dtype=np.float32).tobytes()


LISTED = [{"id": 0, "result": {}}]


@pytest.mark.parametrize("framed", [True, False])
@pytest.mark.parametrize(
    ("body", "found"),
    [
        ({"request_id": "a-b", "status": "queued", "model": "m"}, Waiting("queued", "a-b", "m")),
        ({"request_id": "a-b"}, Waiting("queued", "a-b")),
        ({"request_id": "a-b", "model": None, "status": "running"}, Waiting("running", "a-b")),
        ({"status": "queued"}, Waiting("queued")),
        ({"status": "thinking it over", "responses": None}, Waiting("thinking it over")),
        ({"status": "running", "responses": []}, Waiting("running")),
        ({"responses": []}, Finished(())),
        ({"responses": [], "request_id": "r-7"}, Finished((), request_id="r-7")),
        ({"responses": LISTED, "results": None, "status": "complete", "new": {"a": 1}}, 1),
        ({"responses": LISTED, "results": []}, 1),
        ({"results": LISTED, "responses": None}, 1),
        ({"results": LISTED, "responses": []}, 1),
    ],
)
def test_queued_waiting_and_done_are_told_apart(body: Any, found: Any, framed: bool) -> None:
    frame = {"result": body, "success": True, "errors": [], "messages": []}
    answer = read_answer(json.dumps(frame if framed else body).encode())
    if isinstance(found, int):  # elements
        assert isinstance(answer, Finished) and len(answer.elements) == found
    else:
        assert answer == found


@pytest.mark.parametrize(
    ("usage", "tokens"),
    [
        ('{"prompt_tokens":12,"completion_tokens":null,"total_tokens":12.0,"more":1}', 12),
        *((text, 0) for text in ("{}", "null", '"free"', "1e400", "[1]", '{"total_tokens":1e308}')),
        *((text, 0) for text in ('{"total_tokens":-1}', '{"total_tokens":"\\ud800"}')),
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


def some(*references: str | None, failed: int | None = None) -> list[Any]:
    """An element for each reference; the one at `failed` has an error in place of scores."""
    return [
        {"id": index, "external_reference": reference}
        | ({"error": "out of memory", "success": False} if index == failed else {"result": {"response": SCORES}})
        for index, reference in enumerate(references)
    ]


OURS = [*PAIR, Expected("b", Kind.RANK, 2)]


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


def test_the_answer_to_a_single_request_has_no_reference_and_names_no_batch() -> None:
    answer = {"result": {"response": SCORES}, "success": True}
    (scored,) = match(read_run(json.dumps(answer).encode()), PAIR, references_required=True)
    assert isinstance(scored, Scored)
    of_batches = [{**answer, "request_id": "x"}]
    of_batches += [{"result": {"response": [], name: ["x"]}} for name in ("request_id", "responses", "results")]
    for each in of_batches:
        with pytest.raises(ReplyError):
            read_run(json.dumps({"success": True, **each}).encode())


@pytest.mark.parametrize("text", [b'"no \\ud83d here"', b'"no \xed\xa0\xbd here"', b'{"message":"\\udead"}'])
def test_half_a_character_in_an_error_spoils_no_result(text: bytes) -> None:
    data = b'{"responses":[{"id":0,"result":{"response":[{"id":0,"score":0.5}]},"success":true},'
    data += b'{"id":1,"success":false,"error":%s}]}' % text
    scored, refused = match(done(data), [Expected("a", Kind.RANK, 1), Expected("b", Kind.RANK, 1)])
    assert isinstance(scored, Scored) and isinstance(refused, Refused)
    assert "\ufffd" in refused.error or "\\ufffd" in refused.error  # an error that is an object is shown as JSON


@pytest.mark.parametrize("status", [401, 500, 200])
@pytest.mark.parametrize("result", ['"result":null,', '"result":{},', ""])
def test_a_refusal_comes_with_its_errors_and_the_inner_ones_behind_them(status: int, result: str) -> None:
    errors = '{"code":6003,"message":"outer","error_chain":[{"code":"6111","message":"inner"}]},{"message":{"a":1}},{}'
    answer = read_envelope(f'{{{result}"success":false,"errors":[{errors}],"messages":null}}'.encode(), status)
    assert answer.is_enveloped and not answer.ok
    known = ServiceError(6003, "outer"), ServiceError(6111, "inner")
    assert answer.errors == (*known, ServiceError(0, '{"a":1}'), ServiceError(0, ""))


def test_a_frame_that_says_success_under_an_error_status_is_not_ok() -> None:
    assert not read_envelope(b'{"result":{},"success":true,"errors":null}', 502).ok


@pytest.mark.parametrize("status", [200, 202, 403])
def test_an_answer_without_a_frame_is_itself_the_result(status: int) -> None:
    data = b'{"status":"queued","request_id":"1"}'
    answer = read_envelope(data, status)
    assert (answer.ok, answer.is_enveloped, bytes(answer.result)) == (status < 300, False, data)


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
    (scored,) = match(finished, [Expected("reference-1", Kind.RANK, 3)])
    assert plain(scored) == [0.73974609375, 0.642578125, 0.6220703125]
