"""One reader per format of files."""

from collections.abc import Callable, Generator

from cfbatch_gui.core.inputs.input_values import FileFormat, Row, Source
from cfbatch_gui.core.inputs.readers.ascii_table import read_drawn
from cfbatch_gui.core.inputs.readers.delimited import read_delimited
from cfbatch_gui.core.inputs.readers.docx import read_docx
from cfbatch_gui.core.inputs.readers.folder import read_folder
from cfbatch_gui.core.inputs.readers.json_document import read_json_document
from cfbatch_gui.core.inputs.readers.json_lines import read_json_lines
from cfbatch_gui.core.inputs.readers.parquet import read_parquet
from cfbatch_gui.core.inputs.readers.plain_text import read_lines, read_paragraphs, read_whole
from cfbatch_gui.core.inputs.readers.xlsx import read_xlsx

Reader = Callable[[Source, Callable[[int], None] | None], Generator[Row, None, None]]
READERS: dict[FileFormat, Reader] = {
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
}
