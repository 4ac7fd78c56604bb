"""Window tests: every async test runs on the program's own loop, with the program's own theme.

Never `qtbot.wait…` in an async test: it spins Qt inside a task and hangs for good. Use `until`.
"""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

if sys.platform.startswith("linux"):
    # No window appears on the developer's desktop, the keyboard's focus is always where a test expects it, and no
    # window lies over those that tests/journeys drives on a real screen. Qt's own offscreen screen is too small.
    os.environ["QT_QPA_PLATFORM"] = f"offscreen:configfile={Path(__file__).parents[1] / 'data' / 'offscreen.json'}"
os.environ.setdefault("QT_API", "pyside6")

from keyring.backend import KeyringBackend
from PySide6.QtCore import QCoreApplication, QEvent, QTimer
from PySide6.QtWidgets import QApplication

from cfbatch_gui.ui.connections.connection_page import ConnectionPage
from cfbatch_gui.ui.memory import memory
from cfbatch_gui.ui.notices import Notices
from cfbatch_gui.ui.theme import Scheme, Theme
from cfbatch_gui.ui.window.loop import EventLoop
from tests.screen.stage import Stage, opened
from tests.support.keyrings import MemoryKeyring
from tests.ui.connections import opened_page
from tests.ui.job_page_driver import JobPageDriver, open_job_page


def _loop() -> asyncio.AbstractEventLoop:
    app = QApplication.instance() or QApplication(["cfbatch"])
    assert isinstance(app, QApplication)
    app.setQuitOnLastWindowClosed(False)
    return EventLoop(app)


def pytest_asyncio_loop_factories(
    config: pytest.Config, item: pytest.Item
) -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    return {"qt": _loop}


@pytest.fixture(scope="session", autouse=True)
def theme(qapp: QApplication) -> Iterator[Theme]:
    theme = Theme(Scheme.LIGHT)
    theme.apply(qapp)
    yield theme


@pytest.fixture(autouse=True)
def _no_leftovers(qapp: QApplication) -> Iterator[None]:
    """Delete the windows of each test: a change of the theme would style those of all earlier tests again.

    A page that was never shown is no window's child, and `deleteLater` waits for a loop that has ended by then.
    """
    yield
    for left in qapp.topLevelWidgets():
        left.deleteLater()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Stop the timers of the windows with the test's last step: pytest-qt then handles events while no loop runs."""
    try:
        yield
    finally:
        for window in QApplication.topLevelWidgets() if QApplication.instance() else []:
            for timer in window.findChildren(QTimer):
                timer.stop()


@pytest.fixture(autouse=True)
def _nothing_remembered() -> None:
    memory.open({})


@pytest.fixture
async def stage(tmp_path: Path, theme: Theme) -> AsyncIterator[Stage]:
    """The whole window over an empty data folder."""
    async with opened(tmp_path / "data", theme) as stage:
        yield stage


@pytest.fixture
async def driver(tmp_path: Path) -> AsyncIterator[JobPageDriver]:
    """A program with its job page on the screen."""
    async with open_job_page(tmp_path) as driver:
        yield driver


@pytest.fixture
def notices(qtbot: Any) -> Notices:
    notices = Notices()
    qtbot.addWidget(notices)
    return notices


@pytest.fixture
def backend() -> KeyringBackend:
    return MemoryKeyring()


@pytest.fixture
async def open_page(tmp_path: Path, backend: KeyringBackend) -> AsyncIterator[Callable[..., Awaitable[ConnectionPage]]]:
    """Opens the page of connections; what it takes is in `opened_page`."""
    async with AsyncExitStack() as stack:

        async def opening(url: str = "", **more: Any) -> ConnectionPage:
            more = {"backend": backend, **more}
            return await stack.enter_async_context(opened_page(tmp_path, url=url, **more))

        yield opening
