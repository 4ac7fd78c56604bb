"""What a file was taken for, in one sentence."""

from cfbatch_gui.core.inputs.files.encodings import shown_name
from cfbatch_gui.core.inputs.input_values import FileFormat, Shape, Source

_SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars", " ": "spaces"}
_SHAPES = {
    Shape.ARRAYS: "lists of cells",
    Shape.REQUESTS: "requests as the Batch API takes them",
    Shape.OPENAI: "an OpenAI batch; its inputs and their custom_id are taken",
    Shape.RECORDS: "records with what an interface puts around each, which is left aside",
    Shape.RANK_LLM: "rank_llm's queries with candidates",
}
_FORMATS = {
    FileFormat.LINES: "Plain text, one text a line",
    FileFormat.PARAGRAPHS: "Plain text, one text a paragraph, with blank lines between them",
    FileFormat.WHOLE: "Plain text, the whole file one text",
    FileFormat.DRAWN: "A table drawn with bars and lines; the spaces around cells belong to the drawing",
    FileFormat.JSON_LINES: "JSON Lines",
    FileFormat.JSON: "A JSON document",
    FileFormat.PARQUET: "A Parquet file",
    FileFormat.FOLDER: "A folder of text files, each one text with its name as id",
    FileFormat.DOCX: "A document, one text a paragraph",
    FileFormat.COLLECTION: "A collection of queries and documents, joined to pairs",
}


def explain(source: Source) -> str:
    """Say how the file is read: "A table separated by semicolons, with a header, in Windows-1252."."""
    if source.format is FileFormat.DELIMITED:
        said = f"A table separated by {_SEPARATORS[source.separator]}, {_header(source)}"
    elif source.format in (FileFormat.XLSX, FileFormat.SHEET):
        said = f"The sheet “{source.sheet}”, {_header(source)}"
    else:
        said = _FORMATS[source.format]
    if source.shape is not Shape.PLAIN:
        said += f": {_SHAPES[source.shape]}"
    if source.encoding:
        said += f", in {shown_name(source.encoding)}"
    return f"{said}."


def _header(source: Source) -> str:
    return "with a header" if source.has_header else "without a header"
