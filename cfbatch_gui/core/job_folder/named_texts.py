"""The data of a job whose texts are not on this computer: they get names, read as if they stood in a file."""

import csv
import io
from collections.abc import Iterable, Sequence

from cfbatch_gui.core.inputs.input_values import FileFormat, Kind, Layout, Mapping, Role, Source
from cfbatch_gui.core.job_folder.filling import fill
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.system.files import write_own_file

_COLUMNS = {Kind.RANK: ("query", "context", "reference"), Kind.EMBED: ("text", "reference")}
_ROLES = {Kind.RANK: (Role.QUERY, Role.CONTEXT, Role.KEEP), Kind.EMBED: (Role.TEXT, Role.KEEP)}


def query_name(query: int) -> str:
    """The name of a query, counted from 1."""
    return f"Query {query}"


def context_name(query: int, position: int) -> str:
    """The name of a context, by its position among those of its query, from 1."""
    return f"Query {query} · Context {position}"


def text_name(number: int) -> str:
    """The name of a text, counted from 1."""
    return f"Text {number}"


def fill_named(folder: JobFolder, kind: Kind, rows: Iterable[Sequence[str]]) -> None:
    """Fill the job's data with rows of names: query, context and reference, or text and reference. Raises DataError.

    Items are numbered in the order of the rows; rows of one query have to follow one another.
    """
    folder.create()
    path = folder.path / "attached.csv"
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(_COLUMNS[kind])
    writer.writerows(rows)
    data = text.getvalue().encode()
    write_own_file(path, data)
    source = Source(path, FileFormat.DELIMITED, _COLUMNS[kind], len(data), "utf-8", ",", has_header=True)
    fill(folder, source, Mapping(kind, Layout.LONG if kind is Kind.RANK else Layout.TEXTS, _ROLES[kind]))
