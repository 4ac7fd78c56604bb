"""The details of a job as lines of text."""

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtWidgets import QWidget

from cfbatch_gui.core.jobs.plan.spending import Planned
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.program import Program
from cfbatch_gui.ui.theme import LARGE, SMALL
from cfbatch_gui.ui.widgets import PAGE_MARGINS, Button, Card, LabelGrid, boxed, column, row, scrolled
from cfbatch_gui.words.jobs import facts
from cfbatch_gui.words.languages import tr
from cfbatch_gui.words.states import connection_of, words_of_batch

Line = tuple[str, str]


class DetailsView(QWidget):
    def __init__(self, program: Program) -> None:
        super().__init__()
        self._program = program
        self._job: Job | None = None
        self._lines: tuple[Line, ...] = ()
        self._grid = LabelGrid("quiet", "body", stretches=(0, 1), gap=LARGE, wrapped=1)
        self.copy_button = Button(tr("Copy"), "copy", self.copy)
        self.folder_button = Button(tr("Show folder"), "folder-open", self.show_folder)
        about = Card(self._grid, SMALL, row(self.copy_button, self.folder_button, None))
        self.setLayout(column(scrolled(boxed(column(about, None, margins=PAGE_MARGINS))), gap=0))

    def show_job(self, job: Job, planned: Planned) -> None:
        self._job, program = job, self._program
        about = job, planned, connection_of(program, job), program.folder(job.id), program.clock()
        found = facts(*about, for_developers=program.settings.for_developers)
        self._show_lines(tuple(line for line in found if line[1]))

    def lines(self) -> tuple[Line, ...]:
        return self._lines

    def copy(self) -> None:
        QGuiApplication.clipboard().setText(self.as_text())

    def as_text(self) -> str:
        lines = [f"{name}: {value}" for name, value in self._lines]
        for batch in self._job.batches if self._job else ():
            state = words_of_batch(batch, self._job).text
            pattern = tr("Batch {n}: {state}, {id}")
            lines.append(pattern.format(n=batch.number, state=state, id=batch.request_id or "–"))
        return "\n".join(lines)

    def show_folder(self) -> None:
        if self._job is not None:
            folder = self._program.folder(self._job.id).path
            QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder)))

    def _show_lines(self, lines: tuple[Line, ...]) -> None:
        if lines == self._lines:
            return  # a selection stays
        self._lines = lines
        self._grid.show_lines(lines)
