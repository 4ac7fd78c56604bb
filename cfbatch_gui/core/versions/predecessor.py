"""Which earlier job a job is the new version of: recognised by its columns and its ids, or chosen by the user."""

import logging
from collections.abc import Callable, Iterable

from cfbatch_gui.core.errors import DataError
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.job_folder.forgetting import texts_forgotten
from cfbatch_gui.core.job_folder.schema import metadata_value, put_metadata_value
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.versions.differences import share_in_common

_CHOSEN = "earlier_version"  # the name of a fact: the job's id, "" for none
LEAST_SHARE = 0.5  # of the names that two versions of a file have in common
_MOST_LOOKED_AT = 5  # jobs that are built alike, the newest first
_log = logging.getLogger(__name__)


def choose_predecessor(folder: JobFolder, job_id: str) -> None:
    """Keep the user's choice with a job, "" for none. Raises DataError, DiskFull."""
    with folder.open() as database:
        put_metadata_value(database, _CHOSEN, job_id)


def find_predecessor(job: Job, jobs: Iterable[Job], folder_of: Callable[[str], JobFolder]) -> Job | None:
    """The user's choice, else the newest earlier job of the same kind whose file has the same columns with the same
    roles, and at least half of the ids, or of the texts where there are none. For a thread. Raises DataError.

    `jobs` are those of the ledger, newest first. A chosen job that is gone counts as none.
    """
    folder = folder_of(job.id)
    if not folder.data.exists():
        return None
    others = [each for each in jobs if each.id != job.id and each.is_sent and each.kind is job.kind]
    with folder.open(read_only=True) as database:
        chosen = metadata_value(database, _CHOSEN)
    if isinstance(chosen, str):
        return next((each for each in others if each.id == chosen), None)
    built = _how_built(folder)
    looked_at = 0
    for each in others:
        theirs = folder_of(each.id)
        if each.created_at > job.created_at or not each.source_name or not theirs.data.exists():
            continue
        try:
            if texts_forgotten(theirs) is not None or _how_built(theirs) != built:
                continue
            looked_at += 1
            if share_in_common(folder, theirs) >= LEAST_SHARE:
                return each
        except DataError as error:
            _log.info("Job %s is not compared: %s", each.id, error.detail)
        if looked_at >= _MOST_LOOKED_AT:
            return None
    return None


def _how_built(folder: JobFolder) -> tuple[object, ...]:
    with folder.open(read_only=True) as database:
        names = ("columns", "roles", "second_columns", "second_roles", "layout")
        return tuple(metadata_value(database, name) for name in names)
