"""Metrics by the names and definitions of trec_eval.

`found` has the labels of ranked texts, NO_LABEL for none; `judged` has all labels of the query; 1 and more is relevant.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Labels = NDArray[np.int64]


def ndcg(found: Labels, judged: Labels, k: int) -> float:
    """nDCG@k: gain = the label, discount log2(rank + 1), ideal over all judged. trec_eval's ndcg_cut_k."""
    return _ndcg(np.maximum(found, 0), np.maximum(judged, 0), k)


def ndcg_exponential(found: Labels, judged: Labels, k: int) -> float:
    """nDCG@k (exp): gain = 2^label - 1, otherwise the same. What Quepid and many papers call nDCG."""
    return _ndcg(np.exp2(np.maximum(found, 0)) - 1, np.exp2(np.maximum(judged, 0)) - 1, k)


def reciprocal_rank(found: Labels, judged: Labels) -> float:
    """RR: the reciprocal of the rank of the first relevant text, 0 without one. Its mean over queries is MRR."""
    indices = np.flatnonzero(found > 0)
    return 1.0 / (int(indices[0]) + 1) if len(indices) else 0.0


def average_precision(found: Labels, judged: Labels) -> float:
    """AP: the sum of the precision at the rank of each relevant text, divided by the number of relevant texts."""
    indices = np.flatnonzero(found > 0)
    relevant = _relevant(judged)
    return float((np.arange(1, len(indices) + 1) / (indices + 1)).sum()) / relevant if relevant else 0.0


def precision(found: Labels, judged: Labels, k: int) -> float:
    """P@k: the number of relevant texts among the first k, divided by k, also if fewer were ranked."""
    return _relevant(found[:k]) / k


def recall(found: Labels, judged: Labels, k: int) -> float:
    """R@k: the share of the relevant texts that are among the first k; 0 if no text is relevant."""
    relevant = _relevant(judged)
    return _relevant(found[:k]) / relevant if relevant else 0.0


def success(found: Labels, judged: Labels, k: int) -> float:
    """Success@k: 1 if a relevant text is among the first k, else 0."""
    return float(_relevant(found[:k]) > 0)


def binary_preference(found: Labels, judged: Labels) -> float:
    """bpref as in trec_eval's m_bpref.c: judged not relevant is 0, a negative label is none."""
    relevant, others = _relevant(judged), int((judged == 0).sum())
    if not relevant:
        return 0.0
    above = np.minimum(np.cumsum(found == 0)[found > 0], relevant)
    return float((1.0 - above / min(others, relevant) if others else np.ones(len(above))).sum()) / relevant


Metric = Callable[[Labels, Labels], float]  # of `found` and `judged`


def usual_metrics(k: int = 10) -> dict[str, Metric]:
    """By their usual spelling; nDCG@k first."""
    return {
        f"nDCG@{k}": lambda found, judged: ndcg(found, judged, k),
        "RR": reciprocal_rank,
        f"R@{k}": lambda found, judged: recall(found, judged, k),
        f"P@{k}": lambda found, judged: precision(found, judged, k),
        f"Success@{k}": lambda found, judged: success(found, judged, k),
        "AP": average_precision,
        "bpref": binary_preference,
        f"nDCG@{k} (exp)": lambda found, judged: ndcg_exponential(found, judged, k),
    }


def _ndcg(found: NDArray[np.number], judged: NDArray[np.number], k: int) -> float:
    ideal = _dcg(np.sort(judged)[::-1][:k])
    return _dcg(found[:k]) / ideal if ideal > 0 else 0.0


def _dcg(gains: NDArray[np.number]) -> float:
    return float((gains / np.log2(np.arange(2, len(gains) + 2))).sum())


def _relevant(labels: Labels) -> int:
    return int((labels > 0).sum())
