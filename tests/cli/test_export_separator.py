"""The default separator of CSV for Excel."""

import locale

import pytest

from cfbatch_gui.cli.export import list_separator


def test_a_semicolon_where_numbers_have_a_comma(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locale, "localeconv", lambda: {"decimal_point": ","})
    assert list_separator() == ";"


@pytest.mark.parametrize("name", ["C", "xx_NOWHERE"])
def test_a_comma_elsewhere_and_where_the_system_knows_nothing(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    before = locale.setlocale(locale.LC_NUMERIC)
    for variable in ("LC_ALL", "LC_NUMERIC", "LANG"):
        monkeypatch.setenv(variable, name)
    assert list_separator() == ","
    assert locale.setlocale(locale.LC_NUMERIC) == before, "as it was"
