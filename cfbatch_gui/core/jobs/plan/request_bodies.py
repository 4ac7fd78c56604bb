"""Elements of a body put together from the file of texts: bytes are copied, and nothing is encoded."""

import sqlite3
from collections.abc import Sequence
from itertools import groupby
from operator import itemgetter

from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.job_folder.packed_texts import PackedTexts, TextsOfTable
from cfbatch_gui.core.jobs.states import Job, JobOptions
from cfbatch_gui.core.workers_ai.requests import Frame, embedding_frame, ranking_frame

Pieces = list[bytes | memoryview]

_REQUESTS = "SELECT request_no, reference, NULL FROM requests r WHERE batch = ? ORDER BY position"
_RANKINGS = """
SELECT request_no, reference, (
    SELECT q.text FROM items i JOIN queries q USING(query_no) WHERE i.request_no = r.request_no LIMIT 1)
FROM requests r WHERE batch = ? ORDER BY position
"""
_RUNS = """
SELECT request_no, first_text, texts FROM requests r JOIN runs USING(request_no) WHERE batch = ?
ORDER BY r.position, runs.position
"""


def frame_of(query: str | None, reference: str, options: JobOptions) -> Frame:
    """What stands around the texts of one element."""
    truncate = True if options.truncate_inputs else None
    if query is not None:
        return ranking_frame(query, reference, truncate)
    return embedding_frame(reference, truncate, options.pooling)


def element_of(query: str | None, texts: Sequence[bytes], reference: str, options: JobOptions) -> bytes:
    """One element of `requests[]`, from texts that are JSON."""
    frame = frame_of(query, reference, options)
    return b"".join((frame.before, frame.between.join(texts), frame.after))


def copied_elements(
    texts: PackedTexts | TextsOfTable, database: sqlite3.Connection, job: Job, batch: int
) -> list[Pieces] | None:
    """The elements of a batch, in pieces to be joined; None when it is not known which text follows which."""
    requests = database.execute(_RANKINGS if job.kind is Kind.RANK else _REQUESTS, (batch,)).fetchall()
    runs = database.execute(_RUNS, (batch,)).fetchall()
    runs_of = {number: [run[1:] for run in group] for number, group in groupby(runs, key=itemgetter(0))}
    if not runs or len(runs_of) != len(requests):
        return None
    first = min(run[1] for run in runs)
    stop = max(run[1] + run[2] for run in runs)
    texts.prepare(first, stop, is_all=stop - first == sum(run[2] for run in runs))
    elements: list[Pieces] = []
    for number, reference, query in requests:
        frame = frame_of(query, reference, job.options)
        pieces = _pieces(texts, runs_of[number], frame, one_by_one=query is not None)
        if pieces is None:
            return None
        elements.append(pieces)
    return elements


def _pieces(
    texts: PackedTexts | TextsOfTable, runs: Sequence[tuple[int, int]], frame: Frame, *, one_by_one: bool
) -> Pieces | None:
    pieces: Pieces = [frame.before]
    for first, count in runs:
        joined = texts.joined(first, count)
        if joined is None:
            return None
        if len(pieces) > 1:
            pieces.append(frame.between)
        if one_by_one:
            for index, text in enumerate(texts.cut(joined, first, count)):
                if index:
                    pieces.append(frame.between)
                pieces.append(text)
        else:
            pieces.append(joined)
    pieces.append(frame.after)
    return pieces
