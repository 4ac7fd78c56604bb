"""Jobs at work: a task for each, that sends what is planned and asks for what is at the service until all is final."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial

from cfbatch_gui.core import errors
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs import states
from cfbatch_gui.core.jobs.account import DIRECT_AFTER, AccountCollection
from cfbatch_gui.core.jobs.elsewhere import by_id_alone, lay_out
from cfbatch_gui.core.jobs.poll_schedule import SLICE, Waits, interval
from cfbatch_gui.core.jobs.run.collecting import collect, keep_reply
from cfbatch_gui.core.jobs.run.submitting import Submitter
from cfbatch_gui.core.jobs.states import Batch, BatchState, Job, goes_on_elsewhere, has_copies
from cfbatch_gui.core.jobs.store.job_store import JobStore
from cfbatch_gui.core.jobs.store.submissions import Event, recovered, submission_of
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.workers_ai.answers import Finished, Waiting, read_answer, read_run
from cfbatch_gui.core.workers_ai.client import Reply, WorkersAI, ends_batch, is_passing

NOT_THERE = message("service_does_not_know_request_id")
NOT_SEEN = message("service_does_not_answer_any_more")
READINGS = 3  # how often an answer is asked for that cannot be read


class Watcher:
    """Asks for each batch when its next check is due: the service, or the user's account for what it has."""

    def __init__(self, store: JobStore, account: AccountCollection, waits: Waits) -> None:
        self._store, self._account, self._waits, self._clock = store, account, waits, waits.clock
        self._hurry: dict[str, asyncio.Event] = {}

    async def watch(self, job_id: str) -> None:
        """Until no batch of the job is planned, being sent, or at the service.

        Raises what only the user can mend: ConnectionProblem, ServiceRefused and DataError.
        """
        hurry = self._hurry.setdefault(job_id, asyncio.Event())
        for asked in ("service", "account"):
            self._waits.of(asked, self._store.job(job_id).connection).failures = 0
        while not (job := self._store.job(job_id)).paused_because and (self._is_sending(job) or _away(job)):
            is_hurried = hurry.is_set()
            hurry.clear()  # before the round: a press during it asks for the rest at once, and for all once more
            await self._account.look(self._store.job(job_id), is_hurried=is_hurried)
            await self._check_due(job_id, is_hurried=is_hurried)
            await self._rest(job_id, hurry)

    async def _check_due(self, job_id: str, *, is_hurried: bool) -> None:
        job, now = self._store.job(job_id), self._clock()
        for batch in sorted(_away(job), key=lambda batch: batch.next_check_at):  # one that always fails stops no other
            if (is_hurried and not batch.is_handed_over) or self._due(job, batch) <= now:
                await self._check(job, self._store.batch(job_id, batch.number))
                if not is_hurried and self._account.next_look(self._store.job(job_id)) <= self._clock():
                    return  # fetching many answers takes long, and what was sent meanwhile is to be handed over

    def _asked(self, batch: Batch) -> str:
        is_fetched = batch.is_in_account and batch.state is not BatchState.COLLECTING
        return "account" if is_fetched else "service"

    def _due(self, job: Job, batch: Batch) -> float:
        is_set_back = batch.checked_at > self._clock()  # the batch does not wait until the clock is there again
        due = 0.0 if is_set_back else batch.next_check_at
        return max(due, self._waits.of(self._asked(batch), job.connection).due)

    def hurry(self, job_id: str) -> None:
        """End the present wait: all batches are asked for now."""
        if job_id in self._hurry:
            self._hurry[job_id].set()

    def _is_sending(self, job: Job) -> bool:
        soon = {BatchState.SENDING} if self._store.holds_back else {BatchState.SENDING, BatchState.PLANNED}
        return any(batch.state in soon for batch in job.batches)

    async def _rest(self, job_id: str, hurry: asyncio.Event) -> None:
        job = self._store.job(job_id)
        soonest = min((self._due(job, batch) for batch in _away(job)), default=self._clock() + _FIRST_LOOK)
        left = min(soonest, self._account.next_look(job)) - self._clock()
        # A batch that is being sent has no time yet: look often enough to see it arrive.
        longest = SLICE if not self._is_sending(job) else _FIRST_LOOK
        if left > 0:
            await self._sleep_or(hurry, min(left, longest))

    async def _sleep_or(self, hurry: asyncio.Event, seconds: float) -> None:
        waiting = [asyncio.ensure_future(self._waits.sleep(seconds)), asyncio.ensure_future(hurry.wait())]
        try:
            await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for each in waiting:
                each.cancel()

    async def _check(self, job: Job, batch: Batch) -> None:
        if not batch.state.is_at_service:
            return
        asked = self._asked(batch)
        try:
            if asked == "account":
                if await self._is_collected_from_account(job, batch):
                    return
                asked, batch = "service", self._store.batch(job.id, batch.number)
            answer = await self._answer(job, batch)
            if isinstance(answer, Reply):
                try:
                    await self._collect(job, batch, answer)
                except errors.ForeignReply as error:
                    raise errors.UnreadableReply(error.message, raw=answer.raw, detail=error.detail) from error
            else:
                await self._still_waiting(job, batch, answer)
            for failed in ("batch", "unread"):
                self._waits.of(job.id, failed, batch.number).failures = 0
        except errors.RequestGone as error:
            if job.attached:
                error = errors.RequestGone(
                    NOT_THERE.filled(service=self._store.client(job).connection.title), detail=error.detail
                )
                error.action = errors.Action.NONE
            if self._account.may_have(batch):
                await self._passing(job, batch, errors.Unreachable(NOT_SEEN, detail=error.detail))
            else:
                await self._end(batch, BatchState.GONE, error)
        except (errors.Unreachable, errors.ServiceBusy) as error:
            await self._passing(job, batch, error, asked, job.connection)
        except errors.ServiceRefused as error:
            if is_passing(error):
                await self._passing(job, batch, error)
            elif ends_batch(error):
                await self._end(batch, BatchState.FAILED, error)
            else:  # the batch is still there, and paid for
                raise
        except errors.UnreadableReply as error:
            await self._unreadable(job, batch, error)
        except errors.ReplyError as error:
            if batch.state is BatchState.COLLECTING and batch.request_id:
                # The answer in the folder, which may be to an earlier attempt: what the service has counts.
                await self._store.save(replace(batch, state=BatchState.QUEUED, next_check_at=0.0))
            else:
                await self._end(batch, BatchState.FAILED, error)

    async def _is_collected_from_account(self, job: Job, batch: Batch) -> bool:
        """Whether the account's answer is stored in the job. One that cannot be used is put aside, as it came: what
        the service says counts, if it still knows the batch. Raises as `AccountCollection.fetch` otherwise.
        """
        try:
            await self._collect(job, batch, await self._account.fetch(job, batch))
        except errors.ReplyError as error:
            if isinstance(error, errors.UnreadableReply) and error.raw:
                await asyncio.to_thread(keep_reply, self._store.folder(job.id), batch.number, error.raw)
            await self._account.put_aside(batch, error.detail or error.message)
            return False
        self._waits.answered("account", job.connection)
        return True

    async def _answer(self, job: Job, batch: Batch) -> Waiting | Reply:
        if batch.state is BatchState.COLLECTING:
            # What cannot be read is asked for once more, where it can be.
            with suppress(OSError, EOFError, *([errors.ReplyError] if batch.request_id else ())):
                raw = await asyncio.to_thread(self._store.folder(job.id).read_reply, batch.number)
                kept = await asyncio.to_thread(read_run if batch.at_once else read_answer, raw)
                if isinstance(kept, Finished) and kept.request_id in ("", batch.request_id):
                    return Reply(raw, kept)
        if not batch.request_id or batch.is_in_account:
            raise errors.ReplyError(message("answer_batch_cannot_be_read_from"))
        client = self._store.client(job)
        check_account(client, batch)
        answer = await client.ask(job.model, batch.request_id)
        self._waits.answered("service", job.connection)
        return answer

    async def _still_waiting(self, job: Job, batch: Batch, answer: Waiting) -> None:
        now = self._clock()
        batch = self._store.batch(job.id, batch.number)  # what the account has of it may have changed
        first = self._store.client(job).connection.first_check
        wait = interval(now - batch.sent_at, first)
        seen = replace(
            batch.saying(),
            service_word=answer.status,
            checked_at=now,
            checks=batch.checks + 1,
            next_check_at=now + (DIRECT_AFTER if batch.is_handed_over else wait),
        )
        state = BatchState.RUNNING if answer.status == "running" else BatchState.QUEUED
        if state is batch.state:
            self._store.show_batch(seen)
        else:
            await self._store.save(replace(seen, state=state))

    async def _collect(self, job: Job, batch: Batch, reply: Reply) -> None:
        folder = self._store.folder(job.id)
        await asyncio.to_thread(keep_reply, folder, batch.number, reply.raw)
        collecting = replace(batch, state=BatchState.COLLECTING, checked_at=self._clock(), checks=batch.checks + 1)
        kind, finished, changes = job.kind, reply.finished, {}
        if job.attached:
            kind, counts = await asyncio.to_thread(lay_out, folder, job, finished)
            finished, texts = by_id_alone(finished), sum(counts)
            collecting = replace(collecting, requests=len(counts), texts=texts)
            changes = {"kind": kind, "queries": len(counts) if kind is Kind.RANK else 0, "texts": texts}
        await self._store.save(collecting, **changes)
        storing = partial(
            collect,
            references_required=batch.adopted or self._store.references_are_echoed(job),
            dimensions=self._store.client(job).connection.dimensions_of(job.model),
        )
        collected = await asyncio.to_thread(storing, folder, kind, batch.number, finished)
        await self._store.save(
            replace(
                collecting,
                state=BatchState.DONE,
                service_word="",
                next_check_at=0.0,
                stored_bytes=0,
                tokens=collected.tokens,
                failed_requests=collected.failed_requests,
                error=collected.error,
                error_detail=collected.first_error,
            )
        )

    async def _unreadable(self, job: Job, batch: Batch, error: errors.UnreadableReply) -> None:
        """Asking again is free; an answer that stays unreadable is stored as it came, so that it is not lost."""
        read = self._waits.of(job.id, "unread", batch.number)
        read.failures += 1
        if read.failures < READINGS and batch.request_id:
            if self._store.batch(job.id, batch.number).state is BatchState.COLLECTING:
                batch = replace(batch, state=BatchState.QUEUED)  # what the service says next counts, not what is here
                await self._store.save(batch)
            await self._passing(job, batch, error)
            return
        await asyncio.to_thread(keep_reply, self._store.folder(job.id), batch.number, error.raw)
        await self._end(batch, BatchState.FAILED, error)

    async def _passing(self, job: Job, batch: Batch, error: errors.UserError, *failed: str) -> None:
        """`failed` is the key of the service that did, without one the batch alone."""
        first, key = self._store.client(job).connection.first_check, failed or (job.id, "batch", batch.number)
        due = self._waits.failed(*key, error=error, first=first)
        batch = self._store.batch(job.id, batch.number)  # the user may have decided otherwise about it meanwhile
        changed = replace(batch, checked_at=self._clock(), next_check_at=due)
        self._store.show_batch(replace(changed, error=error.message, error_detail=error.detail))

    async def _end(self, batch: Batch, state: BatchState, error: errors.UserError) -> None:
        if batch.adopted:
            await self._give_up_id(batch, error)
            return
        await self._store.save(replace(batch, state=state, next_check_at=0.0).saying(error))

    async def _give_up_id(self, batch: Batch, error: errors.UserError) -> None:
        """Nothing has proven that the id which the user found is this batch's: another may have it, and this one
        another id."""
        submission = submission_of(self._store.job(batch.job_id), batch, self._clock(), Event.GIVEN_UP)
        await self._store.on_disk(self._store.write_down, submission)
        unknown = replace(
            batch,
            state=BatchState.OUTCOME_UNKNOWN,
            request_id="",
            adopted=False,
            service_word="",
            next_check_at=0.0,
            stored_bytes=0,
            direct_only=batch.shard > 0,
        )
        sentence = message("reason_request_id_you_found_was", reason=error.message)
        detail = f"request ID {batch.request_id}: {error.detail}"
        await self._store.save(unknown.saying(errors.ReplyError(sentence, detail=detail)))


_FIRST_LOOK = 0.2  # seconds


def check_account(client: WorkersAI, batch: Batch) -> None:
    """Raise WrongAccount when the connection has another account by now than when the batch was sent."""
    here = client.connection
    if batch.account_mark and here.account_mark != batch.account_mark:
        raise errors.WrongAccount(message("job_was_sent_another_account_than", connection=here.title))


def _away(job: Job) -> list[Batch]:
    return [batch for batch in job.batches if batch.state.is_at_service]


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
        self._store, self.clock = store, clock
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._more: dict[str, asyncio.Event] = {}  # set when a job has something to send
        self._errors: dict[str, errors.UserError] = {}
        waits = Waits(clock, sleep, patience)
        self.account = AccountCollection(store, waits)
        self._watcher = Watcher(store, self.account, waits)
        self.check_now = self._watcher.hurry
        self.submitter = Submitter(store, waits, arrived=self._watcher.hurry)

    async def resume_all(self) -> None:
        """After a start: settle what was being sent, then start every job that is not final or paused."""
        for job in self._store.jobs():
            await self._settle(job)
        await self.submitter.catch_up()
        for job in self._store.jobs():
            if job.is_sent and not self._is_settled(job):
                self.start(job.id)
        self._begin_clearing()

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

    async def pause(self, job_id: str, because: str = "") -> Job:
        """Stop sending and asking, by the user's word without a reason. What is at the service goes on there."""
        await self.stop(job_id)
        job = self._store.job(job_id)
        because = because or (states.STOPPED_BY_USER if goes_on_elsewhere(job) else states.STOPPED_HERE)
        if job.is_sent and not all(batch.state.is_final for batch in job.batches):
            await self._store.change(job_id, lambda known: replace(known, paused_because=because))
        return self._store.job(job_id)

    async def pause_all(self, connection_id: str, because: str) -> None:
        for job in self._store.jobs():
            if job.connection == connection_id and job.is_sent:
                await self.pause(job.id, because)

    async def wait(self, job_id: str) -> Job:
        """Until nothing more happens by itself: final, paused, or an unknown outcome with nothing else under way."""
        while (task := self._tasks.get(job_id)) is not None and not task.done():
            await asyncio.wait([task])
        return self._store.job(job_id)

    def pause_error(self, job_id: str) -> errors.UserError | None:
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

    async def close(self) -> None:
        """Stop all tasks; a submit in flight has CLOSE_SECONDS to end."""
        for job_id in list(self._tasks):
            await self.stop(job_id)
        await self.submitter.finish(CLOSE_SECONDS)
        for job_id in list(self._tasks):  # begun by what ended in that time
            await self.stop(job_id)

    async def _work(self, job_id: str) -> None:
        job, more = self._store.job(job_id), self._more[job_id]
        while not self._is_settled(self._store.job(job_id)):
            more.set()
            try:
                await self._send_and_watch(job_id, more)
            except (errors.Unreachable, errors.WrongAccount, errors.ServiceRefused, errors.DataError) as error:
                await self._pause_with(job_id, error)
            except errors.ConnectionProblem as error:
                await self._pause_connection(job, error)
        try:
            await self.account.clear(job_id)
        except errors.UserError as error:  # tried again at the next start
            _log.warning("The account's copies of job %s were not deleted: %s", job_id, error.detail or error.message)

    async def _send_and_watch(self, job_id: str, more: asyncio.Event) -> None:
        """Until nothing is left, the job is paused, or an error ends either; of two errors the token's is raised."""
        sending = asyncio.create_task(self._keep_sending(job_id, more), name=f"send {job_id}")
        watching = asyncio.create_task(self._watcher.watch(job_id), name=f"watch {job_id}")
        try:
            await asyncio.wait((sending, watching), return_when=asyncio.FIRST_COMPLETED)
            found = [error for task in (sending, watching) if task.done() and (error := task.exception()) is not None]
            if found:
                raise next((error for error in found if isinstance(error, errors.TokenRefused)), found[0])
        finally:
            for task in (sending, watching):
                task.cancel()
            await asyncio.gather(sending, watching, return_exceptions=True)

    async def _keep_sending(self, job_id: str, more: asyncio.Event) -> None:
        """Send what is planned, and again whenever there is more, also while the rest is at the service."""
        while True:
            await more.wait()
            more.clear()
            await self.submitter.send_planned(job_id)

    async def _pause_connection(self, failed: Job, error: errors.UserError) -> None:
        """The token was refused: every job of the connection waits for the user, after this one call."""
        for job in self._store.jobs():
            if job.id == failed.id or job.connection != failed.connection or self._is_settled(job):
                continue
            if (task := self._tasks.get(job.id)) is not None:
                await self._pause_with(job.id, error)
                task.cancel()
        if not self._is_settled(self._store.job(failed.id)):
            await self._pause_with(failed.id, error)  # last, as its task ends here, and carrying on begins a new one

    async def _pause_with(self, job_id: str, error: errors.UserError) -> None:
        self._errors[job_id] = error
        await self._store.change(job_id, lambda known: replace(known, paused_because=error.message))

    def _is_settled(self, job: Job) -> bool:
        waits = {BatchState.OUTCOME_UNKNOWN} | ({BatchState.PLANNED} if self._store.holds_back else set())
        unsettled = (batch for batch in job.batches if not batch.state.is_final)
        return bool(job.paused_because) or all(batch.state in waits for batch in unsettled)

    async def _settle(self, job: Job) -> None:
        """What was being sent when the program ended: queued when its id was written down, else unknown."""
        if self.submitter.is_sending(job.id):
            return
        for batch in job.batches:
            if batch.state is not BatchState.SENDING:
                continue
            request_id = await self._store.on_disk(recovered, self._store.paths.submissions, batch.attempt)
            if request_id:
                await self._store.save(replace(batch, state=BatchState.QUEUED, request_id=request_id))
            else:
                await self.submitter.lost(batch)
