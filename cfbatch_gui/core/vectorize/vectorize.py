"""The vectors of jobs in the indexes of Vectorize: what a face asks for, by the ids of jobs and connections."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.errors import UsageError, UserError
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.job_folder.folder import JobFolder, check_has_texts
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.messages import message, restored, stored
from cfbatch_gui.core.results.embeddings import Embeddings
from cfbatch_gui.core.results.nearest import Neighbour, embed_sentence, nearest_to
from cfbatch_gui.core.system.files import write_own_file
from cfbatch_gui.core.system.paths import Paths
from cfbatch_gui.core.vectorize import push_values
from cfbatch_gui.core.vectorize.client import Match, StoredVector, VectorizeIndex, VectorizeIndexes, check_index_name
from cfbatch_gui.core.vectorize.planning import PushPlan, PushRows, parts, plan_push, push_columns
from cfbatch_gui.core.vectorize.push_values import Push, PushOptions, PushOutcome, PushProgress, PushStage, Show
from cfbatch_gui.core.vectorize.record import IndexRecord
from cfbatch_gui.core.workers_ai.catalogue import ModelMetadata, Price, price
from cfbatch_gui.core.workers_ai.client import Repeating, WorkersAI
from cfbatch_gui.core.workers_ai.connection_kinds import PRACTICE
from cfbatch_gui.core.workers_ai.estimate import tokens_upper
from cfbatch_gui.core.workers_ai.limits import MAX_DELETED_IDS, MAX_INDEX_VECTORS, MAX_READ_IDS

_SAVING = threading.Lock()  # a job may go into two indexes at the same time


def saved_pushes(folder: JobFolder) -> tuple[Push, ...]:
    """The pushes of a job, the newest first; none where the file is damaged."""
    try:
        pushes = msgspec.json.decode(_path(folder).read_bytes(), type=tuple[Push, ...])
        return tuple(
            msgspec.structs.replace(push, failure=restored(push.failure), notes=tuple(map(restored, push.notes)))
            for push in pushes
        )
    except (OSError, UnicodeDecodeError, msgspec.MsgspecError):
        return ()


def saved_push(folder: JobFolder, account_mark: str, index: str) -> Push | None:
    """The last push into one index of one account, None before the first."""
    pushes = saved_pushes(folder)
    return next((each for each in pushes if (each.account_mark, each.index) == (account_mark, index)), None)


def save_push(folder: JobFolder, push: Push) -> None:
    """Keep a push in place of the earlier one into the same index. Raises DiskFull and DataError."""
    key = (push.account_mark, push.index)
    with _SAVING:
        others = (each for each in saved_pushes(folder) if (each.account_mark, each.index) != key)
        write_own_file(_path(folder), msgspec.json.encode((push, *others), enc_hook=stored))


def _path(folder: JobFolder) -> Path:
    return folder.path / "vectorize.json"


_FIRST_WAIT, _LONGEST_WAIT = 0.5, 30.0  # seconds between two questions
# Seconds that an index is waited for. Mutations are usually processed within seconds, large ones within minutes.
_WAITED_IN_ALL = 600.0
# Vectors that are read back to compare them. Set here: 10 calls of the account's 1,200 in five minutes.
_SAMPLE = 200
_DIFFERENCES = 4  # comparisons with a difference, after which it is taken for one
_OTHER_INDEX = message("index_was_created_anew_since_last")
_CHANGED_ELSEWHERE = message("something_else_changed_index_since_last")


@dataclass
class _Pushing:
    """One push of one job into one index. `record` is that of the index; the caller closes it."""

    _calls: VectorizeIndexes
    _folder: JobFolder
    _job: Job
    _record: IndexRecord
    _push: Push
    _settings: push_values.PushSettings
    _show: Show
    _progress = PushProgress()

    def __post_init__(self) -> None:
        self._again = Repeating(sleep=self._settings.sleep, waiting=self._say_waiting)

    async def run(self) -> Push:
        """Do the push; as it ended, and as it is kept. Raises UserError; what was acknowledged stays so.

        Why it stopped is kept, unless that was before anything was planned: the push before stays as it was.
        """
        try:
            return await self._run()
        except UserError as error:
            if self._push.vectors:
                await self._save(ended_at=self._settings.clock(), failure=error.message)
            raise

    async def _run(self) -> Push:
        name, options, record = self._push.index, self._push.options, self._record
        index = await self._again(lambda: self._calls.get(name))
        before = await self._again(lambda: self._calls.info(name))
        is_other = await asyncio.to_thread(record.begin, index.created_on or "")
        plan = await plan_push(self._folder, self._job, options, record, index=index, show=self._tell)
        if plan.check.problems:
            raise UsageError(plan.check.problems[0].sentence)
        if before.vector_count + plan.check.new > MAX_INDEX_VECTORS:
            raise UsageError(message("index_takes_most_vectors_these_would", most=MAX_INDEX_VECTORS))
        notes = [*plan.check.notes]
        if is_other:
            notes.append(_OTHER_INDEX)
        elif before.mutation and plan.check.unchanged and not await self._knows(before.mutation):
            notes.append(_CHANGED_ELSEWHERE)
        held = plan.check.vectors - plan.to_send
        await self._save(vectors=plan.check.vectors, acknowledged=held, notes=tuple(notes))
        await self._send(plan)
        if options.delete_removed:
            await self._delete(plan.check.gone)
        last_mutation = await asyncio.to_thread(lambda: record.last_mutation)
        await self._save(outcome=PushOutcome.SENT, last_mutation=last_mutation, ended_at=self._settings.clock())
        has_changed = self._push.sent or self._push.deleted
        return await self.verify(plan.rows, processed_before=before.mutation if has_changed else "")

    async def verify(self, rows: PushRows, *, processed_before: str = "") -> Push:
        """Wait for the last mutation of a push of which all was accepted, and compare; the push with its outcome.

        A mutation of somebody else's that is not `processed_before` is taken for one behind ours; a difference has to
        be seen several times.
        """
        record, last = self._record, self._push.last_mutation
        expected = await asyncio.to_thread(lambda: record.count)
        ids, vectors = await asyncio.to_thread(rows.sample, _SAMPLE)
        waited, wait, differences = 0.0, _FIRST_WAIT, 0
        while True:
            self._tell(PushProgress(PushStage.PROCESSING, 0, self._push.vectors))
            info = await self._again(lambda: self._calls.info(self._push.index))
            outcome, found = PushOutcome.NOT_YET, {"compared": 0, "missing": 0, "different": 0}
            is_others = info.mutation not in ("", processed_before) and not await self._knows(info.mutation)
            if info.mutation == last or is_others:
                found = await self._compare(ids, vectors)
                is_same = not found["missing"] and not found["different"] and info.vector_count >= expected
                outcome = PushOutcome.VERIFIED if is_same else PushOutcome.DIFFERENT
            differences += outcome is PushOutcome.DIFFERENT
            if outcome is PushOutcome.VERIFIED or differences >= _DIFFERENCES or waited >= _WAITED_IN_ALL:
                break
            await self._settings.sleep(wait)
            waited, wait = waited + wait, min(2 * wait, _LONGEST_WAIT)
        if outcome is PushOutcome.DIFFERENT:
            await asyncio.to_thread(record.forget_contents)
        now = self._settings.clock()
        return await self._save(
            outcome=outcome, in_index=info.vector_count, expected=expected, failure="", checked_at=now, **found
        )

    async def _compare(self, ids: list[str], vectors: NDArray[np.float32]) -> dict[str, int]:
        """How many vectors these are, how many of them are missing in the index, and how many have other values."""
        found = {"compared": len(ids), "missing": 0, "different": 0}
        for start in range(0, len(ids), MAX_READ_IDS):
            self._tell(PushProgress(PushStage.COMPARING, start, len(ids)))
            asked = ids[start : start + MAX_READ_IDS]
            stored = await self._again(lambda: self._calls.get_by_ids(self._push.index, asked))  # noqa: B023
            there = {each.id: each for each in stored}
            for identifier, vector in zip(asked, vectors[start : start + len(asked)], strict=True):
                if identifier not in there:
                    found["missing"] += 1
                elif not _is_same(there[identifier], vector):
                    found["different"] += 1
        return found

    async def _knows(self, mutation: str) -> bool:
        return await asyncio.to_thread(self._record.knows_mutation, mutation)

    async def _send(self, plan: PushPlan) -> None:
        record, settings, pushed = self._record, self._settings, self._job
        job = await asyncio.to_thread(record.job_number, pushed.id, pushed.name)
        self._tell(PushProgress(PushStage.SENDING, self._push.acknowledged, self._push.vectors))
        pending = parts(plan, most_vectors=settings.most_vectors, most_bytes=settings.most_bytes)
        while (part := await asyncio.to_thread(next, pending, None)) is not None:
            ids, checksums, lines = zip(*part, strict=True)
            await asyncio.to_thread(record.mark_sending, ids, job)
            mutation = await self._again(lambda: self._calls.upsert(self._push.index, lines))  # noqa: B023
            await asyncio.to_thread(record.acknowledge, ids, checksums, job, mutation)
            acknowledged, sent = self._push.acknowledged + len(ids), self._push.sent + len(ids)
            await self._save(acknowledged=acknowledged, sent=sent, last_mutation=mutation)
            self._tell(PushProgress(PushStage.SENDING, acknowledged, self._push.vectors))

    async def _delete(self, total: int) -> None:
        """Delete what earlier pushes have put into the index and this job does not hold."""
        while ids := await asyncio.to_thread(self._record.gone_ids, MAX_DELETED_IDS):
            self._tell(PushProgress(PushStage.DELETING, self._push.deleted, total))
            mutation = await self._again(lambda: self._calls.delete_by_ids(self._push.index, ids))
            await asyncio.to_thread(self._record.note_deleted, ids, mutation)
            await self._save(deleted=self._push.deleted + len(ids))

    async def _save(self, **changes: object) -> Push:
        self._push = msgspec.structs.replace(self._push, **changes)
        await asyncio.to_thread(save_push, self._folder, self._push)
        return self._push

    def _tell(self, progress: PushProgress) -> None:
        self._progress = progress
        self._show(progress)

    def _say_waiting(self, error: UserError, seconds: float) -> None:
        self._show(replace(self._progress, waiting=error.message, waiting_seconds=seconds))


def _is_same(stored: StoredVector, vector: NDArray[np.float32]) -> bool:
    with np.errstate(over="ignore"):  # a value beyond a float32 is another one
        return bool(np.array_equal(np.array(stored.values, np.float64).astype(np.float32), vector))


TOP_K: Final = 10


_PRACTICE_VECTORS = message("these_vectors_are_practice_results_they")


class Vectorize:
    """Pushes, searches and states of indexes. `paid_model` is that of a job, None where nothing is paid.

    Raises UserError.
    """

    def __init__(
        self,
        client: Callable[[str], WorkersAI],
        job: Callable[[str], Job],
        paths: Paths,
        settings: push_values.PushSettings,
        *,
        paid_model: Callable[[Job], ModelMetadata | None] = lambda job: None,
    ) -> None:
        self._client, self._job, self._paths, self._settings = client, job, paths, settings
        self._paid_model = paid_model
        self._running: set[tuple[str, str]] = set()

    def _folder(self, job_id: str) -> JobFolder:
        return JobFolder(self._paths.job(job_id))

    def calls(self, connection_id: str) -> VectorizeIndexes:
        """The calls of Vectorize through a connection."""
        return VectorizeIndexes(self._client(connection_id))

    def columns(self, job_id: str) -> tuple[str, ...]:
        """The columns that can be chosen for ids, namespaces and metadata; blocking."""
        return push_columns(self._folder(self._embedded(job_id).id))

    def dimension_of(self, job_id: str) -> int:
        """The length of the job's vectors, for a new index; 0 as long as there is none. Blocking."""
        return Embeddings(self._folder(self._embedded(job_id).id)).dimension

    def pushes(self, job_id: str) -> tuple[Push, ...]:
        """The last push of a job into each index, the newest first; blocking."""
        return saved_pushes(self._folder(job_id))

    async def check(
        self,
        job_id: str,
        connection_id: str,
        index_name: str,
        options: PushOptions,
        *,
        index: VectorizeIndex | None = None,
        show: Show = lambda progress: None,
    ) -> push_values.PushCheck:
        """What a push would send, and what stands against it; nothing leaves. `index` is the one of that name, if it
        is known.
        """
        job = self._embedded(job_id, options)
        async with self._recorded(connection_id, index_name) as record:
            plan = await plan_push(self._folder(job_id), job, options, record, index=index, show=show)
        if job.connection == PRACTICE.id:
            return replace(plan.check, notes=(*plan.check.notes, _PRACTICE_VECTORS))
        return plan.check

    async def push(
        self, job_id: str, connection_id: str, index: str, options: PushOptions, *, show: Show = lambda progress: None
    ) -> Push:
        """Send what the index does not have, wait and compare. Cancelling pauses it."""
        job, calls = self._embedded(job_id, options), self.calls(connection_id)
        async with self._recorded(connection_id, index) as record:
            mark, now = calls.connection.account_mark, self._settings.clock()
            push = Push(index, connection_id, mark, options, PushOutcome.SENDING, vectors=0, started_at=now)
            return await _Pushing(calls, self._folder(job_id), job, record, push, self._settings, show).run()

    async def verify(self, job_id: str, connection_id: str, index: str, *, show: Show = lambda progress: None) -> Push:
        """Wait and compare once more. Raises UsageError unless it was sent all that the job holds now."""
        job, calls = self._embedded(job_id), self.calls(connection_id)
        push = await asyncio.to_thread(saved_push, self._folder(job_id), calls.connection.account_mark, index)
        if push is None or not push.is_whole:
            raise UsageError(message("vectors_job_were_not_all_sent", index=index))
        async with self._recorded(connection_id, index) as record:
            options = msgspec.structs.replace(push.options, everything=False)
            plan = await plan_push(self._folder(job_id), job, options, record, show=show)
            if plan.to_send:
                raise UsageError(message("n_vectors_job_are_not_index", n=plan.to_send, index=index))
            push = msgspec.structs.replace(push, last_mutation=await asyncio.to_thread(lambda: record.last_mutation))
            verifying = _Pushing(calls, self._folder(job_id), job, record, push, self._settings, show)
            return await verifying.verify(plan.rows)

    def search_price(self, job_id: str, *sentences: str) -> Price:
        """The most that a search for new sentences costs, with the model of the job."""
        model = self._paid_model(self._embedded(job_id))
        return price(sum(map(tokens_upper, sentences)), model) if model is not None else Price(0.0, 0.0, 0.0)

    async def search(self, job_id: str, connection_id: str, index: str, sentence: str) -> push_values.SearchResult:
        """Search an index for a sentence, and the job by exact comparison. The sentence is sent once and paid for."""
        job, calls = self._embedded(job_id), self.calls(connection_id)
        push = await asyncio.to_thread(saved_push, self._folder(job_id), calls.connection.account_mark, index)
        options = push.options if push is not None else PushOptions()  # by which ids are known again
        again = Repeating(sleep=self._settings.sleep)
        embeddings = await asyncio.to_thread(Embeddings, self._folder(job_id), job.failed_batches)
        found = await again(lambda: calls.get(index))
        dimension = await asyncio.to_thread(lambda: embeddings.dimension)
        if found.config.dimensions not in (0, dimension):
            about = {"index": index, "wanted": found.config.dimensions, "dimension": dimension}
            raise UsageError(message("index_holds_vectors_wanted_numbers_those", **about))
        vector = await embed_sentence(self._client(job.connection), job, embeddings, sentence)
        matches = await again(lambda: calls.query(index, vector.tolist(), TOP_K))
        rows = await asyncio.to_thread(PushRows, self._folder(job_id), job, options)
        nearest = await asyncio.to_thread(nearest_to, embeddings, vector, TOP_K)
        return await asyncio.to_thread(_compare, embeddings, rows, matches, nearest)

    def _embedded(self, job_id: str, options: PushOptions | None = None) -> Job:
        job = self._job(job_id)
        if job.kind is not Kind.EMBED:
            raise UsageError(message("job_is_ranking_no_vectors_vectorize"))
        if options is not None and (options.metadata or options.namespace or options.id_column):
            check_has_texts(self._folder(job_id))
        return job

    @asynccontextmanager
    async def _recorded(self, connection_id: str, index: str) -> AsyncIterator[IndexRecord]:
        """The record of an index, for one use at a time. Raises UsageError while it is in use."""
        check_index_name(index)
        mark = self.calls(connection_id).connection.account_mark
        key = (mark, index)
        if key in self._running:
            raise UsageError(message("push_into_index_is_under_way", index=index))
        self._running.add(key)
        try:
            record = await asyncio.to_thread(IndexRecord, self._paths.vectorize_record(mark, index), index)
            try:
                yield record
            finally:
                await asyncio.to_thread(record.close)
        finally:
            self._running.discard(key)


def _compare(
    embeddings: Embeddings, rows: PushRows, matches: tuple[Match, ...], nearest: Sequence[Neighbour]
) -> push_values.SearchResult:
    items = rows.ids_and_items({each.id for each in matches}, {each.text.item_no for each in nearest})
    id_of = {item: identifier for identifier, item in items.items()}
    found = [items[each.id] for each in matches if each.id in items]
    texts = {text.item_no: text.text for text in embeddings.texts(found)}
    hits = tuple(push_values.Hit(each.id, each.score, texts.get(items.get(each.id, 0))) for each in matches)
    exact = tuple(push_values.Hit(id_of[each.text.item_no], each.similarity, each.text.text) for each in nearest)
    return push_values.SearchResult(hits, exact)
