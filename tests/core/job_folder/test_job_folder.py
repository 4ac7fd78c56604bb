"""A job's data: each change of a batch's results is noticed by its checksum, rows come back as they were, and SQLite's
locks are left alone. POSIX ends all locks that a process has on a file when it closes any descriptor of it.
"""

import csv
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.job_folder import schema
from cfbatch_gui.core.job_folder.checksums import checksums_of, read_pairs, rows_in_words
from cfbatch_gui.core.job_folder.filling import fill
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.job_folder.row_problems import problems
from cfbatch_gui.core.job_folder.schema import data_version, opened, transaction
from cfbatch_gui.core.jobs.drafts import Drafts
from cfbatch_gui.core.jobs.plan import packing
from cfbatch_gui.core.jobs.states import Job, JobOptions
from cfbatch_gui.core.jobs.store.data_folder import back_up
from cfbatch_gui.core.jobs.store.ledger import Ledger
from cfbatch_gui.core.results.embeddings import Embeddings
from cfbatch_gui.core.system.files import create_own_file
from cfbatch_gui.core.system.paths import Paths
from tests.support.inputs import as_suggested


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


OTHER = """
import sqlite3, sys
try:
    sqlite3.connect(sys.argv[1], timeout=0, isolation_level=None).execute("BEGIN IMMEDIATE")
except sqlite3.OperationalError as error:
    print(error)
"""


def is_locked_for_others(path: Path) -> bool:
    ended = subprocess.run([sys.executable, "-c", OTHER, path], capture_output=True, text=True, check=True)
    return "locked" in ended.stdout


@pytest.fixture
def drafts(tmp_path: Path) -> Drafts:
    paths = Paths(tmp_path / "data")
    paths.create()
    return Drafts(Ledger.open(paths), paths)


@pytest.mark.skipif(sys.platform == "win32", reason="locks belong to handles there")
@pytest.mark.parametrize(
    "act",
    [
        lambda drafts, folder: drafts.duplicate(folder.path.name, "copy"),
        lambda drafts, folder: create_own_file(folder.data),
        lambda drafts, folder: data_version(folder.data),
        lambda drafts, folder: back_up(drafts._paths, folder.path.parent.parent.parent / "backup.zip"),
    ],
)
def test_a_lock_stays(drafts: Drafts, tmp_path: Path, act: Callable[[Drafts, JobFolder], object]) -> None:
    path = tmp_path / "texts.csv"
    path.write_text("text\none\ntwo\n")
    job = drafts.create(Kind.EMBED, "texts", "@cf/baai/bge-m3", "practice")
    drafts.load(job.id, *as_suggested(path, Kind.EMBED))
    folder = drafts.folder(job.id)
    with opened(folder.data) as database, transaction(database):
        assert is_locked_for_others(folder.data)
        act(drafts, folder)
        assert is_locked_for_others(folder.data)


Write = Callable[[str, str], Path]
LONG = "wort " * 20_000


def embedded(tmp_path: Path, path: Path) -> JobFolder:
    folder = JobFolder(tmp_path / "job")
    fill(folder, *as_suggested(path, Kind.EMBED))
    job = Job("abc", "n", Kind.EMBED, "@cf/baai/bge-m3", "practice", 0.0, options=JobOptions(truncate_inputs=False))
    packing.plan(folder, job)
    return folder


ROWS = [
    ["007", "an orange cloud", "5", "warm"],
    ["008", "", "6", "without a text"],
    ["", 'a "quoted" text\nin two lines', "7", ""],
    ["010", LONG, "8", "too long"],
    ["011", "2", "9", "a text that is a number"],
]


@pytest.mark.parametrize(
    "columns", [["id", "text"], ["id", "text", "label"], ["id", "text", "label", "note"], ["text"]]
)
def test_rows_come_back_as_they_were(tmp_path: Path, columns: list[str]) -> None:
    places = [("id", "text", "label", "note").index(column) for column in columns]
    rows = [[row[place] for place in places] for row in ROWS]
    path = tmp_path / "a.csv"
    with path.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream).writerows([columns, *rows])
    folder = embedded(tmp_path, path)
    shown = Embeddings(folder)
    found = {text.row: dict(zip(shown.columns(), text.cells, strict=True)) for text in shown.page(0, 10)}
    expected = {
        number: {name: cell for name, cell in zip(columns, row, strict=True) if name != "id"}
        for number, row in zip(range(2, 7), rows, strict=True)
        if row[columns.index("text")]
    }
    assert found == expected
    left_out = {problem.row: list(problem.cells) for problem in problems(folder)}
    wanted = {5: rows[3]} if columns == ["text"] else {3: rows[1], 5: rows[3]}
    assert left_out == wanted or (columns == ["text"] and left_out == {3: [""], 5: rows[3]})


def test_rows_of_nothing_but_texts_are_not_stored_twice(tmp_path: Path, write: Write) -> None:
    folder = embedded(tmp_path, write("a.csv", "id,text\n1,one\n2,two\n3,\n"))
    with folder.open(read_only=True) as database:
        assert database.execute("SELECT row, cells FROM source_rows").fetchall() == [(4, '["3",""]')]
