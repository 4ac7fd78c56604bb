"""Tables drawn with bars and lines."""

from collections.abc import Callable, Generator, Iterator

from cfbatch_gui.core.inputs.drawn import Drawing, drawing_of
from cfbatch_gui.core.inputs.model import Row, Source
from cfbatch_gui.core.inputs.opening import open_bytes
from cfbatch_gui.core.inputs.readers.delimited import unusual_row
from cfbatch_gui.core.inputs.readers.text import LONGEST_LINE, text_lines

_OF_HEADER = 8  # lines


def read_drawn(source: Source, progress: Callable[[int], None] | None) -> Generator[Row, None, None]:
    """Yield the rows, each with the number of its first line; spaces around a cell are part of the drawing.

    A line within the table that is none of its rows is a problem.
    """
    width = len(source.columns)
    with open_bytes(source.path, source.end) as file:
        lines = enumerate(
            text_lines(file, source.path.name, source.encoding, progress, is_sure=source.is_encoding_sure), 1
        )
        head = [line for number, line in zip(range(source.first_line + _OF_HEADER), map(_text_of, lines), strict=False)]
        drawing = drawing_of(head, source.first_line - 1)
        if drawing is None:
            return
        first = drawing.rule + 1
        for number, cells in _records(drawing, _numbered(head[first:], first + 1, lines)):
            if cells is None:
                yield Row(number, ("",) * width, "This line is no row of the table.")
            else:
                row = Row(number, tuple(cells))
                yield row if len(cells) == width else unusual_row(row, width)


def _text_of(line: tuple[int, str]) -> str:
    return line[1]


def _numbered(head: list[str], first: int, lines: Iterator[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    yield from enumerate(head, first)
    yield from lines


def _records(drawing: Drawing, lines: Iterator[tuple[int, str]]) -> Iterator[tuple[int, list[str] | None]]:
    """The first line of each row and its cells; None for a line that is no row."""
    held: list[list[str]] = []  # lines of a row that goes on
    opened = ""  # a line whose last bar is still to come
    began = 0
    for number, line in lines:
        is_rule = drawing.is_rule(line)
        if opened and not is_rule and len(opened) < LONGEST_LINE:
            opened += line
        elif opened:
            yield began, None
            opened = ""
        elif is_rule or not drawing.is_row(line):
            if held:
                yield began, _joined(held)
                held = []
            if line.strip() and not is_rule:
                yield number, None
            continue
        else:
            began, opened = began if held else number, line
        if not opened or drawing.is_open(line):
            continue
        cells = drawing.cells(opened)
        goes_on = drawing.goes_on(cells)
        opened = ""
        held.append([cell[:-1] if more else cell for cell, more in zip(cells, goes_on, strict=False)])
        if not any(goes_on) and not drawing.is_grid:
            yield began, _joined(held)
            held = []
    if held or opened:
        yield began, _joined(held) if held else None


def _joined(held: list[list[str]]) -> list[str]:
    """The lines of each cell, without those below its last."""
    width = max(map(len, held))
    columns = [[cells[place].strip() if place < len(cells) else "" for cells in held] for place in range(width)]
    return ["\n".join(lines).rstrip("\n") for lines in columns]
