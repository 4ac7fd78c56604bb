"""The window from outside: a process of its own, the mouse and the keyboard of a screen, and files."""

from pathlib import Path

import pytest

pytest.importorskip("PySide6")


from cfbatch_gui.core.jobs.states import JobState
from tests.journeys.desktop import Desktop
from tests.journeys.terminal import Terminal, read_workbook

SEND, EXPORT, SAVE = -1, 1, -1  # among the main buttons of a page or a dialog; "New job" is the first


def until_finished(desktop: Desktop) -> None:
    desktop.until(lambda: desktop.is_in(JobState.DONE))
    desktop.until(lambda: any(top < 100 for _, top, _, _ in desktop.main_buttons()[EXPORT:]))


def test_by_mouse_from_the_example_to_a_file(desktop: Desktop, tmp_path: Path) -> None:
    desktop.start_example()
    desktop.click_main_button(SEND)
    until_finished(desktop)
    desktop.click_main_button(EXPORT)
    desktop.until(lambda: len(desktop.main_buttons()) == 3)
    desktop.click_main_button(SAVE)
    written = desktop.home / "Help centre ranking.xlsx"
    desktop.until(written.exists)
    assert desktop.close() == 0
    rows = read_workbook(written)
    assert len(rows) == 82
    assert (rows[0]["question"], rows[0]["sku"], rows[0]["Rank"]) == ("how do I reset my password", "A-0113", 1)
    again = tmp_path / "again.xlsx"
    assert Terminal(desktop.data).run("export", "Help centre ranking", "--out", again).status == 0
    assert rows == read_workbook(again)
    assert len(desktop.accepted()) == 1
