"""Decode a file into lines of text, one chunk at a time, so that the file is never held whole."""

import codecs
import io
import re
from collections.abc import Callable, Iterator
from itertools import chain
from typing import BinaryIO

from cfbatch_gui.core.errors import InputError
from cfbatch_gui.core.inputs.encodings import not_utf8
from cfbatch_gui.core.inputs.input_values import Progress, Source
from cfbatch_gui.core.messages import message

PIECE = 256 * 1024  # bytes; larger chunks do not fit into the processor's cache and are no faster
LONGEST_LINE = 64 * 1024 * 1024  # characters; a request holds under 10 MB, so nothing longer can ever be sent
_SAMPLE = 32 * 1024  # bytes to either side, to guess an encoding from
END_MARK = "\0end-of-file"  # cannot occur in a text, in which every NUL is replaced
CUT_MARK = "\0cut"  # nor can this
_MARKS = re.compile("(?<=[\r\n])\ufeff+")


def text_lines(file: BinaryIO, source: Source, progress: Progress = None) -> Iterator[str]:
    """Yield lines with their ends, without byte order marks at line starts.

    U+FFFD for what is invalid, NUL or a lone surrogate. Raises InputError above `LONGEST_LINE`; unless the encoding is
    sure, EncodingUnknown.
    """
    # chain() over StringIO keeps the loop over lines in C: Python code runs once a chunk, not once a line.
    return chain.from_iterable(map(lines_of_piece, text_pieces(file, source, progress)))


def lines_of_piece(piece: str) -> Iterator[str]:
    return io.StringIO(piece, newline="")


def _decoder(source: Source) -> Callable[[bytes, bool], str]:
    decode = codecs.getincrementaldecoder(source.encoding)("replace" if source.is_encoding_sure else "strict").decode

    def decode_or_ask(data: bytes, final: bool) -> str:
        try:
            return decode(data, final)
        except UnicodeDecodeError as exc:
            around = data[max(0, exc.start - _SAMPLE) : exc.start + _SAMPLE]
            raise not_utf8(around, source.path.name, f"far down in the file: {exc.reason}") from exc

    return decode if source.is_encoding_sure else decode_or_ask


def text_pieces(file: BinaryIO, source: Source, progress: Progress = None, *, longest: int = 0) -> Iterator[str]:
    """Yield the text of `text_lines` in pieces of whole lines.

    A line longer than `longest` is replaced by `CUT_MARK`.
    """
    unfinished: list[str] = []
    unfinished_size = 0
    is_cutting = False
    for piece in text_chunks(file, source, progress):
        text = _from_line_end(piece) if is_cutting else piece
        is_cutting = is_cutting and not text
        # A \r at the very end may be the first half of \r\n, so it is kept for the next chunk.
        if end := text.rfind("\n") + 1 or text.rfind("\r", 0, len(text) - 1) + 1:
            yield "".join(unfinished) + text[:end]
            unfinished, unfinished_size = [], 0
        unfinished.append(text[end:])
        unfinished_size += len(text) - end
        if unfinished_size > (longest or LONGEST_LINE):
            if not longest:
                name = source.path.name
                raise InputError(message("name_line_more_than_most_characters", name=name, most=LONGEST_LINE))
            unfinished, unfinished_size, is_cutting = [CUT_MARK], 0, True
    yield "".join(unfinished)


def text_chunks(file: BinaryIO, source: Source, progress: Progress = None) -> Iterator[str]:
    """Yield the text of `text_lines` in chunks that may end anywhere. Raises EncodingUnknown."""
    position = 0
    for text, size, _ in _texts(file, _decoder(source)):
        yield text.replace("\0", "\ufffd")
        position += size
        if progress is not None:
            progress(position)


def _texts(file: BinaryIO, decode: Callable[[bytes, bool], str]) -> Iterator[tuple[str, int, int]]:
    """Yield chunks of the text, each with its size in bytes and the number of marks removed but the file's first."""
    is_first, at_line_start = True, True
    size = -1
    while size:
        data = file.read(PIECE)
        size = len(data)
        text = decode(data, not data)
        marks = 0
        if is_first and text:
            text = text.removeprefix("\ufeff")
            is_first = False
        if "\ufeff" in text:
            text, marks = without_marks(text, at_line_start=at_line_start)
        if text:
            at_line_start = text.endswith(("\n", "\r"))
        yield text, size, marks


def without_marks(text: str, *, at_line_start: bool = True) -> tuple[str, int]:
    """The text without byte order marks at the beginnings of lines, and their number.

    Elsewhere U+FEFF is a zero-width space.
    """
    cleaned = _MARKS.sub("", f"\n{text}" if at_line_start else f" {text}")[1:]
    return cleaned, len(text) - len(cleaned)


def count_signs(file: BinaryIO, encoding: str, most: int, escapes: re.Pattern[str] | None) -> tuple[int, int]:
    """How many marks are removed in the first `most` bytes, and characters damaged: no text, broken, or `escapes`."""
    decode = codecs.getincrementaldecoder(encoding)("replace").decode
    marks = damaged = 0
    for text, size, found in _texts(file, decode):
        marks += found
        damaged += text.count("\0") + text.count("\ufffd") + (len(escapes.findall(text)) if escapes else 0)
        most -= size
        if most <= 0:
            break
    return marks, damaged


def _from_line_end(text: str) -> str:
    """What follows the rest of a line, with its line end; "" if the line goes on."""
    ends = [end for sign in "\r\n" if (end := text.find(sign)) >= 0]
    return text[min(ends) :] if ends else ""


def without_line_end(line: str) -> str:
    if line.endswith("\n"):
        return line[:-2] if line.endswith("\r\n") else line[:-1]
    return line.removesuffix("\r")
