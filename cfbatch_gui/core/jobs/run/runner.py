"""Jobs at work: a task for each, that sends what is planned and asks for what is at the service until all is final.

State is in the ledger before it is shown, and before the bytes leave. A submit is never cancelled: it finishes, or
the process dies, and then the next start finds *sending* and makes it *outcome unknown*.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace

from cfbatch_gui.core.errors import (
    ConnectionProblem,
    DataError,
    NotConnected,
    ServiceRefused,
    TokenRefused,
    Unreachable,
    UserError,
    WrongAccount,
)
from cfbatch_gui.core.jobs.account.collection import AccountCollection
from cfbatch_gui.core.jobs.account.shards import has_copies
from cfbatch_gui.core.jobs.run.submitting import Submitter, SynchronousCalls
from cfbatch_gui.core.jobs.run.watching import Watcher
from cfbatch_gui.core.jobs.states import STOPPED_BY_USER, Batch, BatchState, Job
from cfbatch_gui.core.jobs.store.job_store import JobStore
from cfbatch_gui.core.jobs.store.submissions import recovered

CLOSE_SECONDS = 5.0  # how long closing waits for a submit in flight

_log = logging.getLogger(__name__)


class Runner:
    """Starts, stops and resumes the tasks of jobs. Every method belongs to the loop's thread.

    `patience` is after how many failures in a row to reach the service a job pauses; None goes on for ever when asking
    (sending always pauses in the end).
    """

    def __init__(
        self,
        store: JobStore,
        *,
        clock: Callable[[], float] = time.time,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        patience: int | None = None,
    ) -> None:
        self._store = store
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._more: dict[str, asyncio.Event] = {}  # set when a job has something to send
        self._errors: dict[str, UserError] = {}
        self._submitter = Submitter(store, clock=clock, sleep=sleep)
        self.account = AccountCollection(store, clock=clock, patience=patience)
        self._watcher = Watcher(store, clock=clock, sleep=sleep, patience=patience, account=self.account)
        self._synchronous = SynchronousCalls(
            store, self._submitter, clock=clock, sleep=sleep, arrived=self._watcher.hurry
        )

    async def resume_all(self) -> tuple[Job, ...]:
        """After a start: settle what was being sent, then start every job that is not final or paused."""
        for job in self._store.jobs():
            await self._settle(job)
        await self._submitter.catch_up(self._store.jobs)
        going_on = [job for job in self._store.jobs() if job.is_sent and not self._is_settled(job)]
        for job in going_on:
            self.start(job.id)
        self._begin_clearing()
        return tuple(going_on)

    async def clear_copies(self) -> None:
        """Delete what the account still has of jobs at their end; what cannot be deleted now is tried again at the next
        start.
        """
        for job_id in self._begin_clearing():
            await self.wait(job_id)

    def _begin_clearing(self) -> list[str]:
        jobs = [job.id for job in self._store.jobs() if has_copies(job) and self._is_settled(job)]
        for job_id in jobs:
            self.start(job_id)
        return jobs

    async def carry_on(self, job_id: str) -> Job:
        await self._settle(self._store.job(job_id))
        self._errors.pop(job_id, None)
        if self._store.job(job_id).paused_because:
            await self._store.change(job_id, lambda known: replace(known, paused_because=""))
        self.start(job_id)
        return self._store.job(job_id)

    async def watch_accepted(self, batch: Batch, request_id: str, status: str) -> None:
        """Write down the id of a batch that is at the service, and watch it, also when the caller is cancelled."""

        async def accepted() -> None:
            await self._submitter.accepted(batch, request_id, status)
            await self.carry_on(batch.job_id)

        await self._submitter.shielded(batch, accepted)

    async def pause(self, job_id: str, because: str = STOPPED_BY_USER) -> Job:
        """Stop sending and asking. What is at the service goes on there."""
        await self.stop(job_id)
        job = self._store.job(job_id)
        if job.is_sent and not all(batch.state.is_final for batch in job.batches):
            await self._store.change(job_id, lambda known: replace(known, paused_because=because))
        return self._store.job(job_id)

    async def pause_all(self, connection_id: str, because: str) -> None:
        for job in self._store.jobs():
            if job.connection == connection_id and job.is_sent:
                await self.pause(job.id, because)

    def check_now(self, job_id: str) -> None:
        """Ask for all batches of the job without waiting for their turn."""
        self._watcher.hurry(job_id)

    async def wait(self, job_id: str) -> Job:
        """Until nothing more happens by itself: final, paused, or an unknown outcome with nothing else under way."""
        while (task := self._tasks.get(job_id)) is not None and not task.done():
            await asyncio.wait([task])
        return self._store.job(job_id)

    def pause_error(self, job_id: str) -> UserError | None:
        """The error that paused a job, with its action; None when it runs, or was paused before this start."""
        return self._errors.get(job_id)

    def start(self, job_id: str) -> None:
        """Start the job's task, or make the running one check again for batches to send."""
        self._more.setdefault(job_id, asyncio.Event()).set()
        running = self._tasks.get(job_id)
        if running is None or running.done():
            self._tasks[job_id] = asyncio.get_running_loop().create_task(self._work(job_id), name=f"job {job_id}")

    async def stop(self, job_id: str) -> None:
        """Cancel a job's task; a submit in flight goes on."""
        task = self._tasks.pop(job_id, None)
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def landed(self, job_id: str) -> None:
        await self._submitter.landed(job_id)

    async def close(self) -> None:
        """Stop all tasks; a submit in flight has CLOSE_SECONDS to end."""
        for job_id in list(self._tasks):
            await self.stop(job_id)
        await self._submitter.finish(CLOSE_SECONDS)
        for job_id in list(self._tasks):  # begun by what ended in that time
            await self.stop(job_id)

    async def _work(self, job_id: str) -> None:
        job = self._store.job(job_id)
        try:
            self._store.client(job)
        except NotConnected as error:
            if not self._is_settled(job):
                await self._pause_with(job_id, error)
            return
        await self._work_on(job)
        try:
            await self.account.clear(job_id)
        except UserError as error:  # tried again at the next start
            _log.warning("The account's copies of job %s were not deleted: %s", job_id, error.detail or error.message)

    async def _work_on(self, job: Job) -> None:
        job_id = job.id
        more = self._more[job_id]
        while not self._is_settled(self._store.job(job_id)):
            more.set()
            try:
                await self._send_and_watch(job_id, more)
            except (Unreachable, WrongAccount, ServiceRefused, DataError) as error:
                await self._pause_with(job_id, error)
            except ConnectionProblem as error:
                await self._pause_connection(job, error)

    async def _send_and_watch(self, job_id: str, more: asyncio.Event) -> None:
        """Until nothing is left, the job is paused, or an error ends either; of two errors the token's is raised."""
        sending = asyncio.create_task(self._keep_sending(job_id, more), name=f"send {job_id}")
        watching = asyncio.create_task(self._watcher.watch(job_id), name=f"watch {job_id}")
        try:
            await asyncio.wait((sending, watching), return_when=asyncio.FIRST_COMPLETED)
            errors = [error for task in (sending, watching) if task.done() and (error := task.exception()) is not None]
            if errors:
                raise next((error for error in errors if isinstance(error, TokenRefused)), errors[0])
        finally:
            for task in (sending, watching):
                task.cancel()
            await asyncio.gather(sending, watching, return_exceptions=True)

    async def _keep_sending(self, job_id: str, more: asyncio.Event) -> None:
        """Send what is planned, and again whenever there is more, also while the rest is at the service."""
        while True:
            await more.wait()
            more.clear()
            await self._submitter.send_planned(job_id)
            await self._synchronous.run_planned(job_id)

    async def _pause_connection(self, failed: Job, error: UserError) -> None:
        """The token was refused: every job of the connection waits for the user, after this one call."""
        for job in self._store.jobs():
            if job.id == failed.id or job.connection != failed.connection or self._is_settled(job):
                continue
            if (task := self._tasks.get(job.id)) is not None:
                await self._pause_with(job.id, error)
                task.cancel()
        if not self._is_settled(self._store.job(failed.id)):
            await self._pause_with(failed.id, error)  # last, as its task ends here, and carrying on begins a new one

    async def _pause_with(self, job_id: str, error: UserError) -> None:
        self._errors[job_id] = error
        await self._store.change(job_id, lambda known: replace(known, paused_because=error.message))

    def _is_settled(self, job: Job) -> bool:
        waits = {BatchState.OUTCOME_UNKNOWN} | ({BatchState.PLANNED} if self._store.holds_back else set())
        unsettled = (batch for batch in job.batches if not batch.state.is_final)
        return bool(job.paused_because) or all(batch.state in waits for batch in unsettled)

    async def _settle(self, job: Job) -> None:
        """What was being sent when the program ended: queued when its id was written down, else unknown."""
        if self._submitter.is_sending(job.id):
            return
        for batch in job.batches:
            if batch.state is not BatchState.SENDING:
                continue
            request_id = await self._store.on_disk(recovered, self._store.paths.submissions, batch.attempt)
            if request_id:
                await self._store.save(replace(batch, state=BatchState.QUEUED, request_id=request_id))
            else:
                await self._submitter.lost(batch)
