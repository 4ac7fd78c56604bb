"""Recognise JSON and JSON Lines, and find the columns of their objects or lists."""

import json
from dataclasses import replace
from itertools import islice
from typing import Any

from cfbatch_gui.core.errors import InputError
from cfbatch_gui.core.inputs.column_names import complete_names
from cfbatch_gui.core.inputs.files.open_file import open_bytes
from cfbatch_gui.core.inputs.files.unsupported_files import only_header
from cfbatch_gui.core.inputs.input_values import Candidate, FileFormat, Shape, Source
from cfbatch_gui.core.inputs.readers.decoded_text import text_lines
from cfbatch_gui.core.inputs.readers.formats import FORMATS
from cfbatch_gui.core.inputs.readers.json_document import Broken, is_envelope, values_of
from cfbatch_gui.core.inputs.readers.json_losses import notice_of_repeated_keys
from cfbatch_gui.core.inputs.readers.json_shapes import columns_for, is_frame, notice_for, shape_of
from cfbatch_gui.core.inputs.readers.json_values import cell_text, parse_array, parse_object
from cfbatch_gui.core.inputs.recognise.headers import ROWS_FOR_HEADER, judge_header, table_width
from cfbatch_gui.core.messages import message

_OBJECTS_FOR_KEYS = 1000


def open_json(source: Source, candidate: Candidate) -> Source:
    """Find the columns of JSON, or of JSON Lines if that is the format of `source`. Raises InputError."""
    is_lines = source.format == FileFormat.JSON_LINES
    found = (_with_keys if is_lines else _with_elements)(source, candidate.options.has_header)
    notices = notice_of_repeated_keys(candidate.text.split("\n") if is_lines else (candidate.text,))
    return replace(found, notices=(*found.notices, *notices))


def json_format(suffix: str, sample: str, *, is_whole: bool) -> FileFormat | None:
    """Return JSON or JSON_LINES for a text that is either, None for another."""
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


def _with_keys(source: Source, has_header: bool | None) -> Source:
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
        return _of_arrays(source, arrays, has_header)
    found = _of_objects(source, [fields for fields in objects if fields])
    if found.columns:
        return found
    raise InputError(
        message(
            "{name} holds no JSON object on a line of its own. Write one object a line, such as {{“text”: “…”}}.",
            name=source.path.name,
        ),
        detail=f"line {line_number}: {reason}" if reason else "objects without keys",
    )


def _with_elements(source: Source, has_header: bool | None) -> Source:
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
        return _of_arrays(source, arrays, has_header)
    found = _of_objects(source, objects)
    if found.columns:
        return found
    if reason:
        raise InputError(
            message(
                "{name} is not valid JSON: {reason}. Correct it there, and choose it again.",
                name=source.path.name,
                reason=reason,
            )
        )
    raise InputError(
        message(
            "{name} holds no list of JSON objects. Write an array such as [{{“text”: “…”}}], or one object a line.",
            name=source.path.name,
        )
    )


def _of_objects(source: Source, objects: list[dict[str, Any]]) -> Source:
    shape = shape_of(objects) if objects else Shape.PLAIN
    notice = notice_for(shape, objects)
    return replace(source, columns=columns_for(shape, objects), shape=shape, notices=(notice,) if notice else ())


def _of_arrays(source: Source, arrays: list[list[Any]], has_header: bool | None) -> Source:
    """The source of rows that are lists of cells; the first list may name the columns."""
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
