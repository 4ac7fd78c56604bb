"""The records of a screening: the user's own sheet with rank, score and verdict, and the same as RIS."""

import io

from cfbatch_gui.core.inputs.readers.references import write_ris
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.results.exports.base import Cell, Work, Written, export_file
from cfbatch_gui.core.results.exports.own_sheet import OwnRows
from cfbatch_gui.core.results.list_rows import ListRow
from cfbatch_gui.core.results.screening import Verdict, read_records, verdict_of

_ADDED = (
    ("rank", message("rank_2"), "int64"),
    ("score", message("score_2"), "float64"),
    ("decision", message("decision_2"), "utf8"),
)
VERDICTS = {
    Verdict.INCLUDE: message("verdict_include"),
    Verdict.MAYBE: message("verdict_maybe"),
    Verdict.EXCLUDE: message("verdict_exclude"),
}
_DUPLICATE = message("verdict_duplicate")


def screening_rows(work: Work, *, for_people: bool = False) -> OwnRows:
    """For people the verdicts are words; a duplicate has its own, and what is left has none."""
    records = read_records(work.folder, work.job, progress=lambda share: work.steps.wrote(0))
    ranks, duplicates = records.ranks(), set(records.items[records.is_duplicate].tolist())
    words = {each: work.say(said) if for_people else each.value for each, said in VERDICTS.items()}

    def cells(row: ListRow) -> list[Cell]:
        rank, score = ranks.get(row.item_no, (None, None))
        verdict = verdict_of(work.decided(row.text)) if row.item_no else None
        if row.item_no in duplicates:
            return [rank, score, work.say(_DUPLICATE) if for_people else "duplicate"]
        return [rank, score, words[verdict] if verdict is not None else ""]

    table = OwnRows(work, _ADDED, cells, for_people=for_people)
    flow = records.flow(verdict_of(work.decided(text)) for text in records.texts())
    counts = {name: getattr(flow, name) for name in ("identified", "duplicates", "screened", "left")}
    verdicts = {"included": flow.included, "maybe": flow.maybe, "excluded": flow.excluded}
    table.notes = {"screening": {"question": work.job.options.screening, **counts, **verdicts}}
    return table


def write_records(work: Work) -> Written:
    """A RIS record for each row of the file, in its order."""
    table, rows = screening_rows(work), 0
    with export_file(work) as stream:
        for block in table.blocks():
            text = io.StringIO(newline="")
            cells = (["" if cell is None else str(cell) for cell in row] for row in block)
            write_ris((dict(zip(table.columns, row, strict=True)) for row in cells), text)
            stream.write(text.getvalue().encode())
            rows += len(block)
    return Written(rows, (work.path,), table.notes)
