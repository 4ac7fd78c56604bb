"""Vectors as an Excel workbook with the sheets Embeddings and About, within Excel's limits.

The user's own columns are under their own headers, without those that are empty throughout. A number of a vector is the
shortest decimal that reads back as the same float32; Excel keeps it as a double.
"""

from collections.abc import Iterator

from cfbatch_gui.core.errors import ExportError
from cfbatch_gui.core.inputs.input_values import Role
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.results.exports import excel, workbooks
from cfbatch_gui.core.results.exports.base import Cell, Work, Written
from cfbatch_gui.core.results.exports.export_manifest import about
from cfbatch_gui.core.results.exports.people_columns import as_number, looked_at
from cfbatch_gui.core.results.exports.score_rows import Block
from cfbatch_gui.core.results.exports.vector_rows import VectorRows
from cfbatch_gui.core.results.exports.vector_text import shortest
from cfbatch_gui.core.results.original_columns import column_mapping
from cfbatch_gui.core.results.vectors.embeddings import EmbeddedText, Embeddings
from cfbatch_gui.core.system.files import atomic_writer

_EMBEDDINGS, _ROW = message("Embeddings"), message("Row")
_NUMBER_WIDTH = 11  # characters


def write(work: Work) -> Written:
    """Write and read back. Raises ExportError if there are more rows or columns than Excel accepts."""
    numbers = [f"dim_{index}" for index in range(Embeddings(work.folder).dimension)]
    first = _header_of_ids(work, numbers)
    table = VectorRows(work, reserved=(first, *numbers))
    own = [first, *table.columns]
    _check_size(table.count, len(own) + len(numbers))
    found = looked_at(_blocks(table), range(len(own)), stop_early=work.options.columns is None)
    kept = [index for index in range(len(own)) if index in found.filled or index == 0 or work.options.columns]
    decimals = [found.decimals.get(index) for index in kept]
    columns = [own[index] for index in kept]
    widths = [*(found.width(index, own[index]) for index in kept), *(_NUMBER_WIDTH for _ in numbers)]
    done = 0
    with atomic_writer(work.path) as stream:
        with workbooks.workbook(stream) as book:
            of_numbers = {at: count for at, count in enumerate(decimals) if count is not None}
            vectors_sheet = workbooks.Sheet(book, work.say(_EMBEDDINGS), [*columns, *numbers], widths, of_numbers)
            about_sheet = workbooks.Sheet(book, work.say(excel.ABOUT), (work.say(excel.ABOUT), ""), excel.ABOUT_WIDTHS)
            for texts, vectors in table.blocks():
                for text, shown in zip(texts, shortest(vectors).tolist(), strict=True):
                    cells = _cells(table, text)
                    named = [as_number(cells[index], count) for index, count in zip(kept, decimals, strict=True)]
                    vectors_sheet.add([*named, *shown])
                done += len(texts)
                work.tick(done)
            workbooks.fill(about_sheet, about(work.metadata, work.folder, work.say))
            vectors_sheet.finish()
        workbooks.read_back(work, stream, (vectors_sheet, about_sheet))
        work.tick_end()
    sheets = {sheet.name: sheet.rows for sheet in (vectors_sheet, about_sheet)}
    return Written(done, (work.path,), {**table.notes, "sheets": sheets})


def _header_of_ids(work: Work, numbers: list[str]) -> str:
    """The header of the column of ids in the user's file; "Row" where it has none, "id" where it has several."""
    with work.folder.open(read_only=True) as database:
        roles = column_mapping(database).get("file 1", {})
    found = [header for header, role in roles.items() if role == Role.ID]
    if not found:
        return work.say(_ROW)
    return found[0] if len(found) == 1 and found[0] and found[0] not in numbers else "id"


def _cells(table: VectorRows, text: EmbeddedText) -> tuple[Cell, ...]:
    return table.id_of(text), *table.cells(text)


def _blocks(table: VectorRows) -> Iterator[Block]:
    for texts in table.texts():
        yield Block(len(texts), [_cells(table, text) for text in texts], [True] * len(texts))


def _check_size(rows: int, columns: int) -> None:
    most_rows, most_columns = workbooks.MOST_ROWS - 1, workbooks.MOST_COLUMNS
    if rows > most_rows or columns > most_columns:
        raise ExportError(
            message(
                "Excel takes {most_rows:,} rows of {most_columns:,} columns below a header, and these are {rows:,} "
                "of {columns:,}. Nothing was written. Choose CSV or Parquet.",
                most_rows=most_rows,
                most_columns=most_columns,
                rows=rows,
                columns=columns,
            )
        )
