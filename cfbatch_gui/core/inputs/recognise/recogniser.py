"""Find out what a file is: its format by content first, then all that is needed to read it."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

from cfbatch_gui.core.errors import InputError, UsageError
from cfbatch_gui.core.inputs.files import unsupported_files
from cfbatch_gui.core.inputs.files.encodings import MOST_CHECKED, find_encoding, known_encoding, marked_encoding
from cfbatch_gui.core.inputs.files.open_file import (
    GZIP,
    MOST_TRIED,
    ZIP,
    content_name,
    is_folder,
    members_of,
    open_archive,
    open_bytes,
    open_raw,
    regular_file_size,
    unpacked_size,
)
from cfbatch_gui.core.inputs.files.unsupported_files import without_rows
from cfbatch_gui.core.inputs.input_values import FileFormat, ReadOptions, Source
from cfbatch_gui.core.inputs.readers import docx, parquet
from cfbatch_gui.core.inputs.readers.collection import PAIR_COLUMNS, collection_notices, parts_of
from cfbatch_gui.core.inputs.readers.decoded_text import count_signs
from cfbatch_gui.core.inputs.readers.docx import read_docx
from cfbatch_gui.core.inputs.readers.folder import is_text_name, text_files, text_members
from cfbatch_gui.core.inputs.readers.xlsx_check import archive_names, check_archive
from cfbatch_gui.core.inputs.recognise.text import HEAD, open_text
from cfbatch_gui.core.inputs.recognise.workbook import open_workbook

_NO_OPTIONS = ReadOptions()
_DATA_SUFFIXES = frozenset([".csv", ".tsv", ".jsonl", ".ndjson", ".json", ".parquet", ".xlsx", ".xls", ".ods"])


def open_source(path: Path, options: ReadOptions = _NO_OPTIONS) -> Source:
    """Recognise a file, or a folder. What `options` sets is taken, the rest is found out.

    Reads a text file once from end to end to be sure of its encoding; holds none of it. A .txt file is one text a
    line, or a paragraph where sentences go on from line to line, unless a separator or another unit is given. Columns
    of JSON are the keys of the first 1,000 objects, in order of appearance.

    Raises InputError with a sentence for whatever is no table, EncodingUnknown when the user must choose an encoding,
    and UsageError for options that do not exist.
    """
    if is_folder(path):
        return _open_folder(path, options)
    size = regular_file_size(path)
    if size == 0:
        raise without_rows(path)
    with open_raw(path) as file:
        head = file.read(HEAD)
    if head.startswith(ZIP):
        names = archive_names(path)
        if docx.MEMBER in names:
            return _open_docx(path, size, options)
        if "content.xml" in names or any(name.startswith("xl/") for name in names):
            return open_workbook(path, size, options)
        if not names or any(name.startswith(("ppt/", "index/")) for name in names):
            check_archive(path)  # says what is wrong
        if sum(map(is_text_name, names)) > 1 and (packed := _open_packed_folder(path, options)):
            return packed
    elif head.startswith(parquet.MARK) and (path.suffix.lower() == ".parquet" or b"\0" in head[4:64]):
        return _open_parquet(path, size, options)
    elif unsupported_files.is_old_workbook(path, head):
        return open_workbook(path, size, options)
    elif not head.startswith(GZIP) and (sentence := unsupported_files.refusal(path, head)):
        raise InputError(sentence, detail=f"begins with {head[:16].hex(' ')}")
    return _open_text(path, head, options)


def _open_text(path: Path, raw_head: bytes, options: ReadOptions) -> Source:
    name = content_name(path, raw_head)
    size, is_size_sure = unpacked_size(path, raw_head)
    if size == 0:
        raise without_rows(path)
    with open_bytes(path) as file:
        head = _begin(file)
    if head.startswith((ZIP, GZIP, parquet.MARK)) and raw_head.startswith((ZIP, GZIP)):
        raise InputError(f"{path.name} holds a file that is itself packed. Unpack it, and choose the file in it.")
    if raw_head.startswith((ZIP, GZIP)) and (sentence := unsupported_files.refusal(Path(name), head)):
        raise InputError(sentence, detail=f"begins with {head[:16].hex(' ')}")
    if options.sheet:
        raise UsageError(f"{path.name} is a text file and has no sheets. Leave the sheet out.")
    most_checked = MOST_CHECKED if is_size_sure else MOST_TRIED
    encoding = known_encoding(options.encoding, head) if options.encoding else _encoding_of(path, head, most_checked)
    source = open_text(path, name, size, head, encoding, options)
    is_sure = bool(options.encoding or marked_encoding(head)) or size <= most_checked
    notices = (*source.notices, *_replaced_signs(path, encoding, most_checked))
    return replace(source, is_encoding_sure=is_sure, notices=notices)


def _replaced_signs(path: Path, encoding: str, most_checked: int) -> Iterator[str]:
    """What is not read to the letter, in sentences."""
    with open_bytes(path) as file:
        marks, nuls = count_signs(file, encoding, most_checked)
    if marks:
        what = "1 byte order mark was" if marks == 1 else f"{marks:,} byte order marks were"
        yield f"{what} left out within the file, which seems to be made of several."
    if nuls:
        what = "1 sign that is no text (NUL) is" if nuls == 1 else f"{nuls:,} signs that are no text (NUL) are"
        yield f"{what} shown as “\ufffd”."


def _begin(file: BinaryIO) -> bytes:
    data = b""
    while len(data) < HEAD and (piece := file.read(HEAD - len(data))):  # packed files come in smaller pieces
        data += piece
    return data


def _encoding_of(path: Path, head: bytes, most_checked: int) -> str:
    if not marked_encoding(head) and unsupported_files.is_binary(head) and not _may_be_utf16(head):
        raise InputError(
            f"{path.name} is not a text file or a spreadsheet. Choose a text file, CSV, JSON Lines or .xlsx.",
            detail=f"begins with {head[:16].hex(' ')}",
        )
    return find_encoding(path, most_checked)


def _may_be_utf16(head: bytes) -> bool:
    # Text in UTF-16 has zeros in every other byte as long as its letters are Latin, and none in a row.
    return head.count(0) > len(head) // 4 and b"\0\0" not in head


def _open_parquet(path: Path, size: int, options: ReadOptions) -> Source:
    _refuse_text_options(path, options, "a Parquet file")
    columns = parquet.parquet_columns(path)
    if not columns:
        raise without_rows(path)
    return Source(path, FileFormat.PARQUET, columns, size, has_header=True)


def _open_docx(path: Path, size: int, options: ReadOptions) -> Source:
    _refuse_text_options(path, options, "a document")
    source = Source(path, FileFormat.DOCX, ("text",), size)
    if next(read_docx(source, None), None) is None:
        raise without_rows(path)
    return source


def _refuse_text_options(path: Path, options: ReadOptions, what: str) -> None:
    if options.separator or options.encoding or options.sheet:
        raise UsageError(f"{path.name} is {what}. It has no separator, encoding or sheet to choose.")


def _open_folder(path: Path, options: ReadOptions) -> Source:
    """A collection for rankings, or a folder of text files."""
    parts = parts_of(path)
    if parts is not None:
        if parts.run is None and parts.judgements is None:
            raise InputError(
                f"{path.name} has a corpus and queries, but no file that says which documents to rank for which query. "
                f"To rank all of them for every query, choose {parts.queries.name}, and {parts.corpus.name} as the "
                "second file."
            )
        size = sum(part.stat().st_size for part in (parts.corpus, parts.queries))
        return Source(
            path, FileFormat.COLLECTION, PAIR_COLUMNS, size, has_header=True, notices=collection_notices(parts)
        )
    files = text_files(path)
    tables = sorted(each.name for each in path.iterdir() if each.suffix.lower() in _DATA_SUFFIXES)
    if not files or (tables and len(files) < len(tables)):
        listed = f" It holds {', '.join(tables[:5])}{' and more' if len(tables) > 5 else ''}." if tables else ""
        raise InputError(f"{path.name} is a folder. Choose a file in it.{listed}", detail=str(path))
    others = sum(1 for each in path.iterdir() if each.is_file() and not each.name.startswith(".")) - sum(
        1 for each in files if each.parent == path
    )
    return _folder(path, sum(each.stat().st_size for each in files), others, options)


def _open_packed_folder(path: Path, options: ReadOptions) -> Source | None:
    """A folder of text files in a zip archive; None when it rather holds something else."""
    with open_archive(path) as archive:
        members = members_of(archive)
    files = text_members(members)
    tables = sum(each.filename.lower().endswith(tuple(_DATA_SUFFIXES)) for each in members)
    if len(files) < 2 or tables >= len(files):
        return None
    return _folder(path, sum(each.file_size for each in files), len(members) - len(files), options)


def _folder(path: Path, size: int, others: int, options: ReadOptions) -> Source:
    encoding = known_encoding(options.encoding, b"") if options.encoding else ""
    left = (
        "1 file in the folder is no text file and was"
        if others == 1
        else f"{others:,} files in the folder are no text files and were"
    )
    notices = (f"{left} left aside.",) if others > 0 else ()
    return Source(path, FileFormat.FOLDER, ("file", "text"), size, encoding, has_header=True, notices=notices)
