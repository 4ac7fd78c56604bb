"""Requests that are run at once, without the queue: a few at a time, each a batch of its own.

The order is the promise, as for batches: body on disk, *sending* committed, then the first byte; the raw answer on
disk, *collecting* committed, and from there the watcher stores it like any other. There is no request id: an answer
that did not come cannot be asked for, so its outcome is unknown and stays so until the user decides.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace

from cfbatch_gui.core.errors import (
    ConnectionProblem,
    DataError,
    OutcomeUnknown,
    ServiceBusy,
    ServiceRefused,
    Unreachable,
    UserError,
)
from cfbatch_gui.core.jobs.poll_schedule import sleep_until
from cfbatch_gui.core.jobs.run.collecting import keep_reply
from cfbatch_gui.core.jobs.run.submitting import (
    ATTEMPTS,
    FIRST_WAIT,
    SAVE_AGAIN_SECONDS,
    Bodies,
    Submitter,
    with_error,
    write_body,
)
from cfbatch_gui.core.jobs.states import Batch, BatchState, Job
from cfbatch_gui.core.jobs.store.job_store import JobStore
from cfbatch_gui.core.messages import message

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
        body = await asyncio.to_thread(write_body, self._store, job, batch, Bodies())
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
