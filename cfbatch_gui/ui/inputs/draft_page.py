"""The page of a draft: the kind of job, its data, and the check with the button that sends it."""

from PySide6 import QtGui
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QWidget

from cfbatch_gui.core.connections.address_book import ConnectionSummary
from cfbatch_gui.core.jobs.states import Job, Purpose
from cfbatch_gui.core.program import Program
from cfbatch_gui.ui.inputs.check_section import CheckSection
from cfbatch_gui.ui.inputs.data_section import DataSection, WhatSection
from cfbatch_gui.ui.inputs.draft_actions import DraftActions
from cfbatch_gui.ui.inputs.draft_state import DraftState
from cfbatch_gui.ui.inputs.list_sections import ListsSection, MatchSection
from cfbatch_gui.ui.inputs.version_section import VersionSection
from cfbatch_gui.ui.job_actions import JobActions
from cfbatch_gui.ui.notices import Notices
from cfbatch_gui.ui.theme import LARGE, MEDIUM, SMALL, WIDE, scaled
from cfbatch_gui.ui.widgets import PageHeader, boxed, column, line, scrolled
from cfbatch_gui.ui.widgets.bars import DropTarget
from cfbatch_gui.words.states import state_words

_BESIDE_PREVIEW, _BESIDE_LISTS = 530, 620  # pixels of the page that its other parts have


class DraftPage(DropTarget):
    """Shows one draft at a time; others that were shown go on being read."""

    def __init__(
        self, program: Program, notices: Notices, actions: JobActions, *, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._program = program
        self._connections: tuple[ConnectionSummary, ...] = ()
        self._draft, self._has_version = ("", False), False  # that parts were folded for
        drafts = self.drafts = DraftActions(program, notices, self)
        drafts.changed.connect(self._state_changed)
        drafts.job_changed.connect(self._state_changed)
        self.header = PageHeader()
        self.header.set_facts(self.tr("nothing is sent before you say so"))
        menu = self.header.more.menu()
        menu.aboutToShow.connect(menu.clear)
        menu.aboutToShow.connect(lambda: actions.fill_menu(menu, [drafts.job()]))
        self.header.more.show()
        # From the outside in: Qt styles a widget with all in it anew whenever it is put into another.
        self._parts = column(gap=MEDIUM, margins=(WIDE, SMALL, WIDE, LARGE))
        self.area = scrolled(boxed(self._parts))
        page = column(self.header, self.area, line(), gap=0)
        self.setLayout(page)
        self.what, self.data, self.version = WhatSection(drafts), DataSection(drafts), VersionSection(drafts)
        self.lists, self.matching = ListsSection(drafts), MatchSection(drafts)
        drafts.encoding_wanted.connect(self._open_encoding_menu)
        self.check = CheckSection(drafts, self._reveal)
        self.header.also_offer(self.check.send_button, self.check.try_button)
        for section in (self.what, self.data, self.lists, self.matching, self.version, self.check):
            self._parts.addWidget(section)
        self._parts.addStretch(1)
        page.addWidget(self.check.foot)
        self.take_drops(self.area, self.tr("Drop it to use it as the data of this job"), drafts.take)
        for keys in ("Ctrl+Return", "Ctrl+Enter"):
            QtGui.QShortcut(QtGui.QKeySequence(keys), self).activated.connect(self.check.send_button.click)

    # What the window calls

    def show_job(self, job: Job) -> None:
        if job.id != self.job_id():
            self.check.options_button.setChecked(False)
            self.check.problems.hide()
            self.area.verticalScrollBar().setValue(0)
        self.drafts.begin(job.id)
        self._show()
        self.refresh_connections()

    def job_id(self) -> str:
        return self.drafts.current

    def is_taken(self, job_id: str) -> bool:
        state = self.drafts.state(job_id)
        return bool(state.opening or state.has_data or state.is_reading)

    def refresh_connections(self) -> None:
        self.drafts.tasks.start("connections", self._look_at_connections())

    # What is shown

    def _show(self) -> None:
        if not self.job_id():
            return
        state, job = self.drafts.shown, self.drafts.job()
        self.header.set_title(job.name)
        words = state_words(self.drafts.phase(job))
        self.header.set_state(words.text, words.icon, words.role)
        self.what.show_state(state, job)
        purpose = state.purpose(job)
        has_lists = purpose is not None and purpose.takes_lists and not state.missing
        self.data.setVisible(not has_lists)
        self.lists.setVisible(has_lists)
        self.matching.setVisible(purpose is Purpose.MATCH and has_lists and state.file is not None)
        if has_lists:
            self.lists.show_state(state, job)
            self.matching.show_state(state, job)
        else:
            self.data.show_state(state, job)
        self.version.show_state(state, job)
        self.check.show_state(state, job, self._connections)
        self._fold(state)

    def _fold(self, state: DraftState) -> None:
        """Fold what is done when the next part comes; after that it stays as the user leaves it."""
        draft, has_version = (self.job_id(), state.has_data), not self.version.isHidden()
        if draft != self._draft:
            self._draft, self._has_version = draft, False
            self.what.set_folded(self.drafts.job().options.purpose is not None or state.has_data)
            self.data.set_folded(False)
            self.lists.set_folded(False)
        if has_version and not self._has_version:
            self._has_version = True
            self.data.set_folded(True)
            self.lists.set_folded(True)

    def _state_changed(self, job_id: str) -> None:
        if job_id == self.job_id():
            self._show()

    def _reveal(self, *widgets: QWidget) -> None:
        def scroll() -> None:
            for widget in widgets:
                self.area.ensureWidgetVisible(widget, 0, WIDE)

        QTimer.singleShot(0, self, scroll)

    def _open_encoding_menu(self, at: int) -> None:
        parts = self.data.parts if self.lists.isHidden() else self.lists.parts
        parts[at].open_encoding_menu()

    async def _look_at_connections(self) -> None:
        if self.job_id():
            self._connections = await self._program.address_book.summaries(self.drafts.job().connection)
            self._show()

    def resizeEvent(self, event: QtGui.QResizeEvent) -> None:
        super().resizeEvent(event)
        self.data.set_room(self.height() - scaled(_BESIDE_PREVIEW))
        self.lists.set_room(self.height() - scaled(_BESIDE_LISTS))

    def showEvent(self, event: QtGui.QShowEvent) -> None:
        super().showEvent(event)
        if self.job_id():
            self.refresh_connections()
