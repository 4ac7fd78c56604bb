"""Each metric against examples that were worked out by hand from trec_eval's definitions."""

from dataclasses import replace
from math import log2
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from cfbatch_gui.core.evaluation import metrics
from cfbatch_gui.core.evaluation.joining import Run, join
from cfbatch_gui.core.evaluation.judged import Evaluation, evaluate
from cfbatch_gui.core.results.labels import NO_LABEL
from tests.core.evaluation.generated import run_of, scored
from tests.core.results.folders import FAILED, Outcome, Pair

U = NO_LABEL


def labels(*values: int) -> NDArray[np.int64]:
    return np.array(values, dtype=np.int64)


# Ranked: label 0, label 3, unjudged, label 1. Also judged: a text of label 2 that was not ranked.
FOUND = labels(0, 3, U, 1)
JUDGED = labels(0, 1, 2, 3)
NOTHING = labels()


@pytest.mark.parametrize(
    ("found", "value"),
    [
        (metrics.ndcg(FOUND, JUDGED, 10), (3 / log2(3) + 1 / log2(5)) / (3 + 2 / log2(3) + 1 / 2)),
        (metrics.ndcg(FOUND, JUDGED, 2), (3 / log2(3)) / (3 + 2 / log2(3))),
        (metrics.ndcg(labels(-1, 1), labels(-1, 1), 10), 1 / log2(3)),
        (metrics.ndcg_exponential(FOUND, JUDGED, 10), (7 / log2(3) + 1 / log2(5)) / (7 + 3 / log2(3) + 1 / 2)),
        (metrics.reciprocal_rank(FOUND, JUDGED), 1 / 2),
        (metrics.reciprocal_rank(labels(0, U), JUDGED), 0.0),
        (metrics.average_precision(FOUND, JUDGED), (1 / 2 + 2 / 4) / 3),
        (metrics.precision(FOUND, JUDGED, 2), 1 / 2),
        (metrics.precision(FOUND, JUDGED, 10), 2 / 10),
        (metrics.recall(FOUND, JUDGED, 2), 1 / 3),
        (metrics.recall(FOUND, JUDGED, 4), 2 / 3),
        (metrics.success(FOUND, JUDGED, 1), 0.0),
        (metrics.success(FOUND, JUDGED, 2), 1.0),
        (metrics.binary_preference(labels(0, 1, U, 2, -1, 1), labels(0, 1, 2, -1, 1, 0, 0)), (3 * (1 - 1 / 3)) / 3),
        (metrics.binary_preference(labels(1, 1), labels(1, 1)), 1.0),
        (metrics.binary_preference(labels(0, 0, 0, 1), labels(0, 0, 0, 1)), 0.0),
    ],
)
def test_each_metric_as_trec_eval_defines_it(found: float, value: float) -> None:
    assert found == pytest.approx(value)


def test_a_query_without_an_answer_or_without_a_relevant_text_is_0() -> None:
    for metric in metrics.usual_metrics().values():
        assert metric(NOTHING, JUDGED) == 0.0
        assert metric(labels(0, 0), labels(0, 0)) == 0.0


LABELLED = [
    Pair("reset", "first", 0.9, id="A", label="0"),
    Pair("reset", "second", 0.5, id="B", label="2"),
    Pair("reset", "third", 0.2, id="C"),
    Pair("refund", "fourth", 0.4, id="D", label="1"),
    Pair("refund", "fifth", 0.3, id="E", label="0"),
    Pair("unlabelled", "sixth", 0.3, id="F"),
]


def evaluated(path: Path, *scores: Outcome, base: list[Pair] = LABELLED) -> Evaluation | None:
    """Of the base and a run with other scores, whose own file has no labels."""
    other = [replace(pair, label="") for pair in scored(base, *scores)]
    return evaluated_runs(run_of(path, base, "one"), run_of(path, other, "two"))


def evaluated_runs(*runs: Run) -> Evaluation | None:
    return evaluate(runs, join(runs), k=10)


def test_a_relevant_text_without_a_score_is_missed(tmp_path: Path) -> None:
    found = evaluated(tmp_path, 0.1, FAILED, 0.3, FAILED, FAILED, 0.5)
    assert found is not None
    assert found.runs[1].means["R@10"].value == 0.0
    assert found.runs[1].without_answer == 1


def test_scores_that_differ_beyond_float32_are_no_tie_as_the_exported_run_keeps_their_order(tmp_path: Path) -> None:
    found = evaluated(tmp_path, 0.5 + 1e-12, 0.5, 0.1, 0.9, 0.1, 0.5)
    assert found is not None
    assert found.runs[1].means["RR"].value == pytest.approx((1 / 2 + 1) / 2)


def test_labels_that_differ_are_counted_and_the_first_holds(tmp_path: Path) -> None:
    other = [replace(pair, label="1" if pair.id == "A" else pair.label) for pair in LABELLED]
    found = evaluated_runs(run_of(tmp_path, LABELLED, "one"), run_of(tmp_path, other, "two"))
    assert found is not None
    assert found.conflicts == 1
    assert found.runs[0].means == found.runs[1].means
