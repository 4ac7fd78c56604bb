"""Bodies that people bring: both editions of the pages, bare elements, and everything that would be refused."""

import json
from typing import Any

import pytest

from cfbatch_gui.core.errors import InputError
from cfbatch_gui.core.workers_ai.wire.requests import EmbedRequest, RankRequest, parse_requests

STORIES = ("an orange cloud", "a llama", "a hugging emoji")


def body(*requests: Any) -> bytes:
    return json.dumps({"requests": requests}).encode()


def test_the_form_of_2025_keeps_the_references_of_its_contexts() -> None:
    contexts = [{"text": text, "external_reference": f"story{i}"} for i, text in enumerate(STORIES, start=1)]
    [request] = parse_requests(body({"query": "Cloudflare", "contexts": contexts}))
    assert request == RankRequest("Cloudflare", STORIES, context_references=("story1", "story2", "story3"))


def test_the_form_of_2026_has_one_reference_a_request() -> None:
    contexts = [{"text": text} for text in STORIES]
    element = {"query": "Cloudflare", "contexts": contexts, "external_reference": "reference-1"}
    assert parse_requests(body(element)) == (RankRequest("Cloudflare", STORIES, "reference-1"),)


def test_a_context_without_a_reference_keeps_its_place() -> None:
    contexts = [{"text": "a"}, {"text": "b", "external_reference": 7}, {"text": "c", "external_reference": None}]
    [request] = parse_requests(body({"contexts": contexts}))
    assert request == RankRequest(None, ("a", "b", "c"), context_references=("", "7", ""))


def test_texts_come_alone_or_in_an_array() -> None:
    assert parse_requests(body({"text": "a"}, {"text": ["a", "b"], "truncate_inputs": True, "more": {}})) == (
        EmbedRequest(("a",), as_array=False),
        EmbedRequest(("a", "b"), truncate_inputs=True),
    )


def test_a_bare_element_is_a_body_of_one() -> None:
    assert parse_requests(b' {"text": ["a"], "pooling": "cls"} ') == (EmbedRequest(("a",), pooling="cls"),)


@pytest.mark.parametrize(
    ("element", "words"),
    [
        ({}, "Request 2 must have either"),
        ({"query": "q"}, "Request 2 must have either"),
        ({"text": "a", "contexts": [{"text": "b"}]}, "Request 2 must have either"),
        ({"text": "a", "query": "q"}, "Request 2 has a query and no contexts"),
        ({"text": ""}, "Request 2 has an empty text"),
        ({"text": []}, "Request 2 has an empty text"),
        ({"text": ["a", ""]}, "Request 2 has an empty text"),
        ({"text": ["a"] * 101}, "Request 2 has 101 texts"),
        ({"query": "q", "contexts": []}, "Request 2 has an empty context"),
        ({"query": "q", "contexts": [{"text": ""}]}, "Request 2 has an empty context"),
        ({"query": "", "contexts": [{"text": "a"}]}, "Request 2 has an empty query"),
        ({"text": 5}, "not a body for the Batch API"),
        ({"query": "q", "contexts": ["a"]}, "not a body for the Batch API"),
        ({"text": "a", "truncate_inputs": "yes"}, "not a body for the Batch API"),
    ],
)
def test_what_the_service_would_refuse_is_said_by_number(element: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        parse_requests(body({"text": "good"}, element))


@pytest.mark.parametrize(
    "data", [b"", b"[]", b"null", b"{", b'{"text":"\\ud800"}', b'{"text":"\xff"}', b'{"a":' + b"[" * 100_000]
)
def test_what_is_not_a_body_is_said_to_be_none(data: bytes) -> None:
    with pytest.raises(InputError, match="not a body for the Batch API"):
        parse_requests(data)


def test_a_body_without_requests_is_said_to_be_empty() -> None:
    with pytest.raises(InputError, match="no request"):
        parse_requests(body())
