"""The checksum of a batch's results: each change is noticed, in its own batch, and what is read is what was stored."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from cfbatch_gui.core.job_folder import schema
from cfbatch_gui.core.job_folder.checksums import checksums_of, read_pairs, rows_in_words


def filled(database: sqlite3.Connection) -> None:
    """Four items in two requests, which are in batches of their own; of the last one a part is in the other."""
    database.executescript(
        "INSERT INTO requests VALUES(1, 'a', 1, 0, 'done', ''), (2, 'b', 2, 0, 'done', '');"
        "INSERT INTO items VALUES(1, 1, 1, 1, 1, 0, 0.5), (2, 2, 2, 1, 2, 0, 0.25), (3, 1, 3, 2, 1, 1, 0.125),"
        "(4, 2, 4, 2, 2, NULL, 0.75);"
        "INSERT INTO parts VALUES(4, 1, 0, 9, 2, 1, 0.75), (4, 2, 8, 20, 1, 2, 0.5);"
    )


@pytest.fixture
def database(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    schema.create(tmp_path / "data.db")
    with schema.opened(tmp_path / "data.db") as database:
        filled(database)
        yield database


@pytest.mark.parametrize(
    ("change", "batches"),
    [
        ("UPDATE items SET score = score + 1e-16 WHERE item_no = 3", {1}),
        ("UPDATE items SET score = NULL WHERE item_no = 2", {2}),
        ("UPDATE items SET score = 'nothing' WHERE item_no = 2", {2}),
        ("UPDATE items SET text_no = 2 WHERE item_no = 1", {1}),
        ("UPDATE items SET score = 0.625 - score WHERE item_no IN (1, 3)", {1}),  # two exchanged
        ("UPDATE items SET request_no = 2 WHERE item_no = 1", {1, 2}),
        ("DELETE FROM items WHERE item_no = 2", {2}),
        ("UPDATE requests SET batch = 2 WHERE request_no = 1", {1, 2}),
        ("UPDATE requests SET state = 'waiting' WHERE request_no = 1", {1}),
        ("UPDATE parts SET score = 0.25 WHERE part = 2", {1}),
        ("UPDATE items SET score = 0.1, request_no = NULL WHERE item_no = 1", {1}),
    ],
)
def test_a_change_is_noticed_in_its_batch(database: sqlite3.Connection, change: str, batches: set[int]) -> None:
    before = checksums_of(database)
    database.execute(change)
    after = checksums_of(database, items=read_pairs(database))
    assert {batch for batch in before | after if before.get(batch) != after.get(batch)} == batches
    for batch in (1, 2):
        assert checksums_of(database, batches=(batch,)) == {batch: after.get(batch, 0)}


def test_data_is_written_as_durably_as_the_ledger(database: sqlite3.Connection) -> None:
    assert database.execute("PRAGMA synchronous").fetchone() == (3,)  # EXTRA


@pytest.mark.parametrize(
    ("rows", "words"),
    [([], "some rows"), ([3], "row 3"), ([3, 4, 5], "rows 3 to 5"), ([3, 9, 12], "3 rows, from row 3 to row 12")],
)
def test_rows_in_words(rows: list[int], words: str) -> None:
    assert rows_in_words(rows) == words
