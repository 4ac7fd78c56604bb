"""The table of file formats; those without a function here are told apart in `recognise`."""

from collections.abc import Callable, Generator
from dataclasses import dataclass

from cfbatch_gui.core.inputs.input_values import Block, Candidate, FileFormat, Progress, Row, Source
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
from cfbatch_gui.core.messages import message

Reader = Callable[[Source, Progress], Generator[Block | Row, None, None]]
Recogniser = Callable[[Candidate], Source | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """One format.

    Jobs and recipes store `name`; `short` is "" where the separator or the sheet says it, `listed` if another's name
    includes it. `recognise` gets files before decoding, `recognise_text` decoded ones.
    """

    name: str
    read: Reader
    short: str = ""
    listed: str = ""
    group: str = ""
    suffixes: tuple[str, ...] = ()
    recognise: Recogniser | None = None
    recognise_text: Recogniser | None = None


SPREADSHEETS, DOCUMENTS, JSON = message("spreadsheets"), message("texts_documents"), message("json_json_lines")
_TABLE = (
    Format(
        name=FileFormat.LINES,
        short=message("one_text_per_line"),
        listed=message("plain_text"),
        group=DOCUMENTS,
        suffixes=(".txt", ".text", ".md"),
        read=plain_text.read_lines,
    ),
    Format(
        name=FileFormat.PARAGRAPHS,
        short=message("one_text_per_paragraph"),
        read=plain_text.read_paragraphs,
    ),
    Format(
        name=FileFormat.WHOLE,
        short=message("whole_file_one_text"),
        read=plain_text.read_whole,
    ),
    Format(
        name=FileFormat.DELIMITED,
        listed="CSV",
        group=SPREADSHEETS,
        suffixes=(".csv", ".tsv", ".tab", ".psv"),
        read=delimited_rows.read_delimited,
    ),
    Format(
        name=FileFormat.ASCII_TABLE,
        short=message("drawn_bars_lines"),
        recognise_text=ascii_table.recognise_ascii_table,
        read=ascii_table.read_ascii_table,
    ),
    Format(
        name=FileFormat.JSON,
        short="JSON",
        listed="JSON",
        group=JSON,
        suffixes=json_document.SUFFIXES,
        read=json_document.read_json,
    ),
    Format(
        name=FileFormat.JSON_LINES,
        short=message("json_lines"),
        group=JSON,
        suffixes=json_document.SUFFIXES_OF_LINES,
        read=json_document.read_json,
    ),
    Format(
        name="workbook",
        listed=message("spreadsheet"),
        group=SPREADSHEETS,
        suffixes=(".xlsx", ".xlsm", ".xls", ".xlsb", ".ods"),
        recognise=workbook.recognise_workbook,
        read=workbook.read_workbook,
    ),
    Format(
        name="parquet",
        short="Parquet",
        listed="Parquet",
        group="Parquet",
        suffixes=(".parquet",),
        recognise=parquet.recognise_parquet,
        read=parquet.read_parquet,
    ),
    Format(
        name="docx",
        short=message("document_one_text_per"),
        listed=".docx",
        group=DOCUMENTS,
        suffixes=(".docx",),
        recognise=plain_text.recognise_docx,
        read=plain_text.read_docx,
    ),
    Format(
        name=FileFormat.COLLECTION,
        short=message("data_set_queries_texts"),
        recognise=collection.recognise_collection,
        recognise_text=collection.recognise_run,
        read=collection.read_collection,
    ),
    Format(
        name=FileFormat.FOLDER,
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
