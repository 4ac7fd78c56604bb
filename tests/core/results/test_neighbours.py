"""The nearest texts are those with the highest cosine, for vectors of any length and with vectors missing."""

from pathlib import Path

import numpy as np
import pytest

from cfbatch_gui.core.results.embeddings import Embeddings
from cfbatch_gui.core.results.nearest import nearest
from tests.core.results.folders import FAILED, WAITING, Outcome, Table, unit_vectors


def job(path: Path, outcomes: list[Outcome], scale: float = 1.0) -> Embeddings:
    names = [f"text {number}" for number in range(len(outcomes))]
    vectors = unit_vectors(len(outcomes), 8) * np.float32(scale)
    return Embeddings(Table(path / "job").embed(list(zip(names, names, outcomes, strict=True)), vectors).folder)


@pytest.mark.parametrize("scale", [1.0, 250.0])
def test_they_are_those_with_the_highest_cosine(tmp_path: Path, scale: float) -> None:
    embeddings = job(tmp_path, [1.0] * 40, scale)
    vectors = unit_vectors(40, 8).astype(np.float64)
    cosines = vectors @ vectors[6]
    cosines[6] = -np.inf
    wanted = np.argsort(-cosines, kind="stable")[:5]
    found = nearest(embeddings, 7, 5)
    assert [each.text.item_no - 1 for each in found] == wanted.tolist()
    assert [each.similarity for each in found] == pytest.approx(cosines[wanted], abs=1e-5)


def test_texts_without_a_vector_are_nobodys_neighbours(tmp_path: Path) -> None:
    embeddings = job(tmp_path, [1.0, FAILED, WAITING, 1.0])
    assert [each.text.item_no for each in nearest(embeddings, 1)] == [4]
    assert nearest(embeddings, 2) == ()


def test_texts_are_found_by_what_is_in_them_and_read_by_number(tmp_path: Path) -> None:
    embeddings = job(tmp_path, [1.0] * 12)
    assert embeddings.find("TEXT 1") == (2, 11, 12)
    assert [text.item_no for text in embeddings.texts((11, 2))] == [11, 2]
