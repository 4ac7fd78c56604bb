"""Distinguish a header from a first row of data, by what it has in common with the rows below it."""

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby, pairwise

from cfbatch_gui.core.inputs import column_names as vocabulary

NUMBER = "9"
LONG = "long"  # more than 60 characters without a space
TEXT = "text"  # three words or more; "text.", "text?" and so on for two or more that end with such a sign
_LONGEST = 60  # characters
_FIGURE = re.compile(
    r"[<>≤≥~±]?\s?[$€£¥]?\s?[-+]?[$€£¥]?[\d.,' \u00a0\u202f]*\d[\d.,' \u00a0\u202f]*(?:[eE][-+]?\d+)?\s?[%€$£¥]?"
)
_REPEATED = re.compile(r"(.)\1+", re.DOTALL)
_PARTED_NUMBER = re.compile(r"9(?:[.,]9)+")
_WORD = re.compile(r"(?:^|(?<= ))\W?[Aax]")
_ENDS = {**dict.fromkeys(".!。！।…", "."), **dict.fromkeys("?？؟", "?"), ":": ":", "：": ":"}


class _Classes(dict[int, str]):
    """Unicode characters as "A", "a", "x" for letters of scripts without cases, "9", or themselves."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        category = unicodedata.category(character)
        if category in ("Lu", "Lt"):
            found = "A"
        elif category == "Ll":
            found = "a"
        elif category[0] in "LM":
            found = "x"
        else:
            found = "9" if category == "Nd" else character
        self[code] = found
        return found


_CLASSES = _Classes()


def shape_of(cell: str) -> str:
    """The shape of a stripped cell that is not empty: "Aa" for "Berlin", "A9" for "B12", "9" for "-1,204.50"."""
    if cell.isalpha() and len(cell) <= _LONGEST:  # most texts are words, and these methods take least time
        if cell.islower():
            return "a"
        if cell.isupper():
            return "A"
        if cell.istitle():
            return "Aa"
    elif cell.isdecimal():
        return NUMBER
    if len(cell) > _LONGEST:
        return _prose(cell[-1]) if " " in cell else LONG
    return NUMBER if _FIGURE.fullmatch(cell) else _shape_of_text(cell)


@lru_cache(maxsize=4096)
def _shape_of_text(cell: str) -> str:
    shape = _REPEATED.sub(r"\1", cell.translate(_CLASSES))
    if " " in shape and (len(_WORD.findall(shape)) > 2 or (shape[-1] in _ENDS and has_letters(shape))):
        return _prose(shape[-1])
    return _PARTED_NUMBER.sub("9", shape) if "9" in shape else shape


def _prose(last: str) -> str:
    return TEXT + _ENDS.get(last, "")


def has_letters(shape: str) -> bool:
    return shape == LONG or any(letter in shape for letter in "Aax")


# Evidence is the natural logarithm of how much more likely a cell is in a header than in a row of data; that of the
# columns is added up. The figures were chosen by one half of the tables in benchmarks/header_tables.
_OF_TABLES = 1.3  # before the cells are looked at: most tables of several columns have a header
_OF_LISTS = -1.0  # most lists, which have one column, have none
_CLOSE = 2.5  # below this sum, either way, the other answer is not unlikely
_SURE = 6.0  # from this sum on, words are not looked up
_MOST_FOR, _MOST_AGAINST = 4.0, 5.0  # from one column
_WEAK = 1.3  # less than this against a header may come by chance from all columns of a table of single words …
_MOST_WEAK = 1.1  # … and so counts only once
_KNOWN = 3.0  # a name that the vocabulary has for a role
_REPEATED_VALUE = -3.0  # the cell is found in the column below
_REPEATED_NAME = -1.0  # the cell is found in the same row
_MOST_REPEATED_NAMES = 2
_TITLE = -4.0  # most cells of the row are empty
_CONTINUED = 0.3  # a year or another figure that goes on from column to column: "Region, 2021, 2022"
_LEAST_STEPS = 3  # between figures that go on
_WITHOUT_LETTERS = -2.3
_BEGUN_WITH_FIGURE = -0.7
_LEAST_SPREAD = 0.3  # of the logarithms of lengths in a column, so that a few equal lengths do not say much
ROWS_FOR_HEADER = 100  # that callers read, of which a few are compared with the first
_ROWS = 12  # at most so many rows below are compared

# How many of a thousand names have each shape.
_NAMES_WITH = {
    **{"a": 200, "Aa": 250, "A": 150, "x": 350, "aAa": 50, "AaAa": 50, "a_a": 100, "A_A": 50},
    **{"Aa a": 80, "Aa Aa": 70, "a a": 50, "A A": 30, "x x": 100, TEXT: 60, TEXT + "?": 30, LONG: 20, NUMBER: 10},
}
_NAMES_WITH_ANOTHER = 10
# How many new shapes to expect after those below, compared with one shape that was seen once: texts vary, codes do not.
_NEW_TEXTS, _NEW_CODES, _NEW_OTHERS = 1.5, 0.12, 0.5
_EMPTY_NAMES = {True: 0.2, False: 0.03}  # share of the first and of further columns; R and pandas leave the first empty
_ABSENT_NAMES = 0.01
_ABSENT = frozenset(
    (
        *("NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "None", "#N/A", r"\N"),
        *("-", "--", "–", "—", ".", "..", "...", "?", "*", "**", "***", "*****"),
    )
)
_PLAIN = re.compile(r"\d{1,4}(?:\.\d+)?")
_YEAR = re.compile(r"(?:1[6-9]|20|21)\d\d")


@dataclass(frozen=True, slots=True)
class HeaderJudgement:
    """How likely the first row is a header, as the logarithm of its odds: 0 is even, 2.3 is ten to one."""

    evidence: float

    @property
    def is_header(self) -> bool:
        return self.evidence > 0

    @property
    def is_close(self) -> bool:
        return abs(self.evidence) < _CLOSE


_NONE = HeaderJudgement(-_MOST_AGAINST)


def has_header(rows: Sequence[Sequence[str]]) -> bool:
    return judge_header(rows).is_header


def judge_header(rows: Sequence[Sequence[str]], *, decided: bool | None = None) -> HeaderJudgement:
    """Judge by all cells together whether the first row names the columns; no cell decides alone."""
    if decided is not None:
        return HeaderJudgement(math.inf if decided else -math.inf)
    if not rows:
        return _NONE
    width = _width(rows)
    # A file made by concatenating others repeats the header.
    below = [row for row in rows[1:] if row != rows[0]] if width > 1 else rows[1:]
    if not below:
        return HeaderJudgement(_KNOWN) if len(rows) == 1 and any(map(vocabulary.is_known, rows[0])) else _NONE
    first = with_row_names([rows[0], *below])
    cells, *sample = ([*map(str.strip, row[:width]), *[""] * (width - len(row))] for row in (first, *below[:_ROWS]))
    columns = list(zip(*sample, strict=True))
    evidence = _of_row(cells) + (_OF_TABLES if width > 1 else _OF_LISTS)
    weak = 0.0
    continued = _continued(cells, columns)
    for index, cell in enumerate(cells):
        found = _of_cell(cell, columns[index], is_first=index == 0, is_continued=index in continued)
        if -_WEAK < found < 0:
            weak += found
        else:
            evidence += found
    evidence += max(weak, -_MOST_WEAK)
    if evidence < _SURE:
        new = [(index, cell) for index, cell in enumerate(cells) if cell and cell not in columns[index]]
        again = sum(1 for index, cell in new if not cell.isdecimal() and _is_in(cell, index, below[_ROWS:]))
        names = _KNOWN * sum(vocabulary.is_known(cell) for _, cell in new)
        # A list of texts seldom begins with a word that names lists.
        evidence += again * _REPEATED_VALUE + (names if width > 1 else 2 * names)
    return HeaderJudgement(evidence)


def with_row_names(rows: Sequence[Sequence[str]]) -> Sequence[str]:
    """The first row, with "" in front if R wrote row names without a name for their column."""
    names, below = rows[0], rows[1:]
    width = len(names) + 1
    if not below or len(below[0]) != width:
        return names
    own = [row[0] for row in below if row]
    is_of_r = all(names) and all(len(row) == width for row in below) and len(set(own)) == len(own) and all(own)
    return ("", *names) if is_of_r and any(row[-1] for row in below) else names


def _width(rows: Sequence[Sequence[str]]) -> int:
    width = max(map(len, rows))
    while width and not any(len(row) >= width and row[width - 1].strip() for row in rows):
        width -= 1
    return width


def _is_in(cell: str, index: int, rows: Sequence[Sequence[str]]) -> bool:
    return any(index < len(row) and row[index].strip() == cell for row in rows)


def _of_row(cells: Sequence[str]) -> float:
    filled = [cell.casefold() for cell in cells if cell]
    if len(cells) > 2 and len(filled) * 2 <= len(cells) and len(filled) < len(cells) - 1:
        return _TITLE
    words = [cell for cell in filled if not cell[0].isdigit()]
    return _REPEATED_NAME * min(_MOST_REPEATED_NAMES, len(words) - len(set(words)))


def _of_cell(cell: str, column: Sequence[str], *, is_first: bool, is_continued: bool) -> float:
    values = [value for value in column if value and value not in _ABSENT]
    if not values:
        return 0.0
    if not cell or cell in _ABSENT:
        among_names = _ABSENT_NAMES if cell else _EMPTY_NAMES[is_first]
        among_values = (len(column) - len(values) + 0.5) / (len(column) + 1)
        return _within(math.log(among_names / among_values), 2.5, 1.0 if is_first else 0.0)
    if is_continued:
        return _CONTINUED
    shapes = Counter(map(shape_of, values))
    evidence = _of_shape(shape_of(cell), shapes, len(values))
    if shapes[NUMBER] * 2 <= len(values):
        evidence += _REPEATED_VALUE if cell in values else _of_length(cell, values)
    return _within(evidence, _MOST_AGAINST, _MOST_FOR)


def _of_shape(shape: str, shapes: Counter[str], count: int) -> float:
    """The evidence of a shape, given those of `count` cells below, by Good and Turing's estimate."""
    usual = max(shapes, key=shapes.__getitem__)
    if usual.startswith(TEXT):
        new = _NEW_TEXTS
    else:
        new = _NEW_CODES if "9" in usual and shapes[usual] * 10 >= count * 7 else _NEW_OTHERS
    among_names = _NAMES_WITH.get(shape, _NAMES_WITH_ANOTHER) / 1000
    if seen := shapes[shape]:
        return math.log(among_names / (seen / (count + new)))
    if shape.startswith(TEXT) and usual.startswith(TEXT):  # it only ends in another way, as every second new one may
        return math.log(among_names / (new / (count + new) / 2))
    once = sum(1 for number in shapes.values() if number == 1) if count > 1 else 0
    unlikely = (_BEGUN_WITH_FIGURE if shape[0] == "9" else 0.0) if has_letters(shape) else _WITHOUT_LETTERS
    return unlikely - math.log(min(0.9, (once + new) / (count + new)))


def _of_length(cell: str, values: Sequence[str]) -> float:
    count = len(values)
    if count < 3:
        return 0.0
    lengths = [math.log(len(value)) for value in values]
    mean = sum(lengths) / count
    spread = math.sqrt(max(0.0, sum([length * length for length in lengths]) / count - mean * mean))
    distance = abs(math.log(len(cell)) - mean) / max(_LEAST_SPREAD, spread)
    if distance < 1:
        return -0.2 * (1 - distance)
    return _within(distance * distance / 2 - 1, 0.25, min(2.0, 0.3 * count))


def _continued(cells: Sequence[str], columns: Sequence[Sequence[str]]) -> set[int]:
    """The indices of figures that may be names.

    Years, or figures that rise or fall in the row and not in those below.
    """
    found = {
        index
        for index, cell in enumerate(cells)
        if _YEAR.fullmatch(cell) and sum(map(bool, map(_YEAR.fullmatch, columns[index]))) * 2 < len(columns[index])
    }
    for begin, end in _runs(cells):
        rows = list(zip(*columns[begin:end], strict=True))
        if sum(1 for row in rows if next(_runs(row), None) == (0, end - begin)) * 2 < len(rows):
            found.update(range(begin, end))
    return found


def _runs(cells: Sequence[str]) -> Iterator[tuple[int, int]]:
    """The begins and ends of four neighbouring figures or more with the same step from each to the next."""
    steps = [
        round(float(other) - float(one), 6) if _PLAIN.fullmatch(one) and _PLAIN.fullmatch(other) else 0.0
        for one, other in pairwise(cells)
    ]
    index = 0
    for step, same in groupby(steps):
        begin, index = index, index + sum(1 for _ in same)
        if step and index - begin >= _LEAST_STEPS:
            yield begin, index + 1


def _within(value: float, least: float, most: float) -> float:
    return max(-least, min(most, value))


def table_width(rows: Sequence[Sequence[str]], header: bool) -> int:
    """The usual number of cells, or that of the first row if a header has more."""
    widths = [len(row) for row in rows[header:]]
    usual = max(widths, key=lambda width: (widths.count(width), -widths.index(width)))
    return max(len(rows[0]), usual) if header else usual
