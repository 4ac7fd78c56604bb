"""`job.json` in a job's folder: the job as it was filled and planned, so that its folder explains itself.

The ledger is the record; this is what a job is put together from again when the ledger is lost.
"""

from dataclasses import replace

import msgspec

from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.system.files import write_own_file


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
