"""What can be checked of a job's data without its answers: the file of SQLite, and the texts by what was sent."""

import hashlib
import logging
import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.errors import DataError, ReplyError
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.job_folder import vector_file
from cfbatch_gui.core.job_folder.checksums import (
    ROWS,
    ROWS_AT_START,
    TEXTS,
    TEXTS_AT_START,
    note_reply,
    one_moment,
    rows_in_words,
    rows_of_items,
    trailer_of,
)
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.job_folder.schema import NOT_SENT, metadata_value, put_metadata_value, transaction
from cfbatch_gui.core.jobs.plan.packing import body_of
from cfbatch_gui.core.jobs.run.collecting import store
from cfbatch_gui.core.jobs.states import Batch, BatchState, Job
from cfbatch_gui.core.jobs.verify.job_check import Damage, Finding, JobCheck, Lost, Outcome
from cfbatch_gui.core.jobs.verify.stored_results import (
    Compared,
    KeptAnswer,
    ResultSums,
    compare,
    forget_results,
    items_of_batch,
    kept_answer,
    wrong_by_their_parts,
)
from cfbatch_gui.core.messages import message

_SCORE_COLUMNS = (" in items.score", " in parts.score")
_INDEX_ONLY = ("wrong # of entries in index", "missing from index", "non-unique entry in index")


def unreadable(job: Job, detail: str) -> Finding:
    """What is beyond mending here; it says what can be done instead."""
    if job.attached:
        again = message("Add it again by its request ID.")
    elif job.taken_over:
        again = message("Delete it, and take it over again if it is still in your account.")
    else:
        again = (
            message(
                "The answers are in its folder. Put data.db back from a backup, or send the file again as a new job; it"
                " was “{path}”.",
                path=job.source_path,
            )
            if job.source_path
            else message(
                "The answers are in its folder. Put data.db back from a backup, or send the file again as a new job."
            )
        )
    words = message("This job's data cannot be read, or is damaged inside. {cure}", cure=again)
    return Finding(Damage.DATA, 0, (), Outcome.LOST, words, detail)


def indexes(folder: JobFolder, job: Job, check: JobCheck, *, mend: bool) -> JobCheck:
    """Whether rows are found by their indexes; to be asked first. With `mend`, what is broken otherwise is a finding at
    once.
    """
    with folder.open(read_only=not mend) as database:
        problems = _problems(database)
        others = [problem for problem in problems if not any(words in problem for words in _INDEX_ONLY)]
        broken = [problem for problem in others if not problem.endswith(_SCORE_COLUMNS)]
        if mend and broken:
            return check.with_finding(unreadable(job, broken[0]))
        if not problems or others:
            return check
        if mend:
            database.execute("REINDEX")
    outcome = Outcome.HEALED if mend else Outcome.HEALABLE
    words = message("An index of this job's data is damaged.")
    return check.with_finding(Finding(Damage.DATA, 0, (), outcome, words, problems[0]))


def structure(folder: JobFolder, job: Job, check: JobCheck) -> JobCheck:
    """What SQLite itself finds, but for what has been found by other means; to be asked after mending."""
    with folder.open(read_only=True) as database:
        problems = _problems(database)
    known = {found.detail for found in check.findings}
    is_named = any(found.damage is Damage.RESULTS for found in check.findings)
    others = [
        problem for problem in problems if problem not in known and not (is_named and problem.endswith(_SCORE_COLUMNS))
    ]
    if not others or all(any(words in problem for words in _INDEX_ONLY) for problem in others):
        return check
    return check.with_finding(unreadable(job, others[0]))


def _problems(database: sqlite3.Connection) -> list[str]:
    found = [str(row[0]).replace("\n", " ")[:200] for row in database.execute("PRAGMA integrity_check(20)")]
    return [] if found == ["ok"] else found


def inputs(folder: JobFolder, job: Job, done: list[Batch], check: JobCheck) -> JobCheck:
    """Whether the texts, and which of them went where, are those that were sent: by the hash of each body."""
    with folder.open(read_only=True) as database:
        if job.attached or job.has_named_texts:
            return check
        for batch in done:
            try:
                body = body_of(database, job, batch)
            except DataError:
                continue  # requests that failed are in another batch now
            if batch.sha256 and hashlib.sha256(body).hexdigest() != batch.sha256:
                rows = rows_of_items(database, items_of_batch(database, batch.number).tolist())
                words = message(
                    "Batch {number}: of {rows}, a text or the order is damaged; it is not what was sent. Its results"
                    " are left as they are.",
                    number=batch.number,
                    rows=rows_in_words(rows, most=50),
                )
                check = check.with_finding(Finding(Damage.INPUTS, batch.number, tuple(rows), Outcome.LOST, words))
    return check


_log = logging.getLogger(__name__)


def verify_job(folder: JobFolder, job: Job, *, mend: bool = False, batches: Collection[int] | None = None) -> JobCheck:
    """Check what a job, or these `batches`, hold; with `mend` put right what can be. Blocking. Raises only DiskFull,
    with nothing changed. Who mends lets nobody else work on the job, and calls `asked_for_again` after.
    """
    check = JobCheck(job.id, job.name)
    done = [batch for batch in job.batches if batch.state is BatchState.DONE]
    if not done and not job.reused:
        return check
    if not folder.data.exists():
        return check.with_finding(unreadable(job, "data.db is missing"))
    try:
        if batches is not None:
            done = [batch for batch in done if batch.number in batches]
        else:
            check = indexes(folder, job, check, mend=mend)
            if not check.is_mended and mend:
                return check
            check = inputs(folder, job, done, check)
        with folder.open(read_only=not mend) as database, _at_once(database, mend=mend):
            verifying = _Verifying(database, folder, job, check, is_whole_job=batches is None, mend=mend)
            check = verifying.run(done)
        if batches is None:
            check = structure(folder, job, check)
    except DataError as error:
        if type(error) is not DataError:
            raise
        return check.with_finding(unreadable(job, error.detail or error.message))
    except (sqlite3.Error, OSError) as error:
        return check.with_finding(unreadable(job, f"{type(error).__name__}: {error}"))
    except (ValueError, TypeError, LookupError, OverflowError) as error:
        _log.warning("job %s: its data holds what it cannot hold", job.id, exc_info=True)
        return check.with_finding(unreadable(job, f"{type(error).__name__}: {error}"))
    return check


@contextmanager
def _at_once(database: sqlite3.Connection, *, mend: bool) -> Iterator[None]:
    with transaction(database) if mend else one_moment(database):
        yield


_MENDED = message("They were put right from the answer.")
_CAN_BE_MENDED = message("The answer is here: --mend puts them right.")
_MISSING = message("The file of the vectors, vectors.npy, is missing.")
_CUT_SHORT = message("The file of the vectors, vectors.npy, is cut short, or its header is damaged.")
_NOT_AS_NOTED = message("Batch {number}: what is noted of its requests is not what the service answered.")
_NOT_AS_ANSWERED = {
    "scores": message("Batch {number}: the scores of {rows} are not what the service answered."),
    "vectors": message("Batch {number}: the vectors of {rows} are not what the service answered."),
}
_TAKEN = {
    "scores": message("The scores of {rows}, which were taken from an earlier job, are lost here. {cure}"),
    "vectors": message("The vectors of {rows}, which were taken from an earlier job, are lost here. {cure}"),
}
_LOST = {
    "scores": message("{answer} The scores of {rows} are lost here. {cure}"),
    "vectors": message("{answer} The vectors of {rows} are lost here. {cure}"),
}


class _Verifying:
    def __init__(
        self,
        database: sqlite3.Connection,
        folder: JobFolder,
        job: Job,
        check: JobCheck,
        *,
        is_whole_job: bool,
        mend: bool,
    ) -> None:
        self._database, self._folder, self._job, self._check = database, folder, job, check
        self._mend, self._is_whole_job = mend, is_whole_job
        self._outcome = Outcome.HEALED if mend else Outcome.HEALABLE
        self._what: Literal["scores", "vectors"] = "scores" if job.kind is Kind.RANK else "vectors"
        self._unproven: dict[int, str] = {}  # batches without an answer to go by, and what is wrong with it
        self._not_to_touch = {each.batch for each in check.findings if each.damage is Damage.INPUTS}
        self._right_scores: dict[int, float] = {}
        self._wrong: set[int] = set()

    def run(self, done: list[Batch]) -> JobCheck:
        if self._job.kind is Kind.EMBED:
            self._check_vector_file()
        # As they are before anything is mended.
        taken = (NOT_SENT,) if self._job.reused else ()
        sums = ResultSums(self._database, self._folder, self._job.kind, (*(batch.number for batch in done), *taken))
        for batch in done:
            self._check_batch(batch)
        if self._job.reused:
            self._unproven[NOT_SENT] = ""  # no answer of theirs was ever here: their checksums decide
        self._check_parts(done)
        self._check_unsent()
        if self._is_whole_job:
            self._check_sums(sums, done)
        return self._check

    def _add(self, damage: Damage, batch: int, items: Collection[int], outcome: Outcome, words: str) -> None:
        rows = rows_of_items(self._database, items)
        self._check = self._check.with_finding(Finding(damage, batch, tuple(rows), outcome, words))

    def _named(self, items: Collection[int], *, at_start: bool = False) -> str:
        if self._job.has_named_texts:
            return rows_in_words(sorted(items), TEXTS_AT_START if at_start else TEXTS, most=50)
        words = ROWS_AT_START if at_start else ROWS
        some = message("Some rows") if at_start else message("some rows")
        return rows_in_words(rows_of_items(self._database, items), words, most=50) or some

    def _ending(self) -> str:
        return _MENDED if self._mend else _CAN_BE_MENDED

    def _check_vector_file(self) -> None:
        dimension = metadata_value(self._database, "dimension")
        if not isinstance(dimension, int):
            self._without_dimension()
            return
        (count,) = self._database.execute("SELECT max(item_no) FROM items").fetchone()
        try:
            layout = vector_file.read_layout(self._folder.vectors)
        except DataError:
            layout = None
        if layout is not None and (layout.rows, layout.dimension) == (count, dimension):
            return
        state = _CUT_SHORT if self._folder.vectors.exists() else _MISSING
        if self._mend:
            vector_file.rewrite(self._folder.vectors, count, dimension)
            ending = message("It was written anew.")
        else:
            ending = message("--mend writes it anew from the answers.")
        words = message("{sentence} {next}", sentence=state, next=ending)
        self._add(Damage.VECTOR_FILE, 0, (), self._outcome, words)

    def _without_dimension(self) -> None:
        if not self._database.execute("SELECT 1 FROM requests WHERE state = 'done' LIMIT 1").fetchone():
            return  # every batch that is done will be found without its results
        if self._mend and (vectors := self._vectors()) is not None:
            put_metadata_value(self._database, "dimension", vectors.shape[1])
        elif self._mend:
            self._database.execute("UPDATE requests SET state = 'waiting'")  # each is stored anew
        words = message("It is no longer noted how long the vectors are. {ending}", ending=self._ending())
        self._add(Damage.VECTOR_FILE, 0, (), self._outcome, words)

    def _vectors(self) -> NDArray[np.float32] | None:
        try:
            layout = vector_file.read_layout(self._folder.vectors)
        except DataError:
            return None
        return vector_file.stored_vectors(self._folder.vectors, layout)

    def _check_batch(self, batch: Batch) -> None:
        answer = kept_answer(self._database, self._folder, self._job, batch)
        if answer.finished is None:
            self._unproven[batch.number] = answer.problem
            return
        dimension = metadata_value(self._database, "dimension")
        try:
            found = compare(
                self._database,
                self._job.kind,
                batch.number,
                answer.finished,
                vectors=self._vectors(),
                dimension=dimension if isinstance(dimension, int) else None,
            )
        except ReplyError:
            self._unproven[batch.number] = message("does not belong to this batch")
            return
        is_wrong = bool(found.wrong or found.wrong_requests)
        if is_wrong and not self._is_trusted(answer, found):
            self._unproven[batch.number] = message("is not the one that the results are from")
            return
        if is_wrong:
            self._wrong_results(batch, answer, found.wrong)
            self._right_scores |= found.right_scores
        if not answer.is_noted:
            self._note_anew(batch)

    def _is_trusted(self, answer: KeptAnswer, found: Compared) -> bool:
        """An answer that names no requests, and is not known by its checksum, may be that of any batch."""
        if answer.is_named or answer.is_noted or found.agreeing:
            return True
        if answer.is_foreign:
            return False
        sums = ResultSums(self._database, self._folder, self._job.kind, [])
        return not sums.are_as_stored(found.wrong)

    def _wrong_results(self, batch: Batch, answer: KeptAnswer, wrong: list[int]) -> None:
        template = _NOT_AS_ANSWERED[self._what] if wrong else _NOT_AS_NOTED
        words = template.filled(number=batch.number, rows=self._named(wrong))
        if batch.number in self._not_to_touch:
            self._add(Damage.RESULTS, batch.number, wrong, Outcome.LOST, words)
            return
        self._wrong |= set(wrong)
        if self._mend and answer.finished is not None:
            store(self._database, self._folder, self._job.kind, batch.number, answer.finished)
        words = message("{sentence} {next}", sentence=words, next=self._ending())
        self._add(Damage.RESULTS, batch.number, wrong, self._outcome, words)

    def _note_anew(self, batch: Batch) -> None:
        trailer = trailer_of(self._folder.reply(batch.number))
        if self._mend and trailer is not None:
            note_reply(self._database, batch.number, trailer)
        words = message(
            "Batch {number}: the checksum of its answer is missing or damaged; the answer is whole.",
            number=batch.number,
        )
        self._add(Damage.CHECKSUMS, batch.number, (), self._outcome, words)

    def _check_parts(self, done: list[Batch]) -> None:
        wrong = set(wrong_by_their_parts(self._database)) - self._wrong
        if not wrong or self._job.kind is not Kind.RANK:
            return
        self._wrong |= wrong
        words = message(
            "The scores of {named} are not those of their best parts. {ending}",
            named=self._named(wrong),
            ending=self._ending(),
        )
        if self._mend:
            for batch in done:
                answer = kept_answer(self._database, self._folder, self._job, batch)
                if answer.finished is not None and batch.number not in self._unproven:
                    store(self._database, self._folder, self._job.kind, batch.number, answer.finished)
        self._add(Damage.RESULTS, 0, wrong, self._outcome, words)

    def _check_unsent(self) -> None:
        unsent = "request_no IS NULL AND score IS NOT NULL"
        wrong = [item for (item,) in self._database.execute(f"SELECT item_no FROM items WHERE {unsent}")]  # noqa: S608
        if wrong:
            self._wrong |= set(wrong)
            rows = self._named(wrong, at_start=True)
            words = message("{rows} were not sent, and have scores.", rows=rows)
            if self._mend:
                self._database.execute(f"UPDATE items SET score = NULL WHERE {unsent}")  # noqa: S608 - a constant
            self._add(Damage.RESULTS, 0, wrong, self._outcome, words)

    def _check_sums(self, sums: ResultSums, done: list[Batch]) -> None:
        """What the answers did not prove is proven by its checksums, and these by what the answers have proven."""
        judged = sums.judge(self._unproven, self._right_scores, self._wrong)
        by_number = {batch.number: batch for batch in done}
        for number, problem in self._unproven.items():
            damaged = judged.damaged.get(number, [])
            if number == NOT_SENT:
                self._taken_from_earlier(damaged)
            else:
                self._without_answer(by_number[number], problem, damaged)
        if judged.are_sums_wrong:
            words = message("Checksums are missing or damaged; the results are whole.")
            self._add(Damage.CHECKSUMS, 0, (), self._outcome, words)
        if self._mend:
            sums.write()

    def _without_answer(self, batch: Batch, problem: str, damaged: list[int]) -> None:
        name = self._folder.reply(batch.number).name
        about = message(
            "Batch {number}: its answer, replies/{name}, {problem}.", number=batch.number, name=name, problem=problem
        )
        if not damaged:
            words = message("{sentence} {next}", sentence=about, next=message("The results are whole."))
            self._add(Damage.ANSWER, batch.number, (), Outcome.WHOLE, words)
            return
        may_ask = bool(batch.request_id) and not batch.at_once and self._has_all_requests(batch)
        if self._mend:
            requests = forget_results(self._database, damaged, is_failed=not may_ask)
            self._check = replace(self._check, lost=(*self._check.lost, Lost(batch.number, requests, may_ask)))
        words = _LOST[self._what].filled(answer=about, rows=self._named(damaged), cure=self._way_out(may_ask))
        self._add(Damage.RESULTS, batch.number, damaged, Outcome.LOST, words)

    def _taken_from_earlier(self, damaged: list[int]) -> None:
        """What an earlier job had; its answers are there, if anywhere, and what is lost here can be sent."""
        if not damaged:
            return
        if self._mend:
            requests = forget_results(self._database, damaged, is_failed=True)
            self._check = replace(self._check, lost=(*self._check.lost, Lost(NOT_SENT, requests, may_ask=False)))
        words = _TAKEN[self._what].filled(rows=self._named(damaged), cure=self._way_out(may_ask=False))
        self._add(Damage.RESULTS, NOT_SENT, damaged, Outcome.LOST, words)

    def _has_all_requests(self, batch: Batch) -> bool:
        (count,) = self._database.execute("SELECT count(*) FROM requests WHERE batch = ?", (batch.number,)).fetchone()
        return bool(count == batch.requests)

    def _way_out(self, may_ask: bool) -> str:
        job = self._job
        if not self._mend:
            return message(
                "--mend takes them out of the results, and has the service asked for them again where it can be."
            )
        if may_ask:
            return message(
                "“cfbatch resume {id}” asks the service for the answer once more, which costs nothing; if it is "
                "gone there, “cfbatch resume {id} --failed” sends the batch again, which is paid for again.",
                id=job.id,
            )
        if job.attached or job.taken_over:
            return message("They were sent from elsewhere, and cannot be sent again from here.")
        return message("“cfbatch resume {id} --failed” sends these again, which is paid for again.", id=job.id)


_LAST_BATCHES, _LAST_BYTES = 8, 20_000_000  # of answers as they are kept, compressed


def check_last_written(
    jobs: Iterable[Job], folder_of: Callable[[str], JobFolder], *, most_batches: int = _LAST_BATCHES
) -> tuple[JobCheck, ...]:
    """Check what was stored last, which a power cut can have taken, and put it right; for a thread, before the runner.
    Returns the jobs with damage; what was lost is for `asked_for_again`. Raises nothing.
    """
    done = [(batch, job) for job in jobs for batch in job.batches if batch.state is BatchState.DONE]
    done.sort(key=lambda pair: pair[0].changed_at, reverse=True)
    chosen: dict[str, tuple[Job, set[int]]] = {}
    size = 0
    for batch, job in done[:most_batches]:
        with suppress(OSError):
            size += folder_of(job.id).reply(batch.number).stat().st_size
        if size > _LAST_BYTES and chosen:
            break
        chosen.setdefault(job.id, (job, set()))[1].add(batch.number)
    checks = (_checked_at_start(folder_of(job.id), job, numbers) for job, numbers in chosen.values())
    return tuple(check for check in checks if not check.is_whole)


def _checked_at_start(folder: JobFolder, job: Job, batches: set[int]) -> JobCheck:
    check = JobCheck(job.id, job.name)
    try:
        check = verify_job(folder, job, batches=batches)
        if not check.is_whole:
            check = verify_job(folder, job, mend=True)
    except DataError as error:
        _log.warning("job %s could not be checked: %s (%s)", job.id, error.message, error.detail)
    for finding in check.findings:
        _log.warning("job %s: %s %s", job.id, finding.sentence, finding.detail)
    return check
