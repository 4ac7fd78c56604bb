"""Figures of the window in another language than English."""

from collections.abc import Iterator

import pytest

from cfbatch_gui.core.system.languages import ENGLISH, load_language, use_language
from cfbatch_gui.ui import display
from cfbatch_gui.ui.evaluation.comparison_tabs import signed
from cfbatch_gui.ui.inputs.check_section import count_range, share_of_day
from cfbatch_gui.ui.plots.plot import labels


@pytest.fixture
def german() -> Iterator[None]:
    use_language(load_language("de"))
    yield
    use_language(ENGLISH)


@pytest.mark.usefixtures("german")
def test_decimals_and_thousands_have_the_signs_of_the_language() -> None:
    assert display.number(3816) == "3.816"
    assert display.score_text(-0.0028) == "-0,0028"
    assert display.figures("0.4939–1,000.5") == "0,4939–1.000,5"
    assert signed(-0.0741) == "−0,074"
    assert count_range(1_969, 3_067) == "2,0–3,1 k"
    assert labels((0.0, 0.25, 0.5)) == ("0", "0,25", "0,5")


def test_english_has_a_point() -> None:
    assert display.score_text(0.6812) == "0.6812"
    assert share_of_day(0.036).startswith("3.6 %")
