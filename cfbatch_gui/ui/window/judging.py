"""Judging: shows the page for some jobs, and the page with what the judgements say about a ranking."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.system.made_once import is_made, made_once
from cfbatch_gui.ui.late_view import LateView
from cfbatch_gui.ui.notices import Notices
from cfbatch_gui.ui.tables.layout_memory import Memory
from cfbatch_gui.ui.tasks import Tasks
from cfbatch_gui.ui.window.comparing import Comparing
from cfbatch_gui.ui.window.importing import imported
from cfbatch_gui.ui.window.main_window import MainWindow

if TYPE_CHECKING:
    from cfbatch_gui.ui.evaluation.judge_page import JudgePage
    from cfbatch_gui.ui.results.quality_view import QualityView

_PAGE = "cfbatch_gui.ui.evaluation.judge_page"
_VIEW = "cfbatch_gui.ui.results.quality_view"


class Judging(QObject):
    """Emits `opened` with the id of a job whose judging is over, and then `quality_wanted`; several are compared."""

    opened = Signal(str)
    quality_wanted = Signal()

    def __init__(
        self,
        program: Program,
        notices: Notices,
        window: MainWindow,
        comparing: Comparing,
        tasks: Tasks,
        *,
        memory: Memory | None = None,
    ) -> None:
        super().__init__(window)
        self._program, self._notices, self._window, self._comparing = program, notices, window, comparing
        self._tasks, self._memory = tasks, memory
        comparing.judge_wanted.connect(self.judge)
        window.judge.connect(self._judge_shown)

    @made_once
    def quality(self) -> "LateView[QualityView]":
        """The view of a ranking's quality, for the page of jobs."""
        return LateView(_VIEW, self._make_quality, self._notices.show_error, has_something=_can_be_judged)

    @made_once
    def page(self) -> "JudgePage":
        """The page, made for the first judging."""
        from cfbatch_gui.ui.evaluation.judge_page import JudgePage

        page = JudgePage(self._program, self._notices)
        page.done.connect(self._done)
        return page

    def judge_one(self, job_id: str) -> None:
        """Show the page for this job."""
        self.judge([job_id])

    async def close_work(self) -> None:
        """Stop what the page and the view are doing."""
        if is_made(self, "page"):
            await self.page.tasks.close()
        if is_made(self, "quality"):
            await self.quality.close_work()

    def _make_quality(self) -> "QualityView":
        from cfbatch_gui.ui.results.quality_view import QualityView

        view = QualityView(self._program, self._notices, memory=self._memory)
        view.judge_wanted.connect(self.judge_one)
        return view

    def _judge_shown(self) -> None:
        """Judge what is on the screen: the jobs of a comparison, or a ranking that has scores."""
        if self._comparing.is_shown():
            self._comparing.page.ask_to_judge()
            return
        job = self._program.ledger.job(opened) if (opened := self._window.library.opened_job()) else None
        if job is not None and _can_be_judged(job):
            self.judge_one(job.id)

    def judge(self, job_ids: Sequence[str]) -> None:
        """Show the page for these jobs."""
        jobs = [self._program.ledger.job(each) for each in job_ids]
        if any(job.texts_forgotten_at for job in jobs):
            self._window.notices.show_notice(self.tr("Texts that were removed cannot be judged."), "attention")
            return
        self._tasks.start("open", self._show(jobs))

    async def _show(self, jobs: Sequence[Job]) -> None:
        await imported(_PAGE)
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
            self.quality_wanted.emit()


def _can_be_judged(job: Job) -> bool:
    return job.kind is Kind.RANK and job.has_results
