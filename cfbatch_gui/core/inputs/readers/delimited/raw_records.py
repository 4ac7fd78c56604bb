"""The text of a file beside the csv reader that reads it, so that each record can be shown and checked as it stands."""

import io
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain

from cfbatch_gui.core.inputs.input_values import LONGEST_RAW
from cfbatch_gui.core.inputs.readers.decoded_text import END_MARK


class _Piece:
    """Whole lines of the file, of which the first has the number `first`, from 1."""

    def __init__(self, first: int, text: str) -> None:
        self.first, self.text = first, text
        self.stop = first + _count_lines(text)  # the number of the line after the last
        self._lines: list[str] | None = None

    @property
    def lines(self) -> Sequence[str]:
        if self._lines is None:  # only where a record is looked at by itself
            self._lines = list(io.StringIO(self.text, newline=""))
        return self._lines

    def text_from(self, line: int) -> str:
        """The text from a line on, which may be above or below the piece."""
        return self.text if line <= self.first else "".join(self.lines[line - self.first :])


class RawRecords:
    """The text of the records that a csv reader is reading, kept until it has read on.

    The reader takes its lines from `lines`. `on_piece` is called when it begins another piece than the first. Text is
    kept until `forget` is called.
    """

    def __init__(self, pieces: Iterable[str], on_piece: Callable[[], None]) -> None:
        self._waiting, self._on_piece = iter(pieces), on_piece
        self._pieces: deque[_Piece] = deque()
        self._pulled = 0
        self._next_line = 1

    def lines(self) -> Iterator[str]:
        """Yield the lines of the file with their ends, and then `END_MARK`.

        If the reader returns that within a cell, a quotation mark was not closed.
        """
        return chain(chain.from_iterable(self._streams()), (END_MARK,))

    def _streams(self) -> Iterator[io.StringIO]:
        # chain() over StringIO keeps the loop over lines in C: Python code runs once a piece, not once a line.
        while (text := next(self._waiting, None)) is not None:  # `line` and `rewind` change what is waiting
            piece = _Piece(self._next_line, text)
            self._next_line = piece.stop
            if self._pieces:
                self._on_piece()
            self._pieces.append(piece)
            self._pulled += 1
            yield io.StringIO(text, newline="")

    def pulled(self) -> Sequence["_Piece"]:
        """The pieces that the reader has begun since this was last asked, in order."""
        begun = list(self._pieces)[-self._pulled :] if self._pulled else []
        self._pulled = 0
        return begun

    def raw(self, first: int, stop: int, *, longest: int = LONGEST_RAW) -> str:
        """Return the text of the lines from number `first` to before `stop`, cut to `longest` characters.

        The line end at its end is left out.
        """
        found: list[str] = []
        size = 0
        for piece in self._pieces:
            if piece.stop <= first or piece.first >= stop or size > longest:
                continue
            lines = piece.lines[max(0, first - piece.first) : stop - piece.first]
            found.extend(lines)
            size += sum(map(len, lines))
        text = "".join(found)
        text = text[:-2] if text.endswith("\r\n") else text[:-1] if text.endswith(("\n", "\r")) else text
        return text if len(text) <= longest else f"{text[:longest]}…"

    def line(self, number: int) -> str:
        """Return the text of one line without its line end; "" below the last. It is read ahead if need be."""
        if self._pieces and number >= self._pieces[-1].stop:
            text = next(self._waiting, "")
            self._waiting = chain((text,), self._waiting)
            return next(iter(io.StringIO(text, newline="")), "").rstrip("\r\n")
        return self.raw(number, number + 1)

    def size_from(self, line: int) -> int:
        """How many characters of what is kept stand on this line and below."""
        return sum(len(piece.text_from(line)) for piece in self._pieces if piece.stop > line)

    def rewind(self, line: int) -> None:
        """Let `lines` begin again at a line that is kept."""
        kept = [piece.text_from(line) for piece in self._pieces if piece.stop > line]
        self._waiting = chain(kept, self._waiting)
        self._pieces.clear()
        self._pulled, self._next_line = 0, line

    def forget(self, line: int) -> None:
        """Drop the pieces that end before a line."""
        while len(self._pieces) > 1 and self._pieces[0].stop <= line:
            self._pieces.popleft()


def _count_lines(text: str) -> int:
    ends = text.count("\n") + text.count("\r") - text.count("\r\n")
    return ends + (bool(text) and not text.endswith(("\n", "\r")))
