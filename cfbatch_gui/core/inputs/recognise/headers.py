"""Distinguish a header from a first row of data."""

import statistics
from collections.abc import Sequence

from cfbatch_gui.core.inputs import column_vocabulary as vocabulary
from cfbatch_gui.core.inputs.column_names import is_number_or_date

_LONGEST_NAME = 60  # characters
_LONGEST_QUESTION = 300
_MOST_WORDS = 3
_SENTENCE_END = (".", "?", "!", "。", "？", "！", "؟", "…")


def has_header(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether the first of the rows names the columns.

    Its cells must look like names: short, different, neither numbers nor sentences. They are a header if one of them is
    known as a name of columns, or if a column's cells below are numbers or much longer texts. A value that is repeated
    below is data. Without such evidence, several cells of at most three words each count as a header, a single cell
    does not. Questions, as forms put them above the answers, are names if a column holds figures.
    """
    if not rows:
        return False
    width = max((number for row in rows for number, cell in enumerate(row, 1) if cell.strip()), default=0)
    first = rows[0][:width]  # some programs end every line with a separator
    # A file made by concatenating others repeats the header.
    below = [row for row in rows[1:] if row != rows[0]] if width > 1 else rows[1:]
    if len(rows) > 1 and not below:
        return False
    names = [_named(cell, _column(below, index)) for index, cell in enumerate(first)]
    filled = [name for name in names if name]
    if not filled or not all(_looks_like_name(name) for name in filled):
        return len(filled) == len(names) and _asks_above_figures(names, below)
    if any(vocabulary.is_known(name) for name in filled):
        return len(filled) >= len(names) - 1 and not _mostly_repeated(first, below)
    if len(filled) < len(names) or len({name.casefold() for name in names}) < len(names) or not below:
        return False
    if _comes_again(first, below):
        return False
    # Without other evidence a cell of several lines, as spreadsheets may have, is not a name.
    is_plain = len(names) > 1 and not any("\n" in cell.strip() for cell in first)
    return _longer_or_typed_below(first, below) or (
        is_plain and all(len(name.split()) <= _MOST_WORDS for name in names)
    )


def with_row_names(rows: Sequence[Sequence[str]]) -> Sequence[str]:
    """Return the names in the first row, with "" in front if R has written row names without a name for their column.

    In that case every row has one cell more than the first row, and the first cells are all different. Rows that only
    end with a separator do not count.
    """
    names, below = rows[0], rows[1:]
    width = len(names) + 1
    own = [row[0] for row in below if row]
    is_of_r = (
        below and all(names) and all(len(row) == width for row in below) and len(set(own)) == len(own) and all(own)
    )
    return ("", *names) if is_of_r and any(row[-1] for row in below) else names


def _looks_like_name(name: str) -> bool:
    return (
        len(name) <= _LONGEST_NAME
        and any(letter.isalpha() for letter in name)
        and not is_number_or_date(name)
        and not (name.endswith(_SENTENCE_END) and not vocabulary.is_known(name))
        and "://" not in name
        and "@" not in name[1:]
    )


def _asks_above_figures(names: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
    if len(set(names)) < len(names) or not all(map(_may_be_question, names)):
        return False
    columns = [_column(below, index) for index in range(len(names))]
    return any(len(column) > 2 and all(cell.strip()[0].isdigit() for cell in column) for column in columns)


def _may_be_question(name: str) -> bool:
    is_question = name.endswith(("?", "？", "؟")) and len(name) <= _LONGEST_QUESTION and name[0].isalpha()
    return is_question or _looks_like_name(name)


def _column(rows: Sequence[Sequence[str]], index: int) -> list[str]:
    return [row[index] for row in rows if index < len(row) and row[index].strip()]


def _comes_again(first: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
    return any(cell in _column(below, index) for index, cell in enumerate(first))


def _mostly_repeated(first: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
    again = sum(cell in _column(below, index) for index, cell in enumerate(first))
    return again * 2 > len(first)


def _longer_or_typed_below(first: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
    for index, name in enumerate(first):
        column = _column(below, index)
        if not column:
            continue
        if all(is_number_or_date(cell) for cell in column):
            return True
        lengths = [len(cell) for cell in column]
        is_longer = min(lengths) > len(name) and statistics.median(lengths) > 3 * len(name)
        if len(column) > 1 and len(name.split()) <= _MOST_WORDS and is_longer:
            return True
    return False


def _named(cell: str, column: Sequence[str]) -> str:
    """The name on one line; "number" for a sign such as "#" above a column of numbers."""
    name = " ".join(cell.split())
    return "number" if vocabulary.is_number_sign(name) and column and all(map(is_number_or_date, column)) else name
