"""A failure before there is a window is said, on the screen and on standard error."""

import sys
from pathlib import Path
from typing import Any, cast

import pytest
from PySide6.QtCore import QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QMessageBox

from cfbatch_gui.ui.window.app import Start, open_window
from cfbatch_gui.ui.window.failed_start import STATUS
from tests.canary import TOKEN


class Unreadable:
    """A path that fails in a way nobody expects, with a token in what it says."""

    def __truediv__(self, name: str) -> Path:
        raise ValueError(f"no such thing as {name}, Bearer {TOKEN}")


def test_a_failure_before_the_window_is_shown_and_written(
    qapp: QApplication, capsys: pytest.CaptureFixture[str]
) -> None:
    seen: list[str] = []
    QTimer.singleShot(0, qapp, lambda: press(seen))
    assert open_window(Start(root=cast("Path", Unreadable())), {}) == STATUS
    assert "could not start" in seen[0] and "Your jobs are safe." in seen[0]
    assert "Traceback" in seen[1] and "no such thing as" in seen[1]
    said = capsys.readouterr().err
    assert said.startswith("CF Batch could not start") and said.count("\n") == 1
    assert TOKEN not in said + "".join(seen)


def press(seen: list[str]) -> None:
    """Copy the details, then close; again a moment later while there is no dialog yet."""
    box = next((each for each in QApplication.topLevelWidgets() if isinstance(each, QMessageBox)), None)
    if box is None or not box.isVisible():
        QTimer.singleShot(10, lambda: press(seen))
        return
    buttons: dict[str, Any] = {button.text(): button for button in box.buttons()}
    buttons["Copy details"].click()
    seen += [box.text(), QGuiApplication.clipboard().text()]
    buttons["Close"].click()


def test_a_data_folder_that_is_a_file_is_said(tmp_path: Path, qapp: QApplication) -> None:
    (tmp_path / "data").write_text("a file")
    seen: list[str] = []
    QTimer.singleShot(0, qapp, lambda: close(seen))
    assert open_window(Start(root=tmp_path / "data"), {}) in (2, STATUS)
    assert seen and seen[0].endswith(".")


def close(seen: list[str]) -> None:
    box = next((each for each in QApplication.topLevelWidgets() if isinstance(each, QMessageBox)), None)
    if box is None or not box.isVisible():
        QTimer.singleShot(10, lambda: close(seen))
        return
    seen.append(box.text())
    box.done(0)


def test_without_standard_error_it_is_shown_all_the_same(qapp: QApplication, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", None)
    seen: list[str] = []
    QTimer.singleShot(0, qapp, lambda: close(seen))
    assert open_window(Start(root=cast("Path", Unreadable())), {}) == STATUS
    assert seen
