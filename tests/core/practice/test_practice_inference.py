"""The practice service's answers: shuffled order, forms, limits, counts and values."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cfbatch_gui.core.practice.app import count_tokens, cut
from cfbatch_gui.core.practice.local_models import HashedNgrams
from tests.core.practice.conftest import Calls, Practice

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


async def test_scores_are_cosines_in_half_precision(practice: Practice, calls: Calls) -> None:
    texts = ["This is a story about an orange cloud", "This is a story about a llama", "日本語"]
    query = "This is a story about Cloudflare"
    result = await done(practice, calls, {"query": query, "contexts": [{"text": text} for text in texts]})
    scores = [score["score"] for score in by_id(result["responses"][0]["result"]["response"])]
    vectors = ENGINE.embed([query, *texts])
    assert scores == [float(np.float16(score)) for score in vectors[1:] @ vectors[0]]


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


@pytest.mark.parametrize(("text", "count"), [(" \n\t\u3000", 0), ("日本語", 3), ("a, b!", 4), ("🤗🤗", 2)])
def test_counting_tokens(text: str, count: int) -> None:
    assert count_tokens(text) == count


@settings(max_examples=30)
@given(st.text(max_size=60), st.integers(0, 20))
def test_a_cut_text_is_the_longest_beginning_that_fits(text: str, limit: int) -> None:
    beginning = cut(text, limit)
    assert text.startswith(beginning)
    assert count_tokens(beginning) == min(limit, count_tokens(text))
