"""What tells a data folder from its copies: its id, its place and its openings, kept in it and outside of it. Nothing
is sent from one that was moved, copied or put back before the user has said what happened.
"""

import logging
import secrets
import shutil
import sqlite3
import sys
import zipfile
from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import replace
from enum import StrEnum
from filecmp import cmp
from hashlib import sha256
from pathlib import Path

import msgspec

from cfbatch_gui.core.errors import DataError
from cfbatch_gui.core.jobs.states import BatchState, Job
from cfbatch_gui.core.jobs.store.ledger import Ledger
from cfbatch_gui.core.jobs.store.submissions import Submission, read_submissions
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.system.files import OWN_FOLDER, atomic_writer, temporary_folder, write_own_file
from cfbatch_gui.core.system.paths import Paths

FROM_COPY = message(
    "This job comes from a copy. What it shows as not sent may have been sent from the other one, or after the "
    "copy was made; carry on to send it, which is then paid for again."
)
FROM_BACKUP = message(
    "This job comes from a backup. What it shows as not sent may have been sent after the backup was made; "
    "carry on to send it, which is then paid for again."
)
WAITS_FOR_WORD = frozenset({FROM_BACKUP, FROM_COPY})  # reasons to pause; such a job goes on only when it is named
HELD_BACK = message(
    "Nothing is sent from this data folder before you have said whether it was copied or restored from a "
    "backup: what waits here may have been sent already."
)

_MACHINE_ID = (Path("/etc/machine-id"), Path("/var/lib/dbus/machine-id"))
_PURPOSE = "cfbatch data folder "  # the machine's id itself is not to be written anywhere, by its documentation

_log = logging.getLogger(__name__)


class Place(msgspec.Struct, frozen=True):
    """Where a data folder is. `machine` identifies this computer, "" when it has no id."""

    path: str
    machine: str


class Identity(msgspec.Struct, frozen=True):
    """A data folder's own. `generation` counts the times that it was opened for writing."""

    id: str
    place: Place
    generation: int


class Doubt(StrEnum):
    """What does not fit."""

    PLACE = "place"  # it was opened in another folder or on another computer before
    OLDER = "older"  # something newer than this folder, or than its ledger, was here before
    FOREIGN = "foreign"  # its ledger is that of another folder


class FolderAnswer(StrEnum):
    """What the user says."""

    MOVED = "moved"  # nothing else uses it, and it is not older than what was sent
    COPIED = "copied"  # or restored from a backup


def reason_to_doubt(ledger: Ledger, paths: Paths, here: Place, *, is_new: bool, learned: bool) -> Doubt | None:
    """What does not fit, None when all does, or when nothing waits here to be sent.

    `is_new`: the ledger was created at this start. `learned`: it did not know of attempts that were written down.
    """
    doubt = _doubt(ledger, paths, here, is_new=is_new, learned=learned)
    if doubt is None or any(map(_would_send, ledger.jobs())):
        return doubt
    _log.info("The data folder was moved, copied or restored (%s); nothing in it waits to be sent.", doubt.value)
    settle_doubt(ledger, paths, here, FolderAnswer.COPIED)
    return None


def keep_place(ledger: Ledger, paths: Paths, here: Place) -> None:
    """Count this start, in the ledger first and then beside it: a crash in between must not look like an old ledger.

    A failure is logged only: a full disk must not keep the program from starting.
    """
    kept = read_identity(paths.identity)
    folder, generation = ledger.folder_identity()
    folder = folder or (kept.id if kept else "") or secrets.token_hex(8)
    elsewhere = _elsewhere(paths, folder)
    counted = [each.generation for each in (kept, elsewhere) if each is not None and each.id == folder]
    try:
        _keep(ledger, paths, Identity(folder, here, max((generation, *counted)) + 1))
    except DataError as error:
        _log.warning("This start was not counted: %s", error.detail or error.message)


def settle_doubt(ledger: Ledger, paths: Paths, here: Place, answer: FolderAnswer) -> tuple[Job, ...]:
    """Do what the user's answer means; the jobs that were paused. Raises DiskFull and DataError.

    A copy gets an id of its own, and what it would send waits for the user's word, job by job.
    """
    paused: tuple[Job, ...] = ()
    if answer is FolderAnswer.COPIED:
        waiting = [job.id for job in ledger.jobs() if _would_send(job)]
        paused = ledger.change_all(waiting, lambda job: replace(job, paused_because=FROM_COPY))
        _keep(ledger, paths, Identity(secrets.token_hex(8), here, 1))
    else:
        keep_place(ledger, paths, here)
    return paused


def lines_kept_elsewhere(ledger: Ledger, paths: Paths) -> Sequence[Submission]:
    """What was written down of this folder outside of it, if that is something else; () when it cannot be read."""
    kept = read_identity(paths.identity)
    found: list[Submission] = []
    for folder in {ledger.folder_identity()[0], kept.id if kept else ""} - {""}:
        path = submissions_elsewhere(paths, folder)
        if path is not None:
            with suppress(OSError, DataError):
                if not cmp(path, paths.submissions, shallow=False):
                    found += read_submissions(path).lines
    return found


def submissions_elsewhere(paths: Paths, folder: str) -> Path | None:
    """The second copy of `submissions.jsonl`, outside of the data folder; None where the system has no place for it."""
    return paths.state / f"{folder}.jsonl" if paths.state is not None and folder else None


def _doubt(ledger: Ledger, paths: Paths, here: Place, *, is_new: bool, learned: bool) -> Doubt | None:
    kept = read_identity(paths.identity)
    folder, generation = ledger.folder_identity()
    if kept is not None and folder and folder != kept.id:
        return Doubt.FOREIGN
    elsewhere = _elsewhere(paths, folder or (kept.id if kept else ""))
    if (kept is not None and kept.place != here) or (kept is None and folder):
        return Doubt.PLACE
    if elsewhere is not None and elsewhere.place != here:
        return Doubt.PLACE
    counted = [each.generation for each in (kept, elsewhere) if each is not None]
    is_older = not is_new and generation < max(counted, default=0)
    return Doubt.OLDER if is_older or (learned and not is_new) else None


def _keep(ledger: Ledger, paths: Paths, identity: Identity) -> None:
    ledger.keep_folder_identity(identity.id, identity.generation)
    write_identity(paths.identity, identity)
    if paths.state is not None:
        with suppress(OSError, DataError):  # a home that is read-only: the folder's own file is there
            paths.state.mkdir(mode=OWN_FOLDER, parents=True, exist_ok=True)
            write_identity(paths.state / f"{identity.id}.json", identity)


def _elsewhere(paths: Paths, folder: str) -> Identity | None:
    if paths.state is None or not folder:
        return None
    return read_identity(paths.state / f"{folder}.json")


def _would_send(job: Job) -> bool:
    """Whether something of a job leaves at a start or when all jobs are carried on, without a word about this job."""
    return job.is_sent and _waits(job) and job.paused_because not in WAITS_FOR_WORD


def _waits(job: Job) -> bool:
    return any(each.state is BatchState.PLANNED for each in job.batches)


def place_of(root: Path) -> Place:
    """Where a folder is now, on this computer."""
    return Place(str(root.resolve()), machine())


def machine() -> str:
    """An id of this computer, made of the system's own, which does not change between starts; "" without one."""
    found = ""
    if sys.platform == "win32":
        import winreg

        with suppress(OSError), winreg.OpenKey(winreg.HKEY_LOCAL_MACHINE, r"SOFTWARE\Microsoft\Cryptography") as key:
            found = str(winreg.QueryValueEx(key, "MachineGuid")[0])
    else:
        for path in _MACHINE_ID:
            with suppress(OSError, ValueError):
                found = found or path.read_text(encoding="ascii").strip()
    return sha256((_PURPOSE + found).encode()).hexdigest()[:16] if found else ""


def read_identity(path: Path) -> Identity | None:
    """What a file holds; None when there is none, or none that can be read."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=Identity)
    except (OSError, ValueError, RecursionError):
        return None


def write_identity(path: Path, identity: Identity) -> None:
    """Write a file durably; its folder is created. Raises DiskFull and DataError."""
    write_own_file(path, msgspec.json.encode(identity))


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
            # What would be sent by itself will have been sent by the time that the backup is put back.
            with closing(Ledger.open(Paths(folder))) as ledger:
                waiting = [job.id for job in ledger.jobs() if _waits(job)]
                ledger.change_all(waiting, lambda job: replace(job, paused_because=FROM_BACKUP))
        archive.write(copy, name)
