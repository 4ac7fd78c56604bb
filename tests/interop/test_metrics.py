"""This program's metrics compared with trec_eval's, over generated runs with ties, gaps, and grades of all kinds."""

from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

from cfbatch_gui.core.evaluation.comparison import compare
from cfbatch_gui.core.evaluation.judged import evaluate
from cfbatch_gui.core.evaluation.runs import read_run
from tests.core.results.folders import FAILED, Outcome, Pair, Table

NAMES = {
    "nDCG@10": "ndcg_cut_10",
    "MRR": "recip_rank",
    "Recall@10": "recall_10",
    "P@10": "P_10",
    "MAP": "map",
}


@pytest.mark.interop
@pytest.mark.parametrize("seed", range(5))
def test_the_same_figures_as_trec_eval(seed: int, tmp_path: Path) -> None:
    pytrec_eval = pytest.importorskip("pytrec_eval")
    random = np.random.default_rng(seed)
    pairs = []
    qrels: dict[str, dict[str, int]] = defaultdict(dict)
    run: dict[str, dict[str, float]] = defaultdict(dict)
    for query in range(40):
        for document in range(int(random.integers(1, 30))):
            label = int(random.integers(0, 4)) if random.random() < 0.6 else None
            score = round(float(random.random()), 1)
            outcome: Outcome = score if random.random() < 0.9 else FAILED
            name = f"d{random.integers(0, 10**6)}-{document}"
            pairs.append(
                Pair(f"q{query}", f"text {document}", outcome, id=name, label="" if label is None else f"{label}")
            )
            if label is not None:
                qrels[f"q{query}"][name] = label
            if outcome != FAILED:
                run[f"q{query}"][name] = score
    table = Table(tmp_path / "job").rank(pairs)
    ours = read_run(table.folder, table.metadata())
    found = evaluate(compare([ours, ours]))
    assert found is not None
    assert found.queries == len(qrels)
    measured = pytrec_eval.RelevanceEvaluator(dict(qrels), set(NAMES.values())).evaluate(dict(run))
    for name, theirs in NAMES.items():
        mean = sum(measured.get(query, {}).get(theirs, 0.0) for query in qrels) / len(qrels)
        assert found.runs[0].means[name] == pytest.approx(mean, abs=1e-12), name
