"""Recognise a decoded text: a table, JSON, a drawn table, paragraphs or lines."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby, islice
from pathlib import Path
from typing import Any, BinaryIO

from cfbatch_gui.core.errors import InputError
from cfbatch_gui.core.inputs.column_names import complete_names
from cfbatch_gui.core.inputs.input_values import Candidate, FileFormat, Shape, Source
from cfbatch_gui.core.inputs.open_file import only_header, open_bytes, without_rows
from cfbatch_gui.core.inputs.readers.decoded_text import text_lines
from cfbatch_gui.core.inputs.readers.formats import FORMATS
from cfbatch_gui.core.inputs.readers.json_document import PREFIX, Broken, is_envelope, values_of
from cfbatch_gui.core.inputs.readers.json_shapes import (
    bulk_id,
    cell_text,
    columns_for,
    holds_only_numbers,
    is_batch_answer,
    notice_for,
    notice_of_repeated_keys,
    parse_array,
    parse_object,
    shape_of,
)
from cfbatch_gui.core.inputs.recognise.delimited_text import (
    is_clearly_delimited,
    open_delimited,
)
from cfbatch_gui.core.inputs.recognise.headers import ROWS_FOR_HEADER, judge_header, table_width
from cfbatch_gui.core.inputs.recognise.separators import (
    SEPARATORS,
    SPACE,
    first_lines,
    separator_between_names,
    wanted_separator,
)
from cfbatch_gui.core.inputs.recognise.table_bounds import lines_of
from cfbatch_gui.core.messages import message

HEAD = 64 * 1024  # bytes


_NAMED_AS_WORKBOOK = (".xlsx", ".xls", ".xlsm")  # some programs write text under these names


_LIST_SUFFIXES = (".log", ".lst")  # each line is a record, whatever it looks like


_BY_R = re.compile(r'(?:"[^"\n]*" )+"[^"\n]*"\r?\n"')  # its write.table quotes names and texts, with spaces between
_UNITS = (FileFormat.LINES, FileFormat.PARAGRAPHS, FileFormat.WHOLE)


def open_text(candidate: Candidate) -> Source:
    """Recognise a decoded text and find its columns. Raises InputError, UsageError."""
    path, options, text = candidate.path, candidate.options, candidate.text
    if not text.strip("\r\n"):
        text = _first_text(path, candidate.encoding)
        candidate = replace(candidate, text=text)
    separator = wanted_separator(options.separator)
    if not separator and options.unit is None and _BY_R.match(text):
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
        case FileFormat.JSON | FileFormat.JSON_LINES:
            return open_json(source, candidate)
        case FileFormat.LINES:
            return _with_line_header(source, options.has_header or False)
        case FileFormat.PARAGRAPHS | FileFormat.WHOLE:
            return source
        case _:
            return open_delimited(source, candidate, separator)


def _by_table(candidate: Candidate) -> Source | None:
    found = (each.recognise_text(candidate) for each in FORMATS.values() if each.recognise_text)
    return next(filter(None, found), None)


def _first_text(path: Path, encoding: str) -> str:
    with open_bytes(path) as file:
        line = next((line for line in text_lines(file, path.name, encoding) if line.strip("\r\n")), "")
    if not line:
        raise without_rows(path)
    return line


def _text_format(candidate: Candidate) -> FileFormat:
    suffix, text, is_whole = candidate.suffix, candidate.text, candidate.is_whole
    found = json_format(suffix, text, is_whole=is_whole)
    if found is not None:
        return found
    if suffix in _NAMED_AS_WORKBOOK or suffix in FORMATS[FileFormat.DELIMITED].all_suffixes:
        return FileFormat.DELIMITED
    # Excel saves tables with tabs as "Unicode text (.txt)"; with other separators a .txt file is plain text.
    separators = ("\t",) if suffix in FORMATS[FileFormat.LINES].all_suffixes else SEPARATORS
    is_table = is_clearly_delimited(text, is_whole=is_whole, separators=separators)
    if is_table or separator_between_names(first_lines(text, is_whole=is_whole)) not in ("", *SEPARATORS):
        return FileFormat.DELIMITED
    may_have = suffix not in _LIST_SUFFIXES and not candidate.options.has_header  # a header stands above lines
    return FileFormat.PARAGRAPHS if may_have and has_paragraphs(text, is_whole=is_whole) else FileFormat.LINES


def _with_line_header(source: Source, header: bool) -> Source:
    if not header:
        return source
    with open_bytes(source.path) as file:
        lines = (line for line in text_lines(file, source.path.name, source.encoding) if not line.isspace())
        name = next(lines, "").strip()
        if next(lines, None) is None:
            raise only_header(source.path)
    return replace(source, columns=complete_names([name or "text"], 1), has_header=True)


_SENTENCE_END = re.compile(r"""[.?!…:。．？！؟۔।]["'”’»)\]」』]*$""")
_LEAST_IN_BLOCKS = 0.75  # share of all lines that are in blocks of several; titles are blocks of one line
_LEAST_ENDED = 0.8  # share of these blocks that end with the end of a sentence
_LEAST_BROKEN = 0.5  # share of lines with another below that end within a sentence


def has_paragraphs(sample: str, *, is_whole: bool) -> bool:
    return _are_paragraphs(_whole_blocks(sample, is_whole=is_whole))


def _whole_blocks(sample: str, *, is_whole: bool) -> list[str]:
    lines = lines_of(sample)
    if is_whole:
        return lines
    last_blank = next((at for at in range(len(lines) - 1, -1, -1) if not lines[at].strip()), 0)
    return lines[:last_blank]  # the sample may end within the paragraph below


def _are_paragraphs(lines: Sequence[str]) -> bool:
    """Whether blank lines separate paragraphs, and not groups of a list: most lines end within a sentence."""
    blocks = [[line.strip() for line in block] for filled, block in groupby(lines, _is_filled) if filled]
    several = [block for block in blocks if len(block) > 1]
    if len(blocks) < 2 or sum(map(len, several)) < _LEAST_IN_BLOCKS * sum(map(len, blocks)):
        return False
    ended = [bool(_SENTENCE_END.search(block[-1])) for block in several]
    broken = [not _SENTENCE_END.search(line) for block in several for line in block[:-1]]
    return _share(ended) >= _LEAST_ENDED and _share(broken) >= _LEAST_BROKEN


def _is_filled(line: str) -> bool:
    return bool(line.strip())


def _share(found: Sequence[bool]) -> float:
    return sum(found) / len(found)


_OBJECTS_FOR_KEYS = 1000
_SCRIPT_SUFFIXES = (".js", ".json", ".jsonl")
_RECORD_MARK = "\x1e"  # of JSON text sequences


def open_json(source: Source, candidate: Candidate) -> Source:
    """Find the columns of JSON or JSON Lines. Raises InputError."""
    is_lines = source.format == FileFormat.JSON_LINES
    with open_bytes(source.path) as file:
        values = _values_of_lines(file, source) if is_lines else values_of(file, source)
        first = list(islice(values, _OBJECTS_FOR_KEYS))
    objects = [each if isinstance(each, dict) else {"text": each} for each in first if isinstance(each, dict | str)]
    arrays = [each for each in first if isinstance(each, list)]
    if any(arrays) and len(arrays) >= 9 * len(objects):
        found = _of_arrays(source, arrays, candidate.options.has_header)
    else:
        found = _of_objects(source, [fields for fields in objects if fields])
    if not found.columns:
        raise _without_objects(source, next((each for each in first if isinstance(each, Broken)), None))
    notices = notice_of_repeated_keys(candidate.text.split("\n") if is_lines else (candidate.text,))
    return replace(found, notices=(*found.notices, *notices))


def _values_of_lines(file: BinaryIO, source: Source) -> Iterator[object]:
    for line in text_lines(file, source.path.name, source.encoding):
        if not line.isspace():
            fields = parse_object(line)
            yield fields if isinstance(fields, dict) else parse_array(line) or Broken(fields)


def _without_objects(source: Source, broken: Broken | None) -> InputError:
    name = source.path.name
    if broken and source.format == FileFormat.JSON:
        sentence = message(
            "{name} is not valid JSON: {cause}. Correct it there, and choose it again.", name=name, cause=broken.cause
        )
    else:
        sentence = message(
            "{name} holds no JSON objects. Write an array such as [{{“text”: “…”}}], or one object a line.", name=name
        )
    return InputError(sentence, detail=broken.cause if broken else "objects without keys")


def json_format(suffix: str, sample: str, *, is_whole: bool) -> FileFormat | None:
    is_named = suffix in FORMATS[FileFormat.JSON].all_suffixes + FORMATS[FileFormat.JSON_LINES].all_suffixes
    begin = sample.lstrip()
    if sample.startswith(_RECORD_MARK) or (suffix in _SCRIPT_SUFFIXES and PREFIX.match(sample)):
        return FileFormat.JSON
    lines = [line for line in sample.split("\n") if line.strip()]
    whole_lines = lines if is_whole or len(lines) == 1 else lines[:-1]
    has_object_lines = begin.startswith("{") and all(isinstance(parse_object(line), dict) for line in whole_lines[:2])
    only = parse_object(lines[0]) if is_whole and len(lines) == 1 else None
    is_around_others = is_envelope(only) or (begin.startswith("{") and begin[1:].lstrip().startswith('"requests"'))
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
    return sum(isinstance(parse_object(line), dict) for line in lines[:50]) > 0


def _is_document(sample: str, *, is_whole: bool) -> bool:
    try:
        json.loads(sample)
    except json.JSONDecodeError as exc:
        return not is_whole and exc.pos >= len(sample) - 20 and '"' in sample
    except (ValueError, RecursionError):
        return False
    return '"' in sample


def _of_objects(source: Source, objects: list[dict[str, Any]]) -> Source:
    if objects and (all(map(is_batch_answer, objects)) or (len(objects) == 1 and holds_only_numbers(objects[0]))):
        raise InputError(
            message(
                "{name} holds answers of another service, or scores, by their ids, but no texts. Choose the file with "
                "the texts.",
                name=source.path.name,
            )
        )
    is_bulk = source.format == FileFormat.JSON_LINES and objects and bulk_id(objects[0]) is not None
    shape = Shape.BULK if is_bulk else shape_of(objects) if objects else Shape.PLAIN
    notice = notice_for(shape, objects)
    return replace(source, columns=columns_for(shape, objects), shape=shape, notices=(notice,) if notice else ())


def _of_arrays(source: Source, arrays: list[list[Any]], has_header: bool | None) -> Source:
    rows = [tuple(map(cell_text, array)) for array in arrays]
    if len(rows) == 1 and has_header is None:
        has_header = False
    judgement = judge_header(rows[:ROWS_FOR_HEADER], decided=has_header)
    header = judgement.is_header
    if header and len(rows) == 1:
        raise only_header(source.path)
    columns = complete_names(rows[0] if header else (), table_width(rows, header))
    is_sure = not judgement.is_close
    return replace(source, columns=columns, shape=Shape.ARRAYS, has_header=header, is_header_sure=is_sure)
