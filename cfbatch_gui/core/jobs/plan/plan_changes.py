"""What planning and packing anew make of a job, as changes for `Ledger.change`.

Packing takes its time, and other batches of the job leave or come back meanwhile: a change is made of the job as it is
when it is written, and touches only what the packing was about.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from cfbatch_gui.core.errors import UsageError
from cfbatch_gui.core.jobs.plan import packing
from cfbatch_gui.core.jobs.states import Batch, BatchState, Job

Change = Callable[[Job], Job]

ENDED = frozenset({BatchState.FAILED, BatchState.GONE})
MAY_BE_SENT_AGAIN = ENDED | {BatchState.OUTCOME_UNKNOWN, BatchState.DISMISSED}


def planned_batch(job_id: str, each: packing.PlannedBatch, now: float) -> Batch:
    """A batch that has not left."""
    planned = Batch(job_id, each.number, BatchState.PLANNED, each.requests, each.texts, each.bytes, changed_at=now)
    return replace(planned, at_once=each.at_once)


def sent(planned: Job, plan: packing.Plan, now: float) -> Change:
    """Mark a draft as sent with its plan; raises UsageError when it is not the draft any more that was planned."""
    batches = tuple(planned_batch(planned.id, each, now) for each in plan.batches)

    def change(job: Job) -> Job:
        if _what_is_planned(job) != _what_is_planned(planned):
            raise UsageError("This job was changed while it was being sent. Check it, and send it again.")
        return replace(
            job, is_sent=True, sent_at=now, queries=plan.queries, texts=plan.texts + plan.repeated, batches=batches
        )

    return change


def sent_again(number: int, now: float) -> Change:
    """One batch back to where it has not left; raises UsageError when it may not be sent again."""

    def change(job: Job) -> Job:
        batch = next((each for each in job.batches if each.number == number), None)
        if batch is None or batch.state not in MAY_BE_SENT_AGAIN:
            raise UsageError("This batch is not one that can be sent again.")
        batches = tuple(_fresh(each, now) if each is batch else each for each in job.batches)
        return replace(job, finished_at=0.0, batches=batches)

    return change


def failed_sent_again(packed: Job, repacked: Sequence[packing.PlannedBatch], now: float) -> Change:
    """What had failed when `packed` was packed: whole batches as they were, and refused requests in new batches."""
    ended = {batch.number for batch in packed.batches if batch.state in ENDED}
    emptied = {batch.number for batch in packed.batches if batch.state is BatchState.DONE and repacked}
    new = [planned_batch(packed.id, each, now) for each in repacked]

    def again(batch: Batch) -> Batch:
        if batch.number in ended and batch.state in ENDED:
            return _fresh(batch, now)
        return replace(batch, failed_requests=0, error="") if batch.number in emptied else batch

    return lambda job: replace(job, finished_at=0.0, batches=(*map(again, job.batches), *new))


def rest_at_once(job_id: str, repacked: Sequence[packing.PlannedBatch], now: float) -> Change:
    """Each request that was never accepted as a batch of its own, without the queue."""
    fresh = [planned_batch(job_id, each, now) for each in repacked]

    def change(job: Job) -> Job:
        gone = [batch for batch in job.batches if packing.may_run_at_once(batch)]
        kept = (batch for batch in job.batches if not packing.may_run_at_once(batch))
        billed = tuple(attempt for batch in gone for attempt in batch.billable)
        first = replace(fresh[0], earlier=billed)  # which of them has these does not matter
        batches = tuple(sorted((*kept, first, *fresh[1:]), key=lambda batch: batch.number))
        return replace(job, finished_at=0.0, options=replace(job.options, at_once=True), batches=batches)

    return change


def _what_is_planned(job: Job) -> tuple[object, ...]:
    return job.is_sent, job.kind, job.model, job.connection, job.options, job.source_sha256


def _fresh(batch: Batch, now: float) -> Batch:
    """The same batch, as if it had never been sent but for what that may have cost; from when on tells what was
    accepted before and what since."""
    fresh = Batch(batch.job_id, batch.number, BatchState.PLANNED, batch.requests, batch.texts, batch.bytes)
    return replace(fresh, at_once=batch.at_once, changed_at=now, earlier=batch.billable)
