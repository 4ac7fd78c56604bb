"""The nearest texts are those with the highest cosine, and scores are held against the cosines of another job."""

from pathlib import Path

import numpy as np
import pytest

from cfbatch_gui.core.results.embeddings import Embeddings
from cfbatch_gui.core.results.nearest import nearest, scores_versus_similarities, texts_of_pairs
from tests.core.results.folders import FAILED, WAITING, Pair, Table, stored, unit_vectors


@pytest.mark.parametrize("scale", [1.0, 250.0])
def test_they_are_those_with_the_highest_cosine(tmp_path: Path, scale: float) -> None:
    embeddings = stored(tmp_path, unit_vectors(40, 8) * np.float32(scale))
    vectors = unit_vectors(40, 8).astype(np.float64)
    cosines = vectors @ vectors[6]
    cosines[6] = -np.inf
    wanted = np.argsort(-cosines, kind="stable")[:5]
    found = nearest(embeddings, 7, 5)
    assert [each.text.item_no - 1 for each in found] == wanted.tolist()
    assert [each.similarity for each in found] == pytest.approx(cosines[wanted], abs=1e-5)


def test_texts_without_a_vector_are_nobodys_neighbours(tmp_path: Path) -> None:
    embeddings = stored(tmp_path, unit_vectors(4, 8), [1.0, FAILED, WAITING, 1.0])
    assert [each.text.item_no for each in nearest(embeddings, 1)] == [4]
    assert nearest(embeddings, 2) == ()


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
    assert list(texts_of_pairs(ranking.folder, found.item_numbers))[1:4:2] == [("lamp?", "a hose"), ("hose?", "a hose")]
