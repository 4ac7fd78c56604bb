"""Read JSON Lines: one object, or one list of cells, on each line."""

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from typing import Any

from cfbatch_gui.core.inputs.files.open_file import open_bytes
from cfbatch_gui.core.inputs.input_values import Block, Row, Shape, Source, single_rows
from cfbatch_gui.core.inputs.readers.decoded_text import lines_of_piece, text_pieces, without_line_end
from cfbatch_gui.core.inputs.readers.json_blocks import objects_of_lines, rows_of_objects
from cfbatch_gui.core.inputs.readers.json_document import row_of_array
from cfbatch_gui.core.inputs.readers.json_shapes import rows_of
from cfbatch_gui.core.inputs.readers.json_values import cell_text, parse_array, parse_object
from cfbatch_gui.core.messages import message

_NO_ARRAY = message("This line is not a JSON array. Each line must be one, such as [“1”, “text”].")


def read_json_lines(source: Source, progress: Callable[[int], None] | None) -> Generator[Row, None, None]:
    """Yield one row a line, its cells in the order of `source.columns`.

    A missing key and null give an empty cell; keys that are not columns are ignored. Numbers stay as written, booleans
    become "true" and "false", lists and objects compact JSON. A line without an object is a problem.
    """
    return single_rows(read_json_lines_blocks(source, progress))


def read_json_lines_blocks(
    source: Source, progress: Callable[[int], None] | None
) -> Generator[Block | Row, None, None]:
    """Yield the rows of `read_json_lines`, those of a piece of the file in one block where each line is an object."""
    lines = _Lines(source)
    with open_bytes(source.path) as file:
        for piece in text_pieces(file, source.path.name, source.encoding, progress, is_sure=source.is_encoding_sure):
            objects = None if source.shape is Shape.ARRAYS else objects_of_lines(piece)
            yield from lines.rows_of_lines(piece) if objects is None else lines.rows_of_objects(objects, piece)


class _Lines:
    """The lines of a file, in pieces, as rows with their numbers."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._empty = ("",) * len(source.columns)
        self._is_header = source.shape is Shape.ARRAYS and source.has_header
        self._number = self._blank = 0  # lines so far; those of them at the end that are blank

    def rows_of_objects(self, objects: Sequence[dict[str, Any]], piece: str) -> Iterator[Block | Row]:
        """Yield the rows of the next lines, each of which is one of the objects."""
        yield from self._blank_lines()
        first = self._number + 1
        self._number += len(objects)
        if self._source.shape is Shape.PLAIN:
            rows = rows_of_objects(objects, self._source.columns, piece)
            yield Block(range(first, self._number + 1), rows)
        else:
            for number, fields in enumerate(objects, first):
                yield from self._rows_of(number, fields)

    def rows_of_lines(self, piece: str) -> Iterator[Row]:
        """Yield the rows of the next lines, whatever they are. Blank ones are rows once another line follows."""
        source = self._source
        for line in lines_of_piece(piece):
            if line.isspace():
                self._number += 1
                self._blank += 1
                continue
            yield from self._blank_lines()
            self._number += 1
            if self._is_header:
                self._is_header = False
            elif source.shape is Shape.ARRAYS:
                yield _row_of_line(source, self._number, line)
            elif isinstance(fields := parse_object(line), str):
                yield Row(self._number, (without_line_end(line)[:200], *self._empty[1:]), fields)
            elif source.shape is Shape.PLAIN:
                yield Row(self._number, tuple([cell_text(fields.get(column)) for column in source.columns]))
            else:
                yield from self._rows_of(self._number, fields)

    def _blank_lines(self) -> Iterable[Row]:
        """Return those just above as rows."""
        first, self._blank = self._number - self._blank + 1, 0
        return [Row(number, self._empty) for number in range(first, self._number + 1)]

    def _rows_of(self, number: int, fields: dict[str, Any]) -> Iterable[Row]:
        rows = rows_of(self._source, fields)
        if isinstance(rows, str):
            return (Row(number, self._empty, rows),)
        return [Row(number, cells) for cells in rows]  # several texts of one line have its number


def _row_of_line(source: Source, number: int, line: str) -> Row:
    cells = parse_array(line)
    if cells is None:
        return Row(number, (without_line_end(line)[:200], *("",) * (len(source.columns) - 1)), _NO_ARRAY)
    return row_of_array(source, number, cells)
