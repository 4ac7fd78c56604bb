"""Recognise a file or a folder: by its bytes, as a workbook or a packed folder, or as a text."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from cfbatch_gui.core.errors import EncodingUnknown, InputError, UsageError
from cfbatch_gui.core.inputs.column_names import complete_names
from cfbatch_gui.core.inputs.encodings import (
    MOST_CHECKED,
    Encoding,
    find_encoding,
    known_encoding,
    marked_encoding,
    shown_name,
    unmarked_utf16,
)
from cfbatch_gui.core.inputs.input_values import Candidate, FileFormat, ReadOptions, Row, Source, single_rows
from cfbatch_gui.core.inputs.open_file import (
    CHOOSE_TABLE,
    GZIP,
    MOST_TRIED,
    OLE_MARK,
    ZIP,
    check_name,
    content_name,
    is_binary,
    is_folder,
    is_old_workbook,
    looking_at,
    members_of,
    only_header,
    open_archive,
    open_bytes,
    open_raw,
    refusal,
    regular_file_size,
    unpacked_size,
    without_rows,
)
from cfbatch_gui.core.inputs.readers import parquet
from cfbatch_gui.core.inputs.readers.collection import settle_candidates
from cfbatch_gui.core.inputs.readers.decoded_text import count_signs, without_marks
from cfbatch_gui.core.inputs.readers.folder import guessed_encoding, is_text_name, size_of, text_files, text_members
from cfbatch_gui.core.inputs.readers.formats import FORMATS, format_of, table_suffixes
from cfbatch_gui.core.inputs.readers.json_shapes import HALF_CHARACTER
from cfbatch_gui.core.inputs.readers.workbook import archive_names, check_archive, is_xlsx, open_sheet, sheets_of
from cfbatch_gui.core.inputs.recognise.headers import ROWS_FOR_HEADER, judge_header
from cfbatch_gui.core.inputs.recognise.table_bounds import Record, first_of_table, notice_above
from cfbatch_gui.core.inputs.recognise.text import HEAD, open_text
from cfbatch_gui.core.messages import Message, counted_message, cut_list, message, quoted


def open_workbook(candidate: Candidate) -> Source:
    """Recognise the sheet that the options name, otherwise the first with rows, hidden ones last.

    Raises InputError, UsageError.
    """
    path, options = candidate.path, candidate.options
    if options.separator or options.encoding:
        raise UsageError(
            message("{name} is a workbook. It has no separator and no encoding to choose.", name=path.name)
        )
    sheets = sheets_of(path)
    names = tuple(name for name, _ in sheets)
    if options.sheet and options.sheet not in names:
        raise InputError(
            message(
                "{name} has no sheet “{sheet}”. It has {list}.", name=path.name, sheet=options.sheet, list=_list(names)
            )
        )
    chosen = _first_rows(path, options.sheet) if options.sheet else _choose(path, sheets)
    if not chosen.rows:
        raise _empty_sheets(path, options.sheet, names)
    table = chosen.table
    cells = [row.cells for row in table if any(row.cells)]
    judgement = judge_header(cells, decided=options.has_header)
    header = judgement.is_header
    if header and len(table) == 1:
        raise only_header(path)
    columns = complete_names(table[0].cells if header else (), len(table[0].cells))
    above = notice_above([" ".join(" ".join(row.cells).split()) for row in chosen.rows[: chosen.begin]])
    notices = (*chosen.notices, *filter(None, (above, _notice_of_hidden(chosen.hidden, options))))
    return Source(
        *(path, "xlsx" if is_xlsx(path) else "sheet", columns, candidate.size),
        has_header=header,
        sheet=chosen.name,
        sheets=names,
        first_line=table[0].number if chosen.begin else 1,
        notices=notices,
        is_header_sure=not judgement.is_close,
        hidden=chosen.hidden,
    )


def _notice_of_hidden(rows: int, options: ReadOptions) -> str:
    if not rows or options.leaves_hidden:
        return ""
    return counted_message(
        rows,
        "{n:,} row is hidden or filtered in the sheet, and is read as the others.",
        "{n:,} rows are hidden or filtered in the sheet, and are read as the others.",
    )


@dataclass(frozen=True, slots=True)
class _Sheet:
    """A sheet and its first rows, of which the table begins at index `begin`; `notices` say why it was chosen."""

    name: str
    rows: Sequence[Row] = ()
    begin: int = 0
    notices: tuple[str, ...] = ()
    hidden: int = 0

    @property
    def table(self) -> Sequence[Row]:
        return self.rows[self.begin :]


def _first_rows(path: Path, name: str) -> _Sheet:
    with open_sheet(path, name) as sheet:
        rows = list(islice(sheet.rows, ROWS_FOR_HEADER))
        return _Sheet(name, rows, _first_row(rows), hidden=sheet.hidden)


def _first_row(rows: Sequence[Row]) -> int:
    """The index of the table's first row: below titles."""
    filled = [index for index, row in enumerate(rows) if any(cell.strip() for cell in row.cells)]
    records = [Record(index, rows[index].cells, after_blank=index - 1 not in filled) for index in filled]
    return filled[first_of_table(records)] if filled else 0


def _choose(path: Path, sheets: Sequence[tuple[str, bool]]) -> _Sheet:
    visible, hidden = ([name for name, is_visible in sheets if is_visible is wanted] for wanted in (True, False))
    found = (_first_rows(path, name) for name in (*visible, *hidden))
    sheet = next((each for each in found if each.rows), _Sheet(""))
    if sheet.name not in hidden or not visible:
        return sheet
    notice = message("The sheet “{name}” is hidden; those that are not are empty.", name=sheet.name)
    return replace(sheet, notices=(notice,))


def _list(names: tuple[str, ...]) -> str:
    return cut_list([quoted(name) for name in names[:10]], len(names) - 10)


def _empty_sheets(path: Path, sheet: str | None, names: tuple[str, ...]) -> InputError:
    if not sheet:
        return without_rows(path)
    others = tuple(name for name in names if name != sheet)
    cure = (
        message("Choose another: {list}.", list=_list(others))
        if others
        else message("Choose a file with at least one row.")
    )
    return InputError(message("The sheet “{sheet}” of {name} is empty. {cure}", sheet=sheet, name=path.name, cure=cure))


_NO_OPTIONS = ReadOptions()
_LINES_IN_HEAD = 20
_MOST_IN_HEAD = 4 * 1024 * 1024  # bytes
_MOST_NAMED = 5
_FILES_FOR_GUESS = 200  # of a folder; they are read for it, as far as they are UTF-8


def open_source(path: Path, options: ReadOptions = _NO_OPTIONS) -> Source:
    """Recognise a file or a folder by its content and `options`.

    Raises InputError for what is no table, UsageError for options that do not apply.
    """
    check_name(path)
    source = replace(
        _recognised(path, options), sends_doubtful=options.sends_doubtful, leaves_hidden=options.leaves_hidden
    )
    return settle_candidates(source, options.candidates) if source.format == FileFormat.COLLECTION else source


def read_part(path: Path) -> tuple[Source, Iterator[Row]]:
    """Recognise one file of a collection, and read its rows as `file_rows.read_rows` does. Raises InputError."""
    source = open_source(path)
    return source, single_rows(format_of(source).read(source, None))


def _recognised(path: Path, options: ReadOptions) -> Source:
    if is_folder(path):
        candidate = Candidate(path, path.name, 0, b"", options)
        return _by_table(candidate) or _open_folder(candidate)
    size = regular_file_size(path)
    if size == 0:
        raise without_rows(path)
    with open_raw(path) as file:
        head = file.read(HEAD)
    members = archive_names(path) if head.startswith(ZIP) else frozenset()
    candidate = Candidate(path, path.name, size, head, options, members)
    return _by_table(candidate) or _workbook_or_packed_folder(candidate) or _open_text(candidate)


def as_guessed(source: Source, error: EncodingUnknown) -> Source:
    """The source in the encoding guessed when reading it as UTF-8 raised `error`; unchanged for another file."""
    if source.is_encoding_sure or source.path.name != error.file_name:
        return source
    notice = message("Far down it is not UTF-8, so it is read as {encoding}.", encoding=shown_name(error.guess))
    source = replace(source, encoding=error.guess, is_encoding_sure=True, notices=(*source.notices, notice))
    return _with_guess(source, Encoding(error.guess, error.guess != "utf-8", error.others))


def _by_table(candidate: Candidate) -> Source | None:
    found = (each.recognise(candidate) for each in FORMATS.values() if each.recognise)
    return next(filter(None, found), None)


def _workbook_or_packed_folder(candidate: Candidate) -> Source | None:
    path, head, names = candidate.path, candidate.head, candidate.members
    if head.startswith(ZIP):
        if "content.xml" in names or any(name.startswith("xl/") for name in names):
            return open_workbook(candidate)
        if not names or any(name.startswith(("ppt/", "index/")) for name in names):
            check_archive(path)  # raises the InputError that says what the file is
        return _open_packed_folder(candidate) if sum(map(is_text_name, names)) > 1 else None
    if is_old_workbook(path, head):
        return open_workbook(candidate)
    if not head.startswith(GZIP):
        _refuse_unsupported(path, head)
    return None


def _refuse_unsupported(path: Path, head: bytes) -> None:
    if sentence := refusal(path, head):
        raise InputError(sentence, detail=f"begins with {head[:16].hex(' ')}")


def _open_text(raw: Candidate) -> Source:
    path, options, is_packed = raw.path, raw.options, raw.head.startswith((ZIP, GZIP))
    name = content_name(path, raw.head)
    size, is_size_sure = unpacked_size(path, raw.head)
    if size == 0:
        raise without_rows(path)
    with open_bytes(path) as file:
        head = _begin(file)
    if is_packed and head.startswith(OLE_MARK):
        raise InputError(
            message("{name} holds a workbook or a document. Unpack it, and choose the file in it.", name=path.name)
        )
    if is_packed and head.startswith((ZIP, GZIP, parquet.MARK)):
        raise InputError(
            message("{name} holds a file that is itself packed. Unpack it, and choose the file in it.", name=path.name)
        )
    if is_packed:
        _refuse_unsupported(Path(name), head)
    if options.sheet:
        raise UsageError(message("{name} is a text file and has no sheets. Leave the sheet out.", name=path.name))
    most_checked = MOST_CHECKED if is_size_sure else MOST_TRIED
    encoding = _wanted_encoding(options, head) or _encoding_of(path, head, most_checked)
    text, _ = without_marks(head.decode(encoding.codec, "ignore"))
    source = open_text(Candidate(path, name, size, head, options, text=text, encoding=encoding.codec))
    is_sure = bool(options.encoding or encoding.codec != "utf-8" or size <= most_checked)
    notices = (*source.notices, *_replaced_signs(source, encoding.codec, most_checked))
    source = replace(source, is_encoding_sure=is_sure, notices=notices)
    return _with_guess(source, encoding) if source.encoding else source


def _with_guess(source: Source, encoding: Encoding) -> Source:
    return replace(source, is_encoding_guessed=encoding.is_guessed, other_encodings=encoding.other_codecs)


def _wanted_encoding(options: ReadOptions, head: bytes) -> Encoding | None:
    if not options.encoding:
        return None
    codec = known_encoding(options.encoding, head)
    return Encoding(codec, options.is_encoding_guessed, options.other_encodings)


def _replaced_signs(source: Source, encoding: str, most_checked: int) -> Iterator[str]:
    escapes = HALF_CHARACTER if source.format in (FileFormat.JSON, FileFormat.JSON_LINES) else None
    with open_bytes(source.path) as file:
        marks, nuls, broken, halves = count_signs(file, encoding, most_checked, escapes)
    damaged = nuls + broken + halves
    if marks:
        yield counted_message(
            marks,
            "{n:,} byte order mark within the file is left out: it seems to be made of several files.",
            "{n:,} byte order marks within the file are left out: it seems to be made of several files.",
        )
    if damaged:
        yield counted_message(
            damaged,
            "{n:,} character is damaged in the file, or no text, and shown as “\ufffd”.",
            "{n:,} characters are damaged in the file, or no text, and shown as “\ufffd”.",
        )


def _begin(file: BinaryIO) -> bytes:
    """The beginning of a file, with the whole of its first lines, unless those are very long or JSON."""
    data = b""
    most = HEAD
    while len(data) < most and (chunk := file.read(most - len(data))):  # reading from a packed file may return less
        data += chunk
        if len(data) >= HEAD and data.count(b"\n") < _LINES_IN_HEAD and not data.lstrip().startswith((b"[", b"{")):
            most = min(_MOST_IN_HEAD, len(data) + HEAD)
    return data


def _encoding_of(path: Path, head: bytes, most_checked: int) -> Encoding:
    if not marked_encoding(head) and is_binary(head) and not unmarked_utf16(head):
        raise InputError(
            message(
                "{name} is not a text file or a spreadsheet. {cure}",
                name=path.name,
                cure=CHOOSE_TABLE,
            ),
            detail=f"begins with {head[:16].hex(' ')}",
        )
    return find_encoding(path, most_checked)


def _open_folder(candidate: Candidate) -> Source:
    path, data_suffixes = candidate.path, table_suffixes()
    files = text_files(path)
    with looking_at(path):
        beside = [each for each in path.iterdir() if each.is_file() and not each.name.startswith(".")]
    tables = sorted(each.name for each in beside if each.suffix.lower() in data_suffixes)
    if not files or (tables and len(files) < len(tables)):
        raise InputError(_folder_of_tables(path.name, tables), detail=str(path))
    others = sum(not is_text_name(each.name) for each in beside)
    return _folder(candidate, sum(map(size_of, files)), others)


def _folder_of_tables(name: str, tables: Sequence[str]) -> Message:
    names = ", ".join(tables[:_MOST_NAMED])
    if len(tables) > _MOST_NAMED:
        return message("{name} is a folder. Choose a file in it. It holds {names} and more.", name=name, names=names)
    if tables:
        return message("{name} is a folder. Choose a file in it. It holds {names}.", name=name, names=names)
    return message("{name} is a folder. Choose a file in it.", name=name)


def _open_packed_folder(candidate: Candidate) -> Source | None:
    with open_archive(candidate.path) as archive:
        members = members_of(archive)
    files = text_members(members)
    tables = sum(each.filename.lower().endswith(table_suffixes()) for each in members)
    if len(files) < 2 or tables >= len(files):
        return None
    return _folder(candidate, sum(each.file_size for each in files), len(members) - len(files))


def _folder(candidate: Candidate, size: int, others: int) -> Source:
    encoding = _wanted_encoding(candidate.options, b"") or guessed_encoding(candidate.path, _FILES_FOR_GUESS)
    left = counted_message(
        others,
        "{n:,} file in the folder is not a text file and is not read.",
        "{n:,} files in the folder are not text files and are not read.",
    )
    notices = (left,) if others > 0 else ()
    codec = encoding.codec if encoding else ""
    source = Source(candidate.path, FileFormat.FOLDER, ("file", "text"), size, codec, has_header=True, notices=notices)
    return _with_guess(source, encoding) if encoding else source
