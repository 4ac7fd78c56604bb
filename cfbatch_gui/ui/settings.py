"""The page Settings: connections, the window, what may be spent, where data is; and what leaves this computer."""

import asyncio
from typing import Any

from PySide6.QtCore import Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices, QKeySequence, QShortcut, QShowEvent
from PySide6.QtWidgets import QStackedWidget, QWidget

from cfbatch_gui.core.program import Program
from cfbatch_gui.core.workers_ai.transport import Exchange, traffic
from cfbatch_gui.ui import widgets
from cfbatch_gui.ui.budget import BudgetFields
from cfbatch_gui.ui.notices import Notices
from cfbatch_gui.ui.tables.table_rows import Column, NumberColumn, Rows
from cfbatch_gui.ui.tables.table_view import TableView
from cfbatch_gui.ui.tasks import Tasks
from cfbatch_gui.ui.theme import LARGE, MEDIUM, SMALL, TINY, WIDE, scheme_words
from cfbatch_gui.ui.widgets import Button, Card, CheckBox, Choice, IconLine, Label, LinkButton, boxed, column, row
from cfbatch_gui.words import figures
from cfbatch_gui.words.languages import languages, tr
from cfbatch_gui.words.states import title_words

CONNECTIONS, WINDOW, SPENDING, DATA = "connections", "window", "spending", "data"


class _Leavable(QWidget):
    """A page that the button Done and Escape leave."""

    done = Signal()

    def __init__(self, title: str) -> None:
        super().__init__()
        self.header = widgets.PageHeader(title)
        self.done_button = Button(tr("Done"), on_click=self.done.emit)
        leave = QShortcut(QKeySequence(Qt.Key.Key_Escape), self)
        leave.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        leave.activated.connect(self.done)


class SettingsPage(_Leavable):
    """A change is saved at once. What its links and buttons lead to is the window's."""

    def __init__(self, program: Program, connections: QWidget) -> None:
        super().__init__(tr("Settings"))
        self._program = program
        self._language_of_window = self._program.settings.language
        self.header.add_button(self.done_button)
        self.tabs = widgets.Tabs()
        stack = QStackedWidget()
        self.boxes: dict[str, CheckBox] = {}  # by the names of their settings
        for key, title, page in (
            (CONNECTIONS, tr("Connections"), connections),
            (WINDOW, tr("Window"), self._window_page()),
            (SPENDING, tr("Spending"), self._spending_page()),
            (DATA, tr("Data and privacy"), self._data_page()),
        ):
            self.tabs.add(key, title)
            stack.addWidget(page)
        self.tabs.currentChanged.connect(stack.setCurrentIndex)
        self.setLayout(column(self.header, self.tabs, (stack, 1), gap=TINY))

    def shows_connections(self) -> bool:
        return self.tabs.current() == CONNECTIONS

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        settings = self._program.settings
        self.scheme.set_value(settings.theme)
        self.language.set_value(settings.language)
        self.budget.show_budget(settings.budget)
        for name, box in self.boxes.items():
            box.setChecked(getattr(settings, name))
        self.forget_folders.setEnabled(bool(settings.folders or settings.last_folder))

    def _tick(self, setting: str, text: str, about: str = "") -> QWidget:
        box = self.boxes[setting] = CheckBox(text)
        box.clicked.connect(lambda on: self._program.change_settings(**{setting: on}))
        return boxed(column(box, *([Label(about, "small", wrap=True)] if about else [])))

    def _window_page(self) -> QWidget:
        schemes = [(words, scheme) for scheme, words in scheme_words().items()]
        self.scheme = Choice(tr("Appearance"), schemes)
        names = [(tr("Match system"), ""), *((language.name, language.code) for language in languages())]
        self.language = Choice(tr("Language"), names, self._choose_language)
        changes = Label(tr("The language changes when the window opens again. Jobs go on."), "quiet", wrap=True)
        self.again_button = Button(tr("Open it again now"), "refresh-cw")
        self._changes = boxed(row((changes, 1), self.again_button, gap=WIDE))
        self._changes.hide()
        notices = tr("Tell me on the desktop when a job is finished or needs me")
        waits = tr("Practice jobs take some seconds, as real ones take minutes")
        about_waiting = tr("Otherwise they are done at once. A change holds from the next start.")
        about_developers = tr(
            "Code that does the same, request IDs, checksums, your own Worker and the AI Gateway, with the pages and"
            " the entries of menus that belong to them."
        )
        return _page(
            Card(row(Label(tr("Appearance"), "part"), None, self.scheme, gap=WIDE)),
            Card(row(Label(tr("Language"), "part"), None, self.language, gap=WIDE), self._changes),
            _card(tr("Notices"), self._tick("system_notices", notices)),
            _card(tr("Practice service"), self._tick("practice_waits", waits, about_waiting)),
            _card(
                tr("For developers"), self._tick("for_developers", tr("Show what developers need"), about_developers)
            ),
        )

    def _choose_language(self, code: str) -> None:
        self._program.change_settings(language=code)
        self._changes.setVisible(code != self._language_of_window)

    def _spending_page(self) -> QWidget:
        self.budget = BudgetFields()
        self.budget.budget_chosen.connect(lambda budget: self._program.change_settings(budget=budget))
        about = tr(
            "Nothing is forbidden: above these amounts the program asks once more before it sends. The terminal program"
            " keeps to them too. A day is a day of UTC, as Cloudflare counts."
        )
        return _page(_card(tr("Ask before spending more than"), self.budget, Label(about, "small", wrap=True)))

    def _data_page(self) -> QWidget:
        folder = str(self._program.paths.root)
        address = QUrl.fromLocalFile(folder)
        show = LinkButton(tr("Show folder"), on_click=lambda: QDesktopServices.openUrl(address))
        begins = tr("A dialog for files begins in the folder that was last used for files of that kind.")
        self.forget_folders = LinkButton(tr("Forget these folders"), on_click=self._forget_folders)
        goes = tr(
            "Texts go to the connection of their job when you send it, and nowhere else. The program counts nothing and"
            " looks for no updates."
        )
        forget = tr("Remove the texts of a finished job once all of it was exported")
        stays = tr(
            "Scores, ranks, vectors and ids stay; each text is shown by its id or the number of its row. The job cannot"
            " be sent again after that."
        )
        self.back_up_link = LinkButton(tr("Back up all jobs…"), "archive")
        self.traffic_link = LinkButton(tr("What leaves this computer"), "activity")
        return _page(
            _card(
                tr("Where jobs are kept"),
                row((widgets.ElidedLabel(folder, "quiet"), 1), MEDIUM, show),
                Label(begins, "small", wrap=True),
                row(self.forget_folders, None),
                row(self.back_up_link, None),
            ),
            _card(
                tr("Privacy"),
                Label(goes, "quiet", wrap=True),
                self._tick("forget_after_export", forget, stays),
                row(self.traffic_link, None),
            ),
        )

    def _forget_folders(self) -> None:
        self._program.change_settings(folders={}, last_folder="")
        self.forget_folders.setEnabled(False)


def _card(title: str, *items: widgets.Item) -> Card:
    return Card(Label(title, "part"), *items)


def _page(*cards: QWidget) -> QWidget:
    return boxed(column(widgets.scrolled(boxed(column(*cards, None, gap=MEDIUM, margins=widgets.PAGE_MARGINS)))))


class TrafficPage(_Leavable):
    """Reads the program's own log again whenever it is shown."""

    def __init__(self, program: Program, notices: Notices) -> None:
        title = tr("What leaves this computer")
        super().__init__(title)
        self._program = program
        self.tasks = Tasks(self, on_error=notices.show_error)
        self.refresh_button = self.header.add_button(Button(tr("Refresh"), "refresh-cw", self.refresh))
        self.header.add_button(self.done_button)
        self.rows: Rows[Exchange] = Rows(
            self._columns(), key=lambda each: (each.host, each.connection, each.what), parent=self
        )
        self.table = TableView("traffic", title, self.rows, inset=True)
        self._card = Card(self.table, margins=(SMALL, 4, SMALL, SMALL))
        self.empty = IconLine(tr("Nothing has left this computer."), "circle-check", "body", icon_role="done")
        self.note = IconLine(
            tr(
                "Sizes are those of what was sent and answered, without headers. Nothing else leaves: no usage figures,"
                " no search for updates. The practice service runs on this computer and is not listed here."
            )
        )
        content = column(self.empty, (self._card, 1), self.note, gap=MEDIUM, margins=(WIDE, SMALL, WIDE, LARGE))
        content.insertStretch(2, 0)
        self.setLayout(column(self.header, widgets.Roomy(boxed(content)), gap=SMALL))
        self._show(())

    def refresh(self) -> None:
        self.tasks.start("read", self._read())

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if not event.spontaneous():
            self.refresh()

    async def _read(self) -> None:
        self._show(await asyncio.to_thread(traffic, self._program.paths.traffic))

    def _show(self, found: tuple[Exchange, ...]) -> None:
        self.rows.set_rows(found)
        self._card.setVisible(bool(found))
        self.empty.setVisible(not found)
        if found:
            hosts = figures.plural(len({each.host for each in found}), "{n} host", "{n} hosts")
            sent = figures.worded("{size} sent", size=figures.size(sum(each.sent for each in found)))
            received = figures.worded("{size} received", size=figures.size(sum(each.received for each in found)))
            self.header.set_facts(hosts, sent, received)
        else:
            self.header.set_facts(tr("from the program’s own log"))

    def _what_words(self, what: str) -> str:
        return {
            "submit": tr("Batches sent"),
            "run": tr("Requests run at once"),
            "ask": tr("Questions about batches"),
            "check": tr("Tests and lists of models"),
            "vectorize": tr("Vectors in Vectorize"),
            "account": tr("Batches in your account"),
            "setup": tr("Setting up your Worker"),
        }.get(what, what)

    def _columns(self) -> tuple[Column[Exchange], ...]:
        moment: dict[str, Any] = {"width": 166, "gives_way": True, "copies_text": True}
        return (
            Column(tr("Host"), lambda each: each.host, stretch=True),
            Column(
                tr("Connection"),
                lambda each: title_words(self._program.address_book.title(each.connection)),
                width=124,
                gives_way=True,
            ),
            Column(tr("What"), lambda each: self._what_words(each.what), width=176),
            NumberColumn(tr("Times"), lambda each: each.count, width=70, gives_way=True),
            NumberColumn(tr("Sent"), lambda each: each.sent, figures.size, width=84),
            NumberColumn(tr("Received"), lambda each: each.received, figures.size, width=90),
            Column(tr("First"), lambda each: each.time, figures.moment, **moment),
            Column(tr("Last"), lambda each: each.until, figures.moment, **moment),
        )
