"""A real program on the practice service with its job page, as the composition root puts them together."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from PySide6.QtWidgets import QWidget

from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.states import Batch, Job, JobState
from cfbatch_gui.core.program import Program
from cfbatch_gui.ui.job_actions import JobActions
from cfbatch_gui.ui.jobs.job_page import OVERVIEW, RANKING, VECTORS
from cfbatch_gui.ui.notices import Notices
from cfbatch_gui.ui.results.ranking_view import OverviewView, RankingView
from cfbatch_gui.ui.results.vectors_view import VectorsView
from cfbatch_gui.ui.tasks import Tasks
from cfbatch_gui.ui.theme import Scheme, Theme
from tests.screen.past import draft
from tests.screen.stage import Stage, opened

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


def job_actions(program: Program, notices: Notices, window: QWidget) -> JobActions:
    """What pages can have done with jobs, outside the main window: what would open another page is not done."""
    own = {"program": program, "tasks": Tasks(window, notices.show_error), "notices": notices, "window": window}
    elsewhere = dict.fromkeys(("open_job", "show_changed", "compare", "judge", "review", "export"), print)
    desk: Any = SimpleNamespace(**own, **elsewhere, show_jobs=list)
    return JobActions(desk)


class JobPageDriver:
    """The page of a job in the whole window."""

    def __init__(self, root: Path, stage: Stage) -> None:
        self._root, self.program, self.workspace = root, stage.program, stage.workspace
        self.window, self.notices, self.page = stage.workspace.window, stage.workspace.notices, stage.workspace.job_page
        self.ranking: RankingView = self.page.view(RANKING)
        self.overview: OverviewView = self.page.view(OVERVIEW)
        self.vectors: VectorsView = self.page.view(VECTORS)

    async def draft(
        self, content: str, kind: Kind, name: str = "Support articles", connection: str = "practice"
    ) -> Job:
        """A draft from a CSV file with this content."""
        path = self._root / f"{name}.csv"
        path.write_text(content, encoding="utf-8")
        return await draft(self.program, name, path, kind, connection, reuse=True)

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
        self.workspace.open_job(job.id)
        await self.idle()

    async def idle(self) -> None:
        """Wait until nothing is being read."""
        job = self.page.job()
        if job is not None and job.is_sent:
            await self.program.runner.wait(job.id)
        self.workspace.show_jobs()
        tasks = [self.page.tasks, self.page.progress.tasks, self.ranking.tasks, self.overview.tasks, self.vectors.tasks]
        tasks += [card.tasks for card in self.page.progress.cards.values()]
        while any(each.running() for each in tasks):
            await asyncio.sleep(0.005)


@asynccontextmanager
async def open_job_page(root: Path, practice_times: tuple[float, float] = (0.0, 0.1)) -> AsyncIterator[JobPageDriver]:
    """A program with its job page, closed at the end of the block once nothing is being read any more: pytest-qt runs
    what is left without a loop.
    """
    async with opened(root / "data", Theme(Scheme.LIGHT), practice_times=practice_times) as stage:
        driver = JobPageDriver(root, stage)
        yield driver
        await driver.idle()
