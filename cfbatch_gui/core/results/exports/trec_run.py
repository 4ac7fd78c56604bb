"""A ranking as a TREC run: `query Q0 document rank score tag`, for trec_eval and programs that read its files.

Readers sort by score, and equal scores by descending id; trec_eval reads scores as float32. So the scores of a query
are written strictly decreasing, also as float32: in a tie, each further score is replaced by the next lower float32,
and readers keep the order of the ranks.
"""

import numpy as np

from cfbatch_gui.core.errors import ExportError
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.results.exports.base import Work, Written, slug
from cfbatch_gui.core.results.exports.checked_stream import CheckedStream
from cfbatch_gui.core.results.exports.score_rows import by_query, document_id, keeps, query_id
from cfbatch_gui.core.results.rankings.rankings import RankedContext, Rankings
from cfbatch_gui.core.results.retrieval_ids import RetrievalIds
from cfbatch_gui.core.system.files import atomic_writer

_LOWEST = np.float32(-np.inf)


def write(work: Work) -> Written:
    """Write and read back. A document that occurs twice in a query is written once, with its better rank.

    Raises ExportError if top k and threshold leave no line.
    """
    ids = RetrievalIds(work.folder)
    tag = f"cfbatch-{slug(work.metadata.model.rsplit('/')[-1], 'run')}"
    rows = done = dropped = repeated = lowered = 0
    with atomic_writer(work.path) as raw:
        stream = CheckedStream(raw, work.path)
        for contexts in by_query(Rankings(work.folder, work.metadata.failed_batches)):
            scored = [context for context in contexts if context.score is not None]
            kept = [context for context in scored if keeps(context, work.options)]
            ranked: dict[str, RankedContext] = {}
            for context in kept:
                ranked.setdefault(document_id(ids, context), context)
            lines, changed = _lines(query_id(ids, contexts[0]), ranked, tag) if ranked else ("", 0)
            stream.write(lines.encode())
            rows, lowered = rows + len(ranked), lowered + changed
            dropped, repeated = dropped + len(scored) - len(kept), repeated + len(kept) - len(ranked)
            done += len(contexts)
            work.tick(done)
        if not rows:
            raise ExportError(
                message("Top k and the threshold leave nothing to write. Nothing was written; let more through.")
            )
        stream.compare(work, done)
        work.tick_end()
    notes = {
        **ids.notes,
        "tag": tag,
        "scores_lowered_so_that_they_fall_strictly": lowered,
        "repeated_documents_left_out": repeated,
        "dropped_by_top_k_or_threshold": dropped,
    }
    return Written(rows, (work.path,), notes)


def _lines(query: str, ranked: dict[str, RankedContext], tag: str) -> tuple[str, int]:
    lines: list[str] = []
    lowered = 0
    last = np.float32(np.inf)
    for rank, (document, context) in enumerate(ranked.items(), 1):
        score = context.score if context.score is not None else 0.0
        single = np.float32(score)
        if not single < last:
            single = np.nextafter(last, _LOWEST)
            score = float(single)
            lowered += 1
        last = single
        lines.append(f"{query} Q0 {document} {rank} {score!r} {tag}\n")
    return "".join(lines), lowered
