"""The table of file formats; those without a function here are told apart in `recognise`."""

from collections.abc import Callable, Generator
from dataclasses import dataclass

from cfbatch_gui.core.inputs.encodings import shown_name
from cfbatch_gui.core.inputs.input_values import Block, Candidate, FileFormat, Progress, Row, Shape, Source
from cfbatch_gui.core.inputs.readers import (
    ascii_table,
    collection,
    delimited_rows,
    folder,
    json_document,
    parquet,
    plain_text,
    workbook,
)
from cfbatch_gui.core.messages import Message, message, quoted

Reader = Callable[[Source, Progress], Generator[Block | Row, None, None]]
Recogniser = Callable[[Candidate], Source | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """One format.

    Jobs and recipes store `name`; `words` may contain {separator}, {header}, {sheet}; `listed` is "" if another's name
    includes it. `recognise` gets files before decoding, `recognise_text` decoded ones.
    """

    name: str
    words: Message
    read: Reader
    short: str = ""
    listed: str = ""
    group: str = ""
    suffixes: tuple[str, ...] = ()
    recognise: Recogniser | None = None
    recognise_text: Recogniser | None = None


SPREADSHEETS, DOCUMENTS, JSON = message("spreadsheets"), message("texts_documents"), message("json_json_lines")
_SEPARATORS = {
    ",": message("commas"),
    ";": message("semicolons"),
    "\t": message("tabs"),
    "|": message("bars"),
    " ": message("spaces"),
}
_SHAPES = {
    Shape.ARRAYS: message("lists_cells"),
    Shape.REQUESTS: message("requests_batch_api_takes_them"),
    Shape.BATCH: message("batch_another_service_texts_their_ids"),
    Shape.BULK: message("records_search_engine_each_id_line"),
}
_TABLE = (
    Format(
        name=FileFormat.LINES,
        words=message("plain_text_one_text_per_line"),
        short=message("one_text_per_line"),
        listed=message("plain_text"),
        group=DOCUMENTS,
        suffixes=(".txt", ".text", ".md"),
        read=plain_text.read_lines,
    ),
    Format(
        name=FileFormat.PARAGRAPHS,
        words=message("plain_text_one_text_per_paragraph"),
        short=message("one_text_per_paragraph"),
        read=plain_text.read_paragraphs,
    ),
    Format(
        name=FileFormat.WHOLE,
        words=message("plain_text_whole_file_one_text"),
        short=message("whole_file_one_text"),
        read=plain_text.read_whole,
    ),
    Format(
        name=FileFormat.DELIMITED,
        words=message("table_separated_separator_header"),
        listed="CSV",
        group=SPREADSHEETS,
        suffixes=(".csv", ".tsv", ".tab", ".psv"),
        read=delimited_rows.read_delimited,
    ),
    Format(
        name=FileFormat.ASCII_TABLE,
        words=message("table_drawn_bars_lines_spaces_around"),
        short=message("drawn_bars_lines"),
        recognise_text=ascii_table.recognise_ascii_table,
        read=ascii_table.read_ascii_table,
    ),
    Format(
        name=FileFormat.JSON,
        words=message("json_document"),
        short="JSON",
        listed="JSON",
        group=JSON,
        suffixes=json_document.SUFFIXES,
        read=json_document.read_json,
    ),
    Format(
        name=FileFormat.JSON_LINES,
        words=message("json_lines"),
        short=message("json_lines"),
        group=JSON,
        suffixes=json_document.SUFFIXES_OF_LINES,
        read=json_document.read_json,
    ),
    Format(
        name="workbook",
        words=message("sheet_sheet_header"),
        listed=message("spreadsheet"),
        group=SPREADSHEETS,
        suffixes=(".xlsx", ".xlsm", ".xls", ".xlsb", ".ods"),
        recognise=workbook.recognise_workbook,
        read=workbook.read_workbook,
    ),
    Format(
        name="parquet",
        words=message("parquet_file_2"),
        short="Parquet",
        listed="Parquet",
        group="Parquet",
        suffixes=(".parquet",),
        recognise=parquet.recognise_parquet,
        read=parquet.read_parquet,
    ),
    Format(
        name="docx",
        words=message("document_one_text_per_paragraph"),
        short=message("document_one_text_per"),
        listed=".docx",
        group=DOCUMENTS,
        suffixes=(".docx",),
        recognise=plain_text.recognise_docx,
        read=plain_text.read_docx,
    ),
    Format(
        name=FileFormat.COLLECTION,
        words=message("collection_queries_documents_joined_pairs"),
        short=message("data_set_queries_texts"),
        recognise=collection.recognise_collection,
        recognise_text=collection.recognise_run,
        read=collection.read_collection,
    ),
    Format(
        name=FileFormat.FOLDER,
        words=message("folder_text_files_each_one_text"),
        short=message("folder_one_text_per_file"),
        read=folder.read_folder,
    ),
)
FORMATS = {each.name: each for each in _TABLE}


def format_of(source: Source) -> Format:
    """The entry of the format that a file was recognised as."""
    return FORMATS[source.format]


def is_read_by_bytes(source: Source) -> bool:
    """Whether `progress` of `read_rows` counts bytes, of which there are `source.size`; otherwise rows."""
    return format_of(source).recognise is None  # what is not recognised by its text is no text


def suffixes_by_group() -> dict[str, tuple[str, ...]]:
    """The suffixes that a file dialog offers under each name."""
    groups: dict[str, tuple[str, ...]] = {SPREADSHEETS: (), DOCUMENTS: (), JSON: ()}
    for each in FORMATS.values():
        if each.group:
            groups[each.group] = groups.get(each.group, ()) + each.suffixes
    return groups


def listed_formats() -> tuple[str, ...]:
    """The names of the formats that can be read, for a list."""
    return tuple(each.listed for each in FORMATS.values() if each.listed)


def table_suffixes() -> tuple[str, ...]:
    return tuple(suffix for each in FORMATS.values() if each.group != DOCUMENTS for suffix in each.suffixes)


def explain(source: Source) -> str:
    """Say how the file is read: "A table separated by semicolons, with a header, in Windows-1252, our guess."."""
    said = format_of(source).words.filled(
        separator=_SEPARATORS.get(source.separator) or quoted(visible(source.separator)),
        header=_header(source),
        sheet=source.sheet,
    )
    if source.shape is not Shape.PLAIN:
        said = message("file_content", file=said, content=_SHAPES[source.shape])
    if source.shape is Shape.ARRAYS:
        said = message("file_header", file=said, header=_header(source))
    if source.encoding:
        parts = {"file": said, "encoding": shown_name(source.encoding)}
        guessed, known = message("file_encoding_our_guess", **parts), message("file_encoding", **parts)
        said = guessed if source.is_encoding_guessed else known
    return message("sentence", sentence=said)


def visible(separator: str) -> str:
    """A separator as it can be shown: a character without a picture by its number in Unicode."""
    return "".join(sign if sign.isprintable() else f"U+{ord(sign):04X}" for sign in separator.replace("\t", "⇥"))


def _header(source: Source) -> str:
    if source.is_header_sure:
        return message("header") if source.has_header else message("without_header")
    return message("first_row_looks_like_header") if source.has_header else message("first_row_looks_like_data")
