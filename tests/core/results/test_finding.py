"""Finding a text in many, as Python's own comparison without case would, for all that Unicode has."""

import sqlite3
import sys
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cfbatch_gui.core.results.finding import Finding, folded_otherwise, have_nul
from cfbatch_gui.core.results.finding_blocks import SEPARATOR, BlockFinding

TEXTS = (
    "Straße", "STRASSE", "Maſse", "300 K", "ﬁnd the oﬃce", "İstanbul", "Ελλάδα", "ΕΛΛΆΔΑ", "ΐδιος", "über", "ÜBER",
    "100% _sure_", "back\\slash", "a\0nul and more", "東京 VPN 設定", "счёт", "СЧЁТ", "", " ", "Ꭰꭰ", "ŉ", "ss",
    "ᾳ", "αι", "große ﬁſh", "ὈΔΥΣΣΕΎΣ", "ὀδυσσεύς", "ΰδωρ", "Größe", "GRÖSSE", "😀 Ärger", "𐐀", "𐐨", "a\x1fb",
)  # fmt: skip


def found(text: str, texts: tuple[str, ...] = TEXTS) -> list[str]:
    with closing(sqlite3.connect(":memory:")) as database:
        database.execute("CREATE TABLE texts(text)")
        database.executemany("INSERT INTO texts VALUES(?)", ((each,) for each in texts))
        finding = Finding(text, with_nul=have_nul(database, "texts WHERE true", {}))
        finding.prepare(database)
        rows = database.execute(f"SELECT text FROM texts WHERE {finding.condition('text')}", finding.values)
        return [each for (each,) in rows]


def found_in_block(text: str, texts: tuple[str, ...]) -> list[str]:
    places = BlockFinding(text.casefold()).places(SEPARATOR.join(texts), len(texts))
    return [texts[place] for place in places]


def by_python(text: str, texts: tuple[str, ...] = TEXTS) -> list[str]:
    return [each for each in texts if text.casefold() in each.casefold()]


def of_whole_signs(text: str, texts: tuple[str, ...] = TEXTS) -> list[str]:
    """Those of which a piece is the same without case."""
    needle = text.casefold()
    return [
        each
        for each in texts
        if any(
            each[start:stop].casefold() == needle
            for start in range(len(each) + 1)
            for stop in range(start, len(each) + 1)
        )
    ]


@pytest.mark.parametrize(
    "text",
    [*TEXTS, "rass", "ASSE", "k", "k ", "fi", "%", "_", "\\", "NUL", "and", "vpn 設", "設定", "ün",
     "чё", "i̇", "\0", "x" * 5_000, "ö", "Ö", "rÖß", "öss", "σεύς", "σ", "ς", "😀 ä", "strasse", "b", "\x1f"],
)  # fmt: skip
def test_the_same_texts_as_python_finds(text: str) -> None:
    assert found(text) == by_python(text)


@pytest.mark.parametrize("text", ["s", "n", "i", "f", "ff", "ι", "STRAS"])
def test_a_part_of_a_sign_need_not_be_found(text: str) -> None:
    assert set(of_whole_signs(text)) <= set(found(text)) <= set(by_python(text))


@given(st.text(alphabet="sSßſkKKfFﬁiİıιΙΐéÉ東%_\\ \0", max_size=4), st.text(alphabet="sßſkKfﬁiİιΙΐéÉ東%_\\ \0a"))
def test_any_text_in_any_other(needle: str, text: str) -> None:
    assert set(of_whole_signs(needle, (text,))) <= set(found(needle, (text,))) <= set(by_python(needle, (text,)))


def test_every_sign_of_unicode_is_judged_by_one_who_can() -> None:
    for sign in map(chr, (*range(0x80, 0xD800), *range(0xE000, sys.maxunicode + 1))):
        folded = sign.casefold()
        if folded == sign:
            continue
        if len(folded) > 1 or folded.isascii():
            assert folded_otherwise()[sign] == folded
        else:
            assert folded.upper() != folded or folded.lower() != folded


WITHOUT_SEPARATOR = tuple(each for each in TEXTS if SEPARATOR not in each)


@pytest.mark.parametrize(
    "text",
    ["Straße", "STRASSE", "İ", "i̇", "Maſſe", "K", "ς", "Σ", "ΕΎΣ", "ö", "grösse", "GRÖẞE", "ﬁſh", "fish",
     "ΐ", "ΰδ", "счёт", "ŉ", "😀 ä", "東京 vpn", "ü"],
)  # fmt: skip
def test_the_same_texts_in_a_block(text: str) -> None:
    assert BlockFinding.is_possible(text.casefold())
    assert found_in_block(text, WITHOUT_SEPARATOR) == by_python(text, WITHOUT_SEPARATOR)
    assert found_in_block(text, ("only ASCII", "Strasse", "fish")) == by_python(text, ("only ASCII", "Strasse", "fish"))


@given(
    st.text(alphabet="sSßſkKKfFﬁiİıιΙΐéÉ東😀σςΣ \0", min_size=1, max_size=4),
    st.lists(st.text(alphabet="sßſkKfﬁiİιΙΐéÉ東😀σςΣ \0a"), min_size=1, max_size=4).map(tuple),
)
def test_any_text_in_any_block(needle: str, texts: tuple[str, ...]) -> None:
    found = set(found_in_block(needle, texts))
    assert set(of_whole_signs(needle, texts)) <= found <= set(by_python(needle, texts))


def test_every_letter_of_unicode_is_found_in_a_block() -> None:
    for sign in map(chr, (*range(0x80, 0xD800), *range(0xE000, 0x10000))):
        folded = sign.casefold()
        if folded != sign and BlockFinding.is_possible(folded):
            assert found_in_block(sign, ("none", f"a {sign} é", f"a {folded} é")) == [f"a {sign} é", f"a {folded} é"]


@pytest.mark.parametrize("text", ["a\x1fb", "𐐀", "ö" * 2_000, ""])
def test_what_a_block_cannot_answer(text: str) -> None:
    assert not BlockFinding.is_possible(text.casefold())


@pytest.mark.parametrize("texts", [("plain", "with \x1f one"), ("Größe", "with \x1f one")])
def test_texts_with_the_separator_are_not_taken_for_others(texts: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match="separator"):
        BlockFinding("ö" if not texts[0].isascii() else "one").places(SEPARATOR.join(texts), len(texts))
