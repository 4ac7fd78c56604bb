"""What a program found in a file, beside what is true of it."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from benchmarks.messy_csv.model import Cells, MessyFile


@dataclass(frozen=True, slots=True)
class Found:
    """What a program takes a file for. `names` is () when it sees no header; `encoding` "" when it was told."""

    separator: str
    names: Cells
    rows: tuple[Cells, ...]
    encoding: str = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is right. `encoding` is None where the program was told it."""

    separator: bool
    header: bool
    cells: bool
    encoding: bool | None = None

    @property
    def all(self) -> bool:
        return self.separator and self.header and self.cells and self.encoding is not False

    @property
    def order(self) -> tuple[bool, int]:
        """The better verdict has the larger one."""
        return self.all, self.separator + self.header + self.cells


NOTHING = Verdict(False, False, False)
Detector = Callable[[MessyFile], Iterable[Found]]


def best_verdict(file: MessyFile, detect: Detector) -> Verdict:
    """Of what a program finds with each of its settings, the verdict that is best for it."""
    return max((judge(file, found) for found in detect(file)), key=lambda verdict: verdict.order, default=NOTHING)


def judge(file: MessyFile, found: Found) -> Verdict:
    """Compare to the letter, save for what programs rightly do in different ways: line ends within cells, blank rows,
    spaces around names, and empty cells at the end of a row. Cells beyond the table's width do not count."""
    table = file.table
    is_separator = found.separator == file.separator or (
        not file.separator and all(len(row) <= 1 for row in found.rows)  # of a single column, any that cuts nothing
    )
    return Verdict(
        is_separator,
        _plain([_trimmed(found.names)], table.width) == _plain([_trimmed(table.names)], table.width)
        and bool(found.names) == bool(table.names),
        _plain(found.rows, table.width) == _plain(table.rows, table.width),
        _same_text(file, found.encoding) if found.encoding else None,
    )


def _same_text(file: MessyFile, encoding: str) -> bool:
    try:
        return file.data.decode(encoding).removeprefix("\ufeff") == file.text
    except (UnicodeError, LookupError):
        return False


def _trimmed(names: Cells) -> Cells:
    return tuple(" ".join(name.split()) for name in names)


def _plain(rows: Iterable[Sequence[str]], width: int) -> list[list[str]]:
    plain = []
    for row in rows:
        cells = [cell.replace("\r\n", "\n").replace("\r", "\n") for cell in row[:width]]
        while cells and not cells[-1].strip():
            cells.pop()
        if cells:
            plain.append(cells)
    return plain
