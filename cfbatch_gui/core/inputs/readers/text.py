"""From bytes on disk to lines of text, at the speed of the csv module and without ever holding the file."""

import codecs
import io
from collections.abc import Callable, Iterator
from itertools import chain
from typing import BinaryIO

from cfbatch_gui.core.errors import InputError
from cfbatch_gui.core.inputs.encodings import not_utf8

PIECE = 256 * 1024  # bytes; larger pieces fall out of the processor's cache and are no faster
LONGEST_LINE = 64 * 1024 * 1024  # characters; a request holds under 10 MB, so nothing longer can ever be sent
_SAMPLE = 32 * 1024  # bytes to either side, to guess an encoding from
END_MARK = "\0end-of-file"  # cannot stand in a file: every NUL is replaced before


def text_lines(
    file: BinaryIO,
    name: str,
    encoding: str,
    progress: Callable[[int], None] | None = None,
    *,
    is_sure: bool = True,
    end_mark: bool = False,
) -> Iterator[str]:
    r"""Yield lines with their ends (\n, \r\n or \r) as they stand.

    A byte order mark is left out. Bytes that do not fit the encoding, NULs and lone surrogates become U+FFFD.
    With `end_mark` one more line, `END_MARK`, follows the last: a csv reader that returns it inside a cell was still
    within quotes. `name` is the file's, for the error. Raises InputError for a line longer than `LONGEST_LINE`, and
    EncodingUnknown for bytes that do not fit an encoding that is not sure.
    """
    lines = chain.from_iterable(_pieces(file, name, _decoder(encoding, name, is_sure=is_sure), progress))
    return chain(lines, (END_MARK,)) if end_mark else lines


def _decoder(encoding: str, name: str, *, is_sure: bool) -> Callable[[bytes, bool], str]:
    decode = codecs.getincrementaldecoder(encoding)("replace" if is_sure else "strict").decode

    def decode_or_ask(data: bytes, final: bool) -> str:
        try:
            return decode(data, final)
        except UnicodeDecodeError as exc:
            around = data[max(0, exc.start - _SAMPLE) : exc.start + _SAMPLE]
            raise not_utf8(around, name, f"far down in the file: {exc.reason}") from exc

    return decode if is_sure else decode_or_ask


def _pieces(
    file: BinaryIO, name: str, decode: Callable[[bytes, bool], str], progress: Callable[[int], None] | None
) -> Iterator[io.StringIO]:
    # chain() over StringIO keeps the loop over lines in C: no Python code runs for a line, only for a piece.
    unfinished: list[str] = []
    unfinished_size = 0
    position = 0
    at_start = True
    while True:
        data = file.read(PIECE)
        position += len(data)
        text = decode(data, not data)
        if at_start and text:
            text = text.removeprefix("\ufeff")
            at_start = False
        if "\0" in text:
            text = text.replace("\0", "\ufffd")
        end = _end_of_last_whole_line(text)
        if end:
            yield io.StringIO("".join(unfinished) + text[:end], newline="")
            unfinished = [text[end:]]
            unfinished_size = len(text) - end
        else:
            unfinished.append(text)
            unfinished_size += len(text)
            if unfinished_size > LONGEST_LINE:
                raise InputError(
                    f"{name} has a line of more than {LONGEST_LINE:,} characters. "
                    "Choose a file with one text a line, or a spreadsheet.",
                    detail=f"no line end up to byte {position:,}",
                )
        if progress is not None:
            progress(position)
        if not data:
            break
    yield io.StringIO("".join(unfinished), newline="")


def _end_of_last_whole_line(text: str) -> int:
    # A \r at the very end may be the first half of \r\n, so it stays behind for the next piece.
    return text.rfind("\n") + 1 or text.rfind("\r", 0, len(text) - 1) + 1


def without_line_end(line: str) -> str:
    """Cut one line end off, nothing else."""
    if line.endswith("\n"):
        return line[:-2] if line.endswith("\r\n") else line[:-1]
    return line.removesuffix("\r")
