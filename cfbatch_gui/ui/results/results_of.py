"""Which state of a job's results is on the screen, and how a job without results is put into words."""

import asyncio

from PySide6.QtCore import QCoreApplication

from cfbatch_gui.core.jobs.states import Job, JobState
from cfbatch_gui.core.program import Program, facts_of
from cfbatch_gui.core.results.rankings.score_figures import ScoreFigures, score_figures

Version = tuple[object, ...]


def version_of(job: Job) -> Version:
    """Changes exactly when there may be other results to read: an answer came, or a batch ended without one."""
    return (job.id, job.is_sent, tuple((batch.number, batch.state) for batch in job.batches if batch.state.is_final))


def failed_batches(job: Job) -> dict[int, str]:
    """The sentence of each batch that ended without an answer, by its number."""
    return facts_of(job, "").failed_batches


def nothing_yet(job: Job) -> str:
    """What stands where results will be."""
    if job.state is JobState.FAILED:
        return QCoreApplication.translate("results", "Nothing came back from this job. “Progress” says why.")
    if job.state is JobState.PAUSED:
        return QCoreApplication.translate("results", "Nothing has come back yet. Carry on to collect the results.")
    if job.state in (JobState.DONE, JobState.PARTLY_DONE):
        return QCoreApplication.translate(
            "results",
            "Everything is back, and nothing has a result. “Export…” can write the rows that failed, and why.",
        )
    if job.batches_done:
        return QCoreApplication.translate("results", "Of what is back so far, nothing has a result.")
    return QCoreApplication.translate("results", "Results can be read here as soon as the first batch is back.")


class FigureReader:
    """Keeps the figures that were asked for last. Two pages that ask at once wait for one reading."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._reading = asyncio.Lock()
        self._version: Version = ()
        self._figures: ScoreFigures | None = None

    async def of(self, job: Job) -> ScoreFigures:
        """Those of the job as it is now. Raises DataError."""
        version = version_of(job)
        async with self._reading:
            if self._figures is None or self._version != version:
                self._figures = await asyncio.to_thread(score_figures, self._program.folder(job.id))
                self._version = version
            return self._figures
