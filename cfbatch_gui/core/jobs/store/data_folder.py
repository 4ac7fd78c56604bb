"""A data folder at its opening. Its id, its place and its openings, kept in it and outside of it, tell it from its
copies: nothing is sent from one that was moved, copied or put back before the user has said what happened. What its
ledger has lost is put together again from the job folders and `submissions.jsonl`.
"""

import logging
import os
import secrets
import shutil
import sqlite3
import sys
import time
import zipfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from enum import StrEnum
from filecmp import cmp
from hashlib import sha256
from pathlib import Path

import msgspec

from cfbatch_gui.core.errors import DataError, LedgerDamaged
from cfbatch_gui.core.job_folder.folder import JOB, JobFolder, sending_begun
from cfbatch_gui.core.jobs.states import Batch, BatchState, Job
from cfbatch_gui.core.jobs.store import submissions
from cfbatch_gui.core.jobs.store.ledger import Ledger
from cfbatch_gui.core.jobs.store.submissions import Event, Submission, accepted_of, put_damage_aside, read_submissions
from cfbatch_gui.core.messages import message, restored, stored
from cfbatch_gui.core.system.files import OWN_FOLDER, atomic_writer, move_file, temporary_folder, write_own_file
from cfbatch_gui.core.system.paths import Paths

FROM_COPY = message("job_comes_from_copy_what_shows")
FROM_BACKUP = message("job_comes_from_backup_what_shows")
WAITS_FOR_WORD = frozenset({FROM_BACKUP, FROM_COPY})  # reasons to pause; such a job goes on only when it is named
HELD_BACK = message("nothing_is_sent_from_data_folder")

_MACHINE_ID = (Path("/etc/machine-id"), Path("/var/lib/dbus/machine-id"))
_PURPOSE = "cfbatch data folder "  # the machine's id itself is not to be written anywhere, by its documentation

_log = logging.getLogger(__name__)


class Identity(msgspec.Struct, frozen=True):
    """A data folder's own. `place` is where it is, and on which computer; `generation` counts the times that it was
    opened for writing.
    """

    id: str
    place: str
    generation: int


class FolderAnswer(StrEnum):
    """What the user says."""

    MOVED = "moved"  # nothing else uses it, and it is not older than what was sent
    COPIED = "copied"  # or restored from a backup


def is_doubtful(ledger: Ledger, paths: Paths, here: str, *, is_new: bool, learned: bool) -> bool:
    """Whether the folder may be a copy or older than what was sent; not when nothing waits here to be sent.

    `is_new`: the ledger was created at this start. `learned`: it did not know of attempts that were written down.
    """
    if not _may_be_a_copy(ledger, paths, here, is_new=is_new, learned=learned):
        return False
    if any(map(_would_send, ledger.jobs())):
        return True
    _log.info("The data folder was moved, copied or restored; nothing in it waits to be sent.")
    settle_doubt(ledger, paths, here, FolderAnswer.COPIED)
    return False


def keep_place(ledger: Ledger, paths: Paths, here: str) -> None:
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


def settle_doubt(ledger: Ledger, paths: Paths, here: str, answer: FolderAnswer) -> tuple[Job, ...]:
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


def _may_be_a_copy(ledger: Ledger, paths: Paths, here: str, *, is_new: bool, learned: bool) -> bool:
    kept = read_identity(paths.identity)
    folder, generation = ledger.folder_identity()
    if folder and (kept is None or folder != kept.id):
        return True  # its identity is gone, or that of another folder
    elsewhere = _elsewhere(paths, folder or (kept.id if kept else ""))
    known = [each for each in (kept, elsewhere) if each is not None]
    if any(each.place != here for each in known):
        return True  # it was opened in another folder or on another computer before
    # Something newer than this folder, or than its ledger, was here before.
    return not is_new and (learned or generation < max((each.generation for each in known), default=0))


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


def place_of(root: Path) -> str:
    """Where a folder is now, and on which computer, as far as that has an id."""
    return f"{machine()} {root.resolve()}"


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
    found = sorted(path for path in paths.jobs.rglob("*") if path.is_file())
    files = [paths.ledger, paths.submissions, paths.judgements, *found]
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


PUT_TOGETHER = message("job_was_put_together_again_after")
RECOVERED = message("jobs_were_put_together_again_from")
MAY_HAVE_LEFT = message("record_was_lost_may_been_accepted")


@dataclass(frozen=True, slots=True)
class Opened:
    """`recovered` are jobs that were put together again, `damage` are sentences. While it `is_doubtful`, nothing must
    be sent before the user has said whether the folder was moved or copied.
    """

    ledger: Ledger
    recovered: tuple[Job, ...] = ()
    damage: tuple[str, ...] = ()
    is_doubtful: bool = False


def open_or_recover(paths: Paths, *, clock: Callable[[], float] = time.time, here: str | None = None) -> Opened:
    """Open the ledger; a damaged one is put aside under another name, never deleted.

    A ledger that was put back from an older copy learns what was sent since, so that nothing of it is sent twice.
    `here` is where the folder is; None does not ask whether it was moved, copied or restored. Raises DataError when
    another process holds it, or when it was written by another version.
    """
    damage: list[str] = []
    is_new = not paths.has_ledger()
    try:
        ledger = Ledger.open(paths)
    except LedgerDamaged as error:
        _log.warning("The ledger is damaged and was put aside: %s", error.detail)
        aside = paths.ledger.with_name(f"{paths.ledger.name}.damaged-{int(clock())}")
        move_file(paths.ledger, aside)
        paths.ledger.with_name(f"{paths.ledger.name}-journal").unlink(missing_ok=True)
        damage.append(message("list_your_jobs_was_damaged_was", name=aside.name))
        ledger, is_new = Ledger.open(paths), True
    is_new = is_new or not ledger.folder_identity()[0]  # made anew, by this start or by one that was cut short
    try:
        found = _Recovering(ledger, paths, clock, damage).run()
        if found.recovered:
            damage.append(RECOVERED)
        doubtful = False
        if here is not None:
            doubtful = is_doubtful(ledger, paths, here, is_new=is_new, learned=found.has_learned)
            if not doubtful:
                keep_place(ledger, paths, here)
    except BaseException:
        ledger.close()
        raise
    return Opened(ledger, found.recovered, tuple(damage), doubtful)


class _Recovering:
    """`has_learned` is whether the files knew of attempts to send that the ledger did not."""

    def __init__(self, ledger: Ledger, paths: Paths, clock: Callable[[], float], damage: list[str]) -> None:
        self._ledger, self._paths, self._clock, self._damage = ledger, paths, clock, damage
        self.recovered: tuple[Job, ...] = ()
        self.has_learned = False

    def run(self) -> "_Recovering":
        lines, known = self._read(), self._ledger.attempts()
        new = [line for line in lines if line.attempt not in known]
        self.recovered = self._adopt_unknown_folders(lines, new)
        if new:
            self._learn(_by_batch(new))
            self._ledger.learn_attempts({line.attempt for line in new})
        return self

    def _read(self) -> Sequence[Submission]:
        try:
            here = read_submissions(self._paths.submissions)
        except DataError:
            here = submissions.Written()  # sending says so, and what is at the service is in the ledger
        elsewhere = lines_kept_elsewhere(self._ledger, self._paths)
        lines = here.lines
        if elsewhere:
            lines = tuple({(each.attempt, each.event, each.request_id): each for each in (*elsewhere, *lines)}.values())
        if here.damaged:
            self._put_aside(here.damaged, lines)
        return lines

    def _put_aside(self, damaged: int, whole: Sequence[Submission]) -> None:
        path = self._paths.submissions
        name = f"{path.name}.damaged-{int(self._clock())}"
        _log.warning("%d damaged lines in %s", damaged, path.name)
        try:
            put_damage_aside(path, whole, name)
        except DataError:
            name = path.name  # a full disk: at the next start
        self._damage.append(message("damaged_lines_file_holds_ids_your", file=path.name, n=damaged, copy=name))

    def _adopt_unknown_folders(self, lines: Sequence[Submission], new: Sequence[Submission]) -> tuple[Job, ...]:
        """Folders that the ledger knows nothing of, or of which batches were sent that it does not know."""
        jobs = {job.id: job for job in self._ledger.jobs()}
        known = {(job.id, batch.number) for job in jobs.values() for batch in job.batches}
        older = {job_id for job_id, _ in {(line.job_id, line.batch) for line in lines} - known}
        older |= {id_ for id_ in jobs.keys() & {line.job_id for line in new} if self._is_laid_out_anew(jobs[id_])}
        passed_over = (jobs.keys() - older) | {job.id for job in self._ledger.deleted_jobs()}
        # Known jobs are left out first: of thousands of folders few need to be sorted and read.
        names = set(os.listdir(self._paths.jobs)) - passed_over  # noqa: PTH208  # without a Path for each
        paths = sorted(map(self._paths.job, names))
        by_batch = _by_batch(lines) if paths else {}
        attempts = defaultdict[str, set[str]](set)
        for (job_id, _), each in by_batch.items():
            attempts[job_id] |= {line.attempt for line in each}
        recovered = []
        for path in paths:
            if not path.is_dir():
                continue
            folder = JobFolder(path)
            try:
                job, begun = read_manifest(folder), sending_begun(folder)
            except DataError as error:
                _log.warning("job %s cannot be put together: %s", path.name, error.detail or error.message)
                self._damage.append(message("folder_holds_job_cannot_be_read", folder=path))
                continue
            if job is None or (path.name in jobs and not job.is_sent):
                continue
            batches = [_batch(folder, batch, by_batch.get((job.id, batch.number), ()), begun) for batch in job.batches]
            # Nothing happens any more to a job that has all of its results, be they from earlier ones.
            is_finished = job.is_sent and all(batch.state.is_final for batch in batches)
            paused = PUT_TOGETHER if job.is_sent and not is_finished else ""
            put_together = replace(job, paused_because=paused)
            # In one transaction: an attempt that a later start found new would count as one made since.
            recovered.append(self._ledger.put(put_together, batches, attempts[job.id]))
        return tuple(recovered)

    def _is_laid_out_anew(self, job: Job) -> bool:
        kept = None
        with suppress(DataError):
            kept = read_manifest(JobFolder(self._paths.job(job.id)))
        layouts = [{(batch.number, batch.at_once) for batch in each.batches} for each in (kept or job, job)]
        return layouts[0] != layouts[1] and bool(layouts[0])

    def _learn(self, new: "_Lines") -> None:
        """Attempts that the ledger does not know were made after it was copied. Times say nothing: clocks are set."""
        recovered = {job.id for job in self.recovered}
        batches = {(job.id, batch.number): batch for job in self._ledger.jobs() for batch in job.batches}
        for key in batches.keys() & new.keys():
            batch = batches[key]
            self.has_learned = True
            if batch.state is not BatchState.DONE and batch.job_id not in recovered:
                learned = _learned(JobFolder(self._paths.job(batch.job_id)), batch, new[key])
                self._ledger.save_batch(learned)


_Lines = dict[tuple[str, int], list[Submission]]  # by job and number of the batch


def _by_batch(lines: Iterable[Submission]) -> _Lines:
    found: _Lines = {}
    for line in lines:
        if line.job_id:
            found.setdefault((line.job_id, line.batch), []).append(line)
    return found


def _accepted(batch: Batch, submission: Submission) -> Batch:
    return replace(
        batch.saying(),
        state=BatchState.QUEUED,
        attempt=submission.attempt,
        request_id=submission.request_id,
        sha256=submission.sha256,
        sent_at=submission.time,
        adopted=submission.adopted,
    )


def _unknown(batch: Batch) -> Batch:
    return replace(batch, state=BatchState.OUTCOME_UNKNOWN, error=MAY_HAVE_LEFT, error_detail="")


def _learned(folder: JobFolder, batch: Batch, new: Sequence[Submission]) -> Batch:
    """A batch as it became by attempts that the ledger does not know."""
    batch = replace(batch, earlier=batch.billable)
    accepted = accepted_of(new)
    if accepted is not None:
        return _accepted(batch, accepted)
    last = new[-1]
    if last.event is Event.NOT_ACCEPTED:
        return batch
    sent = replace(batch, attempt=last.attempt, sha256=last.sha256, sent_at=last.time, request_id="")
    if batch.at_once and folder.reply(batch.number).exists():
        return replace(sent, state=BatchState.COLLECTING)
    return _unknown(sent)


def _batch(folder: JobFolder, planned: Batch, lines: Sequence[Submission], begun: Mapping[int, bool]) -> Batch:
    """The state of a batch as far as the files prove it; without proof its outcome is unknown. `begun` is what its
    folder says of `sending_begun`.
    """
    if planned.state is BatchState.DONE:
        return planned  # and stored: requests that the service refused may have gone into another batch since
    has_reply = folder.reply(planned.number).exists()
    submission = accepted_of(lines)
    if submission is not None:
        accepted = _accepted(planned, submission)
        return replace(accepted, state=BatchState.COLLECTING) if has_reply else accepted
    # Both are written before the first byte leaves; either may be lost or damaged alone.
    may_have_left = planned.number in begun or (bool(lines) and lines[-1].event is not Event.NOT_ACCEPTED)
    if has_reply and (planned.at_once or begun.get(planned.number) or not may_have_left):
        return replace(planned, state=BatchState.COLLECTING)
    return _unknown(planned) if may_have_left else planned


def write_manifest(folder: JobFolder, job: Job) -> None:
    """Keep the job in its folder, batches included. Raises DiskFull and DataError."""
    folder.keep_fact(JOB, msgspec.to_builtins(job, enc_hook=stored))


def read_manifest(folder: JobFolder) -> Job | None:
    """None when there is none. Raises DataError."""
    found = folder.fact(JOB)
    if found is None:
        return None
    try:
        job = msgspec.convert(found, Job)
    except msgspec.ValidationError as error:
        raise DataError(message("job_data_is_damaged"), detail=f"data.db: {error}") from error
    name = folder.path.name  # of a copied folder it is another than the job's, whose batches are not to be touched
    batches = tuple(replace(batch, job_id=name, error=restored(batch.error)) for batch in job.batches)
    paused_because, account_problem = restored(job.paused_because), restored(job.account_problem)
    return replace(job, id=name, batches=batches, paused_because=paused_because, account_problem=account_problem)
