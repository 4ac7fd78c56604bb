"""A page on which something is decided by single keys, one after the other."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, Protocol, TypeVar

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QStackedWidget, QWidget

from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.program import Program
from cfbatch_gui.ui import widgets
from cfbatch_gui.ui.notices import Notices, PageUndo
from cfbatch_gui.ui.tasks import Tasks
from cfbatch_gui.ui.widgets import column
from cfbatch_gui.words.languages import tr


class Deciding(Protocol):
    """What goes on; `given` is what was decided since it began. To take back is blocking."""

    @property
    def given(self) -> Sequence[object]: ...
    def take_back(self) -> None: ...


SessionT = TypeVar("SessionT", bound=Deciding)


class DecidingPage(QWidget, Generic[SessionT]):
    """Each decision is on the disk before the next row appears. `done` brings the id of the job and the key of the tab
    that is to be shown then.
    """

    done = Signal(str, str)

    def __init__(self, program: Program, notices: Notices, *, title: str, undo: str, tab: str) -> None:
        super().__init__()
        self.program, self.job_id, self._tab = program, "", tab
        self.session: SessionT | None = None  # what is going on
        self._written: asyncio.Future[None] | None = None  # the last decision, once it is
        self.tasks = Tasks(self, notices.show_error)
        self.header = widgets.PageHeader(title)
        self.header.add_button(widgets.Button(tr("Pause"), "pause", self.leave))
        self._page_undo = PageUndo(self, notices.undos, undo, self.take_back)

    # For the pages

    def lay_out(self, view: QWidget, button: str, on_pressed: Callable[[], object]) -> None:
        """The button stands below what is said at the end."""
        self._view, self._pages = view, QStackedWidget()
        self.place = widgets.EmptyPlace("circle-check", "", button)
        self.place.pressed.connect(on_pressed)
        for page in (self.place, view):
            self._pages.addWidget(page)
        self.setLayout(column(self.header, 6, widgets.Roomy(self._pages), gap=0))

    def begin(self, job: Job, about: str, sentence: str, read: Callable[[], Awaitable[SessionT]]) -> None:
        """The sentence is shown while the session is read."""

        async def read_and_show() -> None:
            self.session = await read()
            self._show_current(self.session)

        self.job_id, self.session = job.id, None
        self.header.set_facts(job.name, about)
        self._say(sentence, button=False)
        self.tasks.start("read", read_and_show())

    def take_key(self, event: QKeyEvent) -> bool:
        """Whether the key means something on this page."""
        raise NotImplementedError

    def show_next(self, session: SessionT) -> str:
        """Show what is to be decided next, else return what is said at the end."""
        raise NotImplementedError

    def write(self, write: Callable[[], object]) -> None:
        """Run this in a thread, unless another decision is being written, and show what comes then."""
        session = self.session

        async def write_and_show() -> None:
            await asyncio.to_thread(write)
            if session is not None and session is self.session:
                self._show_current(session)

        if not self.tasks.is_running("write"):
            self._written = self.tasks.start("write", write_and_show())

    def take_back(self) -> None:
        if (session := self.session) is not None:
            self.write(session.take_back)

    def leave(self, tab: str = "") -> None:
        """What is decided stays, and is on the disk before the tab is shown."""

        async def leave() -> None:
            if self._written is not None:
                await asyncio.wait({self._written})
            self.done.emit(self.job_id, tab or self._tab)

        self.tasks.cancel("read")
        self.session = None
        self._page_undo.renew(False)
        self.tasks.start("leave", leave())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        has_modifier = event.modifiers() & ~(Qt.KeyboardModifier.KeypadModifier | Qt.KeyboardModifier.ShiftModifier)
        if event.isAutoRepeat() or has_modifier:
            super().keyPressEvent(event)
        elif event.key() == Qt.Key.Key_Backspace:
            self.take_back()
        elif event.key() == Qt.Key.Key_Escape:
            self.leave()
        elif not self.take_key(event):
            super().keyPressEvent(event)

    def _show_current(self, session: SessionT) -> None:
        self._page_undo.renew(bool(session.given))
        if said := self.show_next(session):
            self._say(said, button=True)
            self.place.button.setFocus(Qt.FocusReason.OtherFocusReason)
        else:
            self._pages.setCurrentWidget(self._view)
            self._view.setFocus(Qt.FocusReason.OtherFocusReason)

    def _say(self, sentence: str, *, button: bool) -> None:
        self.place.set_sentence(sentence)
        self.place.button.setVisible(button)
        self._pages.setCurrentWidget(self.place)
