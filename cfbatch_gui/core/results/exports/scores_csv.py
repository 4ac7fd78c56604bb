"""Rankings as CSV with the columns of `score_rows.score_columns`, or those that were chosen."""

from cfbatch_gui.core.results.exports.base import Work, Written
from cfbatch_gui.core.results.exports.checked_stream import CheckedStream
from cfbatch_gui.core.results.exports.delimited import Dialect
from cfbatch_gui.core.results.exports.score_rows import ScoreRows
from cfbatch_gui.core.system.files import atomic_writer


def write(work: Work) -> Written:
    """Write and read back. A score is the shortest decimal that reads back as the same double."""
    table = ScoreRows(work)
    dialect = Dialect(work.options)
    rows = done = 0
    with atomic_writer(work.path) as raw:
        stream = CheckedStream(raw, work.path)
        stream.write(dialect.start + dialect.encode([table.columns]))
        for block in table.blocks():
            stream.write(dialect.encode(block.rows))
            rows, done = rows + len(block.rows), done + block.items
            work.tick(done)
        stream.compare(work, done)
        work.tick_end()
    return Written(rows, (work.path,), {**dialect.notes(table.columns), "dropped_by_top_k_or_threshold": table.dropped})
