"""After a push: what the index holds of the job, when that was seen, and what was sent."""

from collections.abc import Callable, Sequence

from PySide6.QtCore import QCoreApplication, QTimer, Signal
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from cfbatch_gui.core.system.languages import said
from cfbatch_gui.core.vectorize.push_values import Push, PushOutcome
from cfbatch_gui.ui import display
from cfbatch_gui.ui.tables.table_rows import Column, Rows
from cfbatch_gui.ui.tables.table_view import HEADER_HEIGHT, Memory, TableView
from cfbatch_gui.ui.theme import MEDIUM, ROW_HEIGHT, SMALL, scaled
from cfbatch_gui.ui.vectorize.push_words import ago_words, dimension_words, id_words, short_name
from cfbatch_gui.ui.vectorize.running_pushes import RunningPush
from cfbatch_gui.ui.widgets import Button, Card, Flow, IconLabel, IconLine, Label, boxed, column, row

_TICK = 1_000  # milliseconds
_MOST_ROWS = 4  # of what was sent that are shown without scrolling


class PushSummary(QWidget):
    """Shows the pushes of a job into its indexes, the newest first. `chosen` brings the one that the user picked."""

    check_wanted = Signal()
    change_wanted = Signal()
    chosen = Signal(object)

    def __init__(
        self, clock: Callable[[], float], *, memory: Memory | None = None, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._clock = clock
        self._push: Push | None = None
        self._form = ""
        self._running: RunningPush | None = None
        self._icon = IconLabel("check", "done", 16)
        self.title = Label("", "part", wrap=True)
        self.title.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.line = Label("", "quiet", wrap=True)
        self.notes = IconLine("", "info")
        self.check_button = Button(self.tr("Check again"))
        self.check_button.clicked.connect(self.check_wanted)
        self.change_button = Button(self.tr("Send changes…"))
        self.change_button.clicked.connect(self.change_wanted)
        self.sent: Rows[Push] = Rows(_columns(), key=lambda each: (each.account_mark, each.index), parent=self)
        self.table = TableView("vectorize/sent", memory=memory, inset=True)
        self.table.setAccessibleName(self.tr("What was sent"))
        self.table.show_rows(self.sent)
        self.table.picked.connect(lambda at: self.chosen.emit(self.sent.row(at)))
        self._ticks = QTimer(self, interval=_TICK)
        self._ticks.timeout.connect(self._show_line)
        self._lay_out()

    def show_pushes(self, pushes: Sequence[Push], push: Push, dimension: int, metric: str) -> None:
        """Show all pushes of a job, and one of them in the card; `metric` is "" where it is not known."""
        self._push, self._form = push, dimension_words(dimension, metric)
        icon, colour = _STATES[push.outcome]
        self._icon.set_icon(icon, colour)
        self.title.setText(_title(push))
        self.notes.set_line("\n".join(map(said, push.notes)))
        self.notes.setVisible(bool(push.notes))
        self.sent.set_rows(tuple(pushes))
        self.table.setColumnHidden(0, len(pushes) < 2)
        shown = min(len(pushes), _MOST_ROWS)
        self.table.setFixedHeight(scaled(HEADER_HEIGHT) + shown * scaled(ROW_HEIGHT) + 2)
        self._show_line()

    def show_checking(self, running: RunningPush | None) -> None:
        """Show that the index is being compared, None when it is not."""
        self._running = running
        busy = self.tr("The index is being compared.") if running is not None else ""
        self.check_button.set_possible(busy)
        self.change_button.set_possible(busy)
        self._show_line()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._show_line()
        self._ticks.start()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._ticks.stop()

    def _lay_out(self) -> None:
        title = row(self._icon, self.title)
        title.setStretch(1, 1)
        words = boxed(column(title, self.line, self.notes, gap=SMALL))
        words.setMinimumWidth(scaled(260))
        words.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        state = Card()
        state.body.addWidget(boxed(Flow(words, boxed(row(self.check_button, self.change_button)), gap=MEDIUM)))
        sent = Card()
        sent.body.addWidget(Label(self.table.accessibleName(), "strong"))
        sent.body.addWidget(self.table)
        self.setLayout(column(state, sent, gap=MEDIUM))

    def _show_line(self) -> None:
        if self._push is None:
            return
        running = self._running
        if running is not None and running.progress is not None:
            self.line.setText(said(running.progress.waiting or running.progress.sentence))
            return
        line = " · ".join(filter(None, (self._form, *_found_words(self._push, self._clock()))))
        if line != self.line.text():
            self.line.setText(line)


_STATES = {
    PushOutcome.VERIFIED: ("check", "done"),
    PushOutcome.SENT: ("circle-dashed", "attention"),
    PushOutcome.NOT_YET: ("clock", "attention"),
    PushOutcome.DIFFERENT: ("triangle-alert", "attention"),
    PushOutcome.SENDING: ("pause", "attention"),
}


def _title(push: Push) -> str:
    counts = {"n": display.number(push.acknowledged), "total": display.number(push.vectors)}
    patterns = {
        PushOutcome.VERIFIED: _tr("{total} of {total} are in “{index}”"),
        PushOutcome.SENT: _tr("{total} were sent to “{index}”"),
        PushOutcome.NOT_YET: _tr("“{index}” has not taken in all {total} yet"),
        PushOutcome.DIFFERENT: _tr("“{index}” does not hold what was sent"),
        PushOutcome.SENDING: _tr("{n} of {total} were sent to “{index}”"),
    }
    return patterns[push.outcome].format(index=short_name(push.index), **counts)


def _found_words(push: Push, now: float) -> tuple[str, ...]:
    ago = ago_words(push.checked_at, now) if push.checked_at else ""
    if push.outcome is PushOutcome.VERIFIED:
        equal = display.plural(
            push.compared, "counted and {n} of them read back, equal", "counted and {n} of them read back, all equal"
        )
        return (equal, ago)
    if push.outcome is PushOutcome.NOT_YET:
        return (_tr("that can take minutes; check again later"), ago)
    if push.outcome is PushOutcome.DIFFERENT:
        return (_difference(push), ago)
    return (_tr("whether they are in it was not checked yet"),)


def _difference(push: Push) -> str:
    if push.missing or push.different:
        pattern = _tr(
            "of {n} read back, {missing} are missing and {different} have other values; what is sent next is everything"
        )
    else:
        pattern = _tr("it counts {found} vectors, and {expected} were sent; what is sent next is everything")
    counts = {
        "n": push.compared,
        "missing": push.missing,
        "different": push.different,
        "found": push.in_index,
        "expected": push.expected,
    }
    return pattern.format(**{name: display.number(count) for name, count in counts.items()})


def _columns() -> tuple[Column[Push], ...]:
    def quiet_if_none(text: str) -> Callable[[Push], str]:
        return lambda push: "text" if getattr(push.options, text) else "quiet"

    return (
        Column(_tr("Index"), lambda push: push.index, key="index", width=130, sortable=False),
        Column(_tr("ID from"), lambda push: id_words(push.options), key="ids", width=110, sortable=False),
        Column(
            _tr("Namespace"),
            lambda push: push.options.namespace or _tr("none"),
            key="namespace",
            width=110,
            gives_way=True,
            sortable=False,
            colour=quiet_if_none("namespace"),
        ),
        Column(
            _tr("Beside each vector"),
            lambda push: ", ".join(each.column for each in push.options.metadata) or _tr("nothing"),
            key="metadata",
            stretch=True,
            sortable=False,
            colour=quiet_if_none("metadata"),
        ),
        Column(
            _tr("New or changed"),
            lambda push: push.sent,
            display.number,
            key="sent",
            align="right",
            width=110,
            sortable=False,
        ),
        Column(
            _tr("Taken out"),
            lambda push: push.deleted,
            display.number,
            key="deleted",
            align="right",
            width=90,
            sortable=False,
        ),
        Column(
            _tr("Took"),
            lambda push: max(0.0, push.ended_at - push.started_at) if push.ended_at else None,
            lambda seconds: display.duration(seconds) if seconds >= 1 else _tr("under 1 s"),
            key="took",
            align="right",
            width=104,
            widest=(_tr("under 1 s"),),
            gives_way=True,
            sortable=False,
            copies_text=True,
        ),
    )


def _tr(text: str) -> str:
    return QCoreApplication.translate("vectorize", text)
