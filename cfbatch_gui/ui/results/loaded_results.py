"""Which state of a job's results is on the screen, and how a job without results is put into words."""

from PySide6.QtCore import QCoreApplication

from cfbatch_gui.core.jobs.states import Job, JobState
from cfbatch_gui.core.program import facts_of

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
