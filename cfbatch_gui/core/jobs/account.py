"""Batches that the user's account collects: handed over, their answers looked for, fetched to the disk, and deleted
there once they are here.
"""

import asyncio
import logging
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from cfbatch_gui.core.errors import ReplyError, RequestGone, ServiceRefused, Unreachable, UserError
from cfbatch_gui.core.jobs import states
from cfbatch_gui.core.jobs.elsewhere import layout_of
from cfbatch_gui.core.jobs.poll_schedule import LONGEST, SLICE, Waits, interval
from cfbatch_gui.core.jobs.states import Batch, BatchState, Job
from cfbatch_gui.core.jobs.store.job_store import JobStore
from cfbatch_gui.core.messages import Message, message
from cfbatch_gui.core.workers_ai.client import Reply, is_passing
from cfbatch_gui.core.workers_ai.collector import (
    LONGEST_TITLE,
    NO_ROOM,
    NO_ROOM_SENTENCE,
    NOT_THERE,
    OTHER_ORDER,
    AccountCollector,
    Order,
    ShardState,
    ShardStatus,
)
from cfbatch_gui.core.workers_ai.connection_kinds import Connection

ATTEMPTS = 5  # to hand over, before the program goes on without the account
DIRECT_AFTER = 3_600.0  # seconds until the service is asked directly for a batch that the account collects
FIRST_WAIT = 60.0  # seconds until the account asks for the first time, as a batch takes minutes
NEAR = 2.0  # seconds; a connection that is asked sooner than this is a practice one, and so is its account
_DAY = 86_400.0  # seconds

STOPPED = message("collecting_your_account_stopped_program_asks")
REMOVED = message("what_was_handed_over_is_not")
NOT_HANDED_OVER = message("batches_could_not_be_handed_over")

_log = logging.getLogger(__name__)


class AccountCollection:
    """For the loop's thread."""

    def __init__(self, store: JobStore, waits: Waits) -> None:
        self._store, self._waits, self._clock = store, waits, waits.clock

    async def look(self, job: Job, *, is_hurried: bool) -> None:
        """Hand over what is due, and look at the shards whose time has come, or at all. Raises what only the user can
        mend, DataError, and Unreachable when patience is at its end.
        """
        if self._is_to_be_handed_over(job) and (is_hurried or self._due(job, "hand over") <= self._clock()):
            await self._hand_over(job)
        for shard in states.unfetched_shards(self._store.job(job.id)):
            if is_hurried or self._due(job, "shard", shard) <= self._clock():
                await self._look_at(self._store.job(job.id), shard)

    def next_look(self, job: Job) -> float:
        """When `look` has something to do next, in seconds since 1970; infinite when that is not known to be ever."""
        times = [self._due(job, "shard", shard) for shard in states.unfetched_shards(job)]
        if self._is_to_be_handed_over(job):
            times.append(self._due(job, "hand over"))
        return min(times, default=math.inf)

    def _due(self, job: Job, *what: str | int) -> float:
        return max(self._waits.of(job.id, *what).due, self._waits.of("account", job.connection).due)

    def has_looked(self, job: Job) -> bool:
        """Whether it is known what the account has of the job: each shard was seen since the start of the program."""
        return all(self._waits.of(job.id, "shard", shard).answers for shard in states.unfetched_shards(job))

    def may_have(self, batch: Batch) -> bool:
        """Whether the account may have an answer to this batch that is not known here."""
        job = self._store.job(batch.job_id)
        batch = self._store.batch(batch.job_id, batch.number)  # as it is by now
        if job.account_problem == NO_ROOM_SENTENCE:
            return batch.handed_over_at > 0.0
        if not batch.shard or batch.direct_only:
            return False
        if not batch.handed_over_at:
            return not job.account_problem and states.wants_account(job, self._store.client(job).connection)
        looked = self._waits.of(job.id, "shard", batch.shard)
        return not looked.answers or looked.failures > 0

    async def fetch(self, job: Job, batch: Batch) -> Reply:
        """The answer from the account. Raises as `WorkersAI.ask`, and ReplyError for one that is not there or cannot be
        used.
        """
        client = self._store.client(job)
        try:
            raw = await AccountCollector(client).answer(job.id, batch.shard, batch.number, batch.stored_bytes)
        except ServiceRefused as error:
            if isinstance(error, RequestGone) or error.code not in (NOT_THERE, NO_ROOM):
                raise
            raise _unusable(error.detail) from error
        answer = await client.read_reply(raw, batch.request_id)
        if not isinstance(answer, Reply):
            raise _unusable("it is not what a finished batch has")
        return answer

    async def put_aside(self, batch: Batch, detail: str) -> None:
        """Ask the service itself from now on: what the account has of the batch is gone, or cannot be used."""
        _log.warning("Batch %d of job %s cannot be used as the account has it: %s", batch.number, batch.job_id, detail)
        await self._ask_directly([batch], half_stored=True)

    async def clear(self, job_id: str, *, at_once: bool = False) -> None:
        """Delete the account's copies of a job whose batches are all final, when their time is over.

        Raises UserError as `AccountCollector`.
        """
        job = self._store.job(job_id)
        if not states.has_copies(job) or not all(batch.state.is_final for batch in job.batches):
            return
        client = self._store.client(job)
        if not at_once and self._clock() < job.finished_at + client.connection.keep_days * _DAY:
            return
        for shard in sorted({batch.shard for batch in job.batches if batch.shard}):
            try:
                await AccountCollector(client).forget(job_id, shard)
            except ServiceRefused as error:
                if error.code != NO_ROOM or any(batch.handed_over_at for batch in states.of_shard(job.batches, shard)):
                    raise  # else nothing can have been handed over: there never was a room
        now = self._clock()
        await self._store.change(job_id, lambda known: replace(known, account_cleared_at=now))

    async def give_up(self, job_id: str) -> None:
        """Ask the service directly from now on, but for answers that wait in the account. Raises ConnectionProblem,
        with nothing changed.
        """
        for shard in states.unfetched_shards(self._store.job(job_id)):
            await self._look_at(self._store.job(job_id), shard)
        job = self._store.job(job_id)
        await self._ask_directly([batch for batch in job.batches if batch.shard and not batch.is_in_account])

    # Handing over

    def _is_to_be_handed_over(self, job: Job) -> bool:
        if job.taken_over or job.account_problem or self._store.holds_back:
            return False
        connection = self._store.client(job).connection
        return states.wants_account(job, connection) and (
            states.account_progress(job).direct > 0 or bool(states.unacknowledged(job))
        )

    async def _hand_over(self, job: Job) -> None:
        client = self._store.client(job)
        first = client.connection.first_check
        try:
            await self._hand_over_due(job.id, AccountCollector(client))
        except (ServiceRefused, Unreachable, ReplyError) as error:
            await self._not_handed_over(job, error)
        else:
            self._waits.answered("account", job.connection)
            self._waits.answered(job.id, "hand over", seconds=first if first < NEAR else SLICE)

    async def _hand_over_due(self, job_id: str, collector: AccountCollector) -> None:
        """Hand over what was begun and not confirmed, then all that is due; the ledger has a shard before the account
        does.
        """
        for shard, batches in states.unacknowledged(self._store.job(job_id)).items():
            await self._hand_over_shard(collector, shard, batches)
        connection = self._store.client(self._store.job(job_id)).connection
        while due := states.next_shard(self._store.job(job_id), connection, self._clock()):
            shard = _free_shard(self._store.job(job_id))
            assigned = partial(_assigned, shard=shard)
            job = await self._store.change_batches(job_id, [batch.number for batch in due], assigned)
            if batches := states.of_shard(job.batches, shard):
                await self._hand_over_shard(collector, shard, batches)

    async def _hand_over_shard(self, collector: AccountCollector, shard: int, batches: Sequence[Batch]) -> None:
        job, confirmed = self._store.job(batches[0].job_id), partial(_confirmed, shard=shard, now=self._clock())
        layout = await asyncio.to_thread(layout_of, self._store.folder(job.id), job, batches)
        order = order_of(job, batches, self._store.client(job).connection)
        try:
            await collector.hand_over(job.id, shard, order, layout)
        except ServiceRefused as error:
            if error.code != OTHER_ORDER:
                raise
            await self._learn_order(collector, job, shard, confirmed)
            return
        numbers = [number for number, _ in order.batches]
        await self._store.change_batches(job.id, numbers, confirmed, account_cleared_at=0.0)

    async def _learn_order(
        self, collector: AccountCollector, job: Job, shard: int, confirmed: Callable[[Batch], Batch]
    ) -> None:
        """The account has other batches under this name: those of the job among them stay there, for the service may
        have forgotten their answers.
        """
        theirs = set((await collector.order(job.id, shard)).batches)
        here = [(batch.number, batch.request_id) for batch in self._store.job(job.id).batches]
        # Without one, the next shard is tried: the numbers have to come to an end.
        other = 0 if theirs.intersection(here) else max(shard, _free_shard(job) - 1) + 1

        def learned(batch: Batch) -> Batch:
            if (batch.number, batch.request_id) in theirs:
                return confirmed(_assigned(batch, shard=shard))
            return replace(batch, shard=other) if batch.shard == shard else batch

        await self._store.change_batches(job.id, [number for number, _ in here], learned, account_cleared_at=0.0)

    async def _not_handed_over(self, job: Job, error: UserError) -> None:
        """Being offline is waited out; what the account says no to so often is left to the user."""
        _log.warning("Job %s was not handed over: %s", job.id, error.detail or error.message)
        may_pass = is_passing(error) or isinstance(error, ReplyError) or error.code == NOT_THERE  # removed just now
        said_no = self._waits.of(job.id, "hand over")
        said_no.failures += not isinstance(error, Unreachable)
        if may_pass and said_no.failures < ATTEMPTS:
            self._failed(job, error)
            return
        said_no.failures = 0
        await self._say(job, NO_ROOM_SENTENCE if error.code == NO_ROOM else NOT_HANDED_OVER)

    def _failed(self, job: Job, error: UserError) -> None:
        first = self._store.client(job).connection.first_check
        self._waits.failed("account", job.connection, error=error, first=first)

    # Looking

    async def _look_at(self, job: Job, shard: int) -> None:
        looked = self._waits.of(job.id, "shard", shard)
        try:
            status = await AccountCollector(self._store.client(job)).status(job.id, shard)
        except (Unreachable, ServiceRefused, ReplyError) as error:
            if error.code not in (NO_ROOM, NOT_THERE):
                looked.failures += 1
                for batch in self._missing(self._store.job(job.id), shard):
                    if not batch.is_in_account:
                        self._store.show_batch(replace(batch, error=error.message, error_detail=error.detail))
                self._failed(job, error)
                return
            looked.answers = 0  # what it had is not known any more
            await self._ask_directly(self._missing(self._store.job(job.id), shard))
            await self._say(job, NO_ROOM_SENTENCE if error.code == NO_ROOM else REMOVED)
            return
        await self._learn(self._store.job(job.id), shard, status)  # as it is by now
        self._waits.answered("account", job.connection)
        # Again as for batches that are asked for directly, by the oldest that is missing; soon when answers wait.
        now, first = self._clock(), self._store.client(job).connection.first_check
        oldest = min((batch.sent_at for batch in self._missing(self._store.job(job.id), shard)), default=now)
        self._waits.answered(job.id, "shard", shard, seconds=interval(now - oldest, first))

    async def _learn(self, job: Job, shard: int, status: ShardStatus) -> None:
        """On the disk, so that other processes can say where the answers are."""
        stored, now = {each.number: each.size or 1 for each in status.batches}, self._clock()
        is_first = not self._waits.of(job.id, "shard", shard).answers

        def seen(batch: Batch) -> Batch:
            if not batch.is_handed_over:  # it was decided meanwhile not to ask the account for it any more
                return batch
            due = now + DIRECT_AFTER if is_first else batch.next_check_at
            due = min(batch.next_check_at, now) if batch.number in stored else due
            return replace(batch.saying(), stored_bytes=stored.get(batch.number, 0), next_check_at=due)

        missing = self._missing(job, shard)
        if changed := [batch.number for batch in missing if seen(batch) != batch]:
            await self._store.change_batches(job.id, changed, seen)
        if status.state is ShardState.COLLECTING:
            return
        missing = [each for each in self._missing(self._store.job(job.id), shard) if each.number not in stored]
        await self._ask_directly(missing)
        if missing and status.state is not ShardState.ENDED:
            _log.warning("Shard %d of job %s has failed: %s", shard, job.id, status.error)
            await self._say(job, STOPPED)

    def _missing(self, job: Job, shard: int) -> list[Batch]:
        return [batch for batch in states.of_shard(job.batches, shard) if batch.is_handed_over]

    async def _ask_directly(self, batches: list[Batch], *, half_stored: bool = False) -> None:
        """With `half_stored` also for a batch whose answer was about to be stored, of which nothing came."""

        def direct(batch: Batch) -> Batch:
            if not batch.state.is_at_service:
                return batch
            is_half_stored = half_stored and batch.state is BatchState.COLLECTING
            state = BatchState.QUEUED if is_half_stored else batch.state
            return replace(batch, state=state, direct_only=True, stored_bytes=0, next_check_at=0.0)

        if batches:
            await self._store.change_batches(batches[0].job_id, [batch.number for batch in batches], direct)

    async def _say(self, job: Job, sentence: Message) -> None:
        await self._store.change(job.id, lambda known: replace(known, account_problem=sentence))


def _unusable(detail: str) -> ReplyError:
    return ReplyError(message("what_was_fetched_answer_cannot_be"), detail=detail)


def _assigned(batch: Batch, *, shard: int) -> Batch:
    return replace(batch, shard=shard) if states.may_be_handed_over(batch) else batch


def _confirmed(batch: Batch, *, shard: int, now: float) -> Batch:
    if batch.shard != shard or batch.direct_only or not batch.state.is_at_service:
        return batch  # it was decided otherwise meanwhile
    return replace(batch, handed_over_at=now, next_check_at=now + DIRECT_AFTER)


def order_of(job: Job, batches: Sequence[Batch], connection: Connection) -> Order:
    """What hands batches over: their ids, and how often the account is to ask for them."""
    first = connection.first_check
    return Order(
        model=job.model,
        title=job.name[:LONGEST_TITLE],
        kind=str(job.kind),
        first_wait=first if first < NEAR else FIRST_WAIT,
        longest_wait=LONGEST,
        batches=tuple((batch.number, batch.request_id) for batch in batches),
    )


def _free_shard(job: Job) -> int:
    return max((batch.shard for batch in job.batches), default=0) + 1
