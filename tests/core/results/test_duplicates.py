"""Near duplicates: each removed text is similar to a kept one, and no two kept texts are similar."""

import csv
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from cfbatch_gui.core.results.embeddings import Embeddings
from cfbatch_gui.core.results.exports.csv_tables import KEEP_LIST, write_keep_list
from cfbatch_gui.core.results.near_duplicates import (
    TOLERANCE,
    Duplicates,
    Keep,
    SimilarityBounds,
    find_duplicates,
)
from cfbatch_gui.core.results.unit_vectors import unit_vectors as measure
from tests.core.results.folders import WAITING, Outcome, Table, unit_vectors


def stored(
    path: Path, vectors: NDArray[np.float32], outcomes: list[Outcome] | None = None, texts: list[str] | None = None
) -> Embeddings:
    outcomes = outcomes or [1.0] * len(vectors)
    texts = texts or [f"text {number}" for number in range(len(vectors))]
    rows = [(f"id{number}", text, outcome) for number, (text, outcome) in enumerate(zip(texts, outcomes, strict=True))]
    return Embeddings(Table(path / "job").embed(rows, vectors).folder)


def near_copies(count: int, dimension: int, groups: int, noise: float, seed: int = 5) -> NDArray[np.float32]:
    draw = np.random.default_rng(seed)
    vectors = unit_vectors(groups, dimension)[draw.integers(groups, size=count)]
    vectors = vectors + noise * draw.standard_normal((count, dimension)).astype(np.float32) / np.sqrt(dimension)
    unit: NDArray[np.float32] = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    return unit


def check(vectors: NDArray[np.float32], found: Duplicates) -> None:
    """Check the rule for every text, with the whole matrix of cosines."""
    cosines = vectors.astype(np.float64) @ vectors.astype(np.float64).T
    least = found.threshold
    kept = np.flatnonzero(found.stays == found.item_numbers)
    for index, stays in enumerate((found.stays - 1).tolist()):
        before = kept[kept < index]
        if stays == index:
            assert not len(before) or cosines[index, before].max() < least + 1e-5
        else:
            assert stays in before
            assert cosines[index, stays] >= max(least, cosines[index, before].max()) - 1e-5
            assert found.similarities[index] == pytest.approx(cosines[index, stays], abs=1e-5)


@pytest.mark.parametrize(("noise", "threshold"), [(0.3, 0.9), (0.3, 0.97), (0.9, 0.55), (0.9, 0.95)])
def test_the_rule_holds_for_every_text(tmp_path: Path, noise: float, threshold: float) -> None:
    vectors = near_copies(1_500, 48, 60, noise)
    check(vectors, find_duplicates(stored(tmp_path, vectors), threshold))


@pytest.mark.parametrize("threshold", [0.75, 0.93, 0.99])
def test_it_holds_with_bounds_as_well(tmp_path: Path, threshold: float) -> None:
    vectors = near_copies(3_300, 400, 300, 0.5)
    embeddings = stored(tmp_path, vectors)
    assert SimilarityBounds.pays(measure(embeddings))
    check(vectors, find_duplicates(embeddings, threshold))


def test_no_bound_lies_below_the_cosine(tmp_path: Path) -> None:
    vectors = near_copies(3_100, 400, 40, 0.7)
    unit = measure(stored(tmp_path, vectors))
    bounds = SimilarityBounds(unit, np.arange(unit.count))
    every = np.arange(400)
    cosines = vectors[:400] @ vectors[:400].T
    for least in (0.7, 0.8, 0.95):
        near = bounds.near(every, every, least)
        if near is not None:
            found = np.zeros(cosines.shape, dtype=np.bool_)
            found[near] = True
            assert not (cosines >= least)[~found].any()


def test_equal_vectors_and_chains(tmp_path: Path) -> None:
    angles = np.radians([0, 20, 40, 0, 90, 180])
    vectors = np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)
    found = find_duplicates(stored(tmp_path, vectors), np.cos(np.radians(21)))
    assert found.stays.tolist() == [1, 1, 3, 1, 5, 6]  # 40° is similar to 20° only, which is removed; so 40° is kept
    assert found.similarities[3] == pytest.approx(1)
    assert [(group.stays, group.goes) for group in found.groups()] == [(1, (4, 2))]


def test_at_threshold_one_only_the_same_direction_goes(tmp_path: Path) -> None:
    vectors = unit_vectors(40, 32)
    vectors[7], vectors[9], vectors[11] = vectors[3], vectors[3] * 4, -vectors[3]
    found = find_duplicates(stored(tmp_path, vectors), 1.0)
    assert [(group.stays, group.goes) for group in found.groups()] == [(4, (8, 10))]
    assert TOLERANCE < 1e-5


def test_the_longest_text_can_be_kept(tmp_path: Path) -> None:
    vectors = unit_vectors(4, 8)
    vectors[2] = vectors[1] = vectors[0]
    embeddings = stored(tmp_path, vectors, texts=["short", "the longest of all", "the longest, too!!", "x"])
    assert find_duplicates(embeddings, 0.9, Keep.LONGEST).stays.tolist() == [2, 2, 2, 4]


def test_what_has_no_vector_or_no_direction_stays_out_of_it(tmp_path: Path) -> None:
    vectors = unit_vectors(6, 8)
    vectors[1], vectors[2], vectors[4] = 0, 0, np.nan
    outcomes: list[Outcome] = [1.0, 1.0, 1.0, WAITING, 1.0, 1.0]
    found = find_duplicates(stored(tmp_path, vectors, outcomes), 0.5)
    assert found.item_numbers.tolist() == [1, 6]
    assert (found.missing, found.without_direction, found.gone) == (1, 3, 0)


def test_the_keep_list_has_every_row_and_no_formula(tmp_path: Path) -> None:
    vectors = unit_vectors(4, 8)
    vectors[3] = vectors[1]
    embeddings = stored(tmp_path, vectors, texts=["=1+1", "one", "two", "one again"])
    found = find_duplicates(embeddings, 0.95)
    assert write_keep_list(tmp_path / "keep.csv", embeddings, found) == 1
    with (tmp_path / "keep.csv").open(encoding="utf-8-sig", newline="") as stream:
        rows = list(csv.reader(stream))
    assert rows == [
        list(KEEP_LIST),
        ["2", "id0", "'=1+1", "stay", "", "", "", ""],
        ["3", "id1", "one", "stay", "1", "", "", ""],
        ["4", "id2", "two", "stay", "", "", "", ""],
        ["5", "id3", "one again", "go", "1", "1.0", "3", "id1"],
    ]
