"""Judging: shows the page for some jobs, and the page with what the judgements say about a ranking."""

from collections.abc import Sequence

from PySide6.QtCore import QObject, Signal

from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.program import Program
from cfbatch_gui.ui.jobs.job_page import JobPage
from cfbatch_gui.ui.jobs.library import Library
from cfbatch_gui.ui.judging.judge_page import JudgePage
from cfbatch_gui.ui.notices import Notices
from cfbatch_gui.ui.results.quality_view import QualityView
from cfbatch_gui.ui.tables.table_view import Memory
from cfbatch_gui.ui.window.comparing import Comparing
from cfbatch_gui.ui.window.main_window import MainWindow


class Judging(QObject):
    """Emits `opened` with the id of a job whose judging is over; several jobs are compared then."""

    opened = Signal(str)

    def __init__(
        self,
        program: Program,
        notices: Notices,
        window: MainWindow,
        comparing: Comparing,
        *,
        memory: Memory | None = None,
    ) -> None:
        super().__init__(window)
        self.quality = QualityView(program, notices, memory=memory)
        self._program, self._window, self._comparing = program, window, comparing
        comparing.page.judge_wanted.connect(self.judge)
        window.judge.connect(self._judge_shown)
        self.page = JudgePage(program, notices)
        self.page.done.connect(self._done)
        self.pages = (self.page, self.quality)
        self._job_page: JobPage | None = None

    def listen(self, library: Library, job_page: JobPage) -> None:
        """Judge a job when one of these asks for it; the page of the job shows its quality afterwards."""
        self._job_page = job_page
        for owner in (library, job_page, self.quality):
            owner.judge_wanted.connect(lambda job_id: self.judge([job_id]))

    def _judge_shown(self) -> None:
        """Judge what is on the screen: the jobs of a comparison, or a ranking that has scores."""
        if self._window.pages.currentWidget() is self._comparing.page:
            self._comparing.page.ask_to_judge()
            return
        job = self._program.ledger.job(opened) if (opened := self._window.library.opened_job()) else None
        if job is not None and job.kind is Kind.RANK and job.batches_done:
            self.judge([job.id])

    def judge(self, job_ids: Sequence[str]) -> None:
        """Show the page for these jobs."""
        jobs = [self._program.ledger.job(each) for each in job_ids]
        if any(job.texts_forgotten_at for job in jobs):
            self._window.notices.show_notice(self.tr("Texts that were removed cannot be judged."), "attention")
            return
        self._window.show_page(self.page)
        self._window.set_can_export(False)
        self._window.library.open_job("")
        self.page.judge(jobs)

    def _done(self, job_ids: list[str]) -> None:
        there = {job.id for job in self._program.ledger.jobs()}
        left = [each for each in job_ids if each in there]
        if len(left) > 1:
            self._comparing.compare(left)
        elif left:
            self.opened.emit(left[0])
            if self._job_page is not None:
                self._job_page.show_quality()
