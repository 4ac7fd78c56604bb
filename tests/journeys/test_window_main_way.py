"""The window from outside: a process of its own, the mouse and the keyboard of a screen, and files."""

import pytest

pytest.importorskip("PySide6")

from cfbatch_gui.core.connections.address_book import PRACTICE_SECONDS_VARIABLE
from cfbatch_gui.core.jobs.states import JobState
from tests.journeys.desktop import Desktop

SEND, EXPORT, SAVE = -1, 1, -1  # among the main buttons of a page or a dialog; "New job" is the first


def test_closed_and_killed_in_the_middle_it_goes_on_and_sends_nothing_twice(desktop: Desktop) -> None:
    desktop.environ[PRACTICE_SECONDS_VARIABLE] = ""  # a batch is to be under way
    desktop.start_and_wait("--example")
    desktop.until(lambda: desktop.is_in(JobState.DRAFT) and len(desktop.main_buttons()) == 2)
    desktop.press("ctrl+Return")
    desktop.until(desktop.accepted)
    assert desktop.close() == 0
    assert not desktop.is_in(JobState.DONE)
    desktop.start_and_wait()
    desktop.kill()
    desktop.start_and_wait()
    desktop.until(lambda: desktop.is_in(JobState.DONE))
    assert len(desktop.accepted()) == 1
    assert desktop.close() == 0
