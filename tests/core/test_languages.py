import copy
import io
import pickle
from collections.abc import Iterator

import pytest
from babel.messages.catalog import Catalog as Source
from babel.messages.mofile import write_mo

from cfbatch_gui.core.messages import Message, counted_message, message
from cfbatch_gui.words.languages import (
    ENGLISH,
    Catalogue,
    Language,
    language_in_use,
    language_of_system,
    languages,
    load_language,
    said,
    use_language,
)


def german() -> Language:
    """A language with a small catalogue of its own."""
    source = Source(locale="de")
    source.add("Open", "Öffnen")
    source.add("Open", "Offen", context="state")
    source.add("“{name}” is empty.", "„{name}“ ist leer.")
    source.add(("{n:,} row is empty.", "{n:,} rows are empty."), ("{n} Zeile ist leer.", "{n} Zeilen sind leer."))
    source.add("{size:.1f} MB stand in {where}.", "{where}: {size} MB.")
    source.add("the practice service", "der Übungsdienst")
    source.add("Ask {service} again.", "{service} noch einmal fragen.")
    stream = io.BytesIO()
    write_mo(stream, source)
    stream.seek(0)
    return Language("de", "Deutsch", ",", ".", catalogue=Catalogue(stream))


def test_a_message_is_its_english_text_and_keeps_its_parts() -> None:
    empty = message("“{name}” is empty.", name="a{b}.csv")
    rows = counted_message(3816, "{n:,} row is empty.", "{n:,} rows are empty.")
    assert (empty, rows) == ("“a{b}.csv” is empty.", "3,816 rows are empty.")
    assert counted_message(1, "{n:,} row is empty.", "{n:,} rows are empty.") == "1 row is empty."
    assert message("No parameters: {as it stands}") == "No parameters: {as it stands}"
    assert message("“{name}” is empty.", name="?").filled(name="b") == "“b” is empty."
    for same in (pickle.loads(pickle.dumps(rows)), copy.copy(rows), copy.deepcopy(rows)):
        assert isinstance(same, Message)
        assert (same, same.template, same.many, dict(same.parameters)) == (rows, rows.template, rows.many, {"n": 3816})


def test_another_language_words_messages_with_its_own_order_forms_and_figures() -> None:
    language = german()
    assert language.said(message("“{name}” is empty.", name="1,5.csv")) == "„1,5.csv“ ist leer."
    assert language.said(counted_message(1, "{n:,} row is empty.", "{n:,} rows are empty.")) == "1 Zeile ist leer."
    many = counted_message(12345, "{n:,} row is empty.", "{n:,} rows are empty.")
    assert language.said(many) == "12345 Zeilen sind leer."  # as this translation has no separators
    assert language.said(message("{size:.1f} MB stand in {where}.", size=2.5, where="x")) == "x: 2,5 MB."
    inner = message("Ask {service} again.", service=message("the practice service"))
    assert language.said(inner) == "der Übungsdienst noch einmal fragen."
    assert language.number(1234.5, ",.2f") == "1.234,50"
    assert [language.translated("Open", context) for context in ("", "state", "unknown")] == [
        "Öffnen",
        "Offen",
        "Öffnen",
    ]
    assert ENGLISH.said(inner) == "Ask the practice service again."


@pytest.mark.parametrize(
    ("stored", "worded"),
    [
        ("“a.csv” is empty.", "„a.csv“ ist leer."),
        ("1 row is empty.", "1 Zeile ist leer."),
        ("12,345 rows are empty.", "12.345 Zeilen sind leer."),
        ("2.5 MB stand in two places.", "two places: 2,5 MB."),
        ("Ask the practice service again.", "der Übungsdienst noch einmal fragen."),
        ("Open", "Öffnen"),
        ("What the service said itself.", "What the service said itself."),
        ("", ""),
    ],
)
def test_what_was_stored_in_english_is_recognised(stored: str, worded: str) -> None:
    assert german().said(stored) == worded


def test_the_language_is_the_systems_by_the_rules_of_gettext() -> None:
    assert language_of_system({"LANG": "de_AT.UTF-8"}) == "de"
    assert language_of_system({"LANG": "de_DE.UTF-8", "LC_ALL": "en_GB.UTF-8"}) == "en"
    assert language_of_system({"LANG": "fr_FR.UTF-8", "LANGUAGE": "eo:de:en"}) == "de"
    assert language_of_system({"LANG": "C.UTF-8", "LANGUAGE": "de"}) == ""
    assert language_of_system({"LANG": "fr_FR.UTF-8"}) == ""
    assert language_of_system({}) == ""
    assert language_of_system({}, ("fr-CA", "de-AT", "en")) == "de"
    assert language_of_system({}, ("en-US", "de-DE")) == "en", "the first one that there is"
    assert language_of_system({"LANG": "C.UTF-8"}, ("de-DE",)) == "" == language_of_system({}, ("", "ja"))


@pytest.fixture
def _english_afterwards() -> Iterator[None]:
    yield
    use_language(ENGLISH)


@pytest.mark.usefixtures("_english_afterwards")
def test_every_language_that_can_be_chosen_has_a_catalogue() -> None:
    for language in languages():
        loaded = load_language(language.code)
        assert (loaded.code, loaded.name) == (language.code, language.name)
        use_language(loaded)
        assert language_in_use() is loaded
    assert load_language("tlh") is ENGLISH
    use_language(german())
    assert said("Open") == "Öffnen"
