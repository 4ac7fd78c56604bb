"""Tables that JSON holds by columns, by rows' names, or as lists of cells: what pandas' to_json writes."""

from collections.abc import Iterator, Sequence
from itertools import count
from typing import Any

from cfbatch_gui.core.inputs import column_vocabulary as vocabulary
from cfbatch_gui.core.inputs.column_names import complete_names
from cfbatch_gui.core.inputs.readers.json_values import cell_text

Fields = dict[str, Any]


def is_frame(value: object) -> bool:
    """Whether an object holds objects that all have the same keys (columns by names of rows, or rows by names), or
    columns as lists that are all of one length."""
    if not isinstance(value, dict) or not value:
        return False
    first = next(iter(value.values()))
    if isinstance(first, list):
        return len(value) > 1 and all(isinstance(each, list) and len(each) == len(first) > 0 for each in value.values())
    if not isinstance(first, dict) or not first or (len(value) == len(first) == 1 and not _are_figures(first)):
        return False
    return all(isinstance(each, dict) and each.keys() == first.keys() for each in value.values())


def rows_of_frame(frame: Fields) -> Iterator[object]:
    """The rows of an object for which `is_frame` holds, in the order of the names of rows as they stand.

    These names are a column "index" of their own, unless they only count the rows.
    """
    first = next(iter(frame.values()))
    if isinstance(first, list):
        yield from with_index((), list(frame), (list(cells) for cells in zip(*frame.values(), strict=True)))
        return
    inner = list(first)
    if _are_rows(list(frame), inner):
        yield from with_index(list(frame), inner, ([row[name] for name in inner] for row in frame.values()))
    else:
        cells = ([column[name] for column in frame.values()] for name in inner)
        yield from with_index(inner, list(frame), cells)


def with_index(index: Sequence[object], columns: Sequence[object], rows: Iterator[list[Any]]) -> Iterator[object]:
    """Rows by the names of their columns, and by their own; `index` may be shorter than the rows, or empty.

    A row with another number of cells than there are columns stays a list.
    """
    names = complete_names([cell_text(name) for name in columns], len(columns))
    is_counted = all(cell_text(name) == str(number) for number, name in enumerate(index))
    own = "level_0" if "index" in names else "index"  # as pandas' reset_index has it
    for number, cells in zip(count(), rows):
        if len(cells) != len(names):
            yield cells
            continue
        fields = {} if is_counted else {own: index[number] if number < len(index) else None}
        fields.update(zip(names, cells, strict=True))
        yield fields


def _are_rows(outer: Sequence[str], inner: Sequence[str]) -> bool:
    """Whether the outer names are those of rows. Rows are counted more often than columns, and there are more."""
    if _are_figures(outer) != _are_figures(inner):
        return _are_figures(outer)
    known = [sum(map(vocabulary.is_known, names)) / len(names) for names in (outer, inner)]
    return known[0] < known[1] if known[0] != known[1] else len(outer) > len(inner)


def _are_figures(names: Sequence[str] | Fields) -> bool:
    return all(name.lstrip("-").isdigit() for name in names)
