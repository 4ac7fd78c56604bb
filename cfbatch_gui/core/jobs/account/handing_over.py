"""Handing batches over to the user's account. The ledger has the shard before the account does."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from cfbatch_gui.core.errors import ServiceRefused
from cfbatch_gui.core.jobs.account.layouts import layout_of
from cfbatch_gui.core.jobs.account.shards import may_be_handed_over, next_shard, of_shard, unacknowledged
from cfbatch_gui.core.jobs.poll_schedule import LONGEST
from cfbatch_gui.core.jobs.states import Batch, Job
from cfbatch_gui.core.jobs.store.job_store import JobStore
from cfbatch_gui.core.workers_ai.collector import LONGEST_TITLE, OTHER_ORDER, AccountCollector, Order
from cfbatch_gui.core.workers_ai.connection_kinds import Connection

DIRECT_AFTER = 3_600.0  # seconds until the service is asked directly for a batch that the account collects
_FIRST_WAIT = 60.0  # seconds until the account asks for the first time, as a batch takes minutes
NEAR = 2.0  # seconds; a connection that is asked sooner than this is a practice one, and so is its account


async def hand_over_due(store: JobStore, job_id: str, collector: AccountCollector, now: float) -> None:
    """Hand over what was begun and not confirmed, then all that is due. `now` in seconds since 1970.

    Raises UserError as `AccountCollector`; what was not confirmed is handed over again by the next call.
    """
    for shard, batches in unacknowledged(store.job(job_id)).items():
        await _hand_over(store, collector, shard, batches, now)
    connection = store.client(store.job(job_id)).connection
    while due := next_shard(store.job(job_id), connection, now):
        shard = _free_shard(store.job(job_id))
        job = await store.change_batches(job_id, [batch.number for batch in due], partial(_assigned, shard=shard))
        if assigned := of_shard(job.batches, shard):
            await _hand_over(store, collector, shard, assigned, now)


async def _hand_over(
    store: JobStore, collector: AccountCollector, shard: int, batches: Sequence[Batch], now: float
) -> None:
    job = store.job(batches[0].job_id)
    layout = await asyncio.to_thread(layout_of, store.folder(job.id), job, batches)
    order = order_of(job, batches, store.client(job).connection)
    try:
        await collector.hand_over(job.id, shard, order, layout)
    except ServiceRefused as error:
        if error.code != OTHER_ORDER:
            raise
        await _learn_order(store, collector, job, shard, now)
        return
    numbers = [number for number, _ in order.batches]
    await store.change_batches(job.id, numbers, partial(_confirmed, shard=shard, now=now), account_cleared_at=0.0)


def _assigned(batch: Batch, *, shard: int) -> Batch:
    return replace(batch, shard=shard) if may_be_handed_over(batch) else batch


def _confirmed(batch: Batch, *, shard: int, now: float) -> Batch:
    if batch.shard != shard or batch.direct_only or not batch.state.is_at_service:
        return batch  # it was decided otherwise meanwhile
    return replace(batch, handed_over_at=now, next_check_at=now + DIRECT_AFTER)


async def _learn_order(store: JobStore, collector: AccountCollector, job: Job, shard: int, now: float) -> None:
    """The account has other batches under this name: this ledger does not know what was handed over.

    Those of the job that are among them stay there, for the account may have answers that the service has no longer.
    """
    theirs = set((await collector.order(job.id, shard)).batches)
    here = [(batch.number, batch.request_id) for batch in store.job(job.id).batches]
    # Without one, the next shard is tried: the numbers have to come to an end.
    other = 0 if theirs.intersection(here) else max(shard, _free_shard(job) - 1) + 1

    def learned(batch: Batch) -> Batch:
        if (batch.number, batch.request_id) in theirs:
            if not batch.shard and may_be_handed_over(batch):
                batch = replace(batch, shard=shard)
            return _confirmed(batch, shard=shard, now=now)
        return replace(batch, shard=other) if batch.shard == shard else batch

    await store.change_batches(job.id, [number for number, _ in here], learned, account_cleared_at=0.0)


def order_of(job: Job, batches: Sequence[Batch], connection: Connection) -> Order:
    """What hands batches over: their ids, and how often the account is to ask for them."""
    first = connection.first_check
    return Order(
        model=job.model,
        title=job.name[:LONGEST_TITLE],
        kind=str(job.kind),
        first_wait=first if first < NEAR else _FIRST_WAIT,
        longest_wait=LONGEST,
        batches=tuple((batch.number, batch.request_id) for batch in batches),
    )


def _free_shard(job: Job) -> int:
    return max((batch.shard for batch in job.batches), default=0) + 1
