"""What the user can have done with a job. A change is made of the job as it is when it is written, and touches only
what was laid out: other batches leave or come back meanwhile.
"""

import asyncio
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from functools import partial

from cfbatch_gui.core.errors import UsageError
from cfbatch_gui.core.job_folder.fingerprints import hashes_of_items
from cfbatch_gui.core.job_folder.folder import check_has_texts, forget_texts
from cfbatch_gui.core.jobs.elsewhere import check_is_new
from cfbatch_gui.core.jobs.plan import packing
from cfbatch_gui.core.jobs.plan.packing import Plan
from cfbatch_gui.core.jobs.reuse import EarlierResults
from cfbatch_gui.core.jobs.run.collecting import verify
from cfbatch_gui.core.jobs.run.runner import Runner, check_account
from cfbatch_gui.core.jobs.states import ENDED, FORGETTABLE, Batch, BatchState, Job, check_is_worker
from cfbatch_gui.core.jobs.store.data_folder import HELD_BACK, write_manifest
from cfbatch_gui.core.jobs.store.job_store import JobStore
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.system.threads import in_thread
from cfbatch_gui.core.workers_ai.answers import Waiting
from cfbatch_gui.core.workers_ai.catalogue import ModelMetadata, find_model
from cfbatch_gui.core.workers_ai.client import Reply

MAY_BE_SENT_AGAIN = ENDED | {BatchState.OUTCOME_UNKNOWN, BatchState.DISMISSED}

Change = Callable[[Job], Job]


class JobActions:
    """Every method belongs to the loop's thread, and returns before the first byte has left.

    `metadata_for` gives the model of a job as its connection lists it.
    """

    def __init__(
        self,
        store: JobStore,
        runner: Runner,
        *,
        earlier: EarlierResults,
        metadata_for: Callable[[Job], ModelMetadata] = lambda job: find_model(job.model),
    ) -> None:
        self._earlier = earlier
        self._store, self._runner, self._clock, self._metadata_for = store, runner, runner.clock, metadata_for
        self._planning: set[str] = set()  # drafts that are about to be sent
        self._repacking = asyncio.Lock()

    async def send(self, job_id: str) -> Job:
        """Plan a draft, mark it sent and begin. Raises UsageError and NotConnected."""
        self._check_may_send()
        job = self._store.job(job_id)
        if job.is_sent or job_id in self._planning:
            raise UsageError(message("job_was_sent_already_duplicate_send"))
        self._store.client(job)
        self._planning.add(job_id)
        try:
            await self._plan(job)
        finally:
            self._planning.discard(job_id)
        self._runner.start(job_id)
        return self._store.job(job_id)

    async def _plan(self, job: Job) -> None:
        plan = await in_thread(self._laid_out, job)
        if not plan.batches and not plan.reused:
            raise UsageError(message("there_is_nothing_send_no_row"))
        await self._commit(job, partial(sent, job, plan, self._clock()))

    def _laid_out(self, job: Job) -> Plan:
        folder, metadata = self._store.folder(job.id), self._metadata_for(job)
        plan = packing.plan(folder, job, metadata, reusable=self._earlier.find(job))
        hashes_of_items(folder)  # by which later jobs find what this one has
        return plan

    async def adopt(self, job_id: str, number: int, request_id: str) -> Job:
        """Take the id that the user has found for a batch of unknown outcome.

        A finished answer is adopted only when it is this batch's own, by every reference in it; one that is still on
        its way is checked the same way when it comes. Raises ReplyError, RequestGone, ConnectionProblem.
        """
        job, batch = self._in_doubt(job_id, number)
        if batch.at_once:
            raise UsageError(message("request_was_run_once_there_is"))
        check_is_new(self._store, job.connection, request_id)
        client = self._store.client(job)
        check_account(client, batch)
        answer = await client.ask(job.model, request_id)
        if isinstance(answer, Reply):
            await asyncio.to_thread(verify, self._store.folder(job_id), job.kind, number, answer.finished)
        _, batch = self._in_doubt(job_id, number)  # still
        status = answer.status if isinstance(answer, Waiting) else ""

        async def accepted() -> None:
            await self._runner.submitter.accepted(replace(batch, adopted=True), request_id, status)
            await self._runner.carry_on(job_id)

        await asyncio.shield(self._runner.submitter.begin(batch, accepted))  # also when the caller is cancelled
        return self._store.job(job_id)

    async def send_again(self, job_id: str, *numbers: int) -> Job:
        """Send batches once more that failed, are gone, or have an unknown outcome; without `numbers` exactly what
        failed: those that were refused or are gone, and the refused requests of the others. It may be billed again.
        """
        async with self._repacking:
            await self._check_may_send_again(job_id)
            job, folder = self._store.job(job_id), self._store.folder(job_id)
            if not all(self._store.batch(job_id, number).state in MAY_BE_SENT_AGAIN for number in numbers):
                raise UsageError(message("batch_is_not_one_can_be"))
            planned = await asyncio.to_thread(packing.repack, folder, job, numbers, self._metadata_for(job))
            if not (numbers or planned or any(batch.state in ENDED for batch in job.batches)):
                raise UsageError(message("nothing_job_failed"))
            await self._commit(job, partial(sent_again, job, numbers, planned, self._clock()))
        return await self._runner.carry_on(job_id)

    async def dismiss(self, job_id: str, number: int) -> Job:
        """Settle an unknown outcome as never to be known; it stays in the history as such."""
        _, batch = self._in_doubt(job_id, number)
        await self._store.save(replace(batch, state=BatchState.DISMISSED))
        return await self._runner.carry_on(job_id)

    async def collect_in_account(self, job_id: str) -> Job:
        """Hand the job's batches over to the user's account, also those that it has given up before.

        Raises UsageError unless the job's connection is a Worker.
        """
        job = self._store.job(job_id)
        check_is_worker(self._store.client(job).connection)
        await self._store.change(job_id, _handed_to_account)
        if job.is_sent and not all(batch.state.is_final for batch in job.batches):
            await self._runner.carry_on(job_id)
            self._runner.check_now(job_id)
        return self._store.job(job_id)

    async def collect_here(self, job_id: str) -> Job:
        """Ask the service directly from now on; what waits in the account already is fetched from there.

        Raises ConnectionProblem, with nothing changed.
        """
        if self._store.job(job_id).is_sent:
            await self._runner.account.give_up(job_id)
        job = await self._store.change(
            job_id,
            lambda known: replace(known, options=replace(known.options, collect_in_account=False), account_problem=""),
        )
        if job.is_sent:
            self._runner.check_now(job_id)
        return self._store.job(job_id)

    async def forget_texts(self, job_id: str) -> None:
        """Remove the texts of a finished job; nothing can be sent again. Raises UsageError for a job that is not
        finished, DataError and DiskFull.
        """
        job = self._store.job(job_id)
        if job.state not in FORGETTABLE:
            raise UsageError(message("only_finished_job_can_do_without"))
        now = self._clock()
        await asyncio.to_thread(forget_texts, self._store.folder(job_id), now)
        await self._store.change(job_id, lambda job: replace(job, texts_forgotten_at=now))

    async def _check_may_send_again(self, job_id: str) -> None:
        self._check_may_send()
        job = self._store.job(job_id)
        if job.attached or job.taken_over:
            raise UsageError(message("job_was_sent_from_elsewhere_is"))
        await asyncio.to_thread(check_has_texts, self._store.folder(job_id))

    async def _commit(self, repacked: Job, change: Change) -> None:
        # The folder first: without the new batches a job that is put together again would send their requests anew.
        await asyncio.to_thread(write_manifest, self._store.folder(repacked.id), change(repacked))
        await self._store.change(repacked.id, change)

    def _check_may_send(self) -> None:
        if self._store.holds_back:
            raise UsageError(HELD_BACK)

    def _in_doubt(self, job_id: str, number: int) -> tuple[Job, Batch]:
        batch = self._store.batch(job_id, number)
        if batch.state is not BatchState.OUTCOME_UNKNOWN:
            raise UsageError(message("outcome_batch_is_known"))
        return self._store.job(job_id), batch


def _handed_to_account(job: Job) -> Job:
    """Batches that the account has given up are handed over once more, under the name they had: it may have their
    answers already.
    """
    batches = tuple(
        replace(batch, handed_over_at=0.0, stored_bytes=0, direct_only=False)
        if batch.direct_only and not batch.state.is_final
        else batch
        for batch in job.batches
    )
    options = replace(job.options, collect_in_account=True)
    return replace(job, options=options, account_problem="", batches=batches)


def sent(planned: Job, plan: Plan, now: float, job: Job) -> Job:
    """A draft as sent with its plan; raises UsageError when it is not the draft any more that was planned."""
    if _what_is_planned(job) != _what_is_planned(planned):
        raise UsageError(message("job_was_changed_while_was_being"))
    return replace(
        job,
        is_sent=True,
        sent_at=now,
        queries=plan.queries,
        texts=plan.texts,
        reused=plan.reused,
        batches=tuple(replace(each, changed_at=now) for each in plan.batches),
    )


def sent_again(packed: Job, numbers: Collection[int], planned: Sequence[Batch], now: float, job: Job) -> Job:
    """Batches of `packed` back to where they have not left, those of these `numbers` or all that have ended, and those
    that were laid out anew as they are now.
    """
    again = set(numbers) or {batch.number for batch in packed.batches if batch.state in ENDED}
    emptied = {batch.number for batch in packed.batches if batch.state is BatchState.DONE and planned and not numbers}
    batches = {batch.number: replace(batch, changed_at=now) for batch in planned}
    for batch in job.batches:
        if batch.number in again and batch.state in MAY_BE_SENT_AGAIN:
            # As if it had never been sent, but for what that may have cost; when tells what was accepted before.
            layout = batches.get(batch.number, batch)
            sizes = layout.requests, layout.texts, layout.bytes
            fresh = Batch(job.id, batch.number, BatchState.PLANNED, *sizes, at_once=layout.at_once)
            batches[batch.number] = replace(fresh, changed_at=now, earlier=batch.billable)
        else:
            is_emptied = batch.number in emptied
            batches[batch.number] = replace(batch, failed_requests=0, error="") if is_emptied else batch
    at_once = job.options.at_once or any(batch.at_once for batch in planned)
    return replace(
        job,
        reused_lost=job.reused_lost if numbers else 0,
        options=replace(job.options, at_once=at_once),
        batches=tuple(batches[number] for number in sorted(batches)),
    )


def _what_is_planned(job: Job) -> tuple[object, ...]:
    return job.is_sent, job.kind, job.model, job.connection, job.options, job.source_sha256
