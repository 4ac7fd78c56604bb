"""Files that come with the program are found by name."""

import pytest

from cfbatch_gui.core.system.resources import resource


def test_an_icon_is_found_in_a_checkout() -> None:
    assert resource("icons/plus.svg").read_text("utf-8").count("<svg") == 1


def test_a_missing_resource_is_named() -> None:
    with pytest.raises(FileNotFoundError, match=r"icons/no-such-icon\.svg"):
        resource("icons/no-such-icon.svg")
