"""What is wrong with the records of a delimited text: their width, misplaced quotation marks and line breaks."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from cfbatch_gui.core.inputs.input_values import ProblemKind, Source
from cfbatch_gui.core.inputs.readers.decoded_text import CUT_MARK
from cfbatch_gui.core.inputs.readers.delimited.csv_quoting import LONGEST_CELL
from cfbatch_gui.core.inputs.readers.delimited.raw_records import RawRecords
from cfbatch_gui.core.inputs.readers.delimited.row_doubts import (
    CHECKED,
    CUT_SHORT,
    LINE_BREAK,
    doubt_about,
    has_sound_quotes,
    is_fused,
    is_made_of_rows,
    width_of_line,
)
from cfbatch_gui.core.inputs.readers.row_widths import width_problem
from cfbatch_gui.core.messages import message

_TOO_LONG = message("This row has more than {most:,} characters, more than can be sent.", most=LONGEST_CELL)


@dataclass(frozen=True, slots=True)
class RecordProblem:
    """Why a record is not used as it stands, and of which kind that is."""

    reason: str
    kind: ProblemKind = ProblemKind.UNREADABLE_ROW


class RecordChecks:
    """Checks the records of one reading of a file, block by block.

    Whether quotation marks are sound is checked for whole pieces of the text by one regular expression, and for each
    record only in pieces that are not.
    """

    def __init__(self, source: Source) -> None:
        self._separator, self._quoting, self._habits = source.separator, source.quoting, source.habits
        self._width = len(source.columns)
        self._widths = frozenset(source.habits.widths or (self._width,))
        self._usual = self._widths | {0}  # a blank line has no cells
        self._is_wide = self._widths != {self._width}
        self._is_suspicious = False  # the piece that the reader is in

    def begin(self) -> None:
        """Begin anew, because the reader begins anew somewhere in the file."""
        self._is_suspicious = False

    def problems_of(
        self, numbers: Sequence[int], rows: Sequence[tuple[str, ...]], text: RawRecords
    ) -> dict[int, RecordProblem]:
        """Return the problems of a block of records by their index, in order.

        `numbers` are the lines in which the records begin, and the line below the last.
        """
        suspects = self._suspects(numbers, len(rows), text)
        found = dict(self._of_unusual_width(rows))
        if numbers[-1] - numbers[0] != len(rows):
            found |= dict(self._of_several_lines(numbers, rows, text))
        for index in suspects:
            if index not in found and (problem := self._of_record(numbers[index], numbers[index + 1], text)):
                found[index] = problem
        return dict(sorted(found.items()))

    def hides_rows(self, text: RawRecords, number: int) -> bool:
        """Return whether the line below the line `number` is a row by itself."""
        if self._width == 1 and self._habits.has_line_breaks:
            return False
        line = text.raw(number + 1, number + 2)
        return bool(line) and width_of_line(line, self._separator, self._quoting) in self._widths

    def _suspects(self, numbers: Sequence[int], count: int, text: RawRecords) -> Sequence[int]:
        """Return the indices of the records whose quotation marks must be looked at one by one."""
        was_suspicious, begun = self._is_suspicious, text.pulled()
        if not begun:
            return range(count) if was_suspicious else ()
        first, last, below = numbers[0], numbers[-2], numbers[-1]
        newest = begun[-1]
        is_across = last < newest.first  # the last record began in an earlier piece and ends in this one
        self._is_suspicious = not self._is_sound(newest.text_from(below if is_across else max(newest.first, first)))
        if first >= newest.first:
            return range(count) if self._is_suspicious else ()
        if len(begun) > 1 and first >= begun[0].first:  # the block began with a piece, and the next ended it
            was_suspicious = not self._is_sound(begun[0].text_from(first))
        if was_suspicious:
            return range(count)
        return (count - 1,) if is_across or self._is_suspicious else ()

    def _is_sound(self, text: str) -> bool:
        return CUT_MARK not in text and has_sound_quotes(text, self._separator, self._quoting)

    def _of_unusual_width(self, rows: Sequence[tuple[str, ...]]) -> Iterator[tuple[int, RecordProblem]]:
        if not self._is_wide and self._usual.issuperset(map(len, rows)):
            return
        for index, cells in enumerate(rows):
            if cells and (len(cells) not in self._widths or any(map(str.strip, cells[self._width :]))):
                is_cut = cells[-1].endswith(CUT_MARK)
                yield index, RecordProblem(_TOO_LONG if is_cut else width_problem(len(cells), self._width))

    def _of_several_lines(
        self, numbers: Sequence[int], rows: Sequence[tuple[str, ...]], text: RawRecords
    ) -> Iterator[tuple[int, RecordProblem]]:
        for index, cells in enumerate(rows):
            number, below = numbers[index], numbers[index + 1]
            if below == number + 1 or not cells:
                continue
            if self._is_cut_short(below, text):
                yield index, RecordProblem(CUT_SHORT, ProblemKind.DOUBTFUL_ROW)
            elif is_fused(cells, below - number - 1, self._separator) and self._may_be_rows(number, below, text):
                yield index, RecordProblem(LINE_BREAK, ProblemKind.DOUBTFUL_ROW)

    def _may_be_rows(self, number: int, below: int, text: RawRecords) -> bool:
        if not self._habits.has_line_breaks:
            return True
        raw = text.raw(number, below, longest=LONGEST_CELL)
        return self._width > 2 and is_made_of_rows(raw, self._width, self._separator, self._quoting)

    def _is_cut_short(self, below: int, text: RawRecords) -> bool:
        """Whether the line below a record of several lines seems to be its rest, with the mark that should close it."""
        if self._quoting not in CHECKED:
            return False
        line = text.line(below)
        is_odd = line.replace('""', "").count('"') % 2 == 1
        return is_odd and not has_sound_quotes(line, self._separator, self._quoting)

    def _of_record(self, number: int, below: int, text: RawRecords) -> RecordProblem | None:
        raw = text.raw(number, below, longest=LONGEST_CELL)
        if CUT_MARK in raw:
            return RecordProblem(_TOO_LONG)
        doubt = doubt_about(raw, self._separator, self._quoting, self._habits)
        return RecordProblem(doubt, ProblemKind.DOUBTFUL_ROW) if doubt else None
