"""Judging: shows the page for some jobs, and afterwards what the judgements say about them."""

from collections.abc import Sequence

from PySide6.QtCore import QObject, Signal

from cfbatch_gui.core.program import Program
from cfbatch_gui.ui.judging.judge_page import JudgePage
from cfbatch_gui.ui.notices import Notices
from cfbatch_gui.ui.window.main_window import MainWindow


class Judging(QObject):
    """Emits `opened` with the id of a job whose judging is over, or `compared` with those of several."""

    opened = Signal(str)
    compared = Signal(list)

    def __init__(self, program: Program, notices: Notices, window: MainWindow) -> None:
        super().__init__(window)
        self._program, self._window = program, window
        self.page = JudgePage(program, notices)
        self.page.done.connect(self._done)

    def judge(self, job_ids: Sequence[str]) -> None:
        """Show the page for these jobs."""
        self._window.show_page(self.page)
        self._window.set_can_export(False)
        self._window.library.open_job("")
        self.page.judge([self._program.ledger.job(each) for each in job_ids])

    def _done(self, job_ids: list[str]) -> None:
        there = {job.id for job in self._program.ledger.jobs()}
        left = [each for each in job_ids if each in there]
        if len(left) > 1:
            self.compared.emit(left)
        elif left:
            self.opened.emit(left[0])
