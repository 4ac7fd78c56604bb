"""A failure that nobody expected is said, on the screen and on standard error, and no token with it."""

import logging
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest
from PySide6.QtCore import Qt, QTimer, qWarning
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QLabel, QPushButton

from cfbatch_gui.core.errors import ServiceRefused
from cfbatch_gui.ui.dialogs import Dialog
from cfbatch_gui.ui.notices import Notices
from cfbatch_gui.ui.window.app import STATUS, CrashHandler, Start, open_window
from tests.canary import CORE, OLD_TOKEN, OTHER_TOKEN, TOKEN


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
    box = next((each for each in QApplication.topLevelWidgets() if isinstance(each, Dialog)), None)
    if box is None or not box.isVisible():
        QTimer.singleShot(10, lambda: press(seen))
        return
    buttons = {button.text(): button for button in box.findChildren(QPushButton)}
    buttons["Copy details"].click()
    seen += [box.findChildren(QLabel)[0].text(), QGuiApplication.clipboard().text()]
    buttons["Close"].click()


@pytest.fixture
def notices(notices: Notices) -> Iterator[Notices]:
    handler = CrashHandler()
    handler.crashed.connect(notices.show_crash)
    with handler.installed():
        yield notices


def copied(qtbot: Any, notices: Notices) -> str:
    (bar,) = notices.bars()
    (link,) = [link for link in bar.links() if link.text() == "Copy details"]
    qtbot.mouseClick(link, Qt.MouseButton.LeftButton)
    return QGuiApplication.clipboard().text()


@pytest.mark.parametrize("token", [TOKEN, OTHER_TOKEN, OLD_TOKEN], ids=["user", "account", "old"])
def test_a_bug_about_a_token_is_copied_without_it(qtbot: Any, notices: Notices, token: str) -> None:
    def fail(text: str) -> None:
        raise ValueError(f"Illegal header value {f'Bearer {text}'.encode()!r}, {text!r}")

    try:
        fail(token)
    except ValueError as error:
        sys.excepthook(ValueError, error, error.__traceback__)
    text = copied(qtbot, notices)
    assert "in fail" in text and "Illegal header value" in text
    assert CORE not in text


def test_a_bug_in_a_thread_is_shown(qtbot: Any, notices: Notices) -> None:
    thread = threading.Thread(target=lambda: 1 / 0, name="worker")
    thread.start()
    thread.join()
    qtbot.waitUntil(lambda: bool(notices.bars()))
    text = copied(qtbot, notices)
    assert "ZeroDivisionError" in text and "thread worker" in text


@pytest.mark.no_qt_log
@pytest.mark.usefixtures("notices")
def test_qts_messages_go_to_the_log(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, logger="qt"):
        qWarning("something odd")
    assert "something odd" in caplog.text


def test_details_of_a_refusal_are_copied_without_a_token(qtbot: Any, notices: Notices) -> None:
    notices.show_error(ServiceRefused("Cloudflare refused the request.", detail=f"6003: no such token: {TOKEN}"))
    text = copied(qtbot, notices)
    assert text.endswith("6003: no such token: [redacted]")
