"""The calls of Cloudflare's API that a dialog makes, in plain words, each with its permission and how far it is."""

import re
from collections.abc import Sequence

from PySide6.QtWidgets import QWidget

from cfbatch_gui.core.system.languages import said
from cfbatch_gui.core.worker_setup.account import Call, Progress, State
from cfbatch_gui.ui import display
from cfbatch_gui.ui.theme import MEDIUM, SMALL
from cfbatch_gui.ui.widgets import Card, IconLabel, Label, Role, boxed, column, row

_ICON = 16  # pixels
_ICONS: dict[State, tuple[str, Role]] = {
    State.RUNNING: ("loader", "accent"),
    State.WAITING: ("clock", "attention"),
    State.DONE: ("circle-check", "done"),
    State.NOT_NEEDED: ("minus", "quiet"),
    State.FAILED: ("circle-x", "error"),
}


class CallList(Card):
    """One row for each call, in the order in which they are made."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(inset=True, parent=parent)
        self.body.setSpacing(MEDIUM)
        self.rows: list[CallRow] = []
        self.setAccessibleName(self.tr("Calls that are made"))

    def show_calls(self, calls: Sequence[Call]) -> None:
        """Show calls of which none was made yet. Calls that only differ from those shown in names keep their rows."""
        if len(calls) != len(self.rows):
            for each in self.rows:
                self.body.removeWidget(each)
                each.hide()
                each.deleteLater()
            self.rows = [CallRow() for _ in calls]
            for each in self.rows:
                self.body.addWidget(each)
        for each, call in zip(self.rows, calls, strict=True):
            each.show_call(call)

    def show_progress(self, progress: Progress) -> "CallRow | None":
        """Show how far a call is; its row."""
        for each in self.rows:
            if each.call is not None and each.call.step is progress.call.step:
                each.show_state(progress.state, said(progress.note))
                return each
        return None

    def hide_unmade(self) -> None:
        """Hide those that were not made, when all is done."""
        for each in self.rows:
            each.setVisible(each.state is not None)

    def stop(self) -> None:
        """Show that what was running was cut off: whether it was done is not known."""
        for each in self.rows:
            if each.state in (State.RUNNING, State.WAITING):
                each.show_state(None)


class CallRow(QWidget):
    """A call: what it does, its method and address, the permission that it needs, and what came of it."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.call: Call | None = None
        self.state: State | None = None
        self._icon = IconLabel("circle-dashed", "quiet", _ICON)
        self._sentence = Label("", wrap=True)
        self._words = Label("", "small", wrap=True)
        self._note = Label("", "small", wrap=True)
        self._note.hide()
        texts = boxed(column(self._sentence, self._words, self._note, gap=1))
        line = row(boxed(column(self._icon, None, margins=(0, 1, 0, 0))), texts, gap=SMALL)
        line.setStretch(1, 1)
        self.setLayout(line)

    def show_call(self, call: Call) -> None:
        """Show a call that was not made yet."""
        self.call = call
        self._sentence.setText(said(call.sentence))
        # The account is the same in all of them, and its id would take half a line.
        words = f"{call.method} {re.sub('^/accounts/[^/]+', '…', call.path)}"
        if call.permission:
            words = self.tr("{call} · needs {permission}").format(call=words, permission=call.permission)
        self._words.setText(words)
        self._words.setToolTip(display.plain_tip(call.words))
        self.show_state(None)

    def show_state(self, state: State | None, note: str = "") -> None:
        """Show how far it is; None is not made yet."""
        self.state = state
        icon, role = _ICONS[state] if state is not None else ("circle-dashed", "quiet")
        self._icon.set_icon(icon, role)
        self._note.setText(note)
        self._note.setVisible(bool(note))
        said_of_state = self._state_words() if state is not None else ""
        parts = (self._sentence.text(), said_of_state, note)
        self.setAccessibleName(" ".join(part for part in parts if part))

    def sentence(self) -> str:
        """What the call does."""
        return self._sentence.text()

    def words(self) -> str:
        """The call with the permission that it needs."""
        return self._words.text()

    def note(self) -> str:
        """What came of it."""
        return self._note.text()

    def _state_words(self) -> str:
        return {
            State.RUNNING: self.tr("Under way."),
            State.WAITING: self.tr("Waits."),
            State.DONE: self.tr("Done."),
            State.NOT_NEEDED: self.tr("Not needed."),
            State.FAILED: self.tr("Failed."),
            None: "",
        }[self.state]
