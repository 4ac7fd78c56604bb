"""Delimited text: CSV and its relatives, in each way of quoting, with a doubt about rows that may be misread."""

import csv
import json
import re
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from itertools import chain, compress, islice, pairwise
from operator import itemgetter
from typing import Any, BinaryIO

import numpy as np

from cfbatch_gui.core.inputs import input_values
from cfbatch_gui.core.inputs.input_values import Block, ProblemKind, Progress, Quoting, Row, Source, width_problem
from cfbatch_gui.core.inputs.open_file import open_bytes
from cfbatch_gui.core.inputs.readers import decoded_text
from cfbatch_gui.core.messages import message

LONGEST_CELL = 16 * 1024 * 1024  # characters; a request holds under 10 MB, so nothing longer can ever be sent
_READER_OPTIONS: dict[Quoting, dict[str, Any]] = {
    Quoting.DOUBLED: {},
    Quoting.ESCAPED: {"escapechar": "\\"},
    Quoting.SINGLE: {"quotechar": "'"},
    Quoting.SPACED: {"skipinitialspace": True},
    Quoting.NONE: {"quoting": csv.QUOTE_NONE},
    Quoting.COPY: {"quoting": csv.QUOTE_NONE},
}
_ESCAPE = re.compile(r"\\(?:([0-7]{1,3})|x([0-9A-Fa-f]{1,2})|(.))", re.DOTALL)
_ESCAPED = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
csv.field_size_limit(LONGEST_CELL)  # the default of 131,072 is less than a chapter of a book; the limit is per process


_SIGN = "\ufdd0"  # stands for a separator of several characters while a file is read; Unicode keeps it for that


def one_sign(separator: str) -> str:
    return separator if len(separator) <= 1 else _SIGN


def in_one_sign(text: str, separator: str) -> str:
    """A text in which a separator of several characters is replaced by the sign that `one_sign` gives."""
    return text if len(separator) <= 1 else text.replace(separator, _SIGN)


def csv_rows(lines: Iterable[str], separator: str, quoting: Quoting, *, strict: bool = False) -> Any:
    """A csv.reader for a way of quoting, before the escapes of PostgreSQL's COPY."""
    return csv.reader(lines, delimiter=separator, strict=strict, **_READER_OPTIONS[quoting])


def copied(cell: str) -> str:
    """Decode a cell of PostgreSQL's COPY: \\N is empty, \\t a tab, \\n a line end."""
    if "\\" not in cell:
        return cell
    if cell == "\\N":
        return ""
    return _ESCAPE.sub(_meant, cell)


def _meant(found: re.Match[str]) -> str:
    if found[3] is not None:
        return _ESCAPED.get(found[3], found[3])
    code = int(found[1], 8) if found[1] else int(found[2], 16)
    return chr(code) if 0 < code < 128 else found[0]


AFTER_QUOTE = message("after_closing_quotation_mark_row_goes")
STRAY_QUOTE = message("there_is_quotation_mark_row_belongs")
LINE_BREAK = message("cell_row_goes_on_over_several")
CUT_SHORT = message("cell_several_lines_seems_end_too")
CHECKED = (Quoting.DOUBLED, Quoting.ESCAPED, Quoting.SPACED)  # every mark of a sound row has its place
_UNQUOTED = (Quoting.NONE, Quoting.COPY)
_MOST_BY_PATTERN = 2_000  # characters; NumPy takes longer to begin


@lru_cache(maxsize=16)
def _sound(separator: str, quoting: Quoting) -> re.Pattern[str]:
    """The pattern of records in which quotation marks stand around whole cells only; the last cell may be open."""
    quote, body, before, sign = _parts(separator, quoting)
    begin = rf"(?:(?<=[{sign}\r\n])|\A){before}{quote}"
    spaces = "" if separator == " " else " *+"
    end = rf"{quote}(?={spaces}(?:[{sign}\r\n]|\Z))"
    other = rf"[^{quote}]*+"
    if before:  # spaces before the mark are part of what stands between quoted cells
        begin = rf"(?:(?<=[{sign}\r\n ])|\A){quote}"
    return re.compile(rf"{other}(?:{begin}{body}{end}{other})*+(?:{begin}{body}\Z)?")


@lru_cache(maxsize=16)
def _cell(separator: str, quoting: Quoting) -> re.Pattern[str]:
    """The pattern of one cell of a record with the separator after it, as the csv module reads it."""
    quote, body, before, sign = _parts(separator, quoting)
    return re.compile(
        rf"(?:{before}{quote}(?P<quoted>{body})(?:{quote}(?P<after>[^{sign}\r\n]*+)|\Z)|(?P<plain>[^{sign}\r\n]*+))"
        rf"(?P<end>[{sign}]|\r\n|\n|\r|\Z)"
    )


def _parts(separator: str, quoting: Quoting) -> tuple[str, str, str, str]:
    quote = "'" if quoting is Quoting.SINGLE else '"'
    if quoting is Quoting.ESCAPED:
        body = rf"[^{quote}\\]*+(?:(?:\\.|{quote}{quote})[^{quote}\\]*+)*+"
    else:
        body = rf"[^{quote}]*+(?:{quote}{quote}[^{quote}]*+)*+"
    return quote, f"(?s:{body})", " *+" if quoting is Quoting.SPACED else "", re.escape(separator)


def has_sound_quotes(text: str, separator: str, quoting: Quoting) -> bool:
    """`text` begins with a record, and may end within one."""
    quote = "'" if quoting is Quoting.SINGLE else '"'
    is_plain = quoting in _UNQUOTED or quote not in text
    if is_plain or (len(text) > _MOST_BY_PATTERN and _stand_around_cells(text, separator, quote)):
        return True
    return bool(_sound(separator, quoting).fullmatch(text))


def _stand_around_cells(text: str, separator: str, quote: str) -> bool:
    """Whether all marks are pairs around whole cells. The pattern knows more, and takes three times as long."""
    signs = np.frombuffer(f"\n{text}\n".encode(), np.uint8)
    marks = np.flatnonzero(signs == ord(quote))
    if len(marks) % 2 or "\\" in text or not separator.isascii():
        return False
    ends = np.isin(np.arange(256), [*f"\r\n{separator}".encode()])
    return bool(ends[signs[marks[::2] - 1]].all() and ends[signs[marks[1::2] + 1]].all())


def doubt_about(raw: str, separator: str, quoting: Quoting, habits: input_values.RowHabits) -> str:
    """Why the quotation marks of a record, as it stands in the file, are doubtful; "" if they are not."""
    if quoting in _UNQUOTED:
        return ""
    quote = "'" if quoting is Quoting.SINGLE else '"'
    is_stray = False
    position = 0
    pattern = _cell(separator, quoting)
    while found := pattern.match(raw, position):
        if (found["after"] or "").strip():
            return AFTER_QUOTE
        plain = found["plain"] or ""
        escaped = plain.count(f"\\{quote}") if quoting is Quoting.ESCAPED else 0
        is_stray = is_stray or (plain.count(quote) - escaped) % 2 == 1
        position = found.end()
        if not found["end"]:
            break
    # An apostrophe within a cell is ordinary.
    return STRAY_QUOTE if is_stray and quote == '"' and not habits.has_stray_quotes else ""


def is_fused(cells: Sequence[str], breaks: int, separator: str) -> bool:
    """Whether the `breaks` line breaks in a record's cells may have been ends of rows."""
    return len(cells) > 1 and sum(cell.count(separator) for cell in cells) >= (len(cells) - 1) * breaks


def width_of_line(line: str, separator: str, quoting: Quoting) -> int:
    """The number of cells of a line by itself, 0 where its quotation marks are not in order."""
    if not has_sound_quotes(line, separator, quoting):
        return 0
    try:
        return len(next(iter(csv_rows([line], separator, quoting, strict=True)), ()))
    except csv.Error:
        return 0


def rows_of_header(rows: Sequence[Sequence[str]]) -> int:
    """How many rows belong to the header, with sqlcmd's dashes and the extra rows of surveys."""
    second, third = (rows[at] if len(rows) > at and len(rows[at]) == len(rows[0]) > 1 else () for at in (1, 2))
    if third and all(cell.startswith('{"ImportId":') for cell in third):
        return 3
    is_underline = all(len(cell) > 1 and not cell.strip("-") for cell in second)
    return 2 if second and (is_underline or (not second[0] and "Open-Ended Response" in second)) else 1


_MOST_MANIFEST_BYTES = 4 * 1024 * 1024
_MARKED = re.compile(r"'+[=+\-@\t\r]")


def marked_columns(source: Source) -> Source:
    """Find by the manifest beside a file that CF Batch wrote in which columns it put apostrophes before formulas."""
    manifest = source.path.with_name(f"{source.path.name}.manifest.json")
    try:
        if not source.has_header or not manifest.is_file() or manifest.stat().st_size > _MOST_MANIFEST_BYTES:
            return source
        content = json.loads(manifest.read_bytes())
        export = content["export"].get(source.path.name) or content["export"]  # one of several files, or the only one
        found = export.get("formulas_made_harmless") or {}
        is_ours = str(content["program"]).startswith("CF Batch") and found.get("mark") == "'" and found.get("cells")
        names = {str(name) for name in found.get("columns", ())} if is_ours else set()
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return source  # not a manifest of CF Batch
    marked = tuple(index for index, name in enumerate(source.columns) if name in names)
    if not marked:
        return source
    notice = message("cf_batch_wrote_file_excel_apostrophes")
    return replace(source, marked=marked, notices=(*source.notices, notice))


_SWALLOWS_ROWS = message("quotation_mark_opens_row_is_not")
NEVER_CLOSED = message("quotation_mark_opens_row_line_is")
_TOO_LARGE = message("cell_begins_row_line_more_than")
_TOO_LONG = message("row_more_than_most_characters_more", most=LONGEST_CELL)
_REPEATED = message("row_repeats_names_columns")
_MOST_AT_ONCE = 1_500  # records; reading them holds Python for up to 3 ms, for which the window waits
_AFTER_A_MARK = 8  # records at once below a row whose mark swallows others: the next such row may follow soon
_MOST_READ_AGAIN = 1_000_000  # lines


Problem = tuple[str, ProblemKind]  # why a record is not used as it stands


def read_delimited(source: Source, progress: Progress) -> Generator[Block | Row, None, None]:
    """Yield the rows but blank lines, numbered as a spreadsheet program does: a cell may have several lines.

    A row of unusual width is a problem, one whose marks or line breaks look misplaced doubtful; below a row whose mark
    swallows others reading goes on.
    """
    width = len(source.columns)
    finished = _finisher(source)
    is_usual = source.habits.widths in ((), (width,)) and not source.marked and source.quoting is not Quoting.COPY
    with open_bytes(source.path, source.end) as file:
        for found in _Reading(file, source, progress).blocks():
            if isinstance(found, Row):
                raw = found.raw.replace(_SIGN, source.separator)
                yield Row(found.number, finished(found.cells), found.problem, found.problem_kind, raw)
            elif is_usual and len(source.separator) <= 1:
                yield found
            else:
                yield Block(found.numbers, list(map(finished, found.rows)))


def _finisher(source: Source) -> Callable[[Sequence[str]], tuple[str, ...]]:
    """A function that makes the cells of a row from those of a record, as many as there are columns."""
    marked, width = frozenset(source.marked), len(source.columns)

    def finished(cells: Sequence[str]) -> tuple[str, ...]:
        row = input_values.fitted(cells, width)  # surplus cells are a habit of the file
        if source.quoting is Quoting.COPY:
            row = tuple(map(copied, row))
        if len(source.separator) > 1:
            row = tuple([cell.replace(_SIGN, source.separator) for cell in row])
        if marked and any(cell.startswith("'") for cell in row):
            row = tuple([cell[1:] if at in marked and _MARKED.match(cell) else cell for at, cell in enumerate(row)])
        return row

    return finished


class _Lines:
    """The lines of a file that are read and not yet forgotten, by their numbers."""

    def __init__(self, pieces: Iterator[str]) -> None:
        self._unread = (list(decoded_text.lines_of_piece(piece)) for piece in pieces)
        self._again: list[list[str]] = []  # comes before what is unread; the first is last
        self._first, self._lines = 1, list[str]()  # what is kept

    def lines_from(self, line: int) -> Iterator[str]:
        """Yield the lines from number `line` on with their ends, kept ones again, and then `END_MARK`."""
        if self._lines:
            if rest := self._lines[line - self._first :]:
                self._again.append(rest)
            self._first, self._lines = line, []
        # The loop over lines is in C: Python code runs once a piece, not once a line.
        return chain(islice(chain.from_iterable(self._pieces()), line - self._first, None), (decoded_text.END_MARK,))

    def _pieces(self) -> Iterator[list[str]]:
        while lines := self._again.pop() if self._again else next(self._unread, []):
            self._lines += lines
            yield lines

    def text(self, first: int, stop: int) -> str:
        """The lines from number `first` to before `stop`, with their ends."""
        return "".join(self._lines[first - self._first : stop - self._first])

    def raw(self, first: int, stop: int, *, longest: int = input_values.LONGEST_RAW) -> str:
        """The lines from number `first` to before `stop`, cut to `longest` characters, without the last line end."""
        text = decoded_text.without_line_end(self.text(first, stop))
        return text if len(text) <= longest else f"{text[:longest]}…"

    def line(self, number: int) -> str:
        """One line without its end; "" below the last. It is read ahead if need be."""
        if number >= self._first + len(self._lines):
            ahead = self._again.pop() if self._again else next(self._unread, [])
            self._again += [ahead] if ahead else []
            return decoded_text.without_line_end(next(iter(ahead), ""))
        return self.raw(number, number + 1)

    def forget(self, line: int) -> None:
        """Keep only the lines from number `line` on."""
        del self._lines[: line - self._first]
        self._first = line


class _Reading:
    """One reading of a file's records below the header, in blocks that are checked together."""

    def __init__(self, file: BinaryIO, source: Source, progress: Progress) -> None:
        self._separator, self._quoting, self._habits = one_sign(source.separator), source.quoting, source.habits
        self._width = len(source.columns)
        self._widths = frozenset(source.habits.widths or (self._width,))
        self._usual = self._widths | {0}  # a blank line has no cells
        self._is_wide = self._widths != {self._width}
        self._header: list[str] = []
        self._is_header_next = source.has_header
        pieces = decoded_text.text_pieces(file, source, progress, longest=LONGEST_CELL)
        self._text = _Lines(in_one_sign(piece, source.separator) for piece in pieces)
        self._read_again, self._at_once = 0, _MOST_AT_ONCE
        self._further = 0  # lines so far that go on with the record of the line above
        self._is_plain = True  # so far each record is a line
        self._begin(source.first_line)

    def _begin(self, line: int) -> None:
        self._above = line - 1  # lines above those that the reader gets
        self._reader = csv_rows(self._text.lines_from(line), self._separator, self._quoting)

    def blocks(self) -> Iterator[Block | Row]:
        while True:
            lines, rows, is_too_large = self._next_records()
            if not rows and not is_too_large:
                return
            is_open = bool(rows and rows[-1] and rows[-1][-1].endswith(decoded_text.END_MARK))
            last = rows.pop() if is_open else ()
            reader = self._reader
            yield from self._checked(lines[: len(rows) + 1], rows)
            if self._reader is not reader or not (is_open or is_too_large):
                continue
            if list(last) == [decoded_text.END_MARK]:
                return
            line = lines[len(rows)]
            number, first_line = line - self._further, self._text.raw(line, line + 1)
            if self._read_on_below(line):
                yield Row(number, (), _SWALLOWS_ROWS, raw=first_line)
                continue
            reason = NEVER_CLOSED if is_open else _TOO_LARGE
            yield Row(number, tuple(last[:-1]), reason.filled(line=number, most=LONGEST_CELL), raw=first_line)
            return

    def _next_records(self) -> tuple[Sequence[int], list[list[str]], bool]:
        """The first line of each record and of the next, the records, and whether the next is too large."""
        first = self._above + 1 + self._reader.line_num
        if self._is_plain:
            with suppress(csv.Error):
                rows: list[list[str]] = list(islice(self._reader, _MOST_AT_ONCE))  # this loop is in C
                if self._above + 1 + self._reader.line_num == first + len(rows):
                    return range(first, first + len(rows) + 1), rows, False
            self._is_plain = False
            self._begin(first)
        reader, below = self._reader, self._above + 1
        rows, starts = [], [first]
        try:
            for cells in islice(reader, self._at_once):
                rows.append(cells)
                starts.append(reader.line_num + below)
        except csv.Error:  # a reader that is not strict raises it only for the field size limit
            return starts, rows, True
        self._at_once = min(2 * self._at_once, _MOST_AT_ONCE)
        return starts, rows, False

    def _checked(self, lines: Sequence[int], rows: list[list[str]]) -> Iterator[Block | Row]:
        """Yield records; `lines` are their first lines, and the line below the last."""
        if not rows:
            return
        numbers = range(lines[0] - self._further, lines[0] - self._further + len(rows) + 1)
        self._further = lines[-1] - numbers[-1]
        if self._is_header_next and any(rows):
            blank = next(index for index, cells in enumerate(rows) if cells)
            self._header, self._is_header_next = rows[blank], False
            above = blank + rows_of_header(rows[blank:])
            lines, numbers, rows = lines[above:], numbers[above:], rows[above:]
        start = 0
        for index, (reason, kind) in self._problems_of(lines, rows).items():
            yield from self._as_they_are(numbers[start:index], rows[start:index])
            start = index + 1
            line, below = lines[index], lines[index + 1]
            raw, first_line = self._text.raw(line, below), self._text.raw(line, line + 1)
            is_sound = reason in (LINE_BREAK, CUT_SHORT)
            if below > line + 1 and not is_sound and self._read_on_below(line):
                self._further = line - numbers[index]
                yield Row(numbers[index], (), _SWALLOWS_ROWS, raw=first_line)
                return
            yield Row(numbers[index], tuple(rows[index]), reason, kind, raw)
        yield from self._as_they_are(numbers[start : len(rows)], rows[start:])
        self._text.forget(lines[-1])

    def _read_on_below(self, line: int) -> bool:
        """Let the next records begin below a line, if the one there is a row by itself."""
        if self._read_again > _MOST_READ_AGAIN or (self._width == 1 and self._habits.has_line_breaks):
            return False
        below = self._text.raw(line + 1, line + 2)
        if not below or width_of_line(below, self._separator, self._quoting) not in self._widths:
            return False
        self._read_again += self._above + self._reader.line_num - line
        self._at_once = _AFTER_A_MARK
        self._begin(line + 1)
        return True

    def _problems_of(self, lines: Sequence[int], rows: Sequence[Sequence[str]]) -> dict[int, Problem]:
        """The problems of records by index: all are judged by one expression, and single ones where that fails."""
        found: dict[int, Problem] = {}
        if self._is_wide or not self._usual.issuperset(map(len, rows)):
            found.update(self._of_unusual_width(rows))
        if lines[-1] - lines[0] != len(rows):
            found = dict(self._of_several_lines(lines, rows)) | found
        text = self._text.text(lines[0], lines[-1])
        if decoded_text.CUT_MARK[0] in text or not has_sound_quotes(text, self._separator, self._quoting):
            for index, (line, below) in enumerate(pairwise(lines)):
                if index not in found and (problem := self._of_record(line, below)):
                    found[index] = problem
        return dict(sorted(found.items()))

    def _of_unusual_width(self, rows: Sequence[Sequence[str]]) -> Iterator[tuple[int, Problem]]:
        for index, cells in enumerate(rows):
            if cells and (len(cells) not in self._widths or any(map(str.strip, cells[self._width :]))):
                is_cut = cells[-1].endswith(decoded_text.CUT_MARK)
                reason = _TOO_LONG if is_cut else width_problem(len(cells), self._width)
                yield index, (reason, ProblemKind.UNREADABLE_ROW)

    def _of_several_lines(self, lines: Sequence[int], rows: Sequence[Sequence[str]]) -> Iterator[tuple[int, Problem]]:
        for index, cells in enumerate(rows):
            line, below = lines[index], lines[index + 1]
            if below == line + 1 or not cells:
                continue
            if self._is_cut_short(below):
                yield index, (CUT_SHORT, ProblemKind.DOUBTFUL_ROW)
            elif is_fused(cells, below - line - 1, self._separator) and self._may_be_rows(line, below):
                yield index, (LINE_BREAK, ProblemKind.DOUBTFUL_ROW)

    def _may_be_rows(self, line: int, below: int) -> bool:
        if not self._habits.has_line_breaks or self._width < 3:
            return not self._habits.has_line_breaks
        lines = self._text.raw(line, below, longest=LONGEST_CELL).splitlines()
        return all(width_of_line(each, self._separator, self._quoting) == self._width for each in lines)

    def _is_cut_short(self, below: int) -> bool:
        """Whether the line below a record of several lines seems to be its rest, with the mark that should close it."""
        if self._quoting not in CHECKED:
            return False
        line = self._text.line(below)
        is_odd = line.replace('""', "").count('"') % 2 == 1
        return is_odd and not has_sound_quotes(line, self._separator, self._quoting)

    def _of_record(self, line: int, below: int) -> Problem | None:
        raw = self._text.raw(line, below, longest=LONGEST_CELL)
        if decoded_text.CUT_MARK in raw:
            return _TOO_LONG, ProblemKind.UNREADABLE_ROW
        doubt = doubt_about(raw, self._separator, self._quoting, self._habits)
        return (doubt, ProblemKind.DOUBTFUL_ROW) if doubt else None

    def _as_they_are(self, numbers: Sequence[int], rows: list[list[str]]) -> Iterator[Block | Row]:
        if not all(rows):
            numbers, rows = list(compress(numbers, rows)), list(filter(None, rows))
        is_repeated = len(self._header) > 1 and self._header[0] in map(itemgetter(0), rows)
        for number, cells in zip(numbers, rows, strict=False) if is_repeated else ():
            is_header = cells == self._header
            yield Row(number, tuple(cells), _REPEATED) if is_header else Block((number,), (cells,))
        if rows and not is_repeated:
            yield Block(numbers[: len(rows)], rows)
