"""Matching of results with texts: the order does not matter, and a contradictory answer is put aside."""

import copy
import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cfbatch_gui.core.errors import ReplyError
from cfbatch_gui.core.workers_ai.answers import (
    Embedded,
    Expected,
    Finished,
    Matched,
    Refused,
    Scored,
    expect,
    match,
    read_answer,
)
from cfbatch_gui.core.workers_ai.requests import AnswerKind, EmbedRequest, RankRequest
from tests.thorough import tries

DIMENSION = 3


def value_of(request: int, item: int, index: int = 0) -> float:
    """A value that differs for all arguments and is exact in float32."""
    return float(1 + request * 100 + item * 10 + index)


def element(index: int, wanted: Expected) -> dict[str, Any]:
    if wanted.kind == "scores":
        result: dict[str, Any] = {
            "response": [{"id": i, "score": value_of(index, i)} for i in range(wanted.count)],
        }
    else:
        rows = [[value_of(index, i, component) for component in range(DIMENSION)] for i in range(wanted.count)]
        result = {"data": rows, "shape": [wanted.count, DIMENSION], "pooling": "cls"}
    return {"id": index, "result": result, "success": True, "external_reference": wanted.reference}


def run(elements: list[Any], expected: list[Expected], dimension: int | None = None) -> list[Matched]:
    finished = read_answer(json.dumps({"responses": elements}).encode())
    assert isinstance(finished, Finished)
    return list(match(finished, expected, dimension=dimension))


def plain(results: list[Matched]) -> list[Any]:
    """Results as values that can be compared with `==`."""
    return [
        (r.index, r.error)
        if isinstance(r, Refused)
        else (r.index, r.scores.tolist())
        if isinstance(r, Scored)
        else (r.index, r.vectors.tolist(), r.pooling)
        for r in results
    ]


def right(expected: list[Expected]) -> list[Any]:
    """The expected result, computed without the code under test."""
    return [
        (index, [value_of(index, i) for i in range(wanted.count)])
        if wanted.kind == "scores"
        else (index, [[value_of(index, i, p) for p in range(DIMENSION)] for i in range(wanted.count)], "cls")
        for index, wanted in enumerate(expected)
    ]


kinds: st.SearchStrategy[AnswerKind] = st.sampled_from(["scores", "embeddings"])
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


# Values that `spoil` puts in place of others.
ODD_VALUES: list[Any] = [
    None,
    True,
    "1",
    "",
    -1,
    0,
    1,
    2,
    0.0,
    0.5,
    1.0,
    99,
    10**30,
    [],
    {},
    [[1]],
    "ref-0",
    "ref-1",
    "x",
]


def spoil(elements: list[Any], random: Any) -> None:
    """Change one id, reference, length or value at random."""
    locations: list[tuple[Any, Any]] = []
    for one in elements:
        locations += [(one, "id"), (one, "external_reference"), (one, "result"), (one["result"], "shape")]
        for key in ("response", "data"):
            rows = one["result"].get(key) or []
            locations += [(one["result"], key)] if rows else []
            locations += [(rows, position) for position in range(len(rows))]
            locations += [(row, "id") for row in rows if isinstance(row, dict)]
            locations += [(row, position) for row in rows if isinstance(row, list) for position in range(len(row))]
    holder, key = random.choice(locations)
    match random.choice(["drop", "repeat", "odd", "swap"]):
        case "swap":
            first, second = random.choice(elements), random.choice(elements)
            mark = random.choice(["id", "external_reference"])
            first[mark], second[mark] = second[mark], first[mark]
        case "drop":
            holder.pop(key, *([] if isinstance(holder, list) else [None]))
        case "repeat" if isinstance(holder, list):
            holder.insert(key, copy.deepcopy(holder[key]))
        case "repeat":
            elements.append(copy.deepcopy(random.choice(elements)))
        case "odd":
            # A different number in a vector or score cannot be detected: only ids, lengths and types are changed.
            is_number = isinstance(holder, list) and isinstance(holder[key], float)
            odd = [value for value in ODD_VALUES if not (is_number and type(value) in (int, float))]
            holder[key] = random.choice(odd)


@pytest.mark.thorough
@settings(max_examples=tries(250, 5_000))
@given(batches, st.randoms(use_true_random=False))
def test_one_spoilt_value_is_a_breach_or_changes_nothing(expected: list[Expected], random: Any) -> None:
    elements = [element(index, wanted) for index, wanted in enumerate(expected)]
    random.shuffle(elements)
    spoil(elements, random)
    try:
        results = run(elements, expected, DIMENSION)
    except ReplyError:
        return
    assert plain(results) == right(expected)


TWO = [Expected("a", "embeddings", 1), Expected("b", "embeddings", 1)]
VECTOR = {"data": [[1, 2]]}


def two(first: dict[str, Any], second: dict[str, Any]) -> list[Any]:
    return [{"result": VECTOR, **first}, {"result": VECTOR, **second}]


@pytest.mark.parametrize(
    ("elements", "words"),
    [
        (two({"id": 0}, {"id": 0}), "is there twice"),
        (two({"id": 0}, {"external_reference": "a"}), "is there twice"),
        (two({"id": 0}, {"id": 2}), "was not sent"),
        (two({"id": 0}, {"id": -1}), "was not sent"),
        (two({"id": 0}, {"id": 1, "external_reference": "a"}), "carries the mark of another"),
        (two({"id": 0}, {"id": 1, "external_reference": "c"}), "another job"),
        (two({"id": 0}, {"external_reference": "c"}), "another job"),
        (two({"id": 0}, {}), "does not say which request"),
        (two({"id": 0}, {"external_reference": ""}), "does not say which request"),
        (two({"id": 0}, {"id": 1.0}), "cannot read"),
        (two({"id": 0}, {"id": "1"}), "cannot read"),
        (two({"id": 0}, {"id": True}), "cannot read"),
        (two({"id": 0}, {"id": 1, "external_reference": 5}), "cannot read"),
        (two({"id": 0}, {"id": 1})[:1], "1 of 2 results are missing"),
        ([], "2 of 2 results are missing"),
        (two({"id": 0}, {"id": 1}) * 2, "is there twice"),
        (two({"id": 0}, {"id": 1, "result": None}), "is empty"),
        (two({"id": 0}, {"id": 1, "result": "x", "success": True}), "unknown form"),
        (two({"id": 0}, {"id": 1, "result": {}}), "has no vectors"),
        (two({"id": 0}, {"id": 1, "result": {"result": {"result": VECTOR}}}), "has no vectors"),
        (two({"id": 0}, {"id": 1, "result": {"data": [[1, 2]], "response": [[1, 2]]}}), "two sets of vectors"),
        (two({"id": 0}, {"id": 1, "result": {"data": [[1, 2], [3, 4]]}}), "2 vectors for 1 texts"),
        (two({"id": 0}, {"id": 1, "result": {"data": []}}), "0 vectors for 1 texts"),
        (two({"id": 0}, {"id": 1, "result": {"data": "no"}}), "0 vectors for 1 texts"),
        (two({"id": 0}, {"id": 1, "result": {"data": [1, [2]]}}), "something else"),
        (two({"id": 0}, {"id": 1, "result": {"data": [[2], 1]}}), "of another length|something else"),
        (two({"id": 0}, {"id": 1, "result": {"data": {"a": [1, 2], "b": []}}}), "something else"),
        (two({"id": 0}, {"id": 1, "result": {"data": [[1, 2, 3]]}}), "of another length"),
        (two({"id": 0}, {"id": 1, "result": {"data": [[]]}}), "of another length"),
        (two({"id": 0}, {"id": 1, "result": {"data": [[1, None]]}}), "cannot read"),
        (two({"id": 0}, {"id": 1, "result": {"data": [[1, True]]}}), "cannot read"),
        (two({"id": 0}, {"id": 1, "result": {"data": [[1, "2"]]}}), "cannot read"),
        (two({"id": 0}, {"id": 1, "result": {"data": [[1, 4e38]]}}), "out of bounds"),
        (two({"id": 0}, {"id": 1, "result": {"data": [[0, -0.0]]}}), "nothing but zeros"),
        (two({"id": 0}, {"id": 1, "result": {"data": [[1, 2]], "shape": [1, 3]}}), "of 3 numbers|another length"),
        (two({"id": 0}, {"id": 1, "result": {"data": [[1, 2]], "shape": [2, 2]}}), "another shape"),
        (two({"id": 0}, {"id": 1, "result": {"data": [[1, 2]], "shape": [1, 2.5]}}), "another shape"),
        (two({"id": 0}, {"id": 1, "result": {"data": [[1, 2]], "shape": [2]}}), "cannot read"),
        (
            two({"id": 0, "result": {**VECTOR, "pooling": "cls"}}, {"id": 1, "result": {**VECTOR, "pooling": "mean"}}),
            "different kinds",
        ),
        (two({"id": 0}, {"id": 1, "result": {"response": [{"id": 0, "score": 1}]}}), "vectors for 1 texts|something"),
    ],
)
def test_a_breach_says_what_it_is(elements: list[Any], words: str) -> None:
    with pytest.raises(ReplyError, match=words) as caught:
        run(elements, TWO)
    assert caught.value.message.endswith(".")


@pytest.mark.parametrize(
    ("scores", "words"),
    [
        ([{"id": 0, "score": 1}], "1 scores for 2 contexts"),
        ([{"id": 0, "score": 1}, {"id": 0, "score": 1}], "two scores for one context"),
        ([{"id": 0, "score": 1}, {"id": 2, "score": 1}], "was not sent"),
        ([{"id": 0, "score": 1}, {"id": -1, "score": 1}], "was not sent"),
        ([{"id": 0, "score": 1}, {"id": 1.0, "score": 1}], "cannot read"),
        ([{"id": 0, "score": 1}, {"id": False, "score": 1}], "cannot read"),
        ([{"id": 0, "score": 1}, {"score": 1}], "cannot read"),
        ([{"id": 0, "score": 1}, {"id": 1}], "cannot read"),
        ([{"id": 0, "score": 1}, {"id": 1, "score": True}], "cannot read"),
        ([{"id": 0, "score": 1}, {"id": 1, "score": None}], "cannot read"),
        ([{"id": 0, "score": 1}, {"id": 1, "score": float("nan")}], "cannot read"),
        ([[1, 2], [3, 4]], "cannot read"),
        (None, "cannot read"),
    ],
)
def test_scores_are_one_a_context_and_finite(scores: Any, words: str) -> None:
    with pytest.raises(ReplyError, match=words):
        run([{"id": 0, "result": {"response": scores}}], [Expected("a", "scores", 2)])


def test_a_score_beyond_a_double_is_no_score() -> None:
    finished = read_answer(b'{"responses":[{"id":0,"result":{"response":[{"id":0,"score":1e999}]}}]}')
    assert isinstance(finished, Finished)
    with pytest.raises(ReplyError, match="cannot read"):
        list(match(finished, [Expected("", "scores", 1)]))


def test_a_request_sent_without_a_reference_goes_by_its_id_alone() -> None:
    wanted = [Expected("", "embeddings", 1), Expected("", "embeddings", 1)]
    results = run([{"id": 1, "result": {"data": [[5]]}}, {"id": 0, "result": {"data": [[4]]}}], wanted)
    assert [r.vectors.tolist() for r in results if isinstance(r, Embedded)] == [[[4.0]], [[5.0]]]
    with pytest.raises(ReplyError, match="does not say which request"):
        run([{"result": {"data": [[5]]}}, {"id": 0, "result": {"data": [[4]]}}], wanted)


def test_a_reference_that_two_requests_share_names_neither() -> None:
    wanted = [Expected("same", "embeddings", 1), Expected("same", "embeddings", 1)]
    with pytest.raises(ReplyError, match="does not say which request"):
        run([{"external_reference": "same", "result": VECTOR}] * 2, wanted)
    assert len(run([{"id": i, "external_reference": "same", "result": VECTOR} for i in (1, 0)], wanted)) == 2


def test_failures_stand_beside_results() -> None:
    elements = [{"id": 1, "success": False, "error": "too long"}, {"id": 0, "result": VECTOR, "success": True}]
    first, second = run(elements, TWO)
    assert isinstance(first, Embedded)
    assert second == Refused(1, "too long")


def test_the_dimension_of_earlier_batches_binds() -> None:
    elements = two({"id": 0}, {"id": 1})
    assert len(run(elements, TWO, 2)) == 2
    with pytest.raises(ReplyError, match="another length"):
        run(elements, TWO, 3)


def test_nothing_is_handed_on_when_a_later_element_is_known_to_be_wrong() -> None:
    finished = read_answer(json.dumps({"responses": two({"id": 0}, {"id": 1, "result": {"data": []}})}).encode())
    assert isinstance(finished, Finished)
    with pytest.raises(ReplyError):
        next(match(finished, TWO))


def test_what_to_expect_follows_from_the_request() -> None:
    assert expect(RankRequest("q", ("a", "b"), "r")) == Expected("r", "scores", 2)
    assert expect(RankRequest(None, ("a",), "r")) == Expected("r", "embeddings", 1)
    assert expect(EmbedRequest(("a",), "r")) == Expected("r", "embeddings", 1)


@given(st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), min_size=1, max_size=40))
def test_float32_comes_back_bit_for_bit(numbers: list[float]) -> None:
    if not any(numbers):
        return
    [only] = run([{"id": 0, "result": {"data": [numbers]}}], [Expected("", "embeddings", 1)])
    assert isinstance(only, Embedded)
    assert only.vectors.tobytes() == np.array([numbers], dtype=np.float32).tobytes()
