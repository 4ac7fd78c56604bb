"""Sending the planned batches of a job, one at a time on each connection.

The order is the promise: the body made from `data.db` and its hash committed there, *sending* committed in the ledger,
then the first byte; then the id in `submissions.jsonl`, then *queued* committed, then shown.
"""

import asyncio
import hashlib
import uuid
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from typing import Any

from cfbatch_gui.core.errors import (
    Action,
    ConnectionProblem,
    DataError,
    OutcomeUnknown,
    QueueNotSupported,
    ServiceBusy,
    ServiceRefused,
    Unreachable,
    UserError,
)
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.jobs.plan import packing
from cfbatch_gui.core.jobs.poll_schedule import sleep_until
from cfbatch_gui.core.jobs.run.collecting import keep_reply
from cfbatch_gui.core.jobs.states import Batch, BatchState, Job
from cfbatch_gui.core.jobs.store.job_store import JobStore
from cfbatch_gui.core.jobs.store.submissions import Event, submission_of, submissions
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.workers_ai.answers import Queued
from cfbatch_gui.core.workers_ai.client import WorkersAI

ATTEMPTS = 4  # to reach the service, before the user is asked
FIRST_WAIT = 1.0  # seconds; doubled each time
CANCEL_SECONDS = 0.2  # for those that are cancelled to close their connections
TOGETHER_BYTES = 10_000_000  # of bodies that are packed at one go
SAVE_AGAIN_SECONDS = 5.0  # between tries to write down an accepted batch on a full disk


class Bodies:
    """What a job sends next, packed several at a time: opening its data takes longer than packing a body.

    For as long as nobody lays the job's planned batches out anew.
    """

    def __init__(self) -> None:
        self._packed: dict[int, bytes] = {}

    def take(self, folder: JobFolder, job: Job, number: int) -> bytes:
        """The exact bytes of a batch, for one time. Raises DataError."""
        if number not in self._packed:
            self._packed = dict(_packed_together(folder, job, number))
        return self._packed.pop(number)


def _packed_together(folder: JobFolder, job: Job, first: int) -> Iterator[tuple[int, bytes]]:
    """A batch, and those behind it that can be held in memory. Raises DataError for the first one only."""
    numbers, size = [first], job.batches[first - 1].bytes
    for batch in job.batches[first:]:
        size += batch.bytes
        if batch.state is not BatchState.PLANNED or batch.at_once or size > TOGETHER_BYTES:
            break
        numbers.append(batch.number)
    with closing(packing.bodies_of(folder, job, numbers)) as bodies:
        yield first, next(bodies)
        with suppress(DataError):  # it is raised again, by the one that it is about
            yield from zip(numbers[1:], bodies, strict=False)


class Submitter:
    """Sends; knows which submits are in flight."""

    def __init__(
        self, store: JobStore, *, clock: Callable[[], float], sleep: Callable[[float], Awaitable[None]]
    ) -> None:
        self._store, self._clock, self._sleep = store, clock, sleep
        self._turns: dict[str, asyncio.Lock] = {}
        self._in_flight: dict[tuple[str, int], asyncio.Task[None]] = {}  # by job and number of the batch
        self._catching_up: asyncio.Task[None] | None = None

    async def send_planned(self, job_id: str) -> None:
        """Send every planned batch, in order; returns when none is left or the job has been paused.

        Raises ConnectionProblem, among it Unreachable after ATTEMPTS tries, and DataError when the body or *sending*
        could not be written; then nothing has left.
        """
        failures, bodies = 0, Bodies()
        while (batch := self._next(job_id)) is not None:
            job = self._store.job(job_id)
            try:
                await self._in_turn(job, batch.number, bodies)
                failures = 0
            except ServiceBusy as error:
                await self._wait(batch, error, self._clock() + max(error.retry_after, FIRST_WAIT))
            except Unreachable as error:
                failures += 1
                if failures >= ATTEMPTS:
                    raise
                await self._wait(batch, error, self._clock() + FIRST_WAIT * 2 ** (failures - 1))
            except ServiceRefused as error:
                await self._refused(job_id, batch, error)
                return

    async def accepted(self, batch: Batch, request_id: str, word: str = "queued") -> None:
        """Write the id of an accepted batch to the submissions file and the ledger, retrying until both have it."""
        job = self._store.job(batch.job_id)
        submission = submission_of(job, replace(batch, request_id=request_id), self._clock())
        queued = replace(
            batch,
            state=BatchState.QUEUED,
            request_id=request_id,
            service_word=word,
            error="",
            error_detail="",
            error_action="",
        )
        is_written = is_saved = False
        while True:
            if not is_written:
                unwritten = await _failure_of(self._store.on_disk(self._store.write_down, submission))
                is_written = unwritten is None
            if not is_saved:
                unsaved = await _failure_of(self._store.save(queued))
                is_saved = unsaved is None
            failure = unwritten or unsaved
            if failure is None:
                return
            # Once it is saved the watcher goes on with it, and what it says must not be undone.
            shown = self._store.job(job.id).batches[batch.number - 1] if is_saved else queued
            self._store.show_batch(replace(shown, error=failure.message, error_detail=failure.detail))
            await self._sleep(SAVE_AGAIN_SECONDS)

    async def catch_up(self, jobs: Callable[[], Sequence[Job]]) -> None:
        """Write down the ids that stand in the ledger alone, because the disk was full for the other.

        Returns after the first try; while there is no room the others follow by themselves.
        """
        if await _failure_of(self._store.on_disk(self._write_missing, jobs)) is not None:
            self._catching_up = asyncio.create_task(self._keep_catching_up(jobs), name="catch up")

    async def _keep_catching_up(self, jobs: Callable[[], Sequence[Job]]) -> None:
        while True:
            await self._sleep(SAVE_AGAIN_SECONDS)
            if await _failure_of(self._store.on_disk(self._write_missing, jobs)) is None:
                return

    def _write_missing(self, jobs: Callable[[], Sequence[Job]]) -> None:
        written = {(each.attempt, each.request_id) for each in submissions(self._store.paths.submissions)}
        missing = [
            submission_of(job, batch, batch.sent_at)
            for job in jobs()
            for batch in job.batches
            if batch.request_id and (batch.attempt, batch.request_id) not in written
        ]
        if missing:
            self._store.write_down(*missing)

    async def about_to_leave(self, job: Job, batch: Batch, body: bytes) -> Batch:
        """Commit in the job's folder that this body may leave, then *sending* with a new attempt, then write the
        attempt down: an older ledger learns of it there.

        Raises DataError when one cannot be written; nothing has left then, and the batch is planned.
        """
        sending = new_attempt(batch, body, self._store.client(job), self._clock())
        note = self._store.folder(job.id).note_sending
        await asyncio.to_thread(note, sending.number, sending.attempt, sending.sha256, sending.bytes)
        await self._store.save(sending)
        submission = submission_of(job, sending, sending.sent_at, Event.SENDING)
        try:
            await self._store.on_disk(self._store.write_down, submission)
        except DataError as error:
            await self._store.save(with_error(replace(sending, state=BatchState.PLANNED), error))
            raise
        return sending

    async def not_accepted(self, job: Job, batch: Batch, error: UserError) -> None:
        """Back to *planned*: proven not to have been accepted."""
        await self._store.save(with_error(replace(batch, state=BatchState.PLANNED), error))
        submission = submission_of(job, batch, self._clock(), Event.NOT_ACCEPTED)
        with suppress(DataError):  # without this line the attempt of an older ledger would count as unknown
            await self._store.on_disk(self._store.write_down, submission)

    async def lost(self, batch: Batch) -> None:
        await self._store.save(
            replace(
                batch,
                state=BatchState.OUTCOME_UNKNOWN,
                error=message(
                    "The program ended while this batch was being sent. It may have been accepted and billed, so it "
                    "is not sent again by itself."
                ),
            )
        )

    def is_sending(self, job_id: str) -> bool:
        return any(sending == job_id for sending, _ in self._in_flight)

    async def landed(self, job_id: str) -> None:
        while tasks := [task for (sending, _), task in self._in_flight.items() if sending == job_id]:
            await asyncio.wait(tasks)

    async def finish(self, seconds: float) -> None:
        tasks = list(self._in_flight.values())
        if tasks:
            await asyncio.wait(tasks, timeout=seconds)
        if self._catching_up is not None:
            tasks.append(self._catching_up)
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=CANCEL_SECONDS)

    def _next(self, job_id: str) -> Batch | None:
        job = self._store.job(job_id)
        if job.paused_because or self._store.holds_back:
            return None
        waiting = (batch for batch in job.batches if batch.state is BatchState.PLANNED and not batch.at_once)
        return next(waiting, None)

    async def _in_turn(self, job: Job, number: int, bodies: Bodies) -> None:
        """Send a batch when its connection is free; the turn ends with the call, not with its caller."""
        turn = self._turns.setdefault(job.connection, asyncio.Lock())
        await turn.acquire()
        batch = self._next(job.id)  # anew: much may have happened while others had their turn
        if batch is None or batch.number != number:
            turn.release()
            return
        sending = self._begin(batch, lambda: self._send(job, batch, bodies))
        sending.add_done_callback(lambda _: turn.release())
        await asyncio.shield(sending)

    async def shielded(self, batch: Batch, send: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Await what may be paid for, in a task that outlives its caller's end; one that is in flight is joined."""
        await asyncio.shield(self._begin(batch, send))

    def _begin(self, batch: Batch, send: Callable[[], Coroutine[Any, Any, None]]) -> asyncio.Task[None]:
        key = batch.job_id, batch.number
        if key not in self._in_flight:
            task = asyncio.create_task(send(), name=f"submit {batch.job_id}")
            self._in_flight[key] = task
            task.add_done_callback(lambda done: self._landed(key, done))
        return self._in_flight[key]

    def _landed(self, key: tuple[str, int], done: asyncio.Task[None]) -> None:
        self._in_flight.pop(key, None)
        if not done.cancelled():
            done.exception()  # the outcome is in the batch; the caller may be gone

    async def _send(self, job: Job, batch: Batch, bodies: Bodies) -> None:
        body = await asyncio.to_thread(bodies.take, self._store.folder(job.id), job, batch.number)
        sending = await self.about_to_leave(job, batch, body)
        try:
            queued = await self._store.client(job).submit(job.model, body)
        except OutcomeUnknown as error:
            await self._store.save(with_error(replace(sending, state=BatchState.OUTCOME_UNKNOWN), error))
        except UserError as error:
            await self.not_accepted(job, sending, error)
            raise
        else:
            await self._answered(job, sending, queued)

    async def _answered(self, job: Job, batch: Batch, queued: Queued) -> None:
        """Keep the id, unless it is another batch's: the answer is then not to this batch, whose outcome is unknown."""
        if not self._store.has_request_id(job.connection, queued.request_id):
            await self.accepted(batch, queued.request_id, queued.status)
            return
        unknown = replace(
            batch,
            state=BatchState.OUTCOME_UNKNOWN,
            error=message(
                "The service answered with the id of another batch. This one may have been accepted and billed, so "
                "it is not sent again by itself."
            ),
            error_detail=f"request ID {queued.request_id[:80]}",
        )
        await self._store.save(unknown)

    async def _wait(self, batch: Batch, error: UserError, until: float) -> None:
        planned = replace(
            self._store.job(batch.job_id).batches[batch.number - 1], next_check_at=until, error=error.message
        )
        self._store.show_batch(planned)
        await sleep_until(until, clock=self._clock, sleep=self._sleep)

    async def _refused(self, job_id: str, refused: Batch, error: ServiceRefused) -> None:
        """What the service refuses once it refuses again: the batches that have not left stay here."""
        for batch in self._store.job(job_id).batches:
            if batch.number == refused.number:
                await self._store.save(with_error(replace(batch, state=BatchState.FAILED), error))
            elif batch.state is BatchState.PLANNED:
                because = message("Not sent, because batch {number} was refused.", number=refused.number)
                action = error.action if isinstance(error, QueueNotSupported) else Action.NONE
                await self._store.save(replace(batch, state=BatchState.FAILED, error=because, error_action=action))


def new_attempt(batch: Batch, body: bytes, client: WorkersAI, now: float) -> Batch:
    """The batch as it is committed before the first byte leaves: a new attempt with exactly this body."""
    return replace(
        batch,
        state=BatchState.SENDING,
        attempt=uuid.uuid4().hex,
        bytes=len(body),
        sha256=hashlib.sha256(body).hexdigest(),
        sent_at=now,
        account_mark=client.connection.account_mark,
        error="",
        error_detail="",
        error_action="",
    )


def with_error(batch: Batch, error: UserError) -> Batch:
    return replace(batch, error=error.message, error_detail=error.detail, error_action=error.action)


async def _failure_of(writing: Awaitable[object]) -> DataError | None:
    try:
        await writing
    except DataError as error:
        return error
    return None


CONCURRENT = 4  # requests in flight for one job

# Refusals that every other request would meet as well: account, model, gateway.
_OF_ALL = frozenset({7000, 7003, 5007, 3042, 5028, 5018, 3041, 5016, 3023, 5035, 2001, 8007})


@dataclass(slots=True)
class _Round:
    """What the workers of one job share.

    `not_before` is when the service may be called again. `error` ends the round: what is in flight comes to its end,
    then it is raised.
    """

    job_id: str
    taken: set[int] = field(default_factory=set)
    not_before: float = 0.0
    failures: int = 0
    is_over: bool = False
    error: UserError | None = None


class SynchronousCalls:
    """`arrived` is called with a job's id when an answer waits to be stored."""

    def __init__(
        self,
        store: JobStore,
        submitter: Submitter,
        *,
        clock: Callable[[], float],
        sleep: Callable[[float], Awaitable[None]],
        arrived: Callable[[str], None],
    ) -> None:
        self._store, self._submitter = store, submitter
        self._clock, self._sleep, self._arrived = clock, sleep, arrived

    async def run_planned(self, job_id: str) -> None:
        """Run every planned request; returns when none is left or the job has been paused.

        Raises ConnectionProblem, among it Unreachable after ATTEMPTS tries, and DataError.
        """
        shared = _Round(job_id)
        workers = [asyncio.create_task(self._work(shared), name=f"at once {job_id}") for _ in range(CONCURRENT)]
        try:
            await asyncio.gather(*workers)
        finally:
            for worker in workers:
                worker.cancel()
            await asyncio.gather(*workers, return_exceptions=True)
        if shared.error is not None:
            raise shared.error

    async def _work(self, shared: _Round) -> None:
        while (batch := self._next(shared)) is not None:
            shared.taken.add(batch.number)
            try:
                await sleep_until(shared.not_before, clock=self._clock, sleep=self._sleep)
                await self._one(shared, batch)
            finally:
                shared.taken.discard(batch.number)

    def _next(self, shared: _Round) -> Batch | None:
        job = self._store.job(shared.job_id)
        if job.paused_because or shared.is_over or self._store.holds_back:
            return None
        for batch in job.batches:
            if batch.state is BatchState.PLANNED and batch.at_once and batch.number not in shared.taken:
                return batch
        return None

    async def _one(self, shared: _Round, batch: Batch) -> None:
        job = self._store.job(shared.job_id)
        is_planned = job.batches[batch.number - 1].state is BatchState.PLANNED  # still, after waiting
        if job.paused_because or shared.is_over or not is_planned:
            return
        try:
            await self._submitter.shielded(batch, lambda: self._run(job, batch))
            shared.failures = 0
        except ServiceBusy as error:
            self._wait(shared, batch, error, max(error.retry_after, FIRST_WAIT))
        except Unreachable as error:
            shared.failures += self._clock() >= shared.not_before  # several that were in flight together are one
            if shared.failures >= ATTEMPTS:
                _end(shared, error)
            else:
                self._wait(shared, batch, error, FIRST_WAIT * 2 ** (shared.failures - 1))
        except ConnectionProblem as error:
            _end(shared, error)
        except ServiceRefused as error:
            await self._refused(shared, batch, error)
        except DataError as error:
            _end(shared, error)

    async def _run(self, job: Job, batch: Batch) -> None:
        client = self._store.client(job)
        body = await asyncio.to_thread(Bodies().take, self._store.folder(job.id), job, batch.number)
        sending = await self._submitter.about_to_leave(job, batch, body)
        try:
            raw = await client.run(job.model, body)
        except OutcomeUnknown as error:
            await self._store.save(with_error(replace(sending, state=BatchState.OUTCOME_UNKNOWN), error))
        except UserError as error:
            await self._submitter.not_accepted(job, sending, error)
            raise
        else:
            await self._keep(sending, raw)

    async def _keep(self, batch: Batch, raw: bytes) -> None:
        """The answer is paid for and cannot be asked for again: write it to disk, retrying until it is there."""
        folder = self._store.folder(batch.job_id)
        arrived = replace(batch, state=BatchState.COLLECTING, checked_at=self._clock(), checks=1)
        while True:
            try:
                await asyncio.to_thread(keep_reply, folder, batch.number, raw)
                await self._store.save(arrived)
            except DataError as error:
                self._store.show_batch(replace(batch, error=error.message, error_detail=error.detail))
                if not self._store.make_room():
                    await self._sleep(SAVE_AGAIN_SECONDS)
            else:
                self._arrived(batch.job_id)
                return

    def _wait(self, shared: _Round, batch: Batch, error: UserError, seconds: float) -> None:
        shared.not_before = max(shared.not_before, self._clock() + seconds)
        planned = self._store.job(shared.job_id).batches[batch.number - 1]
        self._store.show_batch(replace(planned, next_check_at=shared.not_before, error=error.message))

    async def _refused(self, shared: _Round, refused: Batch, error: ServiceRefused) -> None:
        """A text that is refused fails alone; what is refused of all keeps the others here."""
        planned = self._store.job(shared.job_id).batches[refused.number - 1]
        await self._store.save(with_error(replace(planned, state=BatchState.FAILED), error))
        if error.code not in _OF_ALL or shared.is_over:
            return
        shared.is_over = True
        for batch in self._store.job(shared.job_id).batches:
            if batch.state is BatchState.PLANNED and batch.at_once and batch.number not in shared.taken:
                because = message("Not sent, because request {number} was refused.", number=refused.number)
                await self._store.save(replace(batch, state=BatchState.FAILED, error=because))


def _end(shared: _Round, error: UserError) -> None:
    shared.is_over, shared.error = True, error
