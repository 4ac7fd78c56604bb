"""The pictures of the help in a language: its words are nowhere looked for, so the same way leads through each."""

from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

from PySide6.QtWidgets import QApplication, QDialog
from scenes import at_work

from cfbatch_gui.core.jobs.states import Job, JobState
from cfbatch_gui.core.resources import resource
from tests.screen import material
from tests.screen.past import Clock
from tests.screen.stage import Stage
from tests.screen.tour import settled

Take = Callable[[Stage, str], Awaitable[None]]


async def finished(stage: Stage, take: Take, name: str) -> None:
    """A draft of the example, its ranking and export, the quality of an earlier job, and a map of vectors."""
    space = stage.workspace
    job = await _draft(stage, resource("examples/help-centre-ranking.csv"), name)
    await take(stage, "draft")
    space.draft_page.check.send_button.click()
    await stage.person.until(lambda: stage.state(name) is JobState.DONE)
    await settled(stage)
    await take(stage, "ranking")
    space.menus.show_export(job.id)
    await stage.person.until(_dialogs)
    await settled(stage)
    await take(stage, "export")
    _dialogs()[0].reject()
    for opened, page in (("Help centre, short answers", "quality"), ("Catalogue vectors", "map")):
        space.open_job(stage.job(opened).id)
        await settled(stage)
        space.job_page.tabs.choose(page)
        await settled(stage)
        await take(stage, page)


async def working(stage: Stage, take: Take, files: Path, clock: Clock, queue: at_work.Queue) -> None:
    """A job of seven batches, three of which are done."""
    queue.hold(0.0)
    await _draft(stage, material.abstracts(files / "abstracts.csv", 12_804), at_work.LARGE)
    stage.workspace.draft_page.check.send_button.click()
    await at_work.three_are_done(stage, clock, queue)
    await settled(stage)
    await take(stage, "working")


async def _draft(stage: Stage, path: Path, name: str) -> Job:
    """A new job with this file, ready to be sent, in which nothing is taken from earlier jobs."""
    space, before = stage.workspace, {job.id for job in stage.program.ledger.jobs()}
    space.new_jobs.start(path)
    new = partial(_newest, stage, before)
    await stage.person.until(lambda: (job := new()) is not None and job.texts)
    await settled(stage)
    job = new()
    assert job is not None
    await stage.program.store.on_disk(stage.program.drafts.rename, job.id, name)
    space.draft_page.version.switch.click()
    space.draft_page.version.set_folded(True)
    space.open_new(job.id)
    await settled(stage)
    return job


def _newest(stage: Stage, before: set[str]) -> Job | None:
    return next((job for job in stage.program.ledger.jobs() if job.id not in before), None)


def _dialogs() -> list[QDialog]:
    return [each for each in QApplication.topLevelWidgets() if isinstance(each, QDialog) and each.isVisible()]
