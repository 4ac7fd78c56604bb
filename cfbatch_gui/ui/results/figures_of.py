"""Figures over all scores of a job: read once, for every page that shows them."""

import asyncio

from cfbatch_gui.core.jobs.model import Job
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.results.score_figures import ScoreFigures, score_figures
from cfbatch_gui.ui.results.results_of import Version, version_of


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
