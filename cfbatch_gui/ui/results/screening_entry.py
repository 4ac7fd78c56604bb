"""The way from a question to the screening in its order."""

from contextlib import suppress
from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from cfbatch_gui.core.errors import UsageError
from cfbatch_gui.core.jobs.states import Job, Purpose
from cfbatch_gui.core.judgements.screening import Screening
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.results.screening import read_records
from cfbatch_gui.core.system.threads import check_stopped, in_thread
from cfbatch_gui.ui.tasks import Tasks
from cfbatch_gui.ui.theme import LARGE
from cfbatch_gui.ui.widgets import Flow, LinkButton
from cfbatch_gui.words.figures import worded
from cfbatch_gui.words.languages import tr


def open_screening(program: Program, job: Job) -> Screening:
    """By the question that is kept with the job. Blocking; to be run by `in_thread`. Raises UserError."""
    records = read_records(program.folder(job.id), job, progress=lambda _: check_stopped())
    return Screening(records, program.decisions_of(job), clock=program.clock)


class ScreeningEntry(QWidget):
    """Begins by a question that was asked, or goes on. `wanted` brings the job's id once the question is on disk."""

    wanted = Signal(str)

    def __init__(self, program: Program, tasks: Tasks) -> None:
        super().__init__()
        self._program, self._tasks = program, tasks
        self._shown: tuple[Job, str] | None = None
        self._counted: object = None  # of what the counts are shown
        self.begin_button = LinkButton(tr("Screen in this order…"), "list-ordered", self._begin)
        self.go_on_button = LinkButton("", "play", self._go_on)
        self.setLayout(Flow(self.go_on_button, self.begin_button, gap=LARGE))
        self.hide()

    def show_question(self, job: Job, question: str) -> None:
        """The question whose answers are shown, "" for none."""
        self._shown, begun = (job, question), job.options.screening
        can_be = not (job.texts_forgotten_at or job.purpose.takes_lists)
        self.begin_button.setVisible(can_be and question not in ("", begun))
        counted = (job.id, job.options, job.state, self._program.judgements.size())
        if counted != self._counted:
            self._counted = counted
            self.go_on_button.hide()
            if can_be and begun:
                self._tasks.start("count", self._count(job))
        self._show()

    async def _count(self, job: Job) -> None:
        with suppress(UsageError):  # where its question was removed
            flow = (await in_thread(open_screening, self._program, job)).flow
            counts = {"n": flow.screened, "all": flow.screened + flow.left}
            self.go_on_button.setText(worded("Screening: {n} of {all} · Go on", **counts))
            self.go_on_button.show()
            self._show()

    def _show(self) -> None:
        self.setVisible(not (self.begin_button.isHidden() and self.go_on_button.isHidden()))

    def _go_on(self) -> None:
        if self._shown is not None:
            self.wanted.emit(self._shown[0].id)

    def _begin(self) -> None:
        if self._shown is not None:
            self._tasks.start("screen", self._keep(*self._shown))

    async def _keep(self, job: Job, question: str) -> None:
        """Verdicts are those of the search's purpose, which any job of texts can have."""
        use = partial(self._program.drafts.use_for, job.id, screening=question, purpose=Purpose.SEARCH)
        await self._program.store.on_disk(use)
        self.wanted.emit(job.id)
