"""The PCA map shows the principal plane, is deterministic, and leaves out texts without a direction."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.results.embeddings import Embeddings
from cfbatch_gui.core.results.groups import find_clusters, find_duplicates
from cfbatch_gui.core.results.text_map import (
    Layout,
    Repulsion,
    TextMap,
    cached_map,
    knn_graph,
    make_map,
    make_tsne_map,
    tsne_map,
)
from cfbatch_gui.core.results.unit_vectors import unit_vectors as measure
from tests.core.results.folders import WAITING, Table, room_for, stored, unit_vectors


def stretched(count: int, dimension: int) -> NDArray[np.float32]:
    """Vectors whose variance decreases from one principal axis to the next; no principal axis is a coordinate axis."""
    draw = np.random.default_rng(3)
    turn = np.linalg.qr(draw.standard_normal((dimension, dimension)))[0]
    spread = draw.standard_normal((count, dimension)) * 0.6 ** np.arange(dimension)
    vectors: NDArray[np.float32] = ((spread + 0.5) @ turn).astype(np.float32)
    return vectors


def test_it_is_the_plane_that_a_whole_decomposition_finds(tmp_path: Path) -> None:
    vectors = stretched(2_000, 64)
    found = make_map(stored(tmp_path, vectors))
    unit = vectors.astype(np.float64) / np.linalg.norm(vectors, axis=1, keepdims=True)
    centred = unit - unit.mean(axis=0)
    _, lengths, axes = np.linalg.svd(centred, full_matrices=False)
    for axis in range(2):
        exact = centred @ axes[axis]
        assert abs(np.corrcoef(found.points[:, axis], exact)[0, 1]) > 0.9999
    assert found.share == pytest.approx((lengths[:2] ** 2).sum() / (lengths**2).sum(), abs=1e-3)
    assert np.array_equal(found.item_numbers, np.arange(1, 2_001))


WAYS = (make_map, partial(find_duplicates, threshold=0.9), partial(find_clusters, number=2))


@pytest.mark.parametrize("way", WAYS)
def test_what_has_no_direction_or_is_not_there_is_counted(tmp_path: Path, way: Callable[[Embeddings], TextMap]) -> None:
    vectors = unit_vectors(8, 16)
    vectors[1], vectors[2, 3], vectors[3, 0], vectors[5] = 0, np.nan, np.inf, np.nan
    found = way(stored(tmp_path, vectors, [*[1.0] * 5, WAITING, 1.0, 1.0]))
    assert found.item_numbers.tolist() == [1, 5, 7, 8]
    assert (found.missing, found.without_direction) == (1, 3)
    nothing = way(Embeddings(Table(tmp_path / "empty").embed([("", "one", WAITING)], None).folder))
    assert (len(nothing.item_numbers), nothing.missing) == (0, 1)


@pytest.mark.parametrize("count", [1, 2, 3, 8])
def test_a_few_texts_have_maps_too(tmp_path: Path, count: int) -> None:
    embeddings = stored(tmp_path, unit_vectors(count, 12))
    for found in (make_map(embeddings), make_tsne_map(measure(embeddings))):
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


def nearest(likeness: NDArray[np.floating], count: int) -> NDArray[np.int64]:
    alike = likeness.copy()
    np.fill_diagonal(alike, -np.inf)
    return np.argsort(-alike, axis=1, kind="stable")[:, :count]


def kept_neighbours(vectors: NDArray[np.float32], points: NDArray[np.float32]) -> float:
    """The mean share of each text's ten nearest by cosine that are among its thirty nearest on the map, 0 to 1."""
    wanted = nearest(vectors @ vectors.T, 10)
    shown = nearest(-np.linalg.norm(points[:, None] - points[None], axis=2), 30)
    return float(np.mean([np.isin(own, there).mean() for own, there in zip(wanted, shown, strict=True)]))


def test_it_keeps_far_more_neighbours_than_the_plane_does_and_groups_are_islands(tmp_path: Path) -> None:
    vectors = groups()
    embeddings = stored(tmp_path, vectors)
    near, plane = make_tsne_map(measure(embeddings)), make_map(embeddings)
    assert near.layout is Layout.NEIGHBOURS
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
    points = make_tsne_map(unit).points
    assert np.array_equal(points, make_tsne_map(unit).points)
    apart = np.linalg.norm(points.reshape(40, 3, 2) - points.reshape(40, 3, 2)[:, :1], axis=2)
    assert apart.max() < 0.2 * np.linalg.norm(points, axis=1).max()


def test_nearly_all_of_the_nearest_are_found_among_many() -> None:
    draw = np.random.default_rng(6)
    points = draw.standard_normal((6_000, 40)) * 0.85 ** np.arange(40)
    points = (points / np.linalg.norm(points, axis=1, keepdims=True)).astype(np.float32)
    found = knn_graph(points, 15)
    some = np.arange(0, 6_000, 30)
    alike = points[some] @ points.T
    alike[np.arange(len(some)), some] = -np.inf
    wanted = np.argsort(-alike, axis=1)[:, :15]
    assert np.mean([np.isin(own, there).mean() for own, there in zip(wanted, found[some], strict=True)]) > 0.97
    assert (found != np.arange(6_000)[:, None]).all()


def test_the_push_is_the_sum_over_all_pairs() -> None:
    draw = np.random.default_rng(2)
    points = (draw.random((1_200, 2))).astype(np.float32).view(np.complex64).ravel()
    push, total = Repulsion(len(points)).push(points)
    apart = points[:, None].astype(np.complex128) - points[None]
    kernel = 1 / (1 + np.abs(apart) ** 2)
    exact = (apart * kernel**2).sum(axis=1)
    assert total == pytest.approx(kernel.sum() - len(points), rel=0.01)
    assert np.sqrt(np.mean(np.abs(push - exact) ** 2) / np.mean(np.abs(exact) ** 2)) < 0.08


def test_it_is_kept_until_the_vectors_are_others(tmp_path: Path) -> None:
    vectors = unit_vectors(40, 16)
    folder, embeddings = JobFolder(tmp_path / "job"), stored(tmp_path, vectors)
    assert cached_map(folder, embeddings) is None
    told: list[float] = []
    made = tsne_map(folder, embeddings, told.append)
    found = cached_map(folder, embeddings)
    assert found is not None
    assert np.array_equal(found.points, made.points)
    assert (found.layout, found.dimension) == (Layout.NEIGHBOURS, 16)
    told.clear()
    assert np.array_equal(tsne_map(folder, embeddings, told.append).points, made.points)
    assert told == []
    vectors[3] = vectors[4]
    np.save(folder.vectors, vectors)
    assert cached_map(folder, embeddings) is None


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 torn", b"\x93NUMPY\x01\x00"])
def test_a_damaged_file_is_made_anew_and_a_full_disk_is_no_failure(tmp_path: Path, content: bytes) -> None:
    folder, embeddings = JobFolder(tmp_path / "job"), stored(tmp_path, unit_vectors(20, 8))
    with folder.open() as database:
        database.execute("INSERT INTO kept_arrays VALUES('map', ?)", (content,))
    assert cached_map(folder, embeddings) is None
    assert len(tsne_map(folder, embeddings).points) == 20
    assert cached_map(folder, embeddings) is not None
    with folder.open() as database:
        database.execute("DELETE FROM kept_arrays")
    with room_for(1):
        assert len(tsne_map(folder, embeddings).points) == 20
