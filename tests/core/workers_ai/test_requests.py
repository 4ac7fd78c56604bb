"""The bytes of a request's body, and its computed length."""

import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cfbatch_gui.core.workers_ai.requests import (
    EmbedRequest,
    RankRequest,
    Request,
    batch_size,
    encode_batch,
    encode_request,
)
from tests.parsed_requests import parse_requests

texts = st.text(min_size=1, max_size=30)
references = st.text(max_size=10)
switches = st.sampled_from([None, True, False])
rank_requests = st.builds(
    RankRequest,
    st.none() | texts,
    st.lists(texts, min_size=1, max_size=5).map(tuple),
    references,
    switches,
)
embed_requests = st.builds(
    EmbedRequest,
    st.lists(texts, min_size=1, max_size=5).map(tuple),
    references,
    switches,
    st.sampled_from(["", "mean", "cls"]),
)
requests = rank_requests | embed_requests


@pytest.mark.parametrize(
    ("request_", "sent"),
    [
        (
            RankRequest("Größe?", ("雲", 'a "b"\n'), "r-0", truncate_inputs=True),
            '{"contexts":[{"text":"雲"},{"text":"a \\"b\\"\\n"}],"query":"Größe?","truncate_inputs":true,'
            '"external_reference":"r-0"}',
        ),
        (
            RankRequest(None, ("a",), "r", truncate_inputs=False),
            '{"contexts":[{"text":"a"}],"truncate_inputs":false,"external_reference":"r"}',
        ),
        (RankRequest("q", ("a",)), '{"contexts":[{"text":"a"}],"query":"q"}'),
        (EmbedRequest(("a", "b"), "r"), '{"text":["a","b"],"external_reference":"r"}'),
        (EmbedRequest(("a",)), '{"text":["a"]}'),
        (EmbedRequest(("a",), as_array=False, pooling="mean"), '{"text":"a","pooling":"mean"}'),
    ],
)
def test_an_element_is_compact_utf8_with_only_what_was_set(request_: Request, sent: str) -> None:
    assert encode_request(request_) == sent.encode()


@given(st.lists(requests, max_size=8))
def test_the_size_is_known_without_building_the_body(batch: list[Request]) -> None:
    elements = [encode_request(request) for request in batch]
    assert batch_size(map(len, elements)) == len(encode_batch(elements))


@given(st.lists(requests, min_size=1, max_size=8))
def test_what_is_sent_reads_back_as_it_was(batch: list[Request]) -> None:
    body = encode_batch(encode_request(request) for request in batch)
    assert len(json.loads(body)["requests"]) == len(batch)
    assert parse_requests(body) == tuple(batch)


@pytest.mark.parametrize(
    "build",
    [
        lambda: RankRequest("", ("a",)),
        lambda: RankRequest("q", ()),
        lambda: RankRequest("q", ("a", "")),
        lambda: EmbedRequest(()),
        lambda: EmbedRequest(("a", "")),
        lambda: EmbedRequest(("a",) * 101),
        lambda: EmbedRequest(("a", "b"), as_array=False),
    ],
)
def test_a_request_that_the_schema_forbids_cannot_be_built(build: Callable[[], Request]) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        build()
