"""What can be changed before sending: model, connection, queue or not, texts too long, pooling, account, budget."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QGridLayout, QLineEdit, QWidget

from cfbatch_gui.core.connections.address_book import ConnectionSummary
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.account.shards import most_batches, wants_account
from cfbatch_gui.core.jobs.states import Job, JobOptions
from cfbatch_gui.core.system.languages import said
from cfbatch_gui.core.workers_ai.connection_kinds import Connection, ConnectionKind
from cfbatch_gui.core.workers_ai.model_listing import Catalogue
from cfbatch_gui.ui import display
from cfbatch_gui.ui.budget import BudgetFields
from cfbatch_gui.ui.state_names import title_words
from cfbatch_gui.ui.theme import MEDIUM, SMALL, TINY, scaled
from cfbatch_gui.ui.widgets import Card, CheckBox, Choice, IconLine, Label, boxed, column, row

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
