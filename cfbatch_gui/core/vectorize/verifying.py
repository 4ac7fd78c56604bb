"""Whether an index holds what it was sent: it is waited for, then counted, and a sample is read back value by value."""

import asyncio

import msgspec
import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.vectorize.client import VectorizeIndexes
from cfbatch_gui.core.vectorize.limits import SAMPLE
from cfbatch_gui.core.vectorize.push_settings import PushSettings, Show
from cfbatch_gui.core.vectorize.push_values import Push, PushOutcome, PushProgress, PushStage
from cfbatch_gui.core.vectorize.record import IndexRecord
from cfbatch_gui.core.vectorize.rows import PushRows
from cfbatch_gui.core.vectorize.wire import IndexInfo, StoredVector
from cfbatch_gui.core.workers_ai.limits import MAX_READ_IDS
from cfbatch_gui.core.workers_ai.repeating import Repeating

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
        """Wait until the last mutation was processed, and compare; the push with its new outcome, not kept yet.

        `processed_before` is the mutation that the index had processed before the push: one that is neither that nor
        this program's is a later one of somebody else's, behind which ours may be. Then only a comparison without a
        difference says something. Counts and vectors may lag behind the processing, so that a difference has to be seen
        several times.
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
        """How many of a sample are missing, and how many have other values."""
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
    """Whether a vector that was read back has the same float32 values."""
    if len(stored.values) != len(vector):
        return False
    with np.errstate(over="ignore"):  # a value beyond a float32 is another one
        return bool(np.array_equal(np.array(stored.values, np.float64).astype(np.float32), vector))
