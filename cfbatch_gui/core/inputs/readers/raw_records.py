"""The text of a file beside the csv reader, and records split without it."""

import io
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain

from cfbatch_gui.core.inputs.input_values import LONGEST_RAW
from cfbatch_gui.core.inputs.readers.csv_quoting import LONGEST_CELL
from cfbatch_gui.core.inputs.readers.decoded_text import END_MARK

Records = list[tuple[str, ...]]
_LINE_ENDS = ("\n", "\r")
_QUOTED, _END = "\x01", "\x02"  # stand for what is inside two quotation marks, and for the end of a record
_REFUSED = (_QUOTED, _END, "\0")  # the last begins the marks of decoded_text
_LEAST_IN_CELL = 24  # characters; with shorter cells on an average the csv module is as fast


class _RefusedError(Exception):
    pass


def is_split_faster(text: str, separator: str) -> bool:
    """Whether the cells of a text are so long that `sound_records` is faster than the csv module."""
    lines = list(filter(str.strip, "".join(text.split('"')[::2]).split("\n")))
    return len(text) >= _LEAST_IN_CELL * (len(lines) + sum(line.count(separator) for line in lines))


@dataclass(frozen=True, slots=True)
class SoundRecords:
    """Records as a csv reader returns them; `rest` is what follows them."""

    records: Records
    rest: str
    is_one_a_line: bool


def sound_records(text: str, separator: str) -> SoundRecords | None:
    """Split a text of whole lines as a csv reader does.

    None where a quotation mark is not surely sound, or no record is whole.
    """
    if len(text) > LONGEST_CELL or any(sign in text for sign in _REFUSED):
        return None
    parts = text.split('"')  # by turns outside of quotation marks and inside
    rest = "" if len(parts) % 2 else _without_last(parts)
    inside = parts[1::2]
    outside = _QUOTED.join(parts[::2])
    if "\r" in outside:
        outside = outside.replace("\r\n", "\n")
    if not outside or "\r" in outside:
        return None
    if not outside.endswith("\n"):
        outside += "\n"
    try:
        if "\n\n" in outside or outside.startswith("\n"):
            records = _among_blank_lines(outside.split("\n")[:-1], separator, inside)
        else:
            records = _equal_records(outside, separator, inside) or _any_records(outside, separator, inside)
    except _RefusedError:
        return None
    quoted = "".join(inside)
    return SoundRecords(records, rest, not any(sign in quoted for sign in _LINE_ENDS))


def _without_last(parts: list[str]) -> str:
    taken = [parts.pop()]
    while parts:
        above, end, begun = parts.pop().rpartition("\n")
        taken.append(begun)
        if end:
            parts.append(above + end)
            break
        taken += parts[-1:]
        del parts[-1:]
    return '"'.join(reversed(taken))


def _among_blank_lines(lines: list[str], separator: str, inside: list[str]) -> Records:
    filled = "\n".join([*filter(None, lines), ""])
    records = (filled and _equal_records(filled, separator, inside)) or _any_records(filled, separator, inside)
    take = iter(records).__next__
    return [take() if line else () for line in lines]


def _equal_records(outside: str, separator: str, inside: list[str]) -> Records:
    """The records, between which there is no blank line, if all have the same number of cells; otherwise []."""
    flat = outside.replace("\n", f"{separator}{_END}{separator}").split(separator)
    width = flat.index(_END)
    step = width + 1
    count = len(flat) // step
    if outside.count("\n") != count or flat[width::step].count(_END) != count:
        return []
    columns = [flat[index:-1:step] for index in range(width)]
    if inside:
        quoted = [index for index, cells in enumerate(columns) if cells.count(_QUOTED) == count]
        if len(quoted) * count == len(inside):
            for position, index in enumerate(quoted):
                columns[index] = inside[position :: len(quoted)]
        else:
            flat = _filled(flat, iter(inside).__next__)
            columns = [flat[index:-1:step] for index in range(width)]
    return list(zip(*columns, strict=True))


def _any_records(outside: str, separator: str, inside: list[str]) -> Records:
    take = iter(inside).__next__
    return [tuple(_filled(line.split(separator), take)) for line in outside.split("\n")[:-1]]


def _filled(cells: list[str], take: Callable[[], str]) -> list[str]:
    return [take() if cell == _QUOTED else _joined(cell, take) if _QUOTED in cell else cell for cell in cells]


def _joined(cell: str, take: Callable[[], str]) -> str:
    if cell.strip(_QUOTED):
        raise _RefusedError
    return '"'.join([take() for _ in cell])


_SHORT = 8 * 1024  # characters


class _Piece:
    def __init__(self, first: int, text: str, lines: int = 0) -> None:
        self.first, self.text = first, text
        ends = lines or _count_ends(text) + (bool(text) and not text.endswith(("\n", "\r")))
        self.stop = first + ends  # the number of the line after the last
        self._lines: list[str] | None = None

    @property
    def lines(self) -> Sequence[str]:
        if self._lines is None:  # only where a record is looked at by itself
            self._lines = list(io.StringIO(self.text, newline=""))
        return self._lines

    def text_from(self, line: int) -> str:
        return self.text if line <= self.first else "".join(self.lines[line - self.first :])


class RawRecords:
    """The text of the records that a csv reader takes from `lines`, kept until `forget`."""

    def __init__(self, pieces: Iterable[str], on_piece: Callable[[], None]) -> None:
        self._unread, self._on_piece = iter(pieces), on_piece
        self._waiting: list[str] = []  # comes before what is unread; the first is last
        self._pieces: deque[_Piece] = deque()
        self._pulled = 0
        self.begun = 0  # pieces, by the reader that got `lines` last
        self.next_line = 1  # the number of the first line that waits

    def lines(self) -> Iterator[str]:
        """Yield the lines with their ends, and then `END_MARK`."""
        self.begun = 0
        return chain(chain.from_iterable(self._streams()), (END_MARK,))

    def _streams(self) -> Iterator[io.StringIO]:
        # chain() over StringIO keeps the loop over lines in C: Python code runs once a piece, not once a line.
        while (text := self._next()) is not None:
            if self.begun:
                self._on_piece()
            self._keep(text)
            self.begun += 1
            self._pulled += 1
            yield io.StringIO(text, newline="")

    def _next(self) -> str | None:
        return self._waiting.pop() if self._waiting else next(self._unread, None)

    def _keep(self, text: str, lines: int = 0) -> _Piece:
        piece = _Piece(self.next_line, text, lines)
        self.next_line = piece.stop
        self._pieces.append(piece)
        return piece

    def take_sound(self, separator: str) -> tuple[Sequence[int], Records] | None:
        """Take the records that need no reader: the line of each and of the next, and the records.

        None where one is needed.
        """
        while (text := self._next()) is not None:
            if (found := sound_records(text, separator)) is not None:
                records = found.records
                if found.rest:
                    self._waiting.append(found.rest + (self._next() or ""))
                    text = text[: len(text) - len(found.rest)]
                piece = self._keep(text, len(records) if found.is_one_a_line else 0)
                if found.is_one_a_line:
                    return range(piece.first, piece.stop + 1), records
                return list(accumulate(map(lines_of, records), initial=piece.first)), records
            middle = text.rfind("\n", 0, len(text) // 2) + 1 if len(text) > _SHORT else 0
            if not middle:
                self._waiting.append(text)
                return None
            self._waiting += [text[middle:], text[:middle]]
        return None

    def ahead(self) -> str:
        text = self._next() or ""
        self._waiting.append(text)
        return text

    def pulled(self) -> Sequence["_Piece"]:
        begun = list(self._pieces)[-self._pulled :] if self._pulled else []
        self._pulled = 0
        return begun

    def raw(self, first: int, stop: int, *, longest: int = LONGEST_RAW) -> str:
        """The text of the lines from number `first` to before `stop`, cut to `longest` characters, without the last
        line end.
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
        """One line without its end; "" below the last. It is read ahead if need be."""
        if self._pieces and number >= self._pieces[-1].stop:
            return next(iter(io.StringIO(self.ahead(), newline="")), "").rstrip("\r\n")
        return self.raw(number, number + 1)

    def size_from(self, line: int) -> int:
        return sum(len(piece.text_from(line)) for piece in self._pieces if piece.stop > line)

    def rewind(self, line: int) -> None:
        kept = [piece.text_from(line) for piece in self._pieces if piece.stop > line]
        self._waiting += reversed(kept)
        self._pieces.clear()
        self._pulled, self.next_line = 0, line

    def forget(self, line: int) -> None:
        while len(self._pieces) > 1 and self._pieces[0].stop <= line:
            self._pieces.popleft()


def _count_ends(text: str) -> int:
    return text.count("\n") + (text.count("\r") - text.count("\r\n") if "\r" in text else 0)


def lines_of(cells: Sequence[str]) -> int:
    """How many lines a record takes, none of whose line ends is escaped."""
    return 1 + _count_ends(" ".join(cells))
