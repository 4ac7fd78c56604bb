"""Files that come with the program are found by name."""

import pytest

from cfbatch_gui.core.self_test import CONTENTS
from cfbatch_gui.core.system.resources import resource


def test_an_icon_is_found_in_a_checkout() -> None:
    assert resource("icons/plus.svg").read_text("utf-8").count("<svg") == 1


def test_a_missing_resource_is_named() -> None:
    with pytest.raises(FileNotFoundError, match=r"icons/no-such-icon\.svg"):
        resource("icons/no-such-icon.svg")


def test_the_list_of_files_has_every_file() -> None:
    """The self-test finds by it what a package has lost. A new file gets a line in it."""
    folder = resource(CONTENTS).parent
    there = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()} - {CONTENTS}
    assert resource(CONTENTS).read_text("utf-8").splitlines() == sorted(there)
