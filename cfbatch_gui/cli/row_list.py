"""Rows with a problem as lines of text, and what `--doubtful` means for them and for the exit status."""

import textwrap
from collections.abc import Iterator, Sequence

from cfbatch_gui.cli.console import Console, counted, elided
from cfbatch_gui.cli.exit_status import ExitStatus
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

DOUBTFUL = (ProblemKind.DOUBTFUL_ROW, ProblemKind.DOUBTFUL_SENT)
SHOWN = 20  # rows of one kind that are listed in the text; --json lists all
_NARROWEST = 20  # columns for a row as it stands, in however narrow a terminal
_IN_THE_FILE, _AS_READ = "    in the file  ", "    as read      "


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
            yield f"  and {total - len(found):,} more"

    def of_kind(self, kind: ProblemKind, total: int) -> Iterator[str]:
        """The lines of the first rows with one kind of problem."""
        yield from self.of_rows(problems(self._folder, kind=kind, limit=SHOWN), total=total)

    def of_row(self, row: StoredProblem | RowProblem) -> Iterator[str]:
        """Its number and what is wrong with it; as it stands in the file, and its cells if these are doubtful."""
        text = f"row {row.row:,}: {reason_of(row)}"
        if not row.raw:
            yield f"  {elided(text, self._width - 2)}"
            return
        yield from textwrap.wrap(text, max(_NARROWEST, self._width), initial_indent="  ", subsequent_indent="    ")
        room = max(_NARROWEST, self._width - len(_AS_READ))
        yield f"{_IN_THE_FILE}{elided(with_signs(row.raw), room)}"
        if row.kind in DOUBTFUL:
            cells = zip(self._columns(row.file), row.cells, strict=False)
            yield f"{_AS_READ}{elided(' | '.join(f'{name}: {with_signs(cell[:room])}' for name, cell in cells), room)}"

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
    numbers = ", ".join(f"{each.row}{'' if each.file == 1 else ' of the second file'}" for each in found)
    more = f" and {total - len(found):,} more" if total > len(found) else ""
    text = f"{'row' if total == 1 else 'rows'} {numbers}{more}"
    yield from textwrap.wrap(text, max(_NARROWEST, width), initial_indent="  ", subsequent_indent="  ")


def status_with_doubtful(status: ExitStatus, left_out: int, choice: Doubtful | None, console: Console) -> ExitStatus:
    """FAILED instead of DONE if rows were left out about which nobody has decided; says so."""
    if status is not ExitStatus.DONE or not left_out or choice is not None:
        return status
    console.say(
        f"{counted(left_out, 'doubtful row is', 'doubtful rows are')} left out: exit status {ExitStatus.FAILED:d}."
        " “--doubtful send” sends such rows as they were read; “--doubtful skip” leaves them out with exit status"
        f" {ExitStatus.DONE:d}."
    )
    return ExitStatus.FAILED


def json_of_row(row: StoredProblem | RowProblem) -> dict[str, object]:
    """What a row that is known as it stands in the file has besides its number and reason."""
    return {"raw": row.raw, "cells": list(row.cells)} if row.raw else {}


def reason_of(row: StoredProblem | RowProblem) -> str:
    """What is wrong with a row, and in which file it is."""
    return row.reason if row.file == 1 else f"In the second file: {row.reason}"
