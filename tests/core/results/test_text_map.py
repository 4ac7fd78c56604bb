"""The PCA map shows the principal plane, is deterministic, and leaves out texts without a direction."""

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from cfbatch_gui.core.results.colouring import OTHER, Categories, Numbers, by_number, colouring
from cfbatch_gui.core.results.embeddings import Embeddings
from cfbatch_gui.core.results.text_map import make_map
from cfbatch_gui.core.results.unit_vectors import unit_vectors as measure
from tests.core.results.folders import WAITING, Outcome, Table, unit_vectors


def stored(path: Path, vectors: NDArray[np.float32], outcomes: list[Outcome] | None = None) -> Embeddings:
    outcomes = outcomes or [1.0] * len(vectors)
    texts = [("", f"text {number}", outcome) for number, outcome in enumerate(outcomes)]
    return Embeddings(Table(path / "job").embed(texts, vectors.astype(np.float32)).folder)


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


def test_it_is_the_same_each_time(tmp_path: Path) -> None:
    embeddings = stored(tmp_path, stretched(500, 48))
    assert np.array_equal(make_map(embeddings).points, make_map(embeddings).points)


def test_lengths_do_not_count(tmp_path: Path) -> None:
    vectors = stretched(300, 32)
    lengths = np.geomspace(1e-12, 1e12, 300)[:, None]
    one, other = (
        make_map(stored(tmp_path / "a", vectors)),
        make_map(stored(tmp_path / "b", (vectors * lengths).astype(np.float32))),
    )
    assert np.allclose(one.points, other.points, atol=1e-4)


def test_what_has_no_direction_or_is_not_there_is_counted(tmp_path: Path) -> None:
    vectors = unit_vectors(8, 16)
    vectors[1], vectors[2, 3], vectors[3, 0], vectors[5] = 0, np.nan, np.inf, np.nan
    outcomes: list[Outcome] = [1.0, 1.0, 1.0, 1.0, 1.0, WAITING, 1.0, 1.0]
    found = make_map(stored(tmp_path, vectors, outcomes))
    assert found.item_numbers.tolist() == [1, 5, 7, 8]
    assert (found.missing, found.without_direction) == (1, 3)
    assert np.isfinite(found.points).all()


@pytest.mark.parametrize("count", [1, 2, 3])
def test_a_few_texts_have_a_map_too(tmp_path: Path, count: int) -> None:
    found = make_map(stored(tmp_path, unit_vectors(count, 4)))
    assert found.points.shape == (count, 2)
    assert np.isfinite(found.points).all()


def test_nothing_back_yet_is_an_empty_map(tmp_path: Path) -> None:
    embeddings = Embeddings(Table(tmp_path / "job").embed([("", "one", WAITING)], None).folder)
    found = make_map(embeddings)
    assert (len(found.points), found.missing) == (0, 1)


def test_progress_rises_to_the_end(tmp_path: Path) -> None:
    told: list[float] = []
    make_map(stored(tmp_path, unit_vectors(50, 16)), told.append)
    assert told == sorted(told)
    assert told[-1] == 1.0


def test_unit_vectors_are_read_in_blocks_and_by_place(tmp_path: Path) -> None:
    vectors = unit_vectors(20, 8) * 3
    vectors[4] = 0
    unit = measure(stored(tmp_path, vectors))
    whole = np.concatenate([rows * factors[:, None] for _, rows, factors in unit.blocks(most_bytes=100)])
    assert np.allclose(whole, unit.rows(np.arange(19)))
    assert np.allclose(np.linalg.norm(whole, axis=1), 1, atol=1e-6)
    assert unit.sample(5).tolist() == [0, 4, 9, 13, 18]


def test_a_column_of_words_makes_categories() -> None:
    found = colouring(["b", "a", "a", "", "c", "b", "b", "d"], 2)
    assert isinstance(found, Categories)
    assert (found.names, found.counts, found.others) == (("b", "a"), (3, 2), 3)
    assert found.codes.tolist() == [0, 1, 1, OTHER, OTHER, 0, 0, OTHER]


def test_a_column_of_many_numbers_makes_a_ramp() -> None:
    found = colouring([*(f"{number},5" for number in range(200)), ""], 8)
    assert isinstance(found, Numbers)
    assert (found.values[3], np.isnan(found.values[-1])) == (3.5, True)
    assert 0 < found.low < found.high < 200
    assert isinstance(colouring(["1", "2", "1", "2"], 8), Categories)
    assert isinstance(colouring(["", ""], 8), Categories)


def test_clusters_beyond_the_colours_are_others() -> None:
    found = by_number(np.array([0, 0, 1, 2, 3]), ["one", "two", "three", "four"], 2)
    assert (found.names, found.counts, found.others) == (("one", "two"), (2, 1), 2)


def test_a_column_is_read_for_every_text(tmp_path: Path) -> None:
    texts: list[tuple[str, str, Outcome]] = [("a", "one", 1.0), ("b", "two", WAITING)]
    table = Table(tmp_path / "job", kept=("shelf",)).embed(texts, unit_vectors(2, 4), kept=[("Garden",), ("",)])
    embeddings = Embeddings(table.folder)
    index = embeddings.columns().index("shelf")
    assert embeddings.column(index) == ("Garden", "")
    assert embeddings.text_lengths().tolist() == [3, 3]
