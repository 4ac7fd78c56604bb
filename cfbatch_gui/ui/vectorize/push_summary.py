"""A push while it runs or is stopped, what the index holds after it, and a search there."""

from collections.abc import Callable, Sequence

from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QLineEdit, QSizePolicy, QWidget

from cfbatch_gui.core.results.nearest import LONGEST
from cfbatch_gui.core.system.languages import said
from cfbatch_gui.core.vectorize.push_values import Hit, Push, PushOutcome, PushStage, SearchResult
from cfbatch_gui.core.vectorize.vectorize import TOP_K
from cfbatch_gui.ui import display
from cfbatch_gui.ui.display import tr
from cfbatch_gui.ui.memory import Memory
from cfbatch_gui.ui.tables.table_rows import Column, NumberColumn, Rows, ScoreColumn
from cfbatch_gui.ui.tables.table_view import HEADER_HEIGHT, TableView
from cfbatch_gui.ui.theme import MEDIUM, ROW_HEIGHT, SMALL, scaled
from cfbatch_gui.ui.vectorize.running_pushes import RunningPush, dimension_words, id_words, short_name
from cfbatch_gui.ui.widgets import (
    PAGE_MARGINS,
    Button,
    Card,
    Flow,
    IconLabel,
    Label,
    MaybeEmpty,
    PrimaryButton,
    Saying,
    Sentence,
    ThinProgress,
    boxed,
    column,
    row,
)

_AT_THE_INDEX = (PushStage.PROCESSING, PushStage.COMPARING)  # everything was sent


class PushProgressView(QWidget):
    def __init__(self, *, pause: Callable[[], None], carry_on: Callable[[], None], choose: Callable[[], None]) -> None:
        """`choose` is for a push that has stopped; what was sent stays in the index."""
        super().__init__()
        self._icon = IconLabel("loader", "accent", 18)
        self.title = Label("", "part", wrap=True)
        self.title.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.bar = ThinProgress()
        self.line = Label("", "body", wrap=True)
        self.more = Label("", "quiet", wrap=True)
        self.waiting = Saying("clock")
        self.pause_button = Button(self.tr("Pause"), "pause", pause)
        self.carry_on_button = PrimaryButton(self.tr("Carry on"), "play", carry_on)
        self.choose_button = Button(self.tr("Choose anew…"), on_click=choose)
        buttons = boxed(Flow(self.carry_on_button, self.pause_button, self.choose_button))
        title = row(self._icon, (self.title, 1))
        card = Card(title, self.line, self.bar, self.more, self.waiting, buttons)
        self.setLayout(column(card, None, gap=MEDIUM, margins=PAGE_MARGINS))

    def show_running(self, running: RunningPush) -> None:
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
        words = ""
        if progress is not None and progress.waiting:
            again = display.duration(progress.waiting_seconds)
            words = self.tr("{reason} The next try is in {seconds}.").format(
                reason=said(progress.waiting), seconds=again
            )
        self.waiting.set_line(words, "clock", "attention")
        self.pause_button.setText(self.tr("Stop waiting") if is_sent else self.tr("Pause"))
        stopping = self.tr("It stops as soon as the call is over that is being made.") if running.is_stopping else ""
        self.pause_button.set_possible(stopping)
        self._show_buttons(is_running=True)

    def show_stopped(self, push: Push) -> None:
        self._icon.set_icon("pause", "attention")
        self.title.setText(self.tr("Not everything is in “{index}” yet").format(index=short_name(push.index)))
        nothing = self.tr("It stopped before the first vector was sent.")
        self.line.setText(said(push.sentence) if push.vectors else nothing)
        self.bar.set_parts(push.acknowledged, push.vectors)
        self.more.setText(said(push.finding))
        self.waiting.set_line(said(push.failure), "triangle-alert", "attention")
        self._show_buttons(is_running=False)

    def _show_buttons(self, *, is_running: bool) -> None:
        self.pause_button.setVisible(is_running)
        self.carry_on_button.setVisible(not is_running)
        self.choose_button.setVisible(not is_running)

    def _more_words(self, running: RunningPush, *, is_sent: bool) -> str:
        if running.is_stopping:
            return self.tr("Stopping…")
        if is_sent:
            return self.tr("Then it is counted, and some of the vectors are read back and compared.")
        return self.tr("You can close the window: what was accepted stays so, and the rest can be sent later.")


_MOST_ROWS = 4  # of what was sent that are shown without scrolling


class PushSummary(QWidget):
    """`choose` gets the one that the user picked."""

    def __init__(
        self,
        clock: Callable[[], float],
        check: Callable[[], object],
        change: Callable[[], object],
        *,
        choose: Callable[[Push], object],
        memory: Memory | None = None,
    ) -> None:
        super().__init__()
        self._clock = clock
        self._push: Push | None = None
        self._form = ""
        self._running: RunningPush | None = None
        self._icon = IconLabel("check", "done", 16)
        self.title = Label("", "part", wrap=True)
        self.title.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.line = Label("", "quiet", wrap=True)
        self.notes = Saying("info")
        self.check_button = Button(self.tr("Check again"), on_click=check)
        self.change_button = Button(self.tr("Send changes…"), on_click=change)
        self.sent: Rows[Push] = Rows(
            _columns(), key=lambda each: (each.account_mark, each.index), parent=self, sortable=False
        )
        self.table = TableView("vectorize/sent", memory=memory, inset=True)
        self.table.setAccessibleName(self.tr("What was sent"))
        self.table.show_rows(self.sent)
        self.table.picked.connect(lambda at: choose(self.sent.row(at)))
        words = boxed(column(row(self._icon, (self.title, 1)), self.line, self.notes, gap=SMALL))
        words.setMinimumWidth(scaled(260))
        words.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        state = Card(boxed(Flow(words, boxed(row(self.check_button, self.change_button)), gap=MEDIUM)))
        sent = Card(Label(self.table.accessibleName(), "strong"), self.table)
        self.setLayout(column(state, sent, gap=MEDIUM))

    def show_pushes(self, pushes: Sequence[Push], push: Push, dimension: int) -> None:
        self._push, self._form = push, dimension_words(dimension)
        icon, colour = _STATES[push.outcome]
        self._icon.set_icon(icon, colour)
        self.title.setText(said(push.sentence))
        self.notes.set_line("\n".join(map(said, push.notes)))
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

    def _show_line(self) -> None:
        if self._push is None:
            return
        running = self._running
        if running is not None and running.progress is not None:
            self.line.setText(said(running.progress.waiting or running.progress.sentence))
            return
        checked = self._push.checked_at
        about = " · ".join(filter(None, (self._form, display.age(checked, self._clock()) if checked else "")))
        self.line.setText(f"{said(self._push.finding)}\n{about}")


_STATES = {
    PushOutcome.VERIFIED: ("check", "done"),
    PushOutcome.SENT: ("circle-dashed", "attention"),
    PushOutcome.NOT_YET: ("clock", "attention"),
    PushOutcome.DIFFERENT: ("triangle-alert", "attention"),
    PushOutcome.SENDING: ("pause", "attention"),
}


def _columns() -> tuple[Column[Push], ...]:
    def quiet_if_none(text: str) -> Callable[[Push], str]:
        return lambda push: "text" if getattr(push.options, text) else "quiet"

    return (
        Column(tr("Index"), lambda push: push.index, key="index", width=130),
        Column(tr("ID from"), lambda push: id_words(push.options), key="ids", width=110),
        Column(
            tr("Namespace"),
            lambda push: push.options.namespace or tr("none"),
            key="namespace",
            width=110,
            gives_way=True,
            colour=quiet_if_none("namespace"),
        ),
        Column(
            tr("Beside each vector"),
            lambda push: ", ".join(each.column for each in push.options.metadata) or tr("nothing"),
            key="metadata",
            stretch=True,
            colour=quiet_if_none("metadata"),
        ),
        NumberColumn(tr("New or changed"), lambda push: push.sent, key="sent", width=110),
        NumberColumn(tr("Taken out"), lambda push: push.deleted, key="deleted", width=90),
        Column(
            tr("Took"),
            lambda push: max(0.0, push.ended_at - push.started_at) if push.ended_at else None,
            lambda seconds: display.duration(seconds) if seconds >= 1 else tr("under 1 s"),
            key="took",
            align="right",
            width=104,
            widest=(tr("under 1 s"),),
            gives_way=True,
            copies_text=True,
        ),
    )


_LEAST_ROWS = 4


class SearchPanel(Card):
    """`search` is called by the button and by Enter, when there is a sentence."""

    def __init__(self, search: Callable[[], object], *, memory: Memory | None = None) -> None:
        super().__init__()
        self._is_busy = False
        self.price = Sentence("", "quiet")
        self.sentence = QLineEdit()
        self.sentence.setMaxLength(LONGEST)
        self.sentence.setAccessibleName(self.tr("A sentence to look for in the index"))
        self.sentence.setPlaceholderText(self.tr("Type what a visitor of your site would type"))
        self.sentence.setMinimumHeight(scaled(30))
        self.sentence.textChanged.connect(lambda _: self._show_possible())
        self.button = PrimaryButton(self.tr("Search"), on_click=search)
        self.sentence.returnPressed.connect(self.button.click)
        self.found: Rows[Hit] = Rows(self._columns(), key=lambda each: each.id, parent=self, sortable=False)
        self.table = TableView("vectorize/found", memory=memory, inset=True)
        self.table.setAccessibleName(self.tr("Found in the index"))
        self.table.show_rows(self.found)
        self._found_or_not = MaybeEmpty("search", self.table)
        self._found_or_not.setMinimumHeight(scaled(HEADER_HEIGHT) + _LEAST_ROWS * scaled(ROW_HEIGHT))
        self.show_sentence = self._found_or_not.show_sentence
        self.body.addWidget(boxed(Flow(Label(self.tr("Try a search"), "strong"), self.price, gap=SMALL)))
        self.body.addLayout(row((self.sentence, 1), self.button))
        self.body.addWidget(self._found_or_not, 1)
        self.clear()

    def clear(self) -> None:
        self.sentence.clear()
        self.found.set_rows(())
        self.show_sentence(
            self.tr("What the index finds will stand here: up to {n} texts with their scores.").format(n=TOP_K)
        )
        self.set_busy(busy=False)

    def text(self) -> str:
        return self.sentence.text().strip()

    def set_busy(self, *, busy: bool) -> None:
        self._is_busy = busy
        self._show_possible()

    def show_result(self, result: SearchResult) -> None:
        self.found.set_rows(result.hits)
        if not result.hits:
            self.show_sentence(
                self.tr("The index found nothing. It may not have taken the vectors in yet; “Check again” tells.")
            )
            return
        self._found_or_not.show_content()
        self.table.scrollToTop()

    def _show_possible(self) -> None:
        why_not = "" if self.text() else self.tr("Type a sentence first.")
        self.button.set_possible(self.tr("The sentence is on its way.") if self._is_busy else why_not)

    def _columns(self) -> tuple[Column[Hit], ...]:
        other = self.tr("not of this job")
        return (
            ScoreColumn(
                self.tr("Score"),
                lambda hit: hit.score,
                key="score",
                width=90,
                tip=self.tr("As the index computes it, by its own metric."),
            ),
            Column(self.tr("ID"), lambda hit: hit.id, key="id", width=110, least=60),
            Column(
                self.tr("Text"),
                lambda hit: hit.text,
                key="text",
                stretch=True,
                text=lambda hit: other if hit.text is None else hit.text,
                colour=lambda hit: "quiet" if hit.text is None else "text",
            ),
        )
