"""Dialogs that are as tall as their content, and those that say what they will do, do it, and say what came of it."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QDialog, QLayout, QWidget
from shiboken6 import isValid

from cfbatch_gui.core.errors import UserError
from cfbatch_gui.ui.tasks import Tasks
from cfbatch_gui.ui.theme import LARGE, MEDIUM, SMALL, WIDE, scaled
from cfbatch_gui.ui.widgets import Button, Item, Label, Role, Saying, StateLabel, boxed, column, line, row, scrolled
from cfbatch_gui.words.languages import said, tr

_LEAST = 480  # pixels that it may have above a window that is lower


class TallDialog(QDialog):
    """Opened with `open()`; deletes itself when it is closed. What does not fit above the window behind it scrolls."""

    def __init__(self, title: str, parent: QWidget, *, width: int) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(title)
        self._window, self._width = parent.window(), scaled(width)

    def lay_out(self, content: QLayout, foot: QLayout) -> None:
        content.setContentsMargins(WIDE, WIDE - 4, WIDE, LARGE)
        foot.setContentsMargins(WIDE, MEDIUM, WIDE, LARGE)
        self._content, self._foot = boxed(content), boxed(foot)
        self._area = scrolled(self._content)
        whole = column(self._area, line(), self._foot, gap=0)
        whole.setStretch(0, 1)
        self.setLayout(whole)

    def fit(self) -> None:
        """Take the height of the content, as far as the window behind has it; never less than while it was shown."""
        width = max(self.minimumSizeHint().width(), min(self._width, self._window.width() - 2 * WIDE))
        screen, middle = self.screen().availableGeometry(), self._window.frameGeometry().center()
        room = min(max(self._window.height(), _LEAST), screen.height()) - 2 * WIDE
        needed = sum(_height(each, width) for each in (self._content, self._foot))
        height = max(self.height() if self.isVisible() else 0, min(needed + 2, room))
        self.resize(width, height)
        self.move(middle.x() - width // 2, max(screen.top(), middle.y() - height // 2))

    def scroll_to(self, part: QWidget) -> None:
        self._area.ensureWidgetVisible(part, 0, LARGE)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if not event.spontaneous():
            self.fit()  # the height of wrapped texts is known only once the width is


def _height(part: QWidget, width: int) -> int:
    return part.heightForWidth(width) if part.hasHeightForWidth() else part.sizeHint().height()


_TASK = "work of a dialog"
Outcome = tuple[str, str, Role]
"""What came of it, its icon and the role of its colour."""


class WorkDialog(TallDialog):
    """`start_button` begins its work, a task of the page's; while that runs the form is hidden and Cancel is Stop."""

    def __init__(self, parent: QWidget, tasks: Tasks, start_button: Button, title: str, *, width: int) -> None:
        super().__init__(title, parent, width=width)
        self._tasks, self.start_button = tasks, start_button
        start_button.setDefault(True)
        start_button.clicked.connect(self.try_to_start)
        self.problem = Saying("circle-x", "error", "body")
        self.outcome, self.afterwards = StateLabel(), Label("", "quiet", wrap=True)
        self._done = boxed(column(row(self.outcome, None), self.afterwards, gap=SMALL))
        self._done.hide()
        self.close_button = Button(tr("Cancel"), on_click=self._close_or_stop)
        self.finished.connect(lambda _: tasks.cancel(_TASK))

    def show_parts(self, form: list[Item], *parts: Item, beside: tuple[Item, ...] = ()) -> None:
        """`form` is there before the work, `parts` always, and `beside` stands in the row of the buttons."""
        self._form = boxed(column(*form, gap=MEDIUM))
        buttons = row(*beside, None, self.close_button, self.start_button)
        self.lay_out(
            column(Label(self.windowTitle(), "part", wrap=True), self._form, *parts, None, gap=MEDIUM),
            column(self._done, self.problem, buttons, gap=SMALL),
        )

    # What each dialog does

    def may_start(self) -> bool:
        return True

    async def work(self) -> tuple[Outcome, str]:
        """What came of it, and what there is to know besides. Raises UserError."""
        raise NotImplementedError

    def stopped(self, error: UserError) -> None:
        """Show why it ended too early."""
        self.problem.set_line(said(error.message))

    def rested(self) -> None:
        """The work is over, however it ended."""

    def words_when_stopped(self) -> str:
        raise NotImplementedError

    # Shared

    def is_working(self) -> bool:
        return self._tasks.is_running(_TASK)

    def try_to_start(self) -> None:
        if not (self.is_working() or self.start_button.isHidden()) and self.may_start():
            self._tasks.start(_TASK, self._run())

    async def _run(self) -> None:
        self.problem.hide()
        self._set_working(True)
        try:
            outcome, afterwards = await self.work()
            self.outcome.set_state(*outcome)
            self.afterwards.setText(afterwards)
            self.start_button.hide()
            self._done.show()
        except UserError as error:
            self.stopped(error)
        finally:
            if isValid(self):  # it may have been closed
                self.rested()
                self._set_working(False)
                self.fit()

    def _set_working(self, working: bool) -> None:
        is_done = self.start_button.isHidden()
        self._form.setVisible(not working and not is_done)
        self.start_button.set_possible(tr("Wait until this is done.") if working else "")
        self.close_button.setText(tr("Stop") if working else tr("Close") if is_done else tr("Cancel"))
        if is_done:
            self.close_button.setDefault(True)
            self.close_button.setFocus(Qt.FocusReason.OtherFocusReason)

    def _close_or_stop(self) -> None:
        if self.is_working():
            self._tasks.cancel(_TASK)
            self.problem.set_line(self.words_when_stopped())
        else:
            self.reject()
