"""The comparison of two rankings by query: known values, symmetry, and how often intervals and tests are right."""

from itertools import product

import numpy as np
import pytest

from cfbatch_gui.core.evaluation.significance import LEAST_QUERIES, compare_pairs, holm, randomisation_p


def test_p_of_few_queries_is_that_of_all_signs() -> None:
    values = np.array([0.3, -0.1, 0.25, 0.0, 0.4, 0.05])
    extreme = [
        abs(sum(sign * value for sign, value in zip(signs, values, strict=True))) >= abs(values.sum()) - 1e-9
        for signs in product((-1, 1), repeat=len(values))
    ]
    assert randomisation_p(values) == pytest.approx(sum(extreme) / len(extreme))


def test_few_queries_show_nothing() -> None:
    for count in range(LEAST_QUERIES):
        (found,) = compare_pairs(np.zeros(count), [np.ones(count)])
        assert (found.better, found.low, found.high, found.needed) == (count, None, None, None)
        assert not found.is_seen


def test_holm_corrects_for_several_comparisons() -> None:
    assert holm([0.01, 0.04, 0.03]) == pytest.approx((0.03, 0.06, 0.06))
    assert holm([0.9, 0.6]) == (1.0, 1.0)
    assert holm([0.2]) == (0.2,)
    assert holm([]) == ()


def test_how_many_more_queries_would_tell() -> None:
    values = np.tile([0.2, -0.2], 15)
    (found,) = compare_pairs(np.zeros(30), [values])
    # n = variance · ((1.96 + 0.84) / 0.05)²
    assert found.needed == pytest.approx(float(values.var(ddof=1)) * (2.8016 / 0.05) ** 2 - 30, abs=1)
    (enough,) = compare_pairs(np.zeros(30), [values / 10])
    assert enough.needed == 0
