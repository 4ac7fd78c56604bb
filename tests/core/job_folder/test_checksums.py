"""Checksums of numbers: each change is noticed, in whatever order they are read and stored."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cfbatch_gui.core.job_folder import schema
from cfbatch_gui.core.job_folder.checksums import (
    BLOCK,
    ITEM_SCORE,
    UNKNOWN,
    Summed,
    read_sums,
    rows_in_words,
    score_checksums,
    vector_checksums,
    write_sums,
)

VECTORS = np.random.default_rng(1).standard_normal((6, 31)).astype(np.float32)


@given(st.integers(0, 5), st.sets(st.integers(0, 31 * 32 - 1), min_size=1, max_size=6))
def test_flipped_bits_change_the_checksum_of_their_row_alone(row: int, bits: set[int]) -> None:
    damaged = VECTORS.copy()
    for bit in bits:
        damaged[row].view(np.uint8)[bit // 8] ^= 1 << bit % 8
    differs = vector_checksums(damaged) != vector_checksums(VECTORS)
    assert np.flatnonzero(differs).tolist() == [row]


def test_the_same_bit_of_two_words_does_not_cancel_out() -> None:
    vectors = np.zeros((1, 64), np.float32)
    for bit in range(64):
        damaged = vectors.copy()
        damaged.view(np.uint64)[0, [3, 20]] ^= np.uint64(1 << bit)
        assert vector_checksums(damaged)[0] != vector_checksums(vectors)[0]


@pytest.mark.parametrize("dimension", [1, 2, 3, 8, 1024])
def test_every_length_has_checksums_that_are_known(dimension: int) -> None:
    assert not np.any(vector_checksums(np.zeros((3, dimension), np.float32)) == UNKNOWN)
    assert len(vector_checksums(np.zeros((0, dimension), np.float32))) == 0


def test_checksums_are_the_same_on_every_computer() -> None:
    """They are stored: another computer, or a later version, must compute the same."""
    vectors = np.arange(12, dtype=np.float32).reshape(2, 6)
    assert vector_checksums(vectors).tolist() == [1200544590935883776, 3782526684200173568]


def items(*rows: tuple[int, int, int, int, float]) -> "np.ndarray[tuple[int], np.dtype[np.void]]":
    return np.array(list(rows), dtype=ITEM_SCORE)


def test_scores_are_summed_by_query_in_any_order() -> None:
    rows = [(1, 1, 1, 1, 0.5), (2, 2, 2, 1, 0.25), (3, 1, 3, 2, 0.125), (4, 2, 4, 2, -np.inf)]
    sums = score_checksums(items(*rows), 1, 3)
    assert np.array_equal(score_checksums(items(*reversed(rows)), 1, 3), sums)
    assert sums[2] == 0
    for column, value in ((0, 9), (2, 9), (3, 9), (4, 0.5000000001), (4, -np.inf)):
        changed = [list(row) for row in rows]
        changed[0][column] = value
        differs = score_checksums(items(*(tuple(row) for row in changed)), 1, 3) != sums  # type: ignore[arg-type]
        assert differs.tolist() == [True, False, False]


def test_exchanged_scores_change_the_sum() -> None:
    one = score_checksums(items((1, 1, 1, 1, 0.5), (2, 1, 2, 2, 0.25)), 1, 1)
    other = score_checksums(items((1, 1, 1, 1, 0.25), (2, 1, 2, 2, 0.5)), 1, 1)
    assert one[0] != other[0]


def test_what_is_stored_is_read_back(tmp_path: Path) -> None:
    path = tmp_path / "data.db"
    schema.create(path)
    numbers = np.array([BLOCK + 1, 1, 3 * BLOCK])
    with schema.opened(path) as database:
        write_sums(database, Summed.VECTORS, numbers, np.array([7, 8, 9], np.uint64))
        write_sums(database, Summed.VECTORS, np.array([2]), np.array([2**64 - 1], np.uint64))
        found = read_sums(database, Summed.VECTORS, 1, 3 * BLOCK + 5)
        assert {index + 1: int(found[index]) for index in np.flatnonzero(found)} == {
            1: 8,
            2: 2**64 - 1,
            BLOCK + 1: 7,
            3 * BLOCK: 9,
        }
        assert read_sums(database, Summed.VECTORS, BLOCK, BLOCK + 2).tolist() == [0, 7, 0]
        assert not read_sums(database, Summed.SCORES, 1, 10).any()


def test_data_is_written_as_durably_as_the_ledger(tmp_path: Path) -> None:
    path = tmp_path / "data.db"
    schema.create(path)
    with schema.opened(path) as database:
        assert database.execute("PRAGMA synchronous").fetchone() == (3,)  # EXTRA


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([], ""),
        ([3], "row 3"),
        ([3, 4, 5, 9], "rows 3 to 5 and 9"),
        ([1, 3, 5], "rows 1, 3 and 5"),
        (list(range(1, 40, 2)), "20 rows, the first 1"),
        ([1_200, 1_201], "rows 1,200 to 1,201"),
    ],
)
def test_rows_in_words(rows: list[int], words: str) -> None:
    assert rows_in_words(rows) == words
