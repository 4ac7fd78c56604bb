"""Answers that the user's account collects: looked for, fetched to the disk, and deleted there once they are here."""

import asyncio
import logging
import shutil
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from cfbatch_gui.core.errors import (
    DataError,
    DiskFull,
    ReplyError,
    RequestGone,
    ServiceBusy,
    ServiceRefused,
    Unreachable,
    UserError,
)
from cfbatch_gui.core.jobs.account.handing_over import DIRECT_AFTER, NEAR, hand_over_due
from cfbatch_gui.core.jobs.account.shards import (
    account_progress,
    has_copies,
    of_shard,
    unacknowledged,
    unfetched_shards,
    wants_account,
)
from cfbatch_gui.core.jobs.poll_schedule import SLICE, age_of, backed_off, interval
from cfbatch_gui.core.jobs.states import Batch, BatchState, Job
from cfbatch_gui.core.jobs.store.job_store import JobStore
from cfbatch_gui.core.messages import Message, message
from cfbatch_gui.core.workers_ai.client import Reply, is_passing
from cfbatch_gui.core.workers_ai.collector import (
    NO_ROOM,
    NOT_THERE,
    AccountCollector,
    AnswerFile,
    ShardState,
    ShardStatus,
    StoredAnswer,
    remove_parts,
)

TOGETHER = 3  # answers that are fetched at a time
ATTEMPTS = 5  # to hand over, before the program goes on without the account
KEPT_SHARE = 0.75  # bytes on the disk for a byte of an answer: its copy, which is compressed, and what is in it
_DAY = 86_400.0  # seconds

NO_ROOM_SENTENCE = message(
    "This Worker has no collecting room, so this program asks for the answers itself. Put the Worker on Cloudflare "
    "again with “npx wrangler deploy --config collect.jsonc”, then choose “Collect in my account” again."
)
STOPPED = message(
    "Collecting in your account has stopped, so this program asks for the missing answers itself. Nothing was lost."
)
REMOVED = message(
    "What was handed over is not in your account any more: another computer may have fetched and removed it. This "
    "program asks for the missing answers itself."
)
NOT_HANDED_OVER = message(
    "The batches could not be handed over to your account, so this program asks for their answers itself. Choose "
    "“Collect in my account” to try again."
)

_log = logging.getLogger(__name__)


class AccountCollection:
    """For the loop's thread. `free_bytes` is the room on the disk of a folder; after `patience` looks in a row that do
    not reach the account the failure is raised, with None never.
    """

    def __init__(
        self,
        store: JobStore,
        *,
        clock: Callable[[], float],
        patience: int | None = None,
        free_bytes: Callable[[Path], int] = lambda folder: shutil.disk_usage(folder).free,
    ) -> None:
        self._store, self._clock, self._patience, self._free_bytes = store, clock, patience, free_bytes
        self._stored: dict[tuple[str, int], StoredAnswer] = {}  # by job and number of the batch
        self._due: dict[tuple[str, int], float] = {}  # when to look at a shard again, by job and shard
        self._looks: dict[tuple[str, int], int] = {}  # that were answered, by job and shard
        self._missed: dict[tuple[str, int], int] = {}  # looks in a row that were not, by job and shard
        self._failures: dict[str, int] = {}  # to hand over, in a row
        self._fetching: dict[tuple[str, int], asyncio.Task[None]] = {}

    async def look(self, job: Job, *, is_hurried: bool) -> None:
        """Hand over what is due, and look at the shards whose time has come, or at all. Raises what only the user can
        mend, DataError, and Unreachable when patience is at its end.
        """
        await self._hand_over(job, is_hurried=is_hurried)
        for shard in unfetched_shards(self._store.job(job.id)):
            if is_hurried or self._due.get((job.id, shard), 0.0) <= self._clock():
                await self._look_at(self._store.job(job.id), shard)

    def next_look(self, job: Job) -> float | None:
        """When `look` has something to do next, in seconds since 1970; None when that is not known to be ever."""
        times = [self._due.get((job.id, shard), 0.0) for shard in unfetched_shards(job)]
        if self._is_to_be_handed_over(job):
            times.append(self._due.get((job.id, 0), 0.0))
        return min(times, default=None)

    def has_looked(self, job: Job) -> bool:
        """Whether it is known what the account has of the job: each shard was seen since the start of the program."""
        return all((job.id, shard) in self._looks for shard in unfetched_shards(job))

    def has(self, batch: Batch) -> bool:
        return batch.is_handed_over and (batch.job_id, batch.number) in self._stored

    def may_have(self, batch: Batch) -> bool:
        """Whether the account may have an answer to this batch that is not known here."""
        job, key = self._store.job(batch.job_id), (batch.job_id, batch.shard)
        batch = self._store.batch(batch.job_id, batch.number)  # as it is by now
        if job.account_problem == NO_ROOM_SENTENCE:
            return batch.handed_over_at > 0.0
        if not batch.shard or batch.direct_only:
            return False
        if not batch.handed_over_at:
            return not job.account_problem and wants_account(job, self._store.client(job).connection)
        return key not in self._looks or key in self._missed

    async def fetch(self, job: Job, batch: Batch) -> Reply | None:
        """The answer from the account, on the disk before it is read; None when it is not there. Raises as
        `WorkersAI.ask`, ReplyError for an unusable one, DiskFull before the first byte.
        """
        stored = self._stored[job.id, batch.number]
        collector = AccountCollector(self._store.client(job))
        detail = "it holds no refusal after all"
        try:
            if stored.refused:
                await collector.refusal(job.id, batch.shard, batch.number)
            else:
                await self._bring(job, batch)
                raw = await asyncio.to_thread(_read_whole, self._file(batch, stored))
                answer = await self._store.client(job).read_reply(raw, batch.request_id)
                if isinstance(answer, Reply):
                    return answer
                detail = "it is not what a finished batch has"
        except ServiceRefused as error:
            if isinstance(error, RequestGone) or error.code not in (NOT_THERE, NO_ROOM):
                raise
            detail = error.detail
        await self.put_aside(batch, detail)
        return None

    async def put_aside(self, batch: Batch, detail: str) -> None:
        """Ask the service itself from now on: what the account has of the batch is gone, or cannot be used."""
        _log.warning("Batch %d of job %s cannot be used as the account has it: %s", batch.number, batch.job_id, detail)
        stored = self._stored.get((batch.job_id, batch.number))
        if stored is not None:
            await asyncio.to_thread(self._file(batch, stored).remove)
        await self._ask_directly([batch], half_stored=True)

    async def is_here(self, batch: Batch) -> None:
        """The answer is stored in the job: what was fetched of it is not needed any more."""
        stored = self._stored.pop((batch.job_id, batch.number), None)
        if stored is not None and not stored.refused:
            with suppress(DataError):  # all that it costs is room; it goes with the others at the end of the job
                await asyncio.to_thread(self._file(batch, stored).remove)

    async def stop(self, job_id: str) -> None:
        """End what is being fetched for a job; what has arrived stays on the disk."""
        tasks = [self._fetching.pop(key) for key in list(self._fetching) if key[0] == job_id]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def clear(self, job_id: str, *, at_once: bool = False) -> bool:
        """Delete the account's copies of a job whose batches are all final, when their time is over; whether it did.

        Raises UserError as `AccountCollector`.
        """
        job = self._store.job(job_id)
        if not all(batch.state.is_final for batch in job.batches):
            return False
        await asyncio.to_thread(remove_parts, self._store.folder(job_id).path / "replies")
        if not has_copies(job):
            return False
        client = self._store.client(job)
        if not at_once and self._clock() < job.finished_at + client.connection.keep_days * _DAY:
            return False
        for shard in sorted({batch.shard for batch in job.batches if batch.shard}):
            try:
                await AccountCollector(client).forget(job_id, shard)
            except ServiceRefused as error:
                if error.code != NO_ROOM or any(batch.handed_over_at for batch in of_shard(job.batches, shard)):
                    raise  # else nothing can have been handed over: there never was a room
        now = self._clock()
        await self._store.change(job_id, lambda known: replace(known, account_cleared_at=now))
        return True

    async def give_up(self, job_id: str) -> None:
        """Ask the service directly from now on, but for answers that wait in the account. Raises ConnectionProblem,
        with nothing changed.
        """
        for shard in unfetched_shards(self._store.job(job_id)):
            await self._look_at(self._store.job(job_id), shard)
        job = self._store.job(job_id)
        await self._ask_directly([batch for batch in job.batches if batch.shard and not self.has(batch)])

    # Handing over

    def _is_to_be_handed_over(self, job: Job) -> bool:
        if job.taken_over or job.account_problem or self._store.holds_back:
            return False
        connection = self._store.client(job).connection
        return wants_account(job, connection) and (account_progress(job).direct > 0 or bool(unacknowledged(job)))

    async def _hand_over(self, job: Job, *, is_hurried: bool) -> None:
        if not self._is_to_be_handed_over(job):
            return
        now = self._clock()
        if not is_hurried and self._due.get((job.id, 0), 0.0) > now:
            return
        try:
            await hand_over_due(self._store, job.id, AccountCollector(self._store.client(job)), now)
        except (ServiceRefused, Unreachable, ReplyError) as error:
            await self._not_handed_over(job, error)
            return
        self._failures.pop(job.id, None)
        first = self._store.client(job).connection.first_check
        self._due[job.id, 0] = now + (first if first < NEAR else SLICE)

    async def _not_handed_over(self, job: Job, error: UserError) -> None:
        failures = self._failures[job.id] = self._failures.get(job.id, 0) + 1
        _log.warning("Job %s was not handed over: %s", job.id, error.detail or error.message)
        is_removed = isinstance(error, ServiceRefused) and error.code == NOT_THERE  # just now, by another computer
        if failures < ATTEMPTS and (is_passing(error) or is_removed or isinstance(error, ReplyError)):
            self._due[job.id, 0] = self._clock() + self._backed_off(job, failures, error)
            return
        self._failures.pop(job.id)
        is_room_missing = isinstance(error, ServiceRefused) and error.code == NO_ROOM
        await self._say(job, NO_ROOM_SENTENCE if is_room_missing else NOT_HANDED_OVER)

    # Looking

    async def _look_at(self, job: Job, shard: int) -> None:
        key = job.id, shard
        try:
            status = await AccountCollector(self._store.client(job)).status(job.id, shard)
        except (Unreachable, ServiceRefused, ReplyError) as error:
            if not isinstance(error, ServiceRefused) or error.code not in (NO_ROOM, NOT_THERE):
                self._not_seen(self._store.job(job.id), shard, error)
                return
            self._looks.pop(key, None)  # what it had is not known any more
            await self._ask_directly(self._missing(self._store.job(job.id), shard))
            await self._say(job, NO_ROOM_SENTENCE if error.code == NO_ROOM else REMOVED)
            return
        await self._learn(self._store.job(job.id), shard, status)  # as it is by now
        self._missed.pop(key, None)
        self._looks[key] = self._looks.get(key, 0) + 1
        self._due[key] = self._clock() + self._interval(self._store.job(job.id), shard)

    def _not_seen(self, job: Job, shard: int, error: UserError) -> None:
        key = job.id, shard
        missed = self._missed[key] = self._missed.get(key, 0) + 1
        if self._patience is not None and missed >= self._patience and isinstance(error, Unreachable):
            del self._missed[key]
            raise error
        for batch in self._missing(job, shard):
            if not self.has(batch):
                self._store.show_batch(replace(batch, error=error.message, error_detail=error.detail))
        self._due[key] = self._clock() + self._backed_off(job, missed, error)

    async def _learn(self, job: Job, shard: int, status: ShardStatus) -> None:
        stored, now = {each.number: each for each in status.batches}, self._clock()
        is_first = (job.id, shard) not in self._looks
        moved: dict[int, Batch] = {}
        for batch in self._missing(job, shard):
            found, seen = stored.get(batch.number), replace(batch, error="", error_detail="")
            if found is None:
                self._stored.pop((job.id, batch.number), None)
                due = now + DIRECT_AFTER if is_first else batch.next_check_at
                seen = replace(seen, stored_bytes=0, next_check_at=due)
            elif self._stored.get((job.id, batch.number)) != found or batch.next_check_at > now:
                # Also after a fetch that failed: that the account answers again is known by now.
                self._stored[job.id, batch.number] = found
                seen = replace(seen, stored_bytes=found.size, next_check_at=now)
            else:
                continue
            if seen.stored_bytes != batch.stored_bytes:
                moved[batch.number] = seen
            else:
                self._store.show_batch(seen)
        if moved:  # on the disk, so that other processes can say where the answers are
            await self._store.change_batches(job.id, moved, lambda batch: _seen(batch, moved[batch.number]))
        if status.state is ShardState.COLLECTING:
            return
        missing = [each for each in self._missing(self._store.job(job.id), shard) if each.number not in stored]
        await self._ask_directly(missing)
        if missing and status.state is not ShardState.ENDED:
            _log.warning("Shard %d of job %s has failed: %s", shard, job.id, status.error)
            await self._say(job, STOPPED)

    def _missing(self, job: Job, shard: int) -> list[Batch]:
        return [batch for batch in of_shard(job.batches, shard) if batch.is_handed_over]

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
        for batch in batches:
            self._stored.pop((batch.job_id, batch.number), None)

    async def _say(self, job: Job, sentence: Message) -> None:
        await self._store.change(job.id, lambda known: replace(known, account_problem=sentence))

    def _interval(self, job: Job, shard: int) -> float:
        """As for batches that are asked for directly, by the oldest that is missing; soon when answers wait."""
        first = self._store.client(job).connection.first_check
        sent = [batch.sent_at for batch in of_shard(job.batches, shard) if batch.is_handed_over]
        now = self._clock()
        age = age_of(min(sent, default=now), now, checks=self._looks.get((job.id, shard), 0), first=first)
        return interval(age, first)

    def _backed_off(self, job: Job, failures: int, error: UserError) -> float:
        wait = backed_off(failures, self._store.client(job).connection.first_check)
        return max(wait, error.retry_after) if isinstance(error, ServiceBusy) else wait

    # Fetching

    async def _bring(self, job: Job, batch: Batch) -> None:
        waiting = [each for each in job.batches if self.has(each) and not self._stored[job.id, each.number].refused]
        self._check_room(job, waiting)
        ahead = [each for each in waiting if each.number > batch.number][: TOGETHER - 1]
        for each in (batch, *ahead):
            key = job.id, each.number
            if key not in self._fetching:
                self._fetching[key] = asyncio.create_task(self._fetch_file(job, each), name=f"fetch {job.id}")
        task = self._fetching[job.id, batch.number]
        try:
            await asyncio.shield(task)
        finally:
            if task.done():
                self._fetching.pop((job.id, batch.number), None)

    async def _fetch_file(self, job: Job, batch: Batch) -> None:
        stored = self._stored[job.id, batch.number]
        collector = AccountCollector(self._store.client(job))
        await collector.fetch(job.id, batch.shard, stored, self._file(batch, stored))

    def _check_room(self, job: Job, waiting: list[Batch]) -> None:
        if any(job_id == job.id for job_id, _ in self._fetching):
            return  # looked at before the first of these
        folder = self._store.folder(job.id)
        sizes = [self._stored[job.id, each.number].size for each in waiting]
        needed = int(sum(sizes) * KEPT_SHARE) + TOGETHER * max(sizes, default=0)
        free = self._free_bytes(folder.path)
        if needed > free:
            raise DiskFull(
                message(
                    "The answers that wait in your account need {needed:,.1f} GB on this disk, and {free:,.1f} GB are "
                    "free. None of them was fetched. Make room, then carry on; they stay in your account until then.",
                    needed=needed / 1e9,
                    free=free / 1e9,
                )
            )

    def _file(self, batch: Batch, stored: StoredAnswer) -> AnswerFile:
        return AnswerFile(self._store.folder(batch.job_id).path / "replies", stored)


def _seen(batch: Batch, seen: Batch) -> Batch:
    """What the account has of a batch, unless it was decided meanwhile not to ask the account for it any more."""
    if not batch.is_handed_over:
        return batch
    return replace(
        batch,
        stored_bytes=seen.stored_bytes,
        next_check_at=seen.next_check_at,
        error=seen.error,
        error_detail=seen.error_detail,
    )


def _read_whole(file: AnswerFile) -> bytes:
    try:
        return file.read()
    except OSError as error:
        raise ReplyError(
            message("What was fetched of this answer cannot be read."), detail=error.strerror or ""
        ) from error
