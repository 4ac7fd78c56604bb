"""Recognise how a delimited text is to be read, and find its columns."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from cfbatch_gui.core.errors import InputError
from cfbatch_gui.core.inputs.column_names import complete_names
from cfbatch_gui.core.inputs.files.open_file import open_bytes
from cfbatch_gui.core.inputs.files.unsupported_files import only_header, without_rows
from cfbatch_gui.core.inputs.input_values import Candidate, Source
from cfbatch_gui.core.inputs.readers.delimited.delimited_rows import read_records
from cfbatch_gui.core.inputs.readers.delimited.formula_marks import marked_columns
from cfbatch_gui.core.inputs.readers.delimited.header_rows import rows_of_header
from cfbatch_gui.core.inputs.recognise.csv_dialect import SPACE, find_dialect
from cfbatch_gui.core.inputs.recognise.headers import ROWS_FOR_HEADER, judge_header, table_width, with_row_names
from cfbatch_gui.core.inputs.recognise.row_habits import with_habits
from cfbatch_gui.core.inputs.recognise.sample_records import filled_width
from cfbatch_gui.core.inputs.recognise.table_bounds import with_ends
from cfbatch_gui.core.messages import message


def open_delimited(source: Source, candidate: Candidate, separator: str) -> Source:
    """Find the dialect, the bounds, the header and the habits of a table.

    `separator` is the one that the options name, "" for one to be found. Raises InputError.
    """
    decided = candidate.options.has_header
    preferred = "\t" if candidate.suffix in (".tsv", ".tab") else ""
    dialect = find_dialect(candidate.text, is_whole=candidate.is_whole, preferred=preferred, separator=separator)
    source = replace(
        source,
        columns=(),
        separator=dialect.separator,
        quoting=dialect.quoting,
        first_line=dialect.first_line,
    )
    source = with_ends(source, candidate.head, candidate.text, dialect.end_line)
    if dialect.separator == SPACE and not separator:
        source = replace(source, notices=(*source.notices, message("The cells are separated by spaces.")))
    first, wrong = _first_rows(source)
    if not first and source.end:  # the lines that were taken for notes below the table are its only rows
        source = replace(source, end=0, first_line=1, notices=())
        first, wrong = _first_rows(source)
    if not first:
        raise without_rows(source.path)
    if decided is not False and (above := rows_of_header(first)) > 1:
        source = replace(source, notices=(*source.notices, *_notice_of_header(first[1:above])))
        del first[1:above]
        decided = True
    narrow = _without_empty_ends(first)
    judgement = judge_header(narrow, decided=decided)
    header = judgement.is_header
    first = narrow if header else first
    if header and len(first) == 1:
        raise _unreadable(source.path, wrong) if wrong else only_header(source.path)
    width = table_width(first, header)
    names = with_row_names(first) if header else ()
    columns = complete_names(names, width)
    source = replace(source, columns=columns, has_header=header, is_header_sure=not judgement.is_close)
    source = with_habits(source, candidate.text, is_whole=candidate.is_whole)
    return marked_columns(source)


def _notice_of_header(below: Sequence[Sequence[str]]) -> tuple[str, ...]:
    if not any(letter.isalpha() for cell in below[0] for letter in cell):
        return ()  # a ruled line
    if len(below) == 1:
        return (message("The row below the names is not read: in a survey it says more about the questions."),)
    return (
        message(
            "The {n} rows below the names are not read: in a survey they say more about the questions.", n=len(below)
        ),
    )


def _first_rows(source: Source) -> tuple[list[tuple[str, ...]], str]:
    """The first records that can be read, and the problem of the first that cannot, "" for none."""
    first: list[tuple[str, ...]] = []
    wrong = ""
    with open_bytes(source.path, source.end) as file:
        rows: Iterable[Any] = (row for row in read_records(file, source) if row.cells or row.problem)
        for row in islice(rows, ROWS_FOR_HEADER):
            if row.problem and not first:
                raise _unreadable(source.path, row.problem)
            wrong = wrong or row.problem
            if not row.problem:
                first.append(row.cells)
    return first, wrong


def _without_empty_ends(rows: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """The rows without the columns at the end that the first leaves empty, and of the others one at most fills.

    One row may be shifted by mistake; it is then one with too many cells.
    """
    first, *others = map(filled_width, rows)
    widest = max(first, sorted(others)[-2] if len(others) > 2 else max(others, default=0))
    return [row[:widest] for row in rows] if widest else rows


def _unreadable(path: Path, problem: str) -> InputError:
    return InputError(message("{name} cannot be read as a table. {problem}", name=path.name, problem=problem))
