"""Rows with a problem as lines of text, and what `--doubtful` means for them and for the exit status."""

import textwrap
from collections.abc import Iterator, Sequence

from cfbatch_gui.cli.console import Console, elided, padded, width_of
from cfbatch_gui.cli.exit_status import ExitStatus
from cfbatch_gui.cli.language import number, plural, tr
from cfbatch_gui.cli.reading import Doubtful
from cfbatch_gui.core.inputs.input_values import ProblemKind
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.job_folder.row_problems import (
    RowProblem,
    StoredProblem,
    problem_columns,
    problems,
    with_signs,
)
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.system.languages import said

DOUBTFUL = (ProblemKind.DOUBTFUL_ROW, ProblemKind.DOUBTFUL_SENT)
SHOWN = 20  # rows of one kind that are listed in the text; --json lists all
_INDENT = "    "
_NARROWEST = 20  # columns for a row as it stands, in however narrow a terminal


class RowLines:
    """Lists the rows of one job."""

    def __init__(self, folder: JobFolder, width: int) -> None:
        self._folder, self._width = folder, width
        self._names: dict[int, tuple[str, ...]] = {}  # of the columns of each file

    def of_rows(self, found: Sequence[StoredProblem | RowProblem], *, total: int = 0) -> Iterator[str]:
        """The lines of these rows, which are the first of `total`."""
        for each in found:
            yield from self.of_row(each)
        if total > len(found):
            yield "  " + tr("and {n} more").format(n=number(total - len(found)))

    def of_kind(self, kind: ProblemKind, total: int) -> Iterator[str]:
        """The lines of the first rows with one kind of problem."""
        yield from self.of_rows(problems(self._folder, kind=kind, limit=SHOWN), total=total)

    def of_row(self, row: StoredProblem | RowProblem) -> Iterator[str]:
        """Its number and what is wrong with it; as it stands in the file, and its cells if these are doubtful."""
        text = tr("row {n}: {reason}").format(n=number(row.row), reason=said(reason_of(row)))
        if not row.raw:
            yield f"  {elided(text, self._width - 2)}"
            return
        yield from textwrap.wrap(text, max(_NARROWEST, self._width), initial_indent="  ", subsequent_indent="    ")
        in_the_file, as_read = tr("in the file"), tr("as read")
        wide = max(width_of(in_the_file), width_of(as_read))
        room = max(_NARROWEST, self._width - wide - len(_INDENT) - 2)
        yield f"{_INDENT}{padded(in_the_file, wide)}  {elided(with_signs(row.raw), room)}"
        if row.kind in DOUBTFUL:
            cells = zip(self._columns(row.file), row.cells, strict=False)
            shown = " | ".join(f"{name}: {with_signs(cell[:room])}" for name, cell in cells)
            yield f"{_INDENT}{padded(as_read, wide)}  {elided(shown, room)}"

    def _columns(self, file: int) -> tuple[str, ...]:
        if file not in self._names:
            self._names[file] = problem_columns(self._folder, file=file)
        return self._names[file]


def lines_of_doubtful(folder: JobFolder, total: int, choice: Doubtful | None, width: int) -> Iterator[str]:
    """The doubtful rows that are left out: as they stand and as read, or their numbers if the user left them out."""
    if choice is not Doubtful.SKIP:
        yield from RowLines(folder, width).of_kind(ProblemKind.DOUBTFUL_ROW, total)
        return
    found = problems(folder, kind=ProblemKind.DOUBTFUL_ROW, limit=SHOWN)
    in_second = tr("{n} of the second file")
    numbers = ", ".join(f"{each.row}" if each.file == 1 else in_second.format(n=each.row) for each in found)
    if more := total - len(found):
        text = tr("rows {numbers} and {n} more").format(numbers=numbers, n=number(more))
    else:
        text = plural(total, "row {numbers}", "rows {numbers}", numbers=numbers)
    yield from textwrap.wrap(text, max(_NARROWEST, width), initial_indent="  ", subsequent_indent="  ")


def status_with_doubtful(status: ExitStatus, left_out: int, choice: Doubtful | None, console: Console) -> ExitStatus:
    """FAILED instead of DONE if rows were left out about which nobody has decided; says so."""
    if status is not ExitStatus.DONE or not left_out or choice is not None:
        return status
    console.say(
        plural(
            left_out,
            "{n} doubtful row is left out: exit status {failed}. “--doubtful send” sends such rows as they were read;"
            " “--doubtful skip” leaves them out with exit status {done}.",
            "{n} doubtful rows are left out: exit status {failed}. “--doubtful send” sends such rows as they were read;"
            " “--doubtful skip” leaves them out with exit status {done}.",
            failed=f"{ExitStatus.FAILED:d}",
            done=f"{ExitStatus.DONE:d}",
        )
    )
    return ExitStatus.FAILED


def json_of_row(row: StoredProblem | RowProblem) -> dict[str, object]:
    """What a row that is known as it stands in the file has besides its number and reason."""
    return {"raw": row.raw, "cells": list(row.cells)} if row.raw else {}


def reason_of(row: StoredProblem | RowProblem) -> str:
    """What is wrong with a row, and in which file it is."""
    return row.reason if row.file == 1 else message("In the second file: {reason}", reason=row.reason)
