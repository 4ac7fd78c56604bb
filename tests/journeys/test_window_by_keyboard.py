"""The main way from the first start to an exported file, by the keyboard alone."""

import pytest

pytest.importorskip("PySide6")

from cfbatch_gui.core.inputs.file_rows import preview
from cfbatch_gui.core.inputs.recognise.recogniser import open_source
from cfbatch_gui.core.jobs.states import JobState
from tests.journeys.desktop import Desktop


def test_from_the_first_start_to_a_file_by_keys(desktop: Desktop) -> None:
    desktop.start_and_wait()
    desktop.press("Tab", "Tab", "Tab", "Tab")  # Find a job, Notices, Settings, Start with the example
    desktop.press("Return")
    desktop.until(lambda: desktop.is_in(JobState.DRAFT) and len(desktop.main_buttons()) == 2)
    desktop.press("ctrl+Return")
    desktop.until(lambda: desktop.is_in(JobState.DONE))
    desktop.until(lambda: any(top < 100 for _, top, _, _ in desktop.main_buttons()[1:]))
    window = desktop.wait_for_front()
    desktop.press("ctrl+e")
    desktop.until(lambda: len(desktop.main_buttons()) == 3)
    desktop.wait_for_front(other_than=window)
    desktop.press("shift+Tab", "Return")  # from the form that is proposed back to Save, the last in the dialog
    written = desktop.home / "Help centre ranking.xlsx"
    desktop.until(written.exists)
    assert desktop.close() == 0
    source = open_source(written)
    rows = preview(source, 200)
    assert len(rows) == 82
    assert {"question", "answer", "Rank"} <= set(source.columns)
    assert len(desktop.accepted()) == 1
