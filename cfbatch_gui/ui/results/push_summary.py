"""A push while it runs or is stopped, what the index holds after it, and a search there."""

from collections.abc import Callable, Sequence

from PySide6.QtWidgets import QLineEdit, QSizePolicy, QWidget

from cfbatch_gui.core.results.nearest import LONGEST
from cfbatch_gui.core.system.languages import said
from cfbatch_gui.core.vectorize.push_values import Hit, IdSource, Push, PushOutcome, PushStage, SearchResult
from cfbatch_gui.core.vectorize.vectorize import TOP_K
from cfbatch_gui.ui import display
from cfbatch_gui.ui.display import tr
from cfbatch_gui.ui.results.running_pushes import RunningPush, dimension_words, short_name
from cfbatch_gui.ui.tables.table_rows import Column, NumberColumn, Rows, ScoreColumn
from cfbatch_gui.ui.tables.table_view import HEADER_HEIGHT, TableView
from cfbatch_gui.ui.theme import MEDIUM, ROW_HEIGHT, SMALL, scaled
from cfbatch_gui.ui.widgets import (
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


_MOST_ROWS = 4  # of what was sent that are shown without scrolling


class PushView(QWidget):
    """A push while it runs, is stopped or is over, and all of its job. `choose` is for another push; `on_picked` gets
    the one that the user picked.
    """

    def __init__(
        self,
        clock: Callable[[], float],
        *,
        pause: Callable[[], object],
        carry_on: Callable[[], object],
        check: Callable[[], object],
        choose: Callable[[], object],
        on_picked: Callable[[Push], object],
    ) -> None:
        super().__init__()
        self._clock = clock
        self._icon = IconLabel("loader", "accent", 18)
        self.title = Label("", "part", wrap=True)
        self.title.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.line = Label("", "body", wrap=True)
        self.bar = ThinProgress()
        self.more = Label("", "quiet", wrap=True)
        self.waiting, self.notes = Saying("clock"), Saying("info")
        self.pause_button = Button("", "pause", pause)
        self.carry_on_button = PrimaryButton(self.tr("Carry on"), "play", carry_on)
        self.check_button = Button(self.tr("Check again"), on_click=check)
        self.choose_button = Button("", on_click=choose)
        self._buttons = (self.pause_button, self.carry_on_button, self.check_button, self.choose_button)
        self.sent: Rows[Push] = Rows(
            _columns(), key=lambda each: (each.account_mark, each.index), parent=self, sortable=False
        )
        self.table = TableView(
            "vectorize/sent",
            self.tr("What was sent"),
            self.sent,
            inset=True,
            on_picked=lambda at: on_picked(self.sent.row(at)),
        )
        title, buttons = row(self._icon, (self.title, 1)), boxed(Flow(*self._buttons))
        state = Card(title, self.line, self.bar, self.more, self.waiting, self.notes, buttons)
        self._sent = Card(Label(self.table.accessibleName(), "strong"), self.table)
        self.setLayout(column(state, self._sent, gap=MEDIUM))

    def show_running(self, running: RunningPush) -> None:
        progress = running.progress
        is_sent = progress is not None and progress.stage in _AT_THE_INDEX
        pattern = self.tr("Everything was sent to “{index}”") if is_sent else self.tr("Sending to “{index}”")
        more = self.tr("You can close the window: what was accepted stays so, and the rest can be sent later.")
        if running.is_stopping:
            more = self.tr("Stopping…")
        elif is_sent:
            more = self.tr("Then it is counted, and some of the vectors are read back and compared.")
        self._show(
            ("loader", "accent"),
            pattern.format(index=short_name(running.index)),
            said(progress.sentence) if progress is not None else self.tr("Asking for the index…"),
            more,
            self.pause_button,
        )
        done, total = (progress.done, progress.total) if progress is not None else (0, 0)
        self.bar.set_parts(total if progress is not None and progress.stage is PushStage.PROCESSING else done, total)
        self.bar.show()
        if progress is not None and progress.waiting:
            again, reason = display.duration(progress.waiting_seconds), said(progress.waiting)
            words = self.tr("{reason} The next try is in {seconds}.").format(reason=reason, seconds=again)
            self.waiting.set_line(words, "clock", "attention")
        self.pause_button.setText(self.tr("Stop waiting") if is_sent else self.tr("Pause"))
        stopping = self.tr("It stops as soon as the call is over that is being made.") if running.is_stopping else ""
        self.pause_button.set_possible(stopping)

    def show_push(self, push: Push, pushes: Sequence[Push], dimension: int, checking: RunningPush | None) -> None:
        """One of the `pushes`, while nothing is sent; `checking` is there while its index is being compared."""
        sentence, finding = said(push.sentence), said(push.finding)
        if not push.is_whole:
            title = self.tr("Not everything is in “{index}” yet").format(index=short_name(push.index))
            line = sentence if push.vectors else self.tr("It stopped before the first vector was sent.")
            self._show(_STATES[push.outcome], title, line, finding, self.carry_on_button, self.choose_button)
            self.bar.set_parts(push.acknowledged, push.vectors)
            self.bar.show()
            self.waiting.set_line(said(push.failure), "triangle-alert", "attention")
            self.choose_button.setText(self.tr("Choose anew…"))
        else:
            if checking is not None and checking.progress is not None:
                finding = said(checking.progress.waiting or checking.progress.sentence)
            age = display.age(push.checked_at, self._clock()) if push.checked_at else ""
            more = " · ".join(filter(None, (dimension_words(dimension), age)))
            self._show(_STATES[push.outcome], sentence, finding, more, self.check_button, self.choose_button)
            self.notes.set_line("\n".join(map(said, push.notes)))
            self.choose_button.setText(self.tr("Send changes…"))
            self.sent.set_rows(tuple(pushes))
            self.table.setColumnHidden(0, len(pushes) < 2)
            shown = min(len(pushes), _MOST_ROWS)
            self.table.setFixedHeight(scaled(HEADER_HEIGHT) + shown * scaled(ROW_HEIGHT) + 2)
            self._sent.show()
        busy = self.tr("The index is being compared.") if checking is not None else ""
        self.check_button.set_possible(busy)
        self.choose_button.set_possible(busy)

    def _show(self, icon: tuple[str, str], title: str, line: str, more: str, *offered: Button) -> None:
        """What each state has, without what only some have."""
        self._icon.set_icon(*icon)
        for label, words in ((self.title, title), (self.line, line), (self.more, more)):
            label.setText(words)
        for saying in (self.waiting, self.notes):
            saying.set_line("")
        self.bar.hide()
        self._sent.hide()
        for button in self._buttons:
            button.setVisible(button in offered)


_STATES = {
    PushOutcome.VERIFIED: ("check", "done"),
    PushOutcome.SENT: ("circle-dashed", "attention"),
    PushOutcome.NOT_YET: ("clock", "attention"),
    PushOutcome.DIFFERENT: ("triangle-alert", "attention"),
    PushOutcome.SENDING: ("pause", "attention"),
}


def _columns() -> tuple[Column[Push], ...]:
    words = {IdSource.ROWS: tr("row numbers"), IdSource.OWN: tr("the job's IDs")}

    def quiet_if_none(text: str) -> Callable[[Push], str]:
        return lambda push: "text" if getattr(push.options, text) else "quiet"

    return (
        Column(tr("Index"), lambda push: push.index, key="index", width=130),
        Column(
            tr("ID from"),
            lambda push: words.get(push.options.ids, push.options.id_column),
            key="ids",
            width=110,
        ),
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

    def __init__(self, search: Callable[[], object]) -> None:
        super().__init__()
        self.price = Sentence("", "quiet")
        self.sentence = QLineEdit()
        self.sentence.setMaxLength(LONGEST)
        self.sentence.setAccessibleName(self.tr("A sentence to look for in the index"))
        self.sentence.setPlaceholderText(self.tr("Type what a visitor of your site would type"))
        self.sentence.setMinimumHeight(scaled(30))
        self.sentence.textChanged.connect(self.show_possible)
        self.button = PrimaryButton(self.tr("Search"), on_click=search)
        self.sentence.returnPressed.connect(self.button.click)
        self.found: Rows[Hit] = Rows(_hit_columns(), key=lambda each: each.id, parent=self, sortable=False)
        title = self.tr("Found in the index")
        self.table = TableView("vectorize/found", title, self.found, inset=True)
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
        self.show_possible()

    def text(self) -> str:
        return self.sentence.text().strip()

    def show_possible(self) -> None:
        self.button.set_possible("" if self.text() else self.tr("Type a sentence first."))

    def show_result(self, result: SearchResult) -> None:
        self.found.set_rows(result.hits)
        if not result.hits:
            self.show_sentence(
                self.tr("The index found nothing. It may not have taken the vectors in yet; “Check again” tells.")
            )
            return
        self._found_or_not.show_content()
        self.table.scrollToTop()


def _hit_columns() -> tuple[Column[Hit], ...]:
    other = tr("not of this job")
    return (
        ScoreColumn(
            tr("Score"),
            lambda hit: hit.score,
            key="score",
            width=90,
            tip=tr("As the index computes it, by its own metric."),
        ),
        Column(tr("ID"), lambda hit: hit.id, key="id", width=110, least=60),
        Column(
            tr("Text"),
            lambda hit: hit.text,
            key="text",
            stretch=True,
            text=lambda hit: other if hit.text is None else hit.text,
            colour=lambda hit: "quiet" if hit.text is None else "text",
        ),
    )
