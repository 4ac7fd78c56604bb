"""Plain text: one text a line, a paragraph, or the whole file."""

from collections.abc import Callable, Generator
from typing import BinaryIO

from cfbatch_gui.core.errors import InputError
from cfbatch_gui.core.inputs.input_values import Row, Source
from cfbatch_gui.core.inputs.open_file import open_bytes
from cfbatch_gui.core.inputs.readers.decoded_text import LONGEST_LINE, text_lines, without_line_end
from cfbatch_gui.core.messages import message


def read_lines(source: Source, progress: Callable[[int], None] | None) -> Generator[Row, None, None]:
    """Yield every line that is not blank as one cell, spaces and separators included."""
    is_header = source.has_header
    with open_bytes(source.path) as file:
        lines = text_lines(file, source.path.name, source.encoding, progress, is_sure=source.is_encoding_sure)
        for number, line in enumerate(lines, 1):
            if line.isspace():
                continue
            if is_header:
                is_header = False
                continue
            yield Row(number, (without_line_end(line),))


def read_paragraphs(source: Source, progress: Callable[[int], None] | None) -> Generator[Row, None, None]:
    """Yield the texts between blank lines, numbered by their first lines."""
    with open_bytes(source.path) as file:
        paragraph: list[str] = []
        first = 1
        for number, line in enumerate(
            text_lines(file, source.path.name, source.encoding, progress, is_sure=source.is_encoding_sure), 1
        ):
            if line.strip():
                if not paragraph:
                    first = number
                paragraph.append(line)
            elif paragraph:
                yield Row(first, (without_line_end("".join(paragraph)),))
                paragraph = []
        if paragraph:
            yield Row(first, (without_line_end("".join(paragraph)),))


def read_whole(source: Source, progress: Callable[[int], None] | None) -> Generator[Row, None, None]:
    with open_bytes(source.path) as file:
        text = whole_text(file, source.path.name, source.encoding, progress)
    if text:
        yield Row(1, (text,))


def whole_text(file: BinaryIO, name: str, encoding: str, progress: Callable[[int], None] | None = None) -> str:
    """The whole text of a file without its last line end; `name` is for the error. Raises InputError."""
    parts: list[str] = []
    size = 0
    for line in text_lines(file, name, encoding, progress):
        parts.append(line)
        size += len(line)
        if size > LONGEST_LINE:
            raise InputError(
                message(
                    "{name} has more than {most:,} characters, far more than one text may have. Read it by "
                    "line or by paragraph instead.",
                    name=name,
                    most=LONGEST_LINE,
                )
            )
    return without_line_end("".join(parts))
