"""All jobs and all judgements in one file, while the program is running."""

import shutil
import sqlite3
import zipfile
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from cfbatch_gui.core.jobs.states import BatchState, Job
from cfbatch_gui.core.jobs.store.folder_doubt import FROM_BACKUP
from cfbatch_gui.core.jobs.store.ledger import Ledger
from cfbatch_gui.core.system.files import atomic_writer, temporary_folder
from cfbatch_gui.core.system.paths import Paths

_DATABASES = {".db"}
_LEFT_BEHIND = {".part", ".db-journal"}
_TEXTS = "texts-*.json"  # a job's texts once more, for speed: without them the same bodies come from its data


def back_up(paths: Paths, target: Path, *, progress: Callable[[int, int], None] = lambda done, total: None) -> int:
    """Write the ledger, the request ids, all job folders and all judgements into a zip file; how many files went in.

    Databases are copied through SQLite, so that one that is being written is whole in the copy. Put back by unpacking
    it as the data folder; jobs that have something to send wait there for the user's word. There is no token in it, but
    all texts are: only this user can read the file, also when it replaces one that others could.
    `progress` gets files done and in all. Raises DiskFull, ExportError.
    """
    folders = (paths.jobs, paths.judgements)
    found = sorted(path for folder in folders for path in folder.rglob("*") if path.is_file())
    files = [paths.ledger, paths.submissions, *found]
    files = [path for path in files if path.exists() and path.suffix not in _LEFT_BEHIND and not path.match(_TEXTS)]
    with atomic_writer(target, private=True) as stream, zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for number, path in enumerate(files, 1):
            name = path.relative_to(paths.root).as_posix()
            if path.suffix in _DATABASES:
                _copy_database(path, archive, name, is_ledger=path == paths.ledger)
            else:
                with path.open("rb") as source, archive.open(name, "w", force_zip64=True) as entry:
                    shutil.copyfileobj(source, entry)
            progress(number, len(files))
    return len(files)


def _copy_database(path: Path, archive: zipfile.ZipFile, name: str, *, is_ledger: bool) -> None:
    with temporary_folder() as folder:
        copy = folder / path.name
        with closing(sqlite3.connect(path)) as original, closing(sqlite3.connect(copy)) as copied:
            original.backup(copied)
        if is_ledger:
            _hold_back(Paths(folder))
        archive.write(copy, name)


def _hold_back(paths: Paths) -> None:
    """Pause what would be sent by itself: it will have been sent by the time that a backup is put back."""
    with closing(Ledger.open(paths)) as ledger:
        for job in ledger.jobs():
            if any(batch.state is BatchState.PLANNED for batch in job.batches):
                ledger.change(job.id, _held_back)


def _held_back(job: Job) -> Job:
    return replace(job, paused_because=FROM_BACKUP)
