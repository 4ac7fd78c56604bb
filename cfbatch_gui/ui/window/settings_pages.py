"""The settings with their connections, and what leaves this computer: pages that come when they are first opened."""

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from cfbatch_gui.core.program import Program
from cfbatch_gui.core.system.made_once import is_made, made_once
from cfbatch_gui.ui.notices import Notices
from cfbatch_gui.ui.result_view import imported
from cfbatch_gui.ui.tables.table_view import Memory
from cfbatch_gui.ui.tasks import Tasks

if TYPE_CHECKING:
    from cfbatch_gui.ui.connections.connection_page import ConnectionPage
    from cfbatch_gui.ui.connections.traffic_page import TrafficPage
    from cfbatch_gui.ui.settings import SettingsPage

_MODULES = (
    "cfbatch_gui.ui.connections.connection_page",
    "cfbatch_gui.ui.settings",
    "cfbatch_gui.ui.connections.traffic_page",
)


class SettingsPages(QObject):
    """`changed`: a connection, or which one new jobs use; `state_shown`: its state was read; `done`: the user left."""

    changed = Signal()
    state_shown = Signal()
    done = Signal()
    account_wanted = Signal(str)  # the list of what is in the account behind a connection
    scheme_chosen = Signal(str)
    back_up_wanted = Signal()

    def __init__(
        self,
        program: Program,
        notices: Notices,
        tasks: Tasks,
        *,
        memory: Memory,
        show: Callable[[QWidget], None],
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._program, self._notices, self._tasks, self._memory, self._show = program, notices, tasks, memory, show

    @made_once
    def connection(self) -> "ConnectionPage":
        from cfbatch_gui.ui.connections.connection_page import ConnectionPage

        page = ConnectionPage(self._program, self._notices)
        page.changed.connect(self.changed)
        page.state_shown.connect(self.state_shown)
        page.account_wanted.connect(self.account_wanted)
        return page

    @made_once
    def page(self) -> "SettingsPage":
        from cfbatch_gui.ui.settings import SettingsPage

        page = SettingsPage(self._program, self.connection)
        page.done.connect(self.done)
        page.scheme_chosen.connect(self.scheme_chosen)
        page.traffic_wanted.connect(self.show_traffic)
        page.back_up_wanted.connect(self.back_up_wanted)
        return page

    @made_once
    def traffic(self) -> "TrafficPage":
        from cfbatch_gui.ui.connections.traffic_page import TrafficPage

        page = TrafficPage(self._program, self._notices, memory=self._memory)
        page.done.connect(lambda: self._show(self.page))
        return page

    def show_connections(self) -> None:
        self._once_made(self._show_connections)

    def show_traffic(self) -> None:
        self._once_made(lambda: self._show(self.traffic), "traffic")

    def paste_token(self) -> None:
        def show_and_paste() -> None:
            self._show_connections()
            self.connection.paste()

        self._once_made(show_and_paste)

    def paste_into(self, page: QWidget | None) -> bool:
        if not is_made(self, "page") or page is not self.page or not self.page.shows_connections():
            return False
        self.connection.paste()
        return True

    def refresh(self) -> None:
        if is_made(self, "connection") and self.connection.isVisible():
            self.connection.refresh()

    def has_failed(self) -> bool:
        return is_made(self, "connection") and self.connection.has_failed()

    def has_worked(self, connection_id: str) -> None:
        if is_made(self, "connection"):
            self.connection.has_worked(connection_id)

    async def close_work(self) -> None:
        for name in ("connection", "traffic"):
            if is_made(self, name):
                await getattr(self, name).tasks.close()

    def _show_connections(self) -> None:
        self.page.choose_connections()
        self._show(self.page)

    def _once_made(self, show: Callable[[], object], *more: str) -> None:
        names = ("connection", "page", *more)
        if is_made(self, *names):
            show()
            return

        async def make_and_show() -> None:
            await imported(*_MODULES)
            await self._program.prepare("connections")
            for name in names:  # each in a turn of the loop, so that the window answers in between
                getattr(self, name)
                await asyncio.sleep(0)
            show()

        self._tasks.start("open", make_and_show())
