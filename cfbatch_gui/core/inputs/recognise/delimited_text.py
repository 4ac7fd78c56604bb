"""Recognise how a delimited text is to be read, by trying each separator and quoting."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from cfbatch_gui.core.errors import InputError, UsageError
from cfbatch_gui.core.inputs import column_names as vocabulary
from cfbatch_gui.core.inputs.input_values import Candidate, Quoting, RowHabits, Source, cells_text, columns_text
from cfbatch_gui.core.inputs.open_file import without_rows
from cfbatch_gui.core.inputs.readers import delimited_rows
from cfbatch_gui.core.inputs.readers.decoded_text import without_marks
from cfbatch_gui.core.inputs.recognise import table_bounds
from cfbatch_gui.core.inputs.recognise.headers import ROWS_FOR_HEADER, filled_width, with_header
from cfbatch_gui.core.messages import message

SEPARATORS = (",", ";", "\t", "|")
SPACE = " "  # R's write.table separates by it; cells with text are quoted
_NAMES = {"space": SPACE, "tab": "\t", "comma": ",", "semicolon": ";", "pipe": "|", "bar": "|", r"\t": "\t"}
_LONGEST = 8  # characters
_LEAST_LINES = 3
_LINES = 200
# What stands between names: signs with the spaces around them, or several spaces. Some programs take a letter.
_BETWEEN = re.compile(r""" *[^\w"' \r\n](?:[^\w"'\r\n]*[^\w"' \r\n])? *| {2,}|þ""")
_SELDOM_IN_TEXTS = "^~§¦¶‡¬│þ،؛，；、"


def wanted_separator(wanted: str | None) -> str:
    """The separator that the user names, "" for none. Raises UsageError for what cannot be one."""
    if not wanted:
        return ""
    separator = _NAMES.get(wanted, wanted)
    if len(separator) > _LONGEST or any(sign.isalnum() and sign != "þ" for sign in separator) or '"' in separator:
        raise UsageError(message("wanted_cannot_be_separator_choose_one", wanted=wanted))
    return separator


def separator_between_names(lines: Sequence[str]) -> str:
    """What stands between known names in the first line, as often in the others and in none less often; "" for none."""
    if len(lines) < _LEAST_LINES:
        return ""
    found: Counter[str] = Counter(_BETWEEN.findall(lines[0]))
    for separator, _ in found.most_common():
        names = lines[0].split(separator)
        known = sum(map(vocabulary.is_known, names))
        counts = Counter(line.count(separator) for line in lines[1:])
        # In a table of which two columns have known names, some texts may hold the sign themselves.
        are_even = set(counts) == {len(names) - 1} or (known > 1 and min(counts) == len(names) - 1)
        if known and all(map(str.strip, names)) and len(separator) <= _LONGEST and are_even:
            return separator
    return ""


def is_of_several(separator: str) -> bool:
    """Whether it is made of separators, which by themselves would part empty cells."""
    return len(separator) > 1 and set(separator) <= set(SEPARATORS)


def likely_separator(lines: Sequence[str]) -> str:
    """A sign that texts seldom hold, and that every line of a list has equally often; "" for none."""
    signs = {sign for line in lines[:1] for sign in line if sign in _SELDOM_IN_TEXTS or is_control(sign)}
    for sign in sorted(signs) if len(lines) >= _LEAST_LINES else ():
        if len({line.count(sign) for line in lines}) == 1:
            return sign
    return ""


def is_control(sign: str) -> bool:
    """Whether it is a character that no text holds, so that a list with it in every line is surely a table."""
    return sign < " " and sign not in "\t\r\n\f\v\x1b"


def first_lines(sample: str, *, is_whole: bool) -> list[str]:
    """The first lines that are not blank, without their ends and without one that the end of the sample cuts off."""
    lines = [line.strip("\r\n") for line in re.split(r"\r\n|\n|\r", sample)]
    whole = lines if is_whole else lines[:-1]
    return [line for line in whole if line.strip(" \t")][:_LINES]


_LEAST_AGREEMENT = 0.9
_ROWS = 500
# If rows agree for several separators: commas and bars are part of cells (1,5 and red|blue) more often than others.
_PREFERENCE = ("\t", ";", ",", "|")
_SEPARATOR_LINE = re.compile(r'"?sep=(.)"?[;,\t|]*\r?\n', re.IGNORECASE)  # Excel understands this as a first line
_NULL = re.compile(r"(?m)(?:^|\t)\\N(?:\t|\r?$)|^\\\.\r?$")  # an empty cell, and the last line, of PostgreSQL's COPY
_END_OF_COPY = re.compile(r"(?m)^\\\.\r?\n?\Z")
_UNQUOTED = ("\t", "|")  # separators that are chosen so that nothing needs quotation marks
_ONE_QUOTED = re.compile(r"'.*'", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Dialect:
    """How a text is cut into cells, and its table: from `first_line` (from 1) to before `end_line`, 0 for the end."""

    separator: str
    quoting: Quoting
    first: int = 0  # cells of the first row
    usual: int = 0  # cells of most rows
    agreement: float = 1.0  # share of rows that have `usual` cells
    rows: int = 0
    first_line: int = 1
    end_line: int = 0
    is_spaced: bool = False  # most cells after the first of a row begin with a space, as after a comma in a sentence

    @property
    def is_table(self) -> bool:
        return self.first == self.usual > 1 and self.agreement >= _LEAST_AGREEMENT

    @property
    def is_even(self) -> bool:
        return self.first == self.usual > 1 and self.agreement == 1 and self.rows >= _LEAST_ROWS

    @property
    def likelihood(self) -> tuple[float, int]:
        """Agreement, reduced for lines left aside and cells that begin with spaces; then how usual the separator is."""
        rank = _PREFERENCE.index(self.separator) if self.separator in _PREFERENCE else len(_PREFERENCE)
        return self.agreement - 0.15 * (self.first_line > 1) - 0.2 * self.is_spaced, -rank


def _dialect(candidate: Candidate, separator: str) -> Dialect:
    """The dialect with a separator; with "" for the one that the first line declares, or the likeliest."""
    text = delimited_rows.in_one_sign(candidate.text, separator)
    declared = _SEPARATOR_LINE.match(text)
    if declared and declared[1] in SEPARATORS and not separator:
        separator = declared[1]
    skipped = 1 if declared and declared[1] == separator else 0
    table = text[declared.end() :] if declared and skipped else text
    wanted = (delimited_rows.one_sign(separator),) if separator else SEPARATORS
    preferred = "\t" if candidate.suffix in (".tsv", ".tab") else ""  # chosen whenever its rows agree
    best = _best([_usual_or_better(table, each, candidate.is_whole) for each in wanted], preferred, table)
    end_line = best.end_line + skipped if best.end_line else 0
    return replace(best, separator=separator or best.separator, first_line=best.first_line + skipped, end_line=end_line)


def _best(trials: list[Dialect], preferred: str, sample: str) -> Dialect:
    if tables := [trial for trial in trials if trial.is_table]:
        return max(tables, key=lambda trial: (trial.separator == preferred, trial.likelihood))
    # One column, whose texts may hold unquoted commas: choose a separator that does not occur in them.
    whole = next((trial for trial in trials if trial.usual <= 1 and trial.agreement == 1), None)
    ragged = [trial for trial in trials if trial.first > 1 or trial.usual > 1]
    if not ragged:
        return whole or trials[0]
    if whole and (quoted := [each for each in ragged if each.usual > 1 and _fits_better(sample, each, whole)]):
        return max(quoted, key=lambda trial: trial.likelihood)
    best = max(ragged, key=lambda trial: trial.likelihood)
    return whole if whole and (best.is_spaced or best.usual <= 1) else best


def _fits_better(sample: str, trial: Dialect, whole: Dialect) -> bool:
    return _quote_fit(sample, trial.separator) >= _LEAST_AGREEMENT > _quote_fit(sample, whole.separator) + 0.2


def _quote_fit(sample: str, separator: str) -> float:
    """The share of quotation marks that may begin or end a cell with this separator, 0 without such marks."""
    text = sample.replace('""', "")
    sign = re.escape(separator)
    beside = re.compile(rf'(?:(?<=[{sign}\r\n])|\A) *"|"(?= *(?:[{sign}\r\n]|\Z))')
    return len(beside.findall(text)) / max(1, text.count('"'))


def is_clearly_delimited(sample: str, *, is_whole: bool, separators: Sequence[str] = SEPARATORS) -> bool:
    """Whether a text is a table, whatever its name: at least three rows, all of the same width."""
    trials = (_try(_END_OF_COPY.sub("", sample.lstrip("\r\n")), separator, is_whole) for separator in separators)
    return any(trial.rows >= 3 and trial.usual > 1 and trial.first_line == 1 and _agree(trial) for trial in trials)


def _agree(trial: Dialect) -> bool:
    is_of_r = trial.separator == "\t" and 1 < trial.first == trial.usual - 1
    return trial.agreement == 1 or (is_of_r and round(trial.agreement * trial.rows) == trial.rows - 1)


def _usual_or_better(sample: str, separator: str, is_whole: bool) -> Dialect:
    usual = _try(sample, separator, is_whole)
    if separator == "\t" and _NULL.search(sample):
        as_copy = _try(sample, separator, is_whole, Quoting.COPY)
        if as_copy.usual > 1 and as_copy.agreement >= usual.agreement:
            return as_copy
    if f'{separator} "' in sample and usual.is_spaced:
        spaced = _try(sample, separator, is_whole, Quoting.SPACED)
        if spaced.is_even:
            return spaced
    if '"' in sample and not delimited_rows.has_sound_quotes(sample, separator, Quoting.DOUBLED):
        if '\\"' in sample and delimited_rows.has_sound_quotes(sample, separator, Quoting.ESCAPED):
            escaped = _try(sample, separator, is_whole, Quoting.ESCAPED)
            if escaped.agreement >= usual.agreement:
                return escaped
        plain = _try(sample, separator, is_whole, Quoting.NONE)
        if plain.is_even and separator in _UNQUOTED:
            return plain
    if "'" in sample and '"' not in sample:
        single = _try(sample, separator, is_whole, Quoting.SINGLE)
        is_better = single.agreement > usual.agreement or _is_in_single_quotes(sample, separator)
        if single.is_even and is_better:
            return single
    return usual


def _is_in_single_quotes(sample: str, separator: str) -> bool:
    records = table_bounds.sample_records(sample, separator, Quoting.NONE, first_line=1, is_whole=True)
    rows = [record.cells for record in records][1:_ROWS]
    quoted = sum(bool(_ONE_QUOTED.fullmatch(cell)) for row in rows for cell in row)
    return quoted >= max(3, len(rows))


def _try(sample: str, separator: str, is_whole: bool, quoting: Quoting = Quoting.DOUBLED) -> Dialect:
    records = table_bounds.sample_records(sample, separator, quoting, first_line=1, is_whole=is_whole)
    if not records:
        return Dialect(separator, quoting)
    start = table_bounds.first_of_table(records)
    stop = table_bounds.end_of_table(records, start)
    table = records[start:stop][:_ROWS]
    widths = [len(record.cells) for record in table]
    # Of equally frequent widths the first is taken, so that the header decides in a file of two rows.
    usual, count = Counter(widths).most_common(1)[0]
    return Dialect(
        *(separator, quoting, widths[0], usual, count / len(widths), len(widths)),
        first_line=records[start].line,
        end_line=records[stop].line if stop < len(records) else 0,
        is_spaced=_is_spaced(table),
    )


def _is_spaced(table: list[table_bounds.Record]) -> bool:
    further = [cell for record in table for cell in record.cells[1:] if cell]
    return sum(cell.startswith(" ") for cell in further) * 2 > len(further)


_LEAST_ROWS = 3  # one row may be damaged, and a second one by chance
_LEAST_SHARE = 0.05  # of all rows
_MOST_ROWS = 0.8  # share of the rows that are shorter than the header, if that is a habit
_NO_HABITS = RowHabits()
_OTHER_WIDTH = message("first_row_names_columns_but_rows")


def _with_habits(source: Source, records: Sequence[table_bounds.Record]) -> Source:
    """The source with its rows' habits: what at least three rows have in common and one in twenty."""
    rows = records[source.has_header :]
    notices = tuple(_notices_of_header(records[0], rows, source)) if source.has_header else ()
    return replace(source, habits=_habits(rows, source), notices=(*source.notices, *notices))


def _notices_of_header(
    header: table_bounds.Record, rows: Sequence[table_bounds.Record], source: Source
) -> Iterator[str]:
    if delimited_rows.doubt_about(header.raw, delimited_rows.one_sign(source.separator), source.quoting, _NO_HABITS):
        yield message("there_is_quotation_mark_first_row")
    names, width = header.reach, len(source.columns)
    cells = Counter(len(row.cells) for row in rows).most_common(1)[0][0] if rows else width
    widest = max((row.reach for row in rows if len(row.cells) == cells), default=width)
    is_wider = names > cells or (len(header.cells) > cells and names > widest)
    if is_wider or names < width or len(header.cells) < cells:
        yield _OTHER_WIDTH.filled(columns=columns_text(names), cells=cells_text(cells))


def _habits(rows: Sequence[table_bounds.Record], source: Source) -> RowHabits:
    separator = delimited_rows.one_sign(source.separator)
    doubts = [delimited_rows.doubt_about(row.raw, separator, source.quoting, _NO_HABITS) for row in rows]
    stray = doubts.count(delimited_rows.STRAY_QUOTE)
    broken = sum("\n" in row.raw or "\r" in row.raw for row in rows)
    return RowHabits(
        _widths([row.cells for row in rows], len(source.columns)),
        has_line_breaks=_is_habit(broken, len(rows)) or broken > 1,
        has_stray_quotes=_is_habit(stray, len(rows)),
    )


def _widths(rows: Sequence[Sequence[str]], width: int) -> tuple[int, ...]:
    """The numbers of cells that rows have by habit; () if that is only the number of columns."""
    counts = Counter(len(cells) for cells in rows if not any(map(str.strip, cells[width:])))
    usual = [each for each, count in counts.items() if each >= width and _is_habit(count, len(rows))]
    short = [each for each, count in counts.items() if each < width and count >= max(2, _MOST_ROWS * len(rows))]
    return tuple(sorted((*usual, *short))) if usual != [width] or short else ()


def _is_habit(count: int, rows: int) -> bool:
    return (count >= _LEAST_ROWS and count >= _LEAST_SHARE * rows) or (count == rows == 2)


def open_delimited(source: Source, candidate: Candidate, separator: str) -> Source:
    """Find dialect, bounds, header and habits of a table; `separator` is "" for one to be found. Raises InputError."""
    if separator:
        return _open_table(source, candidate, _dialect(candidate, separator))
    lines = first_lines(candidate.text, is_whole=candidate.is_whole)
    named = separator_between_names(lines)
    if is_of_several(named):
        return _open_table(source, candidate, _dialect(candidate, named))
    found = _open_table(source, candidate, _dialect(candidate, ""))
    if len(found.columns) > 1 or named in SEPARATORS:
        return found
    likely = likely_separator(lines)
    if named or (likely and is_control(likely)):
        return _open_table(source, candidate, _dialect(candidate, named or likely))
    if not likely:
        return found
    notice = message("each_line_holds_sign_equally_often", sign=likely)
    return replace(found, likely_separator=likely, notices=(*found.notices, notice))


def _open_table(source: Source, candidate: Candidate, dialect: Dialect) -> Source:
    decided = candidate.options.has_header
    source = replace(
        source, columns=(), separator=dialect.separator, quoting=dialect.quoting, first_line=dialect.first_line
    )
    if len(source.separator) == 1:
        source = table_bounds.with_ends(source, candidate.head, candidate.text, dialect.end_line)
    records = _records(source, candidate)
    if not records and source.end:  # the lines that were taken for notes below the table are its only rows
        source = replace(source, end=0, first_line=1, notices=())
        records = _records(source, candidate)
    unclosed = next((delimited_rows.NEVER_CLOSED.filled(line=each.line) for each in records if each.is_open), "")
    first = [record.cells for record in records if not record.is_open][:ROWS_FOR_HEADER]
    if not first:
        raise _unreadable(source.path, unclosed) if unclosed else without_rows(source.path)
    if decided is not False and (above := delimited_rows.rows_of_header(first)) > 1:
        source = replace(source, notices=(*source.notices, *_notice_of_header(first[1:above])))
        del first[1:above]
        decided = True
    if unclosed and len(first) == 1:
        raise _unreadable(source.path, unclosed)
    source = with_header(source, _without_empty_ends(first), decided)
    return delimited_rows.marked_columns(_with_habits(source, records))


def _records(source: Source, candidate: Candidate) -> list[table_bounds.Record]:
    text, is_whole = candidate.text, candidate.is_whole
    if 0 < source.end <= len(candidate.head):
        text, is_whole = without_marks(candidate.head[: source.end].decode(source.encoding, "replace"))[0], True
    text = delimited_rows.in_one_sign(text, source.separator)
    sign = delimited_rows.one_sign(source.separator)
    found = table_bounds.sample_records(text, sign, source.quoting, first_line=source.first_line, is_whole=is_whole)
    if source.quoting is Quoting.COPY:
        return [replace(record, cells=tuple(map(delimited_rows.copied, record.cells))) for record in found]
    return found


def _notice_of_header(below: Sequence[Sequence[str]]) -> tuple[str, ...]:
    if not any(letter.isalpha() for cell in below[0] for letter in cell):
        return ()  # a ruled line
    return (message("what_stands_below_names_is_not"),)


def _without_empty_ends(rows: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
    first, *others = map(filled_width, rows)
    widest = max(first, sorted(others)[-2] if len(others) > 2 else max(others, default=0))
    return [row[:widest] for row in rows] if widest else rows


def _unreadable(path: Path, problem: str) -> InputError:
    return InputError(message("name_cannot_be_read_table_problem", name=path.name, problem=problem))
