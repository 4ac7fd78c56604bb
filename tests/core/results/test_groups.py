"""Near duplicates and clusters: what is found is what a plain search finds, and the same each time."""

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from cfbatch_gui.core.results.groups import TOLERANCE, Duplicates, Keep, find_clusters, find_duplicates, has_bounds
from cfbatch_gui.core.results.unit_vectors import unit_vectors as measure
from tests.core.results.folders import stored, unit_vectors


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


@pytest.mark.parametrize(
    ("count", "dimension", "groups", "noise", "threshold"),
    [(1_500, 48, 60, 0.3, 0.97), (1_500, 48, 60, 0.9, 0.55), (3_300, 400, 300, 0.5, 0.93)],
)
def test_the_rule_holds_for_every_text_with_bounds_too(
    tmp_path: Path, count: int, dimension: int, groups: int, noise: float, threshold: float
) -> None:
    vectors = near_copies(count, dimension, groups, noise)
    embeddings = stored(tmp_path, vectors)
    assert has_bounds(measure(embeddings)) == (dimension == 400)
    check(vectors, find_duplicates(embeddings, threshold))


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


def test_well_separated_groups_are_found(tmp_path: Path) -> None:
    centres = unit_vectors(5, 64)
    draw = np.random.default_rng(2)
    belongs = draw.choice(5, size=600, p=[0.4, 0.25, 0.15, 0.12, 0.08])
    vectors = centres[belongs] + 0.4 * draw.standard_normal((600, 64)).astype(np.float32) / 8
    found = find_clusters(stored(tmp_path, vectors.astype(np.float32)), 5)
    assert len(found.clusters) == 5
    assert [cluster.size for cluster in found.clusters] == sorted(np.bincount(belongs).tolist(), reverse=True)
    for index in range(5):
        inside = belongs[found.members == index]
        assert len(set(inside.tolist())) == 1
    first = found.clusters[0]
    assert list(first.typical) == found.items_of(0)[:5].tolist()
    similarities = found.similarities[found.members == 0]
    assert found.similarities[first.typical[0] - 1] == similarities.max()
    assert first.similarity == pytest.approx(float(similarities.mean()), abs=1e-5)


def test_more_texts_than_the_sample_move_the_centres_too(tmp_path: Path) -> None:
    vectors = near_copies(9_000, 8, 3, 0.2)
    embeddings = stored(tmp_path, vectors)
    one, other = find_clusters(embeddings, 3), find_clusters(embeddings, 3)
    assert np.array_equal(one.members, other.members)
    assert sum(cluster.size for cluster in one.clusters) == 9_000
    assert min(cluster.similarity for cluster in one.clusters) > 0.95


def test_there_are_no_more_clusters_than_directions(tmp_path: Path) -> None:
    vectors = np.repeat(unit_vectors(3, 16), 4, axis=0)
    found = find_clusters(stored(tmp_path, vectors), 8)
    assert [cluster.size for cluster in found.clusters] == [4, 4, 4]
    assert [cluster.similarity for cluster in found.clusters] == pytest.approx([1, 1, 1])
