"""Suggest a layout and the roles of columns, from the names of the columns and their cells."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from cfbatch_gui.core.inputs.column_names import (
    is_context,
    is_document_id,
    is_id,
    is_label,
    is_negative,
    is_number_or_date,
    is_positive,
    is_query,
    is_query_id,
    is_text,
    is_title,
)
from cfbatch_gui.core.inputs.input_values import (
    FileFormat,
    Kind,
    Layout,
    Mapping,
    ProblemKind,
    Role,
    Row,
    Shape,
    Source,
)
from cfbatch_gui.core.inputs.layouts import is_list, without_labels

_ROLES = {
    "external_reference": Role.ID,
    "custom_id": Role.ID,
    "query": Role.QUERY,
    "contexts": Role.CONTEXT,
    "text": Role.TEXT,
}
_PAIRS = (Role.QUERY_ID, Role.QUERY, Role.ID, Role.CONTEXT, Role.KEEP, Role.LABEL)
_DOCUMENTS = (Role.KEEP, Role.KEEP, Role.ID, Role.TEXT, Role.KEEP, Role.LABEL)
_WHOLE_ROWS = (ProblemKind.FORMULA_WITHOUT_VALUE, ProblemKind.HIDDEN_ROW)
_SAMPLE = 200
_CODE = re.compile(r"\s*[A-Za-z]{1,6}[-_#/ ]?\d{2,}(?:[-_/.]\d+)*\s*")
_LENGTH_OF_PROSE = 40  # characters
_WORDS_OF_PROSE = 5


def _known_mapping(source: Source, kind: Kind | None) -> Mapping | None:
    if source.format == FileFormat.COLLECTION:
        if kind is Kind.EMBED:
            return Mapping(kind, Layout.TEXTS, _DOCUMENTS)
        return Mapping(Kind.RANK, Layout.LONG, _PAIRS)
    if source.format == FileFormat.FOLDER and kind is not Kind.RANK:
        return Mapping(Kind.EMBED, Layout.TEXTS, (Role.ID, Role.TEXT))
    if source.shape not in (Shape.REQUESTS, Shape.BATCH):
        return None
    roles = tuple(_ROLES[column] for column in source.columns)
    if Role.TEXT in roles:
        return Mapping(Kind.EMBED, Layout.TEXTS, roles) if kind is not Kind.RANK else None
    return Mapping(Kind.RANK, Layout.NESTED, roles) if kind is not Kind.EMBED else None


@dataclass(frozen=True, slots=True)
class _Column:
    index: int
    name: str
    length: float  # mean characters of the cells that are not empty
    distinct: float  # share of different cells among those
    is_several: bool  # more than one cell is not empty
    is_figures: bool  # numbers, dates or codes only
    are_codes: bool  # as T-1000, each another
    is_filled: bool
    holds_lists: bool  # most cells have several contexts
    is_written: bool  # most cells are sentences rather than names, addresses or data

    @property
    def is_prose(self) -> bool:
        return self.is_filled and not self.is_figures


def suggest_mapping(
    source: Source,
    kind: Kind | None,
    sample: Sequence[Row],
    second: Source | None = None,
    second_sample: Sequence[Row] = (),
) -> Mapping:
    """Guess layout and roles from the columns' names and first rows; `check_mapping` says what is missing."""
    if second is None and (known := _known_mapping(source, kind)):
        return known
    columns = _columns(source, sample)
    if second is not None and kind is not Kind.EMBED:
        second_columns = _columns(second, second_sample)
        if candidates := _candidate_roles(columns, second_columns):
            return Mapping(Kind.RANK, Layout.CANDIDATES, *candidates)
        context = _best_text(second_columns)
        roles = (_query_roles(columns), without_labels(_roles(second_columns, {context: Role.CONTEXT})))
        return Mapping(Kind.RANK, Layout.SHARED, *roles)
    if kind is None:
        kind = Kind.RANK if _looks_like_ranking(columns) or _is_ms_marco(source, columns) else Kind.EMBED
    if kind is Kind.EMBED:
        return Mapping(kind, Layout.TEXTS, _roles(columns, {_best_text(columns): Role.TEXT}))
    if _is_ms_marco(source, columns):
        return Mapping(kind, Layout.LONG, (Role.QUERY_ID, Role.ID, Role.QUERY, Role.CONTEXT))
    return _ranking(columns)


def _is_ms_marco(source: Source, columns: list[_Column]) -> bool:
    if source.has_header or len(columns) != 4:
        return False
    query_id, passage_id, query, passage = columns
    has_numbers = query_id.is_figures and passage_id.is_figures and query_id.distinct <= passage_id.distinct
    return has_numbers and query.is_prose and passage.is_prose and query.length < passage.length


def _candidate_roles(columns: list[_Column], second: list[_Column]) -> tuple[tuple[Role, ...], tuple[Role, ...]] | None:
    query = _named(columns, is_query)
    ids = [column for column in columns if is_document_id(column.name)]
    has_texts = any(_may_hold(c) and (is_context(c.name) or is_text(c.name)) for c in columns if c != query)
    if query is None or not ids or has_texts:
        return None
    text = _best_text(second)
    roles = without_labels(_roles(second, {text: Role.CONTEXT}))
    if second and Role.ID not in roles:
        return None
    return _roles(columns, {query.index: Role.QUERY, ids[0].index: Role.ID}), roles


def _columns(source: Source, sample: Sequence[Row]) -> list[_Column]:
    rows = [row.cells for row in sample if not row.problem or row.problem_kind in _WHOLE_ROWS][:_SAMPLE]
    return [_column(index, name, [row[index] for row in rows]) for index, name in enumerate(source.columns)]


def _column(index: int, name: str, cells: list[str]) -> _Column:
    filled = [cell for cell in cells if cell.strip()]
    count = len(filled) or 1
    return _Column(
        index,
        name,
        length=sum(map(len, filled)) / count,
        distinct=len(set(filled)) / count,
        is_several=len(filled) > 1,
        is_figures=bool(filled) and all(is_number_or_date(cell) or _CODE.fullmatch(cell) for cell in filled),
        are_codes=len(filled) > 1 and len(set(filled)) == len(filled) and all(map(_CODE.fullmatch, filled)),
        is_filled=len(filled) * 2 >= max(1, len(cells)),
        holds_lists=sum(map(is_list, filled)) * 2 > count if filled else False,
        is_written=sum(map(_is_written, filled)) * 2 > count if filled else False,
    )


def _is_written(cell: str) -> bool:
    is_long = len(cell) >= _LENGTH_OF_PROSE and len(cell.split(None, _WORDS_OF_PROSE)) > _WORDS_OF_PROSE
    # Chinese and Japanese have no spaces, and need about half as many characters.
    is_long = is_long or 2 * sum(sign > "\u2e7f" for sign in cell) >= _LENGTH_OF_PROSE
    return is_long and not cell.lstrip().startswith(("{", "["))


def _looks_like_ranking(columns: list[_Column]) -> bool:
    query = _named(columns, is_query)
    if query is None:
        return False
    others = [column for column in columns if column is not query]
    if any((is_context(c.name) or is_text(c.name) or c.holds_lists) and _may_hold(c) for c in others):
        return True
    # Judgements without texts: Quepid's query, docid, rating.
    has_label = any(is_label(column.name) for column in others)
    return has_label and _candidate_roles(columns, []) is not None


def _named(columns: list[_Column], test: Callable[[str], bool]) -> _Column | None:
    fitting = [column for column in columns if test(column.name)]
    return max(fitting, key=lambda column: (column.is_prose, -column.index), default=None)


def _may_hold(column: _Column) -> bool:
    return not column.is_figures and not is_id(column.name)


def _best_text(columns: list[_Column]) -> int:
    """The index of the column that is most likely the text, -1 where all are ids and labels."""
    if len(columns) > 1 and all(is_id(column.name) or is_label(column.name) for column in columns):
        return -1

    def fitness(column: _Column) -> tuple[bool, int, bool, float]:
        is_role = is_id(column.name) or (is_label(column.name) and not column.is_written)
        is_named = is_context(column.name) or is_text(column.name) or is_query(column.name)
        # A title is the text only if no other column has sentences.
        name = 1 if is_title(column.name) else 3 * is_named or 2 * column.is_written
        return column.is_prose and not is_role, name, column.distinct > 0.5, column.length

    return max(columns, key=fitness).index if columns else -1


def _query_roles(columns: list[_Column]) -> tuple[Role, ...]:
    query = _named(columns, is_query)
    return _roles(columns, {query.index if query else _best_text(columns): Role.QUERY}, query_ids=True)


def _ranking(columns: list[_Column]) -> Mapping:
    query = _named(columns, is_query) or _query_by_content(columns)
    rest = [column for column in columns if column is not query and _may_hold(column)]
    chosen = {query.index: Role.QUERY} if query else {}
    positive = next((column for column in rest if is_positive(column.name)), None)
    negative = next((column for column in rest if is_negative(column.name)), None)
    if query and positive and negative and query.distinct > 0.5:
        both = {positive.index: Role.CONTEXT, negative.index: Role.CONTEXT}
        return Mapping(Kind.RANK, Layout.JUDGED, _roles(columns, chosen | both, query_ids=True))
    lists = [column for column in rest if column.holds_lists and not is_label(column.name)]
    if query and lists and query.distinct > 0.9:
        nested = max(lists, key=lambda column: (is_context(column.name), column.length))
        roles = _roles(columns, chosen | {nested.index: Role.CONTEXT}, query_ids=True)
        return Mapping(Kind.RANK, Layout.NESTED, roles)
    wide = _numbered(rest)
    if query and len(wide) > 1:
        roles = _roles(columns, chosen | {column.index: Role.CONTEXT for column in wide}, query_ids=True)
        return Mapping(Kind.RANK, Layout.WIDE, roles)
    contexts = [column for column in rest if is_context(column.name) and column.is_filled]
    context = _best_text(contexts or [column for column in rest if column.is_prose and not is_label(column.name)])
    if query and not is_query(query.name) and query.distinct == 1 and query.is_several:
        # Each row has a text of its own, and nothing that it is compared with: the queries are in another file.
        return Mapping(Kind.RANK, Layout.LONG, _roles(columns, {_best_text(columns): Role.CONTEXT}))
    if context >= 0:
        chosen |= {context: Role.CONTEXT}
    elif candidates := _candidate_roles(columns, []):
        return Mapping(Kind.RANK, Layout.CANDIDATES, candidates[0])
    own = [column for column in columns if is_query_id(column.name) and column.index not in chosen]
    if query and own:
        chosen |= {own[0].index: Role.QUERY_ID}
    return Mapping(Kind.RANK, Layout.LONG, _roles(columns, chosen))


def _query_by_content(columns: list[_Column]) -> _Column | None:
    """Find a column whose values repeat while another's vary, else the shortest of several prose columns."""
    prose = [column for column in columns if column.is_prose and not is_id(column.name)]
    unnamed = [column for column in prose if not is_context(column.name) and not is_label(column.name)]
    varying = max((column.distinct for column in prose), default=0.0)
    repeating = [column for column in unnamed if column.distinct < 0.75 * varying and column.length >= 8]
    if repeating:
        return max(repeating, key=lambda column: (column.length > 12, -column.index))
    texts = [column for column in unnamed if column.length >= 8]
    return min(texts, key=lambda column: column.index) if len(prose) > 1 and texts else None


def _numbered(columns: list[_Column]) -> list[_Column]:
    """The columns named alike but for a number or a letter: context_1 … context_n, answer a, answer b."""
    groups: dict[str, list[_Column]] = {}
    for column in columns:
        base = re.sub(r"[\W_]*(?:\d+|\b[a-h])[\W_]*$", "", column.name.casefold())
        groups.setdefault(base, []).append(column)
    named = [
        group
        for base, group in groups.items()
        if len(group) > 1 and base != "column" and (is_context(base) or is_text(base))
    ]
    return max(named, key=len, default=[])


def _roles(columns: list[_Column], chosen: dict[int, Role], *, query_ids: bool = False) -> tuple[Role, ...]:
    roles = [chosen.get(column.index, Role.KEEP) for column in columns]
    free = [column for column in columns if column.index not in chosen]
    fitting = [column for column in free if is_id(column.name) and (query_ids or not is_query_id(column.name))]
    fitting = fitting or [column for column in free if column.are_codes]
    if fitting:
        exact = max(fitting, key=lambda c: (query_ids and is_query_id(c.name), c.is_filled, c.distinct, -c.index))
        roles[exact.index] = Role.ID
    if Role.ID in chosen.values():
        roles = [
            Role.KEEP if role is Role.ID and chosen.get(index) is not Role.ID else role
            for index, role in enumerate(roles)
        ]
    labels = [column for column in free if is_label(column.name) and roles[column.index] is Role.KEEP]
    if labels:
        roles[labels[0].index] = Role.LABEL
    return tuple(roles)
