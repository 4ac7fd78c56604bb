"""When the ledger is lost, damaged or older than what was sent: jobs put together again from their folders and from
`submissions.jsonl`.

For that each folder has a `job.json`: the job as it was filled and planned. The ledger is the record.
"""

import time
from collections.abc import Callable
from dataclasses import replace

import msgspec

from cfbatch_gui.core.errors import DataError, LedgerDamaged
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.jobs.states import Batch, BatchState, Job
from cfbatch_gui.core.jobs.store.ledger import Ledger
from cfbatch_gui.core.jobs.store.submissions import Submission, submissions
from cfbatch_gui.core.system.files import write_own_file
from cfbatch_gui.core.system.paths import Paths

PUT_TOGETHER = "This job was put together again after its record was lost. Carry on to collect what is at the service."


def open_or_recover(paths: Paths, *, clock: Callable[[], float] = time.time) -> tuple[Ledger, tuple[Job, ...]]:
    """Open the ledger; a damaged one is put aside under another name, never deleted. Also the jobs that were recovered.

    A ledger that was put back from an older copy learns what was accepted since, so that nothing of it is sent twice.
    Raises DataError when another process holds it, or when it was written by a newer version.
    """
    try:
        ledger = Ledger.open(paths)
    except LedgerDamaged:
        aside = paths.ledger.with_name(f"{paths.ledger.name}.damaged-{int(clock())}")
        paths.ledger.replace(aside)
        paths.ledger.with_name(f"{paths.ledger.name}-journal").unlink(missing_ok=True)
        ledger = Ledger.open(paths)
    written = _written_down(paths)
    recovered = _adopt_unknown_folders(ledger, paths, written)
    _learn_what_was_accepted(ledger, written)
    return ledger, recovered


_Written = dict[tuple[str, int], Submission]  # by job and number of the batch


def _written_down(paths: Paths) -> _Written:
    """The last submission of each batch is the one that counts."""
    try:
        return {(each.job_id, each.batch): each for each in submissions(paths.submissions) if each.job_id}
    except DataError:
        return {}  # sending says so, and what is at the service is in the ledger


def _adopt_unknown_folders(ledger: Ledger, paths: Paths, written: _Written) -> tuple[Job, ...]:
    """Folders that the ledger knows nothing of, or of which batches were accepted that it does not know."""
    known = {job.id: {batch.number for batch in job.batches} for job in ledger.jobs()}
    older = {job_id for job_id, number in written if number not in known.get(job_id, {number})}
    passed_over = (known.keys() - older) | {job.id for job in ledger.deleted_jobs()}
    recovered = []
    # Known jobs are left out first: of thousands of folders few need to be sorted and read.
    for path in sorted(path for path in paths.jobs.iterdir() if path.name not in passed_over):
        if not path.is_dir():
            continue
        folder = JobFolder(path)
        job = read_manifest(folder)
        if job is None or not folder.data.exists() or (path.name in older and not job.is_sent):
            continue
        batches = [_batch(folder, batch, written.get((job.id, batch.number))) for batch in job.batches]
        paused = PUT_TOGETHER if job.is_sent else ""
        recovered.append(ledger.save_plan(replace(job, paused_because=paused, finished_at=0.0), batches))
    return tuple(recovered)


def _learn_what_was_accepted(ledger: Ledger, written: _Written) -> None:
    """Batches that have not left, by the ledger, and were accepted after it last changed them."""
    for job in ledger.jobs():
        for batch in job.batches:
            submission = written.get((job.id, batch.number))
            if batch.state is not BatchState.PLANNED or submission is None or batch.at_once:
                continue
            if 0 < batch.changed_at < submission.time:
                ledger.save_batch(_accepted(batch, submission))


def _accepted(batch: Batch, submission: Submission) -> Batch:
    return replace(
        batch,
        state=BatchState.QUEUED,
        attempt=submission.attempt,
        request_id=submission.request_id,
        sha256=submission.sha256,
        sent_at=submission.time,
        error="",
        error_detail="",
        error_action="",
    )


def _batch(folder: JobFolder, planned: Batch, submission: Submission | None) -> Batch:
    """The state of a batch as far as the files prove it; without proof its outcome is unknown."""
    if planned.state is BatchState.DONE:
        return planned  # and stored: requests that the service refused may have gone into another batch since
    has_reply = folder.reply(planned.number).exists()
    if submission is not None:
        accepted = _accepted(planned, submission)
        return replace(accepted, state=BatchState.COLLECTING) if has_reply else accepted
    may_have_left = folder.body(planned.number).exists()  # written before the first byte leaves
    if has_reply and (planned.at_once or not may_have_left):
        return replace(planned, state=BatchState.COLLECTING)
    if may_have_left:
        return replace(
            planned,
            state=BatchState.OUTCOME_UNKNOWN,
            error="Its record was lost: it may have been accepted and billed, so it is not sent again by itself.",
        )
    return planned


def write_manifest(folder: JobFolder, job: Job) -> None:
    """Keep the job, batches included. Raises DiskFull and DataError."""
    write_own_file(folder.manifest, msgspec.json.encode(job))


def read_manifest(folder: JobFolder) -> Job | None:
    """The job as it was kept; None when there is none, or none that can be read."""
    try:
        job = msgspec.json.decode(folder.manifest.read_bytes(), type=Job)
    except (OSError, msgspec.DecodeError):
        return None
    name = folder.path.name  # of a copied folder it is another than the job's, whose batches are not to be touched
    return replace(job, id=name, batches=tuple(replace(batch, job_id=name) for batch in job.batches))
