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
    references,
    workbook,
)
from cfbatch_gui.core.messages import message

Reader = Callable[[Source, Progress], Generator[Block | Row, None, None]]
Recogniser = Callable[[Candidate], Source | None]


@dataclass(frozen=True, slots=True)
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
REFERENCES = message("lists_of_references")
_TABLE = (
    Format(
        FileFormat.LINES, plain_text.read_lines, message("one_text_per_line"), message("plain_text"), DOCUMENTS,
        suffixes=(".txt", ".text", ".md"),
    ),
    Format(FileFormat.PARAGRAPHS, plain_text.read_paragraphs, message("one_text_per_paragraph")),
    Format(FileFormat.WHOLE, plain_text.read_whole, message("whole_file_one_text")),
    Format(
        FileFormat.DELIMITED, delimited_rows.read_delimited, "", "CSV", SPREADSHEETS,
        suffixes=(".csv", ".tsv", ".tab", ".psv"),
    ),
    Format(
        FileFormat.ASCII_TABLE, ascii_table.read_ascii_table, message("drawn_bars_lines"),
        recognise_text=ascii_table.recognise_ascii_table,
    ),
    Format(FileFormat.JSON, json_document.read_json, "JSON", "JSON", JSON, json_document.SUFFIXES),
    Format(
        FileFormat.JSON_LINES, json_document.read_json, message("json_lines"), "", JSON, json_document.SUFFIXES_OF_LINES
    ),
    Format(
        "workbook", workbook.read_workbook, "", message("spreadsheet"), SPREADSHEETS,
        suffixes=(".xlsx", ".xlsm", ".xls", ".xlsb", ".ods"),
        recognise=workbook.recognise_workbook,
    ),
    Format(
        "parquet", parquet.read_parquet, "Parquet", "Parquet", "Parquet", (".parquet",),
        recognise=parquet.recognise_parquet,
    ),
    Format(
        "docx", plain_text.read_docx, message("document_one_text_per"), ".docx", DOCUMENTS, (".docx",),
        recognise=plain_text.recognise_docx,
    ),
    Format(
        FileFormat.COLLECTION, collection.read_collection, message("data_set_queries_texts"),
        recognise=collection.recognise_collection,
        recognise_text=collection.recognise_run,
    ),
    Format(
        references.RIS, references.read_references, "RIS", "RIS", REFERENCES, references.SUFFIXES[0],
        recognise_text=references.recognise_references,
    ),
    Format(
        references.NBIB, references.read_references, message("pubmed_list"), "PubMed", REFERENCES,
        references.SUFFIXES[1],
    ),
    Format(references.BIBTEX, references.read_references, "BibTeX", "BibTeX", REFERENCES, references.SUFFIXES[2]),
    Format(FileFormat.FOLDER, folder.read_folder, message("folder_one_text_per_file")),
)  # fmt: skip
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
