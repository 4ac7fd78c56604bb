"""Rank-biased overlap with ties, against direct implementations of the definitions."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cfbatch_gui.core.evaluation.comparison import Overlaps, overlaps
from cfbatch_gui.core.results.ranks import ranks_of


def of(one: Sequence[float], other: Sequence[float], *, top_k: int = 2, p: float = 0.9) -> Overlaps:
    query = np.zeros(len(one), dtype=np.int64)
    first, second = (ranks_of(query, np.array(scores, dtype=np.float64)) for scores in (one, other))
    return overlaps(query, first, second, 1, top_k=top_k, p=p)


def share(one: Sequence[float], other: Sequence[float], depth: int) -> float:
    """The overlap at one depth, which includes every text with fewer than `depth` higher scores."""
    first, second = (
        {at for at, score in enumerate(scores) if sum(each > score for each in scores) < depth}
        for scores in (one, other)
    )
    return 2 * len(first & second) / (len(first) + len(second))


def by_definition(one: Sequence[float], other: Sequence[float], p: float) -> float:
    """The rank-biased overlap of Webber, Moffat and Zobel (2010), equation 32."""
    count = len(one)
    total = sum(share(one, other, depth) * p**depth for depth in range(1, count + 1)) * (1 - p) / p
    return total + share(one, other, count) * p**count


def test_the_same_order_is_1() -> None:
    same = of([0.9, 0.5, 0.1], [12.0, 7.0, -3.0])
    assert same.rbo[0] == pytest.approx(1.0)
    assert (same.top[0], same.first[0]) == (1.0, 1.0)


def test_two_texts_the_other_way_round() -> None:
    turned = of([2.0, 1.0], [1.0, 2.0])
    # Nothing in common at depth 1, all at depth 2: (1-p)/p * p^2 + p^2 = p.
    assert turned.rbo[0] == pytest.approx(0.9)
    assert (turned.top[0], turned.first[0]) == (1.0, 0.0)


def test_a_change_at_the_top_weighs_more_than_one_below() -> None:
    scores = [5.0, 4.0, 3.0, 2.0, 1.0]
    at_top = of(scores, [4.0, 5.0, 3.0, 2.0, 1.0]).rbo[0]
    below = of(scores, [5.0, 4.0, 3.0, 1.0, 2.0]).rbo[0]
    assert at_top < below < 1.0


def test_the_same_ties_are_1_and_a_broken_tie_is_less() -> None:
    assert of([1.0, 1.0, 0.5], [7.0, 7.0, 5.0]).rbo[0] == pytest.approx(1.0)
    broken = of([1.0, 1.0], [2.0, 1.0])
    assert broken.first[0] == pytest.approx(2 / 3)  # two texts have rank 1 in one ranking, one of them in the other
    assert broken.top[0] == 1.0


some_scores = st.lists(st.sampled_from([0.1, 0.2, 0.3, 0.4]), min_size=1, max_size=7)


@given(st.data(), st.sampled_from([0.5, 0.9]))
def test_is_what_its_definition_says(data: st.DataObject, p: float) -> None:
    one = data.draw(some_scores)
    other = data.draw(st.lists(st.sampled_from([0.1, 0.2, 0.3]), min_size=len(one), max_size=len(one)))
    found = of(one, other, p=p)
    assert found.rbo[0] == pytest.approx(by_definition(one, other, p))
    assert found.top[0] == pytest.approx(share(one, other, min(2, len(one))))
    assert found.first[0] == pytest.approx(share(one, other, 1))


def test_many_queries_are_the_same_as_each_alone() -> None:
    random = np.random.default_rng(3)
    query = np.sort(random.integers(0, 5_000, 20_000))
    one, other = np.round(random.random((2, len(query))), 1)
    together = overlaps(query, ranks_of(query, one), ranks_of(query, other), 5_001, top_k=2)
    assert np.isnan(together.rbo[5_000])  # a query without texts
    for number in (0, 2_047, 2_048, 4_999):
        mine = query == number
        assert together.rbo[number] == pytest.approx(of(one[mine].tolist(), other[mine].tolist()).rbo[0])


def test_long_lists_are_looked_at_as_deep_as_it_matters() -> None:
    scores = np.arange(5_000.0).tolist()
    turned = scores[:4_000][::-1] + scores[4_000:]
    assert of(scores, turned).rbo[0] == pytest.approx(1.0, abs=1e-8)
    assert of(scores, [0.0] * 5_000).rbo[0] < 0.05
