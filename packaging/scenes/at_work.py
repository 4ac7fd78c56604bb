"""Pictures of a job at work, and of jobs that need the user."""

import time
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt

from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.states import BatchState, Job
from cfbatch_gui.core.resources import resource
from tests.screen import material
from tests.screen.past import Clock, run
from tests.screen.stage import Stage
from tests.support import faults
from tests.support.faulty_service import ThreadedService

Take = Callable[[Stage, str], Awaitable[None]]

LARGE = "Abstracts 2019–2024"
MINUTE = 70.0  # seconds from one batch of the large job to the next
TIMES = (262.0, 148.0)  # seconds that its batches are queued and running
CTRL = Qt.KeyboardModifier.ControlModifier


class Queue:
    """Holds the clock, and moves it on by a minute whenever a batch of the large job was accepted."""

    def __init__(self, clock: Clock) -> None:
        self._clock, self._accepted = clock, 0
        self._start = 0.0

    def hold(self, moment: float) -> None:
        """Hold the clock so many seconds after the first batch; eight minutes are now."""
        self._start = self._start or time.time() - 8 * MINUTE
        self._clock.held = self._start + moment

    def tell(self, job: Job) -> None:
        """Called by the program after each change of a job."""
        accepted = sum(bool(batch.request_id) for batch in job.batches) if job.name == LARGE else 0
        if accepted > self._accepted:
            self._accepted = accepted
            self.hold(accepted * MINUTE)


async def three_are_done(stage: Stage, clock: Clock, queue: Queue) -> None:
    """Let the large job, which is being sent, come so far that three of its batches are back and two run."""
    person = stage.person
    await person.until(lambda: stage.job(LARGE).is_sent and all(each.request_id for each in stage.job(LARGE).batches))
    for moment, done, running in ((7 * MINUTE, 2, 2), (8 * MINUTE - 15, 2, 3), (8 * MINUTE, 3, 2)):
        queue.hold(moment)
        await person.until(partial(_are, stage, done, running))
    clock.held = None


async def work(stage: Stage, files: Path, take: Take, clock: Clock, queue: Queue) -> None:
    """A job of seven batches: three are done, two run, two are queued."""
    person = stage.person
    queue.hold(0.0)
    await person.press(Qt.Key.Key_N, CTRL)
    await stage.open_file(material.abstracts(files / "abstracts.csv", 12_804))
    await person.until_sees("Send 7 batches")
    await stage.rename(LARGE)
    await person.click("Send 7 batches")
    await three_are_done(stage, clock, queue)
    await person.until_sees("Batches back: 3 of 7", "Look at what is here")
    await take(stage, "working")


def _are(stage: Stage, done: int, running: int) -> bool:
    stage.program.runner.check_now(stage.job(LARGE).id)
    wanted = [BatchState.DONE] * done + [BatchState.RUNNING] * running + [BatchState.QUEUED] * (7 - done - running)
    return [each.state for each in stage.job(LARGE).batches] == wanted


async def trouble(stage: Stage, files: Path, take: Take, service: ThreadedService) -> None:
    """Jobs that need the user: failed in part, paused, of unknown outcome."""
    person = stage.person
    service.follow(faults.fail_requests(on="poll", requests=(2, 5), error="AiError: Internal server error"))
    letters = material.reviews(files / "newsletters.csv", 9, 30)
    await run(stage.program, "Newsletter archive", letters, Kind.RANK, "cloudflare")
    await person.click_row("Jobs", "Newsletter archive")
    await person.until_sees("Finished in part")
    await person.click("Progress")
    await person.until_sees("The service refused 2 of 9 requests")
    await take(stage, "failed-in-part")
    service.follow(faults.refusal(on="any", times=0, status=401, code=10000, message="Authentication error"))
    help_centre = resource("examples/help-centre-ranking.csv")
    await run(stage.program, "Invoices, first quarter", help_centre, Kind.RANK, "cloudflare")
    await person.click_row("Jobs", "Invoices, first quarter")
    await person.until_sees("Carry on")
    await take(stage, "paused")
    await person.click_row("Jobs", "FAQ rerank, second try")
    await person.until_sees("Send again")
    await take(stage, "outcome-unknown")
    await person.click_row("Jobs", "Support articles, March")
    await person.until_row("Queries", "how do I reset my password")
    await take(stage, "sidebar")
    service.follow()
    clauses = material.clauses(files / "clauses.csv")
    await run(stage.program, "Terms of use, clauses", clauses, Kind.RANK, "cloudflare")
    await person.click_row("Jobs", "Terms of use, clauses")
    await person.click_row("Ranked texts of the query", "in writing", double=True)
    await person.until_sees("Show less")
    await take(stage, "ranking-text")
    await person.press(Qt.Key.Key_F1, Qt.KeyboardModifier.ShiftModifier)
    await person.until_sees("Open the menu")
    await take(stage, "shortcuts")
