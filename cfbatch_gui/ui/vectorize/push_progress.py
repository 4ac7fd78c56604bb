"""A push while it runs, and one that was stopped before its end."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QSizePolicy, QWidget

from cfbatch_gui.core.system.languages import said
from cfbatch_gui.core.vectorize.push_values import Push, PushStage
from cfbatch_gui.ui import display
from cfbatch_gui.ui.theme import MEDIUM, SMALL
from cfbatch_gui.ui.vectorize.push_words import short_name
from cfbatch_gui.ui.vectorize.running_pushes import RunningPush
from cfbatch_gui.ui.widgets import (
    PAGE_MARGINS,
    Button,
    Card,
    Flow,
    IconLabel,
    IconLine,
    Label,
    PrimaryButton,
    ThinProgress,
    boxed,
    column,
    row,
)

_AT_THE_INDEX = (PushStage.PROCESSING, PushStage.COMPARING)  # everything was sent


class PushProgressView(QWidget):
    """`cancelled` is emitted where the user wants to choose anew; what was sent stays in the index."""

    paused = Signal()
    carried_on = Signal()
    cancelled = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._icon = IconLabel("loader", "accent", 18)
        self.title = Label("", "part", wrap=True)
        self.title.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.bar = ThinProgress()
        self.line = Label("", "body", wrap=True)
        self.more = Label("", "quiet", wrap=True)
        self.waiting = IconLine("", "clock", icon_role="attention")
        self.pause_button = Button(self.tr("Pause"), "pause")
        self.pause_button.clicked.connect(self.paused)
        self.carry_on_button = PrimaryButton(self.tr("Carry on"), "play")
        self.carry_on_button.clicked.connect(self.carried_on)
        self.cancel_button = Button(self.tr("Cancel"))
        self.cancel_button.clicked.connect(self.cancelled)
        buttons = boxed(Flow(self.carry_on_button, self.pause_button, self.cancel_button))
        title = row(self._icon, self.title)
        title.setStretch(1, 1)
        card = Card()
        card.body.addLayout(column(title, self.line, self.bar, self.more, self.waiting, buttons, gap=SMALL))
        self.setLayout(column(card, None, gap=MEDIUM, margins=PAGE_MARGINS))

    def show_running(self, running: RunningPush) -> None:
        """Show how far a push is."""
        progress = running.progress
        name = short_name(running.index)
        self._icon.set_icon("loader", "accent")
        is_sent = progress is not None and progress.stage in _AT_THE_INDEX
        pattern = self.tr("Everything was sent to “{index}”") if is_sent else self.tr("Sending to “{index}”")
        self.title.setText(pattern.format(index=name))
        self.line.setText(said(progress.sentence) if progress else self.tr("Asking for the index…"))
        done, total = (progress.done, progress.total) if progress else (0, 0)
        self.bar.set_parts(total if progress and progress.stage is PushStage.PROCESSING else done, total)
        self.more.setText(self._more_words(running, is_sent=is_sent))
        self.waiting.setVisible(bool(progress and progress.waiting))
        if progress is not None and progress.waiting:
            pattern = self.tr("{reason} The next try is in {seconds}.")
            self.waiting.set_line(
                pattern.format(reason=said(progress.waiting), seconds=display.duration(progress.waiting_seconds))
            )
        self.pause_button.setText(self.tr("Stop waiting") if is_sent else self.tr("Pause"))
        stopping = self.tr("It stops as soon as the call is over that is being made.") if running.is_stopping else ""
        self.pause_button.set_possible(stopping)
        self.cancel_button.set_possible(stopping)
        self.cancel_button.setText(self.tr("Cancel"))
        self.pause_button.show()
        self.cancel_button.setVisible(not is_sent)
        self.carry_on_button.hide()

    def show_stopped(self, push: Push, *, says_why: bool) -> None:
        """Show a push that was paused, or that an error or the end of the program has stopped; `says_why`: by which."""
        self._icon.set_icon("pause", "attention")
        self.title.setText(self.tr("Not everything is in “{index}” yet").format(index=short_name(push.index)))
        pattern = self.tr("{done} of {total} vectors were sent.")
        counts = {"done": display.number(push.acknowledged), "total": display.number(push.vectors)}
        self.line.setText(
            pattern.format(**counts) if push.vectors else self.tr("It stopped before the first vector was sent.")
        )
        self.bar.set_parts(push.acknowledged, push.vectors)
        self.more.setText(self.tr("“Carry on” sends what is missing, and nothing twice."))
        self.waiting.setVisible(says_why and bool(push.failure))
        self.waiting.set_line(said(push.failure), "triangle-alert", "attention")
        self.pause_button.hide()
        self.carry_on_button.show()
        self.cancel_button.set_possible("")
        self.cancel_button.setText(self.tr("Choose anew…"))
        self.cancel_button.show()

    def _more_words(self, running: RunningPush, *, is_sent: bool) -> str:
        if running.is_stopping:
            return self.tr("Stopping…")
        if is_sent:
            return self.tr("Then it is counted, and some of the vectors are read back and compared.")
        parts = display.plural(running.parts, "{n} part was accepted.", "{n} parts were accepted.")
        safe = self.tr("You can close the window: what was accepted stays so, and the rest can be sent later.")
        return f"{parts} {safe}" if running.parts else safe
