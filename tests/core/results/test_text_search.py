"""Caseless search in many texts gives the same results as `str.casefold` and `in`, for all of Unicode."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.results.text_search import items_with, items_with_words, search_ranking, word_spans, words_of
from tests.core.results.folders import Table

TEXTS = (
    "Straße", "STRASSE", "Maſse", "300 K", "ﬁnd the oﬃce", "İstanbul", "Ελλάδα", "ΕΛΛΆΔΑ", "ΐδιος", "über", "ÜBER",
    "100% _sure_", "back\\slash", "a\0nul and more", "東京 VPN 設定", "счёт", "СЧЁТ", "", " ", "Ꭰꭰ", "ŉ", "ss",
    "ᾳ", "αι", "große ﬁſh", "ὈΔΥΣΣΕΎΣ", "ὀδυσσεύς", "ΰδωρ", "Größe", "GRÖSSE", "😀 Ärger", "𐐀", "𐐨", "a\x1fb", "ÿ",
)  # fmt: skip


def texts_only(path: Path, texts: Sequence[str], identifier: str = "") -> JobFolder:
    """A job folder with these texts."""
    return Table(path).embed([(identifier, text, 1.0) for text in texts], None).folder


@given(
    st.text(alphabet="sSßſkKKfFﬁiİıιΙΐéÉ東ÿ%_\\ \0", max_size=4) | st.sampled_from(TEXTS),
    st.lists(st.text(alphabet="sßſkKfﬁiİιΙΐéÉ東ÿ%_\\ \0a") | st.sampled_from(TEXTS), min_size=1, max_size=7),
)
def test_any_text_in_any_others(tmp_path_factory: pytest.TempPathFactory, needle: str, texts: list[str]) -> None:
    folder = texts_only(tmp_path_factory.mktemp("any"), texts)
    found = [number for number, text in enumerate(texts, 1) if needle.casefold() in text.casefold()]
    assert list(items_with(folder, needle)) == found


def test_ids_are_searched_too_and_each_by_itself(tmp_path: Path) -> None:
    folder = texts_only(tmp_path, ["one", "two"], "X-7")
    assert items_with(folder, "x-7") == (1, 2)
    assert items_with(folder, "neX") == items_with(folder, "one\udcffx") == ()


QUERIES, EACH = 1_500, 2
ODD = {
    40: "Straße nach Größe", 1_201: "GRÖSSE", 1_202: "große Maße", 1_400: "a\x1fb größe", 1_800: "a\0nul größe",
    2_999: "счёт", 3_000: "СЧЁТ",
}  # fmt: skip
SOUGHT = ("größe", "GRÖẞE", "Счёт", "STRASSE", "nul", "a\x1fb", "absent", "number 7", "Ü", "", "\0", "ß")


def text_of(number: int) -> str:
    return ODD.get(number, f"text number {number}")


def query_of(number: int) -> str:
    return f"Über {number}" if number % 1_000 == 0 else f"query {number}"


def filled(path: Path, texts: int, items: list[tuple[int, int, int]]) -> JobFolder:
    folder = Table(path).folder
    with folder.open() as database:
        queries = {query for _, query, _ in items}
        database.executemany("INSERT INTO queries VALUES(?, '', ?, 2)", ((each, query_of(each)) for each in queries))
        rows = ((number, text_of(number)) for number in range(1, texts + 1))
        database.executemany("INSERT INTO texts VALUES(?, '', ?, '', 1, 2)", rows)
        database.executemany("INSERT INTO items(item_no, query_no, text_no, position) VALUES(?, ?, ?, 1)", items)
    return folder


OWN = [(number, (number - 1) // EACH + 1, number) for number in range(1, QUERIES * EACH + 1)]
SHARED = [(number, (number - 1) // 60 + 1, (number - 1) % 60 + 1) for number in range(1, 3_001)]


def by_python(needle: str, items: list[tuple[int, int, int]]) -> tuple[frozenset[int], frozenset[int]]:
    """The queries, and the contexts with the text, or all of a query that has it alone."""
    wanted = needle.casefold()
    found = {(item, query) for item, query, text in items if wanted in text_of(text).casefold()}
    with_texts = {query for _, query in found}
    alone = {query for _, query, _ in items if query not in with_texts and wanted in query_of(query).casefold()}
    of_alone = {item for item, query, _ in items if query in alone}
    return frozenset(with_texts | alone), frozenset({item for item, _ in found} | of_alone)


def test_queries_and_texts_of_a_search_whether_queries_share_their_texts_or_not(tmp_path: Path) -> None:
    for name, texts, items in (("own", QUERIES * EACH, OWN), ("shared", 60, SHARED)):
        folder = filled(tmp_path / name, texts, items)
        for needle in (*SOUGHT, "query 7", "über 1"):
            assert search_ranking(folder, needle) == by_python(needle, items)


@pytest.mark.parametrize(
    ("question", "text", "marked"),
    [
        (
            "how do BEES find their way home?",
            "Bees do find a way; beeswax is not at Home.",
            ["Bees", "find", "way", "Home"],
        ),
        ("Straße 24", "STRASSE 24, Strassen 241", ["STRASSE", "24"]),
        ("हिन्दी में खोज", "यह हिन्दी है, हिन्दीभाषी नहीं", ["हिन्दी"]),
        ("ミツバチの言語", "言語とミツバチ、ハチの巣", ["言語", "ミツバチ"]),
        ("über 😀 ça", "😀 Über alles, übermorgen", ["Über"]),
        ("a_b naïve", "the naïve <b>naïve</b>", ["naïve", "naïve"]),
    ],
)
def test_words_of_a_question_are_marked_where_they_stand_whole(
    tmp_path: Path, question: str, text: str, marked: list[str]
) -> None:
    words = words_of(question)
    assert [text[start:stop] for start, stop in word_spans(text, words)] == marked
    assert items_with_words(texts_only(tmp_path, ["nothing of it", text]), words) == (2,)
