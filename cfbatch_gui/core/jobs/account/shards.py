"""Which batches are handed to the account together, and when."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from cfbatch_gui.core.errors import UsageError
from cfbatch_gui.core.jobs.states import Batch, BatchState, Job, ListedJob
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.workers_ai.connection_kinds import PRACTICE, Connection, ConnectionKind

# On the Workers Free plan an instance has 1,024 steps and 10 ms of processor time for each, so a step asks for few
# batches; and an account has 3,000 steps a day, of which a shard takes about 130. See docs/collecting.md.
FREE_BATCHES: Final = 25  # of one shard
FREE_SHARDS: Final = 20  # of one job
MOST_BATCHES: Final = 100  # of one shard; the Worker takes no more
MOST_SHARDS: Final = 9_999  # of one job
WAIT_FOR_MORE: Final = 300.0  # seconds that an accepted batch waits for others to be handed over with


@dataclass(frozen=True, slots=True)
class AccountProgress:
    """The batches of a job by where their answers are: `here` final, `in_account` to be fetched, `at_service` asked for
    by the account, `direct` by this program; `to_send` have no answer without this program.
    """

    here: int = 0
    in_account: int = 0
    at_service: int = 0
    direct: int = 0
    to_send: int = 0
    bytes_in_account: int = 0

    @property
    def is_used(self) -> bool:
        return self.in_account + self.at_service > 0

    @property
    def lid_may_close(self) -> bool:
        """Nothing needs this computer until the answers are fetched, and there are answers to come."""
        return self.is_used and not self.direct and not self.to_send


def goes_on_elsewhere(job: Job) -> bool:
    """Whether the service may be at work on the job while this program is closed; practice is part of the program."""
    is_sent = any(batch.state.is_at_service or batch.state is BatchState.SENDING for batch in job.batches)
    return is_sent and job.connection != PRACTICE.id


def check_is_worker(connection: Connection) -> None:
    """Raise UsageError unless it is a Worker, which alone can collect."""
    if connection.kind is not ConnectionKind.WORKER:
        raise UsageError(
            message(
                "Only a Worker of your own can collect answers in your account. Send the job through one; the page of "
                "connections shows how to set it up."
            )
        )


def wants_account(job: Job, connection: Connection) -> bool:
    """The job's own switch, else the connection's; only a Worker collects."""
    chosen = job.options.collect_in_account
    wanted = connection.collects if chosen is None else chosen
    return wanted and connection.kind is ConnectionKind.WORKER


def account_progress(job: Job | ListedJob) -> AccountProgress:
    """Where the answers of a job are."""
    here = in_account = at_service = direct = to_send = stored = 0
    for batch in job.batches:
        if batch.state.is_final:
            here += not batch.at_once
        elif batch.at_once:
            to_send += 1
        elif batch.is_in_account:
            in_account += 1
            stored += batch.stored_bytes
        elif batch.is_handed_over:
            at_service += 1
        elif batch.state.is_at_service:
            direct += 1
        else:
            to_send += 1
    return AccountProgress(here, in_account, at_service, direct, to_send, stored)


def may_be_handed_over(batch: Batch) -> bool:
    is_asked = batch.state in (BatchState.QUEUED, BatchState.RUNNING)
    return is_asked and bool(batch.request_id) and not (batch.shard or batch.direct_only or batch.at_once)


def next_shard(job: Job, connection: Connection, now: float) -> tuple[Batch, ...]:
    """The batches to hand over now as a new shard, in order; () when none are due. `now` in seconds since 1970."""
    if has_all_shards(job, connection):
        return ()
    size, _ = _bounds(connection)
    waiting = [batch for batch in job.batches if may_be_handed_over(batch)]
    is_more_coming = not job.paused_because and any(
        batch.state in (BatchState.PLANNED, BatchState.SENDING) and not batch.at_once for batch in job.batches
    )
    is_old = any(now - batch.sent_at >= WAIT_FOR_MORE for batch in waiting)
    return tuple(waiting[:size]) if len(waiting) >= size or is_old or not is_more_coming else ()


def has_all_shards(job: Job, connection: Connection) -> bool:
    """Whether the account takes no more of a job: the batches that it has not are asked for by this program."""
    return len({batch.shard for batch in job.batches if batch.shard}) >= _bounds(connection)[1]


def most_batches(connection: Connection) -> int:
    """How many batches of one job an account collects."""
    size, shards = _bounds(connection)
    return size * shards


def unacknowledged(job: Job) -> dict[int, tuple[Batch, ...]]:
    """Shards that the ledger has and the account has not confirmed, with all of their batches."""
    open_shards = {
        batch.shard
        for batch in job.batches
        if batch.shard and not batch.handed_over_at and not batch.direct_only and batch.state.is_at_service
    }
    return {shard: of_shard(job.batches, shard) for shard in sorted(open_shards)}


def of_shard(batches: Sequence[Batch], shard: int) -> tuple[Batch, ...]:
    return tuple(batch for batch in batches if batch.shard == shard)


def unfetched_shards(job: Job) -> tuple[int, ...]:
    return tuple(sorted({batch.shard for batch in job.batches if batch.is_handed_over}))


def has_copies(job: Job) -> bool:
    """Whether the account may still have copies of answers that are here, also of what it has not confirmed."""
    return any(batch.shard for batch in job.batches) and not job.account_cleared_at and not job.taken_over


def _bounds(connection: Connection) -> tuple[int, int]:
    return (MOST_BATCHES, MOST_SHARDS) if connection.has_paid_worker else (FREE_BATCHES, FREE_SHARDS)
