"""A dialog that says what it will do, does it, and says what came of it."""

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QScrollArea, QWidget
from shiboken6 import isValid

from cfbatch_gui.core.errors import UserError
from cfbatch_gui.ui.dialogs import Dialog
from cfbatch_gui.ui.tasks import Tasks
from cfbatch_gui.ui.theme import LARGE, MEDIUM, SMALL
from cfbatch_gui.ui.widgets import Button, Item, Label, Role, Saying, StateLabel, boxed, column, row
from cfbatch_gui.words.languages import said, tr

_TASK = "work of a dialog"
Outcome = tuple[str, str, Role]
"""What came of it, its icon and the role of its colour."""


class WorkDialog(Dialog):
    """`start_button` begins its work, a task of the page's; while that runs the form is hidden and Cancel is Stop."""

    def __init__(self, parent: QWidget, tasks: Tasks, start_button: Button, title: str, *, width: int) -> None:
        super().__init__(title, parent, (width, 0))
        self._tasks, self.start_button = tasks, start_button
        start_button.clicked.connect(self.try_to_start)
        self.problem = Saying("circle-x", "error", "body")
        self.outcome, self.afterwards = StateLabel(), Label("", "quiet", wrap=True)
        self._done = boxed(column(row(self.outcome, None), self.afterwards, gap=SMALL))
        self._done.hide()
        self.close_button.clicked.disconnect()
        self.close_button.clicked.connect(self._close_or_stop)
        self.finished.connect(lambda _: tasks.cancel(_TASK))

    def show_parts(self, form: Sequence[Item], *parts: Item, beside: Sequence[Item] = ()) -> None:
        """`form` is there before the work, `parts` always, and `beside` stands in the row of the buttons."""
        self._form = boxed(column(*form, gap=MEDIUM))
        content = self._form, self._done, self.problem, *parts, None
        self.lay_out(self.windowTitle(), *content, buttons=[self.start_button], beside=beside)

    def scroll_to(self, part: QWidget) -> None:
        for area in self.findChildren(QScrollArea):
            area.ensureWidgetVisible(part, 0, LARGE)

    # What each dialog does

    def may_start(self) -> bool:
        return True

    async def work(self) -> tuple[Outcome, str]:
        """What came of it, and what there is to know besides. Raises UserError."""
        raise NotImplementedError

    def stopped(self, error: UserError) -> None:
        """Show why it ended too early."""
        self.problem.set_line("\n".join(filter(None, (said(error.message), error.detail))))
        self.scroll_to(self.problem)

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
