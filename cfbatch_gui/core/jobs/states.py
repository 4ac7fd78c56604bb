"""Jobs and batches as values, and what a job's state is by the states of its batches.

Batch:  planned → sending → queued → running → collecting → done | failed | gone
                     ↓ (the program was killed, or the answer lost)
              outcome unknown → queued (adopted) | planned (sent again) | dismissed

A synchronous request is a batch of its own: planned → sending → collecting → done | failed, or outcome unknown.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Final

from cfbatch_gui.core.errors import UsageError, UserError
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.job_folder.schema import NOT_SENT
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.workers_ai.connection_kinds import PRACTICE, Connection, ConnectionKind

# What `Job.paused_because` says when nobody but the user has paused it: the first while the service may be at work.
STOPPED_BY_USER = message("you_stopped_watching_what_was_sent")
STOPPED_HERE = message("you_stopped_job_waits_on_computer")
STOPPED = (STOPPED_BY_USER, STOPPED_HERE)


class BatchState(StrEnum):
    """Where one POST with `queueRequest=true` is."""

    PLANNED = "planned"
    SENDING = "sending"
    QUEUED = "queued"
    RUNNING = "running"
    COLLECTING = "collecting"
    DONE = "done"
    FAILED = "failed"
    GONE = "gone"  # the service no longer knows the request id
    OUTCOME_UNKNOWN = "outcome_unknown"
    DISMISSED = "dismissed"  # an unknown outcome that the user has closed; it stays in the history

    @property
    def is_final(self) -> bool:
        return self in _FINAL

    @property
    def is_at_service(self) -> bool:
        """The batch has a request id, and the service can be asked for its results."""
        return self in _AT_SERVICE


_FINAL = frozenset({BatchState.DONE, BatchState.FAILED, BatchState.GONE, BatchState.DISMISSED})
_PLANNED = frozenset({BatchState.PLANNED})
_AT_SERVICE = frozenset({BatchState.QUEUED, BatchState.RUNNING, BatchState.COLLECTING})
ENDED = frozenset({BatchState.FAILED, BatchState.GONE})  # final without an answer, as the service reported


class JobState(StrEnum):
    """The state of a job, computed from those of its batches. Never stored."""

    DRAFT = "draft"
    WAITING = "waiting"  # sent by the user; no batch has left yet
    WORKING = "working"
    PAUSED = "paused"  # stopped by the user, or by a refused token; `Job.paused_because` says which
    OUTCOME_UNKNOWN = "outcome_unknown"
    DONE = "done"
    PARTLY_DONE = "partly_done"  # some results, some failures
    FAILED = "failed"


NEEDS_USER = frozenset({JobState.OUTCOME_UNKNOWN, JobState.FAILED, JobState.PARTLY_DONE, JobState.PAUSED})
FORGETTABLE = frozenset({JobState.DONE, JobState.PARTLY_DONE})  # those whose texts can be removed


SENTENCES = frozenset({"error", "paused_because", "account_problem"})  # fields of a job and of its batches


@dataclass(frozen=True, slots=True)
class Attempt:
    """One sending of a batch that may have been billed. `tokens` is what its answer counted, 0 without one."""

    sent_at: float  # seconds since 1970, UTC
    texts: int
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class Batch:
    """One POST, queued or synchronous. Times are seconds since 1970, UTC; 0.0 when not yet.

    `service_word` is the state as the service named it, kept and shown when the program does not know it. `error` is a
    sentence: why the batch ended, or why it is waiting.
    """

    job_id: str
    number: int  # from 1
    state: BatchState
    requests: int  # elements of `requests[]`
    texts: int  # contexts or texts in them
    bytes: int  # of the body, exactly as sent
    sha256: str = ""
    attempt: str = ""  # id of the last attempt to send
    request_id: str = ""
    account_mark: str = ""  # of the account it was sent to (`Connection.account_mark`); "" when there is none
    service_word: str = ""
    sent_at: float = 0.0
    changed_at: float = 0.0
    checked_at: float = 0.0
    next_check_at: float = 0.0
    checks: int = 0
    tokens: int = 0  # `usage.total_tokens` of its answer
    at_once: bool = False  # one request without the queue: it has no request id, and cannot be asked for
    adopted: bool = False  # the user found its id: its answer must prove by its references that it is this batch's
    shard: int = 0  # of the collector in the user's account, from 1; 0 when it has none. Kept when the batch is done
    handed_over_at: float = 0.0  # when the account acknowledged the shard; until then the service is asked directly
    stored_bytes: int = 0  # of its answer in the user's account, 1 of a refusal, as seen last; 0 while it is not there
    direct_only: bool = False  # its collector failed, or gave it up: it is not handed over again
    failed_requests: int = 0
    error: str = ""  # the user's sentence
    error_detail: str = ""
    error_action: str = ""  # an `Action`
    earlier: tuple[Attempt, ...] = ()  # of the times before it was sent again, those that may have been billed

    def saying(self, error: UserError | None = None) -> "Batch":
        """With an error's sentence, or with none."""
        if error is None:
            return replace(self, error="", error_detail="", error_action="")
        return replace(self, error=error.message, error_detail=error.detail, error_action=error.action)

    @property
    def is_in_account(self) -> bool:
        return self.state.is_at_service and self.stored_bytes > 0

    @property
    def is_handed_over(self) -> bool:
        """The account asks the service for the answer; this program does so only from time to time."""
        return self.state.is_at_service and self.handed_over_at > 0.0 and not self.direct_only

    @property
    def billable(self) -> tuple[Attempt, ...]:
        """All attempts that may have been billed; also one that was accepted, and whose answer was put aside."""
        is_refused = self.state is BatchState.FAILED and not self.request_id
        if self.state is BatchState.PLANNED or is_refused:
            return self.earlier
        return (*self.earlier, Attempt(self.sent_at, self.texts, self.tokens))


class Purpose(StrEnum):
    """What a job is for: which page of it opens, its words, and what its export proposes."""

    RANK = "rank"
    MATCH = "match"  # two lists, or the rows of one list among each other
    CATEGORIES = "categories"
    GROUPS = "groups"
    SEARCH = "search"
    VECTORS = "vectors"

    @property
    def kind(self) -> Kind:
        return Kind.RANK if self is Purpose.RANK else Kind.EMBED

    @property
    def takes_lists(self) -> bool:
        """Whether a second file is one of texts that those of the first are compared with."""
        return self in (Purpose.MATCH, Purpose.CATEGORIES)


def usual_purpose(kind: Kind) -> Purpose:
    """What a job is for that nobody has chosen a purpose for."""
    return Purpose.RANK if kind is Kind.RANK else Purpose.VECTORS


MOST_BEST: Final = 20  # rows of B that can be kept for each row of A


@dataclass(frozen=True, slots=True)
class MatchOptions:
    """How two lists are matched; `within` and `not_within` name a column of both, "" for none. A `threshold` of None is
    the proposed one.
    """

    best: int = 3  # rows of B that are kept for each row of A, at most MOST_BEST
    each_once: bool = False
    within: str = ""  # only rows with the same value
    not_within: str = ""  # never rows with the same value
    threshold: float | None = None


@dataclass(frozen=True, slots=True)
class GroupOptions:
    """How texts are grouped. A group is known by the number of an item in it, so that what was said of it still means
    something when there is another number of groups.
    """

    by_likeness: bool = False
    number: int = 0  # of groups; 0 is the usual one
    likeness: float | None = None  # of all rows of a group; None is the proposed one
    names: tuple[tuple[int, str], ...] = ()  # own names of groups, the newest last
    joined: tuple[tuple[int, int], ...] = ()  # pairs of groups that are one
    removed: tuple[int, ...] = ()  # items that are in no group


@dataclass(frozen=True, slots=True)
class DuplicateOptions:
    """Which texts are near duplicates, and which of them stays."""

    similarity: float = 0.95  # the cosine from which on they are
    longest: bool = False  # the longest one stays, else the first in the file
    kept: tuple[int, ...] = ()  # items that stay before all others


@dataclass(frozen=True, slots=True)
class SortOptions:
    """Into which categories rows are sorted; the threshold is that of the matching."""

    categories: tuple[str, ...] | None = None  # lines as typed, when they differ from list B
    right_column: str = ""  # the column that has the right categories, "" for none


@dataclass(frozen=True, slots=True)
class JobOptions:
    """What the user may change before sending; from `purpose` on, what sends nothing, also afterwards."""

    truncate_inputs: bool = True
    pooling: str = ""  # "mean" or "cls", for the models that take it; "" is the model's own
    at_once: bool = False  # each request by itself and without the queue, for small jobs
    reuse: bool = True  # what earlier jobs have is taken from there, and not sent
    collect_in_account: bool | None = None  # None: as the connection is set up
    purpose: Purpose | None = None  # None: that of the kind
    matching: MatchOptions = MatchOptions()
    sorting: SortOptions = SortOptions()
    grouping: GroupOptions = GroupOptions()
    duplicates: DuplicateOptions = DuplicateOptions()
    screening: str = ""  # the asked sentence by which records are screened, the likest first


@dataclass(frozen=True, slots=True)
class Job:
    """One input × one model × one connection. `batches` is () for a draft."""

    id: str
    name: str
    kind: Kind
    model: str
    connection: str  # its id, e.g. "practice", "cloudflare"; a job is never asked for through another one
    created_at: float
    options: JobOptions = field(default_factory=JobOptions)
    source_name: str = ""  # the file's name, for people
    source_path: str = ""
    source_sha256: str = ""
    is_sent: bool = False
    attached: bool = False  # made elsewhere, by its request id; without a `source_name` its texts have names only
    sent_at: float = 0.0
    paused_because: str = ""
    archived: bool = False
    tags: tuple[str, ...] = ()  # short words of the user's, sorted
    texts_forgotten_at: float = 0.0  # since when its folder has results and no texts any more
    deleted_at: float = 0.0  # the folder goes at the next start; until then the deletion can be undone
    account_problem: str = ""  # why the user's account does not collect what it was to collect: a sentence
    account_cleared_at: float = 0.0  # when the account's copies of the answers were deleted, all being here
    taken_over: bool = False  # sent by another computer: its answers are fetched here too, and nothing is sent
    rows_in: int = 0
    queries: int = 0
    texts: int = 0  # contexts or texts that are sent
    problems: int = 0
    reused: int = 0  # of `texts`: not sent, because their results were taken from earlier jobs
    reused_lost: int = 0  # requests of these whose results were lost since; they can be sent
    batches: tuple[Batch, ...] = ()

    @property
    def purpose(self) -> Purpose:
        chosen = self.options.purpose
        return chosen if chosen is not None and chosen.kind is self.kind else usual_purpose(self.kind)

    @property
    def has_named_texts(self) -> bool:
        return (self.attached or self.taken_over) and not self.source_name

    @property
    def has_results(self) -> bool:
        """Whether there is anything to look at, be it an answer or results of earlier jobs."""
        return self.reused > 0 or self.batches_done > 0

    @property
    def stored_batches(self) -> frozenset[int]:
        """Those whose results are in its folder, and NOT_SENT for results of earlier jobs."""
        done = {batch.number for batch in self.batches if batch.state is BatchState.DONE}
        return frozenset(done | ({NOT_SENT} if self.reused else set()))

    @property
    def finished_at(self) -> float:
        """When the last batch became final; 0.0 while one is not."""
        if not self.is_sent or not all(batch.state.is_final for batch in self.batches):
            return 0.0
        return max((batch.changed_at for batch in self.batches), default=self.sent_at)

    @property
    def request_ids(self) -> dict[int, str]:
        return {batch.number: batch.request_id for batch in self.batches}

    @property
    def failed_batches(self) -> dict[int, str]:
        """The sentences of those that have ended without an answer."""
        ended = (each for each in self.batches if each.state.is_final and each.state is not BatchState.DONE)
        return {batch.number: batch.error for batch in ended}

    @property
    def state(self) -> JobState:
        """Computed from the batches; what needs the user comes first."""
        if not self.is_sent:
            return JobState.DRAFT
        states = {batch.state for batch in self.batches}
        if BatchState.OUTCOME_UNKNOWN in states:
            return JobState.OUTCOME_UNKNOWN
        if states <= _FINAL:
            return self._final_state()
        if self.paused_because:
            return JobState.PAUSED
        return JobState.WAITING if states == _PLANNED else JobState.WORKING

    def _final_state(self) -> JobState:
        done = [batch for batch in self.batches if batch.state is BatchState.DONE]
        is_whole = len(done) == len(self.batches) and not self.reused_lost
        if is_whole and (done or self.reused) and not [batch for batch in done if batch.failed_requests]:
            return JobState.DONE
        if not self.reused and all(batch.failed_requests >= batch.requests for batch in done):
            return JobState.FAILED
        return JobState.PARTLY_DONE

    @property
    def needs_user(self) -> bool:
        return self.state in NEEDS_USER

    @property
    def batches_done(self) -> int:
        return sum(batch.state is BatchState.DONE for batch in self.batches)

    @property
    def tokens(self) -> int:
        return sum(batch.tokens for batch in self.batches)

    @property
    def error(self) -> str:
        """The first batch's error sentence, for one line in a list."""
        return next((batch.error for batch in self.batches if batch.error), self.paused_because)


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
        raise UsageError(message("only_worker_your_own_can"))


def wants_account(job: Job, connection: Connection) -> bool:
    """The job's own switch, else the connection's; only a Worker collects."""
    chosen = job.options.collect_in_account
    wanted = connection.collects if chosen is None else chosen
    return wanted and connection.kind is ConnectionKind.WORKER


def account_progress(job: Job) -> AccountProgress:
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
