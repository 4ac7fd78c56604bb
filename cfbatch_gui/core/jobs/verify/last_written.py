"""What was stored last, which is what a power cut can have taken, held against its answers and put right."""

import logging
from collections.abc import Callable, Iterable
from contextlib import suppress

from cfbatch_gui.core.errors import DataError
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.jobs.states import BatchState, Job
from cfbatch_gui.core.jobs.verify.job_check import JobCheck
from cfbatch_gui.core.jobs.verify.verifying import verify_job

_log = logging.getLogger(__name__)
_LAST_BATCHES, _LAST_BYTES = 8, 20_000_000  # of answers as they are kept, compressed


def check_last_written(
    jobs: Iterable[Job],
    folder_of: Callable[[str], JobFolder],
    *,
    most_batches: int = _LAST_BATCHES,
    most_bytes: int = _LAST_BYTES,
) -> tuple[JobCheck, ...]:
    """Check what was stored last, which is what a power cut can have taken, and put it right.

    For a thread at the start, before the runner goes on with these jobs.

    The time it takes is bounded, unless damage is found: then all of that job is checked. Returns the jobs in which
    something was damaged, also when all of it was put right; what was lost is for `asked_for_again`. Raises nothing.
    """
    done = [(batch, job) for job in jobs for batch in job.batches if batch.state is BatchState.DONE]
    done.sort(key=lambda pair: pair[0].changed_at, reverse=True)
    chosen: dict[str, tuple[Job, set[int]]] = {}
    size = 0
    for batch, job in done[:most_batches]:
        with suppress(OSError):
            size += folder_of(job.id).reply(batch.number).stat().st_size
        if size > most_bytes and chosen:
            break
        chosen.setdefault(job.id, (job, set()))[1].add(batch.number)
    checks = (_checked_at_start(folder_of(job.id), job, numbers) for job, numbers in chosen.values())
    return tuple(check for check in checks if not check.is_whole)


def _checked_at_start(folder: JobFolder, job: Job, batches: set[int]) -> JobCheck:
    check = JobCheck(job.id, job.name)
    try:
        check = verify_job(folder, job, batches=batches)
        if not check.is_whole:
            check = verify_job(folder, job, mend=True)
    except DataError as error:
        _log.warning("job %s could not be checked: %s (%s)", job.id, error.message, error.detail)
    for finding in check.findings:
        _log.warning("job %s: %s %s", job.id, finding.sentence, finding.detail)
    return check
