"""Whether an index holds what it was sent: it is waited for, then counted, and a sample is read back value by value."""

import asyncio

import msgspec
import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.vectorize.client import VectorizeIndexes
from cfbatch_gui.core.vectorize.limits import IDS_READ_AT_ONCE, SAMPLE
from cfbatch_gui.core.vectorize.push_settings import PushSettings, Show
from cfbatch_gui.core.vectorize.push_values import Push, PushOutcome, PushProgress, PushStage
from cfbatch_gui.core.vectorize.record import IndexRecord
from cfbatch_gui.core.vectorize.repeating import Repeating
from cfbatch_gui.core.vectorize.rows import PushRows
from cfbatch_gui.core.vectorize.wire import IndexInfo, StoredVector

_FIRST_WAIT, _LONGEST_WAIT = 0.5, 15.0  # seconds between two questions


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
        this program's is a later one of somebody else's, behind which ours may be. Then the comparison decides, and is
        made again until the time for waiting is over. The count of an index lags in the same way.
        """
        expected = await asyncio.to_thread(lambda: self._record.count)
        sample = await asyncio.to_thread(self._sample)
        waited, wait = 0.0, _FIRST_WAIT
        self._show(PushProgress(PushStage.PROCESSING, 0, self._push.vectors))
        while True:
            info = await self._again(lambda: self._indexes.info(self._push.index))
            found = self._with(info, expected, PushOutcome.NOT_YET)
            if await self._may_be_there(info, processed_before):
                missing, different = await self._compare(sample)
                is_whole = not missing and not different and info.vector_count >= expected
                outcome = PushOutcome.VERIFIED if is_whole else PushOutcome.DIFFERENT
                found = self._with(
                    info, expected, outcome, compared=len(sample[0]), missing=missing, different=different
                )
            if found.outcome is PushOutcome.VERIFIED or waited >= settings.wait_seconds:
                break
            self._show(PushProgress(PushStage.PROCESSING, 0, self._push.vectors))
            await settings.sleep(wait)
            waited, wait = waited + wait, min(2 * wait, _LONGEST_WAIT)
        if found.outcome is PushOutcome.DIFFERENT:
            await asyncio.to_thread(self._record.forget_contents)
        return msgspec.structs.replace(found, checked_at=settings.clock())

    def _with(
        self,
        info: IndexInfo,
        expected: int,
        outcome: PushOutcome,
        *,
        compared: int = 0,
        missing: int = 0,
        different: int = 0,
    ) -> Push:
        return msgspec.structs.replace(
            self._push,
            outcome=outcome,
            in_index=info.vector_count,
            expected=expected,
            compared=compared,
            missing=missing,
            different=different,
            failure="",
        )

    async def _may_be_there(self, info: IndexInfo, processed_before: str) -> bool:
        if info.mutation == self._push.last_mutation:
            return True
        if not info.mutation or info.mutation == processed_before:
            return False
        return not await asyncio.to_thread(self._record.knows_mutation, info.mutation)

    def _sample(self) -> tuple[list[str], NDArray[np.float32]]:
        """Ids and vectors, float32 (n, d), of at most SAMPLE rows that are spread evenly over the job."""
        count = self._rows.count
        wanted = set(np.linspace(0, count - 1, min(SAMPLE, count)).astype(int).tolist())
        ids: list[str] = []
        vectors: list[NDArray[np.float32]] = []
        start = 0
        for block, values in self._rows.blocks():
            for index, row in enumerate(block):
                if start + index in wanted:
                    ids.append(row.id)
                    vectors.append(values[index].copy())
            start += len(block)
        return ids, np.array(vectors, np.float32)

    async def _compare(self, sample: tuple[list[str], NDArray[np.float32]]) -> tuple[int, int]:
        """How many of a sample are missing, and how many have other values."""
        ids, vectors = sample
        missing = different = 0
        for start in range(0, len(ids), IDS_READ_AT_ONCE):
            self._show(PushProgress(PushStage.COMPARING, start, len(ids)))
            asked = ids[start : start + IDS_READ_AT_ONCE]
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
