"""The vectors of jobs in the indexes of Vectorize: what a face asks for, by the ids of jobs and connections."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.connections.address_book import AddressBook
from cfbatch_gui.core.errors import UsageError
from cfbatch_gui.core.export_metadata import metadata_of
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.job_folder.folder import JobFolder, check_has_texts
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.jobs.store.ledger import Ledger
from cfbatch_gui.core.messages import counted_message, message
from cfbatch_gui.core.results.embeddings import Embeddings
from cfbatch_gui.core.results.nearest import embed_sentence, nearest_to
from cfbatch_gui.core.results.outcomes import JobMetadata
from cfbatch_gui.core.system.paths import Paths
from cfbatch_gui.core.vectorize.client import VectorizeIndexes, check_index_name
from cfbatch_gui.core.vectorize.planning import plan_in_thread
from cfbatch_gui.core.vectorize.push_values import (
    Hit,
    IndexState,
    Push,
    PushCheck,
    PushOptions,
    PushOutcome,
    PushSettings,
    SearchResult,
    Show,
)
from cfbatch_gui.core.vectorize.pushing import Pushing, Verifying, save_push, saved_push, saved_pushes
from cfbatch_gui.core.vectorize.record import IndexRecord
from cfbatch_gui.core.vectorize.rows import PushRows, push_columns
from cfbatch_gui.core.vectorize.wire import Match, Metric, VectorizeIndex
from cfbatch_gui.core.workers_ai.catalogue import ModelMetadata, Price, price
from cfbatch_gui.core.workers_ai.client import Repeating, WorkersAI
from cfbatch_gui.core.workers_ai.connection_kinds import PRACTICE
from cfbatch_gui.core.workers_ai.estimate import tokens_upper
from cfbatch_gui.core.workers_ai.limits import MAX_UPLOAD_VECTORS

TOP_K: Final = 10
_TIE: Final = 1e-6  # of cosine similarities: below it, rounding decides which text is nearer


_PRACTICE_VECTORS = message(
    "These vectors are practice results: they come from this computer, and cannot be searched with a model of "
    "Cloudflare's."
)


@dataclass(frozen=True, slots=True)
class PushedJob:
    """What has to be known of a job. `is_paid` is False for the practice service."""

    folder: JobFolder
    metadata: JobMetadata
    connection_id: str
    model: ModelMetadata
    is_paid: bool


class Vectorize:
    """Pushes, searches and states of indexes; `record_path` is by the account's mark and the index.

    Raises UserError.
    """

    def __init__(
        self,
        client: Callable[[str], WorkersAI],
        job: Callable[[str], PushedJob],
        record_path: Callable[[str, str], Path],
        settings: PushSettings,
    ) -> None:
        self._client, self._job, self._record_path, self._settings = client, job, record_path, settings
        self._running: set[tuple[str, str]] = set()

    async def indexes(self, connection_id: str) -> tuple[VectorizeIndex, ...]:
        return await self._calls(connection_id).list_indexes()

    async def state(self, connection_id: str, index: str) -> IndexState:
        calls = self._calls(connection_id)
        return IndexState(await calls.get(index), await calls.info(index))

    async def create(
        self, connection_id: str, index: str, dimensions: int, metric: Metric, description: str = ""
    ) -> VectorizeIndex:
        return await self._calls(connection_id).create(index, dimensions, metric, description)

    def columns(self, job_id: str) -> tuple[str, ...]:
        """The columns that can be chosen for ids, namespaces and metadata; blocking."""
        return push_columns(self._embedded(job_id).folder)

    def dimension_of(self, job_id: str) -> int:
        """The length of the job's vectors, for a new index; 0 as long as there is none. Blocking."""
        return Embeddings(self._embedded(job_id).folder).dimension

    def metric_of(self, job_id: str) -> Metric:
        """The metric that the vectors of the job's model are compared by: of all models of the service, the cosine."""
        self._embedded(job_id)
        return Metric.COSINE

    def pushes(self, job_id: str) -> tuple[Push, ...]:
        """The last push of a job into each index, the newest first; blocking."""
        return saved_pushes(self._job(job_id).folder)

    def is_running(self, connection_id: str, index: str) -> bool:
        return (self._client(connection_id).connection.account_mark, index) in self._running

    async def check(
        self,
        job_id: str,
        connection_id: str,
        index_name: str,
        options: PushOptions,
        *,
        index: VectorizeIndex | None = None,
        show: Show = lambda progress: None,
    ) -> PushCheck:
        """What a push would send, and what stands against it; nothing leaves. `index` is the one of that name, if it
        is known.
        """
        job = self._embedded(job_id, options)
        async with self._recorded(connection_id, index_name) as record:
            plan = await plan_in_thread(job.folder, job.metadata, options, record, index=index, show=show)
        if job.connection_id == PRACTICE.id and connection_id != PRACTICE.id:
            return replace(plan.check, notes=(*plan.check.notes, _PRACTICE_VECTORS))
        return plan.check

    async def push(
        self,
        job_id: str,
        connection_id: str,
        index: str,
        options: PushOptions,
        *,
        show: Show = lambda progress: None,
    ) -> Push:
        """Send what the index does not have, wait and compare. Cancelling pauses it."""
        job, calls = self._embedded(job_id, options), self._calls(connection_id)
        async with self._recorded(connection_id, index) as record:
            push = Push(
                index,
                connection_id,
                calls.connection.account_mark,
                options,
                PushOutcome.SENDING,
                vectors=0,
                started_at=self._settings.clock(),
            )
            pushing = Pushing(*(calls, job.folder, job.metadata, record, push), settings=self._settings, show=show)
            return await pushing.run()

    async def verify(self, job_id: str, connection_id: str, index: str, *, show: Show = lambda progress: None) -> Push:
        """Wait and compare once more. Raises UsageError unless it was sent all that the job holds now."""
        job, calls = self._embedded(job_id), self._calls(connection_id)
        push = await asyncio.to_thread(saved_push, job.folder, calls.connection.account_mark, index)
        if push is None or not push.is_whole:
            raise UsageError(
                message("The vectors of this job were not all sent to {index} yet. Push them first.", index=index)
            )
        async with self._recorded(connection_id, index) as record:
            options = msgspec.structs.replace(push.options, everything=False)
            plan = await plan_in_thread(job.folder, job.metadata, options, record, show=show)
            if to_send := int(plan.is_to_send.sum()):
                raise UsageError(
                    counted_message(
                        to_send,
                        "{n:,} vector of this job is not in {index} as it is now. Push the job again first.",
                        "{n:,} vectors of this job are not in {index} as they are now. Push the job again first.",
                        index=index,
                    )
                )
            last_mutation = await asyncio.to_thread(lambda: record.last_mutation)
            push = msgspec.structs.replace(push, last_mutation=last_mutation)
            verifying = Verifying(*(calls, plan.rows, record, push), again=self._repeating(), show=show)
            push = await verifying.run(self._settings)
            await asyncio.to_thread(save_push, job.folder, push)
        return push

    def search_price(self, job_id: str, sentence: str) -> Price:
        """The most that a search costs: one request to the model of the job."""
        job = self._embedded(job_id)
        return price(tokens_upper(sentence), job.model) if job.is_paid else Price(0.0, 0.0, 0.0)

    async def search(self, job_id: str, connection_id: str, index: str, sentence: str) -> SearchResult:
        """Search an index for a sentence, and the job by exact comparison. The sentence is sent once and paid for."""
        job, calls = self._embedded(job_id), self._calls(connection_id)
        push = await asyncio.to_thread(saved_push, job.folder, calls.connection.account_mark, index)
        options = push.options if push is not None else PushOptions()  # by which ids are known again
        again = self._repeating()
        embeddings = await asyncio.to_thread(Embeddings, job.folder, job.metadata.failed_batches)
        found = await again(lambda: calls.get(index))
        dimension = await asyncio.to_thread(lambda: embeddings.dimension)
        if found.dimensions not in (0, dimension):
            raise UsageError(
                message(
                    "{index} holds vectors of {wanted:,} numbers, and those of this job have {dimension:,}.",
                    index=index,
                    wanted=found.dimensions,
                    dimension=dimension,
                )
            )
        vector = await embed_sentence(self._client(job.connection_id), job.metadata, embeddings, sentence)
        matches = await again(lambda: calls.query(index, vector.tolist(), TOP_K))
        rows = await asyncio.to_thread(PushRows, job.folder, job.metadata, options)
        return await asyncio.to_thread(_compare, found, embeddings, rows, matches, vector)

    def _calls(self, connection_id: str) -> VectorizeIndexes:
        return VectorizeIndexes(self._client(connection_id))

    def _repeating(self) -> Repeating:
        return Repeating(patience=self._settings.patience, sleep=self._settings.sleep)

    def _embedded(self, job_id: str, options: PushOptions | None = None) -> PushedJob:
        job = self._job(job_id)
        if job.metadata.kind is not Kind.EMBED:
            raise UsageError(
                message("This job is a ranking and has no vectors. Vectorize takes those of an embedding.")
            )
        if options is not None and (options.metadata or options.namespace or options.id_column):
            check_has_texts(job.folder)
        return job

    @asynccontextmanager
    async def _recorded(self, connection_id: str, index: str) -> AsyncIterator[IndexRecord]:
        """The record of an index, for one use at a time. Raises UsageError while it is in use."""
        check_index_name(index)
        mark = self._calls(connection_id).connection.account_mark
        key = (mark, index)
        if key in self._running:
            raise UsageError(message("A push into {index} is under way. Wait until it is done.", index=index))
        self._running.add(key)
        try:
            record = await asyncio.to_thread(IndexRecord, self._record_path(mark, index), index, mark)
            try:
                yield record
            finally:
                await asyncio.to_thread(record.close)
        finally:
            self._running.discard(key)


def vectorize_of(
    ledger: Ledger,
    address_book: AddressBook,
    paths: Paths,
    metadata_for: Callable[[Job], ModelMetadata],
    *,
    clock: Callable[[], float],
    most_vectors: int = MAX_UPLOAD_VECTORS,
) -> Vectorize:
    """The room of Vectorize for the jobs of a ledger; `clock` returns seconds since 1970."""

    def pushed_job(job_id: str) -> PushedJob:
        job = ledger.job(job_id)
        return PushedJob(
            JobFolder(paths.job(job_id)),
            metadata_of(job, address_book.title(job.connection)),
            job.connection,
            metadata_for(job),
            is_paid=address_book.is_counted_by_cloudflare(job.connection),
        )

    return Vectorize(
        address_book.client, pushed_job, paths.vectorize_record, PushSettings(clock, most_vectors=most_vectors)
    )


def _compare(
    index: VectorizeIndex,
    embeddings: Embeddings,
    rows: PushRows,
    matches: tuple[Match, ...],
    vector: NDArray[np.float32],
) -> SearchResult:
    nearest = nearest_to(embeddings, vector, TOP_K)
    items = {each.text.item_no for each in nearest}
    ids = rows.ids_and_items({each.id for each in matches}, items)
    id_of = {item: identifier for identifier, item in ids.items()}
    found = [ids[each.id] for each in matches if each.id in ids]
    texts = dict(zip(found, embeddings.texts(found), strict=True))
    least = min((each.similarity for each in nearest), default=1.0)
    near = _near(embeddings, found, vector, least)
    hits = tuple(
        Hit(each.id, each.score, item, texts[item].text if item else None, item in near)
        for each, item in ((each, ids.get(each.id, 0)) for each in matches)
    )
    exact = tuple(
        Hit(id_of[each.text.item_no], each.similarity, each.text.item_no, each.text.text, is_exact=True)
        for each in nearest
    )
    if index.metric != Metric.COSINE:
        note = message(
            "The index compares by {metric}, and the exact search by cosine: the two may differ for that reason alone.",
            metric=index.metric,
        )
        return SearchResult(hits, exact, None, note)
    if any(each.text is None for each in hits):
        note = message("The index also holds vectors that are not of this job, so its search cannot be judged by it.")
        return SearchResult(hits, exact, None, note)
    return SearchResult(hits, exact, sum(each.is_exact for each in hits))


def _near(embeddings: Embeddings, items: list[int], vector: NDArray[np.float32], least: float) -> set[int]:
    """Those of the items that are as near as the last of the nearest ones: of equally near texts any will do."""
    if not items:
        return set()
    vectors = embeddings.rows_of(np.array(items)).astype(np.float64)
    lengths = np.linalg.norm(vectors, axis=1) * np.linalg.norm(vector.astype(np.float64))
    with np.errstate(all="ignore"):
        similarities = vectors @ vector.astype(np.float64) / lengths
    return {item for item, similarity in zip(items, similarities.tolist(), strict=True) if similarity >= least - _TIE}
