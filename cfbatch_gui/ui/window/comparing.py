"""Comparing jobs: asks which others to compare a job with, and shows the comparison in the window."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QDialog

from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.system.made_once import is_made, made_once
from cfbatch_gui.ui import dialogs, display
from cfbatch_gui.ui.notices import Notices
from cfbatch_gui.ui.result_view import imported
from cfbatch_gui.ui.tables.table_view import Memory
from cfbatch_gui.ui.tasks import Tasks
from cfbatch_gui.ui.window.main_window import MainWindow

if TYPE_CHECKING:
    from cfbatch_gui.ui.evaluation.comparison_page import ComparisonPage

_PAGE = "cfbatch_gui.ui.evaluation.comparison_page"


class Comparing(QObject):
    """Emits `opened` with the id of a job to open instead of the comparison."""

    opened = Signal(str)
    judge_wanted = Signal(list)  # the ids of jobs

    def __init__(
        self, program: Program, notices: Notices, window: MainWindow, tasks: Tasks, *, memory: Memory | None = None
    ) -> None:
        super().__init__(window)
        self._program, self._notices, self._window, self._tasks = program, notices, window, tasks
        self._memory = memory
        window.compare.connect(self._choose_for_opened)

    @made_once
    def page(self) -> "ComparisonPage":
        """The page, made for the first comparison."""
        from cfbatch_gui.ui.evaluation.comparison_page import ComparisonPage

        page = ComparisonPage(self._program, self._notices, memory=self._memory)
        page.done.connect(self.opened)
        page.more_wanted.connect(self.choose)
        page.judge_wanted.connect(self.judge_wanted)
        return page

    def is_shown(self) -> bool:
        """Whether the comparison is what the window shows."""
        return is_made(self, "page") and self._window.pages.currentWidget() is self.page

    async def close_work(self) -> None:
        """Stop what the page is doing."""
        if is_made(self, "page"):
            await self.page.tasks.close()

    def choose(self, job_id: str) -> None:
        """Ask which jobs to compare this one with, and show the comparison."""
        self._tasks.start("compare", self._choose(job_id))

    def _choose_for_opened(self) -> None:
        job = self._program.ledger.job(opened) if (opened := self._window.library.opened_job()) else None
        if job is not None and job.kind is Kind.RANK and job.has_results:
            self.choose(job.id)

    async def _choose(self, job_id: str) -> None:
        from cfbatch_gui.ui.evaluation.choose_jobs import ChooseJobsDialog

        ledger = self._program.ledger
        dialog = ChooseJobsDialog(ledger.job(job_id), ledger.jobs(), parent=self._window)
        accepted = await dialogs.finished(dialog) == QDialog.DialogCode.Accepted
        others = [job.id for job in dialog.chosen()]
        if accepted and others:
            self.compare((job_id, *others))

    def compare_these(self, job_ids: Sequence[str]) -> None:
        """Compare jobs that were selected; the open one is what the others are compared with."""
        from cfbatch_gui.ui.evaluation.choose_jobs import MOST

        if len(job_ids) > MOST:
            text = self.tr("At most {n} jobs can be compared at once.").format(n=display.number(MOST))
            self._notices.show_notice(text, "attention")
            return
        opened = self._window.library.opened_job()
        self.compare(sorted(job_ids, key=lambda job_id: job_id != opened))

    def compare(self, job_ids: Sequence[str]) -> None:
        """Show the comparison of the first of these jobs with the others."""
        self._tasks.start("open", self._show(tuple(job_ids)))

    async def _show(self, job_ids: Sequence[str]) -> None:
        await imported(_PAGE)
        self._window.show_page(self.page)
        self._window.set_can_export(False)
        self._window.library.open_job("")
        self.page.compare([self._program.ledger.job(each) for each in job_ids])
