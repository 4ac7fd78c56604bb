"""Layouts and the roles of columns, and texts out of cells: templates, and lists in one cell."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from cfbatch_gui.core.inputs.column_names import index_of, listed
from cfbatch_gui.core.inputs.input_values import Kind, Layout, Mapping, Role, Source, Text
from cfbatch_gui.core.inputs.readers.json_shapes import cause_of, cell_text
from cfbatch_gui.core.messages import counted_message, message

_PIECE = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")


@dataclass(frozen=True, slots=True)
class Template:
    pieces: tuple[str | int, ...]

    def render(self, cells: Sequence[str]) -> str:
        """The text for one row; "" if all its columns are blank, whatever text is between them."""
        values = [cells[piece] if isinstance(piece, int) else piece for piece in self.pieces]
        if not any(value.strip() for value, piece in zip(values, self.pieces, strict=True) if isinstance(piece, int)):
            return ""
        return "".join(values)

    @property
    def columns(self) -> frozenset[int]:
        return frozenset(piece for piece in self.pieces if isinstance(piece, int))


def read_template(text: str, columns: Sequence[str]) -> Template | str:
    """Read `{column}`, `{{` and `}}` for braces, `\\n` and `\\t`; or return the sentence that says what is wrong."""
    pieces: list[str | int] = []
    end = 0
    for found in _PIECE.finditer(text):
        pieces.append(_plain(text[end : found.start()]))
        end = found.end()
        if found[0] in ("{{", "}}"):
            pieces.append(found[0][0])
        elif found[1] is None:
            return message(
                "The template has a single “{sign}”. Write “{doubled}” for the sign itself.",
                sign=found[0],
                doubled=found[0] * 2,
            )
        else:
            index = index_of(found[1], columns)
            if index is None:
                return message(
                    "There is no column “{name}” for the template. The columns are {columns}.",
                    name=found[1],
                    columns=listed(columns),
                )
            pieces.append(index)
    pieces.append(_plain(text[end:]))
    template = Template(tuple(piece for piece in pieces if piece != ""))
    if not template.columns:
        return message("The template names no column. Write a column's name in braces, such as {title}.")
    return template


def _plain(text: str) -> str:
    return text.replace("\\n", "\n").replace("\\t", "\t")


_TEXT_KEYS = ("text", "context", "contents", "content", "segment", "passage", "body", "abstract", "doc")
_ID_KEYS = ("id", "_id", "docid", "doc_id", "pid", "external_reference")
_LABEL_KEYS = ("label", "relevance")


def is_list(cell: str) -> bool:
    """Whether a cell holds several contexts: a JSON array of them, or several lines."""
    if cell.lstrip().startswith("["):
        return isinstance(split_contexts(cell, 0), list)
    return "\n" in cell.strip()


def split_contexts(cell: str, row: int) -> list[Text] | str:
    """The contexts of a cell in order, empty ones included, or the sentence that says why not.

    A JSON array of texts or of objects with "text", else one a line.
    """
    if not cell.lstrip().startswith("["):
        return [Text(row, line.rstrip("\r")) for line in cell.split("\n") if line.strip()]
    try:
        values = json.loads(cell, parse_float=str)
    except (ValueError, RecursionError) as exc:
        return message("The list of contexts is not valid JSON: {cause}.", cause=cause_of(exc))
    contexts = [_context(value, row) for value in values]
    if None in contexts:
        return message(
            "Item {position:,} of the list of contexts is neither a text nor an object with “text”.",
            position=contexts.index(None) + 1,
        )
    return [context for context in contexts if context is not None]


def _context(value: object, row: int) -> Text | None:
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        return Text(row, cell_text(value))
    if not isinstance(value, dict):
        return None
    text = _first(value, _TEXT_KEYS)
    if isinstance(document := value.get("doc"), dict):  # as in rank_llm's lists
        text = " ".join(part for part in (_first(document, ("title",)), _first(document, _TEXT_KEYS)) if part)
    if text is None:
        return None
    return Text(row, text, _first(value, _ID_KEYS) or "", _first(value, _LABEL_KEYS) or "")


def _first(fields: dict[str, Any], keys: tuple[str, ...]) -> str | None:
    return next((cell_text(fields[key]) for key in keys if key in fields), None)


_STANDS_ONCE = (Role.QUERY, Role.TEXT, Role.ID, Role.QUERY_ID, Role.LABEL)
_TWO_FILES = (Layout.SHARED, Layout.CANDIDATES)
_LEAST_PART = 16  # tokens


def with_role(mapping: Mapping, column: int, role: Role, *, second: bool = False) -> Mapping:
    """The mapping with another role for a column (from 0).

    A role that only one column may have moves, and the layout follows. Raises IndexError.
    """
    if role in (Role.TEXT, Role.CONTEXT):
        role = Role.CONTEXT if mapping.kind is Kind.RANK else Role.TEXT
    if (role is Role.QUERY_ID and (mapping.kind is Kind.EMBED or second)) or (role is Role.LABEL and second):
        role = Role.KEEP
    roles = list(mapping.second_roles if second else mapping.roles)
    roles[column] = role
    stands_once = role in _STANDS_ONCE or (second and role is Role.CONTEXT)
    for other, taken in enumerate(roles):
        if stands_once and taken is role and other != column:
            roles[other] = Role.KEEP
    if second:
        return replace(mapping, second_roles=tuple(roles))
    return replace(mapping, roles=tuple(roles), layout=_layout_for(mapping, tuple(roles)))


def without_labels(roles: tuple[Role, ...]) -> tuple[Role, ...]:
    """The roles of a second file: a label says how a context fits a query, and there is none beside it."""
    return tuple(Role.KEEP if role is Role.LABEL else role for role in roles)


def _layout_for(mapping: Mapping, roles: tuple[Role, ...]) -> Layout:
    contexts = _contexts(roles)
    if mapping.kind is Kind.EMBED or mapping.layout in _TWO_FILES:
        return mapping.layout
    if mapping.layout is Layout.JUDGED and contexts == _contexts(mapping.roles):
        return mapping.layout
    if len(contexts) > 1:
        return Layout.WIDE
    if mapping.layout is Layout.NESTED and contexts in ((), _contexts(mapping.roles)):
        return Layout.NESTED
    return Layout.LONG


def with_layout(mapping: Mapping, layout: Layout) -> Mapping:
    """The mapping in another layout of the same kind; of several contexts the first is kept where one is wanted."""
    both = (layout, mapping.layout)
    if set(both) == set(_TWO_FILES):
        return replace(mapping, layout=layout)
    if mapping.kind is Kind.EMBED or any(each in _TWO_FILES for each in both) or layout is Layout.TEXTS:
        return mapping
    roles = mapping.roles
    if layout not in (Layout.WIDE, Layout.JUDGED):
        kept = _contexts(roles)[:1]
        roles = tuple(
            Role.KEEP if role is Role.CONTEXT and index not in kept else role for index, role in enumerate(roles)
        )
    return replace(mapping, layout=layout, roles=roles)


def with_template(mapping: Mapping, template: str) -> Mapping:
    """The mapping with a template, "" for none; a layout with several texts a row becomes LONG."""
    mapping = replace(mapping, template=template)
    several = mapping.layout in (Layout.WIDE, Layout.NESTED, Layout.JUDGED)
    return with_layout(mapping, Layout.LONG) if template and several else mapping


def check_mapping(mapping: Mapping, source: Source, second: Source | None = None) -> str:
    """Return "" if a job can be made, otherwise the sentence that says what to choose."""
    if len(mapping.roles) != len(source.columns):
        return message("{name} has changed its columns. Choose the file again.", name=source.path.name)
    if mapping.template and (wrong := _check_template(mapping, source, second)):
        return wrong
    if mapping.split and mapping.split.tokens < _LEAST_PART:
        return message("A part must have room for at least {least} tokens. Choose a larger number.", least=_LEAST_PART)
    if mapping.kind is Kind.EMBED:
        return _check_embedding(mapping, second)
    if mapping.layout in _TWO_FILES:
        return _check_two(mapping, second)
    if second is not None:
        return message("Contexts come from the second file. Choose the columns again, or remove that file.")
    return _check_ranking(mapping)


def _check_template(mapping: Mapping, source: Source, second: Source | None) -> str:
    if mapping.layout in (Layout.WIDE, Layout.NESTED, Layout.JUDGED):
        return message(
            "A template joins columns to one text, and here a row has several. Choose another layout or no template."
        )
    found = read_template(mapping.template, (second or source).columns)
    return found if isinstance(found, str) else ""


def _check_two(mapping: Mapping, second: Source | None) -> str:
    is_shared = mapping.layout is Layout.SHARED
    if second is None:
        if is_shared:
            return message("Add the second file, which holds the contexts for all queries.")
        return message("Add the second file, which holds the texts by their ids.")
    if len(mapping.second_roles) != len(second.columns):
        return message("{name} has changed its columns. Choose the file again.", name=second.path.name)
    if Role.QUERY not in mapping.roles:
        return message("Choose the column that holds the query.")
    if is_shared and _contexts(mapping.roles):
        return message("Contexts come from the second file. Choose another role for that column of the first.")
    if is_shared and Role.QUERY in mapping.second_roles:
        return message("Queries come from the first file. Choose another role for that column of the second.")
    if not is_shared and Role.ID not in mapping.roles:
        return message("Choose the column of the first file that holds the ids of the texts.")
    if not is_shared and Role.ID not in mapping.second_roles:
        return message("Choose the column of the second file that holds the ids.")
    if not _contexts(mapping.second_roles) and not mapping.template:
        return message("Choose the column of the second file that holds the contexts.")
    return ""


def _check_embedding(mapping: Mapping, second: Source | None) -> str:
    if second is not None:
        return message("Turning texts into vectors takes one file. Remove the second, or rank instead.")
    if Role.QUERY in mapping.roles:
        return message("Only a ranking has a query. Choose text for that column, or rank instead.")
    if not _contexts(mapping.roles) and not mapping.template:
        return message("Choose the column that holds the text.")
    return ""


def _check_ranking(mapping: Mapping) -> str:
    contexts = len(_contexts(mapping.roles)) or bool(mapping.template)
    has_query = Role.QUERY in mapping.roles
    if not has_query and not contexts:
        return message("Choose the column that holds the query, and the one that holds the contexts.")
    if not has_query:
        return message("Choose the column that holds the query, or add a second file with queries for all contexts.")
    if not contexts:
        return message("Choose the column that holds the contexts, or add a second file with contexts for all queries.")
    if contexts > 1 and mapping.layout not in (Layout.WIDE, Layout.JUDGED):
        return message("Choose one column of contexts only, or the layout with contexts in several columns.")
    return ""


def missing_file(mapping: Mapping, second: Source | None) -> Role | None:
    """CONTEXT or QUERY where a second file could hold what `check_mapping` misses, else None."""
    if mapping.kind is Kind.EMBED or second is not None:
        return None
    has_query = Role.QUERY in mapping.roles
    if mapping.layout in _TWO_FILES:
        return Role.CONTEXT if has_query else None
    has_contexts = bool(_contexts(mapping.roles)) or bool(mapping.template)
    if has_query == has_contexts:
        return None
    return Role.CONTEXT if has_query else Role.QUERY


def _contexts(roles: tuple[Role, ...]) -> tuple[int, ...]:
    return tuple(index for index, role in enumerate(roles) if role in (Role.CONTEXT, Role.TEXT))


_SAID = {
    Layout.LONG: message("Each row is a query with one context; rows with the same query are ranked together"),
    Layout.NESTED: message("Each row is a query with its contexts in one cell"),
    Layout.SHARED: message("Each row is a query; all contexts of the second file are ranked for each"),
    Layout.JUDGED: message(
        "Each row is a query with a list of contexts that fit (label 1) and one of others (label 0)"
    ),
    Layout.CANDIDATES: message("Each row is a query with the id of one context, whose text stands in the second file"),
}


def describe(mapping: Mapping, queries: int, texts: int) -> str:
    """The layout and the counts as a sentence; `texts` are pairs in a ranking, `queries` distinct queries."""
    if mapping.layout is Layout.TEXTS:
        return counted_message(texts, "Each row is one text: {n:,} text.", "Each row is one text: {n:,} texts.")
    start = _SAID.get(mapping.layout) or counted_message(
        len(_contexts(mapping.roles)),
        "Each row is a query with its contexts in {n:,} column",
        "Each row is a query with its contexts in {n:,} columns",
    )
    return message(
        "{layout}: {queries}, {contexts}.",
        layout=start,
        queries=counted_message(queries, "{n:,} query", "{n:,} queries"),
        contexts=counted_message(texts, "{n:,} context", "{n:,} contexts"),
    )
