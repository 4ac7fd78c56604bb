"""Files dragged with the mouse from the window of another program."""

from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("PySide6")

from cfbatch_gui.core.system.paths import resource
from tests.journeys import dragging
from tests.journeys.desktop import Desktop

HANDLE = (30, 600)  # over the sidebar, where nothing stands
PAGE = (720, 400)
NAMES = ("help-centre-ranking.csv", "product-texts.csv")


def drag_to_the_page(desktop: Desktop, said: Path, *files: Path) -> None:
    """Take hold of the files in the other window, and let go of them over the page."""

    def has_said(words: str) -> Callable[[], bool]:
        return lambda: words in said.read_text("utf-8")

    def is_taken() -> bool:
        for step in (0, 1):  # only a mouse that moves is noticed
            desktop.move(PAGE[0] + step, PAGE[1])
        return has_said("over CopyAction")()

    with said.open("w", encoding="utf-8") as out:
        desktop.start_other("tests.journeys.dragging", *HANDLE, *files, out=out)
        desktop.until(has_said("ready"))
        middle = dragging.SIZE // 2
        desktop.move(HANDLE[0] + middle, HANDLE[1] + middle)
        desktop.press_mouse()
        desktop.until(is_taken)
        desktop.release_mouse()
        desktop.until(has_said("dropped"))
    assert "dropped CopyAction" in said.read_text("utf-8"), "nobody may think that the files have moved"


def test_a_file_dropped_on_the_first_page_and_another_on_its_draft(desktop: Desktop, tmp_path: Path) -> None:
    ranking, texts = (tmp_path / name for name in NAMES)
    for path in (ranking, texts):
        path.write_bytes(resource(f"examples/{path.name}").read_bytes())
    desktop.start_and_wait()
    drag_to_the_page(desktop, tmp_path / "first.txt", ranking)
    desktop.until(lambda: (job := desktop.job()) is not None and job.texts == 82)
    drag_to_the_page(desktop, tmp_path / "second.txt", texts)
    desktop.until(lambda: (job := desktop.job("Product texts")) is not None and job.texts == 60)
    assert ranking.exists() and texts.exists()
    assert desktop.close() == 0
