"""Suggest a layout and the roles of columns, from the names of the columns and their cells."""

import re
from collections.abc import Sequence

from cfbatch_gui.core.inputs import column_names as vocabulary
from cfbatch_gui.core.inputs import input_values
from cfbatch_gui.core.inputs.input_values import Kind, Layout, Mapping, ProblemKind, Role, Row, Shape, Source
from cfbatch_gui.core.inputs.layouts import is_list, without_labels
from cfbatch_gui.core.inputs.readers.references import REFERENCES, TEMPLATE

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
_MEASURE = re.compile(r"\s*\d+(?:[.,]\d+)?\s?[^\W\d_]{1,3}\s*")  # 28 cm, 1.7 l
_LENGTH_OF_PROSE = 40  # characters
_WORDS_OF_PROSE = 5


def _known_mapping(source: Source, kind: Kind | None) -> Mapping | None:
    if source.format == input_values.FileFormat.COLLECTION:
        if kind is Kind.EMBED:
            return Mapping(kind, Layout.TEXTS, _DOCUMENTS)
        return Mapping(Kind.RANK, Layout.LONG, _PAIRS)
    if source.format == input_values.FileFormat.FOLDER and kind is not Kind.RANK:
        return Mapping(Kind.EMBED, Layout.TEXTS, (Role.ID, Role.TEXT))
    if source.shape not in (Shape.REQUESTS, Shape.BATCH):
        return None
    roles = tuple(_ROLES[column] for column in source.columns)
    if Role.TEXT in roles:
        return Mapping(Kind.EMBED, Layout.TEXTS, roles) if kind is not Kind.RANK else None
    return Mapping(Kind.RANK, Layout.NESTED, roles) if kind is not Kind.EMBED else None


class _Column:
    """What the name and the first cells of a column say of it."""

    def __init__(self, index: int, name: str, cells: Sequence[str]) -> None:
        self.index, self.name = index, name
        filled = [cell for cell in cells if cell.strip()]
        count = len(filled) or 1
        different = len(set(filled))
        self.is_id, self.is_label = vocabulary.is_id(name), vocabulary.is_label(name)
        self.is_query, self.is_text = vocabulary.is_query(name), vocabulary.is_text(name) or vocabulary.is_context(name)
        self.length = sum(map(len, filled)) / count  # mean characters of the cells that are not empty
        self.distinct = different / count  # share of different cells among those
        self.is_several = len(filled) > 1
        figures_or_codes = [bool(_CODE.fullmatch(cell)) or vocabulary.is_number_or_date(cell) for cell in filled]
        self.is_figures = bool(filled) and all(figures_or_codes)  # numbers, dates or codes only
        self.are_codes = self.is_several and different == count and all(map(_CODE.fullmatch, filled))  # as T-1000
        self.are_measures = bool(filled) and all(map(_MEASURE.fullmatch, filled))
        self.is_filled = len(filled) * 2 >= max(1, len(cells))
        self.holds_lists = sum(map(is_list, filled)) * 2 > count  # most cells have several contexts
        self.is_written = sum(map(_is_written, filled)) * 2 > count  # sentences rather than names, addresses or data

    @property
    def is_prose(self) -> bool:
        return self.is_filled and not self.is_figures

    @property
    def may_hold_text(self) -> bool:
        return not self.is_figures and not self.is_id


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
    are_references = source.format in REFERENCES
    if second is None and are_references and kind is not Kind.RANK:
        return Mapping(Kind.EMBED, Layout.TEXTS, _reference_roles(source, sample), template=TEMPLATE)
    has_query = not are_references and _query_named_so(columns) is not None  # their keywords are none
    if second is not None and (kind is Kind.EMBED or (kind is None and not has_query)):
        of_first, of_second = _list_roles(source, sample), _list_roles(second, second_sample)
        templates = _template_of(source), None, _template_of(second)
        return Mapping(Kind.EMBED, Layout.LISTS, of_first, of_second, *templates)
    if second is not None:
        second_columns = _columns(second, second_sample)
        if candidates := _candidate_roles(columns, second_columns):
            return Mapping(Kind.RANK, Layout.CANDIDATES, *candidates)
        context = _best_text(second_columns)
        query = _query_named_so(columns)
        chosen = {query.index if query else _best_text(columns): Role.QUERY}
        second_roles = without_labels(_roles(second_columns, {context: Role.CONTEXT}))
        roles = (_roles(columns, chosen, query_ids=True), second_roles)
        return Mapping(Kind.RANK, Layout.SHARED, *roles, template=_template_of(second))
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
    query = _query_named_so(columns)
    ids = [column for column in columns if vocabulary.is_document_id(column.name)]
    has_texts = any(column.may_hold_text and column.is_text for column in columns if column != query)
    if query is None or not ids or has_texts:
        return None
    text = _best_text(second)
    roles = without_labels(_roles(second, {text: Role.CONTEXT}))
    if second and Role.ID not in roles:
        return None
    return _roles(columns, {query.index: Role.QUERY, ids[0].index: Role.ID}), roles


def _columns(source: Source, sample: Sequence[Row]) -> list[_Column]:
    rows = [row.cells for row in sample if not row.problem or row.problem_kind in _WHOLE_ROWS][:_SAMPLE]
    return [_Column(index, name, [row[index] for row in rows]) for index, name in enumerate(source.columns)]


def _is_written(cell: str) -> bool:
    is_long = len(cell) >= _LENGTH_OF_PROSE and len(cell.split(None, _WORDS_OF_PROSE)) > _WORDS_OF_PROSE
    # Chinese and Japanese have no spaces, and need about half as many characters.
    is_long = is_long or 2 * sum(sign > "\u2e7f" for sign in cell) >= _LENGTH_OF_PROSE
    return is_long and not cell.lstrip().startswith(("{", "["))


def _looks_like_ranking(columns: list[_Column]) -> bool:
    query = _query_named_so(columns)
    others = [column for column in columns if column is not query]
    has_contexts = any(column.may_hold_text and (column.is_text or column.holds_lists) for column in others)
    # Judgements without texts: Quepid's query, docid, rating.
    has_label = any(column.is_label for column in others)
    return query is not None and (has_contexts or (has_label and _candidate_roles(columns, []) is not None))


def _query_named_so(columns: list[_Column]) -> _Column | None:
    fitting = [column for column in columns if column.is_query]
    return max(fitting, key=lambda column: (column.is_prose, -column.index), default=None)


def _best_text(columns: list[_Column]) -> int:
    """The index of the column that is most likely the text, -1 where all are ids and labels."""
    if len(columns) > 1 and all(column.is_id or column.is_label for column in columns):
        return -1

    def fitness(column: _Column) -> tuple[bool, int, bool, float]:
        is_role = column.is_id or (column.is_label and not column.is_written)
        # A title is the text only if no other column has sentences.
        is_title = vocabulary.is_title(column.name)
        name = 1 if is_title else 3 * (column.is_text or column.is_query) or 2 * column.is_written
        return column.is_prose and not is_role, name, column.distinct > 0.5, column.length

    return max(columns, key=fitness).index if columns else -1


def _template_of(source: Source) -> str:
    return TEMPLATE if source.format in REFERENCES else ""


def _reference_roles(source: Source, sample: Sequence[Row]) -> tuple[Role, ...]:
    """The abstract, and the first of the ids that all records have and no two share."""
    roles = [Role.TEXT if name == "abstract" else Role.KEEP for name in source.columns]
    for index in [source.columns.index(name) for name in ("id", "AN", "doi") if name in source.columns]:
        ids = [row.cells[index] for row in sample if not row.problem]
        if all(ids) and len(set(ids)) == len(ids) and Role.ID not in roles:
            roles[index] = Role.ID
    return tuple(roles)


def _list_roles(source: Source, sample: Sequence[Row]) -> tuple[Role, ...]:
    if source.format in REFERENCES:
        return _reference_roles(source, sample)
    columns = _columns(source, sample)
    return without_labels(_roles(columns, _list_texts(columns)))


def _list_texts(columns: list[_Column]) -> dict[int, Role]:
    """What the rows of a list are known by: two sizes of one thing are two rows."""
    measures = [column.index for column in columns if column.are_measures]
    return dict.fromkeys([_best_text(columns), *measures], Role.TEXT)


def _ranking(columns: list[_Column]) -> Mapping:
    query = _query_named_so(columns) or _query_by_content(columns)
    rest = [column for column in columns if column is not query and column.may_hold_text]
    chosen = {query.index: Role.QUERY} if query else {}
    if query and (found := _several_contexts(query, rest)):
        layout, contexts = found
        chosen |= {column.index: Role.CONTEXT for column in contexts}
        return Mapping(Kind.RANK, layout, _roles(columns, chosen, query_ids=True))
    if query and not query.is_query and query.distinct == 1 and query.is_several:
        # Each row has a text of its own, and nothing that it is compared with: the queries are in another file.
        return Mapping(Kind.RANK, Layout.LONG, _roles(columns, {_best_text(columns): Role.CONTEXT}))
    contexts = [column for column in rest if vocabulary.is_context(column.name) and column.is_filled]
    context = _best_text(contexts or [column for column in rest if column.is_prose and not column.is_label])
    if context >= 0:
        chosen |= {context: Role.CONTEXT}
    elif candidates := _candidate_roles(columns, []):
        return Mapping(Kind.RANK, Layout.CANDIDATES, candidates[0])
    own = [column for column in columns if vocabulary.is_query_id(column.name) and column.index not in chosen]
    if query and own:
        chosen |= {own[0].index: Role.QUERY_ID}
    return Mapping(Kind.RANK, Layout.LONG, _roles(columns, chosen))


def _several_contexts(query: _Column, rest: list[_Column]) -> tuple[Layout, list[_Column]] | None:
    """The layout with several contexts a row, and their columns; None where each row has one."""
    positive = next((column for column in rest if vocabulary.is_positive(column.name)), None)
    negative = next((column for column in rest if vocabulary.is_negative(column.name)), None)
    if positive and negative and query.distinct > 0.5:
        return Layout.JUDGED, [positive, negative]
    lists = [column for column in rest if column.holds_lists and not column.is_label]
    if lists and query.distinct > 0.9:
        return Layout.NESTED, [max(lists, key=lambda column: (vocabulary.is_context(column.name), column.length))]
    wide = _numbered(rest)
    return (Layout.WIDE, wide) if len(wide) > 1 else None


def _query_by_content(columns: list[_Column]) -> _Column | None:
    """Find a column whose values repeat while another's vary, else the shortest of several prose columns."""
    prose = [column for column in columns if column.is_prose and not column.is_id]
    unnamed = [each for each in prose if not vocabulary.is_context(each.name) and not each.is_label]
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
        if len(group) > 1 and base != "column" and (vocabulary.is_context(base) or vocabulary.is_text(base))
    ]
    return max(named, key=len, default=[])


def _roles(columns: list[_Column], chosen: dict[int, Role], *, query_ids: bool = False) -> tuple[Role, ...]:
    roles = [chosen.get(column.index, Role.KEEP) for column in columns]
    free = [column for column in columns if column.index not in chosen]
    ids = [column for column in free if column.is_id and (query_ids or not vocabulary.is_query_id(column.name))]
    ids = ids or [column for column in free if column.are_codes]
    if ids and Role.ID not in chosen.values():
        own = [column for column in ids if query_ids and vocabulary.is_query_id(column.name)]
        best = max(own or ids, key=lambda column: (column.is_filled, column.distinct, -column.index))
        roles[best.index] = Role.ID
    labels = [column for column in free if column.is_label and roles[column.index] is Role.KEEP]
    if labels:
        roles[labels[0].index] = Role.LABEL
    return tuple(roles)
