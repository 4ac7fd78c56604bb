"""Sending the planned batches of a job: one at a time on each connection, and requests without the queue a few at once.

The order of commits is the promise. `tests/prove` kills the program at each of these steps, and at others between them:

1. sending noted with the job
2. sending committed
3. attempt written to submissions.jsonl
4. body sent
5. answer read
6. id written to submissions.jsonl
7. queued committed
8. queued shown
9. reply on disk
10. collecting committed
11. data stored
12. done committed
13. done shown

The first is in the job's `data.db`, of which the body is made anew whenever it is wanted, and holds its hash: when
ledger and submissions.jsonl are lost, it says that the batch may have left. A request without the queue has no id: its
*sending* lasts until its reply is on disk and *collecting* is committed.
"""

import asyncio
import hashlib
import uuid
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from cfbatch_gui.core import errors
from cfbatch_gui.core.jobs.plan import packing
from cfbatch_gui.core.jobs.poll_schedule import Waits
from cfbatch_gui.core.jobs.run.collecting import keep_reply
from cfbatch_gui.core.jobs.states import Batch, BatchState, Job
from cfbatch_gui.core.jobs.store.job_store import JobStore
from cfbatch_gui.core.jobs.store.submissions import Event, submission_of, submissions
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.workers_ai.answers import Waiting

ATTEMPTS = 4  # to reach the service, before the user is asked
FIRST_WAIT = 1.0  # seconds
CANCEL_SECONDS = 0.2  # for those that are cancelled to close their connections
CONCURRENT = 4  # requests without the queue in flight for one job
SAVE_AGAIN_SECONDS = 5.0  # between tries to write down an accepted batch on a full disk

_ANOTHERS_ID = message("service_answered_id_another_batch_one")
_ENDED_WHILE_SENDING = message("program_ended_while_batch_was_being")
# Refusals that every other request would meet as well: account, model, gateway.
_OF_ALL = frozenset({7000, 7003, 5007, 3042, 5028, 5018, 3041, 5016, 3023, 5035, 2001, 8007})


@dataclass(slots=True)
class _Round:
    """What the senders of one job share. `error` ends the round; it is raised when what is in flight has landed."""

    job_id: str
    at_once: bool
    taken: set[int] = field(default_factory=set)
    is_over: bool = False
    error: errors.UserError | None = None

    def end(self, error: errors.UserError) -> None:
        self.is_over, self.error = True, error


class Submitter:
    """Sends; knows which submits are in flight. `arrived` is called with a job's id when an answer without the queue
    waits to be stored.
    """

    def __init__(self, store: JobStore, waits: Waits, *, arrived: Callable[[str], None]) -> None:
        self._store, self._waits, self._clock, self._arrived = store, waits, waits.clock, arrived
        self._turns: dict[str, asyncio.Lock] = {}  # by connection
        self._in_flight: dict[tuple[str, int], asyncio.Task[None]] = {}  # by job and number of the batch

    async def send_planned(self, job_id: str) -> None:
        """Send every planned batch; returns when none is left or the job has been paused.

        Raises ConnectionProblem, among it Unreachable after ATTEMPTS tries, and DataError when the body or *sending*
        could not be written; then nothing has left.
        """
        self._waits.answered(job_id, "send")  # nothing to wait for: the user has just asked for it, perhaps once more
        for shared, together in ((_Round(job_id, at_once=False), 1), (_Round(job_id, at_once=True), CONCURRENT)):
            async with asyncio.TaskGroup() as senders:
                for _ in range(together):
                    senders.create_task(self._send_all(shared), name=f"send {job_id}")
            if shared.error is not None:
                raise shared.error

    async def _send_all(self, shared: _Round) -> None:
        while (batch := self._next(shared)) is not None:
            shared.taken.add(batch.number)
            try:
                await self._waits.over(shared.job_id, "send")
                await self._send_next(shared, batch.number)
            except (errors.ConnectionProblem, errors.DataError) as error:
                shared.end(error)
            finally:
                shared.taken.discard(batch.number)

    def _may_send(self, shared: _Round) -> bool:
        return not (self._store.job(shared.job_id).paused_because or shared.is_over or self._store.holds_back)

    def _next(self, shared: _Round) -> Batch | None:
        waiting = (
            batch
            for batch in self._store.job(shared.job_id).batches
            if batch.state is BatchState.PLANNED and batch.at_once is shared.at_once
        )
        free = (batch for batch in waiting if batch.number not in shared.taken)
        return next(free, None) if self._may_send(shared) else None

    async def _send_next(self, shared: _Round, number: int) -> None:
        try:
            await self._send_in_turn(shared, number)
            self._waits.of(shared.job_id, "send").failures = 0
        except (errors.ServiceBusy, errors.Unreachable) as error:
            if isinstance(error, errors.ServiceBusy):  # so it can be reached
                self._waits.of(shared.job_id, "send").failures = 0
            due = self._waits.failed(shared.job_id, "send", error=error, first=FIRST_WAIT, patience=ATTEMPTS)
            planned = self._store.batch(shared.job_id, number)
            self._store.show_batch(replace(planned, next_check_at=due, error=error.message))
        except errors.ServiceRefused as error:
            await self._refused(shared, number, error)

    async def _send_in_turn(self, shared: _Round, number: int) -> None:
        """Send a batch when its connection is free; the turn ends with the call, not with its caller."""
        turn = asyncio.Lock()  # without the queue nobody else has it
        if not shared.at_once:
            turn = self._turns.setdefault(self._store.job(shared.job_id).connection, turn)
        await turn.acquire()
        batch = self._store.batch(shared.job_id, number)  # anew: much may have happened while others had their turn
        if batch.state is not BatchState.PLANNED or not self._may_send(shared):
            turn.release()
            return
        sending = self.begin(batch, lambda: self._send(batch))
        sending.add_done_callback(lambda _: turn.release())
        await asyncio.shield(sending)

    async def _send(self, batch: Batch) -> None:
        job = self._store.job(batch.job_id)
        client = self._store.client(job)
        folder = self._store.folder(job.id)
        body = await asyncio.to_thread(packing.body_of, folder, job, batch)
        sending = await self._about_to_leave(job, batch, body)
        try:
            answer = await (client.run if batch.at_once else client.submit)(job.model, body)
            self._check_id(job, answer)
        except errors.OutcomeUnknown as error:
            await self._store.save(replace(sending, state=BatchState.OUTCOME_UNKNOWN).saying(error))
        except errors.UserError as error:
            await self._not_accepted(job, sending, error)
            raise
        else:
            if isinstance(answer, Waiting):
                await self.accepted(sending, answer.request_id, answer.status)
            else:
                await self._keep(sending, answer)

    async def _about_to_leave(self, job: Job, batch: Batch, body: bytes) -> Batch:
        """Note with the job that this body may leave, commit *sending* with a new attempt, then write the attempt down:
        an older ledger learns of it there.

        Raises DataError when one cannot be written; nothing has left then, and the batch is planned.
        """
        sending = replace(
            batch.saying(),
            state=BatchState.SENDING,
            attempt=uuid.uuid4().hex,
            bytes=len(body),
            sha256=hashlib.sha256(body).hexdigest(),
            sent_at=self._clock(),
            account_mark=self._store.client(job).connection.account_mark,
        )
        note = self._store.folder(job.id).note_sending
        await asyncio.to_thread(note, sending.number, sending.attempt, sending.sha256, sending.bytes)
        await self._store.save(sending)
        submission = submission_of(job, sending, sending.sent_at, Event.SENDING)
        try:
            await self._store.on_disk(self._store.write_down, submission)
        except errors.DataError as error:
            await self._store.save(replace(sending, state=BatchState.PLANNED).saying(error))
            raise
        return sending

    async def _not_accepted(self, job: Job, batch: Batch, error: errors.UserError) -> None:
        """Back to *planned*: proven not to have been accepted."""
        await self._store.save(replace(batch, state=BatchState.PLANNED).saying(error))
        submission = submission_of(job, batch, self._clock(), Event.NOT_ACCEPTED)
        with suppress(errors.DataError):  # without this line the attempt of an older ledger would count as unknown
            await self._store.on_disk(self._store.write_down, submission)

    def _check_id(self, job: Job, answer: Waiting | bytes) -> None:
        """Raise OutcomeUnknown for the id of another batch: the answer is then not to this one."""
        if isinstance(answer, Waiting) and self._store.job_with(job.connection, answer.request_id):
            raise errors.OutcomeUnknown(_ANOTHERS_ID, detail=f"request ID {answer.request_id[:80]}")

    async def accepted(self, batch: Batch, request_id: str, word: str = "queued") -> None:
        """Write the id of an accepted batch to the submissions file and the ledger, retrying until both have it."""
        job = self._store.job(batch.job_id)
        queued = replace(batch.saying(), state=BatchState.QUEUED, request_id=request_id, service_word=word)
        submission = submission_of(job, queued, self._clock())
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
            shown = self._store.batch(job.id, batch.number) if is_saved else queued
            self._store.show_batch(replace(shown, error=failure.message, error_detail=failure.detail))
            await self._waits.sleep(SAVE_AGAIN_SECONDS)

    async def _keep(self, batch: Batch, raw: bytes) -> None:
        """The answer is paid for and cannot be asked for again: write it to disk, retrying until it is there."""
        folder = self._store.folder(batch.job_id)
        arrived = replace(batch, state=BatchState.COLLECTING, checked_at=self._clock(), checks=1)
        while True:
            try:
                await asyncio.to_thread(keep_reply, folder, batch.number, raw)
                await self._store.save(arrived)
            except errors.DataError as error:
                self._store.show_batch(replace(batch, error=error.message, error_detail=error.detail))
                if not self._store.make_room():
                    await self._waits.sleep(SAVE_AGAIN_SECONDS)
            else:
                self._arrived(batch.job_id)
                return

    async def _refused(self, shared: _Round, number: int, error: errors.ServiceRefused) -> None:
        """What is refused of one batch is refused of all that have not left, which stay here; without the queue a text
        that is refused fails alone.
        """
        planned = self._store.batch(shared.job_id, number)
        await self._store.save(replace(planned, state=BatchState.FAILED).saying(error))
        if shared.is_over or (shared.at_once and error.code not in _OF_ALL):
            return
        shared.is_over = True
        because = message("not_sent_because_batch_number_was", number=number)
        is_cured = isinstance(error, errors.QueueNotSupported | errors.TooManyTexts)
        action = error.action if is_cured else errors.Action.NONE
        for batch in self._store.job(shared.job_id).batches:
            is_waiting = batch.state is BatchState.PLANNED and batch.number not in shared.taken
            if is_waiting and (batch.at_once or not shared.at_once):
                await self._store.save(replace(batch, state=BatchState.FAILED, error=because, error_action=action))

    # At the start and at the end of the program

    async def catch_up(self) -> None:
        """Write down the ids that stand in the ledger alone, because the disk was full for the other. While there is
        still no room, the next start does it.
        """
        await _failure_of(self._store.on_disk(self._write_missing))

    def _write_missing(self) -> None:
        written = {(each.attempt, each.request_id) for each in submissions(self._store.paths.submissions)}
        missing = [
            submission_of(job, batch, batch.sent_at)
            for job in self._store.jobs()
            for batch in job.batches
            if batch.request_id and (batch.attempt, batch.request_id) not in written
        ]
        if missing:
            self._store.write_down(*missing)

    async def lost(self, batch: Batch) -> None:
        await self._store.save(replace(batch, state=BatchState.OUTCOME_UNKNOWN, error=_ENDED_WHILE_SENDING))

    def is_sending(self, job_id: str) -> bool:
        return any(sending == job_id for sending, _ in self._in_flight)

    async def finish(self, seconds: float) -> None:
        for timeout in (seconds, CANCEL_SECONDS):
            if tasks := list(self._in_flight.values()):
                await asyncio.wait(tasks, timeout=timeout)
            for task in tasks:
                task.cancel()

    def begin(self, batch: Batch, send: Callable[[], Coroutine[Any, Any, None]]) -> asyncio.Task[None]:
        """What may be paid for, in a task that outlives its caller's end; one that is in flight is joined."""
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


async def _failure_of(writing: Awaitable[object]) -> errors.DataError | None:
    try:
        await writing
    except errors.DataError as error:
        return error
    return None
