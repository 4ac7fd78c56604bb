"""The failed rows of the user's file as they were, with number and reason, to be mended and sent again."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter

import msgspec

from cfbatch_gui.core.errors import ExportError
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.job_folder import schema
from cfbatch_gui.core.job_folder.schema import cells_sql
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.results.exports.base import Cell, Work, Written, checked_export
from cfbatch_gui.core.results.exports.csv_tables import Dialect

# In a ranking whose texts are from a second file, the query's row is the failed one, not that of the shared text.
_FAILED = """
SELECT 1 AS file, {row} AS row, {item} AS item_no,
    CASE WHEN r.state = 'failed' THEN r.error ELSE coalesce(b.value, '') END AS reason
FROM items i JOIN requests r USING(request_no) JOIN texts t USING(text_no) {queries}
LEFT JOIN json_each(:batches) b ON b.key = CAST(r.batch AS TEXT)
WHERE (r.state = 'failed' OR (r.state <> 'done' AND b.key IS NOT NULL)) AND {chosen}
"""
_CHOSEN = "{item} IN (SELECT value FROM json_each(:items))"
_ROWS = """
SELECT p.file, p.row, p.reason, {cells}, w.raw
FROM (SELECT file, row, item_no, reason FROM problems WHERE {left_out} AND {chosen} UNION {failed}) p
LEFT JOIN source_rows f ON f.file = p.file AND f.row = p.row
LEFT JOIN raw_rows w ON w.file = p.file AND w.row = p.row
LEFT JOIN items i ON i.item_no = p.item_no LEFT JOIN texts t USING(text_no)
WHERE p.file = :file ORDER BY p.row, p.reason
"""
_COLUMNS, _IN_THE_FILE = (message("row_number"), message("reason")), message("in_the_file")
_NAMES_STORED_AS = {1: "columns", 2: "second_columns"}
_CELLS = msgspec.json.Decoder(list[str])
_NAMES = msgspec.json.Decoder(tuple[str, ...])


@dataclass(frozen=True, slots=True)
class _FailedRow:
    number: int
    reasons: tuple[str, ...]
    cells: list[str]
    raw: str


def write(work: Work) -> Written:
    """Write and read back; rows of a second file are written to `<stem>-second-file<suffix>` in the same folder.

    Raises ExportError if no row failed.
    """
    paths = {1: work.path, 2: work.path.with_name(f"{work.path.stem}-second-file{work.path.suffix}")}
    counts, with_raw = dict.fromkeys(paths, 0), set()
    for file in paths:
        for row in _rows(work, file):
            counts[file] += 1
            if row.raw:
                with_raw.add(file)
    total = sum(counts.values())
    if not total:
        raise ExportError(message("No row failed, so there is nothing to mend and nothing was written."))
    written = [file for file, count in counts.items() if count]
    # If only one of the two files has failed rows, they are written to the requested path.
    names = paths if len(written) == 2 else {written[0]: work.path}
    notes: dict[str, object] = {}
    for file, path in names.items():
        dialect = Dialect(work.options)
        own, added = _columns(work, file, has_raw=file in with_raw)
        columns = (*own, *added)
        with checked_export(work, path) as stream:
            stream.write(dialect.start + dialect.encode([columns]))
            for row in _rows(work, file):
                cells = (row.cells + [""] * len(own))[: len(own)]
                about: Sequence[Cell] = (row.number, " ".join(map(work.say, row.reasons)), row.raw)
                stream.write(dialect.encode([[*cells, *about[: len(added)]]]))
                stream.tick(1)
        notes[path.name] = {"source": f"file {file}", "rows": counts[file], **dialect.notes(columns)}
    return Written(total, tuple(names.values()), notes)


def _columns(work: Work, file: int, *, has_raw: bool) -> tuple[Sequence[str], Sequence[str]]:
    """The file's columns and those behind them, which get "_" added until they differ."""
    with work.folder.open(read_only=True) as database:
        names = _NAMES.decode(msgspec.json.encode(schema.metadata_value(database, _NAMES_STORED_AS[file], ())))
    ours = []
    for name in map(work.say, (*_COLUMNS, *((_IN_THE_FILE,) if has_raw else ()))):
        while name in names:
            name += "_"  # noqa: PLW2901  # until it is unused
        ours.append(name)
    return names, ours


def _rows(work: Work, file: int) -> Iterator[_FailedRow]:
    is_ranking = work.metadata.kind is Kind.RANK
    items = work.options.items
    failed = _FAILED.format(
        chosen="TRUE" if items is None else _CHOSEN.format(item="i.item_no"),
        row="CASE t.file WHEN 1 THEN t.row ELSE q.row END" if is_ranking else "t.row",
        queries="JOIN queries q USING(query_no)" if is_ranking else "",
        # A ranking stores the cells of every row; an embedding job may store only the text, which its item gives.
        item="NULL" if is_ranking else "i.item_no",
    )
    batches = msgspec.json.encode({str(number): str(reason) for number, reason in work.metadata.failed_batches.items()})
    values = {"batches": batches.decode(), "file": file}
    if items is not None:
        values["items"] = str(sorted(items))
    statement = _ROWS.format(
        failed=failed,
        cells=cells_sql(),
        left_out=schema.LEFT_OUT,
        chosen="TRUE" if items is None else _CHOSEN.format(item="item_no"),
    )
    with work.folder.open(read_only=True) as database:
        found = database.execute(statement, values)
        for number, same in groupby(found, itemgetter(1)):
            reasons, cells, raw = [], "", ""
            for _, _, reason, cells, raw in same:  # noqa: B007
                reasons.append(reason or message("The service gave no result."))
            yield _FailedRow(number, tuple(dict.fromkeys(reasons)), _CELLS.decode(cells) if cells else [], raw or "")
