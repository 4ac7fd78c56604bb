"""What a person copies to send it to somebody holds no token, whatever went wrong."""

import sys
from collections.abc import Iterator
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication

from cfbatch_gui.core.errors import ServiceRefused
from cfbatch_gui.ui.notices import Notices
from cfbatch_gui.ui.window.app import CrashHandler
from tests.canary import CORE, OLD_TOKEN, OTHER_TOKEN, TOKEN


@pytest.fixture
def notices(qtbot: Any) -> Iterator[Notices]:
    shown = Notices()
    qtbot.addWidget(shown)
    handler = CrashHandler("9")
    handler.crashed.connect(shown.show_crash)
    handler.install()
    yield shown
    handler.uninstall()


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


def test_details_of_a_refusal_are_copied_without_a_token(qtbot: Any, notices: Notices) -> None:
    notices.show_error(ServiceRefused("Cloudflare refused the request.", detail=f"6003: no such token: {TOKEN}"))
    text = copied(qtbot, notices)
    assert text.endswith("6003: no such token: [redacted]")
