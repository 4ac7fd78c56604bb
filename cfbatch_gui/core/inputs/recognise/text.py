"""Recognise a decoded text: a table, JSON, or plain text; and find its columns."""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import groupby, islice, pairwise
from pathlib import Path
from typing import Any

from cfbatch_gui.core.errors import InputError, UsageError
from cfbatch_gui.core.inputs.column_names import complete_names
from cfbatch_gui.core.inputs.files.open_file import open_bytes
from cfbatch_gui.core.inputs.files.unsupported_files import only_header, without_rows
from cfbatch_gui.core.inputs.input_values import Candidate, FileFormat, Shape, Source
from cfbatch_gui.core.inputs.readers.ascii_table import find_ascii_table
from cfbatch_gui.core.inputs.readers.decoded_text import text_lines
from cfbatch_gui.core.inputs.readers.delimited.delimited_rows import read_records
from cfbatch_gui.core.inputs.readers.delimited.formula_marks import marked_columns
from cfbatch_gui.core.inputs.readers.delimited.header_rows import rows_of_header
from cfbatch_gui.core.inputs.readers.formats import FORMATS
from cfbatch_gui.core.inputs.readers.json_document import Broken, is_envelope, values_of
from cfbatch_gui.core.inputs.readers.json_losses import notice_of_repeated_keys
from cfbatch_gui.core.inputs.readers.json_shapes import columns_for, is_frame, notice_for, shape_of
from cfbatch_gui.core.inputs.readers.json_values import cell_text, parse_array, parse_object
from cfbatch_gui.core.inputs.recognise.ascii_table import open_ascii_table
from cfbatch_gui.core.inputs.recognise.csv_dialect import (
    NAMES,
    SEPARATORS,
    SPACE,
    find_dialect,
    is_clearly_delimited,
    is_separated_by_spaces,
)
from cfbatch_gui.core.inputs.recognise.headers import has_header, with_row_names
from cfbatch_gui.core.inputs.recognise.row_habits import with_habits
from cfbatch_gui.core.inputs.recognise.sample_records import filled_width
from cfbatch_gui.core.inputs.recognise.table_bounds import lines_of, with_ends

_SENTENCE_END = re.compile(r"""[.?!…:。．？！؟۔।]["'”’»)\]」』]*$""")
_IDEOGRAPHS = ("\u2e80", "\uac00")  # first, and after the last; a line may be broken after any of them
_LEAST_IN_BLOCKS = 0.75  # share of all lines that are in blocks of several; titles are blocks of one line
_LEAST_ENDED = 0.8  # share of these blocks that end with the end of a sentence
_LEAST_BROKEN = 0.5  # share of lines with another below that end within a sentence
_LEAST_SMALL = 0.3  # share of further lines that begin with a small letter; half of them do even in German
_MOST_SMALL = 0.1  # share of first lines that do
_LEAST_FULL = 0.8  # share of lines that are full
HEAD = 64 * 1024  # bytes
_ROWS_FOR_HEADER = 100
_OBJECTS_FOR_KEYS = 1000
_NAMED_AS_WORKBOOK = (".xlsx", ".xls", ".xlsm")  # some programs write text under these names
_LIST_SUFFIXES = (".log", ".lst")  # each line is a record, whatever it looks like
_UNITS = (FileFormat.LINES, FileFormat.PARAGRAPHS, FileFormat.WHOLE)


def _are_paragraphs(lines: Sequence[str]) -> bool:
    """Return whether the lines are paragraphs, separated by blank lines.

    `lines` must not end within a paragraph. Blank lines alone are not enough, because they also separate the groups of
    a list. Either every paragraph is one line, and most of the text is sentences; or the last line of a paragraph ends
    a sentence, while most of its other lines do not: either the next line begins with a small letter, as the first line
    does not, or the line is so full that the next word did not fit.
    """
    blocks = [[line.strip() for line in block] for filled, block in groupby(lines, _is_filled) if filled]
    several = [block for block in blocks if len(block) > 1]
    if len(blocks) > 1 and not several:
        return _are_sentences([line for (line,) in blocks])
    if len(blocks) < 2 or sum(map(len, several)) < _LEAST_IN_BLOCKS * sum(map(len, blocks)):
        return False
    if _share([bool(_SENTENCE_END.search(block[-1])) for block in several]) < _LEAST_ENDED:
        return False
    pairs = [pair for block in several for pair in pairwise(block)]
    if _share([not _SENTENCE_END.search(line) for line, _ in pairs]) < _LEAST_BROKEN:
        return False
    return _go_on_small(several, pairs) or _are_full(pairs)


def _are_sentences(lines: Sequence[str]) -> bool:
    """Return whether most of the text is in lines that end a sentence; titles do not, but they are short."""
    ended = [line for line in lines if _may_be_sentence(line) and _SENTENCE_END.search(line)]
    return sum(map(len, ended)) >= _LEAST_ENDED * sum(map(len, lines))


def _is_filled(line: str) -> bool:
    return bool(line.strip())


def _go_on_small(blocks: Sequence[Sequence[str]], pairs: Sequence[tuple[str, str]]) -> bool:
    is_small = [following[0].islower() and _may_be_sentence(line) for line, following in pairs]
    return _share(is_small) >= _LEAST_SMALL and _share([block[0][0].islower() for block in blocks]) <= _MOST_SMALL


def _are_full(pairs: Sequence[tuple[str, str]]) -> bool:
    """Return whether lines are wrapped at a fixed width. Words or codes may have one width, but are not sentences."""
    width = max(len(line) for pair in pairs for line in pair)
    full = [len(line) + 1 + _first_word(following) > width for line, following in pairs]
    return _share(full) >= _LEAST_FULL and _share([_may_be_sentence(line) for line, _ in pairs]) >= _LEAST_FULL


def _may_be_sentence(line: str) -> bool:
    return _is_without_spaces(line) or len(line.split()) > 3


def _first_word(line: str) -> int:
    return 1 if _is_without_spaces(line) else len(line.split(maxsplit=1)[0])


def _is_without_spaces(line: str) -> bool:
    return _IDEOGRAPHS[0] <= line[0] < _IDEOGRAPHS[1]


def _share(found: Sequence[bool]) -> float:
    return sum(found) / len(found)


def open_text(candidate: Candidate) -> Source:
    """Recognise a decoded text and find its columns. Raises InputError, UsageError."""
    path, options, text = candidate.path, candidate.options, candidate.text
    if not text.strip("\r\n"):
        text = _first_text(path, candidate.encoding)
        candidate = replace(candidate, text=text)
    separator = _wanted_separator(options.separator)
    if not separator and options.unit is None and is_separated_by_spaces(text, is_whole=candidate.is_whole):
        separator = SPACE
    if options.unit in _UNITS:
        file_format = options.unit
    elif separator:
        file_format = FileFormat.DELIMITED
    elif source := _by_table(candidate):
        return source
    else:
        file_format = _text_format(candidate)
    source = Source(path, file_format, ("text",), candidate.size, candidate.encoding)
    match file_format:
        case FileFormat.JSON_LINES:
            return _noting(_with_keys(source), notice_of_repeated_keys(text.split("\n")))
        case FileFormat.JSON:
            return _noting(_with_elements(source), notice_of_repeated_keys((text,)))
        case FileFormat.ASCII_TABLE:
            return open_ascii_table(source, candidate.head, text)
        case FileFormat.LINES:
            return _with_line_header(source, options.has_header or False)
        case FileFormat.PARAGRAPHS | FileFormat.WHOLE:
            return source
        case _:
            return _with_header(source, candidate, separator)


def _by_table(candidate: Candidate) -> Source | None:
    """Return the source from the first format in `FORMATS` that recognises the text, None if none does."""
    found = (each.recognise_text(candidate) for each in FORMATS.values() if each.recognise_text)
    return next(filter(None, found), None)


def _first_text(path: Path, encoding: str) -> str:
    with open_bytes(path) as file:
        line = next((line for line in text_lines(file, path.name, encoding) if line.strip("\r\n")), "")
    if not line:
        raise without_rows(path)
    return line


def _wanted_separator(wanted: str | None) -> str:
    if not wanted:
        return ""
    separator = NAMES.get(wanted, wanted)
    if separator not in (*SEPARATORS, SPACE):
        raise UsageError(f"“{wanted}” cannot be the separator. Choose , or ; or tab or |.")
    return separator


def _text_format(candidate: Candidate) -> FileFormat:
    suffix, text, is_whole = candidate.suffix, candidate.text, candidate.is_whole
    found = _json_format(suffix, text, is_whole=is_whole)
    if found is not None:
        return found
    if find_ascii_table(lines_of(text), is_whole=is_whole):
        return FileFormat.ASCII_TABLE
    if suffix in _NAMED_AS_WORKBOOK or suffix in FORMATS[FileFormat.DELIMITED].all_suffixes:
        return FileFormat.DELIMITED
    # Excel saves tables with tabs as "Unicode text (.txt)"; with other separators a .txt file is plain text.
    separators = ("\t",) if suffix in FORMATS[FileFormat.LINES].all_suffixes else SEPARATORS
    if is_clearly_delimited(text, is_whole=is_whole, separators=separators):
        return FileFormat.DELIMITED
    may_have = suffix not in _LIST_SUFFIXES and not candidate.options.has_header  # a header stands above lines
    has_paragraphs = may_have and _are_paragraphs(_whole_blocks(text, is_whole=is_whole))
    return FileFormat.PARAGRAPHS if has_paragraphs else FileFormat.LINES


def _whole_blocks(sample: str, *, is_whole: bool) -> list[str]:
    lines = lines_of(sample)
    if is_whole:
        return lines
    last_blank = next((at for at in range(len(lines) - 1, -1, -1) if not lines[at].strip()), 0)
    return lines[:last_blank]  # the sample may end within the paragraph below


def _json_format(suffix: str, sample: str, *, is_whole: bool) -> FileFormat | None:
    is_named = suffix in FORMATS[FileFormat.JSON].all_suffixes + FORMATS[FileFormat.JSON_LINES].all_suffixes
    begin = sample.lstrip()
    lines = [line for line in sample.split("\n") if line.strip()]
    whole_lines = lines if is_whole or len(lines) == 1 else lines[:-1]
    has_object_lines = begin.startswith("{") and all(isinstance(parse_object(line), dict) for line in whole_lines[:2])
    only = parse_object(lines[0]) if is_whole and len(lines) == 1 else None
    is_one = is_envelope(only) or is_frame(only)
    is_around_others = is_one or (begin.startswith("{") and begin[1:].lstrip().startswith('"requests"'))
    if has_object_lines and not is_around_others:
        return FileFormat.JSON_LINES
    if (
        begin.startswith("[")
        and len(whole_lines) > 1
        and all(parse_array(line) is not None for line in whole_lines[:2])
    ):
        return FileFormat.JSON_LINES
    if is_around_others or (is_named and begin.startswith(("[", "{"))):
        is_lines = is_named and suffix != ".json" and not is_around_others and _has_object_line(whole_lines)
        return FileFormat.JSON_LINES if is_lines else FileFormat.JSON
    if begin.startswith("[") and _is_document(sample, is_whole=is_whole):
        return FileFormat.JSON
    return FileFormat.JSON_LINES if is_named else None


def _has_object_line(lines: list[str]) -> bool:
    """Return whether one of the first 50 lines is an object, as in JSON Lines with a damaged first line."""
    return sum(isinstance(parse_object(line), dict) for line in lines[:50]) > 0


def _is_document(sample: str, *, is_whole: bool) -> bool:
    try:
        json.loads(sample)
    except json.JSONDecodeError as exc:
        return not is_whole and exc.pos >= len(sample) - 20 and '"' in sample
    except (ValueError, RecursionError):
        return False
    return '"' in sample


def _noting(source: Source, notices: tuple[str, ...]) -> Source:
    return replace(source, notices=(*source.notices, *notices))


def _with_keys(source: Source) -> Source:
    objects: list[dict[str, Any]] = []
    arrays: list[list[Any]] = []
    reason, line_number = "", 0
    with open_bytes(source.path) as file:
        for number, line in enumerate(text_lines(file, source.path.name, source.encoding), 1):
            if number > _OBJECTS_FOR_KEYS:
                break
            fields = {} if line.isspace() else parse_object(line)
            if isinstance(fields, dict):
                objects.append(fields)
            elif array := parse_array(line):
                arrays.append(array)
            elif not reason:
                reason, line_number = fields, number
    if arrays and len(arrays) >= 9 * len(objects):
        return _of_arrays(source, arrays)
    found = _of_objects(source, [fields for fields in objects if fields])
    if found.columns:
        return found
    raise InputError(
        f"{source.path.name} holds no JSON object on a line of its own. Write one object a line, such as "
        "{“text”: “…”}.",
        detail=f"line {line_number}: {reason}" if reason else "objects without keys",
    )


def _with_elements(source: Source) -> Source:
    objects: list[dict[str, Any]] = []
    arrays: list[list[Any]] = []
    reason = ""
    with open_bytes(source.path) as file:
        for value in islice(values_of(file, source), _OBJECTS_FOR_KEYS):
            if isinstance(value, dict):
                objects.append(value)
            elif isinstance(value, str):
                objects.append({"text": value})
            elif isinstance(value, list):
                arrays.append(value)
            elif isinstance(value, Broken):
                reason = value.cause
    if any(arrays) and len(arrays) >= 9 * len(objects):
        return _of_arrays(source, arrays)
    found = _of_objects(source, objects)
    if found.columns:
        return found
    if reason:
        raise InputError(f"{source.path.name} is not valid JSON: {reason}. Correct it there, and choose it again.")
    raise InputError(
        f"{source.path.name} holds no list of JSON objects. Write an array such as [{{“text”: “…”}}], or one object a "
        "line."
    )


def _of_objects(source: Source, objects: list[dict[str, Any]]) -> Source:
    shape = shape_of(objects) if objects else Shape.PLAIN
    notice = notice_for(shape, objects)
    return replace(source, columns=columns_for(shape, objects), shape=shape, notices=(notice,) if notice else ())


def _of_arrays(source: Source, arrays: list[list[Any]]) -> Source:
    """The source of rows that are lists of cells; the first list names the columns if `has_header` says so."""
    rows = [tuple(map(cell_text, array)) for array in arrays]
    header = len(rows) > 1 and has_header(rows[:_ROWS_FOR_HEADER])
    columns = complete_names(rows[0] if header else (), _width(rows, header))
    return replace(source, columns=columns, shape=Shape.ARRAYS, has_header=header)


def _with_line_header(source: Source, header: bool) -> Source:
    if not header:
        return source
    with open_bytes(source.path) as file:
        lines = (line for line in text_lines(file, source.path.name, source.encoding) if not line.isspace())
        name = next(lines, "").strip()
        if next(lines, None) is None:
            raise only_header(source.path)
    return replace(source, columns=complete_names([name or "text"], 1), has_header=True)


def _with_header(source: Source, candidate: Candidate, separator: str) -> Source:
    header = candidate.options.has_header
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
        source = replace(source, notices=(*source.notices, "Spaces are taken for the separators between cells."))
    first, wrong = _first_rows(source)
    if not first and source.end:  # the lines that were taken for notes below the table are its only rows
        source = replace(source, end=0, first_line=1, notices=())
        first, wrong = _first_rows(source)
    if not first:
        raise without_rows(source.path)
    if header is not False and (above := rows_of_header(first)) > 1:
        source = replace(source, notices=(*source.notices, *_notice_of_header(first[1:above])))
        del first[1:above]
        header = True
    narrow = _without_empty_ends(first)
    header = has_header(narrow) if header is None else header
    first = narrow if header else first
    if header and len(first) == 1:
        raise _unreadable(source.path, wrong) if wrong else only_header(source.path)
    width = _width(first, header)
    names = with_row_names(first) if header else ()
    columns = complete_names(names, width)
    source = replace(source, columns=columns, has_header=header)
    source = with_habits(source, candidate.text, is_whole=candidate.is_whole)
    return marked_columns(source)


def _notice_of_header(below: Sequence[Sequence[str]]) -> tuple[str, ...]:
    if not any(letter.isalpha() for cell in below[0] for letter in cell):
        return ()  # a ruled line
    what = "The row below the names was" if len(below) == 1 else f"The {len(below)} rows below the names were"
    return (f"{what} left aside: a survey says there more about its questions.",)


def _first_rows(source: Source) -> tuple[list[tuple[str, ...]], str]:
    """The first records that can be read, and the problem of the first that cannot, "" for none."""
    first: list[tuple[str, ...]] = []
    wrong = ""
    with open_bytes(source.path, source.end) as file:
        rows: Iterable[Any] = (row for row in read_records(file, source) if row.cells or row.problem)
        for row in islice(rows, _ROWS_FOR_HEADER):
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
    return InputError(f"{path.name} cannot be read as a table. {problem}")


def _width(rows: list[tuple[str, ...]], header: bool) -> int:
    widths = [len(row) for row in rows[header:]]
    usual = max(widths, key=lambda width: (widths.count(width), -widths.index(width)))
    return max(len(rows[0]), usual) if header else usual
