"""The sidebar: the button for a new job, the search field, the jobs in groups, the connection in use."""

import time
from collections.abc import Callable, Sequence
from typing import Literal

from PySide6.QtCore import QPoint, Qt, QTimer, Signal
from PySide6.QtWidgets import QFrame, QMenu

from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.ui.job_actions import JobActions
from cfbatch_gui.ui.jobs.library_list import ENTRY_ROLE, GroupEntry, JobList, LibraryRows
from cfbatch_gui.ui.theme import LEAST_SIDEBAR, MEDIUM, SMALL
from cfbatch_gui.ui.widgets import (
    Clickable,
    ElidedLabel,
    IconButton,
    IconLabel,
    Label,
    LinkButton,
    PrimaryButton,
    SearchField,
    column,
    row,
)

_AGES_EVERY = 20_000  # milliseconds between repaints, which update the ages

ConnectionState = Literal["none", "practice", "ready", "refused", "locked", "waiting"]
_CONNECTION_ICONS: dict[ConnectionState, tuple[str, str]] = {
    "none": ("circle-dashed", "quiet"),
    "practice": ("flask-conical", "accent"),
    "ready": ("circle-dot", "done"),
    "refused": ("triangle-alert", "attention"),
    "locked": ("key-round", "attention"),
    "waiting": ("loader", "quiet"),
}


class Library(QFrame):
    job_actions: JobActions  # given to it by the window
    opened = Signal(str)

    def __init__(self, *, clock: Callable[[], float] = time.time) -> None:
        super().__init__()
        self.setProperty("kind", "sidebar")
        self._opened_id = ""
        self.new_button = PrimaryButton(self.tr("New job"), "plus")
        self.new_button.setProperty("large", "true")
        self.find_field = SearchField(self.tr("Find a job"))
        self.rows = LibraryRows(clock, self)
        self.list = JobList(self.rows)
        self.list.chosen.connect(self._chosen)
        self.list.menu_wanted.connect(self._menu)
        self.list.delete_wanted.connect(lambda: self.job_actions.delete(*(job.id for job in self.list.selected_jobs())))
        self.find_field.searched.connect(self._find)
        self._nothing = Label(self.tr("No job has such a name or tag."), "small", wrap=True)
        self._nothing.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self._nothing.setContentsMargins(MEDIUM, SMALL, MEDIUM, 0)
        self._nothing.hide()
        self.foot = ConnectionFoot()
        above = column(self.new_button, self.find_field, gap=6, margins=(MEDIUM, 14, MEDIUM, 4))
        self.setLayout(column(above, self._nothing, self.list, self.foot, gap=0))
        self._ages = QTimer(self)
        self._ages.timeout.connect(self.list.viewport().update)
        self._ages.start(_AGES_EVERY)

    def least_width(self) -> int:
        """How narrow it may be, in pixels: with a large font the button of a new job still has its words."""
        return max(LEAST_SIDEBAR, self.new_button.sizeHint().width() + 2 * MEDIUM)

    def show_jobs(self, jobs: Sequence[Job]) -> None:
        self.rows.show_jobs(jobs)
        self._mark()

    def open_job(self, job_id: str) -> None:
        self._opened_id = job_id
        index = self.rows.index_of(job_id)
        self.list.select_only(index)
        self._mark()
        if index.isValid():
            above = self.rows.index(index.row() - 1)
            if isinstance(above.data(ENTRY_ROLE), GroupEntry):  # show the group's name with its first job
                self.list.scrollTo(above)
            self.list.scrollTo(index)

    def opened_job(self) -> str:
        return self._opened_id

    def selection(self) -> list[Job]:
        jobs = self.list.selected_jobs()
        return jobs if len(jobs) > 1 else []

    def _mark(self) -> None:
        self.list.mark(self._opened_id, self.rows.index_of(self._opened_id))

    def _chosen(self, job_id: str) -> None:
        if job_id != self._opened_id:
            self._opened_id = job_id
            self._mark()
            self.opened.emit(job_id)

    def _find(self, text: str) -> None:
        self.rows.find(text)
        self.list.scrollToTop()
        self.open_job(self._opened_id)
        self._nothing.setVisible(bool(text.strip()) and not self.rows.entries())

    def _menu(self, clicked: Job, position: QPoint) -> None:
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        selected = self.selection()
        self.job_actions.fill_menu(menu, selected if any(job.id == clicked.id for job in selected) else [clicked])
        menu.popup(position)


class ConnectionFoot(Clickable):
    """The connection in use, at the foot of the sidebar; a click anywhere in it emits `opened`."""

    opened = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("kind", "plain")
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self._icon = IconLabel("circle-dashed", "quiet", 16)
        self._name = ElidedLabel("")
        self._detail = ElidedLabel("", "small")
        self.unlock = LinkButton(self.tr("Unlock"))
        self.unlock.setAccessibleName(self.tr("Unlock the keyring"))
        self.unlock.hide()
        self.bell = IconButton("bell", self.tr("Notices"))
        self._gear = IconButton("settings", self.tr("Settings"), self.opened.emit)
        self.clicked.connect(self.opened)
        texts = column(self._name, self._detail, row(self.unlock, None), gap=0)
        margins = (MEDIUM - 1, SMALL, 5, MEDIUM - 1)
        self.setLayout(row(self._icon, (texts, 1), self.bell, self._gear, gap=7, margins=margins))
        self.show_connection(self.tr("Not connected"), self.tr("nothing leaves this computer"), "none")

    def detail(self) -> str:
        return self._detail.whole_text()

    def show_unseen(self, count: int) -> None:
        self.bell.set_icon("bell", "accent" if count else "quiet")
        name = self.tr("Notices, {n} not seen").format(n=count) if count else self.tr("Notices")
        self.bell.setAccessibleName(name)
        self.bell.setToolTip(name)

    def show_connection(self, name: str, detail: str, state: ConnectionState) -> None:
        self._icon.set_icon(*_CONNECTION_ICONS[state])
        self.unlock.setVisible(state == "locked")
        self._name.setText(name)
        self._detail.setText(detail)
        self._gear.setAccessibleDescription(f"{name}, {detail}")
