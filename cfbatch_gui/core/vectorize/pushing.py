"""A push: what is to be sent is found, sent part by part, what is gone is deleted, and the index compared.

A part is marked in the record of the index before its first byte leaves, and acknowledged there with its mutation id
before any progress is shown. So a push may be cancelled or killed at any moment: the next one finds what is missing by
itself, and a part that arrives twice changes nothing.
"""

import asyncio

import msgspec

from cfbatch_gui.core.errors import UsageError, UserError
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.results.job_metadata import JobMetadata
from cfbatch_gui.core.vectorize.client import VectorizeIndexes
from cfbatch_gui.core.vectorize.parts import Part, parts
from cfbatch_gui.core.vectorize.planning import PushPlan, plan_in_thread
from cfbatch_gui.core.vectorize.push_settings import PushSettings, Show
from cfbatch_gui.core.vectorize.push_values import Push, PushOptions, PushOutcome, PushProgress, PushStage
from cfbatch_gui.core.vectorize.record import IndexRecord
from cfbatch_gui.core.vectorize.saved_pushes import save_push, saved_push
from cfbatch_gui.core.vectorize.verifying import Verifying
from cfbatch_gui.core.vectorize.wire import VectorizeIndex
from cfbatch_gui.core.workers_ai.limits import MAX_DELETED_IDS, MAX_INDEX_VECTORS
from cfbatch_gui.core.workers_ai.repeating import Repeating

_OTHER_INDEX = message("The index was created anew since the last push, so everything is sent.")
_CHANGED_ELSEWHERE = message(
    "Something else has changed this index since the last push. What was not changed in the job is not sent again; "
    "if vectors were replaced there, send everything."
)


class Pushing:
    """One push of one job into one index. `record` is that of the index; the caller closes it."""

    def __init__(
        self,
        indexes: VectorizeIndexes,
        folder: JobFolder,
        metadata: JobMetadata,
        record: IndexRecord,
        push: Push,
        *,
        settings: PushSettings,
        show: Show,
    ) -> None:
        self._indexes, self._folder, self._metadata, self._record = indexes, folder, metadata, record
        self._push, self._settings, self._show = push, settings, show
        self._progress = PushProgress(PushStage.READING, 0, 0)
        self._again = Repeating(patience=settings.patience, sleep=settings.sleep, waiting=self._say_waiting)

    async def run(self) -> Push:
        """Do the push; as it ended, and as it is kept. Raises UserError; what was acknowledged stays so."""
        try:
            return await self._run()
        except UserError as error:
            await self._save_failure(error)
            raise

    async def _run(self) -> Push:
        name, options = self._push.index, self._push.options
        index = await self._again(lambda: self._indexes.get(name))
        before = await self._again(lambda: self._indexes.info(name))
        is_other = await asyncio.to_thread(self._record.begin, index.created_on or "")
        plan = await self._plan(index, options)
        if before.vector_count + plan.check.new > MAX_INDEX_VECTORS:
            raise UsageError(
                message("An index takes {most:,} vectors, and these would be more.", most=MAX_INDEX_VECTORS)
            )
        notes = [*plan.check.notes]
        if is_other:
            notes.append(_OTHER_INDEX)
        elif before.mutation and plan.check.unchanged and not await self._knows(before.mutation):
            notes.append(_CHANGED_ELSEWHERE)
        to_send = int(plan.is_to_send.sum())
        self._push = msgspec.structs.replace(
            self._push, vectors=plan.check.vectors, acknowledged=plan.check.vectors - to_send, notes=tuple(notes)
        )
        await self._save()
        await self._send(plan)
        if options.delete_removed:
            await self._delete(plan.check.gone)
        self._push = msgspec.structs.replace(
            self._push,
            outcome=PushOutcome.SENT,
            last_mutation=await asyncio.to_thread(lambda: self._record.last_mutation),
            ended_at=self._settings.clock(),
        )
        await self._save()
        verifying = Verifying(self._indexes, plan.rows, self._record, self._push, again=self._again, show=self._tell)
        self._push = await verifying.run(self._settings, processed_before=before.mutation)
        await self._save()
        return self._push

    async def _plan(self, index: VectorizeIndex, options: PushOptions) -> PushPlan:
        """Raises UsageError with the first of the problems."""
        plan = await plan_in_thread(self._folder, self._metadata, options, self._record, index=index, show=self._tell)
        if plan.check.problems:
            raise UsageError(refusal_sentence(plan))
        return plan

    async def _knows(self, mutation: str) -> bool:
        return await asyncio.to_thread(self._record.knows_mutation, mutation)

    async def _send(self, plan: PushPlan) -> None:
        job = await asyncio.to_thread(self._record.job_number, self._metadata.id, self._metadata.name)
        self._tell(PushProgress(PushStage.SENDING, self._push.acknowledged, self._push.vectors))
        pending = parts(plan, most_vectors=self._settings.most_vectors, most_bytes=self._settings.most_bytes)
        while (part := await asyncio.to_thread(next, pending, None)) is not None:
            await self._send_part(part, job)

    async def _send_part(self, part: Part, job: int) -> None:
        await asyncio.to_thread(self._record.mark_sending, part.ids, job)
        mutation = await self._again(lambda: self._indexes.upsert(self._push.index, part.pieces))
        at = self._settings.clock()
        await asyncio.to_thread(self._record.acknowledge, part.ids, part.checksums, job, mutation, at)
        self._push = msgspec.structs.replace(
            self._push,
            acknowledged=self._push.acknowledged + len(part.ids),
            sent=self._push.sent + len(part.ids),
            last_mutation=mutation,
        )
        await self._save()
        self._tell(PushProgress(PushStage.SENDING, self._push.acknowledged, self._push.vectors))

    async def _delete(self, total: int) -> None:
        """Delete what earlier pushes have put into the index and this job does not hold."""
        while ids := await asyncio.to_thread(self._record.gone_ids, MAX_DELETED_IDS):
            self._tell(PushProgress(PushStage.DELETING, self._push.deleted, total))
            mutation = await self._again(lambda: self._indexes.delete_by_ids(self._push.index, ids))
            await asyncio.to_thread(self._record.note_deleted, ids, mutation, self._settings.clock())
            self._push = msgspec.structs.replace(self._push, deleted=self._push.deleted + len(ids))
            await self._save()

    async def _save_failure(self, error: UserError) -> None:
        """Keep why it stopped. Before anything was planned nothing has changed, so the push before stays as it was."""
        before = None
        if not self._push.vectors:
            before = await asyncio.to_thread(saved_push, self._folder, self._push.account_mark, self._push.index)
        if before is None:
            self._push = msgspec.structs.replace(self._push, ended_at=self._settings.clock())
        self._push = msgspec.structs.replace(before or self._push, failure=error.message)
        await self._save()

    async def _save(self) -> None:
        await asyncio.to_thread(save_push, self._folder, self._push)

    def _tell(self, progress: PushProgress) -> None:
        self._progress = progress
        self._show(progress)

    def _say_waiting(self, error: UserError, seconds: float) -> None:
        now = self._progress
        self._show(PushProgress(now.stage, now.done, now.total, error.message, seconds))


def refusal_sentence(plan: PushPlan) -> str:
    """The first problem with its rows, for a push that was started all the same."""
    first = plan.check.problems[0]
    if not first.rows:
        return first.sentence
    return message(
        "{sentence} Nothing was sent. Rows: {rows}",
        sentence=first.sentence,
        rows=", ".join(str(row) for row in first.rows) + ("…" if first.count > len(first.rows) else ""),
    )
