"""Rankings as CSV with the columns of `score_rows.score_columns`, or those that were chosen."""

from collections.abc import Callable, Sequence

from cfbatch_gui.core.messages import message
from cfbatch_gui.core.results.exports.base import Cell, Preset, Work, Written
from cfbatch_gui.core.results.exports.checked_stream import CheckedStream
from cfbatch_gui.core.results.exports.delimited import Dialect
from cfbatch_gui.core.results.exports.score_rows import ScoreRows
from cfbatch_gui.core.system.files import atomic_writer

# The names of our columns where people read them; programs get them as they are in every language.
_WORDS: dict[str, str] = {
    each: each
    for each in (
        *(message("query_id"), message("query"), message("rank"), message("doc_id"), message("text")),
        *(message("score"), message("tie_group"), message("initial_rank"), message("rank_change"), message("label")),
        *(message("external_reference"), message("request_id"), message("status"), message("error"), message("part")),
    )
}


def write(work: Work) -> Written:
    """Write and read back. A score is the shortest decimal that reads back as the same double."""
    table = ScoreRows(work)
    dialect = Dialect(work.options)
    is_for_people = work.options.preset is Preset.EXCEL
    columns = _headers(table.columns, work.say) if is_for_people else table.columns
    reason = table.columns.index("error") if is_for_people and "error" in table.columns else None
    rows = done = 0
    with atomic_writer(work.path) as raw:
        stream = CheckedStream(raw, work.path)
        stream.write(dialect.start + dialect.encode([columns]))
        for block in table.blocks():
            said = block.rows if reason is None else [_said(row, reason, work.say) for row in block.rows]
            stream.write(dialect.encode(said))
            rows, done = rows + len(block.rows), done + block.items
            work.tick(done)
        stream.compare(work, done)
        work.tick_end()
    return Written(rows, (work.path,), {**dialect.notes(columns), "dropped_by_top_k_or_threshold": table.dropped})


def _headers(names: Sequence[str], say: Callable[[str], str]) -> list[str]:
    """Our names in the user's language, unless a column of the user's own is called so."""
    words = [say(_WORDS[name]) if name in _WORDS else name for name in names]
    return [word if word not in names else name for name, word in zip(names, words, strict=True)]


def _said(row: Sequence[Cell], reason: int, say: Callable[[str], str]) -> Sequence[Cell]:
    """The row with the reason why there is no score in the user's language."""
    cell = row[reason]
    return (*row[:reason], say(cell), *row[reason + 1 :]) if isinstance(cell, str) and cell else row
