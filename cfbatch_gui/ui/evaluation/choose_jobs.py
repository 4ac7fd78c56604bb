"""Which jobs to compare a job with."""

import time
from collections.abc import Callable, Sequence

from PySide6.QtCore import QItemSelection, QItemSelectionModel, QSize, Qt
from PySide6.QtWidgets import QAbstractItemView, QWidget

from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.ui import display
from cfbatch_gui.ui.dialogs import FormDialog
from cfbatch_gui.ui.display import control_name, tr
from cfbatch_gui.ui.state_names import is_practice, short_model
from cfbatch_gui.ui.tables.table_rows import Column, NumberColumn, Rows
from cfbatch_gui.ui.tables.table_view import TableView
from cfbatch_gui.ui.widgets import EmptyPlace, PrimaryButton, SearchField

MOST = 8  # jobs in one comparison


def candidates(base: Job, jobs: Sequence[Job]) -> tuple[Job, ...]:
    """Other rankings with results; those of the same file first, then those of as many queries, the newest first."""
    others = [job for job in jobs if job.id != base.id and job.kind is Kind.RANK and job.has_results]

    def nearness(job: Job) -> tuple[bool, bool, float]:
        return job.source_name != base.source_name, job.queries != base.queries, -job.created_at

    return tuple(sorted(others, key=nearness))


class ChooseJobsDialog(FormDialog):
    """`chosen` has the jobs once it is accepted. Open it with `dialogs.finished`."""

    def __init__(
        self, base: Job, jobs: Sequence[Job], *, clock: Callable[[], float] = time.time, parent: QWidget | None = None
    ) -> None:
        super().__init__(tr("Compare with…"), parent)
        self.compare_button = PrimaryButton(tr("Compare"), "git-compare", self.accept)
        self._jobs = candidates(base, jobs)
        now = clock()
        self.find_field = SearchField(self.tr("Find a job"), shortcut=True)
        self.find_field.searched.connect(self._find)
        self.rows: Rows[Job] = Rows(self._columns(now), self._jobs, key=lambda job: job.id, parent=self)
        self.table = TableView("comparison/choose", self.tr("Jobs to compare with"), self.rows)
        self.table.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.table.opened.connect(lambda _: self.compare_button.click())
        self.table.selectionModel().selectionChanged.connect(self._selected)
        title = self.tr("Compare “{name}” with").format(name=display.one_line(base.name, 60))
        words = self.tr("Jobs over the same texts: another model, or another template. Hold {key} to choose several.")
        nothing = EmptyPlace(
            "list-ordered",
            self.tr("There is no other ranking with results yet. Duplicate this job and change its model."),
        )
        body = self.table if self._jobs else nothing
        about = words.format(key=control_name())
        self.lay_out(title, about, self.find_field, body, accept=self.compare_button)
        self.find_field.setVisible(bool(self._jobs))
        if self._jobs:
            self._select_first()
            self.table.setFocus(Qt.FocusReason.OtherFocusReason)
        self._selected()

    def chosen(self) -> tuple[Job, ...]:
        return tuple(self.rows.row(index) for index in self.table.selected_rows()) if self._jobs else ()

    def sizeHint(self) -> QSize:
        return QSize(680, 480)

    def _find(self, text: str) -> None:
        wanted = text.casefold().strip()
        self.rows.set_rows([job for job in self._jobs if wanted in job.name.casefold()])
        if self.rows.rowCount():
            self._select_first()
        self._selected()

    def _select_first(self) -> None:
        """Select the first row alone, also while Ctrl is held, with which `selectRow` would only toggle it."""
        flags = QItemSelectionModel.SelectionFlag.ClearAndSelect | QItemSelectionModel.SelectionFlag.Rows
        self.table.selectionModel().setCurrentIndex(self.rows.index(0, 0), flags)

    def _selected(self, _now: QItemSelection | None = None, _before: QItemSelection | None = None) -> None:
        count = len(self.chosen())
        why = "" if count else self.tr("Choose a job first.")
        if count >= MOST:
            why = self.tr("At most {n} jobs can be compared at once.").format(n=MOST)
        self.compare_button.set_possible(why)

    def _columns(self, now: float) -> tuple[Column[Job], ...]:
        return (
            Column(self.tr("Job"), lambda job: job.name, key="name", stretch=True),
            Column(
                self.tr("Model"),
                lambda job: self.tr("Practice") if is_practice(job) else short_model(job),
                key="model",
                width=150,
            ),
            NumberColumn(self.tr("Queries"), lambda job: job.queries, key="queries", width=80),
            Column(
                self.tr("Sent"), lambda job: job.sent_at, lambda sent: display.age(sent, now), key="sent", width=110
            ),
        )
