"""The measures on screen are those of the exported run and qrels, by the rules of trec_eval written down once more."""

from math import log2
from pathlib import Path

import numpy as np
import pytest

from cfbatch_gui.core.evaluation.judged import measure
from tests.core.evaluation.generated import exported, generated_table, run_of_table
from tests.core.results.folders import Pair, Table

K = 10


def trec_eval(run: dict[str, float], judged: dict[str, int]) -> dict[str, float]:
    """The measures of one query, plainly."""
    order = sorted(run, key=lambda document: (np.float32(run[document]), document.encode()), reverse=True)
    grades = [max(judged.get(document, 0), 0) for document in order]
    ideal = sorted((max(grade, 0) for grade in judged.values()), reverse=True)
    relevant = sum(grade > 0 for grade in judged.values())
    hits = [rank for rank, grade in enumerate(grades, 1) if grade > 0]
    best = sum(grade / log2(rank + 1) for rank, grade in enumerate(ideal[:K], 1))
    found = sum(grade / log2(rank + 1) for rank, grade in enumerate(grades[:K], 1))
    return {
        "nDCG@10": found / best if best else 0.0,
        "RR": 1 / hits[0] if hits else 0.0,
        "AP": sum(count / rank for count, rank in enumerate(hits, 1)) / relevant if relevant else 0.0,
        "R@10": sum(rank <= K for rank in hits) / relevant if relevant else 0.0,
        "P@10": sum(rank <= K for rank in hits) / K,
    }


@pytest.mark.parametrize("seed", range(4))
def test_measures_are_those_of_the_exported_run_and_qrels(seed: int, tmp_path: Path) -> None:
    table = generated_table(seed, tmp_path / "job")
    found = measure(run_of_table(table))
    run, qrels = exported(table, tmp_path)
    assert found is not None
    assert len(found.queries) == len(qrels)
    theirs = [trec_eval(run.get(query, {}), judged) for query, judged in qrels.items()]
    for name in theirs[0]:
        expected = [each[name] for each in theirs]
        assert found.runs[0].values[name] == pytest.approx(expected, abs=1e-12), name
        mean = found.runs[0].means[name]
        assert mean.value == pytest.approx(sum(expected) / len(expected), abs=1e-12)
        assert mean.lowest - 1e-12 <= mean.value <= mean.highest + 1e-12
    judged_top = [
        sum(document in judged for document in sorted(run.get(query, {}), key=run[query].__getitem__)[::-1][:K])
        if query in run
        else 0
        for query, judged in qrels.items()
    ]
    assert found.runs[0].judged_top.tolist() == judged_top


def test_a_document_listed_twice_counts_once_by_its_best_rank(tmp_path: Path) -> None:
    pairs = [
        Pair("q", "first", 0.9, id="A", label="1"),
        Pair("q", "first", 0.8, id="A", label="1"),
        Pair("q", "second", 0.7, id="B", label="0"),
        Pair("q", "third", 0.6, id="C", label="1"),
    ]
    found = measure(run_of_table(Table(tmp_path / "job").rank(pairs)))
    assert found is not None
    assert found.runs[0].repeated == 1
    assert found.runs[0].means["AP"].value == pytest.approx((1 + 2 / 3) / 2)
    assert (found.judged, found.relevant) == (3, 2)


def test_equal_scores_of_other_grades_leave_a_range(tmp_path: Path) -> None:
    pairs = [Pair("q", name, 0.5, id=name, label=label) for name, label in (("a", "1"), ("b", "0"), ("c", "0"))]
    found = measure(run_of_table(Table(tmp_path / "job").rank(pairs)))
    assert found is not None
    mean = found.runs[0].means["RR"]
    assert mean.lowest == pytest.approx(1 / 3)
    assert mean.highest == 1.0
    assert mean.depends_on_ties
    assert mean.text() == "0.3333–1.0000"
