"""The third part of a draft: its figures, the rows left out, whether it can be sent, and the button that sends it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum

from PySide6.QtCore import QCoreApplication, QSize, Qt, Signal
from PySide6.QtWidgets import QGridLayout, QLineEdit, QSizePolicy, QWidget

from cfbatch_gui.core.connections.address_book import ConnectionSummary
from cfbatch_gui.core.inputs.input_values import Kind, ProblemKind
from cfbatch_gui.core.jobs.plan.preflight import Preflight, Reuse
from cfbatch_gui.core.jobs.plan.spending import Spent, over_budget, past_times
from cfbatch_gui.core.jobs.states import Job, JobOptions, most_batches, wants_account
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.system.languages import said
from cfbatch_gui.core.workers_ai.catalogue import FREE_NEURONS_A_DAY, ModelMetadata, find_model, next_reset
from cfbatch_gui.core.workers_ai.connection_kinds import Connection, ConnectionKind
from cfbatch_gui.core.workers_ai.model_listing import Catalogue
from cfbatch_gui.ui import display
from cfbatch_gui.ui.budget import BudgetFields
from cfbatch_gui.ui.display import number, one_line, plural, prices, size, usual_words
from cfbatch_gui.ui.inputs.draft_reading import DraftState
from cfbatch_gui.ui.inputs.input_labels import clock_time, count_range, share_of_day
from cfbatch_gui.ui.inputs.problems_view import DOUBTFUL, ProblemBars, ProblemRows, ProblemsView
from cfbatch_gui.ui.state_names import connection_of, short_model, title_words
from cfbatch_gui.ui.theme import MEDIUM, SMALL, TINY, WIDE, scaled
from cfbatch_gui.ui.widgets import (
    Button,
    Card,
    CheckBox,
    Choice,
    ElidedLabel,
    Figure,
    Flow,
    IconLine,
    Label,
    LinkButton,
    PrimaryButton,
    QuietButton,
    SectionCard,
    boxed,
    column,
    row,
)

_MODEL_LETTERS = 24  # of a name that is typed
_LEAST_LETTERS = 12  # of a choice in a narrow window
_BOX_HEIGHT = 20  # pixels of a check box, for the label beside it


class OptionsPanel(Card):
    model_chosen = Signal(str)
    connection_chosen = Signal(str)
    options_chosen = Signal(object)

    def __init__(self) -> None:
        super().__init__(inset=True, margins=(16, 12, 16, 12))
        self._options = JobOptions()
        self._model = ""
        self.model = _Narrowing(self.tr("Model"))
        self.typed_model = QLineEdit()
        self.typed_model.setAccessibleName(self.model.accessibleName())
        self.model.setEditable(True)
        self.model.setLineEdit(self.typed_model)
        self.model.setInsertPolicy(Choice.InsertPolicy.NoInsert)
        self.model.setMinimumContentsLength(_MODEL_LETTERS)
        self.model.picked.connect(self._pick_model)
        self.typed_model.editingFinished.connect(self._type_model)
        self.hint = IconLine("", "info")
        self.connection = _Narrowing(self.tr("Connection"), on_picked=self.connection_chosen.emit)
        ways = ((self.tr("In batches, through the queue"), False), (self.tr("At once, without the queue"), True))
        self.way = self._option(self.tr("Sending"), "at_once", *ways)
        cuts = ((self.tr("Read only their beginning"), True), (self.tr("Leave them out"), False))
        self.too_long = self._option(self.tr("Texts that are too long"), "truncate_inputs", *cuts)
        self.pooling = self._option(self.tr("Pooling"), "pooling")
        self.account = CheckBox(self.tr("Collect in my account"))
        self.account.clicked.connect(self._choose_account)
        self._account_about = Label("", "small", wrap=True)
        self._account_part = boxed(column(row(self.account, None), self._account_about, gap=TINY))
        self._collects = False  # the connection, unless the job says otherwise
        self.budget = BudgetFields()
        self._labels: dict[QWidget, Label] = {}
        self._lay_out()

    def _option(self, name: str, option: str, *choices: tuple[str, object]) -> Choice:
        """The choice of one of the job's options."""
        return _Narrowing(
            name, choices, lambda value: self.options_chosen.emit(replace(self._options, **{option: value}))
        )

    def _lay_out(self) -> None:
        grid = QGridLayout()
        grid.setHorizontalSpacing(MEDIUM)
        grid.setVerticalSpacing(SMALL)
        grid.setColumnStretch(1, 1)
        for line, field in zip((0, 2, 3, 4, 5), self._fields(), strict=True):
            label = self._labels[field] = Label(field.accessibleName(), "quiet")
            label.setBuddy(field)
            grid.addWidget(label, line, 0)
            grid.addWidget(field, line, 1, Qt.AlignmentFlag.AlignLeft)
        answers = self._labels[self._account_part] = Label(self.tr("Answers"), "quiet")
        answers.setMinimumHeight(scaled(_BOX_HEIGHT))
        grid.addWidget(answers, 6, 0, Qt.AlignmentFlag.AlignTop)
        grid.addWidget(self._account_part, 6, 1)
        budget = Label(self.budget.accessibleName(), "quiet", wrap=True)
        budget.setBuddy(self.budget.a_job)
        grid.addWidget(budget, 7, 0)
        grid.addWidget(self.budget, 7, 1)
        grid.addWidget(self.hint, 1, 1)
        self.body.addLayout(grid)

    def _fields(self) -> tuple[Choice, ...]:
        return self.model, self.connection, self.way, self.too_long, self.pooling

    def show_job(
        self,
        job: Job,
        kind: Kind,
        connections: Sequence[ConnectionSummary],
        catalogue: Catalogue,
        *,
        fits_synchronous: bool,
    ) -> None:
        self._options = job.options
        metadata = catalogue.find(job.model)
        self._show_model(job.model, kind, catalogue)
        self.hint.set_line(self._hint_words(catalogue, job.model))
        self.way.set_value(job.options.at_once)
        self._show(self.way, fits_synchronous or job.options.at_once)
        self.connection.clear()
        for each in connections:
            self.connection.add(self._connection_words(each), each.id)
        self.connection.set_value(job.connection)
        self._show(self.connection, len(connections) > 1)
        self.too_long.set_value(job.options.truncate_inputs)
        self.pooling.clear()
        own = metadata.poolings[0] if metadata.poolings else ""
        self.pooling.add(self.tr("The model's own ({name})").format(name=own), "")
        for name in metadata.poolings[1:]:
            self.pooling.add(name, name)
        self.pooling.set_value(job.options.pooling)
        self._show(self.pooling, bool(metadata.poolings) and kind is Kind.EMBED)

    def show_account(self, job: Job, connection: Connection | None, *, batches: int) -> None:
        """Only a Worker's account collects, and only batches."""
        is_worker = connection is not None and connection.kind is ConnectionKind.WORKER
        self._show(self._account_part, is_worker and not job.options.at_once)
        if connection is None:
            return
        self._collects = connection.collects
        self.account.setChecked(wants_account(job, connection))
        about = self.tr(
            "You can close this computer once all batches are with your account: it keeps their answers until CF Batch"
            " is open again."
        )
        if batches > most_batches(connection):
            about += " " + self.tr(
                "On the Workers Free plan it collects {most} of these {n} batches; the program asks for the others."
            ).format(most=display.number(most_batches(connection)), n=display.number(batches))
        self._account_about.setText(about)
        self.account.setAccessibleDescription(about)

    def _choose_account(self, chosen: bool) -> None:
        kept = None if chosen == self._collects else chosen
        self.options_chosen.emit(replace(self._options, collect_in_account=kept))

    def _hint_words(self, catalogue: Catalogue, model: str) -> str:
        metadata, day = catalogue.find(model), datetime.fromtimestamp(catalogue.listed_at, UTC).date()
        if not metadata.is_listed:
            return self.tr("Not in our list of {date}: limits and price are cautious guesses.").format(date=day)
        said = self.tr("Models as Cloudflare listed them on {date}.").format(date=day)
        if metadata.retired_on:
            said += " " + self.tr("This one ends on {date}.").format(date=metadata.retired_on)
        if not metadata.batch:
            said += " " + self.tr("This one is not marked for batches.")
        return said

    def _connection_words(self, summary: ConnectionSummary) -> str:
        if not summary.is_ready:
            return self.tr("{name} (not ready)").format(name=title_words(summary.title))
        if not summary.is_confirmed:
            return self.tr("{name} (batches unconfirmed)").format(name=title_words(summary.title))
        return title_words(summary.title)

    def _show_model(self, name: str, kind: Kind, catalogue: Catalogue) -> None:
        fitting = [model for model in catalogue.models if model.can_rank or kind is Kind.EMBED]
        names = [model.name for model in fitting]
        if [self.model.itemData(index) for index in range(self.model.count())] != names:
            self.model.clear()
            for model in fitting:
                self.model.add(said(model.title), model.name)
        if name != self._model or not self.typed_model.hasFocus():
            self._model = name
            self.model.setCurrentIndex(names.index(name) if name in names else -1)
            if name not in names:
                self.model.setEditText(name)

    def _show(self, field: QWidget, shown: bool) -> None:
        field.setVisible(shown)
        self._labels[field].setVisible(shown)

    def _pick_model(self, name: object) -> None:
        if isinstance(name, str) and name != self._model:
            self._choose(name)

    def _type_model(self) -> None:
        typed = self.typed_model.text().strip()
        known = {self.model.itemText(index): str(self.model.itemData(index)) for index in range(self.model.count())}
        name = known.get(typed, typed)
        if name and name != self._model:
            self._choose(name)

    def _choose(self, name: str) -> None:
        self._model = name
        self.model_chosen.emit(name)


class _Narrowing(Choice):
    def minimumSizeHint(self) -> QSize:
        least = self.sizeHint()
        return least.boundedTo(QSize(_LEAST_LETTERS * self.fontMetrics().horizontalAdvance("x") + 40, least.height()))


_NOTHING = "–"
_LONGEST_NAME = 40  # characters of a job's name
_NOTEWORTHY = 0.01  # share of the free neurons of a day; less than this spent today is not mentioned


class FiguresRow(QWidget):
    """Five figures in columns of fixed proportions, so that changing numbers do not move them."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second, self.batches, self.tokens, self.price = (Figure(wrap=True) for _ in range(5))
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 2, 0, 0)
        grid.setHorizontalSpacing(MEDIUM)
        for index, figure in enumerate(self.figures()):
            grid.addWidget(figure, 0, index, Qt.AlignmentFlag.AlignTop)
            grid.setColumnStretch(index, 7 if index < 4 else 12)
            grid.setColumnMinimumWidth(index, 84)

    def figures(self) -> tuple[Figure, ...]:
        return self.first, self.second, self.batches, self.tokens, self.price

    def says_nothing(self) -> bool:
        return self.first.number() in ("", _NOTHING)

    def show_counts(self, kind: Kind | None, queries: int = 0, texts: int = 0) -> None:
        """What is known before tokens are counted, 0 for nothing."""
        names = (self.tr("texts"), self.tr("requests")) if kind is Kind.EMBED else self._ranking_names(queries, texts)
        captions = (*names, self.tr("batches"), self.tr("tokens"), self.tr("price"))
        counts = (texts, 0, 0, 0, 0) if kind is Kind.EMBED else (queries, texts, 0, 0, 0)
        for figure, count, caption in zip(self.figures(), counts, captions, strict=True):
            figure.set_figure(number(count) if count else _NOTHING, caption)

    def show_preflight(
        self, found: Preflight, kind: Kind, model: ModelMetadata, *, is_practice: bool, spent: Spent, now: float
    ) -> None:
        """`now` is in seconds since 1970."""
        if kind is Kind.RANK:
            counts, names = (found.queries, found.texts), self._ranking_names(found.queries, found.texts)
        else:
            counts = (found.texts, found.requests)
            names = (
                self.tr("text") if found.texts == 1 else self.tr("texts"),
                self.tr("request") if found.requests == 1 else self.tr("requests"),
            )
        if found.reuse is not None:
            counts, names = (found.sent_texts, found.reuse.texts), self._reuse_names(found, found.reuse)
        self.first.set_figure(number(counts[0]), names[0])
        self.second.set_figure(number(counts[1]), names[1])
        self.batches.set_figure(number(len(found.batches)), self._batches_caption(found))
        if is_practice:
            self.tokens.set_figure(count_range(found.tokens_low, found.tokens_high), self.tr("tokens, estimated"))
            self.price.set_figure(self.tr("$0"), self.tr("Practice: costs nothing"))
        else:
            neurons = count_range(round(found.price_low.neurons), max(1, round(found.price_high.neurons)))
            caption = self.tr("tokens · {neurons} neurons").format(neurons=neurons)
            self.tokens.set_figure(
                count_range(found.tokens_low, found.tokens_high),
                caption if found.price_low.is_listed else self.tr("tokens, estimated"),
            )
            self.price.set_figure(prices(found.price_low, found.price_high), self._price_caption(found, spent, now))

    def _ranking_names(self, queries: int = 0, contexts: int = 0) -> tuple[str, str]:
        return (
            self.tr("query") if queries == 1 else self.tr("queries"),
            self.tr("context") if contexts == 1 else self.tr("contexts"),
        )

    def _reuse_names(self, found: Preflight, reuse: Reuse) -> tuple[str, str]:
        sent = self.tr("text to send") if found.sent_texts == 1 else self.tr("texts to send")
        if len(reuse.found.jobs) == 1:
            name = one_line(reuse.found.jobs[0].job.name, _LONGEST_NAME)
            return sent, self.tr("taken from “{name}”").format(name=name)
        return sent, plural(len(reuse.found.jobs), "taken from {n} earlier job", "taken from {n} earlier jobs")

    def _batches_caption(self, found: Preflight) -> str:
        if any(batch.at_once for batch in found.batches):
            return self.tr("request at once") if len(found.batches) == 1 else self.tr("requests at once")
        if len(found.batches) == 1:
            return self.tr("batch · {size}").format(size=size(found.largest_bytes))
        return self.tr("batches · largest {size}").format(size=size(found.largest_bytes))

    def _price_caption(self, found: Preflight, spent: Spent, now: float) -> str:
        if not found.price_high.is_listed:
            return self.tr("Cloudflare names none for this model")
        if found.reuse is not None:
            return self.tr("instead of {price}").format(price=prices(found.reuse.low, found.reuse.high))
        share, time = share_of_day(found.price_high.share_of_free_day), clock_time(next_reset(now))
        if spent.neurons < _NOTEWORTHY * FREE_NEURONS_A_DAY:
            return self.tr("{share}; resets {time}").format(share=share, time=time)
        left = int(100 * spent.free_left / FREE_NEURONS_A_DAY)
        return self.tr("{share}; {n} % left till {time}").format(share=share, n=left, time=time)


FIRST = 5  # how many queries or texts "Try the first 5" takes
_LEAST_LINE = 120  # pixels of the sentence beside the main button


class Cure(StrEnum):
    NONE = "none"
    CONNECT = "connect"
    USE_RANKING_MODEL = "use_ranking_model"
    READ_AGAIN = "read_again"
    RUN_SYNCHRONOUSLY = "run_at_once"  # nothing is wrong: an offer
    USE_QUEUE = "use_queue"


@dataclass(frozen=True, slots=True)
class Readiness:
    """`why_not` is the sentence that says why a draft cannot be sent, "" when it can; `cure` is its link.

    `is_waiting`: the reason ends without the user.
    """

    why_not: str = ""
    cure: Cure = Cure.NONE
    is_waiting: bool = False


class CheckSection(SectionCard):
    """Shows figures, problems and settings; `foot`, with the buttons that send, stands below the scrolled part."""

    rows_wanted = Signal(str)  # a kind of problem
    doubtful_wanted = Signal(bool)  # whether doubtful rows are sent
    cure_wanted = Signal(object)  # a Cure

    def __init__(self, program: Program) -> None:
        super().__init__(self.tr("Check and send"), foldable=False)
        self._program = program
        self._is_sending = False
        self._why_not = ""
        self.facts = ElidedLabel("", "quiet")
        self.facts.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Preferred)
        self.options_button = QuietButton(self.tr("Options"), "sliders-horizontal")
        self.options_button.setCheckable(True)
        self.options_button.toggled.connect(self._show_options)
        self.actions_row.addWidget(self.facts)
        self.actions_row.addWidget(self.options_button)
        self.options = OptionsPanel()
        self.options.hide()
        self.figures = FiguresRow()
        self.problem_bars = bars = ProblemBars()
        bars.rows_wanted.connect(self._toggle_rows)
        bars.doubtful_wanted.connect(self._choose_doubtful)
        bars.changed.connect(self._bars_changed)
        self.problems = ProblemsView()
        self.problems.doubtful_wanted.connect(self._choose_doubtful)
        self.problems.hide()
        self.problems.closed.connect(self.problems.hide)
        self._problems_kind = self._next_kind = ""
        self.line = Label("", "quiet", wrap=True)
        self.cure = LinkButton(on_click=lambda: self.cure_wanted.emit(self._cure))
        self.cure.hide()
        self._cure = Cure.NONE
        self.try_button = Button(self.tr("Try the first {n}").format(n=FIRST))
        self.send_button = PrimaryButton("", "send")
        self.line.setMinimumWidth(scaled(_LEAST_LINE))
        self.line.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        foot = Flow(self.line, self.cure, self.try_button, self.send_button)
        self.foot = boxed(column(boxed(foot), margins=(WIDE, SMALL, WIDE, MEDIUM)))
        for part in (self.options, self.figures, self.problem_bars, self.problems):
            self.content.addWidget(part)
        self.content.setSpacing(MEDIUM + 2)

    def show_state(self, state: DraftState, job: Job, connections: tuple[ConnectionSummary, ...]) -> None:
        connection = next((each for each in connections if each.id == job.connection), None)
        catalogue = self._program.connections.models(job.connection)
        kind = state.kind or job.kind
        title = title_words(connection.title) if connection else job.connection
        self.facts.setText(" · ".join(filter(None, (short_model(job), title))))
        self.facts.updateGeometry()
        found = state.preflight
        fits = found is not None and bool(found.synchronous_sentence)
        self.options.show_job(job, kind, connections, catalogue, fits_synchronous=fits)
        batches = len(found.batches) if found is not None else 0
        self.options.show_account(job, connection_of(self._program, job), batches=batches)
        self.options.budget.show_budget(self._program.settings.budget)
        metadata = catalogue.find(job.model)
        if found is None:
            if state.is_reading and state.is_read:
                self.figures.show_counts(state.kind, job.queries, job.texts)
            elif not state.is_reading or self.figures.says_nothing():
                self.figures.show_counts(state.kind)
        else:
            is_practice = connection is not None and connection.is_practice
            self.figures.show_preflight(
                found, kind, metadata, is_practice=is_practice, spent=state.spent, now=self._program.clock()
            )
        if found is not None or not state.is_reading:
            self.problem_bars.show_preflight(found, job, metadata)
        self._show_foot(state, job, connection)

    def set_sending(self, is_sending: bool) -> None:
        self._is_sending = is_sending
        if is_sending:
            self.line.setText(self.tr("Packing what is to be sent…"))
            self.line.set_role("quiet")
        self._enable()

    def show_problems(self, found: ProblemRows, sentence: str, count: int) -> None:
        self._problems_kind = found.kind
        self.problems.show_problems(found, sentence, count)
        self.problems.show()

    def problems_shown(self) -> str:
        return "" if self.problems.isHidden() else self._problems_kind

    def _show_options(self, shown: bool) -> None:
        self.options.setVisible(shown)
        self.options_button.setAccessibleDescription(self.tr("shown") if shown else "")

    def _toggle_rows(self, kind: str) -> None:
        if self.problems_shown() == kind:
            self.problems.hide()
        else:
            self.rows_wanted.emit(kind)

    def _choose_doubtful(self, sends: bool) -> None:
        """The rows that are shown stay in sight: they have the other kind as soon as the file is read."""
        if self.problems_shown() in DOUBTFUL:
            self._next_kind = ProblemKind.DOUBTFUL_SENT if sends else ProblemKind.DOUBTFUL_ROW
        self.doubtful_wanted.emit(sends)

    def _bars_changed(self) -> None:
        kind, self._next_kind = self._next_kind, ""
        if kind and self.problems_shown() and kind in self.problem_bars.kinds():
            self.rows_wanted.emit(kind)
        else:
            self.problems.hide()

    def _show_foot(self, state: DraftState, job: Job, connection: ConnectionSummary | None) -> None:
        ready = readiness(state, job, connection)
        self._why_not = said(ready.why_not)
        found = state.preflight
        self.send_button.setText(self._send_words(state, job))
        self._cure = ready.cure
        is_practice = connection is not None and connection.is_practice
        if ready.why_not:
            self.line.setText(said(ready.why_not))
            self.line.set_role("quiet" if ready.is_waiting or not state.has_data else "attention")
        else:
            is_over = found is not None and not is_practice
            too_dear = (
                over_budget(found.price_high, self._program.settings.budget, state.spent) if is_over and found else ""
            )
            self.line.setText(said(too_dear) or self._time_words(found, job, is_practice=is_practice))
            self.line.set_role("attention" if too_dear else "quiet")
            if job.options.at_once:
                self._cure = Cure.USE_QUEUE
            elif found is not None and found.synchronous_sentence and not is_practice:
                self._cure = Cure.RUN_SYNCHRONOUSLY
        self.cure.setText(self._cure_words(self._cure))
        self.cure.setVisible(self._cure is not Cure.NONE)
        count = 0 if found is None else found.queries if (state.kind is Kind.RANK) else found.texts
        self.try_button.setVisible(count > FIRST)
        self._enable()

    def _send_words(self, state: DraftState, job: Job) -> str:
        found = state.preflight
        if found is None or state.incomplete or not (found.batches or found.reuse):
            return self.tr("Send")
        if not found.batches:
            return self.tr("Finish without sending")
        if job.options.at_once:
            return plural(found.requests, "Run {n} request at once", "Run {n} requests at once")
        return plural(len(found.batches), "Send {n} batch", "Send {n} batches")

    def _time_words(self, found: Preflight | None, job: Job, *, is_practice: bool) -> str:
        if found is not None and not found.batches:
            return self.tr("Nothing is sent: earlier jobs have every result.")
        if job.options.at_once and found is not None and not found.synchronous_sentence:
            return self.tr("This is much for a run without the queue; batches are made for it.")
        if found is not None and found.synchronous_sentence and (job.options.at_once or not is_practice):
            return said(found.synchronous_sentence)
        if is_practice:
            return self.tr("Practice takes a few seconds.")
        past = past_times(self._program.ledger.jobs(), job.kind, job.connection, found.texts if found else job.texts)
        return usual_words(past) or self.tr(
            "Cloudflare says: usually within 5 minutes, depending on how much is going on there."
        )

    def _enable(self) -> None:
        why_not = self.tr("It is being sent.") if self._is_sending else self._why_not
        self.send_button.set_possible(why_not)
        self.try_button.set_possible(why_not)

    def _cure_words(self, cure: Cure) -> str:
        return {
            Cure.CONNECT: self.tr("Open connection"),
            Cure.USE_RANKING_MODEL: self.tr("Use bge-m3"),
            Cure.READ_AGAIN: self.tr("Try again"),
            Cure.RUN_SYNCHRONOUSLY: self.tr("Run at once"),
            Cure.USE_QUEUE: self.tr("Use the queue"),
        }.get(cure, "")


def readiness(state: DraftState, job: Job, connection: ConnectionSummary | None) -> Readiness:
    """The first reason against sending, in the order in which the user can remove them."""
    if state.opening:
        return Readiness(_tr("Opening {name}…").format(name=state.opening), is_waiting=True)
    if state.question is not None:
        return Readiness(_tr("Choose the encoding of {name} first.").format(name=state.question.file.path.name))
    if not state.has_data:
        return Readiness(_tr("Bring your data first: open a file, drop it here, or paste."))
    if state.incomplete:
        return Readiness(state.incomplete)
    if job.kind is Kind.RANK and state.kind is Kind.RANK and not find_model(job.model).can_rank:
        return Readiness(state.trouble or _tr("This model cannot rank texts in batches."), Cure.USE_RANKING_MODEL)
    if state.trouble:
        return Readiness(state.trouble, Cure.READ_AGAIN)
    if state.is_reading or state.preflight is None:
        doing = _tr("Working out what it comes to…") if state.is_read else _tr("Reading the whole file…")
        return Readiness(doing, is_waiting=True)
    if state.preflight.blocker:
        return Readiness(state.preflight.blocker)
    if state.is_saving:
        return Readiness(_tr("Saving…"), is_waiting=True)
    if connection is not None and not connection.is_ready:
        sentence = _tr("{connection}: {sentence}").format(
            connection=title_words(connection.title), sentence=said(connection.sentence)
        )
        return Readiness(sentence, Cure.CONNECT)
    return Readiness()


def _tr(text: str) -> str:
    return QCoreApplication.translate("inputs", text)
