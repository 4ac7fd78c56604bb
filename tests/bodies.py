"""What would be sent, one batch at a time."""

from contextlib import closing

from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.jobs.plan.packing import bodies_of
from cfbatch_gui.core.jobs.states import Job


def body_of(folder: JobFolder, job: Job, batch: int) -> bytes:
    """The exact bytes of one batch."""
    with closing(bodies_of(folder, job, (batch,))) as bodies:
        return next(bodies)
