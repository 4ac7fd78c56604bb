import copy
import io
import pickle
from gettext import GNUTranslations

from babel.messages.catalog import Catalog as Source
from babel.messages.mofile import write_mo

from cfbatch_gui.core.messages import Message, literal, message, sentences
from cfbatch_gui.words.languages import (
    ENGLISH,
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
    for code, translation in GERMAN.items():
        one, many = sentences()[code]
        source.add((one, many) if many else one, translation)
    stream = io.BytesIO()
    write_mo(stream, source)
    stream.seek(0)
    return Language("de", "Deutsch", ",", ".", catalogue=GNUTranslations(stream))


GERMAN: dict[str, str | tuple[str, ...]] = {
    "quoted_name": "„{name}“",
    "n_rows_are_hidden_file": ("{n} verborgene Zeile", "{n} verborgene Zeilen"),
    "text_alone_is_larger_than_batch": "Größer als eine Lieferung: {size} MB.",
    "over_budget": "über dem Budget",
    "second_file_reason": "{reason} (zweite Datei)",
}


def test_a_message_is_its_english_text_and_keeps_its_parts() -> None:
    name, rows = message("quoted_name", name="a{b}.csv"), message("n_rows_are_hidden_file", n=3816)
    one, many = sentences()["n_rows_are_hidden_file"]
    assert (name, rows) == ("“a{b}.csv”", many.format(n=3816))
    assert rows.filled(n=1) == one.format(n=1)
    assert literal("Braces {as they stand}") == "Braces {as they stand}"
    for same in (pickle.loads(pickle.dumps(rows)), copy.copy(rows), copy.deepcopy(rows)):
        assert isinstance(same, Message)
        assert (same, same.code, dict(same.parameters)) == (rows, rows.code, {"n": 3816})


def test_another_language_words_messages_with_its_own_order_forms_and_figures() -> None:
    language = german()
    assert language.said(message("quoted_name", name="1,5.csv")) == "„1,5.csv“"
    assert language.said(message("n_rows_are_hidden_file", n=1)) == "1 verborgene Zeile"
    many = message("n_rows_are_hidden_file", n=12345)
    assert language.said(many) == "12345 verborgene Zeilen"  # as this translation has no separators
    assert language.said(message("text_alone_is_larger_than_batch", size=2.5)) == "Größer als eine Lieferung: 2,5 MB."
    inner = message("second_file_reason", reason=message("over_budget"))
    assert language.said(inner) == "über dem Budget (zweite Datei)"
    assert language.said("the service's own words") == "the service's own words"
    assert language.said(literal("Open")) == "Öffnen"
    assert language.number(1234.5, ",.2f") == "1.234,50"
    assert [language.translated("Open", context) for context in ("", "state", "unknown")] == [
        "Öffnen",
        "Offen",
        "Öffnen",
    ]
    assert ENGLISH.said(inner) == inner


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


def test_every_language_that_can_be_chosen_has_a_catalogue() -> None:
    try:
        for language in languages():
            loaded = load_language(language.code)
            assert (loaded.code, loaded.name) == (language.code, language.name)
            use_language(loaded)
            assert language_in_use() is loaded
        assert load_language("tlh") is ENGLISH
        use_language(german())
        assert said(literal("Open")) == "Öffnen"
    finally:
        use_language(ENGLISH)
