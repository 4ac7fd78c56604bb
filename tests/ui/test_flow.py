"""The layout that wraps lines, where there is hardly any room."""

from typing import Any

import pytest
from PySide6.QtWidgets import QLabel

from cfbatch_gui.ui.widgets import Flow, boxed


@pytest.mark.parametrize("width", [-500, -1, 0, 1])
def test_without_room_each_widget_has_a_line_of_its_own(qtbot: Any, width: int) -> None:
    labels = QLabel("Finished"), QLabel("12 queries"), QLabel("82 contexts")
    flow = Flow(*labels, gap=4)
    owner = boxed(flow)
    qtbot.addWidget(owner)
    assert flow.heightForWidth(width) == sum(label.sizeHint().height() for label in labels) + 2 * 4
