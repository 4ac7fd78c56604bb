"""Texts with their vectors and checks, near duplicates and clusters, maps by PCA and t-SNE, and nearest texts."""

import math
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from cfbatch_gui.core.errors import DataError
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.results import text_map
from cfbatch_gui.core.results.duplicates import TOLERANCE, Duplicates, Keep, find_duplicates, has_bounds
from cfbatch_gui.core.results.embeddings import Embeddings
from cfbatch_gui.core.results.embeddings import unit_vectors as measure
from cfbatch_gui.core.results.groups import find_clusters
from cfbatch_gui.core.results.nearest import nearest
from cfbatch_gui.core.results.outcomes import OutcomeCounts, Status
from tests.core.results.folders import (
    FAILED,
    LEFT_OUT,
    WAITING,
    Outcome,
    Table,
    note_all,
    room_for,
    stored,
    unit_vectors,
)


@pytest.fixture
def five(tmp_path: Path) -> Table:
    texts = ["first", "zweite", "третий", "四", "last"]
    outcomes: list[Outcome] = [1.0, FAILED, WAITING, LEFT_OUT, 1.0]
    return Table(tmp_path / "job", kept=("note",)).embed(
        list(zip("abcde", texts, outcomes, strict=True)),
        unit_vectors(5, 8),
        kept=[(f"note {number}",) for number in range(5)],
    )


def test_texts_and_vectors_belong_together(five: Table) -> None:
    embeddings = Embeddings(five.folder)
    page = embeddings.page(0, 10)
    assert [text.text for text in page] == ["first", "zweite", "третий", "四", "last"]
    assert [text.status for text in page] == [
        Status.DONE, Status.FAILED, Status.WAITING, Status.LEFT_OUT, Status.DONE,
    ]  # fmt: skip
    assert page[1].error == "The service could not do this one."
    assert page[3].error == "The text is longer than the model reads."
    assert embeddings.columns() == ("text", "note")
    assert page[4].cells == ("last", "note 4")
    assert (page[4].id, page[4].item_no, page[4].row) == ("e", 5, 6)
    assert embeddings.page(1, 3) == page[1:3]
    assert (embeddings.count, embeddings.dimension) == (5, 8)
    last = embeddings.vector(5)
    assert last is not None
    assert np.array_equal(last, unit_vectors(5, 8)[4])
    assert embeddings.vector(2) is None
    assert embeddings.vector(99) is None
    assert embeddings.present().tolist() == [True, False, False, False, True]
    assert embeddings.outcome_counts() == OutcomeCounts(done=2, failed=1, waiting=1, left_out=1, skipped=0)


def test_nothing_back_yet(tmp_path: Path) -> None:
    table = Table(tmp_path).embed([("", "one", WAITING)], None)
    table.folder.vectors.write_bytes(b"half a he")  # as for a moment while the first answer is being stored
    embeddings = Embeddings(table.folder)
    assert embeddings.dimension == 0
    assert embeddings.rows_of(np.ones(1, dtype=np.int64)).shape == (1, 0)
    checks = embeddings.checks()
    assert (checks.texts, checks.missing, checks.unit_length, checks.repeated) == (1, 1, False, 0)
    assert math.isnan(checks.norm_min)


def test_damaged_vectors_are_said(tmp_path: Path) -> None:
    table = Table(tmp_path).embed([("", "one", 1.0)], unit_vectors(3, 4))
    with pytest.raises(DataError, match="damaged"):
        Embeddings(table.folder).rows_of(np.ones(1, dtype=np.int64))
    table.folder.vectors.write_bytes(b"no numbers")
    with pytest.raises(DataError, match="damaged"):
        Embeddings(table.folder).rows_of(np.ones(1, dtype=np.int64))


def test_health_finds_what_is_wrong(tmp_path: Path) -> None:
    vectors = unit_vectors(7, 16)
    vectors[1] = vectors[0]
    vectors[2] = vectors[0]
    vectors[3] = 0
    vectors[4, 5] = np.nan
    vectors[5, 5] = np.inf
    outcomes: list[Outcome] = [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, WAITING]
    table = Table(tmp_path).embed([("", "text", outcome) for outcome in outcomes], vectors)
    checks = Embeddings(table.folder).checks()
    assert (checks.repeated, checks.zero, checks.non_finite, checks.missing) == (2, 1, 2, 1)
    assert not checks.unit_length
    assert checks.norm_min == 0


def near_copies(count: int, dimension: int, groups: int, noise: float) -> NDArray[np.float32]:
    draw = np.random.default_rng(5)
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


@pytest.mark.parametrize(
    ("kept", "stays"), [((3,), [3, 3, 3, 4]), ((3, 1, 99), [1, 1, 1, 4]), ((1, 3, 1), [1, 1, 1, 4])]
)
def test_any_text_can_be_the_one_that_is_kept(tmp_path: Path, kept: tuple[int, ...], stays: list[int]) -> None:
    vectors = unit_vectors(4, 8)
    vectors[2] = vectors[1] = vectors[0]
    for keep in Keep:
        assert find_duplicates(stored(tmp_path / keep, vectors), 0.9, keep, kept=kept).stays.tolist() == stays


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


def test_it_is_the_plane_that_a_whole_decomposition_finds(tmp_path: Path) -> None:
    draw = np.random.default_rng(3)
    turn = np.linalg.qr(draw.standard_normal((64, 64)))[0]  # so that no principal axis is a coordinate axis
    vectors = ((draw.standard_normal((2_000, 64)) * 0.6 ** np.arange(64) + 0.5) @ turn).astype(np.float32)
    found = text_map.make_map(stored(tmp_path, vectors))
    unit = vectors.astype(np.float64) / np.linalg.norm(vectors, axis=1, keepdims=True)
    centred = unit - unit.mean(axis=0)
    _, _, axes = np.linalg.svd(centred, full_matrices=False)
    for axis in range(2):
        exact = centred @ axes[axis]
        assert abs(np.corrcoef(found.points[:, axis], exact)[0, 1]) > 0.9999
    assert np.array_equal(found.item_numbers, np.arange(1, 2_001))


WAYS = (text_map.make_map, partial(find_duplicates, threshold=0.9), partial(find_clusters, number=2))


@pytest.mark.parametrize("way", WAYS)
def test_what_has_no_direction_or_is_not_there_is_counted(tmp_path: Path, way: Callable[[Embeddings], Any]) -> None:
    vectors = unit_vectors(8, 16)
    vectors[1], vectors[2, 3], vectors[3, 0], vectors[5] = 0, np.nan, np.inf, np.nan
    found = way(stored(tmp_path, vectors, [*[1.0] * 5, WAITING, 1.0, 1.0]))
    assert found.item_numbers.tolist() == [1, 5, 7, 8]
    assert found.without_direction == 3
    nothing = way(Embeddings(Table(tmp_path / "empty").embed([("", "one", WAITING)], None).folder))
    assert len(nothing.item_numbers) == 0


@pytest.mark.parametrize("count", [1, 2, 3, 8])
def test_a_few_texts_have_maps_too(tmp_path: Path, count: int) -> None:
    embeddings = stored(tmp_path, unit_vectors(count, 12))
    for found in (text_map.make_map(embeddings), text_map.make_tsne_map(measure(embeddings))):
        assert found.points.shape == (count, 2)
        assert np.abs(found.points).max() < 1_000


GROUPS, EACH, DIMENSION = 12, 50, 96


def groups() -> NDArray[np.float32]:
    """Unit vectors of texts of twelve subjects; within a subject the variance differs between directions."""
    draw = np.random.default_rng(8)
    spread = draw.standard_normal((GROUPS, EACH, 6)) @ draw.standard_normal((GROUPS, 6, DIMENSION)) * 0.04
    vectors = unit_vectors(GROUPS, DIMENSION)[:, None, :] + spread + 0.01 * draw.standard_normal(spread.shape)
    whole: NDArray[np.float32] = vectors.reshape(-1, DIMENSION).astype(np.float32)
    unit: NDArray[np.float32] = whole / np.linalg.norm(whole, axis=1, keepdims=True)
    return unit


def first_by(likeness: NDArray[np.floating], count: int) -> NDArray[np.int64]:
    alike = likeness.copy()
    np.fill_diagonal(alike, -np.inf)
    return np.argsort(-alike, axis=1, kind="stable")[:, :count]


def kept_neighbours(vectors: NDArray[np.float32], points: NDArray[np.float32]) -> float:
    """The mean share of each text's ten nearest by cosine that are among its thirty nearest on the map, 0 to 1."""
    wanted = first_by(vectors @ vectors.T, 10)
    shown = first_by(-np.linalg.norm(points[:, None] - points[None], axis=2), 30)
    return float(np.mean([np.isin(own, there).mean() for own, there in zip(wanted, shown, strict=True)]))


def test_it_keeps_far_more_neighbours_than_the_plane_does_and_groups_are_islands(tmp_path: Path) -> None:
    vectors = groups()
    embeddings = stored(tmp_path, vectors)
    near, plane = text_map.make_tsne_map(measure(embeddings)), text_map.make_map(embeddings)
    assert near.layout is text_map.Layout.NEIGHBOURS
    assert np.array_equal(near.item_numbers, plane.item_numbers)
    assert kept_neighbours(vectors, near.points) > 0.9
    assert kept_neighbours(vectors, near.points) > 1.5 * kept_neighbours(vectors, plane.points)
    points = near.points.reshape(GROUPS, EACH, 2)
    middles = points.mean(axis=1)
    reach = np.linalg.norm(points - middles[:, None], axis=2).max()
    apart = np.linalg.norm(middles[:, None] - middles[None], axis=2)[np.triu_indices(GROUPS, 1)].min()
    assert apart > 1.5 * reach


def test_it_is_the_same_each_time_and_what_is_repeated_stands_together(tmp_path: Path) -> None:
    vectors = np.repeat(unit_vectors(40, 32), 3, axis=0)
    unit = measure(stored(tmp_path, vectors))
    points = text_map.make_tsne_map(unit).points
    assert np.array_equal(points, text_map.make_tsne_map(unit).points)
    apart = np.linalg.norm(points.reshape(40, 3, 2) - points.reshape(40, 3, 2)[:, :1], axis=2)
    assert apart.max() < 0.2 * np.linalg.norm(points, axis=1).max()


def test_nearly_all_of_the_nearest_are_found_among_many() -> None:
    draw = np.random.default_rng(6)
    points = draw.standard_normal((6_000, 40)) * 0.85 ** np.arange(40)
    points = (points / np.linalg.norm(points, axis=1, keepdims=True)).astype(np.float32)
    found = text_map.knn_graph(points, 15)
    some = np.arange(0, 6_000, 30)
    alike = points[some] @ points.T
    alike[np.arange(len(some)), some] = -np.inf
    wanted = np.argsort(-alike, axis=1)[:, :15]
    assert np.mean([np.isin(own, there).mean() for own, there in zip(wanted, found[some], strict=True)]) > 0.97
    assert (found != np.arange(6_000)[:, None]).all()


def test_it_is_kept_until_the_vectors_are_others(tmp_path: Path) -> None:
    vectors = unit_vectors(40, 16)
    folder, embeddings = JobFolder(tmp_path / "job"), stored(tmp_path, vectors)
    assert text_map.cached_map(folder, measure(embeddings)) is None
    told: list[float] = []
    made = text_map.tsne_map(folder, embeddings, told.append)
    found = text_map.cached_map(folder, measure(embeddings))
    assert found is not None
    assert np.array_equal(found.points, made.points)
    assert found.layout is text_map.Layout.NEIGHBOURS
    told.clear()
    assert np.array_equal(text_map.tsne_map(folder, embeddings, told.append).points, made.points)
    assert told == []
    vectors[3] = vectors[4]
    np.save(folder.vectors, vectors)
    with folder.open() as database:
        note_all(database, vectors)
    assert text_map.cached_map(folder, measure(embeddings)) is None


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 torn", b"\x93NUMPY\x01\x00"])
def test_a_damaged_file_is_made_anew_and_a_full_disk_is_no_failure(tmp_path: Path, content: bytes) -> None:
    folder, embeddings = JobFolder(tmp_path / "job"), stored(tmp_path, unit_vectors(20, 8))
    with folder.open() as database:
        database.execute("INSERT INTO kept_arrays VALUES('map', ?)", (content,))
    assert text_map.cached_map(folder, measure(embeddings)) is None
    assert len(text_map.tsne_map(folder, embeddings).points) == 20
    assert text_map.cached_map(folder, measure(embeddings)) is not None
    with folder.open() as database:
        database.execute("DELETE FROM kept_arrays")
    with room_for(1):
        assert len(text_map.tsne_map(folder, embeddings).points) == 20


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
