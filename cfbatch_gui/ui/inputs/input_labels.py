"""Names of roles, layouts, encodings and formats, and counts as text, for all parts of the draft page."""

import re
from datetime import datetime

from cfbatch_gui.core.inputs.input_values import FileFormat, Kind, Layout, Mapping, Role, Source
from cfbatch_gui.core.inputs.readers.formats import format_of, visible
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.system.languages import said
from cfbatch_gui.ui.display import number, tr

ROLES = {
    Role.QUERY: ("circle-help", message("Query"), message("what is asked")),
    Role.CONTEXT: ("text-align-start", message("Context"), message("ranked against the query")),
    Role.TEXT: ("text-align-start", message("Text"), message("becomes a vector")),
    Role.ID: ("tag", message("ID"), message("names the row in the results")),
    Role.QUERY_ID: ("tag", message("Query ID"), message("names the query in the results")),
    Role.LABEL: ("star", message("Label"), message("a judgement or a class, not sent")),
    Role.KEEP: ("bookmark", message("Keep"), message("not sent, but in the results again")),
    Role.IGNORE: ("eye-off", message("Leave out"), message("neither sent nor in the results")),
}
"""Icon, name and meaning of each role."""


def new_job_name() -> str:
    return tr("New job")


def name_of_file(stem: str) -> str:
    """A file's name as a person would write it: "help-centre_ranking" is "Help centre ranking", "2024-05-01" stays."""
    name = re.sub(r"(?<!\d)[-_]+|[-_]+(?!\d)", " ", stem).strip()
    return f"{name[:1].upper()}{name[1:]}" if name else stem


def roles_for(mapping: Mapping, *, second: bool) -> tuple[Role, ...]:
    common = (Role.ID, Role.LABEL, Role.KEEP, Role.IGNORE)
    if mapping.kind is Kind.EMBED:
        return (Role.TEXT, *common)
    if second:
        return (Role.CONTEXT, Role.ID, Role.KEEP, Role.IGNORE)
    if mapping.layout in (Layout.SHARED, Layout.CANDIDATES):
        return (Role.QUERY, *common)
    own = (Role.QUERY_ID,) if mapping.layout is Layout.LONG else ()
    return (Role.QUERY, Role.CONTEXT, *own, *common)


def layout_words(layout: Layout) -> str:
    return {
        Layout.TEXTS: tr("One text a row"),
        Layout.LONG: tr("A query with one context a row"),
        Layout.WIDE: tr("A query with its contexts in several columns"),
        Layout.NESTED: tr("A query with all its contexts in one cell"),
        Layout.SHARED: tr("The contexts of a second file for every query"),
        Layout.JUDGED: tr("A query with a list of contexts that fit and one of others"),
        Layout.CANDIDATES: tr("A query with the id of a context in a second file"),
    }[layout]


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
    return "" if source.format in _LINKED else said(format_of(source).short)


def header_words(source: Source) -> str:
    if not source.is_header_sure:
        return tr("first row looks like a header") if source.has_header else tr("first row looks like data")
    return tr("first row is a header") if source.has_header else tr("no header row")


def count_range(low: int, high: int) -> str:
    unit, name = next(((unit, name) for unit, name in ((1_000_000, "M"), (1_000, "k")) if high >= unit), (1, ""))
    shown_low, shown_high = _short(low / unit), _short(high / unit)
    figures = shown_high if shown_low == shown_high else f"{shown_low}–{shown_high}"
    return f"{figures} {name}".rstrip()


def _short(value: float) -> str:
    return number(value, ".1f" if 0 < value < 10 and value != int(value) else ",.0f")


def share_of_day(share: float) -> str:
    if share >= 1.995:
        return tr("{n} times a day's free use").format(n=number(share, ",.1f"))
    percent = share * 100
    if percent < 0.1:
        return tr("under 0.1 % of today's free use")
    return tr("{n} % of today's free use").format(n=number(percent, ".1f" if percent < 10 else ".0f"))


def clock_time(moment: float) -> str:
    return f"{datetime.fromtimestamp(moment).astimezone():%H:%M}"


def kind_words(kind: Kind) -> str:
    return tr("Rank texts against a query") if kind is Kind.RANK else tr("Turn texts into vectors")
