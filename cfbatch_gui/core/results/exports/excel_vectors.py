"""Vectors as an Excel workbook with the sheets Embeddings and About, within Excel's limits.

A number is the shortest decimal that reads back as the same float32; Excel keeps it as a double.
"""

from cfbatch_gui.core.errors import ExportError
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.results.exports import excel
from cfbatch_gui.core.results.exports.base import Work, Written
from cfbatch_gui.core.results.exports.export_manifest import about
from cfbatch_gui.core.results.exports.vector_rows import VectorRows
from cfbatch_gui.core.results.exports.vector_text import shortest
from cfbatch_gui.core.results.vectors.embeddings import Embeddings
from cfbatch_gui.core.system.files import atomic_writer

_EMBEDDINGS = message("Embeddings")


def write(work: Work) -> Written:
    """Write and read back. Raises ExportError if there are more rows or columns than Excel accepts."""
    numbers = [f"dim_{index}" for index in range(Embeddings(work.folder).dimension)]
    table = VectorRows(work, reserved=("id", *numbers))
    columns = ["id", *table.columns, *numbers]
    _check_size(table.count, len(columns))
    done = 0
    with atomic_writer(work.path) as stream:
        with excel.workbook(stream) as book:
            vectors_sheet = excel.Sheet(book, work.say(_EMBEDDINGS), columns)
            headers = [*map(work.say, excel.ABOUT)]
            about_sheet = excel.Sheet(book, work.say(excel.ABOUT_SHEET), headers, excel.ABOUT_WIDTHS)
            for texts, vectors in table.blocks():
                for text, decimals in zip(texts, shortest(vectors).tolist(), strict=True):
                    vectors_sheet.add([table.id_of(text), *table.cells(text), *decimals])
                done += len(texts)
                work.tick(done)
            excel.fill(about_sheet, about(work.metadata, work.folder))
            vectors_sheet.finish()
        excel.read_back(work, stream, (vectors_sheet, about_sheet))
        work.tick_end()
    sheets = {sheet.name: sheet.rows for sheet in (vectors_sheet, about_sheet)}
    return Written(done, (work.path,), {**table.notes, "sheets": sheets})


def _check_size(rows: int, columns: int) -> None:
    if rows + 1 > excel.MOST_ROWS or columns > excel.MOST_COLUMNS:
        raise ExportError(
            message(
                "Excel takes {most_rows:,} rows of {most_columns:,} columns below a header, and these are {rows:,} "
                "of {columns:,}. Nothing was written. Choose CSV or Parquet.",
                most_rows=excel.MOST_ROWS - 1,
                most_columns=excel.MOST_COLUMNS,
                rows=rows,
                columns=columns,
            )
        )
