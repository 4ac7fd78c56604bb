"""The requests of items whose results were taken from earlier jobs: laid out as any other, done, and never sent.

So each of them can be sent like any other that failed, should its results be lost. One has results of one origin only.
"""

import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import pairwise

import numpy as np

from cfbatch_gui.core.job_folder.schema import NOT_SENT
from cfbatch_gui.core.jobs.plan.cutting import Request, cut_by_bytes, cut_by_tokens, most_texts
from cfbatch_gui.core.jobs.plan.layout_writer import LayoutWriter
from cfbatch_gui.core.jobs.plan.sequence import Group, Sequence, SequenceArrays, read_groups
from cfbatch_gui.core.jobs.reuse.taking import Taken
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.workers_ai.catalogue import ModelMetadata


class QueryCounts:
    """Tokens of queries, each as often as it is sent."""

    def __init__(self) -> None:
        self.low = self.high = 0

    def added(self, parts: Iterable[Group]) -> Iterator[Group]:
        """The same, counted on the way."""
        for part in parts:
            self.low += part[2].lower
            self.high += part[2].upper
            yield part

    def with_texts(self, sequence: Sequence, max_tokens: int) -> tuple[int, int]:
        """Tokens of the queries so far and of all texts, by the low and the high estimate."""
        low = self.low + int(np.minimum(sequence.lower, max_tokens).sum())
        return low, self.high + int(np.minimum(sequence.upper, max_tokens).sum())


class ReusedRequests:
    """`sequence` is what was taken of all that could be sent."""

    def __init__(
        self, database: sqlite3.Connection, sequence: Sequence, taken: Taken, job: Job, metadata: ModelMetadata
    ) -> None:
        self._database, self._job, self._metadata = database, job, metadata
        source = taken.source[np.searchsorted(taken.item, sequence.item)]
        order = np.argsort(source, kind="stable")
        self._sequence, self._source = sequence.at(order), source[order]
        self._arrays = SequenceArrays(self._sequence, metadata.max_tokens)
        self._counts = QueryCounts()

    def count_tokens(self) -> tuple[int, int]:
        """What sending these would take, by the low and the high estimate."""
        for _, groups in self._by_source():
            for _ in groups:
                pass
        return self._counts.with_texts(self._sequence, self._metadata.max_tokens)

    def write(self, after: int) -> tuple[int, int]:
        """Write the requests, with numbers after this one; the tokens as `count_tokens`."""
        writer = LayoutWriter(self._database, self._arrays, self._job.id, writes_positions=True)
        position = 0
        for source, groups in self._by_source():
            for request in self._requests(groups):
                number = after + position + 1
                writer.add(replace(request, number=number), NOT_SENT, position)
                self._database.execute("INSERT INTO reused VALUES(?, ?)", (number, source))
                position += 1
        writer.finish()
        self._database.execute("UPDATE requests SET state = 'done' WHERE batch = ?", (NOT_SENT,))
        return self._counts.with_texts(self._sequence, self._metadata.max_tokens)

    def _by_source(self) -> Iterator[tuple[int, Iterator[Group]]]:
        ends = np.flatnonzero(np.diff(self._source)) + 1
        bounds = [0, *ends.tolist(), len(self._source)] if len(self._source) else []
        for start, stop in pairwise(bounds):
            yield int(self._source[start]), self._counts.added(self._groups(start, stop))

    def _groups(self, start: int, stop: int) -> Iterator[Group]:
        one = self._sequence.at(np.arange(start, stop))
        groups = read_groups(self._database, one, self._job.kind, self._metadata.max_tokens)
        shifted = ((start + first, start + last, query) for first, last, query in groups)
        return cut_by_tokens(self._arrays, shifted, most_texts(self._job.kind, self._metadata), self._metadata)

    def _requests(self, groups: Iterable[Group]) -> Iterator[Request]:
        return cut_by_bytes(self._arrays, groups, self._job.id, self._job.options, self._metadata.body_bytes)
