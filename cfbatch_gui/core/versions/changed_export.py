"""What changed since an earlier version, as rows to be exported, and the list of what is gone beside them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from cfbatch_gui.core.errors import UsageError
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.results.exports.base import ExportOptions
from cfbatch_gui.core.results.exports.delimited import Dialect
from cfbatch_gui.core.system.files import atomic_writer
from cfbatch_gui.core.versions.differences import Differences, Numbers, compare_versions
from cfbatch_gui.core.versions.predecessor import find_predecessor
from cfbatch_gui.core.versions.version_rows import read_rows

_BLOCK = 5_000
_COLUMNS = ("id", "text", "query_id", "query", "row")


@dataclass(frozen=True, eq=False)
class ChangedSince:
    """`items` are the numbers of a job's items that are added, changed or moved; `removed` are those of `earlier` whose
    id, or text where there are no ids, is not in the job any more.
    """

    earlier: Job
    folder: JobFolder
    items: frozenset[int]
    removed: Numbers

    @property
    def note(self) -> dict[str, object]:
        """For the manifest of the export."""
        return {
            "changed_since": {"id": self.earlier.id, "name": self.earlier.name, "removed": len(self.removed)},
        }


def changed_since(job: Job, earlier: Job, folder_of: Callable[[str], JobFolder]) -> ChangedSince:
    """Compare a job with the one that the user names. For a thread. Raises UsageError when nothing has changed, or for
    jobs that cannot be compared; DataError.
    """
    if earlier.id == job.id or earlier.kind is not job.kind:
        raise UsageError(
            message("“{name}” is not an earlier version of this job. Name another one.", name=earlier.name)
        )
    found = _changed(earlier, folder_of(earlier.id), compare_versions(folder_of(job.id), folder_of(earlier.id)))
    if not found.items and not len(found.removed):
        raise UsageError(message("Nothing has changed since “{name}”, so nothing was written.", name=earlier.name))
    return found


def changed_since_predecessor(
    job: Job, jobs: Sequence[Job], folder_of: Callable[[str], JobFolder]
) -> ChangedSince | None:
    """What changed since the version before, where there is one and something did. For a thread. Raises DataError."""
    earlier = find_predecessor(job, jobs, folder_of)
    if earlier is None:
        return None
    folder = folder_of(earlier.id)
    found = _changed(earlier, folder, compare_versions(folder_of(job.id), folder))
    return found if found.items else None


def _changed(earlier: Job, folder: JobFolder, differences: Differences) -> ChangedSince:
    return ChangedSince(earlier, folder, frozenset(differences.differing.tolist()), np.array(differences.removed))


def removed_path(path: Path) -> Path:
    """The list of what is gone, beside an export: "june.csv" has "june.removed.csv"."""
    return path.with_name(f"{path.name.removesuffix(path.suffix)}.removed.csv")


def write_removed(found: ChangedSince, path: Path) -> Path | None:
    """Write what is gone beside the export at `path`, whole or not at all; None when nothing is. Raises DiskFull."""
    if not len(found.removed):
        return None
    target, dialect = removed_path(path), Dialect(ExportOptions())
    with atomic_writer(target) as stream:
        stream.write(dialect.encode([_COLUMNS]))
        for start in range(0, len(found.removed), _BLOCK):
            rows = read_rows(found.folder, found.removed[start : start + _BLOCK].tolist())
            stream.write(dialect.encode([(row.id, row.text, row.query_id, row.query, row.row) for row in rows]))
    return target
