"""The ledger opened at a start; what it has lost is put together again from the job folders and `submissions.jsonl`."""

import logging
import os
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import msgspec

from cfbatch_gui.core.errors import DataError, LedgerDamaged
from cfbatch_gui.core.job_folder.folder import JOB, JobFolder, sending_begun
from cfbatch_gui.core.jobs.states import Batch, BatchState, Job
from cfbatch_gui.core.jobs.store.data_folder import Doubt, Place, keep_place, lines_kept_elsewhere, reason_to_doubt
from cfbatch_gui.core.jobs.store.ledger import Ledger
from cfbatch_gui.core.jobs.store.submissions import (
    Event,
    Submission,
    Written,
    accepted_of,
    put_damage_aside,
    read_submissions,
)
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.system.files import move_file
from cfbatch_gui.core.system.paths import Paths

_log = logging.getLogger(__name__)

PUT_TOGETHER = message(
    "This job was put together again after its record was lost. Carry on to collect what is at the service."
)
RECOVERED = message(
    "Jobs were put together again from their own folders, because their record was missing or damaged. Carry on with "
    "them to collect what is at the service."
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
    is_new = not paths.has_ledger()
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
    is_new = is_new or not ledger.folder_identity()[0]  # made anew, by this start or by one that was cut short
    try:
        found = _Recovering(ledger, paths, clock, damage).run()
        if found.recovered:
            damage.append(RECOVERED)
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
            here = Written()  # sending says so, and what is at the service is in the ledger
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
        self._damage.append(
            message(
                "Damaged lines of “{file}”, which holds the ids of your batches: {n:,}. Nothing was sent because of"
                " them; “{copy}” keeps the file as it was.",
                file=path.name,
                n=damaged,
                copy=name,
            )
        )

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
                self._damage.append(
                    message(
                        "“{folder}” holds a job that cannot be read, so it is missing from the list. Put its data.db"
                        " back from a backup, or remove the folder.",
                        folder=path,
                    )
                )
                continue
            if job is None or (path.name in jobs and not job.is_sent):
                continue
            batches = [_batch(folder, batch, by_batch.get((job.id, batch.number), ()), begun) for batch in job.batches]
            # Nothing happens any more to a job that has all of its results, be they from earlier ones.
            is_finished = job.is_sent and all(batch.state.is_final for batch in batches)
            finished_at = (job.finished_at or self._clock()) if is_finished else 0.0
            paused = PUT_TOGETHER if job.is_sent and not is_finished else ""
            put_together = replace(job, paused_because=paused, finished_at=finished_at)
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
    folder.keep_fact(JOB, msgspec.to_builtins(job, enc_hook=str))  # messages as their text


def read_manifest(folder: JobFolder) -> Job | None:
    """None when there is none. Raises DataError."""
    found = folder.fact(JOB)
    if found is None:
        return None
    try:
        job = msgspec.convert(found, Job)
    except msgspec.ValidationError as error:
        raise DataError(message("This job's data is damaged."), detail=f"data.db: {error}") from error
    name = folder.path.name  # of a copied folder it is another than the job's, whose batches are not to be touched
    return replace(job, id=name, batches=tuple(replace(batch, job_id=name) for batch in job.batches))
