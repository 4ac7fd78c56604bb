"""Change, check and describe layouts and the roles of columns."""

from dataclasses import replace

from cfbatch_gui.core.inputs.cell_texts import read_template
from cfbatch_gui.core.inputs.input_values import Kind, Layout, Mapping, Role, Source
from cfbatch_gui.core.messages import counted_message, message

_STANDS_ONCE = (Role.QUERY, Role.TEXT, Role.ID, Role.QUERY_ID, Role.LABEL)
_TWO_FILES = (Layout.SHARED, Layout.CANDIDATES)
_LEAST_PART = 16  # tokens


def with_role(mapping: Mapping, column: int, role: Role, *, second: bool = False) -> Mapping:
    """The mapping with another role for a column (from 0).

    A role that only one column may have moves, and the layout follows. Raises IndexError.
    """
    if role in (Role.TEXT, Role.CONTEXT):
        role = Role.CONTEXT if mapping.kind is Kind.RANK else Role.TEXT
    if role is Role.QUERY_ID and (mapping.kind is Kind.EMBED or second):
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


def describe(mapping: Mapping, queries: int, texts: int) -> str:
    """The layout and the counts as a sentence; `texts` are pairs in a ranking, `queries` distinct queries."""
    match mapping.layout:
        case Layout.TEXTS:
            return counted_message(texts, "Each row is one text: {n:,} text.", "Each row is one text: {n:,} texts.")
        case Layout.LONG:
            start = message("Each row is a query with one context; rows with the same query are ranked together")
        case Layout.WIDE:
            start = counted_message(
                len(_contexts(mapping.roles)),
                "Each row is a query with its contexts in {n:,} column",
                "Each row is a query with its contexts in {n:,} columns",
            )
        case Layout.NESTED:
            start = message("Each row is a query with its contexts in one cell")
        case Layout.SHARED:
            start = message("Each row is a query; all contexts of the second file are ranked for each")
        case Layout.JUDGED:
            start = message(
                "Each row is a query with a list of contexts that fit (label 1) and one of others (label 0)"
            )
        case Layout.CANDIDATES:
            start = message("Each row is a query with the id of one context, whose text stands in the second file")
    return message("{layout}: {counts}.", layout=start, counts=_rankings(queries, texts))


def _rankings(queries: int, texts: int) -> str:
    if queries < 2:
        return message(
            "{queries}, {contexts}",
            queries=counted_message(queries, "{n:,} query", "{n:,} queries"),
            contexts=counted_message(texts, "{n:,} context", "{n:,} contexts"),
        )
    each, rest = divmod(texts, queries)
    if rest == 0:
        return counted_message(
            each, "{queries:,} queries, {n:,} context each", "{queries:,} queries, {n:,} contexts each", queries=queries
        )
    return counted_message(
        max(1, round(texts / queries)),
        "{queries:,} queries, about {n:,} context each",
        "{queries:,} queries, about {n:,} contexts each",
        queries=queries,
    )
