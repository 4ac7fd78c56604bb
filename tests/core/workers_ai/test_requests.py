"""The bytes of a request's body, and what is estimated of it before it is sent."""

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.workers_ai.catalogue import MODELS, find_model, price
from cfbatch_gui.core.workers_ai.estimate import answer_bytes, script_of, tokens_lower, tokens_upper
from cfbatch_gui.core.workers_ai.requests import Request, batch_size, encode_batch, encode_request, frame_of

texts = st.text(min_size=1, max_size=30)
references = st.text(max_size=10)
switches = st.sampled_from([None, True, False])
several = st.lists(texts, min_size=1, max_size=5).map(tuple)
in_contexts = st.builds(Request, several, st.none() | texts, references, switches, in_contexts=st.just(True))
as_texts = st.builds(Request, several, st.none(), references, switches, st.sampled_from(["", "mean", "cls"]))
requests = in_contexts | as_texts


@pytest.mark.parametrize(
    ("request_", "sent"),
    [
        (
            Request(("雲", 'a "b"\n'), "Größe?", "r-0", truncate_inputs=True),
            '{"contexts":[{"text":"雲"},{"text":"a \\"b\\"\\n"}],"query":"Größe?","truncate_inputs":true,'
            '"external_reference":"r-0"}',
        ),
        (
            Request(("a",), None, "r", truncate_inputs=False, in_contexts=True),
            '{"contexts":[{"text":"a"}],"truncate_inputs":false,"external_reference":"r"}',
        ),
        (Request(("a",), "q"), '{"contexts":[{"text":"a"}],"query":"q"}'),
        (Request(("a", "b"), reference="r"), '{"text":["a","b"],"external_reference":"r"}'),
        (Request(("a",)), '{"text":["a"]}'),
        (Request(("a",), pooling="mean"), '{"text":["a"],"pooling":"mean"}'),
    ],
)
def test_an_element_is_compact_utf8_with_only_what_was_set(request_: Request, sent: str) -> None:
    assert encode_request(request_) == sent.encode()


@given(st.lists(requests, max_size=8))
def test_the_size_is_known_without_building_the_body(batch: list[Request]) -> None:
    elements = [encode_request(request) for request in batch]
    assert batch_size(map(len, elements)) == len(encode_batch(elements))
    for request, element in zip(batch, elements, strict=True):
        options = request.truncate_inputs, request.pooling
        frame = frame_of(request.query, request.reference, *options, in_contexts=request.in_contexts)
        sizes = [len(msgspec.json.encode(text)) for text in request.texts]
        assert frame.size(len(request.texts), sum(sizes)) == len(element)


@given(st.lists(requests, min_size=1, max_size=8))
def test_what_is_sent_reads_back_as_it_was(batch: list[Request]) -> None:
    body = json.loads(encode_batch(encode_request(request) for request in batch))
    for request, sent in zip(batch, body["requests"], strict=True):
        texts = sent.pop("text", None) or [each["text"] for each in sent.pop("contexts")]
        names = {"query": request.query, "external_reference": request.reference, "pooling": request.pooling}
        options = {"truncate_inputs": request.truncate_inputs} if request.truncate_inputs is not None else {}
        assert (tuple(texts), sent) == (request.texts, options | {name: each for name, each in names.items() if each})


characters = st.characters(codec=None)  # includes lone surrogates


@given(st.text(characters))
def test_the_lower_estimate_is_below_the_upper_one(text: str) -> None:
    assert 0 <= tokens_lower(text) <= tokens_upper(text)
    assert (tokens_lower(text) > 0) == (text != "")


@pytest.mark.parametrize(
    ("text", "lower", "upper"),
    [("", 0, 2), ("This is a story about an orange cloud", 10, 15), ("オレンジの雲の物語", 5, 11), ("😀😀", 2, 4)],
)
def test_examples(text: str, lower: int, upper: int) -> None:
    assert (tokens_lower(text), tokens_upper(text)) == (lower, upper)


def test_a_price_is_in_neurons_dollars_and_free_days() -> None:
    million = price(1_000_000, find_model("@cf/baai/bge-m3"))
    assert million.neurons == 1_075
    assert million.dollars == 0.012  # as listed; the neurons alone would be $0.011825
    small = price(1_000_000, find_model("@cf/baai/bge-small-en-v1.5"))
    assert small.dollars == pytest.approx(1_841 * 0.011 / 1_000)  # listed as $0.020, which is less
    assert million.share_of_free_day == pytest.approx(0.1075)
    assert price(0, find_model("@cf/baai/bge-m3")).dollars == 0


def test_an_answer_is_expected_to_be_no_smaller_than_it_is() -> None:
    frame = {"id": 1_000, "result": {}, "success": True, "external_reference": "x" * 40}
    vector = [-0.023254394531250013] * 1_024
    data = json.dumps(frame | {"result": {"data": [vector] * 10, "shape": [10, 1_024], "pooling": "cls"}})
    assert len(data.replace(", ", ",")) <= answer_bytes(Kind.EMBED, 10, 1_024) <= 2 * len(data)
    scores = [{"id": i, "score": 0.12345678901234567} for i in range(1_000)]
    data = json.dumps(frame | {"result": {"response": scores}}, separators=(",", ":"))
    assert len(data) <= answer_bytes(Kind.RANK, 1_000, 1_024) <= 2 * len(data)
    assert answer_bytes(Kind.EMBED, 1, 0) > answer_bytes(Kind.EMBED, 1, 1_024)


@pytest.mark.parametrize(
    ("text", "script"),
    [
        ("", ""),
        ("Wie ändere ich das Maß?", "LATIN"),
        ("Как сменить пароль в CF Batch?", "CYRILLIC"),
        ("كيف أغير كلمة المرور", "ARABIC"),
        ("पासवर्ड कैसे बदलें", "DEVANAGARI"),
        ("如何重置 iPhone 的密码", "CJK"),
        ("👍👍 → ∞", ""),
        ("Привет " * 100 + "hello " * 4_000, "CYRILLIC"),
    ],
)
def test_script(text: str, script: str) -> None:
    assert script_of(text) == script


def test_a_model_that_is_not_listed_gets_cautious_metadata() -> None:
    metadata = find_model("@cf/someone/new-embedder")
    assert (metadata.name, metadata.title) == ("@cf/someone/new-embedder", "new-embedder")
    assert not (metadata.is_listed or metadata.can_rank or metadata.batch)
    assert metadata.max_tokens <= min(model.max_tokens for model in MODELS)
    assert metadata.texts_per_request == 32 and not price(1_000_000, metadata).is_listed
    assert metadata.dimension == 0
