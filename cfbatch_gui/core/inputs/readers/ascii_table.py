"""Read ASCII tables: rows between bars and rules, as in psql, MySQL's client, Markdown and reStructuredText."""

import re
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice

from wcwidth import wcswidth

from cfbatch_gui.core.inputs.input_values import Row, Source, unusual_row
from cfbatch_gui.core.inputs.open_file import open_bytes
from cfbatch_gui.core.inputs.readers.decoded_text import LONGEST_LINE, text_lines
from cfbatch_gui.core.messages import message

_BARS = "|│┃║"
_DASHES = "-─━═="
_JUNCTIONS = _BARS + "+┼╪╫┿╋╬├┤┣┫╠╣╞╡╟╢┌┐└┘┬┴┏┓┗┛┳┻╔╗╚╝╦╩╒╕╘╛╤╧"
_PARTED = re.compile(f"[{re.escape(_JUNCTIONS)}]")
_SEGMENT = re.compile(f" *:?[{_DASHES}]+:? *")
_BAR = re.compile(f"[{_BARS}]")
_UNESCAPED_BAR = re.compile(r"(?<!\\)\|")
_ROW_COUNT = re.compile(r"\(\d+ \w+\)")  # psql: (3 rows)
_MOST_ABOVE = 30  # lines
_MOST_BELOW = 12
_OF_HEADER = 8  # lines


@dataclass(frozen=True, slots=True)
class AsciiTable:
    """`header` and `rule` are indices of lines; `width` is the rule's, in columns of a terminal."""

    header: int
    rule: int
    columns: int
    is_boxed: bool
    is_markdown: bool
    line: str  # the rule
    width: int

    @property
    def is_grid(self) -> bool:
        return "=" in self.line and "+" in self.line

    @property
    def marks_line_ends(self) -> bool:
        """Whether a + at the right edge of a cell marks that it goes on in the next line, as in psql."""
        return not self.is_boxed and not self.is_markdown

    def is_rule(self, line: str) -> bool:
        text = line.strip()
        if text == self.line:
            return True
        is_bare = len(text) > 2 and all(sign in _DASHES or (sign in _JUNCTIONS and sign not in _BARS) for sign in text)
        return is_bare and not self.is_markdown and (self.is_boxed or self.columns > 1)

    def is_row(self, line: str) -> bool:
        if self.is_boxed:
            return line.lstrip().startswith(tuple(_BARS))
        return bool(_BAR.search(line)) if self.columns > 1 else line.startswith(" ")

    def is_open(self, line: str) -> bool:
        """Whether a cell goes on in the next line without any mark, as MySQL's client prints it."""
        return self.is_boxed and not self.is_markdown and not line.rstrip().endswith(tuple(_BARS))

    def cells(self, line: str) -> list[str]:
        line = line.rstrip("\r\n")
        text = line.strip() if self.is_boxed else line
        parts = (_UNESCAPED_BAR if self.is_markdown else _BAR).split(text)
        if self.is_boxed:
            parts = parts[1:-1] if len(parts) > 1 and not parts[-1].strip() else parts[1:]
        if self.is_markdown:
            parts = [part.replace("\\|", "|") for part in parts]
        return parts if self.columns > 1 or self.is_boxed else [line]

    def goes_on(self, line: str, cells: Sequence[str]) -> list[bool]:
        """Which cells go on in the next line: the last is as wide as the table only where it has the mark."""
        is_full = wcswidth(line.rstrip("\r\n")) == self.width
        last = len(cells) - 1
        return [
            self.marks_line_ends and cell.endswith("+") and (index < last or is_full)
            for index, cell in enumerate(cells)
        ]


def find_ascii_table(lines: Sequence[str], *, is_whole: bool) -> AsciiTable | None:
    """The first ASCII table that begins within 30 lines; None for none, or a small part of a text."""
    may_be_single = is_whole and _ends_as_of_psql(lines)
    for rule in range(1, min(_MOST_ABOVE, len(lines) - 1)):
        found = _table_at(lines, rule, may_be_single=may_be_single)
        if found and _is_most(found, lines, is_whole=is_whole):
            return found
    return None


def _ascii_table_at(lines: Sequence[str], header: int) -> AsciiTable | None:
    found = (_table_at(lines, rule, may_be_single=True) for rule in range(header + 1, len(lines) - 1))
    return next((each for each in found if each and each.header == header), None)


def end_of_ascii_table(table: AsciiTable, lines: Sequence[str]) -> int:
    end = table.rule + 1
    while end < len(lines) and (table.is_rule(lines[end]) or table.is_row(lines[end])):
        is_open = not table.is_rule(lines[end]) and table.is_open(lines[end])
        end += 1
        while is_open and end < len(lines) and not table.is_rule(lines[end]):
            is_open = table.is_open(lines[end])
            end += 1
    return end


def _table_at(lines: Sequence[str], at: int, *, may_be_single: bool) -> AsciiTable | None:
    rule, above, below = lines[at].rstrip(), lines[at - 1].rstrip("\r\n"), lines[at + 1]
    text = rule.strip()
    if not text or text[0] not in _DASHES + _JUNCTIONS + ":" or not any(sign in _DASHES for sign in text):
        return None
    is_boxed = above.lstrip().startswith(tuple(_BARS))
    parts = _PARTED.split(text[text[0] in _JUNCTIONS : len(text) - (text[-1] in _JUNCTIONS)])
    if not all(_SEGMENT.fullmatch(part) for part in parts):
        return None
    is_markdown = set(text) <= set("|-: ") and "|" in text
    if is_markdown and not is_boxed and any(part.count("-") < 2 for part in parts):
        return None
    header = _first_of_header(lines, at) if is_boxed else at - 1
    above = lines[header].rstrip("\r\n")
    width = wcswidth(rule)
    table = AsciiTable(header, at, 1, is_boxed, is_markdown, text, width)
    if len(parts) == 1 and not _BAR.search(above):
        return table if may_be_single and above.startswith(" ") and len(text) > 2 else None
    names = table.cells(above) if is_boxed else _BAR.split(above)
    if (len(parts) > 1 and len(parts) != len(names)) or not any(name.strip() for name in names):
        return None
    if len(names) == 1 and (not is_boxed or text[0] not in _JUNCTIONS):
        return None
    table = AsciiTable(header, at, len(names), is_boxed, is_markdown, text, width)
    is_followed = table.is_row(below) and (table.is_open(below) or len(table.cells(below)) == len(names))
    is_empty = table.is_rule(below) or _ROW_COUNT.fullmatch(below.strip())
    return table if is_followed or is_empty else None


def _first_of_header(lines: Sequence[str], rule: int) -> int:
    first = rule - 1
    while first and lines[first - 1].lstrip().startswith(tuple(_BARS)) and not _is_line(lines[first - 1]):
        first -= 1
    return first if first and _is_line(lines[first - 1]) else rule - 1


def _is_line(line: str) -> bool:
    return len(line.strip()) > 2 and set(line.strip()) <= set(_DASHES + _JUNCTIONS)


def _ends_as_of_psql(lines: Sequence[str]) -> bool:
    last = next((line for line in reversed(lines) if line.strip()), "")
    return bool(_ROW_COUNT.fullmatch(last.strip()))


def _is_most(table: AsciiTable, lines: Sequence[str], *, is_whole: bool) -> bool:
    end = end_of_ascii_table(table, lines)
    if not is_whole:
        return end >= len(lines) - 1  # the last line may be cut
    rest = [line for line in lines[end:] if line.strip()]
    above = [line for line in lines[: table.header] if line.strip()]
    if table.is_markdown:
        return len(rest) + len(above) <= max(2, end - table.rule - 1)
    return len(rest) <= _MOST_BELOW or find_ascii_table(lines[end:], is_whole=True) is not None


def read_ascii_table(source: Source, progress: Callable[[int], None] | None) -> Generator[Row, None, None]:
    """Yield the rows, numbered by their first lines. A line within the table that is not a row is a problem."""
    width = len(source.columns)
    with open_bytes(source.path, source.end) as file:
        lines = enumerate(
            text_lines(file, source.path.name, source.encoding, progress, is_sure=source.is_encoding_sure), 1
        )
        head = list(islice(lines, source.first_line + _OF_HEADER))
        table = _ascii_table_at([line for _, line in head], source.first_line - 1)
        if table is None:
            return
        for number, cells in _records(table, chain(head[table.rule + 1 :], lines)):
            if cells is None:
                yield Row(number, ("",) * width, message("This line is no row of the table."))
            else:
                row = Row(number, tuple(cells))
                yield row if len(cells) == width else unusual_row(row, width)


def _records(table: AsciiTable, lines: Iterator[tuple[int, str]]) -> Iterator[tuple[int, list[str] | None]]:
    held: list[list[str]] = []  # the cells of each line of an unfinished row
    opened = ""  # a line whose last bar has not been read yet
    began = 0
    for number, line in lines:
        is_rule = table.is_rule(line)
        if opened and not is_rule and len(opened) < LONGEST_LINE:
            opened += line
        elif opened:
            yield began, None
            opened = ""
        elif is_rule or not table.is_row(line):
            if held:
                yield began, _joined(held)
                held = []
            if line.strip() and not is_rule:
                yield number, None
            continue
        else:
            began, opened = began if held else number, line
        if not opened or table.is_open(line):
            continue
        cells = table.cells(opened)
        goes_on = table.goes_on(opened, cells)
        opened = ""
        held.append([cell[:-1] if more else cell for cell, more in zip(cells, goes_on, strict=False)])
        if not any(goes_on) and not table.is_grid:
            yield began, _joined(held)
            held = []
    if held or opened:
        yield began, _joined(held) if held else None


def _joined(held: list[list[str]]) -> list[str]:
    width = max(map(len, held))
    columns = [[cells[index].strip() if index < len(cells) else "" for cells in held] for index in range(width)]
    return ["\n".join(lines).rstrip("\n") for lines in columns]
