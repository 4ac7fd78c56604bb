"""ASCII tables: a line a row between bars and rules, as psql, MySQL's client and Markdown print them."""

import re
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from itertools import chain, islice

from wcwidth import wcswidth

from cfbatch_gui.core.inputs.column_names import complete_names
from cfbatch_gui.core.inputs.input_values import Candidate, FileFormat, Progress, Row, Source
from cfbatch_gui.core.inputs.open_file import only_header, open_bytes
from cfbatch_gui.core.inputs.readers.decoded_text import text_lines, without_line_end
from cfbatch_gui.core.inputs.recognise.table_bounds import lines_of, notice_above
from cfbatch_gui.core.messages import message

_BARS = ("|", "│", "┃", "║")
_DASHES = frozenset("-─━═")
_ENDS = "|│┃║+┼╪╫┿╋╬├┤┣┫╠╣╞╡╟╢┌┐└┘┬┴┏┓┗┛┳┻╔╗╚╝╦╩╒╕╘╛╤╧ :"  # what else is in a rule
_DRAWN = _DASHES | frozenset(_ENDS)
_BAR, _UNESCAPED_BAR = re.compile("[|│┃║]"), re.compile(r"(?<!\\)\|")
_PARTED = re.compile("[^-─━═ :]")  # the junctions of a rule
_SAID_BELOW = re.compile(r"\(\d+ \w+\)|\d+ rows? in set.*")  # by psql and MySQL's client
_NO_ROW = message("line_is_no_row_table")
_MOST_ABOVE = 30  # lines
_MOST_OTHERS = 12  # lines in a file that is a table for the rest, or as many as it has rows


@dataclass(frozen=True, slots=True)
class _Table:
    """`header` and `rule` are indices of lines."""

    header: int
    rule: int
    names: tuple[str, ...]
    line: str  # the rule
    is_boxed: bool

    @property
    def is_markdown(self) -> bool:
        return "|" in self.line and set(self.line) <= set("|-: ")

    def is_row(self, line: str) -> bool:
        return len(self.parts(line)) == len(self.names)

    def parts(self, line: str) -> list[str]:
        return _parts(line, is_boxed=self.is_boxed, bar=_UNESCAPED_BAR if self.is_markdown else _BAR)

    def cells(self, line: str) -> tuple[list[str], bool]:
        """The cells without the marks by which psql says that they go on in the next line, and whether one does."""
        parts = self.parts(line)
        if self.is_markdown:
            return [part.strip().replace("\\|", "|") for part in parts], False
        if self.is_boxed:
            return [part.strip() for part in parts], False
        is_full = wcswidth(without_line_end(line)) == wcswidth(self.line)  # the last cell is not filled up
        marked = [*(each.endswith("+") for each in parts[:-1]), is_full and line.rstrip().endswith("+")]
        cells = [each[:-1] if more else each for each, more in zip(parts, marked, strict=True)]
        return [cell.strip() for cell in cells], any(marked)


def _parts(line: str, *, is_boxed: bool, bar: re.Pattern[str] = _BAR) -> list[str]:
    """What stands between bars; [] for a line that should begin and end with one and does not."""
    parts = bar.split(line.strip() if is_boxed else without_line_end(line))
    if not is_boxed:
        return parts
    return [] if parts[0] or parts[-1] else parts[1:-1]


def _is_rule(line: str) -> bool:
    return len(line.strip()) > 2 and set(line.strip()) <= _DRAWN and bool(_DASHES & set(line))


def _find(lines: Sequence[str]) -> _Table | None:
    for rule in range(1, min(_MOST_ABOVE, len(lines))):
        header = rule - 1
        while header and lines[header - 1].lstrip().startswith(_BARS):
            header -= 1  # DuckDB prints types below the names
        is_boxed = lines[header].lstrip().startswith(_BARS)
        names = _parts(lines[header], is_boxed=is_boxed)
        columns = len(_PARTED.split(lines[rule].strip().strip(_ENDS)))
        if not _is_rule(lines[rule]) or _is_rule(lines[header]) or not any(map(str.strip, names)):
            continue
        if len(names) == columns > 1 or (is_boxed and columns in (1, len(names))):
            return _Table(header, rule, complete_names(names, len(names)), lines[rule].rstrip(), is_boxed)
    return None


def recognise_ascii_table(candidate: Candidate) -> Source | None:
    """The source; None where most lines are no rows of a table. Raises InputError for one without rows."""
    lines = lines_of(candidate.text)
    table = _find(lines)
    if table is None:
        return None
    below = [line for line in lines[table.rule + 1 :] if line.strip() and not _is_rule(line)]
    if not candidate.is_whole:
        below = below[:-1]  # may be cut off by the end of the sample
    rows = sum(map(table.is_row, below))
    others = len(below) - rows + sum(bool(line.strip()) for line in lines[: table.header])
    if others > (rows if table.is_markdown else max(rows, _MOST_OTHERS)):
        return None
    if not rows:
        raise only_header(candidate.path)
    above = notice_above([line for line in lines[: table.header] if not _is_rule(line)])
    return Source(
        *(candidate.path, FileFormat.ASCII_TABLE, table.names, candidate.size, candidate.encoding),
        has_header=True,
        first_line=table.header + 1,
        notices=(above,) if above else (),
    )


def read_ascii_table(source: Source, progress: Progress) -> Generator[Row, None, None]:
    """Yield the rows, numbered by their first lines. Any other line is a problem, also of a second table."""
    with open_bytes(source.path) as file:
        lines = text_lines(file, source, progress)
        head = list(islice(lines, _MOST_ABOVE))
        table = _find(head)
        if table is None:
            return
        is_over = False
        began, held = 0, list[str]()  # the cells of a row that goes on
        for number, line in enumerate(chain(head[table.rule + 1 :], lines), table.rule + 2):
            is_row = not is_over and not _is_rule(line) and bool(line.strip()) and table.is_row(line)
            if held and not is_row:
                yield Row(began, tuple(held))
                held = []
            if is_row:
                cells, is_open = table.cells(line)
                began = began if held else number
                held = list(map("{}\n{}".format, held, cells)) if held else cells
                if not is_open:
                    yield Row(began, tuple(cell.rstrip("\n") for cell in held))
                    held = []
            elif not line.strip() or _SAID_BELOW.fullmatch(line.strip()):
                is_over = True
            elif not _is_rule(line):
                yield Row(number, ("",) * len(source.columns), _NO_ROW, raw=without_line_end(line))
        if held:
            yield Row(began, tuple(held))
