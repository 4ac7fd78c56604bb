"""A file that was just written, dragged with the mouse to the window of another program."""

from pathlib import Path

import pytest

pytest.importorskip("PySide6")

import numpy as np
from PySide6.QtCore import QPoint, QUrl
from PySide6.QtGui import QColor, QImage

from cfbatch_gui.core.jobs.states import JobState
from cfbatch_gui.ui.theme import LIGHT
from tests.journeys import dropping
from tests.journeys.desktop import Desktop

SEND, EXPORT, SAVE = -1, 1, -1  # among the main buttons of a page or a dialog; "New job" is the first
FOLDER = (30, 560)  # over the sidebar, where nothing stands
_SENTENCE = 60  # pixels from the left edge of a notice


def notice(desktop: Desktop) -> QPoint | None:
    """A place in the sentence of the notice that something is done, found by its colour."""
    picture = desktop.picture().convertToFormat(QImage.Format.Format_RGB32)
    lines = np.frombuffer(picture.constBits(), np.uint32).reshape(picture.height(), picture.width())
    rows, columns = np.nonzero((lines ^ QColor(LIGHT.done_back).rgb()) & 0xFFFFFF == 0)
    if len(rows) < 1_000:
        return None
    return QPoint(int(columns.min()) + _SENTENCE, int(rows.min() + rows.max()) // 2)


def test_an_exported_file_is_dragged_by_its_notice(desktop: Desktop, tmp_path: Path) -> None:
    desktop.start_and_wait("--example")
    desktop.until(lambda: desktop.is_in(JobState.DRAFT) and len(desktop.main_buttons()) == 2)
    desktop.click_main_button(SEND)
    desktop.until(lambda: desktop.is_in(JobState.DONE))
    desktop.until(lambda: any(top < 100 for _, top, _, _ in desktop.main_buttons()[EXPORT:]))
    desktop.click_main_button(EXPORT)
    desktop.until(lambda: len(desktop.main_buttons()) == 3)
    desktop.click_main_button(SAVE)
    written = desktop.home / "Help centre ranking.xlsx"
    desktop.until(written.exists)
    desktop.until(lambda: notice(desktop) is not None)
    said = tmp_path / "said.txt"
    with said.open("w", encoding="utf-8") as out:
        desktop.start_other("tests.journeys.dropping", *FOLDER, out=out)
        desktop.until(lambda: "ready" in said.read_text("utf-8"))
        place = notice(desktop)
        assert place is not None
        desktop.move(place.x(), place.y())
        desktop.press_mouse()
        middle = dropping.SIZE // 2

        def is_taken() -> bool:
            for step in (12, 24):  # only a mouse that moves is noticed
                desktop.move(place.x() - step, place.y())
            for step in (0, 1):
                desktop.move(FOLDER[0] + middle + step, FOLDER[1] + middle)
            return "over CopyAction" in said.read_text("utf-8")

        desktop.until(is_taken)
        desktop.release_mouse()
        desktop.until(lambda: "dropped" in said.read_text("utf-8"))
    address = QUrl.fromLocalFile(str(written)).toString()
    assert f"dropped CopyAction {address}" in said.read_text("utf-8")
    assert written.exists(), "a copy, whatever the other program does with it"
    assert desktop.close() == 0
