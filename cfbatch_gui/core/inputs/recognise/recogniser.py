"""Recognise a file or a folder: by its bytes, as a workbook or a packed folder, or as a text."""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

from cfbatch_gui.core.errors import InputError, UsageError
from cfbatch_gui.core.inputs import encodings, open_file
from cfbatch_gui.core.inputs.column_names import complete_names
from cfbatch_gui.core.inputs.input_values import Candidate, FileFormat, ReadOptions, Row, Source, single_rows
from cfbatch_gui.core.inputs.readers import parquet
from cfbatch_gui.core.inputs.readers.collection import settle_candidates
from cfbatch_gui.core.inputs.readers.decoded_text import count_signs, without_marks
from cfbatch_gui.core.inputs.readers.folder import guessed_encoding, is_text_name, size_of, text_files, text_members
from cfbatch_gui.core.inputs.readers.formats import FORMATS, format_of, table_suffixes
from cfbatch_gui.core.inputs.readers.json_document import json_format, open_json
from cfbatch_gui.core.inputs.readers.json_shapes import HALF_CHARACTER
from cfbatch_gui.core.inputs.readers.plain_text import has_paragraphs
from cfbatch_gui.core.inputs.readers.workbook import archive_names
from cfbatch_gui.core.inputs.recognise import delimited_text
from cfbatch_gui.core.messages import cut_list, message

_NO_OPTIONS = ReadOptions()
HEAD = 64 * 1024  # bytes
_LINES_IN_HEAD = 20
_MOST_IN_HEAD = 4 * 1024 * 1024  # bytes
_MOST_NAMED = 5
_FILES_FOR_GUESS = 200  # of a folder; they are read for it, as far as they are UTF-8


def open_source(path: Path, options: ReadOptions = _NO_OPTIONS) -> Source:
    """Recognise a file or a folder by its content and `options`.

    Raises InputError for what is no table, UsageError for options that do not apply.
    """
    open_file.check_name(path)
    source = replace(
        _recognised(path, options), sends_doubtful=options.sends_doubtful, leaves_hidden=options.leaves_hidden
    )
    return settle_candidates(source, options.candidates) if source.format == FileFormat.COLLECTION else source


def read_part(path: Path) -> tuple[Source, Iterator[Row]]:
    """Recognise one file of a collection, and read its rows as `file_rows.read_rows` does. Raises InputError."""
    source = open_source(path)
    return source, single_rows(format_of(source).read(source, None))


def _recognised(path: Path, options: ReadOptions) -> Source:
    if open_file.is_folder(path):
        candidate = Candidate(path, path.name, 0, b"", options)
        return _by_table(candidate) or _open_folder(candidate)
    size = open_file.regular_file_size(path)
    if size == 0:
        raise open_file.without_rows(path)
    with open_file.open_raw(path) as file:
        head = file.read(HEAD)
    members = archive_names(path) if head.startswith(open_file.ZIP) else frozenset()
    candidate = Candidate(path, path.name, size, head, options, members)
    found = _by_table(candidate)
    if found is None and head.startswith(open_file.ZIP):
        found = _open_packed_folder(candidate)
    elif found is None and not head.startswith(open_file.GZIP):
        _refuse_unsupported(path, head)
    return found or _open_text(candidate)


def _by_table(candidate: Candidate, *, is_text: bool = False) -> Source | None:
    recognisers = [each.recognise_text if is_text else each.recognise for each in FORMATS.values()]
    return next(filter(None, (recognise(candidate) for recognise in recognisers if recognise)), None)


def _refuse_unsupported(path: Path, head: bytes) -> None:
    if sentence := open_file.refusal(path, head):
        raise InputError(sentence, detail=f"begins with {head[:16].hex(' ')}")


def _open_text(raw: Candidate) -> Source:
    path, options, is_packed = raw.path, raw.options, raw.head.startswith((open_file.ZIP, open_file.GZIP))
    name = open_file.content_name(path, raw.head)
    size, is_size_sure = open_file.unpacked_size(path, raw.head)
    if size == 0:
        raise open_file.without_rows(path)
    with open_file.open_bytes(path) as file:
        head = _begin(file)
    if is_packed and head.startswith((open_file.OLE_MARK, open_file.ZIP, open_file.GZIP, parquet.MARK)):
        raise InputError(message("name_holds_workbook_document_or_packed", name=path.name))
    if is_packed:
        _refuse_unsupported(Path(name), head)
    if options.sheet:
        raise UsageError(message("name_is_text_file_no_sheets", name=path.name))
    most_checked = encodings.MOST_CHECKED if is_size_sure else open_file.MOST_TRIED
    encoding = _wanted_encoding(options, head) or _encoding_of(path, head, most_checked)
    text, _ = without_marks(head.decode(encoding.codec, "replace").replace("\0", "\ufffd"))
    source = _open_decoded(Candidate(path, name, size, head, options, text=text, encoding=encoding.codec))
    is_sure = bool(options.encoding or encoding.codec != "utf-8" or size <= most_checked)
    notices = (*source.notices, *_replaced_signs(source, encoding.codec, most_checked))
    source = replace(source, is_encoding_sure=is_sure, notices=notices)
    return _with_guess(source, encoding) if source.encoding else source


def _with_guess(source: Source, encoding: encodings.Encoding) -> Source:
    return replace(source, is_encoding_guessed=encoding.is_guessed, other_encodings=encoding.other_codecs)


def _wanted_encoding(options: ReadOptions, head: bytes) -> encodings.Encoding | None:
    if not options.encoding:
        return None
    codec = encodings.known_encoding(options.encoding, head)
    return encodings.Encoding(codec, options.is_encoding_guessed, options.other_encodings)


def _replaced_signs(source: Source, encoding: str, most_checked: int) -> Iterator[str]:
    escapes = HALF_CHARACTER if source.format in (FileFormat.JSON, FileFormat.JSON_LINES) else None
    with open_file.open_bytes(source.path) as file:
        marks, damaged = count_signs(file, encoding, most_checked, escapes)
    if marks:
        yield message("n_byte_order_marks_within_file", n=marks)
    if damaged:
        yield message("n_characters_are_damaged_file_or", n=damaged)


def _begin(file: BinaryIO) -> bytes:
    """The beginning of a file, with the whole of its first lines, unless those are very long or JSON."""
    data = b""
    most = HEAD
    while len(data) < most and (chunk := file.read(most - len(data))):  # reading from a packed file may return less
        data += chunk
        has_lines = data.count(b"\n") >= _LINES_IN_HEAD and data.strip()
        if len(data) >= HEAD and not has_lines and not data.lstrip().startswith((b"[", b"{")):
            most = min(_MOST_IN_HEAD, len(data) + HEAD)
    return data


def _encoding_of(path: Path, head: bytes, most_checked: int) -> encodings.Encoding:
    if not encodings.marked_encoding(head) and open_file.is_binary(head) and not encodings.unmarked_utf16(head):
        raise InputError(
            message("name_is_not_text_file_or", name=path.name, cure=open_file.CHOOSE_TABLE),
            detail=f"begins with {head[:16].hex(' ')}",
        )
    with open_file.open_bytes(path) as file:
        return encodings.encoding_of(file, most_checked)


def _open_folder(candidate: Candidate) -> Source:
    path, data_suffixes = candidate.path, table_suffixes()
    files = text_files(path)
    with open_file.looking_at(path):
        beside = [each for each in path.iterdir() if each.is_file() and not each.name.startswith(".")]
    tables = sorted(each.name for each in beside if each.suffix.lower() in data_suffixes)
    if not files or (tables and len(files) < len(tables)):
        sentence = message("name_is_folder_choose_file", name=path.name)
        if tables:
            names = cut_list(tables[:_MOST_NAMED], len(tables) - _MOST_NAMED)
            sentence = message("sentence_holds_names", sentence=sentence, names=names)
        raise InputError(sentence, detail=str(path))
    others = sum(not is_text_name(each.name) for each in beside)
    return _folder(candidate, sum(map(size_of, files)), others)


def _open_packed_folder(candidate: Candidate) -> Source | None:
    with open_file.open_archive(candidate.path) as archive:
        members = open_file.members_of(archive)
    files = text_members(members)
    tables = sum(each.filename.lower().endswith(table_suffixes()) for each in members)
    if len(files) < 2 or tables >= len(files):
        return None
    return _folder(candidate, sum(each.file_size for each in files), len(members) - len(files))


def _folder(candidate: Candidate, size: int, others: int) -> Source:
    encoding = _wanted_encoding(candidate.options, b"") or guessed_encoding(candidate.path, _FILES_FOR_GUESS)
    left = message("n_files_folder_are_not_text", n=others)
    notices = (left,) if others > 0 else ()
    codec = encoding.codec if encoding else ""
    source = Source(candidate.path, FileFormat.FOLDER, ("file", "text"), size, codec, has_header=True, notices=notices)
    return _with_guess(source, encoding) if encoding else source


_NAMED_AS_WORKBOOK = (".xlsx", ".xls", ".xlsm")  # some programs write text under these names


_LIST_SUFFIXES = (".log", ".lst")  # each line is a record, whatever it looks like


_BY_R = re.compile(r'(?:"[^"\n]*" )+"[^"\n]*"\r?\n"')  # its write.table quotes names and texts, with spaces between


def _open_decoded(candidate: Candidate) -> Source:
    """Recognise a decoded text and find its columns. Raises InputError, UsageError."""
    path, options, text = candidate.path, candidate.options, candidate.text
    if candidate.is_whole and not text.strip("\r\n"):
        raise open_file.without_rows(path)
    separator = delimited_text.wanted_separator(options.separator)
    if not separator and options.unit is None and _BY_R.match(text):
        separator = delimited_text.SPACE
    if options.unit:
        file_format = options.unit
    elif separator:
        file_format = FileFormat.DELIMITED
    elif source := _by_table(candidate, is_text=True):
        return source
    else:
        file_format = _text_format(candidate)
    source = Source(path, file_format, ("text",), candidate.size, candidate.encoding)
    match file_format:
        case FileFormat.JSON | FileFormat.JSON_LINES:
            return open_json(source, candidate)
        case FileFormat.LINES:
            return _with_line_header(source, candidate) if options.has_header else source
        case FileFormat.PARAGRAPHS | FileFormat.WHOLE:
            return source
        case _:
            return delimited_text.open_delimited(source, candidate, separator)


def _text_format(candidate: Candidate) -> FileFormat:
    suffix, text, is_whole = candidate.suffix, candidate.text, candidate.is_whole
    found = json_format(suffix, text, is_whole=is_whole)
    if found is not None:
        return found
    if suffix in _NAMED_AS_WORKBOOK or suffix in FORMATS[FileFormat.DELIMITED].suffixes:
        return FileFormat.DELIMITED
    # Excel saves tables with tabs as "Unicode text (.txt)"; with other separators a .txt file is plain text.
    separators = ("\t",) if suffix in FORMATS[FileFormat.LINES].suffixes + _LIST_SUFFIXES else delimited_text.SEPARATORS
    is_table = delimited_text.is_clearly_delimited(text, is_whole=is_whole, separators=separators)
    if is_table or delimited_text.separator_between_names(delimited_text.first_lines(text, is_whole=is_whole)) not in (
        "",
        *delimited_text.SEPARATORS,
    ):
        return FileFormat.DELIMITED
    may_have = suffix not in _LIST_SUFFIXES and not candidate.options.has_header  # a header stands above lines
    return FileFormat.PARAGRAPHS if may_have and has_paragraphs(text, is_whole=is_whole) else FileFormat.LINES


def _with_line_header(source: Source, candidate: Candidate) -> Source:
    lines = delimited_text.first_lines(candidate.text, is_whole=True)
    if candidate.is_whole and len(lines) < 2:
        raise open_file.only_header(source.path)
    return replace(source, columns=complete_names(["".join(lines[:1]).strip() or "text"], 1), has_header=True)
