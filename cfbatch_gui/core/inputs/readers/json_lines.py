"""Read JSON Lines: one object, or one list of cells, on each line."""

from collections.abc import Callable, Generator

from cfbatch_gui.core.inputs.files.open_file import open_bytes
from cfbatch_gui.core.inputs.input_values import Row, Shape, Source
from cfbatch_gui.core.inputs.readers.decoded_text import text_lines, without_line_end
from cfbatch_gui.core.inputs.readers.json_document import row_of_array
from cfbatch_gui.core.inputs.readers.json_shapes import rows_of
from cfbatch_gui.core.inputs.readers.json_values import cell_text, parse_array, parse_object

_NO_ARRAY = "This line is not a JSON array. Each line must be one, such as [“1”, “text”]."


def read_json_lines(source: Source, progress: Callable[[int], None] | None) -> Generator[Row, None, None]:
    """Yield one row a line, its cells in the order of `source.columns`.

    A missing key and null give an empty cell; keys that are not columns are ignored. Numbers stay as written, booleans
    become "true" and "false", lists and objects compact JSON. A line without an object is a problem.
    """
    empty = ("",) * len(source.columns)
    is_plain = source.shape is Shape.PLAIN
    is_header = source.shape is Shape.ARRAYS and source.has_header
    with open_bytes(source.path) as file:
        blank = 0
        for number, line in enumerate(
            text_lines(file, source.path.name, source.encoding, progress, is_sure=source.is_encoding_sure), 1
        ):
            if line.isspace():
                blank += 1
                continue
            if blank:
                yield from (Row(earlier, empty) for earlier in range(number - blank, number))
                blank = 0
            if is_header:
                is_header = False
                continue
            if source.shape is Shape.ARRAYS:
                yield _row_of_line(source, number, line)
                continue
            fields = parse_object(line)
            if isinstance(fields, str):
                yield Row(number, (without_line_end(line)[:200], *empty[1:]), fields)
            elif is_plain:
                yield Row(number, tuple([cell_text(fields.get(column)) for column in source.columns]))
            else:
                rows = rows_of(source, fields)
                if isinstance(rows, str):
                    yield Row(number, empty, rows)
                else:  # several texts of one line have its number
                    yield from (Row(number, cells) for cells in rows)


def _row_of_line(source: Source, number: int, line: str) -> Row:
    cells = parse_array(line)
    if cells is None:
        return Row(number, (without_line_end(line)[:200], *("",) * (len(source.columns) - 1)), _NO_ARRAY)
    return row_of_array(source, number, cells)
