"""Jobs at work: one task each, sending what is planned and asking for what is away, until every batch is final.

State goes to the ledger before anyone sees it, and before the bytes leave. A submit is never cancelled: it finishes, or
the process dies, and then the next start finds *sending* and makes it *outcome unknown*.
"""

import asyncio
import time
import uuid
from collections.abc import Awaitable, Callable
from concurrent.futures import Executor
from dataclasses import replace
from typing import TypeVar

from cfbatch_gui.core.errors import NotConnected, UsageError, UserError
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.jobs.plan import packing, plan_changes
from cfbatch_gui.core.jobs.run.submitting import Submitter
from cfbatch_gui.core.jobs.run.synchronous import AtOnce
from cfbatch_gui.core.jobs.run.watching import Watcher, check_account
from cfbatch_gui.core.jobs.states import Batch, BatchState, Job
from cfbatch_gui.core.jobs.store.job_manifest import write_manifest
from cfbatch_gui.core.jobs.store.ledger import Ledger
from cfbatch_gui.core.jobs.store.submissions import recovered
from cfbatch_gui.core.system.paths import Paths
from cfbatch_gui.core.workers_ai.catalogue import ModelFacts
from cfbatch_gui.core.workers_ai.client import Reply, WorkersAI
from cfbatch_gui.core.workers_ai.wire.replies import Waiting

STOPPED_BY_USER = "You stopped watching. The work goes on at the service; carry on to collect it."
CLOSE_SECONDS = 1.5  # how long closing waits for a submit in flight

T = TypeVar("T")


class Runner:
    """All jobs that are at work. Every method belongs to the loop's thread.

    `client_for` gives the client of a connection's id. `disk` runs the ledger's writes, one at a time and in order.
    `on_change` is called with a job after each change of it. `patience` is how many failures in a row to reach the
    service a job takes before it pauses and waits for the user; None goes on for ever when asking (sending always asks
    the user in the end).
    """

    def __init__(
        self,
        ledger: Ledger,
        paths: Paths,
        client_for: Callable[[str], WorkersAI],
        *,
        disk: Executor,
        on_change: Callable[[Job], None],
        clock: Callable[[], float] = time.time,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        patience: int | None = None,
        facts_for: Callable[[Job], ModelFacts] = packing.listed_facts,
    ) -> None:
        self._facts_for = facts_for
        self._ledger, self._paths, self._client_for = ledger, paths, client_for
        self._disk, self._on_change, self._clock = disk, on_change, clock
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._more: dict[str, asyncio.Event] = {}  # set when a job has something to send
        self._planning: set[str] = set()  # drafts that are about to be sent
        self._repacking = asyncio.Lock()
        self._troubles: dict[str, UserError] = {}
        self._submitter = Submitter(self, clock=clock, sleep=sleep)
        self._watcher = Watcher(self, clock=clock, sleep=sleep, patience=patience)
        self._at_once = AtOnce(self, self._submitter, clock=clock, sleep=sleep, arrived=self._watcher.hurry)

    # What the user asks for

    async def send(self, job_id: str) -> Job:
        """Plan a draft, mark it sent and begin. Returns before the first byte has left."""
        job = self._ledger.job(job_id)
        if job.is_sent or job_id in self._planning:
            raise UsageError("This job was sent already. Duplicate it to send it again.")
        self._client_for(job.connection)
        self._planning.add(job_id)
        try:
            await self._plan(job)
        finally:
            self._planning.discard(job_id)
        self._start(job_id)
        return self._ledger.job(job_id)

    async def _plan(self, job: Job) -> None:
        plan = await asyncio.to_thread(packing.plan, self.folder(job.id), job, self._facts_for(job))
        if not plan.batches:
            raise UsageError("There is nothing to send: no row has a text. Choose the column that holds it.")
        sent = plan_changes.sent(job, plan, self._clock())
        await asyncio.to_thread(write_manifest, self.folder(job.id), sent(job))
        await self._change(job.id, sent)

    async def attach(self, job_id: str, request_id: str) -> Job:
        """Watch a draft's batch that somebody else has sent, by its id. Raises UsageError and NotConnected."""
        job = self._ledger.job(job_id)
        self._check_is_nobodys(job.connection, request_id)
        now, mark = self._clock(), self._client_for(job.connection).connection.account_mark
        batch = Batch(job_id, 1, BatchState.QUEUED, requests=0, texts=0, bytes=0, sent_at=now)
        batch = replace(batch, attempt=uuid.uuid4().hex, request_id=request_id, account_mark=mark)

        def attached(known: Job) -> Job:
            return replace(known, is_sent=True, attached=True, sent_at=now, batches=(batch,))

        await asyncio.to_thread(write_manifest, self.folder(job_id), attached(job))
        await self.on_disk(self._ledger.change, job_id, attached)
        await self._take(batch, request_id, "")
        return self._ledger.job(job_id)

    async def resume_all(self) -> tuple[Job, ...]:
        """After a start: settle what was being sent, then go on with every job that is not final or paused."""
        for job in self._ledger.jobs():
            await self._settle(job)
        await self._submitter.catch_up(self._ledger.jobs)
        going_on = [job for job in self._ledger.jobs() if _can_go_on(job)]
        for job in going_on:
            self._start(job.id)
        return tuple(going_on)

    async def carry_on(self, job_id: str) -> Job:
        """Go on with a job that was paused, or is not running."""
        job = self._ledger.job(job_id)
        await self._settle(job)
        self._troubles.pop(job_id, None)
        job = self._ledger.job(job_id)
        if job.paused_because:
            await self._change(job_id, lambda known: replace(known, paused_because=""))
        self._start(job_id)
        return self._ledger.job(job_id)

    async def pause(self, job_id: str, because: str = STOPPED_BY_USER) -> Job:
        """Stop sending and asking. What is at the service goes on there."""
        await self._stop(job_id)
        job = self._ledger.job(job_id)
        if job.is_sent and not all(batch.state.is_final for batch in job.batches):
            await self._change(job_id, lambda known: replace(known, paused_because=because))
        return self._ledger.job(job_id)

    def check_now(self, job_id: str) -> None:
        """Ask for all batches of the job without waiting for their turn."""
        self._watcher.hurry(job_id)

    async def adopt(self, job_id: str, number: int, request_id: str) -> Job:
        """Take the id that the user has found for a batch of unknown outcome.

        A finished answer is adopted only when it is this batch's own, by every reference in it; one that is still on
        its way is checked the same way when it comes. Raises ReplyError, RequestGone, ConnectionProblem.
        """
        job, batch = self._in_doubt(job_id, number)
        if batch.at_once:
            raise UsageError("This request was run at once, so there is no request id to ask for.")
        self._check_is_nobodys(job.connection, request_id, but=batch)
        client = self._client_for(job.connection)
        check_account(client, batch)
        answer = await client.ask(job.model, request_id)
        if isinstance(answer, Reply):
            await asyncio.to_thread(self._watcher.verify, job, batch, answer)
        _, batch = self._in_doubt(job_id, number)  # still
        word = answer.status if isinstance(answer, Waiting) else ""
        await self._take(replace(batch, adopted=True), request_id, word)
        return self._ledger.job(job_id)

    def _check_is_nobodys(self, connection: str, request_id: str, but: Batch | None = None) -> None:
        """Raise UsageError for an id that another batch has already: the answer to one is not another's."""
        for job in self._ledger.jobs():
            ids = {batch.request_id for batch in job.batches if batch is not but}
            if job.connection == connection and request_id in ids:
                raise UsageError(f"The job “{job.name}” has this request id already.")

    async def _take(self, batch: Batch, request_id: str, word: str) -> None:
        """Write the id down and watch the batch, whoever stops waiting: who waits may go once the batch is shown."""

        async def taken() -> None:
            await self._submitter.accepted(batch, request_id, word)
            await self.carry_on(batch.job_id)

        await self._submitter.shielded(batch, taken)

    async def send_again(self, job_id: str, number: int) -> Job:
        """Send a batch once more that failed, is gone, or has an unknown outcome; it may be billed again."""
        _check_is_ours(self._ledger.job(job_id))
        await self._change(job_id, plan_changes.sent_again(number, self._clock()))
        return await self.carry_on(job_id)

    async def send_failed_again(self, job_id: str) -> Job:
        """Send exactly what failed: batches that were refused or are gone, and the refused requests of the others."""
        async with self._repacking:
            job = self._ledger.job(job_id)
            _check_is_ours(job)
            repacked = await asyncio.to_thread(packing.repack_failed, self.folder(job_id), job, self._facts_for(job))
            if not repacked and not any(batch.state in plan_changes.ENDED for batch in job.batches):
                raise UsageError("Nothing of this job failed.")
            change = plan_changes.failed_sent_again(job, repacked, self._clock())
            # Without the new batches a job that is put together again would lose them, and send their requests anew.
            await asyncio.to_thread(write_manifest, self.folder(job_id), change(job))
            await self._change(job_id, change)
        return await self.carry_on(job_id)

    async def run_at_once(self, job_id: str) -> Job:
        """Send what was never accepted without the queue, request by request: the way out when a model takes none."""
        await self._stop(job_id)
        try:
            await self._submitter.landed(job_id)  # what is on its way may be accepted yet
            async with self._repacking:
                await self._repack_at_once(job_id)
        except BaseException:
            self._start(job_id)  # as it was
            raise
        return await self.carry_on(job_id)

    async def _repack_at_once(self, job_id: str) -> None:
        job = self._ledger.job(job_id)
        repacked = await asyncio.to_thread(packing.repack_at_once, self.folder(job_id), job)
        if not repacked:
            raise UsageError("Everything of this job was accepted by the service already.")
        change = plan_changes.rest_at_once(job_id, repacked, self._clock())
        await asyncio.to_thread(write_manifest, self.folder(job_id), change(job))
        await self._change(job_id, change)

    async def dismiss(self, job_id: str, number: int) -> Job:
        """Lay an unknown outcome to rest; it stays in the history as such."""
        _, batch = self._in_doubt(job_id, number)
        await self.save(replace(batch, state=BatchState.DISMISSED))
        return await self.carry_on(job_id)

    async def wait(self, job_id: str) -> Job:
        """Until nothing more happens by itself: final, paused, or an unknown outcome with nothing else under way."""
        while (task := self._tasks.get(job_id)) is not None and not task.done():
            await asyncio.wait([task])
        return self._ledger.job(job_id)

    def trouble(self, job_id: str) -> UserError | None:
        """What made a job pause, as an error with its action."""
        return self._troubles.get(job_id)

    async def close(self) -> None:
        """Stop all tasks; a submit in flight gets a moment to come to its end."""
        for job_id in list(self._tasks):
            await self._stop(job_id)
        await self._submitter.finish(CLOSE_SECONDS)
        for job_id in list(self._tasks):  # begun by what came to its end in that moment
            await self._stop(job_id)

    # What sending and watching stand on

    def folder(self, job_id: str) -> JobFolder:
        """The folder of a job."""
        return JobFolder(self._paths.job(job_id))

    def job(self, job_id: str) -> Job:
        """A job as it is now."""
        return self._ledger.job(job_id)

    def client(self, job: Job) -> WorkersAI:
        """The client of the job's own connection. Raises NotConnected for one that was deleted."""
        return self._client_for(job.connection)

    @property
    def paths(self) -> Paths:
        """The places of the program's own folder."""
        return self._paths

    def make_room(self) -> bool:
        """On a full disk: give up the ballast. False when there is none left to give."""
        return self._ledger.make_room()

    async def on_disk(self, function: Callable[..., T], *arguments: object) -> T:
        """Run something that writes the ledger or the submissions file."""
        return await asyncio.get_running_loop().run_in_executor(self._disk, function, *arguments)

    async def save(self, batch: Batch, **job_changes: object) -> Job:
        """Commit a batch, then show it."""
        batch = replace(batch, changed_at=self._clock())

        def write() -> Job:
            job = self._ledger.job(batch.job_id)
            others = (each for each in job.batches if each.number != batch.number)
            if batch.state.is_final and all(each.state.is_final for each in others) and not job.finished_at:
                # In the same transaction: nobody comes back to a job that is at its end.
                job_changes.setdefault("finished_at", batch.changed_at)
            return self._ledger.save_batch(batch, **job_changes)

        job = await self.on_disk(write)
        self.show(job)
        return job

    async def _change(self, job_id: str, change: Callable[[Job], Job]) -> None:
        """Change a job as it is when its turn on the disk comes, then show it."""
        self.show(await self.on_disk(self._ledger.change, job_id, change))

    def show(self, job: Job) -> None:
        """Tell the face."""
        self._on_change(job)

    def show_batch(self, batch: Batch) -> None:
        """Show times of checks, which are no state."""
        self._on_change(self._ledger.show_batch(batch))

    async def stop_connection(self, connection: str, error: UserError) -> None:
        """The token was refused: every job of the connection waits for the user, after this one call."""
        for job in self._ledger.jobs():
            if job.connection == connection and job.id in self._tasks and not _is_settled(job):
                await self.stop_with(job.id, error)

    async def stop_with(self, job_id: str, error: UserError) -> None:
        """Pause a job because of an error that only the user can mend."""
        self._troubles[job_id] = error
        await self._change(job_id, lambda known: replace(known, paused_because=error.message))
        task = self._tasks.get(job_id)
        if task is not None and task is not asyncio.current_task():
            task.cancel()

    # Tasks

    def _start(self, job_id: str) -> None:
        self._more.setdefault(job_id, asyncio.Event()).set()
        running = self._tasks.get(job_id)
        if running is None or running.done():
            self._tasks[job_id] = asyncio.get_running_loop().create_task(self._work(job_id), name=f"job {job_id}")

    async def _work(self, job_id: str) -> None:
        try:
            self.client(self._ledger.job(job_id))
        except NotConnected as error:
            await self.stop_with(job_id, error)
            return
        more = self._more[job_id]
        while not _is_settled(self._ledger.job(job_id)):
            more.set()
            await self._send_and_watch(job_id, more)

    async def _send_and_watch(self, job_id: str, more: asyncio.Event) -> None:
        """Until there is nothing to send and nothing to ask for, or the job is paused."""
        sending = asyncio.create_task(self._keep_sending(job_id, more), name=f"send {job_id}")
        watching = asyncio.create_task(self._watcher.watch(job_id), name=f"watch {job_id}")
        try:
            await asyncio.wait((sending, watching), return_when=asyncio.FIRST_COMPLETED)
            for task in (sending, watching):
                if task.done():
                    task.result()
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
            await self._at_once.run_planned(job_id)

    async def _stop(self, job_id: str) -> None:
        task = self._tasks.pop(job_id, None)
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def _settle(self, job: Job) -> None:
        """What was being sent when the program ended: queued when its id was written down, else unknown."""
        if self._submitter.is_sending(job.id):
            return
        for batch in job.batches:
            if batch.state is not BatchState.SENDING:
                continue
            request_id = await self.on_disk(recovered, self._paths.submissions, batch.attempt)
            if request_id:
                await self.save(replace(batch, state=BatchState.QUEUED, request_id=request_id))
            else:
                await self._submitter.lost(batch)

    def _in_doubt(self, job_id: str, number: int) -> tuple[Job, Batch]:
        batch = self._ledger.batch(job_id, number)
        if batch.state is not BatchState.OUTCOME_UNKNOWN:
            raise UsageError("The outcome of this batch is known.")
        return self._ledger.job(job_id), batch


def _check_is_ours(job: Job) -> None:
    if job.attached:
        raise UsageError("This job was made elsewhere, so it is not sent from here. Duplicate it to send its texts.")


def _is_settled(job: Job) -> bool:
    """Nothing more happens by itself."""
    unsettled = (batch for batch in job.batches if not batch.state.is_final)
    return bool(job.paused_because) or all(batch.state is BatchState.OUTCOME_UNKNOWN for batch in unsettled)


def _can_go_on(job: Job) -> bool:
    return job.is_sent and not _is_settled(job)
