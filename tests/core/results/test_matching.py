"""Matching two lists: everything equals a plain double loop; one-to-one; the threshold; what differs between texts."""

import asyncio
from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from cfbatch_gui.core.results import matching
from cfbatch_gui.core.results.matching import (
    Side,
    assigned,
    baseline,
    differing_numbers,
    differing_words,
    find_candidates,
)
from cfbatch_gui.core.system.threads import in_thread


def side(vectors: NDArray[np.float32], keys: list[int]) -> Side:
    lengths = np.linalg.norm(vectors.astype(np.float64), axis=1)
    scales = np.divide(1.0, lengths, out=np.zeros(len(vectors)), where=lengths > 0)
    return Side(vectors, scales, np.array(keys, dtype=np.int64))


@st.composite
def lists(draw: st.DrawFn) -> tuple[Side, Side]:
    """Few different vectors, texts and groups, so that most scores have equals; () has no vector."""
    seed = draw(st.integers(0, 2**32 - 1))
    sizes = draw(st.tuples(st.integers(0, 9), st.integers(0, 9)))
    kinds, texts = draw(st.tuples(st.integers(1, 9), st.integers(1, 12)))
    grouped, parted, related, near = draw(st.tuples(*[st.booleans()] * 4))
    chance = np.random.default_rng(seed)
    vectors = chance.integers(-2, 3, (kinds, 3)).astype(np.float32)  # also none
    if near:
        vectors += 1e-4 * chance.standard_normal(vectors.shape).astype(np.float32)  # float32 cannot tell some apart
    found = []
    for size in sizes:
        made = side(vectors[chance.integers(kinds, size=size)], chance.integers(texts, size=size).tolist())
        within = chance.integers(2, size=size) if grouped else None
        apart = chance.integers(-1, 2, size=size) if parted else None
        found.append(replace(made, within=within, apart=apart))
    return (found[0], found[0]) if related else (found[0], found[1])


def plain_score(a: Side, b: Side, row: int, other: int) -> float | None:
    """2 for equal texts, None where the two are no pair."""
    if a is b and row == other:
        return None
    if a.within is not None and b.within is not None and a.within[row] != b.within[other]:
        return None
    if a.apart is not None and b.apart is not None and a.apart[row] == b.apart[other] >= 0:
        return None
    if a.keys[row] == b.keys[other]:
        return 2.0
    if not a.scales[row] or not b.scales[other]:
        return None
    dot = sum(float(x) * float(y) for x, y in zip(a.vectors[row], b.vectors[other], strict=True))
    return round(dot * float(a.scales[row]) * float(b.scales[other]), 9)


def plain_scores(a: Side, b: Side) -> list[list[float | None]]:
    return [[plain_score(a, b, row, other) for other in range(len(b))] for row in range(len(a))]


def plain_best(scores: list[float | None], best: int) -> list[tuple[int, float]]:
    found = [(other, score) for other, score in enumerate(scores) if score is not None]
    return sorted(found, key=lambda pair: -pair[1])[:best]


@settings(max_examples=2_000, deadline=None)
@given(lists(), st.integers(1, 20), st.sampled_from([{}, {"_BLOCK": 3}, {"_BLOCK": 4, "_MANY": -100}]))
def test_candidates_equal_a_plain_double_loop(pair: tuple[Side, Side], best: int, sizes: dict[str, int]) -> None:
    a, b = pair
    with pytest.MonkeyPatch.context() as patch:
        for name, size in sizes.items():
            patch.setattr(matching, name, size)
        found = find_candidates(a, b, best)
    scores = plain_scores(a, b)
    assert found.rows.shape == found.scores.shape == found.same.shape == (len(a), best)
    for row in range(len(a)):
        expected = plain_best(scores[row], best)
        rows = [other for other, _ in expected]
        assert found.rows[row].tolist() == rows + [-1] * (best - len(rows))
        assert found.scores[row, : len(rows)].tolist() == [min(score, 1.0) for _, score in expected]
        assert found.same[row, : len(rows)].tolist() == [score == 2.0 for _, score in expected]
        assert np.isnan(found.scores[row, len(rows) :]).all()
    for other in range(len(b)):
        expected = plain_best([scores[row][other] for row in range(len(a))], 1)
        assert found.best_of[other] == (expected[0][0] if expected else -1)


@settings(max_examples=300, deadline=None)
@given(lists(), st.sampled_from([0.0, 0.4, 0.9]))
def test_each_row_of_b_once(pair: tuple[Side, Side], floor: float) -> None:
    a, b = (each.take(np.arange(min(6, len(each)))) for each in pair)
    b = a if pair[0] is pair[1] else b
    found = find_candidates(a, b, 20)
    plain = [[0.0 if s is None or min(s, 1) < floor else min(s, 1.0) for s in row] for row in plain_scores(a, b)]
    exact = assigned(a, b, found, floor=floor)
    assert exact.is_exact
    width = max(len(a), len(b))
    gains = np.zeros((width, width))
    gains[: len(a), : len(b)] = np.maximum(np.array(plain).reshape(len(a), len(b)), 0)
    largest = max(gains[np.arange(width), list(order)].sum() for order in permutations(range(width)))
    assert np.nansum(exact.scores) == pytest.approx(largest, abs=1e-12)
    taken = exact.rows[exact.rows >= 0]
    assert len(set(taken.tolist())) == len(taken)
    assert (exact.scores[exact.rows >= 0] >= floor).all()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(matching, "MOST_EXACT", -1)
        falling = assigned(a, b, found, floor=floor)
    assert not falling.is_exact
    order = sorted((-gains[row, other], row, other) for row in range(len(a)) for other in range(len(b)))
    chosen: dict[int, int] = {}
    for gain, row, other in order:
        if gain < 0 and row not in chosen and other not in chosen.values():
            chosen[row] = other
    assert falling.rows.tolist() == [chosen.get(row, -1) for row in range(len(a))]


def test_what_is_decided_stays() -> None:
    chance = np.random.default_rng(1)
    a, b = (side(chance.standard_normal((40, 8)).astype(np.float32), list(range(k, k + 40))) for k in (0, 100))
    candidates = find_candidates(a, b, 3)
    for most in (2_000, 0):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(matching, "MOST_EXACT", most)
            found = assigned(a, b, candidates, fixed={3: 12, 5: 12, 7: -1})
        assert found.rows[[3, 5, 7]].tolist() == [12, 12, -1]
        assert np.count_nonzero(found.rows == 12) == 2
        assert found.scores[3] == plain_score(a, b, 3, 12)


def test_many_equal_texts_and_scores_stay_small() -> None:
    """20,000 equal texts in either list; and vectors of which nearly all scores are equal."""
    chance = np.random.default_rng(2)
    vectors = chance.standard_normal((3, 16)).astype(np.float32)
    many = side(vectors[np.zeros(20_000, dtype=np.int64)], [7] * 20_000)
    found = find_candidates(many, many, 3)
    assert found.rows[[0, 1, 2, 3, 19_999]].tolist() == [[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2], [0, 1, 2]]
    assert find_candidates(side(vectors, [7, 8, 9]), many, 2).rows.tolist() == [[0, 1]] * 3
    single = np.zeros((6_000, 64), dtype=np.float32)
    single[np.arange(6_000), chance.integers(64, size=6_000)] = chance.integers(1, 9, 6_000)
    a, b = side(single, list(range(6_000))), side(single[::-1].copy(), list(range(6_000, 12_000)))
    found = find_candidates(a, b, 3)
    for row in (0, 2_999, 5_999):
        alike = np.flatnonzero(b.vectors[:, single[row].argmax()])
        assert found.rows[row].tolist() == alike[:3].tolist()


async def test_a_stop_ends_it() -> None:
    chance = np.random.default_rng(3)
    big = side(chance.standard_normal((30_000, 64)).astype(np.float32), list(range(30_000)))
    shares: list[float] = []
    work = asyncio.create_task(in_thread(find_candidates, big, big, 3, progress=shares.append))
    while not shares:
        await asyncio.sleep(0)
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work
    assert shares[-1] < 0.5


@pytest.mark.parametrize("partners", [1.0, 0.5, 0.0])
def test_the_threshold_comes_from_the_lists(partners: float) -> None:
    chance = np.random.default_rng(4)
    count = 400
    centre = chance.standard_normal(64)
    b = centre + chance.standard_normal((count, 64))
    a = centre + chance.standard_normal((count, 64))
    paired = np.arange(count) < partners * count
    a[paired] = b[paired] + 0.5 * chance.standard_normal((int(paired.sum()), 64))
    left, right = side(a.astype(np.float32), list(range(count))), side(b.astype(np.float32), list(range(900, 1300)))
    candidates = find_candidates(left, right, 3)
    found = baseline(left, right, candidates)
    assert found == baseline(left, right, candidates)
    assert found.unrelated <= found.proposed <= 0.999
    assert found.spread > 0
    above = candidates.scores[:, 0] >= found.proposed
    right_ones = above & paired & (candidates.rows[:, 0] == np.arange(count))
    assert right_ones.sum() >= 0.95 * paired.sum()
    assert above.sum() - right_ones.sum() < 0.15 * count


def test_a_threshold_without_enough_to_compare() -> None:
    nobody = side(np.zeros((2, 4), dtype=np.float32), [1, 2])
    one = side(np.ones((1, 4), dtype=np.float32), [3])
    for a, b in ((nobody, nobody), (one, nobody), (one, one), (nobody.take(np.arange(0)), one)):
        found = baseline(a, b, find_candidates(a, b, 1))
        assert found.unrelated <= found.proposed <= 0.999
        assert found.spread > 0


@pytest.mark.parametrize(
    ("a", "b", "differ_a", "differ_b"),
    [
        ("pan, 24 cm, 8 l", "pan, 24 cm, 8.5 l", ["8 l"], ["8.5 l"]),
        ("256 GB", "256GB", [], []),
        ("256 GB", "512 GB", ["256 GB"], ["512 GB"]),
        ("5 mg", "50 mg", ["5 mg"], ["50 mg"]),
        ("5 mg", "5 g", ["5 mg"], ["5 g"]),
        ("8,5 l", "8.50 l", [], []),
        ("1.000 pieces", "1000 pieces", [], []),
        ("1.000", "1.001", ["1.000"], ["1.001"]),
        ("1,234.56 €", "1234,56€", [], []),
        ("1’000’000", "1000000", [], []),
        ("1.000.000", "1000", ["1.000.000"], ["1000"]),
        ("24.12.2024", "24.11.2024", ["24.12.2024"], ["24.11.2024"]),
        ("٢٤ cm", "24 cm", [], []),
        ("K-1184", "K-1185", ["K-1184"], ["K-1185"]),
        ("K-1184", "L-1184", ["K-1184"], ["L-1184"]),
        ("screw M3", "screw M4", ["M3"], ["M4"]),
        ("iPhone 15", "iPhone15", [], []),
        ("24 blue pans", "24 red pans", [], []),
        ("no number", "24 cm", [], []),
        ("24 cm", "24", [], []),
        ("2 × 4", "2 × 4 × 8", [], ["8"]),
        ("", "", [], []),
    ],
)
def test_numbers_that_differ(a: str, b: str, differ_a: list[str], differ_b: list[str]) -> None:
    spans_a, spans_b = differing_numbers(a, b)
    assert [a[start:stop] for start, stop in spans_a] == differ_a
    assert [b[start:stop] for start, stop in spans_b] == differ_b
    assert differing_numbers(b, a) == (spans_b, spans_a)


def test_words_that_differ() -> None:
    a, b = "Cast-iron pan, red", "cast-iron pan, dark BLUE"
    assert [b[start:stop] for start, stop in differing_words(a, b)] == ["dark", "BLUE"]
    assert differing_words("one two three", "one four five") == ()
    assert differing_words(a, a) == ()
