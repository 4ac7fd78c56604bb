"""Recognise a decoded text: a table, JSON, or plain text."""

from dataclasses import replace
from pathlib import Path

from cfbatch_gui.core.errors import UsageError
from cfbatch_gui.core.inputs.column_names import complete_names
from cfbatch_gui.core.inputs.files.open_file import open_bytes
from cfbatch_gui.core.inputs.files.unsupported_files import only_header, without_rows
from cfbatch_gui.core.inputs.input_values import Candidate, FileFormat, Source
from cfbatch_gui.core.inputs.readers.ascii_table import find_ascii_table
from cfbatch_gui.core.inputs.readers.decoded_text import text_lines
from cfbatch_gui.core.inputs.readers.formats import FORMATS
from cfbatch_gui.core.inputs.recognise.ascii_table import open_ascii_table
from cfbatch_gui.core.inputs.recognise.csv_dialect import (
    NAMES,
    SEPARATORS,
    SPACE,
    is_clearly_delimited,
    is_separated_by_spaces,
)
from cfbatch_gui.core.inputs.recognise.delimited_text import open_delimited
from cfbatch_gui.core.inputs.recognise.json_text import json_format, open_json
from cfbatch_gui.core.inputs.recognise.paragraphs import has_paragraphs
from cfbatch_gui.core.inputs.recognise.table_bounds import lines_of
from cfbatch_gui.core.messages import message

HEAD = 64 * 1024  # bytes
_NAMED_AS_WORKBOOK = (".xlsx", ".xls", ".xlsm")  # some programs write text under these names
_LIST_SUFFIXES = (".log", ".lst")  # each line is a record, whatever it looks like
_UNITS = (FileFormat.LINES, FileFormat.PARAGRAPHS, FileFormat.WHOLE)


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
        case FileFormat.JSON | FileFormat.JSON_LINES:
            return open_json(source, candidate)
        case FileFormat.ASCII_TABLE:
            return open_ascii_table(source, candidate.head, text)
        case FileFormat.LINES:
            return _with_line_header(source, options.has_header or False)
        case FileFormat.PARAGRAPHS | FileFormat.WHOLE:
            return source
        case _:
            return open_delimited(source, candidate, separator)


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
        raise UsageError(message("“{wanted}” cannot be the separator. Choose , or ; or tab or |.", wanted=wanted))
    return separator


def _text_format(candidate: Candidate) -> FileFormat:
    suffix, text, is_whole = candidate.suffix, candidate.text, candidate.is_whole
    found = json_format(suffix, text, is_whole=is_whole)
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
