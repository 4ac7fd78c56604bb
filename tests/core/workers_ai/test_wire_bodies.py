"""Bodies from Cloudflare's pages of 2025 and 2026, parsed into requests."""

import json
from typing import Any

from cfbatch_gui.core.workers_ai.requests import EmbedRequest, RankRequest
from tests.parsed_requests import parse_requests

STORIES = ("an orange cloud", "a llama", "a hugging emoji")


def body(*requests: Any) -> bytes:
    return json.dumps({"requests": requests}).encode()


def test_the_form_of_2025_has_references_on_contexts_which_are_not_sent() -> None:
    contexts = [{"text": text, "external_reference": f"story{i}"} for i, text in enumerate(STORIES, start=1)]
    assert parse_requests(body({"query": "Cloudflare", "contexts": contexts})) == (RankRequest("Cloudflare", STORIES),)


def test_the_form_of_2026_has_one_reference_a_request() -> None:
    contexts = [{"text": text} for text in STORIES]
    element = {"query": "Cloudflare", "contexts": contexts, "external_reference": "reference-1"}
    assert parse_requests(body(element)) == (RankRequest("Cloudflare", STORIES, "reference-1"),)


def test_texts_come_alone_or_in_an_array() -> None:
    assert parse_requests(body({"text": "a"}, {"text": ["a", "b"], "truncate_inputs": True, "more": {}})) == (
        EmbedRequest(("a",), as_array=False),
        EmbedRequest(("a", "b"), truncate_inputs=True),
    )


def test_a_bare_element_is_a_body_of_one() -> None:
    assert parse_requests(b' {"text": ["a"], "pooling": "cls"} ') == (EmbedRequest(("a",), pooling="cls"),)
