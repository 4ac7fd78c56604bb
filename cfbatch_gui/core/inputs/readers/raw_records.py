"""The text of a file beside the csv reader, for what is said of a record by how it stands there."""

from collections.abc import Iterable, Iterator
from itertools import chain, islice

from cfbatch_gui.core.inputs.input_values import LONGEST_RAW
from cfbatch_gui.core.inputs.readers.decoded_text import END_MARK, lines_of_piece, without_line_end


class RawRecords:
    """The lines that a csv reader takes from `lines_from`, kept until `forget`."""

    def __init__(self, pieces: Iterable[str]) -> None:
        self._unread = (list(lines_of_piece(piece)) for piece in pieces)
        self._waiting: list[list[str]] = []  # comes before what is unread; the first is last
        self._first, self._lines = 1, list[str]()  # what is kept

    def lines_from(self, line: int) -> Iterator[str]:
        """Yield the lines from number `line` on with their ends, kept ones again, and then `END_MARK`."""
        if self._lines:
            self._waiting.append(self._lines[line - self._first :])
            self._first, self._lines = line, []
        return chain(islice(chain.from_iterable(self._pieces()), line - self._first, None), (END_MARK,))

    def _pieces(self) -> Iterator[list[str]]:
        # The loop over lines is in C: Python code runs once a piece, not once a line.
        while (lines := self._waiting.pop() if self._waiting else next(self._unread, None)) is not None:
            self._lines += lines
            yield lines

    def text(self, first: int, stop: int) -> str:
        """The lines from number `first` to before `stop`, with their ends."""
        return "".join(self._lines[first - self._first : stop - self._first])

    def raw(self, first: int, stop: int, *, longest: int = LONGEST_RAW) -> str:
        """The lines from number `first` to before `stop`, cut to `longest` characters, without the last line end."""
        text = without_line_end(self.text(first, stop))
        return text if len(text) <= longest else f"{text[:longest]}…"

    def line(self, number: int) -> str:
        """One line without its end; "" below the last. It is read ahead if need be."""
        if number < self._first + len(self._lines):
            return self.raw(number, number + 1)
        if not self._waiting:
            self._waiting.append(next(self._unread, []))
        return without_line_end(next(iter(self._waiting[-1]), ""))

    def size_from(self, line: int) -> int:
        return sum(map(len, self._lines[line - self._first :]))

    def forget(self, line: int) -> None:
        """Keep only the lines from number `line` on."""
        del self._lines[: line - self._first]
        self._first = line
