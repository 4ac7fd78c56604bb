"""A real program on the practice service with its job page, as the composition root puts them together."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from PySide6.QtWidgets import QApplication, QWidget

from cfbatch_gui.core.inputs.file_rows import preview
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.inputs.recognise.recogniser import open_source
from cfbatch_gui.core.inputs.suggest import suggest_mapping
from cfbatch_gui.core.jobs.states import Batch, Job, JobState
from cfbatch_gui.core.program import Program
from cfbatch_gui.ui.job_actions import JobActions
from cfbatch_gui.ui.jobs.job_page import OVERVIEW, RANKING, VECTORS, JobPage
from cfbatch_gui.ui.notices import Notices
from cfbatch_gui.ui.result_view import ResultView
from cfbatch_gui.ui.results.ranking_view import OverviewView, RankingView
from cfbatch_gui.ui.results.vectors_view import VectorsView
from cfbatch_gui.ui.tasks import Tasks
from cfbatch_gui.ui.theme import styled_once
from cfbatch_gui.ui.widgets import column

MODEL = "@cf/baai/bge-m3"
TIED = """query,context,sku,label
reset my password,Choose a new password on the sign-in page,A-1,3
reset my password,Invoices are sent on the first of the month,A-2,0
reset my password,Invoices are sent on the first of the month,A-3,0
reset my password,Forgot the password? Reset it with the e-mail link,A-4,2
cancel an order,You can cancel an order until it is packed,B-1,3
cancel an order,Reset your password,B-2,0
"""
TEXTS = """id,text,category
0007,Desk lamp of brass,Lighting
0008,Brass lamp for the desk,Lighting
0009,Garden hose,Garden
0010,Desk lamp of brass,Lighting
"""


WORK = (
    *("load", "find", "contexts", "count", "health", "neighbours", "planned", "figures"),
    *("adopt", "send again", "dismiss", "stop", "carry on"),
)


class HasTasks(Protocol):
    """A part of the page with work of its own."""

    tasks: Tasks


def job_actions(
    program: Program, notices: Notices, window: QWidget, *, show_jobs: Callable[[], object] = list
) -> JobActions:
    """What pages can have done with jobs, outside the main window: what would open another page is not done."""
    return JobActions(
        program,
        Tasks(window, notices.show_error),
        notices,
        window,
        show_jobs=show_jobs,
        open_job=str,
        changed=str,
        compare=print,
        judge=print,
        export=str,
    )


class JobPageDriver:
    """`page` follows the jobs by itself, as in the window."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self.program: Program
        self.page: JobPage

    async def begin(self, practice_times: tuple[float, float]) -> None:
        """Open the program and put the page on the screen."""
        self.program = await Program.open(
            self._root / "data", environ={}, on_change=self._changed, practice_times=practice_times
        )
        with styled_once():
            self.notices = Notices()
            self.ranking = RankingView(self.program, self.notices)
            self.overview = OverviewView(self.program, self.notices)
            self.vectors = VectorsView(self.program, self.notices)
            results: dict[str, ResultView] = {RANKING: self.ranking, OVERVIEW: self.overview, VECTORS: self.vectors}
            self.window = QWidget()
            self.page = JobPage(
                self.program, self.notices, results, job_actions(self.program, self.notices, self.window)
            )
            self.window.setLayout(column(self.notices, self.page, gap=0))
        self.window.resize(1004, 820)
        self.window.show()

    async def end(self) -> None:
        """Stop everything; nothing is left for the next test."""
        for owner in self._owners():
            await owner.tasks.close()
        await self.program.close()
        self.window.close()
        self.window.deleteLater()
        QApplication.sendPostedEvents()

    async def draft(
        self, content: str, kind: Kind, name: str = "Support articles", connection: str = "practice"
    ) -> Job:
        """A draft from a CSV file with this content."""
        path = self._root / f"{name}.csv"
        path.write_text(content, encoding="utf-8")
        job = self.program.drafts.create(kind, name, MODEL, connection)
        source = open_source(path)
        mapping = suggest_mapping(source, kind, preview(source))
        return await asyncio.to_thread(self.program.drafts.load, job.id, source, mapping)

    async def finished(self, content: str, kind: Kind, name: str = "Support articles") -> Job:
        """A job that has run to its end."""
        job = await self.draft(content, kind, name)
        await self.program.actions.send(job.id)
        job = await self.program.runner.wait(job.id)
        assert job.state is JobState.DONE, job
        return job

    def pretend(self, job: Job, batches: Iterable[Batch], **changes: object) -> Job:
        """Write into the ledger what the practice service does not do by itself."""
        return self.program.ledger.put(replace(job, **changes), batches)  # type: ignore[arg-type]  # the names of its fields

    async def show(self, job: Job) -> None:
        """Open a job, and wait until all of it is there."""
        self.page.show_job(self.program.ledger.job(job.id))
        await self.idle()

    async def idle(self) -> None:
        """Wait until nothing is being read. A test must not end before: pytest-qt runs what is left without a loop."""
        job = self.page.job()
        if job is not None and job.is_sent:
            await self.program.runner.wait(job.id)
        while any(owner.tasks.is_running(name) for owner in self._owners() for name in WORK):
            await asyncio.sleep(0.005)

    def _owners(self) -> tuple[HasTasks, ...]:
        cards = tuple(self.page.progress.cards.values())
        return (self.page, self.page.progress, self.ranking, self.overview, self.vectors, *cards)

    def _changed(self, job: Job) -> None:
        shown = self.page.job() if hasattr(self, "page") else None
        if shown is not None and shown.id == job.id:
            self.page.show_job(job)


@asynccontextmanager
async def open_job_page(root: Path, practice_times: tuple[float, float] = (0.0, 0.1)) -> AsyncIterator[JobPageDriver]:
    """A program with its job page on the screen, closed at the end of the block."""
    driver = JobPageDriver(root)
    await driver.begin(practice_times)
    try:
        yield driver
    finally:
        await driver.end()
