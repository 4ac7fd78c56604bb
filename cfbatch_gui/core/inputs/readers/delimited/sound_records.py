"""Split text into records without the csv module, where quotation marks stand only around whole cells.

Where cells are long this takes less than half of the csv module's time. It is a check that the quotation marks are
sound, too: text in which one stands anywhere else is refused.
"""

from collections.abc import Callable
from dataclasses import dataclass

from cfbatch_gui.core.inputs.readers.delimited.csv_quoting import LONGEST_CELL

Records = list[tuple[str, ...]]
_LINE_ENDS = ("\n", "\r")
_QUOTED, _END = "\x01", "\x02"  # stand for what is inside two quotation marks, and for the end of a record
_REFUSED = (_QUOTED, _END, "\0")  # the last begins the marks of decoded_text
_LEAST_IN_CELL = 24  # characters; with shorter cells on an average the csv module is as fast


class _RefusedError(Exception):
    pass


def is_split_faster(text: str, separator: str) -> bool:
    """Return whether the cells of a text are so long that `sound_records` is faster than the csv module."""
    lines = list(filter(str.strip, "".join(text.split('"')[::2]).split("\n")))
    return len(text) >= _LEAST_IN_CELL * (len(lines) + sum(line.count(separator) for line in lines))


@dataclass(frozen=True, slots=True)
class SoundRecords:
    """Records as a csv reader returns them. `rest` is what follows them: the last one is not ended there."""

    records: Records
    rest: str
    is_one_a_line: bool


def sound_records(text: str, separator: str) -> SoundRecords | None:
    """Split a text as a csv reader does.

    `text` begins with a record and consists of whole lines. Returns None where a quotation mark is not sound or cannot
    be told to be, and where no record is whole.
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
    """Take the record that is not ended from the end of the parts, and return it."""
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
    """Return the records, between which there is no blank line, if all have the same number of cells; otherwise []."""
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
    """Return a cell with doubled quotation marks: between each two of them it was cut."""
    if cell.strip(_QUOTED):
        raise _RefusedError
    return '"'.join([take() for _ in cell])
