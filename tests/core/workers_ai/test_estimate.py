"""Estimates: values that can be computed by hand, and properties of the bounds."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cfbatch_gui.core.workers_ai.catalogue import find_model, next_reset, price
from cfbatch_gui.core.workers_ai.estimate import answer_bytes, tokens_lower, tokens_upper

characters = st.characters(codec=None)  # includes lone surrogates


@given(st.text(characters))
def test_the_upper_estimate_is_its_rule(text: str) -> None:
    ascii_count = sum(character < "\x80" for character in text)
    assert tokens_upper(text) == math.ceil(ascii_count / 3) + len(text) - ascii_count + 2


@given(st.text(characters))
def test_the_lower_estimate_is_below_the_upper_one(text: str) -> None:
    assert 0 <= tokens_lower(text) <= tokens_upper(text)
    assert (tokens_lower(text) > 0) == (text != "")


@pytest.mark.parametrize(
    ("text", "lower", "upper"),
    [
        ("", 0, 2),
        ("This is a story about an orange cloud", 10, 15),
        ("オレンジの雲の物語", 5, 11),
        ("рассказ", 2, 9),
        ("😀😀", 2, 4),
    ],
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


@pytest.mark.parametrize(
    ("now", "reset"),
    [(0.0, 86_400.0), (86_399.5, 86_400.0), (86_400.0, 172_800.0), (1_785_585_600.0, 1_785_628_800.0)],
)
def test_free_neurons_are_counted_anew_at_the_next_midnight_of_utc(now: float, reset: float) -> None:
    assert next_reset(now) == reset


def test_an_answer_is_expected_to_be_no_smaller_than_it_is() -> None:
    frame = {"id": 1_000, "result": {}, "success": True, "external_reference": "x" * 40}
    vector = [-0.023254394531250013] * 1_024
    data = json.dumps(frame | {"result": {"data": [vector] * 10, "shape": [10, 1_024], "pooling": "cls"}})
    assert len(data.replace(", ", ",")) <= answer_bytes("embeddings", 10, 1_024) <= 2 * len(data)
    scores = [{"id": i, "score": 0.12345678901234567} for i in range(1_000)]
    data = json.dumps(frame | {"result": {"response": scores}}, separators=(",", ":"))
    assert len(data) <= answer_bytes("scores", 1_000, 1_024) <= 2 * len(data)
    assert answer_bytes("embeddings", 1, 0) > answer_bytes("embeddings", 1, 1_024)
