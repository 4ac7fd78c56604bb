"""How a file is read, in words: the window's links, and the line of the terminal."""

from collections.abc import Sequence

from cfbatch_gui.core.inputs.encodings import shown_name
from cfbatch_gui.core.inputs.input_values import FileFormat, Mapping, Role, Shape, Source
from cfbatch_gui.core.inputs.layouts import read_template
from cfbatch_gui.core.inputs.readers.formats import format_of
from cfbatch_gui.core.messages import message
from cfbatch_gui.words.figures import Runs, emphasised, listed_runs, one_line, plural
from cfbatch_gui.words.languages import said, tr

_SHAPES = {
    Shape.ARRAYS: message("lists_cells"),
    Shape.REQUESTS: message("requests_batch_api_takes_them"),
    Shape.BATCH: message("batch_another_service_texts_their_ids"),
    Shape.BULK: message("records_search_engine_each_id_line"),
}
_LINKED = (FileFormat.DELIMITED, FileFormat.ASCII_TABLE, FileFormat.LINES, FileFormat.PARAGRAPHS, FileFormat.WHOLE)


def separator_words(source: Source) -> str:
    """The link's text to change the separator; "" where that cannot be changed."""
    if source.format == FileFormat.DELIMITED:
        if source.separator == "\t":
            return tr("separated by tabs")
        if source.separator == " ":
            return tr("separated by spaces")
        return tr("separated by {sign}").format(sign=visible(source.separator))
    return said(format_of(source).short) if source.format in _LINKED else ""


def format_words(source: Source) -> str:
    words = "" if source.format in _LINKED else said(format_of(source).short)
    return f"{words}: {said(_SHAPES[source.shape])}" if source.shape in _SHAPES else words


def encoding_words(source: Source) -> str:
    pattern = tr("{encoding}, our guess") if source.is_encoding_guessed else "{encoding}"
    return pattern.format(encoding=shown_name(source.encoding)) if source.encoding else ""


def header_words(source: Source) -> str:
    is_table = source.format in (FileFormat.DELIMITED, FileFormat.LINES) or source.shape is Shape.ARRAYS
    if not (is_table or source.sheets):
        return ""
    if not source.is_header_sure:
        return tr("first row looks like a header") if source.has_header else tr("first row looks like data")
    return tr("first row is a header") if source.has_header else tr("no header row")


def sheet_words(source: Source) -> str:
    name = one_line(source.sheet, 40).replace("&", "&&")
    return tr("sheet “{name}”").format(name=name) if len(source.sheets) > 1 else ""


def hidden_words(source: Source) -> str:
    if source.leaves_hidden:
        return plural(source.hidden, "without {n} hidden row", "without {n} hidden rows")
    return plural(source.hidden, "with {n} hidden row", "with {n} hidden rows") if source.hidden else ""


def how_read(source: Source) -> str:
    """All of it in a line, without what is hidden."""
    words = (format_words, separator_words, sheet_words, header_words, encoding_words)
    return " · ".join(filter(None, (each(source) for each in words)))


def lists_words(
    mapping: Mapping, columns: Sequence[str], second: Sequence[str] = (), *, is_categories: bool = False
) -> Runs:
    """What is compared with what; of one list its rows among each other. () while a text is not chosen."""
    a = _joined_columns(mapping.roles, mapping.template, columns)
    b = _joined_columns(mapping.second_roles, mapping.second_template, second)
    names = {"a": listed_runs(a), "b": listed_runs(b)}
    if not a or (second and not b):
        return ()
    if is_categories and len(a) > 1:
        return emphasised("{a} of each row are read as one text and compared with each category.", **names)
    if is_categories:
        return emphasised("{a} of each row is compared with each category.", **names)
    if not second:
        if len(a) > 1:
            return emphasised("{a} are read as one text and compared with those of all other rows.", **names)
        return emphasised("{a} of each row is compared with that of all other rows.", **names)
    if len(a) > 1 and len(b) > 1:
        return emphasised("{a} of A and {b} of B are read as one text each and compared.", **names)
    if len(a) > 1:
        return emphasised("{a} of A are read as one text and compared with {b} of B.", **names)
    if len(b) > 1:
        return emphasised("{a} of A is compared with {b} of B which are read as one text.", **names)
    return emphasised("{a} of A is compared with {b} of B.", **names)


def _joined_columns(roles: Sequence[Role], template: str, columns: Sequence[str]) -> list[str]:
    found = read_template(template, columns) if template else ""
    used = [at for at, role in enumerate(roles) if role is Role.TEXT] if isinstance(found, str) else found.columns
    return [one_line(columns[at], 40) for at in sorted(used)]


def visible(separator: str) -> str:
    """A separator as it can be shown: a character without a picture by its number in Unicode."""
    return "".join(sign if sign.isprintable() else f"U+{ord(sign):04X}" for sign in separator.replace("\t", "⇥"))
