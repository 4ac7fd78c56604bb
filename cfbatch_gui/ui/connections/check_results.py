"""The four questions of a test, one under the other, each with its state and its reason."""

from collections.abc import Sequence

from PySide6.QtCore import QLocale, QTime
from PySide6.QtWidgets import QWidget

from cfbatch_gui.core.workers_ai.checking import TITLES, Tick
from cfbatch_gui.ui.theme import MEDIUM, SMALL
from cfbatch_gui.ui.widgets import Card, IconLabel, Label, Role, StateLabel, boxed, column, row

_ICON = 18  # pixels


class TickRow(QWidget):
    """One question. State in icon and word; the reason stands below while there is one."""

    def __init__(self, title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._title = title
        self._icon = IconLabel("circle-dashed", "quiet", _ICON)
        self._word = Label("", "quiet")
        self._reason = Label("", "small", wrap=True)
        self._below = boxed(row(self._reason, margins=(_ICON + SMALL, 0, 0, 0)))
        self.setLayout(column(row(self._icon, Label(title), None, self._word), self._below, gap=2))
        self.show_state(self.tr("Not tested yet"), "circle-dashed")

    def show_tick(self, tick: Tick, *, asked: bool) -> None:
        """The answer. Without one, `asked` tells a question left open by the service from one that was not asked."""
        if tick.ok:
            self.show_state(self.tr("Yes"), "circle-check", "done", tick.sentence)
        elif tick.ok is False:
            self.show_state(self.tr("No"), "circle-x", "error", tick.sentence)
        elif asked:
            self.show_state(self.tr("Not certain"), "triangle-alert", "attention", tick.sentence)
        else:
            self.show_state(self.tr("Not asked"), "circle-dashed", "quiet", tick.sentence)

    def show_state(self, word: str, icon: str, role: Role = "quiet", reason: str = "") -> None:
        """Icon, word, colour and reason in one go."""
        self._icon.set_icon(icon, role)
        self._word.setText(word)
        self._word.set_role(role)
        self._reason.setText(reason)
        self._reason.set_role("small" if role == "quiet" else "body")
        self._below.setVisible(bool(reason))
        self.setAccessibleName(": ".join(part for part in (self._title, word, reason) if part))

    def state(self) -> str:
        """The word."""
        return self._word.text()

    def reason(self) -> str:
        """The sentence below it, or ""."""
        return self._reason.text()


class TickList(Card):
    """The four in their order, in their places from the start, so that nothing jumps when the answers come."""

    def __init__(self, titles: Sequence[str] = TITLES, parent: QWidget | None = None) -> None:
        super().__init__(inset=True, parent=parent)
        self.rows = tuple(TickRow(title) for title in titles)
        self.outcome = StateLabel()
        self._foot = Label("", "small", wrap=True)
        self.body.setSpacing(MEDIUM)
        self.body.addLayout(row(Label(self.tr("Test"), "strong"), None, self.outcome, gap=SMALL))
        for each in self.rows:
            self.body.addWidget(each)
        self.body.addStretch(1)
        self.body.addWidget(self._foot)
        self.setAccessibleName(self.tr("Test of the connection"))
        self.reset()

    def reset(self) -> None:
        """As before any test."""
        for each in self.rows:
            each.show_state(self.tr("Not tested yet"), "circle-dashed")
        self.outcome.set_state("", "circle-dashed")
        self.outcome.hide()
        self._foot.setText(self.tr("Four questions, free of charge. No text of yours is sent."))

    def show_running(self) -> None:
        """While the service is asked."""
        for each in self.rows:
            each.show_state(self.tr("Asking…"), "loader", "accent")
        self.outcome.hide()

    def show_ticks(self, ticks: Sequence[Tick]) -> None:
        """The answers."""
        asked = True
        for each, tick in zip(self.rows, ticks, strict=True):
            each.show_tick(tick, asked=asked)
            asked = asked and tick.ok is True
        if any(tick.ok is False for tick in ticks):
            self.outcome.set_state(self.tr("Failed"), "circle-x", "error")
        elif all(tick.ok for tick in ticks):
            self.outcome.set_state(self.tr("Everything works"), "circle-check", "done")
        else:
            self.outcome.set_state(self.tr("Not certain"), "triangle-alert", "attention")
        self.outcome.show()
        now = QLocale().toString(QTime.currentTime(), QLocale.FormatType.ShortFormat)
        self._foot.setText(self.tr("Tested at {time}, free of charge.").format(time=now))

    def foot(self) -> str:
        """The line at the end."""
        return self._foot.text()
