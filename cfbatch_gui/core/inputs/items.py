"""Make what a job sends from rows and roles, and a problem for what is not sent."""

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import lru_cache, partial
from itertools import groupby
from operator import itemgetter

import msgspec

from cfbatch_gui.core.errors import UsageError
from cfbatch_gui.core.inputs import column_names as vocabulary
from cfbatch_gui.core.inputs.file_rows import read_blocks, read_rows
from cfbatch_gui.core.inputs.input_values import (
    Block,
    Layout,
    Mapping,
    Problem,
    ProblemKind,
    Progress,
    Query,
    Role,
    Row,
    Source,
    Text,
)
from cfbatch_gui.core.inputs.layouts import check_mapping, read_template, split_contexts
from cfbatch_gui.core.inputs.readers.collection import TextStore
from cfbatch_gui.core.messages import Message, message, quoted

Item = Query | Text | Problem


def read_items(
    source: Source,
    mapping: Mapping,
    second: Source | None = None,
    *,
    progress: Progress = None,
    on_row: Callable[[int, Row], None] = lambda file, row: None,
) -> Generator[Item, None, None]:
    """Yield what a job sends, in file order, and a Problem for what is not.

    A Text a row, a Query with one context or all, or every Text of the second file and then every Query, or every Text
    of the first. `on_row` gets the file's number, 1 or 2, and each row first. Raises UsageError, InputError.
    """
    if missing := check_mapping(mapping, source, second):
        raise UsageError(missing)
    if mapping.layout is Layout.SHARED and second is not None:
        columns = _Columns(second, mapping.second_roles, mapping.template)
        for found in _sent_rows(second, 2, progress, on_row):
            yield _of_text(found, columns, ProblemKind.EMPTY_CONTEXT, file=2) if isinstance(found, Row) else found
    if mapping.layout is Layout.LISTS and second is not None:
        for file, each, roles, template in (
            (2, second, mapping.second_roles, mapping.second_template),
            (1, source, mapping.roles, mapping.template),
        ):
            columns = _Columns(each, roles, template)
            for found in _sent_rows(each, file, progress, on_row):
                yield _of_text(found, columns, ProblemKind.EMPTY_TEXT, file) if isinstance(found, Row) else found
        return
    columns = _Columns(source, mapping.roles, "" if second else mapping.template)
    with _maker(mapping, second, progress) as make:
        for found in _sent_rows(source, 1, progress, on_row):
            if isinstance(found, Problem):
                yield found
            elif columns.query >= 0 and _is_empty(found.cells[columns.query]):
                reason = _in_column(_NO_QUERY, columns.names[columns.query])
                yield Problem(found.number, ProblemKind.EMPTY_QUERY, reason)
            else:
                yield from make(found, columns)


def _sent_rows(
    source: Source, file: int, progress: Progress, on_row: Callable[[int, Row], None]
) -> Iterator[Row | Problem]:
    for row in read_rows(source, progress=progress):
        on_row(file, row)
        if row.problem:
            yield _problem(row, source, file)
        if is_sent(row, source):
            yield row


def is_sent(row: Row, source: Source) -> bool:
    """Whether a row is used: one without a problem, or a doubtful one where the user wants these."""
    return not row.problem or (source.sends_doubtful and row.problem_kind is ProblemKind.DOUBTFUL_ROW)


class TextBlock(msgspec.Struct, frozen=True, gc=False):
    """Texts for the rows of `block`; `ids` and `labels` are None where no column has them."""

    block: Block
    texts: Sequence[str]
    ids: Sequence[str] | None
    labels: Sequence[str] | None


def read_text_blocks(
    source: Source,
    mapping: Mapping,
    *,
    progress: Progress = None,
    on_row: Callable[[int, Row], None] = lambda file, row: None,
) -> Generator[TextBlock | Problem, None, None]:
    """Yield what `read_items` yields for `Layout.TEXTS`, texts in blocks; `on_row` only gets rows that are not sent."""
    if missing := check_mapping(mapping, source, None):
        raise UsageError(missing)
    columns = _Columns(source, mapping.roles, mapping.template)
    for found in read_blocks(source, progress=progress):
        if isinstance(found, Row):
            yield _problem(found, source)
            if not is_sent(found, source):
                on_row(1, found)
                continue
        block = found if isinstance(found, Block) else Block((found.number,), (found.cells,))
        texts = columns.texts_of(block.rows)
        if all(texts) and _BLANK.isdisjoint(map(itemgetter(0), texts)):
            yield columns.block_of(block, texts)
            continue
        start = 0
        for is_nothing, group in groupby(texts, _is_empty):
            stop = start + sum(1 for _ in group)
            part = Block(block.numbers[start:stop], block.rows[start:stop])
            if is_nothing:
                for number, cells in zip(part.numbers, part.rows, strict=True):
                    on_row(1, Row(number, tuple(cells)))
                    yield Problem(number, ProblemKind.EMPTY_TEXT, _in_column(_NO_TEXT, columns.text_name()))
            else:
                yield columns.block_of(part, texts[start:stop])
            start = stop


class _Columns:
    """The index of the column with each role; -1 for a role that no column has."""

    def __init__(self, source: Source, roles: tuple[Role, ...], template: str = "") -> None:
        self.names = source.columns
        self.query, self.id, self.query_id, self.label = (
            roles.index(role) if role in roles else -1 for role in (Role.QUERY, Role.ID, Role.QUERY_ID, Role.LABEL)
        )
        self.texts = [index for index, role in enumerate(roles) if role in (Role.CONTEXT, Role.TEXT)]
        found = read_template(template, source.columns) if template else None
        if isinstance(found, str):
            raise UsageError(found)
        self.template = found

    def text_of(self, row: Row) -> str:
        """The cells of several columns joined, without those that are empty."""
        if self.template or len(self.texts) == 1:
            return self.template.render(row.cells) if self.template else row.cells[self.texts[0]]
        return ", ".join(row.cells[index] for index in self.texts if not _is_empty(row.cells[index]))

    def texts_of(self, rows: Sequence[Sequence[str]]) -> list[str]:
        return list(map(self.template.render if self.template else itemgetter(self.texts[0]), rows))

    def block_of(self, block: Block, texts: Sequence[str]) -> TextBlock:
        ids = list(map(itemgetter(self.id), block.rows)) if self.id >= 0 else None
        labels = list(map(itemgetter(self.label), block.rows)) if self.label >= 0 else None
        return TextBlock(block, texts, ids, labels)

    def query_of(self, row: Row, contexts: tuple[Text, ...], *, is_pair: bool = False) -> Query:
        """A query with its id; in a pair the id that is no query's belongs to the context."""
        index = self.query_id if self.query_id >= 0 or is_pair else self.id
        return Query(row.number, row.cells[self.query], _cell(row, index), contexts)

    def text_name(self) -> str:
        return "" if self.template or len(self.texts) > 1 else self.names[self.texts[0]]


def _cell(row: Row, index: int) -> str:
    return row.cells[index] if index >= 0 else ""


def _of_text(row: Row, columns: _Columns, kind: ProblemKind, file: int = 1) -> Text | Problem:
    text = columns.text_of(row)
    if _is_empty(text):
        return Problem(row.number, kind, _in_column(_NO_TEXT, columns.text_name()), file)
    return Text(row.number, text, _cell(row, columns.id), _cell(row, columns.label))


def _pair(row: Row, columns: _Columns) -> Iterator[Item]:
    found = _of_text(row, columns, ProblemKind.EMPTY_CONTEXT)
    yield columns.query_of(row, (found,), is_pair=True) if isinstance(found, Text) else found


def _several(layout: Layout, row: Row, columns: _Columns) -> Iterator[Item]:
    """A query with the contexts of its columns."""
    found: list[Text] = []
    for index in columns.texts:
        cell = row.cells[index]
        contexts = [Text(row.number, cell)] if layout is Layout.WIDE else split_contexts(cell, row.number)
        if isinstance(contexts, str):
            yield Problem(row.number, ProblemKind.UNREADABLE_ROW, contexts)
            return
        if layout is Layout.JUDGED:
            label = "0" if vocabulary.is_negative(columns.names[index]) else "1"
            contexts = [Text(row.number, each.text, each.id, label) for each in contexts]
        found += contexts
    filled = tuple([context for context in found if not _is_empty(context.text)])
    if filled:
        yield columns.query_of(row, filled)
        for position, context in enumerate(found if layout is Layout.NESTED else (), 1):
            if _is_empty(context.text):
                yield _no_context(row, message("item_position_list_contexts_is_empty", position=position))
    elif len(columns.texts) > 1:
        yield _no_context(row, message("query_no_context_all_columns_are"))
    else:
        yield _no_context(row, _in_column(_NO_CONTEXT, columns.names[columns.texts[0]]))


@contextmanager
def _maker(
    mapping: Mapping, second: Source | None, progress: Progress
) -> Iterator[Callable[[Row, _Columns], Iterator[Item]]]:
    """Give what makes the items of a row; for `Layout.CANDIDATES` from the texts of the second file."""
    if mapping.layout is not Layout.CANDIDATES or second is None:
        yield _MAKERS[mapping.layout]
        return
    columns = _Columns(second, mapping.second_roles, mapping.template)
    with closing(TextStore()) as texts:
        rows = (row for row in read_rows(second, progress=progress) if is_sent(row, second))
        texts.add((_cell(row, columns.id), columns.text_of(row)) for row in rows)
        yield partial(_candidate, texts)


def _candidate(texts: TextStore, row: Row, columns: _Columns) -> Iterator[Item]:
    name = _cell(row, columns.id)
    text = texts.get(name) if name else None
    if not name:
        yield _no_context(row, _in_column(_NO_ID, columns.names[columns.id]))
    elif text is None:
        yield _no_context(row, message("second_file_no_text_id_id", id=name[:100]))
    elif _is_empty(text):
        yield _no_context(row, message("text_id_id_is_empty_second", id=name[:100]))
    else:
        context = Text(row.number, text, name, _cell(row, columns.label))
        yield columns.query_of(row, (context,), is_pair=True)


_SIGNS_OF_BLANK = "".join(filter(str.isspace, map(chr, range(0x3001)))) + "\u00ad\u200b\u200c\u200d\u2060\ufeff"
_BLANK = frozenset(_SIGNS_OF_BLANK)


def _is_empty(text: str) -> bool:
    """Whether nothing of a text can be seen: white space, or characters without a width."""
    return not text.strip(_SIGNS_OF_BLANK)


def _problem(row: Row, source: Source, file: int = 1) -> Problem:
    kind = ProblemKind.DOUBTFUL_SENT if is_sent(row, source) else row.problem_kind
    return Problem(row.number, kind, row.problem, file, row.raw)


def _no_context(row: Row, reason: str) -> Problem:
    return Problem(row.number, ProblemKind.EMPTY_CONTEXT, reason)


_NO_TEXT = message("there_is_no_text_column")
_NO_QUERY = message("there_is_no_query_column")
_NO_CONTEXT = message("query_no_context_column")
_NO_ID = message("there_is_no_id_column")


@lru_cache(maxsize=256)
def _in_column(template: Message, name: str) -> Message:
    return template.filled(column=quoted(name) if name else message("any_column_template"))


_MAKERS: dict[Layout, Callable[[Row, _Columns], Iterator[Item]]] = {
    Layout.TEXTS: lambda row, columns: iter([_of_text(row, columns, ProblemKind.EMPTY_TEXT)]),
    Layout.LONG: _pair,
    Layout.SHARED: lambda row, columns: iter([columns.query_of(row, ())]),
    **{layout: partial(_several, layout) for layout in (Layout.WIDE, Layout.NESTED, Layout.JUDGED)},
}
