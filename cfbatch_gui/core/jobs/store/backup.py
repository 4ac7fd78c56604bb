"""The data folder as a zip file, from which nothing is sent by itself when it is put back."""

import shutil
import sqlite3
import zipfile
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from cfbatch_gui.core.jobs.states import BatchState
from cfbatch_gui.core.jobs.store.data_folder import FROM_BACKUP
from cfbatch_gui.core.jobs.store.ledger import Ledger
from cfbatch_gui.core.system.files import atomic_writer, temporary_folder
from cfbatch_gui.core.system.paths import Paths

_LEFT_BEHIND = {".part", ".db-journal"}


def back_up(paths: Paths, target: Path) -> int:
    """Write ledger, ids, job folders and judgements into a zip file that only this user can read; how many files.
    Databases are copied through SQLite. It holds all texts and no token.
    Raises DiskFull, ExportError.
    """
    folders = (paths.jobs, paths.judgements)
    found = sorted(path for folder in folders for path in folder.rglob("*") if path.is_file())
    files = [paths.ledger, paths.submissions, *found]
    files = [path for path in files if path.exists() and path.suffix not in _LEFT_BEHIND]
    with atomic_writer(target, private=True) as stream, zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in files:
            name = path.relative_to(paths.root).as_posix()
            if path.suffix == ".db":
                _copy_database(path, archive, name, is_ledger=path == paths.ledger)
            else:
                with path.open("rb") as source, archive.open(name, "w", force_zip64=True) as entry:
                    shutil.copyfileobj(source, entry)
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
        waiting = [job.id for job in ledger.jobs() if any(each.state is BatchState.PLANNED for each in job.batches)]
        ledger.change_all(waiting, lambda job: replace(job, paused_because=FROM_BACKUP))
