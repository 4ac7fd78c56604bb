"""A push, part by part.

A part is marked in the record before its first byte leaves and acknowledged before it is shown; so it may be killed at
any moment, and a part that arrives twice changes nothing.
"""

import asyncio
import threading
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.errors import UsageError, UserError
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.results.outcomes import JobMetadata
from cfbatch_gui.core.system.files import write_own_file
from cfbatch_gui.core.vectorize.client import SAMPLE, VectorizeIndexes
from cfbatch_gui.core.vectorize.planning import Part, PushPlan, parts, plan_in_thread
from cfbatch_gui.core.vectorize.push_values import (
    Push,
    PushOptions,
    PushOutcome,
    PushProgress,
    PushSettings,
    PushStage,
    Show,
)
from cfbatch_gui.core.vectorize.record import IndexRecord
from cfbatch_gui.core.vectorize.rows import PushRows
from cfbatch_gui.core.vectorize.wire import IndexInfo, StoredVector, VectorizeIndex
from cfbatch_gui.core.workers_ai.client import Repeating
from cfbatch_gui.core.workers_ai.limits import MAX_DELETED_IDS, MAX_INDEX_VECTORS, MAX_READ_IDS

_SAVING = threading.Lock()  # a job may go into two indexes at the same time


class _Saved(msgspec.Struct, frozen=True):
    pushes: tuple[Push, ...] = ()


def saved_pushes(folder: JobFolder) -> tuple[Push, ...]:
    """The pushes of a job, the newest first; none where the file is damaged."""
    try:
        return msgspec.json.decode(_path(folder).read_bytes(), type=_Saved).pushes
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
        write_own_file(_path(folder), msgspec.json.encode(_Saved(pushes=(push, *others)), enc_hook=str))


def _path(folder: JobFolder) -> Path:
    return folder.path / "vectorize.json"


_FIRST_WAIT, _LONGEST_WAIT = 0.5, 30.0  # seconds between two questions
_DIFFERENCES = 4  # comparisons with a difference, after which it is taken for one


class Verifying:
    """Compares an index with the vectors of a job. `push` is one of which everything was accepted."""

    def __init__(
        self,
        indexes: VectorizeIndexes,
        rows: PushRows,
        record: IndexRecord,
        push: Push,
        *,
        again: Repeating,
        show: Show,
    ) -> None:
        self._indexes, self._rows, self._record, self._push = indexes, rows, record, push
        self._again, self._show = again, show

    async def run(self, settings: PushSettings, *, processed_before: str = "") -> Push:
        """Wait for the last mutation and compare; the push with its outcome.

        `processed_before` tells whether somebody else's is behind ours; a difference has to be seen several times.
        """
        expected = await asyncio.to_thread(lambda: self._record.count)
        is_certain = await asyncio.to_thread(self._record.was_processed, self._push.last_mutation)
        sample = await asyncio.to_thread(self._rows.sample, SAMPLE)
        waited, wait, differences = 0.0, _FIRST_WAIT, 0
        while True:
            self._show(PushProgress(PushStage.PROCESSING, 0, self._push.vectors))
            info = await self._again(lambda: self._indexes.info(self._push.index))
            found = self._with(info, expected)
            is_certain = is_certain or info.mutation == self._push.last_mutation
            if is_certain or await self._may_be_processed(info, processed_before):
                found = await self._compared(info, expected, sample, is_certain=is_certain)
                differences += found.outcome is PushOutcome.DIFFERENT
            is_settled = found.outcome is PushOutcome.VERIFIED or differences >= _DIFFERENCES
            if is_settled or waited >= settings.wait_seconds:
                break
            await settings.sleep(wait)
            waited, wait = waited + wait, min(2 * wait, _LONGEST_WAIT)
        if found.outcome is not PushOutcome.NOT_YET:
            await asyncio.to_thread(self._record.note_processed, self._push.last_mutation)
        if found.outcome is PushOutcome.DIFFERENT:
            await asyncio.to_thread(self._record.forget_contents)
        return msgspec.structs.replace(found, checked_at=settings.clock())

    async def _compared(
        self, info: IndexInfo, expected: int, sample: tuple[list[str], NDArray[np.float32]], *, is_certain: bool
    ) -> Push:
        missing, different = await self._compare(sample)
        found = msgspec.structs.replace(
            self._with(info, expected), compared=len(sample[0]), missing=missing, different=different
        )
        if not missing and not different and info.vector_count >= expected:
            return msgspec.structs.replace(found, outcome=PushOutcome.VERIFIED)
        return msgspec.structs.replace(found, outcome=PushOutcome.DIFFERENT) if is_certain else found

    def _with(self, info: IndexInfo, expected: int) -> Push:
        return msgspec.structs.replace(
            self._push,
            outcome=PushOutcome.NOT_YET,
            in_index=info.vector_count,
            expected=expected,
            compared=0,
            missing=0,
            different=0,
            failure="",
        )

    async def _may_be_processed(self, info: IndexInfo, processed_before: str) -> bool:
        if not info.mutation or info.mutation == processed_before:
            return False
        return not await asyncio.to_thread(self._record.knows_mutation, info.mutation)

    async def _compare(self, sample: tuple[list[str], NDArray[np.float32]]) -> tuple[int, int]:
        ids, vectors = sample
        missing = different = 0
        for start in range(0, len(ids), MAX_READ_IDS):
            self._show(PushProgress(PushStage.COMPARING, start, len(ids)))
            asked = ids[start : start + MAX_READ_IDS]
            found = {each.id: each for each in await self._again(lambda: self._read(asked))}  # noqa: B023
            for identifier, vector in zip(asked, vectors[start : start + len(asked)], strict=True):
                if identifier not in found:
                    missing += 1
                elif not is_same(found[identifier], vector):
                    different += 1
        return missing, different

    async def _read(self, ids: list[str]) -> tuple[StoredVector, ...]:
        return await self._indexes.get_by_ids(self._push.index, ids)


def is_same(stored: StoredVector, vector: NDArray[np.float32]) -> bool:
    if len(stored.values) != len(vector):
        return False
    with np.errstate(over="ignore"):  # a value beyond a float32 is another one
        return bool(np.array_equal(np.array(stored.values, np.float64).astype(np.float32), vector))


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
