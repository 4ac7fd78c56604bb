"""The data folder as a whole: opened, put together again from each job.json, held back when it was moved, copied or put
back, and backed up. Nothing is sent from a copy before the user has said what happened.
"""

import logging
import shutil
import sqlite3
import time
import zipfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

import msgspec

from cfbatch_gui.core.errors import DataError, LedgerDamaged
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.jobs.states import Batch, BatchState, Job
from cfbatch_gui.core.jobs.store.ledger import Ledger
from cfbatch_gui.core.jobs.store.submissions import (
    Event,
    Submission,
    Written,
    put_damage_aside,
    read_submissions,
)
from cfbatch_gui.core.messages import counted_message, message
from cfbatch_gui.core.system.files import atomic_writer, make_own_folder, move_file, temporary_folder, write_own_file
from cfbatch_gui.core.system.folder_identity import Identity, Place, new_id, read_identity, write_identity
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
FOLDER, GENERATION = "folder", "generation"  # in the ledger's metadata

_log = logging.getLogger(__name__)


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
    folder = _text(ledger.metadata(FOLDER)) or (kept.id if kept else "") or new_id()
    elsewhere = _elsewhere(paths, folder)
    counted = [each.generation for each in (kept, elsewhere) if each is not None and each.id == folder]
    identity = Identity(folder, here, max((_number(ledger.metadata(GENERATION)), *counted)) + 1)
    try:
        _keep(ledger, paths, identity)
    except DataError as error:
        _log.warning("This start was not counted: %s", error.detail or error.message)


def settle_doubt(ledger: Ledger, paths: Paths, here: Place, answer: FolderAnswer) -> tuple[Job, ...]:
    """Do what the user's answer means; the jobs that were paused. Raises DiskFull and DataError.

    A copy gets an id of its own, and what it would send waits for the user's word, job by job.
    """
    paused = []
    if answer is FolderAnswer.COPIED:
        paused = [ledger.change(job.id, _held_back) for job in ledger.jobs() if _would_send(job)]
        _keep(ledger, paths, Identity(new_id(), here, 1))
    else:
        keep_place(ledger, paths, here)
    return tuple(paused)


def lines_kept_elsewhere(ledger: Ledger, paths: Paths) -> Sequence[Submission]:
    """What was written down of this folder outside of it; () when nothing was, or it cannot be read."""
    kept = read_identity(paths.identity)
    found: list[Submission] = []
    for folder in {_text(ledger.metadata(FOLDER)), kept.id if kept else ""} - {""}:
        path = submissions_elsewhere(paths, folder)
        if path is not None:
            with suppress(DataError):
                found += read_submissions(path).lines
    return found


def submissions_elsewhere(paths: Paths, folder: str) -> Path | None:
    """The second copy of `submissions.jsonl`, outside of the data folder; None where the system has no place for it."""
    return paths.state / f"{folder}.jsonl" if paths.state is not None and folder else None


def folder_id(ledger: Ledger) -> str:
    """The id of the data folder, "" while it has none."""
    return _text(ledger.metadata(FOLDER))


def _doubt(ledger: Ledger, paths: Paths, here: Place, *, is_new: bool, learned: bool) -> Doubt | None:
    kept = read_identity(paths.identity)
    folder = _text(ledger.metadata(FOLDER))
    if kept is not None and folder and folder != kept.id:
        return Doubt.FOREIGN
    elsewhere = _elsewhere(paths, folder or (kept.id if kept else ""))
    if (kept is not None and kept.place != here) or (kept is None and folder):
        return Doubt.PLACE
    if elsewhere is not None and elsewhere.place != here:
        return Doubt.PLACE
    counted = [each.generation for each in (kept, elsewhere) if each is not None]
    is_older = not is_new and _number(ledger.metadata(GENERATION)) < max(counted, default=0)
    return Doubt.OLDER if is_older or (learned and not is_new) else None


def _keep(ledger: Ledger, paths: Paths, identity: Identity) -> None:
    ledger.put_metadata({FOLDER: identity.id, GENERATION: identity.generation})
    write_identity(paths.identity, identity)
    if paths.state is not None:
        with suppress(OSError, DataError):  # a home that is read-only: the folder's own file is there
            make_own_folder(paths.state)
            write_identity(paths.state / f"{identity.id}.json", identity)


def _elsewhere(paths: Paths, folder: str) -> Identity | None:
    if paths.state is None or not folder:
        return None
    return read_identity(paths.state / f"{folder}.json")


def _would_send(job: Job) -> bool:
    """Whether something of a job leaves at a start or when all jobs are carried on, without a word about this job."""
    is_waiting = any(each.state is BatchState.PLANNED for each in job.batches)
    return job.is_sent and is_waiting and job.paused_because not in WAITS_FOR_WORD


def _held_back(job: Job) -> Job:
    return replace(job, paused_because=FROM_COPY)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0


PUT_TOGETHER = message(
    "This job was put together again after its record was lost. Carry on to collect what is at the service."
)
MAY_HAVE_LEFT = message("Its record was lost: it may have been accepted and billed, so it is not sent again by itself.")


@dataclass(frozen=True, slots=True)
class Opened:
    """`recovered` are jobs that were put together again, `damage` are sentences. While there is a `doubt`, nothing must
    be sent before the user has said whether the folder was moved or copied.
    """

    ledger: Ledger
    recovered: tuple[Job, ...] = ()
    damage: tuple[str, ...] = ()
    doubt: Doubt | None = None


def open_or_recover(paths: Paths, *, clock: Callable[[], float] = time.time, here: Place | None = None) -> Opened:
    """Open the ledger; a damaged one is put aside under another name, never deleted.

    A ledger that was put back from an older copy learns what was sent since, so that nothing of it is sent twice.
    `here` is where the folder is; None does not ask whether it was moved, copied or restored. Raises DataError when
    another process holds it, or when it was written by another version.
    """
    damage: list[str] = []
    is_new = not paths.ledger.exists()
    try:
        ledger = Ledger.open(paths)
    except LedgerDamaged as error:
        _log.warning("The ledger is damaged and was put aside: %s", error.detail)
        aside = paths.ledger.with_name(f"{paths.ledger.name}.damaged-{int(clock())}")
        move_file(paths.ledger, aside)
        paths.ledger.with_name(f"{paths.ledger.name}-journal").unlink(missing_ok=True)
        damage.append(
            message(
                "The list of your jobs was damaged. It was made anew from their folders; “{name}” is kept.",
                name=aside.name,
            )
        )
        ledger, is_new = Ledger.open(paths), True
    is_new = is_new or not folder_id(ledger)  # made anew, by this start or by one that was cut short
    try:
        found = _Recovering(ledger, paths, clock, damage).run()
        doubt = None
        if here is not None:
            doubt = reason_to_doubt(ledger, paths, here, is_new=is_new, learned=found.has_learned)
            if doubt is None:
                keep_place(ledger, paths, here)
    except BaseException:
        ledger.close()
        raise
    return Opened(ledger, found.recovered, tuple(damage), doubt)


class _Recovering:
    """`has_learned` is whether the files knew of attempts to send that the ledger did not."""

    def __init__(self, ledger: Ledger, paths: Paths, clock: Callable[[], float], damage: list[str]) -> None:
        self._ledger, self._paths, self._clock, self._damage = ledger, paths, clock, damage
        self.recovered: tuple[Job, ...] = ()
        self.has_learned = False

    def run(self) -> "_Recovering":
        written = self._read()
        known = self._ledger.attempts()
        lines = _by_batch(written.lines)
        unknown = {job_id for (job_id, _), each in lines.items() if any(line.attempt not in known for line in each)}
        self.recovered = self._adopt_unknown_folders(lines, unknown)
        self._learn(lines, known)
        new = {line.attempt: line.job_id for line in written.lines if line.attempt not in known}
        if new:
            self._ledger.learn_attempts(tuple(new.items()))
        return self

    def _read(self) -> Written:
        path = self._paths.submissions
        try:
            here = read_submissions(path)
        except DataError:
            here = Written()  # sending says so, and what is at the service is in the ledger
        if here.damaged:
            self._put_aside(here)
        elsewhere = lines_kept_elsewhere(self._ledger, self._paths)
        both = {(line.attempt, line.event): line for line in (*elsewhere, *here.lines)}
        return Written(tuple(both.values()), here.damaged)

    def _put_aside(self, here: Written) -> None:
        path = self._paths.submissions
        name = f"{path.name}.damaged-{int(self._clock())}"
        count = len(here.damaged)
        _log.warning("%d damaged lines in %s", count, path.name)
        try:
            put_damage_aside(path, here, name)
        except DataError:
            name = path.name  # a full disk: at the next start
        self._damage.append(
            counted_message(
                count,
                "One line of “{file}”, which holds the ids of your batches, is damaged. Nothing was sent because of it;"
                " “{copy}” keeps the file as it was.",
                "{n:,} lines of “{file}”, which holds the ids of your batches, are damaged. Nothing was sent because of"
                " it; “{copy}” keeps the file as it was.",
                file=path.name,
                copy=name,
            )
        )
        self._mark_in_doubt(here)

    def _mark_in_doubt(self, here: Written) -> None:
        """A batch whose answer was lost keeps the id in a damaged line as a hint; it is never taken by itself."""
        for job in self._ledger.jobs():
            for batch in job.batches:
                if batch.state is not BatchState.SENDING or here.request_id(batch.attempt):
                    continue
                for hint in here.hints(job.id, batch.number):
                    where = f"line {hint.number} of {self._paths.submissions.name}"
                    self._ledger.save_batch(_unknown(batch, f"{where} is damaged and says {hint.request_id}"))
                    break

    def _adopt_unknown_folders(self, lines: "_Lines", unknown: set[str]) -> tuple[Job, ...]:
        """Folders that the ledger knows nothing of, or of which batches were sent that it does not know."""
        jobs = {job.id: job for job in self._ledger.jobs()}
        known = {job_id: {batch.number for batch in job.batches} for job_id, job in jobs.items()}
        older = {job_id for job_id, number in lines if number not in known.get(job_id, {number})}
        older |= {job_id for job_id in unknown & jobs.keys() if self._is_laid_out_anew(jobs[job_id])}
        passed_over = (known.keys() - older) | {job.id for job in self._ledger.deleted_jobs()}
        attempts: dict[str, set[str]] = defaultdict(set)
        for (job_id, _), each in lines.items():
            attempts[job_id] |= {line.attempt for line in each}
        recovered = []
        # Known jobs are left out first: of thousands of folders few need to be sorted and read.
        for path in sorted(path for path in self._paths.jobs.iterdir() if path.name not in passed_over):
            if not path.is_dir():
                continue
            folder = JobFolder(path)
            job = read_manifest(folder)
            if job is None or not folder.data.exists() or (path.name in older and not job.is_sent):
                continue
            batches = [_batch(folder, batch, lines.get((job.id, batch.number), ())) for batch in job.batches]
            # Nothing happens any more to a job that has all of its results, be they from earlier ones.
            is_finished = job.is_sent and all(batch.state.is_final for batch in batches)
            finished_at = (job.finished_at or self._clock()) if is_finished else 0.0
            paused = PUT_TOGETHER if job.is_sent and not is_finished else ""
            put_together = replace(job, paused_because=paused, finished_at=finished_at)
            # In one transaction: an attempt that a later start found new would count as one made since.
            recovered.append(self._ledger.save_plan(put_together, batches, attempts[job.id]))
        return tuple(recovered)

    def _is_laid_out_anew(self, job: Job) -> bool:
        kept = read_manifest(JobFolder(self._paths.job(job.id)))
        layouts = [{(batch.number, batch.at_once) for batch in each.batches} for each in (kept or job, job)]
        return layouts[0] != layouts[1] and bool(layouts[0])

    def _learn(self, lines: "_Lines", known: frozenset[str]) -> None:
        """Attempts that the ledger does not know were made after it was copied. Times say nothing: clocks are set."""
        recovered = {job.id for job in self.recovered}
        for job in self._ledger.jobs():
            for batch in job.batches:
                new = [line for line in lines.get((job.id, batch.number), ()) if line.attempt not in known]
                if not new:
                    continue
                self.has_learned = True
                if batch.state is BatchState.DONE or job.id in recovered:
                    continue
                learned = _learned(JobFolder(self._paths.job(job.id)), batch, new)
                if learned is not batch:
                    self._ledger.save_batch(learned)


_Lines = dict[tuple[str, int], list[Submission]]  # by job and number of the batch


def _by_batch(lines: Iterable[Submission]) -> _Lines:
    found: _Lines = {}
    for line in lines:
        if line.job_id:
            found.setdefault((line.job_id, line.batch), []).append(line)
    return found


def _accepted_of(lines: Sequence[Submission]) -> Submission | None:
    return next((line for line in reversed(lines) if line.event is Event.ACCEPTED), None)


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


def _unknown(batch: Batch, detail: str = "") -> Batch:
    return replace(batch, state=BatchState.OUTCOME_UNKNOWN, error=MAY_HAVE_LEFT, error_detail=detail)


def _learned(folder: JobFolder, batch: Batch, new: Sequence[Submission]) -> Batch:
    """A batch as it became by attempts that the ledger does not know."""
    batch = replace(batch, earlier=batch.billable)
    accepted = _accepted_of(new)
    if accepted is not None:
        return _accepted(batch, accepted)
    last = new[-1]
    if last.event is Event.NOT_ACCEPTED:
        return batch
    sent = replace(batch, attempt=last.attempt, sha256=last.sha256, sent_at=last.time, request_id="")
    if batch.at_once and folder.reply(batch.number).exists():
        return replace(sent, state=BatchState.COLLECTING)
    return _unknown(sent)


def _batch(folder: JobFolder, planned: Batch, lines: Sequence[Submission]) -> Batch:
    """The state of a batch as far as the files prove it; without proof its outcome is unknown."""
    if planned.state is BatchState.DONE:
        return planned  # and stored: requests that the service refused may have gone into another batch since
    has_reply = folder.reply(planned.number).exists()
    submission = _accepted_of(lines)
    if submission is not None:
        accepted = _accepted(planned, submission)
        return replace(accepted, state=BatchState.COLLECTING) if has_reply else accepted
    # Both are written before the first byte leaves; either may be lost or damaged alone.
    was_begun = bool(lines) and lines[-1].event is Event.SENDING
    may_have_left = was_begun or folder.body(planned.number).exists()
    if has_reply and (planned.at_once or not may_have_left):
        return replace(planned, state=BatchState.COLLECTING)
    return _unknown(planned) if may_have_left else planned


def write_manifest(folder: JobFolder, job: Job) -> None:
    """Keep the job, batches included. Raises DiskFull and DataError."""
    write_own_file(folder.manifest, msgspec.json.encode(job, enc_hook=str))  # messages as their text


def read_manifest(folder: JobFolder) -> Job | None:
    try:
        job = msgspec.json.decode(folder.manifest.read_bytes(), type=Job)
    except (OSError, ValueError, RecursionError):  # also bytes that are not UTF-8
        return None
    name = folder.path.name  # of a copied folder it is another than the job's, whose batches are not to be touched
    return replace(job, id=name, batches=tuple(replace(batch, job_id=name) for batch in job.batches))


_DATABASES = {".db"}
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
            if path.suffix in _DATABASES:
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
        for job in ledger.jobs():
            if any(batch.state is BatchState.PLANNED for batch in job.batches):
                ledger.change(job.id, _waiting_for_word)


def _waiting_for_word(job: Job) -> Job:
    return replace(job, paused_because=FROM_BACKUP)
