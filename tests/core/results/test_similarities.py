"""Scores of a ranking versus the cosines of the vectors that another job has for both texts of a pair."""

from pathlib import Path

import numpy as np
import pytest

from cfbatch_gui.core.results.embeddings import Embeddings
from cfbatch_gui.core.results.versus_scores import scores_versus_similarities, texts_of_pair, texts_of_pairs
from tests.core.results.folders import WAITING, Pair, Table, unit_vectors


def test_only_pairs_with_both_vectors_are_looked_at(tmp_path: Path) -> None:
    ranking = Table(tmp_path / "ranking").rank(
        [
            Pair("lamp?", "a lamp", 0.9),
            Pair("lamp?", "a hose", 0.2),
            Pair("lamp?", "not there", 0.1),
            Pair("lamp?", "no score yet", WAITING),
            Pair("hose?", "a lamp", 0.3),
            Pair("hose?", "a hose", 0.3),
            Pair("Lamp?", "a lamp", 0.9),  # another text than "lamp?": texts are compared with case
        ]
    )
    texts = ["lamp?", "a lamp", "a hose", "hose?", "a hose", "no vector"]
    vectors = unit_vectors(6, 16) * 7
    vectors[2], vectors[3] = vectors[0] * 0.5, -vectors[1]
    table = Table(tmp_path / "vectors").embed([("", text, 1.0) for text in texts], vectors)
    found = scores_versus_similarities(ranking.folder, Embeddings(table.folder))
    assert found.item_numbers.tolist() == [1, 2, 5, 6]
    assert found.scores.tolist() == [0.9, 0.2, 0.3, 0.3]
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    wanted = [unit[0] @ unit[1], 1.0, -1.0, unit[3] @ unit[2]]
    assert found.similarities.tolist() == pytest.approx(wanted, abs=1e-6)
    assert found.of == 6
    assert found.correlation == pytest.approx(np.corrcoef(found.scores, found.similarities)[0, 1])
    assert (found.queries, found.same_first) == (2, 1)  # "hose?" has a tie at rank 1, and either text counts as first
    assert texts_of_pair(ranking.folder, 2) == ("lamp?", "a hose")
    assert list(texts_of_pairs(ranking.folder, found.item_numbers))[3] == ("hose?", "a hose")


def test_jobs_that_share_nothing(tmp_path: Path) -> None:
    ranking = Table(tmp_path / "ranking").rank([Pair("q", "text", 0.5)])
    table = Table(tmp_path / "vectors").embed([("", "other", 1.0)], unit_vectors(1, 4))
    found = scores_versus_similarities(ranking.folder, Embeddings(table.folder))
    assert (len(found.scores), found.of, found.queries) == (0, 1, 0)
    assert np.isnan(found.correlation)
