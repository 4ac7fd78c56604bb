"""This program's measures of a job compared with trec_eval's of the run and the qrels that it exports of that job."""

from pathlib import Path

import pytest

from cfbatch_gui.core.evaluation.judged import measure
from tests.core.evaluation.generated import exported, generated_table, run_of_table

NAMES = {
    "nDCG@10": "ndcg_cut_10",
    "RR": "recip_rank",
    "R@10": "recall_10",
    "P@10": "P_10",
    "Success@10": "success_10",
    "AP": "map",
    "bpref": "bpref",
}
CASES, PART = 300, 50


@pytest.mark.interop
@pytest.mark.parametrize("first", range(0, CASES, PART))
def test_the_same_figures_as_trec_eval(first: int, tmp_path: Path) -> None:
    pytrec_eval = pytest.importorskip("pytrec_eval")
    for seed in range(first, first + PART):
        folder = tmp_path / f"{seed}"
        folder.mkdir()
        table = generated_table(seed, folder / "job", queries=4)
        run, qrels = exported(table, folder)
        found = measure(run_of_table(table))
        assert found is not None
        assert len(found.queries) == len(qrels)
        theirs = pytrec_eval.RelevanceEvaluator(qrels, set(NAMES.values())).evaluate(run)
        for name, measured in NAMES.items():
            expected = [theirs.get(query, {}).get(measured, 0.0) for query in qrels]
            assert found.runs[0].values[name] == pytest.approx(expected, abs=1e-9), (seed, name)
