"""Every page and dialog: no word is cut, covered or out of sight, in the smallest window and where it is hardest.

`make sheets` goes through all combinations of look and size, and saves what they look like.
"""

from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication, QDialog, QMenu, QWidget

from cfbatch_gui.ui.theme import Theme
from tests.screen.fits import faults, reaches
from tests.screen.look import Language, Look, put_on
from tests.screen.stage import Stage
from tests.screen.tour import Past, Tour, settled
from tests.support.faulty_service import ThreadedService

HARDEST = (
    (Look(Language.GERMAN), (800, 500)),
    (Look(Language.PSEUDO, doubled=True), (1024, 640)),
    (Look(Language.RIGHT_TO_LEFT), (960, 540)),  # 1920×1080 at 200 %
)


@pytest.mark.parametrize(("look", "size"), HARDEST, ids=str)
async def test_all_words_have_their_room(
    tmp_path: Path, qapp: QApplication, theme: Theme, look: Look, size: tuple[int, int]
) -> None:
    found: dict[str, str] = {}
    stops = set()

    async def visit(stage: Stage, name: str, window: QWidget) -> None:
        stops.add(name)
        main = stage.workspace.window
        if isinstance(window, QDialog):
            window.resize(window.size().boundedTo(main.size()))
            await settled(stage)
        for fault in faults(window, may_scroll_sideways=look.may_scroll_sideways(size[0])):
            found.setdefault(fault, name)
        assert main.size().toTuple() == size
        assert reaches(main.library.foot, main)
        if not isinstance(window, QDialog | QMenu):
            for button in (stage.workspace._draft.check.send_button, stage.workspace._job.export_button):
                assert not button.isVisible() or reaches(button, main), name

    with ThreadedService(tmp_path / "service").opened() as service:
        past = Past(tmp_path / "past", service)
        await past.make()
        with put_on(look, qapp, theme):
            async with past.opened(theme) as stage:
                stage.workspace.window.resize(*size)
                await Tour(stage, past, visit).go()
    assert found == {}
    assert len(stops) >= 55
