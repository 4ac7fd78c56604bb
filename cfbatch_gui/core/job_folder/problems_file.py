"""The rows that are left out, as a file to be mended: their own cells, where they stand, and why."""

import csv
import io
from pathlib import Path

from cfbatch_gui.core.job_folder.filling import problems
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.job_folder.schema import fact
from cfbatch_gui.core.system.files import atomic_writer


def problem_columns(folder: JobFolder, *, file: int = 1) -> tuple[str, ...]:
    """The names of the columns of the first or the second file, as they were when it was read."""
    with folder.open(read_only=True) as database:
        found = fact(database, "columns" if file == 1 else "second_columns", [])
    return tuple(str(name) for name in found) if isinstance(found, list) else ()


def save_problems(folder: JobFolder, path: Path, *, kind: str = "") -> int:
    """Write the rows that are left out (of one kind, or all) as CSV; returns how many.

    "row" and "reason" come first, then the cells exactly as they were. The separator is that of the user's own file,
    with a mark of UTF-8, so that the spreadsheet that wrote the one opens the other. Raises ExportError, DiskFull.
    """
    draft = folder.draft()
    found = problems(folder, kind=kind)
    columns = problem_columns(folder)
    has_second = any(problem.file == 2 for problem in found)
    if has_second:
        second = problem_columns(folder, file=2)
        columns = second if all(problem.file == 2 for problem in found) else columns + second[len(columns) :]
    with atomic_writer(path) as stream:
        text = io.TextIOWrapper(stream, encoding="utf-8-sig", newline="", write_through=True)
        writer = csv.writer(text, delimiter=(draft.options.separator if draft else None) or ",")
        writer.writerow([*(["file"] if has_second else []), "row", "reason", *columns])
        for problem in found:
            which = [str(problem.file)] if has_second else []
            writer.writerow([*which, problem.row, problem.reason, *problem.cells])
        text.detach()
    return len(found)
