"""Each metric against examples that were worked out by hand from trec_eval's definitions."""

from math import log2

import numpy as np
import pytest
from numpy.typing import NDArray

from cfbatch_gui.core.evaluation import metrics
from cfbatch_gui.core.results.labels import NO_LABEL

U = NO_LABEL


def labels(*values: int) -> NDArray[np.int64]:
    return np.array(values, dtype=np.int64)


# Ranked: label 0, label 3, unjudged, label 1. Also judged: a text of label 2 that was not ranked.
FOUND = labels(0, 3, U, 1)
JUDGED = labels(0, 1, 2, 3)
NOTHING = labels()


def test_ndcg_takes_the_label_as_gain_and_all_judged_texts_as_the_ideal() -> None:
    gained = 3 / log2(3) + 1 / log2(5)
    ideal = 3 / log2(2) + 2 / log2(3) + 1 / log2(4)
    assert metrics.ndcg(FOUND, JUDGED, 10) == pytest.approx(gained / ideal)
    assert metrics.ndcg(FOUND, JUDGED, 2) == pytest.approx((3 / log2(3)) / (3 + 2 / log2(3)))


def test_the_other_ndcg_takes_two_to_the_label_less_one() -> None:
    gained = 7 / log2(3) + 1 / log2(5)
    ideal = 7 / log2(2) + 3 / log2(3) + 1 / log2(4)
    assert metrics.ndcg_exponential(FOUND, JUDGED, 10) == pytest.approx(gained / ideal)


def test_reciprocal_rank_is_that_of_the_first_relevant_text() -> None:
    assert metrics.reciprocal_rank(FOUND, JUDGED) == 0.5
    assert metrics.reciprocal_rank(labels(0, U), JUDGED) == 0.0


def test_average_precision_counts_relevant_texts_that_were_not_found() -> None:
    assert metrics.average_precision(FOUND, JUDGED) == pytest.approx((1 / 2 + 2 / 4) / 3)


def test_precision_divides_by_k_however_few_were_ranked() -> None:
    assert metrics.precision(FOUND, JUDGED, 2) == 0.5
    assert metrics.precision(FOUND, JUDGED, 10) == 0.2


def test_recall_and_success() -> None:
    assert metrics.recall(FOUND, JUDGED, 2) == pytest.approx(1 / 3)
    assert metrics.recall(FOUND, JUDGED, 4) == pytest.approx(2 / 3)
    assert metrics.success(FOUND, JUDGED, 1) == 0.0
    assert metrics.success(FOUND, JUDGED, 2) == 1.0


def test_bpref_counts_the_judged_texts_above_each_relevant_one() -> None:
    found = labels(0, 1, NO_LABEL, 2, -1, 1)
    assert metrics.binary_preference(found, labels(0, 1, 2, -1, 1, 0, 0)) == pytest.approx((3 * (1 - 1 / 3)) / 3)
    assert metrics.binary_preference(labels(1, 1), labels(1, 1)) == 1.0
    assert metrics.binary_preference(labels(0, 0, 0, 1), labels(0, 0, 0, 1)) == 0.0


def test_a_query_without_an_answer_or_without_a_relevant_text_is_0() -> None:
    for metric in metrics.usual_metrics():
        assert metric.of(NOTHING, JUDGED) == 0.0
        assert metric.of(labels(0, 0), labels(0, 0)) == 0.0


def test_a_label_below_zero_gains_nothing() -> None:
    assert metrics.ndcg(labels(-1, 1), labels(-1, 1), 10) == pytest.approx(1 / log2(3))
