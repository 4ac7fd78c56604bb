"""The card of a batch that may or may not have arrived: what happened, what it may have cost, and three choices."""

from PySide6.QtWidgets import QLineEdit, QWidget

from cfbatch_gui.core.errors import UserError
from cfbatch_gui.core.jobs.plan.spending import Planned
from cfbatch_gui.core.jobs.states import Batch, Job
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.system.languages import said
from cfbatch_gui.ui import dialogs, display
from cfbatch_gui.ui.confirmation import send_within_budget
from cfbatch_gui.ui.job_labels import is_practice
from cfbatch_gui.ui.jobs.job_summary import batch_price_words
from cfbatch_gui.ui.tasks import Tasks
from cfbatch_gui.ui.theme import MEDIUM, SMALL, scaled
from cfbatch_gui.ui.widgets import Button, Card, Flow, IconLabel, Label, QuietButton, boxed, row


class UnknownOutcomeCard(Card):
    """The card of one batch; the page removes it when the runner reports another state."""

    def __init__(self, program: Program, job: Job, batch: Batch, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self._program, self._actions, self._job, self._batch = program, program.actions, job, batch
        self.tasks = Tasks(self, self.show_error)
        self._title = Label("", "part")
        self._seen = Label("", "body", wrap=True)
        self._means = Label("", "quiet", wrap=True)
        self.id_field = QLineEdit()
        self.id_field.setPlaceholderText(self.tr("Request ID, if you have it"))
        self.id_field.setAccessibleName(self.tr("Request ID of batch {n}").format(n=batch.number))
        self.id_field.setMinimumWidth(scaled(190))
        self.id_field.setMaximumWidth(scaled(340))
        self.id_field.textChanged.connect(self._typed)
        self.id_field.returnPressed.connect(self.adopt)
        self.adopt_button = Button(self.tr("Use this ID"), "link")
        self.adopt_button.clicked.connect(self.adopt)
        self.again_button = Button(self.tr("Send again…"), "rotate-ccw")
        self.again_button.clicked.connect(lambda: self.tasks.start("send again", self._send_again()))
        self.dismiss_button = QuietButton(self.tr("Leave it out"), "x")
        self.dismiss_button.setToolTip(self.tr("Leave this batch without results. It can still be sent again."))
        self.dismiss_button.clicked.connect(lambda: self.tasks.start("dismiss", self._dismiss()))
        self._error = Label("", "error", wrap=True)
        self._error.hide()
        self.body.addLayout(row(IconLabel("triangle-alert", "attention", 18), self._title, None))
        self.body.addWidget(self._seen)
        self.body.addWidget(self._means)
        self.body.addSpacing(MEDIUM - SMALL)
        self.body.addWidget(boxed(Flow(self.id_field, self.adopt_button, self.again_button, self.dismiss_button)))
        self.body.addWidget(self._error)
        self._typed("")

    def show_batch(self, job: Job, batch: Batch, planned: Planned) -> None:
        """Show what is known of the batch; a typed id stays."""
        self._job, self._batch = job, batch
        for widget in (self.id_field, self.adopt_button):
            widget.setVisible(not batch.at_once)  # a batch that was run without the queue has no request id
        self._title.setText(self.tr("Batch {n} may or may not have arrived").format(n=batch.number))
        self._seen.setText(said(batch.error))
        self._means.setText(" ".join((self._what_it_means(), self._what_it_cost(planned))))

    def adopt(self) -> None:
        """Adopt the request ID in the field."""
        if self.id_field.text().strip():
            self.tasks.start("adopt", self._adopt(self.id_field.text().strip()))

    def show_error(self, error: UserError) -> None:
        """Show below the field why an action failed."""
        self._error.setText(said(error.message))
        self._error.show()

    def error(self) -> str:
        """The error below the field, as it was shown last."""
        return self._error.text()

    def _what_it_means(self) -> str:
        if self._batch.at_once:
            return self.tr("It was run without the queue, so its answer cannot be asked for any more.")
        texts = display.plural(self._batch.texts, "{n} text", "{n} texts")
        return self.tr(
            "The service keeps no list of what it has accepted, so only a request ID can tell. If you have it, from a"
            " log or a proxy, paste it: it is adopted when the answer fits these {texts}."
        ).format(texts=texts)

    def _what_it_cost(self, planned: Planned) -> str:
        if is_practice(self._job):
            return self.tr("Practice costs nothing.")
        price = batch_price_words(self._job, self._batch, planned)
        if not price:
            return self.tr("If it was accepted, it was billed; sending it again is billed again.")
        return self.tr("If it was accepted, it cost {price}; sending it again costs that again.").format(price=price)

    def _typed(self, text: str) -> None:
        self.adopt_button.set_possible("" if text.strip() else self.tr("Paste the request ID first."))
        self._error.hide()

    async def _adopt(self, request_id: str) -> None:
        self._error.hide()
        await self._actions.adopt(self._job.id, self._batch.number, request_id)

    async def _send_again(self) -> None:
        sure = await dialogs.ask(
            self.window(),
            self.tr("Send batch {n} again?").format(n=self._batch.number),
            self.tr("If it did arrive the first time, it may be billed twice."),
            accept=self.tr("Send again"),
            danger=True,
        )
        if sure:
            await send_within_budget(self, self._program, self._job.id, self._batch.number)

    async def _dismiss(self) -> None:
        await self._actions.dismiss(self._job.id, self._batch.number)
