"""Distinguish a header from a first row of data, by what it has in common with the rows below it."""

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import groupby

from cfbatch_gui.core.inputs import column_names as vocabulary
from cfbatch_gui.core.inputs.input_values import Source
from cfbatch_gui.core.inputs.open_file import only_header

NUMBER = "9"
LONG = "long"  # more than 60 characters without a space
TEXT = "text"  # three words or more
_LONGEST = 60  # characters
_FIGURE = re.compile(
    r"[<>≤≥~±]?\s?[$€£¥]?\s?[-+]?[$€£¥]?[\d.,' \u00a0\u202f]*\d[\d.,' \u00a0\u202f]*(?:[eE][-+]?\d+)?\s?[%€$£¥]?"
)
_CLASSES = {"Lu": "A", "Lt": "A", "Ll": "a", "Nd": "9"}  # other letters and their marks are "x"


@lru_cache(maxsize=4096)
def shape_of(cell: str) -> str:
    """The shape of a stripped cell that is not empty: "Aa" for "Berlin", "A9" for "B12", "9" for "-1,204.50"."""
    if len(cell) > _LONGEST:
        return TEXT if " " in cell else LONG
    if _FIGURE.fullmatch(cell):
        return NUMBER
    shape = "".join(each for each, _ in groupby(map(_class_of, cell)))
    return TEXT if shape.count(" ") > 1 and has_letters(shape) else shape


@lru_cache(maxsize=4096)
def _class_of(sign: str) -> str:
    category = unicodedata.category(sign)
    return _CLASSES.get(category) or ("x" if category[0] in "LM" else sign)


def has_letters(shape: str) -> bool:
    return shape == LONG or any(letter in shape for letter in "Aax")


# Evidence is the natural logarithm of how much more likely a cell is in a header than in a row of data; that of the
# columns is added up. The figures were chosen by one half of the tables in benchmarks/header_tables.
_OF_TABLES = 1.3  # before the cells are looked at: most tables of several columns have a header
_OF_LISTS = -1.0  # most lists, which have one column, have none
CLOSE = 2.5  # below this sum, either way, the other answer is not unlikely
_MOST_FOR, _MOST_AGAINST = 4.0, 5.0  # from one column
_KNOWN = 3.0  # a name that the vocabulary has for a role
_REPEATED_VALUE = -3.0  # the cell is found in the column below
_TITLE = -4.0  # most cells of the row are empty
_FIGURE_ABOVE = 0.3  # a year, or the number of a column: "Region, 2021, 2022"
_WITHOUT_LETTERS = -2.3
_BEGUN_WITH_FIGURE = -0.7
ROWS_FOR_HEADER = 100  # that callers read, of which a few are compared with the first
_ROWS = 12  # at most so many rows below are compared

# How many of a thousand names have each shape.
_NAMES_WITH = {"a": 200, "Aa": 250, "A": 150, "x": 350, "aAa": 50, "AaAa": 50, "a_a": 100, "A_A": 50, TEXT: 60}
_NAMES_WITH_ANOTHER = 10
_NEW_CODES, _NEW_OTHERS = 0.12, 0.5  # how likely a new shape is below, compared with one shape that was seen once
_EMPTY_NAMES = {True: 0.2, False: 0.03}  # share of the first and of further columns; R and pandas leave the first empty
_YEAR = re.compile(r"(?:1[6-9]|20|21)\d\d")


def has_header(rows: Sequence[Sequence[str]]) -> bool:
    return judge_header(rows) > 0


def judge_header(rows: Sequence[Sequence[str]]) -> float:
    """How likely the first row names the columns, as the logarithm of its odds: 0 is even, 2.3 is ten to one.

    All cells are judged together; none decides alone.
    """
    if not rows:
        return -_MOST_AGAINST
    width = max(map(filled_width, rows))
    # A file made by concatenating others repeats the header.
    below = [row for row in rows[1:] if row != rows[0]] if width > 1 else rows[1:]
    if not below:
        return _KNOWN if len(rows) == 1 and any(map(vocabulary.is_known, rows[0])) else -_MOST_AGAINST
    first = with_row_names([rows[0], *below])
    cells, *sample = ([*map(str.strip, row[:width]), *[""] * (width - len(row))] for row in (first, *below[:_ROWS]))
    columns = list(zip(*sample, strict=True))
    filled = sum(map(bool, cells))
    is_title = width > 2 and filled * 2 <= width and filled < width - 1
    evidence = (_TITLE if is_title else 0.0) + (_OF_TABLES if width > 1 else _OF_LISTS)
    are_counted = _are_counted(cells) and not any(map(_are_counted, zip(*columns, strict=True)))
    for index, cell in enumerate(cells):
        is_named_so = (are_counted and cell.isdecimal()) or _is_year_above(cell, columns[index])
        evidence += _FIGURE_ABOVE if is_named_so else _of_cell(cell, columns[index], is_first=index == 0)
        if vocabulary.is_known(cell) and cell not in columns[index]:
            evidence += _KNOWN if width > 1 else 2 * _KNOWN  # a list seldom begins with a word that names lists
    return evidence


def with_row_names(rows: Sequence[Sequence[str]]) -> Sequence[str]:
    """The first row, with "" in front if R wrote row names without a name for their column."""
    names, below = rows[0], rows[1:]
    width = len(names) + 1
    if not below or len(below[0]) != width:
        return names
    own = [row[0] for row in below if row]
    is_of_r = all(names) and all(len(row) == width for row in below) and len(set(own)) == len(own) and all(own)
    return ("", *names) if is_of_r and any(row[-1] for row in below) else names


def filled_width(cells: Sequence[str]) -> int:
    """How many cells a row has up to the last that is not blank."""
    return next((index for index in range(len(cells), 0, -1) if cells[index - 1].strip()), 0)


def _of_cell(cell: str, column: Sequence[str], *, is_first: bool) -> float:
    values = [value for value in column if value]
    if not values:
        return 0.0
    if not cell:
        among_values = (len(column) - len(values) + 0.5) / (len(column) + 1)
        return _within(math.log(_EMPTY_NAMES[is_first] / among_values), 2.5, 1.0 if is_first else 0.0)
    shapes = Counter(map(shape_of, values))
    evidence = _of_shape(shape_of(cell), shapes, len(values))
    if shapes[NUMBER] * 2 <= len(values) and cell in values:
        evidence += _REPEATED_VALUE
    return _within(evidence, _MOST_AGAINST, _MOST_FOR)


def _of_shape(shape: str, shapes: Counter[str], count: int) -> float:
    """The evidence of a shape, given those of `count` cells below, by Good and Turing's estimate."""
    usual = max(shapes, key=shapes.__getitem__)
    new = _NEW_CODES if "9" in usual and shapes[usual] * 10 >= count * 7 else _NEW_OTHERS
    if seen := shapes[shape]:
        return math.log(_NAMES_WITH.get(shape, _NAMES_WITH_ANOTHER) / 1000 / (seen / (count + new)))
    once = sum(1 for number in shapes.values() if number == 1) if count > 1 else 0
    unlikely = (_BEGUN_WITH_FIGURE if shape[0] == "9" else 0.0) if has_letters(shape) else _WITHOUT_LETTERS
    return unlikely - math.log(min(0.9, (once + new) / (count + new)))


def _is_year_above(cell: str, column: Sequence[str]) -> bool:
    """Whether it is a year, and most of what is below are none."""
    return bool(_YEAR.fullmatch(cell)) and sum(map(bool, map(_YEAR.fullmatch, column))) * 2 < len(column)


def _are_counted(cells: Sequence[str]) -> bool:
    figures = [int(cell) for cell in cells if cell.isdecimal()]
    return len(figures) > 3 and figures == list(range(figures[0], figures[0] + len(figures)))


def _within(value: float, least: float, most: float) -> float:
    return max(-least, min(most, value))


def with_header(source: Source, rows: Sequence[Sequence[str]], decided: bool | None) -> Source:
    """The source with the names of its columns, by its first rows. Raises InputError for a header alone."""
    evidence = judge_header(rows) if decided is None else math.inf if decided else -math.inf
    header = evidence > 0
    if header and len(rows) == 1:
        raise only_header(source.path)
    widths = [len(row) for row in rows[header:]]
    width = max(widths, key=lambda each: (widths.count(each), -widths.index(each)))  # the usual number of cells
    names = with_row_names(rows) if header else ()
    columns = vocabulary.complete_names(names, max(width, len(rows[0])) if header else width)
    return replace(source, columns=columns, has_header=header, is_header_sure=abs(evidence) >= CLOSE)
