"""One reader per kind of file, and `read_rows`, which picks the right one."""

from collections.abc import Callable, Generator

from cfbatch_gui.core.inputs.input_values import FileFormat, Row, Source
from cfbatch_gui.core.inputs.readers.ascii_table import read_drawn
from cfbatch_gui.core.inputs.readers.blocks import Block, in_blocks
from cfbatch_gui.core.inputs.readers.collection import read_collection
from cfbatch_gui.core.inputs.readers.delimited import read_delimited, read_delimited_blocks
from cfbatch_gui.core.inputs.readers.docx import read_docx
from cfbatch_gui.core.inputs.readers.folder import read_folder
from cfbatch_gui.core.inputs.readers.json_document import read_json_document
from cfbatch_gui.core.inputs.readers.json_lines import read_json_lines
from cfbatch_gui.core.inputs.readers.parquet import read_parquet
from cfbatch_gui.core.inputs.readers.plain_text import read_lines, read_paragraphs, read_whole
from cfbatch_gui.core.inputs.readers.xlsx import read_xlsx

__all__ = ["Block", "read_blocks", "read_rows"]

Reader = Callable[[Source, Callable[[int], None] | None], Generator[Row, None, None]]
_READERS: dict[FileFormat, Reader] = {
    FileFormat.LINES: read_lines,
    FileFormat.PARAGRAPHS: read_paragraphs,
    FileFormat.WHOLE: read_whole,
    FileFormat.FOLDER: read_folder,
    FileFormat.DELIMITED: read_delimited,
    FileFormat.DRAWN: read_drawn,
    FileFormat.JSON_LINES: read_json_lines,
    FileFormat.JSON: read_json_document,
    FileFormat.XLSX: read_xlsx,
    FileFormat.SHEET: read_xlsx,
    FileFormat.PARQUET: read_parquet,
    FileFormat.DOCX: read_docx,
    FileFormat.COLLECTION: read_collection,
}


def read_rows(source: Source, *, progress: Callable[[int], None] | None = None) -> Generator[Row, None, None]:
    """Yield the rows of a file exactly as `source` says, in file order, without the header.

    Text files are read in pieces and never held whole; a workbook is held by its library while it is read.
    `progress` gets the bytes read so far; for workbooks, Parquet, documents and collections the rows. A row that
    cannot be used comes with `problem` set and as many cells as there are columns. Blank lines count as rows with
    empty cells, except at the end of the file, where they are left out. Close the generator to stop: it closes the
    file.

    Raises InputError when the file has gone or cannot be read any more.
    """
    return _READERS[source.format](source, progress)


def read_blocks(source: Source, *, progress: Callable[[int], None] | None = None) -> Generator[Block | Row, None, None]:
    """Yield what `read_rows` yields, rows without a problem in blocks."""
    if source.format is FileFormat.DELIMITED:
        return in_blocks(read_delimited_blocks(source, progress))
    return in_blocks(read_rows(source, progress=progress))
