"""A job's data held against its checksums and its raw answers, bit for bit, and put right from these."""

import hashlib
import logging
import sqlite3
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import StrEnum

import msgspec
import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.errors import DataError, ReplyError
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.job_folder import checksums
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.job_folder.schema import NOT_SENT, metadata_value, one_moment, transaction
from cfbatch_gui.core.job_folder.vector_file import stored_vectors
from cfbatch_gui.core.jobs.elsewhere import by_id_alone
from cfbatch_gui.core.jobs.plan.packing import body_in
from cfbatch_gui.core.jobs.run.collecting import sent_requests, store
from cfbatch_gui.core.jobs.states import Batch, BatchState, Job
from cfbatch_gui.core.messages import Message, message
from cfbatch_gui.core.system.files import own_errors, remove_file
from cfbatch_gui.core.workers_ai.answers import Finished, match, read_answer, read_run

_SCORE_COLUMNS = (" in items.score", " in parts.score")
_log = logging.getLogger(__name__)


class Damage(StrEnum):
    """What is damaged; the values are those of `cfbatch verify --json`."""

    DATA = "data"  # data.db itself
    INPUTS = "inputs"  # the texts, or which of them went where
    RESULTS = "results"  # scores or vectors, or whether they are there
    VECTOR_FILE = "vector_file"  # missing, cut short or misshapen
    ANSWER = "answer"  # a raw answer


class Outcome(StrEnum):
    """What became of it; the values are those of `cfbatch verify --json`."""

    HEALED = "healed"
    HEALABLE = "healable"  # with `mend`
    WHOLE = "whole"  # the results are; only their answer is not
    LOST = "lost"  # on this computer


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is damaged. `batch` is 0 for what belongs to no batch, `rows` are those of the user's file."""

    damage: Damage
    batch: int
    rows: tuple[int, ...]
    outcome: Outcome
    sentence: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Lost:
    """Requests of a batch whose results were taken out; the batch is NOT_SENT for what an earlier job had.

    `may_ask`: the service can be asked for the batch again.
    """

    batch: int
    requests: int
    may_ask: bool


@dataclass(frozen=True, slots=True)
class JobCheck:
    """All that was found of one job; `lost` is what the ledger has to learn of, see `asked_for_again`."""

    job_id: str
    name: str
    findings: tuple[Finding, ...] = ()
    lost: tuple[Lost, ...] = ()

    @property
    def is_whole(self) -> bool:
        return not self.findings

    @property
    def is_mended(self) -> bool:
        return all(finding.outcome is Outcome.HEALED for finding in self.findings)


def asked_for_again(job: Job, check: JobCheck) -> Job:
    """The job after `check` has taken lost results out. For `Ledger.change`.

    Their batches wait at the service, to be asked for once more, or hold failed requests, which can be sent again.
    """
    lost = {each.batch: each for each in check.lost}

    def changed(batch: Batch) -> Batch:
        found = lost.get(batch.number)
        if found is None or batch.state is not BatchState.DONE:
            return batch
        if found.may_ask:
            because = message("results_were_damaged_on_disk_service")
            return replace(batch, state=BatchState.QUEUED, next_check_at=0.0, error=because, error_detail="")
        because = message("results_lost_all_requests_were_lost", lost=found.requests, all=batch.requests)
        failed = min(batch.requests, batch.failed_requests + found.requests)
        return replace(batch, failed_requests=failed, error=because, error_detail="")

    taken = lost[NOT_SENT].requests if NOT_SENT in lost else 0
    return replace(job, reused_lost=job.reused_lost + taken, batches=tuple(map(changed, job.batches)))


def verify_job(folder: JobFolder, job: Job, *, mend: bool = False) -> JobCheck:
    """Check what a job holds; with `mend` put right what can be. Blocking. Raises only DiskFull, with nothing changed.
    Who mends lets nobody else work on the job, and calls `asked_for_again` after.
    """
    verifying = _Verifying(folder, job, mend=mend)
    try:
        verifying.run()
    except DataError as error:
        if type(error) is not DataError:
            raise
        return JobCheck(job.id, job.name, (_unreadable(error.detail or error.message),))
    except (sqlite3.Error, OSError, ValueError, TypeError, LookupError, OverflowError) as error:
        _log.warning("job %s: its data cannot be read", job.id, exc_info=True)
        return JobCheck(job.id, job.name, (_unreadable(f"{type(error).__name__}: {error}"),))
    return JobCheck(job.id, job.name, tuple(verifying.findings), tuple(verifying.lost))


def _unreadable(detail: str) -> Finding:
    """What is beyond mending here; it says what can be done instead."""
    return Finding(Damage.DATA, 0, (), Outcome.LOST, message("job_data_cannot_be_read_or"), detail)


def _is_as_sent(database: sqlite3.Connection, job: Job, batch: Batch) -> bool:
    """Whether the body that is made of the data is the one that left; where that is not known, it counts as such."""
    if job.attached or job.has_named_texts or not batch.sha256:
        return True
    try:
        return hashlib.sha256(body_in(database, job, batch)).hexdigest() == batch.sha256
    except DataError:  # requests that failed are in another batch now, perhaps all
        is_known = (
            "SELECT 1 FROM requests WHERE batch = ?1 UNION SELECT 1 FROM batches WHERE batch = ?1 AND results = 0"
        )
        return database.execute(is_known, (batch.number,)).fetchone() is not None


def _read_reply(folder: JobFolder, batch: Batch) -> bytes | str:
    """A batch's raw answer, or why there is none."""
    try:
        return folder.read_reply(batch.number)
    except FileNotFoundError:
        return message("is_missing")
    except (OSError, EOFError):
        return message("is_damaged")


def _kept_answer(database: sqlite3.Connection, folder: JobFolder, job: Job, batch: Batch) -> Finished | str:
    """A batch's answer in the folder, or why there is none to go by."""
    raw = _read_reply(folder, batch)
    if isinstance(raw, str):
        return raw
    dimension = metadata_value(database, "dimension")
    try:
        finished = read_run(raw) if batch.at_once else read_answer(raw)
        if isinstance(finished, Finished) and (batch.at_once or finished.request_id in ("", batch.request_id)):
            finished = by_id_alone(finished) if job.attached else _without_moved(database, batch, finished)
            _, expected = sent_requests(database, job.kind, batch.number)
            for _ in match(finished, expected, dimension=dimension if isinstance(dimension, int) else None):
                pass
            return finished
    except ReplyError:
        pass
    return message("cannot_be_read_or_does_not")


_POSITIONS = "SELECT position FROM requests WHERE batch = ? ORDER BY position"


def _without_moved(database: sqlite3.Connection, batch: Batch, finished: Finished) -> Finished:
    """Without the elements of requests that failed in this batch and were put into another since."""
    positions = [position for (position,) in database.execute(_POSITIONS, (batch.number,))]
    if len(positions) == batch.requests or len(positions) == len(finished.elements):
        return finished
    index_of = {position: index for index, position in enumerate(positions)}
    kept = (element for element in finished.elements if element.id is None or element.id in index_of)
    renumbered = (
        element if element.id is None else msgspec.structs.replace(element, id=index_of[element.id]) for element in kept
    )
    return Finished(tuple(renumbered), finished.tokens)


class _Verifying:
    _database: sqlite3.Connection

    def __init__(self, folder: JobFolder, job: Job, *, mend: bool) -> None:
        self._folder, self._job, self._mend = folder, job, mend
        self._outcome = Outcome.HEALED if mend else Outcome.HEALABLE
        self._ending = message("they_were_put_right_from_answer") if mend else message("answer_is_here_mend_puts_them")
        self.findings: list[Finding] = []
        self.lost: list[Lost] = []

    def run(self) -> None:
        done = [batch for batch in self._job.batches if batch.state is BatchState.DONE]
        if not done and not self._job.reused:
            return
        with self._folder.open(read_only=not self._mend) as self._database:
            for (problem,) in self._database.execute("PRAGMA integrity_check(20)"):
                if problem != "ok" and not problem.endswith(_SCORE_COLUMNS):  # scores that are no numbers are results
                    self.findings.append(_unreadable(problem.replace("\n", " ")[:200]))
                    return
            # Whether the texts, and which of them went where, are those that were sent.
            not_as_sent = [batch.number for batch in done if not _is_as_sent(self._database, self._job, batch)]
            for number in not_as_sent:
                self._add(Damage.INPUTS, number, Outcome.LOST, "batch_number_rows_text_or_order")
            with transaction(self._database) if self._mend else one_moment(self._database):
                self._check_results(done, not_as_sent)

    def _check_results(self, done: list[Batch], not_as_sent: Collection[int]) -> None:
        if self._job.kind is Kind.EMBED:
            self._check_vector_file()
        has_taken = self._job.reused > 0
        numbers = [batch.number for batch in done] + [NOT_SENT] * has_taken
        noted = checksums.noted_checksums(self._database)  # as they are before anything is mended
        found = checksums.checksums_of(self._database, self._vectors(), numbers)
        for batch in done:
            if noted.get(batch.number) == found[batch.number]:
                answer = _read_reply(self._folder, batch)
                if isinstance(answer, str):
                    about = self._about(batch, answer)
                    self._add(Damage.ANSWER, batch.number, Outcome.WHOLE, "answer_results_are_whole", answer=about)
            else:
                self._put_right(batch, is_as_sent=batch.number not in not_as_sent)
        if has_taken and noted.get(NOT_SENT) != found[NOT_SENT]:
            self._lose(NOT_SENT, "results_rows_were_taken_from_earlier", may_ask=False)

    def _add(self, damage: Damage, batch: int, outcome: Outcome, code: str, **parameters: object) -> None:
        """A finding; the rows of a batch are those of its items, except for what only its answer has lost."""
        whole = outcome is Outcome.WHOLE or damage is Damage.VECTOR_FILE
        items = () if whole else checksums.items_of_batches(self._database, (batch,))
        rows = checksums.rows_of_items(self._database, items)
        # Texts that have names alone are counted in the order of the answers.
        named = checksums.rows_in_words(sorted(items) if self._job.has_named_texts else rows)
        words = message(code, number=batch, rows=named, ending=self._ending, **parameters)
        self.findings.append(Finding(damage, batch, tuple(rows), outcome, words))

    def _about(self, batch: Batch, problem: str) -> Message:
        name = self._folder.reply(batch.number).name
        return message("batch_number_answer_replies_name_problem", number=batch.number, name=name, problem=problem)

    def _check_vector_file(self) -> None:
        dimension = metadata_value(self._database, "dimension")
        (count,) = self._database.execute("SELECT max(item_no) FROM items").fetchone()
        vectors = self._vectors()
        if vectors is not None and vectors.shape == (count, dimension):
            return
        done = "SELECT 1 FROM requests WHERE state = 'done' LIMIT 1"
        if dimension is None and not self._database.execute(done).fetchone():
            return  # every batch that is done will be found without its results
        if self._mend:  # each is stored anew, the first one in a new file
            self._database.execute("UPDATE requests SET state = 'waiting'")
            self._database.execute("DELETE FROM facts WHERE name IN ('dimension', 'pooling')")
            with own_errors(self._folder.vectors):
                remove_file(self._folder.vectors)
        self._add(Damage.VECTOR_FILE, 0, self._outcome, "file_vectors_vectors_npy_is_missing")

    def _vectors(self) -> NDArray[np.float32] | None:
        """None for scores, and for a file that cannot be read: then no checksum is right."""
        if self._job.kind is Kind.EMBED:
            with suppress(DataError):
                return stored_vectors(self._folder.vectors)
        return None

    def _put_right(self, batch: Batch, *, is_as_sent: bool) -> None:
        answer = _kept_answer(self._database, self._folder, self._job, batch)
        if isinstance(answer, str):
            of_batch = "SELECT count(*) FROM requests WHERE batch = ?"
            (requests,) = self._database.execute(of_batch, (batch.number,)).fetchone()
            may_ask = bool(batch.request_id) and not batch.at_once and requests == batch.requests
            about = self._about(batch, answer)
            self._lose(batch.number, "answer_results_rows_are_lost_here", may_ask=may_ask, answer=about)
        elif not is_as_sent:
            self._add(Damage.RESULTS, batch.number, Outcome.LOST, "batch_number_results_rows_are_not")
        else:
            if self._mend:
                store(self._database, self._folder, self._job.kind, batch.number, answer)
            self._add(Damage.RESULTS, batch.number, self._outcome, "batch_number_results_and_ending")

    def _lose(self, batch: int, code: str, *, may_ask: bool, **parameters: object) -> None:
        """The results of a batch are lost; with `mend` they are taken out."""
        if not self._mend:
            cure = message("mend_takes_them_out_results_service")
        elif may_ask:
            cure = message("cfbatch_resume_id_asks_service_answer", id=self._job.id)
        elif self._job.attached or self._job.taken_over:
            cure = message("they_were_sent_from_elsewhere_cannot")
        else:
            cure = message("cfbatch_resume_id_failed_sends_these", id=self._job.id)
        if self._mend:
            requests = _forget_results(self._database, batch, is_failed=not may_ask)
            self.lost.append(Lost(batch, requests, may_ask))
        self._add(Damage.RESULTS, batch, Outcome.LOST, code, cure=cure, **parameters)


def complete_results(folder: JobFolder, job: Job) -> None:
    """Put back from the answers that are kept what the ledger calls done and `data.db` lacks, as after a copy of it was
    put back. Blocking; quick when nothing is missing. Raises ResultsDamaged for what is not here, DiskFull, DataError.
    """
    done = [batch for batch in job.batches if batch.state is BatchState.DONE]
    with folder.open(read_only=True) as database:
        noted = checksums.noted_checksums(database)
    for batch in done:
        if batch.number not in noted:
            with suppress(ReplyError), folder.open() as database, transaction(database):
                answer = _kept_answer(database, folder, job, batch)
                if isinstance(answer, Finished) and _is_as_sent(database, job, batch):
                    store(database, folder, job.kind, batch.number, answer)
                    _log.warning("job %s: batch %d was put back from its answer", job.id, batch.number)
    checksums.check_stored(folder, job.stored_batches)


def _forget_results(database: sqlite3.Connection, batch: int, *, is_failed: bool) -> int:
    """Take out the results of a batch, whose requests then wait or have failed; returns how many requests had some. The
    caller commits.
    """
    items = str(checksums.items_of_batches(database, (batch,)))
    database.execute("UPDATE items SET score = NULL WHERE item_no IN (SELECT value FROM json_each(?))", (items,))
    of_batch = "request_no IN (SELECT request_no FROM requests WHERE batch = ?)"
    database.execute(f"UPDATE parts SET score = NULL WHERE {of_batch}", (batch,))  # noqa: S608 - a constant
    lost = message("results_were_damaged_on_disk_was")
    state, error, others = ("failed", lost, "failed") if is_failed else ("waiting", "", "")
    changed = database.execute(
        "UPDATE requests SET state = ?, error = ? WHERE batch = ? AND state <> ?", (state, error, batch, others)
    )
    if changed.rowcount:  # else nothing of the batch is here
        checksums.note_results(database, batch)
    return changed.rowcount
