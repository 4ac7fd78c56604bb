"""Queries are found by their own text and by those of their contexts, which belong to one query or to several."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from cfbatch_gui.core.errors import DataError
from cfbatch_gui.core.job_folder import schema
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.results.text_search import TextSearch

QUERIES, EACH = 25_000, 2
ODD = {
    40: "Straße nach Größe", 20_001: "GRÖSSE", 20_002: "große Maße", 24_000: "a\x1fb größe", 30_000: "a\0nul größe",
    49_999: "счёт", 50_000: "СЧЁТ",
}  # fmt: skip
NEEDLES = ("größe", "GRÖẞE", "Счёт", "STRASSE", "nul", "a\x1fb", "absent", "number 7", "Ü", "", "\0", "ß")


def text_of(number: int) -> str:
    return ODD.get(number, f"text number {number}")


def query_of(number: int) -> str:
    return f"Über {number}" if number % 1_000 == 0 else f"query {number}"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> JobFolder:
    """A job in which each text belongs to one query."""
    texts = QUERIES * EACH
    return filled(tmp_path_factory.mktemp("own"), texts, [(n, (n - 1) // EACH + 1, n) for n in range(1, texts + 1)])


def filled(path: Path, texts: int, items: list[tuple[int, int, int]]) -> JobFolder:
    folder = JobFolder(path)
    folder.create()
    schema.create(folder.data)
    with closing(sqlite3.connect(folder.data)) as database, database:
        queries = {query for _, query, _ in items}
        database.executemany("INSERT INTO queries VALUES(?, '', ?, 2)", ((each, query_of(each)) for each in queries))
        rows = ((number, text_of(number)) for number in range(1, texts + 1))
        database.executemany("INSERT INTO texts VALUES(?, '', ?, '', 1, 2)", rows)
        database.executemany("INSERT INTO items(item_no, query_no, text_no, position) VALUES(?, ?, ?, 1)", items)
    return folder


def by_python(needle: str, items: list[tuple[int, int, int]]) -> list[int]:
    wanted = needle.casefold()
    in_queries = {query for _, query, _ in items if wanted in query_of(query).casefold()}
    return sorted(in_queries | {query for _, query, text in items if wanted in text_of(text).casefold()})


@pytest.mark.parametrize("needle", NEEDLES)
def test_texts_under_one_query_each_bring_it(folder: JobFolder, needle: str) -> None:
    items = [(number, (number - 1) // EACH + 1, number) for number in range(1, QUERIES * EACH + 1)]
    assert TextSearch(folder).queries(needle).tolist() == by_python(needle, items)


@pytest.mark.parametrize("needle", NEEDLES)
def test_texts_that_queries_share_bring_all_of_them(tmp_path: Path, needle: str) -> None:
    items = [(number, (number - 1) // 60 + 1, (number - 1) % 60 + 1) for number in range(1, 3_001)]
    assert TextSearch(filled(tmp_path, 60, items)).queries(needle).tolist() == by_python(needle, items)


def items_by_python(needle: str, items: list[tuple[int, int, int]]) -> frozenset[int]:
    """Those with the text; all of a query that has it alone."""
    wanted = needle.casefold()
    found = {(item, query) for item, query, text in items if wanted in text_of(text).casefold()}
    with_texts = {query for _, query in found}
    alone = {query for _, query, _ in items if query not in with_texts and wanted in query_of(query).casefold()}
    return frozenset({item for item, _ in found} | {item for item, query, _ in items if query in alone})


@pytest.mark.parametrize("needle", [*NEEDLES, "query 7", "über 1"])
def test_the_texts_that_are_shown_for_a_search(folder: JobFolder, tmp_path: Path, needle: str) -> None:
    items = [(number, (number - 1) // EACH + 1, number) for number in range(1, QUERIES * EACH + 1)]
    assert TextSearch(folder).items(needle) == items_by_python(needle, items)
    shared = [(number, (number - 1) // 60 + 1, (number - 1) % 60 + 1) for number in range(1, 3_001)]
    assert TextSearch(filled(tmp_path, 60, shared)).items(needle) == items_by_python(needle, shared)


def test_what_was_found_once_is_found_again(folder: JobFolder) -> None:
    search = TextSearch(folder)
    search.prepare()
    assert search.queries("nul").tolist() == search.queries("NUL").tolist() == [15_000]


def test_a_job_without_texts_has_nothing_to_find(tmp_path: Path) -> None:
    assert TextSearch(filled(tmp_path, 0, [])).queries("anything").tolist() == []


def test_missing_data_is_said(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="missing"):
        TextSearch(JobFolder(tmp_path)).queries("anything")
