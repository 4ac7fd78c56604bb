"""What changed since an earlier version, as rows to be exported, and the list of what is gone beside them."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from cfbatch_gui.core.errors import UsageError
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.jobs.reuse import Numbers
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.results.exports.base import ExportOptions
from cfbatch_gui.core.results.exports.delimited import Dialect
from cfbatch_gui.core.system.files import atomic_writer
from cfbatch_gui.core.versions.differences import (
    Differences,
    can_be_compared,
    check_comparable,
    compare_versions,
    find_predecessor,
    read_rows,
)

_BLOCK = 5_000
_COLUMNS = ("id", "text", "query_id", "query", "row")


@dataclass(frozen=True, eq=False)
class ChangedSince:
    """`items` are those added, changed or moved; `removed` are the numbers of `earlier`."""

    earlier: Job
    folder: JobFolder
    items: frozenset[int]
    removed: Numbers

    def note(self, removed: Path | None) -> dict[str, object]:
        about: dict[str, object] = {"id": self.earlier.id, "name": self.earlier.name, "removed": len(self.removed)}
        return {"changed_since": {**about, "removed_list": removed.name if removed else ""}}


def changed_since(job: Job, earlier: Job, folder_of: Callable[[str], JobFolder]) -> ChangedSince:
    """Compare with the named job. For a thread. Raises UsageError without a change, DataError."""
    if earlier.id == job.id or earlier.kind is not job.kind:
        raise UsageError(
            message("“{name}” is not an earlier version of this job. Name another one.", name=earlier.name)
        )
    newer, folder = folder_of(job.id), folder_of(earlier.id)
    check_comparable(newer, folder)
    found = _changed(earlier, folder, compare_versions(newer, folder))
    if not found.items and not len(found.removed):
        raise UsageError(message("Nothing has changed since “{name}”, so nothing was written.", name=earlier.name))
    return found


def changed_since_predecessor(
    job: Job, jobs: Sequence[Job], folder_of: Callable[[str], JobFolder]
) -> ChangedSince | None:
    """As `changed_since`, None where nothing changed or texts were removed. For a thread."""
    earlier = find_predecessor(job, jobs, folder_of)
    if earlier is None:
        return None
    newer, folder = folder_of(job.id), folder_of(earlier.id)
    if not can_be_compared(newer, folder):
        return None
    found = _changed(earlier, folder, compare_versions(newer, folder))
    return found if found.items else None


def _changed(earlier: Job, folder: JobFolder, differences: Differences) -> ChangedSince:
    return ChangedSince(earlier, folder, frozenset(differences.differing.tolist()), np.array(differences.removed))


def removed_path(path: Path) -> Path:
    """The list of what is gone, beside an export: "june.csv" has "june.csv.removed.csv"."""
    return path.with_name(f"{path.name}.removed.csv")


@contextmanager
def removed_list(found: ChangedSince, path: Path) -> Iterator[Path | None]:
    """Write what is gone beside the export that the block writes, both or neither; its path, or None.

    Raises UsageError for another file of that name, DiskFull.
    """
    target, dialect = removed_path(path), Dialect(ExportOptions())
    header = dialect.encode([_COLUMNS])
    if target.exists() and not _begins_with(target, header):
        raise UsageError(
            message(
                "“{name}” is in the way: what is gone would be listed there. Move it, or choose another name.",
                name=target.name,
            )
        )
    if not len(found.removed):
        yield None
        target.unlink(missing_ok=True)
        return
    with atomic_writer(target) as stream:
        stream.write(header)
        for start in range(0, len(found.removed), _BLOCK):
            rows = read_rows(found.folder, found.removed[start : start + _BLOCK].tolist())
            stream.write(dialect.encode([(row.id, row.text, row.query_id, row.query, row.row) for row in rows]))
        stream.flush()
        yield target


def _begins_with(path: Path, header: bytes) -> bool:
    try:
        with path.open("rb") as stream:
            return stream.read(len(header)) == header
    except OSError:
        return False
