"""The page with all network traffic: each host, its connection, the purpose, the number of calls and the sizes."""

import asyncio
from datetime import datetime
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeySequence, QShortcut, QShowEvent
from PySide6.QtWidgets import QWidget

from cfbatch_gui.core.errors import UserError
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.workers_ai.traffic import Entry, traffic
from cfbatch_gui.ui import display
from cfbatch_gui.ui.memory import Memory
from cfbatch_gui.ui.notices import Notices
from cfbatch_gui.ui.state_names import title_words
from cfbatch_gui.ui.tables.table_rows import Column, NumberColumn, Rows
from cfbatch_gui.ui.tables.table_view import TableView
from cfbatch_gui.ui.tasks import Tasks
from cfbatch_gui.ui.theme import LARGE, MEDIUM, SMALL, WIDE
from cfbatch_gui.ui.widgets import Button, Card, IconLine, PageHeader, Roomy, boxed, column


class TrafficPage(QWidget):
    """Reads the program's own log again whenever it is shown."""

    done = Signal()

    def __init__(self, program: Program, notices: Notices, *, memory: Memory | None = None) -> None:
        super().__init__()
        self._program, self._notices = program, notices
        self.tasks = Tasks(self, on_error=self._show_error)
        self.header = PageHeader(self.tr("What leaves this computer"))
        self.refresh_button = self.header.add_button(Button(self.tr("Refresh"), "refresh-cw"))
        self.refresh_button.clicked.connect(self.refresh)
        self.done_button = self.header.add_button(Button(self.tr("Done")))
        self.done_button.clicked.connect(self.done)
        leave = QShortcut(QKeySequence(Qt.Key.Key_Escape), self)
        leave.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        leave.activated.connect(self.done)
        self.rows: Rows[Entry] = Rows(
            self._columns(), key=lambda each: (each.host, each.connection, each.what), parent=self
        )
        self.table = TableView("traffic", memory=memory, inset=True)
        self.table.setAccessibleName(self.tr("What leaves this computer"))
        self.table.show_rows(self.rows)
        self._card = Card()
        self._card.body.setContentsMargins(SMALL, 4, SMALL, SMALL)
        self._card.body.addWidget(self.table)
        self.empty = IconLine("", "circle-check", "body", icon_role="done")
        self.note = IconLine(
            self.tr(
                "Sizes are those of what was sent and answered, without headers. Nothing else leaves: no usage figures,"
                " no search for updates. The practice service runs on this computer and is not listed here."
            )
        )
        content = column(self.empty, gap=MEDIUM, margins=(WIDE, SMALL, WIDE, LARGE))
        content.addWidget(self._card, 1)
        content.addStretch(0)
        content.addWidget(self.note)
        self.setLayout(column(self.header, Roomy(boxed(content)), gap=SMALL))
        self._show(())

    def refresh(self) -> None:
        self.tasks.start("read", self._read())

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if not event.spontaneous():
            self.refresh()

    async def _read(self) -> None:
        self._show(await asyncio.to_thread(traffic, self._program.paths.traffic))

    def _show(self, found: tuple[Entry, ...]) -> None:
        self.rows.set_rows(found)
        self._card.setVisible(bool(found))
        self.empty.set_line(self.tr("Nothing has left this computer."), "circle-check", "done")
        self.empty.setVisible(not found)
        if found:
            hosts = display.plural(len({each.host for each in found}), "{n} host", "{n} hosts")
            sent = self.tr("{size} sent").format(size=display.size(sum(each.sent for each in found)))
            received = self.tr("{size} received").format(size=display.size(sum(each.received for each in found)))
            self.header.set_facts(hosts, sent, received)
        else:
            self.header.set_facts(self.tr("from the program’s own log"))

    def _what_words(self, what: str) -> str:
        return {
            "submit": self.tr("Batches sent"),
            "run": self.tr("Requests run at once"),
            "ask": self.tr("Questions about batches"),
            "check": self.tr("Tests and lists of models"),
            "vectorize": self.tr("Vectors in Vectorize"),
            "account": self.tr("Batches in your account"),
            "setup": self.tr("Setting up your Worker"),
        }.get(what, what)

    def _columns(self) -> tuple[Column[Entry], ...]:
        moment: dict[str, Any] = {"width": 112, "gives_way": True, "copies_text": True}
        return (
            Column(self.tr("Host"), lambda each: each.host, key="host", stretch=True),
            Column(
                self.tr("Connection"),
                lambda each: title_words(self._program.address_book.title(each.connection)),
                key="connection",
                width=124,
                gives_way=True,
            ),
            Column(self.tr("What"), lambda each: self._what_words(each.what), key="what", width=176),
            NumberColumn(self.tr("Times"), lambda each: each.count, key="times", width=70, gives_way=True),
            NumberColumn(self.tr("Sent"), lambda each: each.sent, display.size, key="sent", width=84),
            NumberColumn(self.tr("Received"), lambda each: each.received, display.size, key="received", width=90),
            Column(self.tr("First"), lambda each: each.time, _moment, key="first", **moment),
            Column(self.tr("Last"), lambda each: each.until, _moment, key="last", **moment),
        )

    def _show_error(self, error: UserError) -> None:
        self._notices.show_error(error)


def _moment(seconds: float) -> str:
    moment = datetime.fromtimestamp(seconds).astimezone()
    is_this_year = moment.year == datetime.now().astimezone().year
    return f"{moment.day} {moment:%b %H:%M}" if is_this_year else f"{moment.day} {moment:%b %Y}"
