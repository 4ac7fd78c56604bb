"""The jobs in the user's account, whichever computer handed them over: listed, taken over, and removed."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain

from cfbatch_gui.core.errors import ReplyError, ServiceRefused, UsageError
from cfbatch_gui.core.inputs.input_values import AttachedInput, Kind
from cfbatch_gui.core.jobs.drafts import Drafts
from cfbatch_gui.core.jobs.elsewhere import (
    Layout,
    Request,
    all_items,
    lay_out_file,
    lay_out_names,
    read_as_sent,
    read_layout,
)
from cfbatch_gui.core.jobs.states import Batch, Job
from cfbatch_gui.core.jobs.store.job_store import JobStore
from cfbatch_gui.core.jobs.store.recovery import write_manifest
from cfbatch_gui.core.jobs.store.submissions import submission_of
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.workers_ai.client import WorkersAI
from cfbatch_gui.core.workers_ai.collector import NO_ROOM, NOT_THERE, AccountCollector, ListedShard


@dataclass(frozen=True, slots=True)
class AccountJob:
    """A job in the account. `at` is when its last shard was handed over, in seconds since 1970, UTC.

    `is_here` is whether this computer has it too.
    """

    id: str
    title: str
    kind: Kind
    model: str
    batches: int
    shards: tuple[int, ...]
    at: float
    is_here: bool


class AccountJobs:
    """For the loop's thread. What calls the account raises UserError as `AccountCollector`, and UsageError for a
    connection without a collecting room; `start` lets a job go to work.
    """

    def __init__(
        self, store: JobStore, drafts: Drafts, *, start: Callable[[str], Awaitable[object]], clock: Callable[[], float]
    ) -> None:
        self._store, self._drafts, self._start, self._clock = store, drafts, start, clock

    async def listed(self, connection_id: str) -> tuple[AccountJob, ...]:
        shards: dict[str, list[ListedShard]] = {}
        with _room_expected():
            async for each in AccountCollector(self._client(connection_id)).shards():
                shards.setdefault(each.job, []).append(each)
        here = {job.id for job in self._store.jobs() if job.is_sent}
        jobs = [_account_job(job_id, found, is_here=job_id in here) for job_id, found in shards.items()]
        return tuple(sorted(jobs, key=lambda job: job.at, reverse=True))

    async def take_over(self, connection_id: str, found: AccountJob, inputs: AttachedInput | None = None) -> Job:
        """Watch and fetch a job that another computer has sent; its rows come from `inputs`, read as they were there,
        or have names. Raises UsageError for a job that is here, another file, or one that is gone.
        """
        await self._check_is_new(found.id)
        client, layouts = self._client(connection_id), []
        with _room_expected():
            for shard in found.shards:
                layouts.append(await self._layout(client, found.id, shard))
        first, kind = layouts[0].job, layouts[0].job.kind
        if inputs is not None and inputs.mapping.kind is not kind:
            raise UsageError(message("The file is read for another kind of result than this job has."))
        now = self._clock()
        batches = _batches(found, layouts, now)
        job = await self._store.on_disk(self._drafts.create, kind, first.name, first.model, connection_id, found.id)
        try:
            await self._fill(job, layouts, batches, inputs)
            await self._commit(job.id, layouts, batches, now)
        except BaseException:
            await self._store.on_disk(self._drafts.discard, job.id)
            raise
        await self._start(job.id)
        return self._store.job(job.id)

    async def remove(self, connection_id: str, found: AccountJob) -> None:
        """Delete a job from the account; answers that nobody has fetched are lost with it."""
        collector = AccountCollector(self._client(connection_id))
        with _room_expected():
            for shard in found.shards:
                await collector.forget(found.id, shard)

    def _client(self, connection_id: str) -> WorkersAI:
        return self._store.client_for(connection_id)

    async def _check_is_new(self, job_id: str) -> None:
        try:
            known = self._store.job(job_id)
        except UsageError:
            return
        if known.is_sent:
            raise UsageError(message("The job “{name}” is on this computer already.", name=known.name))
        await self._store.on_disk(self._drafts.discard, job_id)  # an earlier call was cut short

    async def _layout(self, client: WorkersAI, job_id: str, shard: int) -> Layout:
        collector = AccountCollector(client)
        try:
            layout = await asyncio.to_thread(read_layout, await collector.layout(job_id, shard))
            order = await collector.order(job_id, shard)
        except ServiceRefused as error:
            if error.code != NOT_THERE:
                raise
            raise UsageError(
                message("This job is not in your account any more: another computer may have fetched and removed it.")
            ) from error
        if {(each.number, each.request_id) for each in layout.job.batches} != set(order.batches):
            raise ReplyError(message("What was handed over with this job contradicts itself, so it cannot be taken."))
        return layout

    async def _fill(
        self, job: Job, layouts: Sequence[Layout], batches: Sequence[Batch], inputs: AttachedInput | None
    ) -> None:
        folder = self._store.folder(job.id)
        if inputs is None:
            await asyncio.to_thread(lay_out_names, folder, job.kind, layouts)
            return
        inputs = await asyncio.to_thread(read_as_sent, layouts[0].draft, inputs)
        await asyncio.to_thread(self._drafts.load, job.id, inputs.source, inputs.mapping, inputs.second)
        sent = replace(self._store.job(job.id), options=layouts[0].job.options)
        await asyncio.to_thread(lay_out_file, folder, sent, layouts, batches)

    async def _commit(self, job_id: str, layouts: Sequence[Layout], batches: Sequence[Batch], now: float) -> None:
        theirs = layouts[0].job
        items = all_items(layouts)

        def taken(job: Job) -> Job:
            return replace(
                job,
                name=theirs.name,
                options=theirs.options,
                is_sent=True,
                taken_over=True,
                created_at=theirs.created_at,
                sent_at=theirs.sent_at,
                queries=len({item[1] for item in items} - {None}),
                texts=len(items),
                batches=tuple(batches),
            )

        await asyncio.to_thread(write_manifest, self._store.folder(job_id), taken(self._store.job(job_id)))
        job = taken(self._store.job(job_id))
        lines = [submission_of(job, each, now) for each in batches]
        await self._store.on_disk(self._store.write_down, *lines)
        await self._store.change(job_id, taken)


@contextmanager
def _room_expected() -> Iterator[None]:
    try:
        yield
    except ServiceRefused as error:
        if error.code != NO_ROOM:
            raise
        raise UsageError(
            message(
                "This Worker has no collecting room, so it keeps no jobs. Put it on Cloudflare again with “npx "
                "wrangler deploy --config collect.jsonc”, then try again."
            ),
            detail=error.detail,
        ) from error


def _account_job(job_id: str, shards: Sequence[ListedShard], *, is_here: bool) -> AccountJob:
    first = min(shards, key=lambda shard: shard.shard)
    return AccountJob(
        id=job_id,
        title=first.title,
        kind=Kind.EMBED if first.kind == Kind.EMBED else Kind.RANK,
        model=first.model,
        batches=sum(shard.batches for shard in shards),
        shards=tuple(sorted(shard.shard for shard in shards)),
        at=max(shard.at for shard in shards),
        is_here=is_here,
    )


def _batches(found: AccountJob, layouts: Sequence[Layout], now: float) -> list[Batch]:
    """The batches of all shards in order; of one that was sent again, the last. Raises UsageError."""
    requests: dict[int, Request] = {}
    for row in chain.from_iterable(layout.requests for layout in layouts):
        if requests.setdefault(row[0], row) != row:
            raise UsageError(
                message(
                    "Parts of this job were refused and sent again, so only the computer that sent it can put its "
                    "answers together."
                )
            )
    by_number = {
        batch.number: replace(
            batch,
            attempt=f"{found.id}-{shard}-{batch.number}",
            changed_at=now,
            shard=shard,
            handed_over_at=now,
        )
        for shard, layout in zip(found.shards, layouts, strict=True)
        for batch in layout.job.batches
    }
    return [by_number[number] for number in sorted(by_number)]
