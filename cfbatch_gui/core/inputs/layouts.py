"""Layouts and the roles of columns, and texts out of cells: templates, and lists in one cell."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from cfbatch_gui.core.inputs.column_names import index_of, listed
from cfbatch_gui.core.inputs.input_values import Kind, Layout, Mapping, Role, Source, Text
from cfbatch_gui.core.inputs.readers.json_shapes import cause_of, cell_text
from cfbatch_gui.core.messages import Message, message

_SIGNS_BEFORE = re.compile(r"\A[^\w({\[<\"'“„«]+")
_BRACKETS = {"(": ")", "[": "]", "{": "}", "<": ">", '"': '"'}
_PIECE = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")


@dataclass(frozen=True, slots=True)
class Template:
    pieces: tuple[str | int, ...]

    def render(self, cells: Sequence[str]) -> str:
        """The text for one row; "" if all its columns are blank, whatever text is between them.

        A blank column goes with the text before it, the first with the signs after it, and with brackets around it; a
        full stop does not follow the end of a sentence.
        """
        said = before = closing = ""
        is_first_blank = False
        for piece in self.pieces:
            if isinstance(piece, str):
                before += piece.removeprefix(closing)
                closing = ""
            elif cells[piece].strip():
                if is_first_blank and not said:
                    before = _SIGNS_BEFORE.sub("", before)
                if said.endswith((".", "?", "!")) and before.startswith(". "):
                    before = before[1:]
                said += before + cells[piece]
                before = ""
            else:
                is_first_blank = is_first_blank or not said
                closing = _BRACKETS.get(before[-1:], "")
                before = ""
        return said + before if said else ""

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
            return message("template_single_sign_write_doubled_sign", sign=found[0], doubled=found[0] * 2)
        else:
            index = index_of(found[1], columns)
            if index is None:
                return message("there_is_no_column_name_template", name=found[1], columns=listed(columns))
            pieces.append(index)
    pieces.append(_plain(text[end:]))
    template = Template(tuple(piece for piece in pieces if piece != ""))
    if not template.columns:
        return message("template_names_no_column_write_column")
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
        return message("list_contexts_is_not_valid_json", cause=cause_of(exc))
    contexts = [_context(value, row) for value in values]
    if None in contexts:
        return message("item_position_list_contexts_is_neither", position=contexts.index(None) + 1)
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
_TEXT_ROLES = (Role.TEXT, Role.CONTEXT)
_LEAST_PART = 16  # tokens


def with_role(mapping: Mapping, column: int, role: Role, *, second: bool = False) -> Mapping:
    """The mapping with another role for a column (from 0).

    A role that only one column may have moves, and the layout follows; in each of two lists several columns may hold
    the text. Raises IndexError.
    """
    if role in _TEXT_ROLES:
        role = Role.CONTEXT if mapping.kind is Kind.RANK else Role.TEXT
    if (role is Role.QUERY_ID and (mapping.kind is Kind.EMBED or second)) or (role is Role.LABEL and second):
        role = Role.KEEP
    roles = list(mapping.second_roles if second else mapping.roles)
    roles[column] = role
    joins = role is Role.TEXT and mapping.layout is Layout.LISTS
    stands_once = not joins and (role in _STANDS_ONCE or (second and role is Role.CONTEXT))
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


def with_template(mapping: Mapping, template: str, *, second: bool = False) -> Mapping:
    """The mapping with a template, "" for none, for the texts or for the second of two lists; a layout with several
    texts a row becomes LONG.
    """
    if second:
        return replace(mapping, second_template=template)
    mapping = replace(mapping, template=template)
    several = mapping.layout in (Layout.WIDE, Layout.NESTED, Layout.JUDGED)
    return with_layout(mapping, Layout.LONG) if template and several else mapping


def swapped(mapping: Mapping) -> Mapping:
    """The mapping of two lists in the other order."""
    return replace(
        mapping,
        roles=mapping.second_roles,
        template=mapping.second_template,
        second_roles=without_labels(mapping.roles),
        second_template=mapping.template,
    )


def check_mapping(mapping: Mapping, source: Source, second: Source | None = None) -> str:
    """Return "" if a job can be made, otherwise the sentence that says what to choose."""
    if len(mapping.roles) != len(source.columns):
        return message("name_changed_columns_choose_file_again", name=source.path.name)
    if mapping.template and (wrong := _check_template(mapping, source, second)):
        return wrong
    if mapping.layout is Layout.LISTS:
        return _check_lists(mapping, source, second)
    if mapping.split and mapping.split.tokens < _LEAST_PART:
        return message("part_must_room_least_least_tokens", least=_LEAST_PART)
    if mapping.kind is Kind.EMBED:
        return _check_embedding(mapping, second)
    if mapping.layout in _TWO_FILES:
        return _check_two(mapping, second)
    if second is not None:
        return message("contexts_come_from_second_file_choose")
    return _check_ranking(mapping)


def _check_lists(mapping: Mapping, source: Source, second: Source | None) -> str:
    if second is None:
        return message("add_second_list")
    if len(mapping.second_roles) != len(second.columns):
        return message("name_changed_columns_choose_file_again", name=second.path.name)
    if mapping.second_template and isinstance(found := read_template(mapping.second_template, second.columns), str):
        return found
    return _first_wrong(
        (not (_contexts(mapping.roles) or mapping.template), message("choose_text_of_list", list="A")),
        (not (_contexts(mapping.second_roles) or mapping.second_template), message("choose_text_of_list", list="B")),
        (mapping.split is not None, message("lists_are_not_cut")),
    )


def _check_template(mapping: Mapping, source: Source, second: Source | None) -> str:
    if mapping.layout in (Layout.WIDE, Layout.NESTED, Layout.JUDGED):
        return message("template_joins_columns_one_text_here")
    file = source if second is None or mapping.layout is Layout.LISTS else second
    found = read_template(mapping.template, file.columns)
    return found if isinstance(found, str) else ""


def _check_two(mapping: Mapping, second: Source | None) -> str:
    is_shared = mapping.layout is Layout.SHARED
    if second is None:
        if is_shared:
            return message("add_second_file_holds_contexts_all")
        return message("add_second_file_holds_texts_their")
    changed = message("name_changed_columns_choose_file_again", name=second.path.name)
    has_contexts = bool(_contexts(mapping.second_roles)) or bool(mapping.template)
    return _first_wrong(
        (len(mapping.second_roles) != len(second.columns), changed),
        (Role.QUERY not in mapping.roles, message("choose_column_holds_query")),
        (is_shared and bool(_contexts(mapping.roles)), message("contexts_come_from_second_file")),
        (is_shared and Role.QUERY in mapping.second_roles, message("queries_come_from_first_file_choose")),
        (not is_shared and Role.ID not in mapping.roles, message("choose_column_first_file_holds_ids")),
        (not is_shared and Role.ID not in mapping.second_roles, message("choose_column_second_file_holds_ids")),
        (not has_contexts, message("choose_column_second_file_holds_contexts")),
    )


def _check_embedding(mapping: Mapping, second: Source | None) -> str:
    has_text = bool(_contexts(mapping.roles)) or bool(mapping.template)
    return _first_wrong(
        (second is not None, message("turning_texts_into_vectors_takes_one")),
        (Role.QUERY in mapping.roles, message("only_ranking_query_choose_text_column")),
        (not has_text, message("choose_column_holds_text")),
    )


def _check_ranking(mapping: Mapping) -> str:
    contexts = len(_contexts(mapping.roles)) or bool(mapping.template)
    has_query = Role.QUERY in mapping.roles
    takes_several = mapping.layout in (Layout.WIDE, Layout.JUDGED)
    return _first_wrong(
        (not has_query and not contexts, message("choose_column_holds_query_one_holds")),
        (not has_query, message("choose_column_holds_query_or_add")),
        (not contexts, message("choose_column_holds_contexts_or_add")),
        (contexts > 1 and not takes_several, message("choose_one_column_contexts_only_or")),
    )


def _first_wrong(*checks: tuple[bool, Message]) -> str:
    """The sentence of the first check that finds something wrong, "" for none."""
    return next((sentence for is_wrong, sentence in checks if is_wrong), "")


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
    Layout.LONG: message("each_row_is_query_one_context"),
    Layout.NESTED: message("each_row_is_query_contexts_one"),
    Layout.SHARED: message("each_row_is_query_all_contexts"),
    Layout.JUDGED: message("each_row_is_query_list_contexts"),
    Layout.CANDIDATES: message("each_row_is_query_id_one"),
}


def describe_layout(mapping: Mapping) -> str:
    """The layout as a sentence without its full stop."""
    if mapping.kind is Kind.EMBED:
        return message("each_row_is_one_text" if mapping.layout is Layout.TEXTS else "rows_of_both_lists_are_texts")
    return _SAID.get(mapping.layout) or message("each_row_is_query_contexts_n", n=len(_contexts(mapping.roles)))


def describe(mapping: Mapping, queries: int, texts: int) -> str:
    """The layout and the counts as a sentence; `texts` are pairs in a ranking, `queries` distinct queries."""
    if mapping.kind is Kind.EMBED:
        is_one = mapping.layout is Layout.TEXTS
        return message("each_row_is_one_text_n" if is_one else "rows_of_both_lists_are_texts_n", n=texts)
    counts = {"queries": message("n_queries", n=queries), "contexts": message("n_contexts", n=texts)}
    return message("layout_queries_contexts", layout=describe_layout(mapping), **counts)
