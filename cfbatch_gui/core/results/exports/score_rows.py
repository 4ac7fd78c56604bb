"""Rankings as a table: queries as in the input, contexts by rank, then without a score; last rows never sent."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from heapq import merge
from itertools import chain, groupby, islice
from operator import attrgetter, itemgetter

import msgspec

from cfbatch_gui.core.errors import UsageError
from cfbatch_gui.core.inputs.input_values import Layout, Role
from cfbatch_gui.core.job_folder import schema
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.messages import message, stored_message
from cfbatch_gui.core.results.exports.base import PART, SOURCE_JOB, Cell, ExportOptions, Work, indices_of
from cfbatch_gui.core.results.outcomes import (
    Status,
    column_of,
    columns_of_rankings,
    has_origins,
    has_parts,
    origins_by_reference,
)
from cfbatch_gui.core.results.rankings import RankedContext, Rankings, RetrievalIds

COLUMNS = (
    "query_id", "query", "rank", "doc_id", "text", "score", "tie_group", "initial_rank", "rank_change",
    "label", "external_reference", "request_id", "status", "error",
)  # fmt: skip
_ROW = message("Row {number}: {reason}")
_ROW_OF_SECOND = message("Row {number} of the second file: {reason}")
_INTEGERS = ("rank", "tie_group", "initial_rank", "rank_change", PART)
_KINDS = {"score": "float64", **dict.fromkeys(_INTEGERS, "int64")}
_BLOCK = 5_000

_SKIPPED = f"""
SELECT p.problem_no, p.file, p.row, p.reason, r.cells FROM problems p LEFT JOIN source_rows r USING(file, row)
WHERE p.item_no IS NULL AND {schema.LEFT_OUT} AND p.problem_no > ? ORDER BY p.problem_no LIMIT ?
"""  # noqa: S608 - a constant


def keeps(context: RankedContext, options: ExportOptions) -> bool:
    """Whether a context is chosen, and within top k and threshold. One without a score is kept if it is chosen."""
    if not options.has_item(context.item_no):
        return False
    if context.rank is None or context.score is None:
        return True
    return (options.top_k is None or context.rank <= options.top_k) and (
        options.threshold is None or context.score >= options.threshold
    )


def by_query(rankings: Rankings) -> Iterator[list[RankedContext]]:
    contexts = (context for block in rankings.blocks() for context in block)
    return (list(group) for _, group in groupby(contexts, lambda context: context.query_no))


def query_id(ids: RetrievalIds, context: RankedContext) -> str:
    return ids.query(context.query_no, context.query_id)


def document_id(ids: RetrievalIds, context: RankedContext) -> str:
    return ids.document(context.id, context.row, context.initial_rank)


def score_columns(folder: JobFolder) -> tuple[str, ...]:
    """The names of all columns: `COLUMNS`, `PART` if texts were split, `SOURCE_JOB` if results were taken from earlier
    jobs, and the user's own.
    """
    ours = _our_columns(folder)
    return ours + Rankings(folder, reserved=ours).columns()


@dataclass(frozen=True, slots=True)
class Block:
    """Some thousand rows, and whether each has a score. `items` counts these and the dropped ones."""

    items: int
    rows: list[Sequence[Cell]]
    are_scored: list[bool]


class ScoreRows:
    """The rows of one export.

    `kinds` are "utf8", "int64" or "float64", `own_names` map to the file's names, `dropped` counts what top k and
    threshold drop. Raises UsageError for columns that do not exist, or none.
    """

    def __init__(self, work: Work) -> None:
        self._folder = work.folder
        self._metadata = work.metadata
        self._options = work.options
        ours = _our_columns(work.folder)
        self._has_part, self._has_source = PART in ours, SOURCE_JOB in ours
        with work.folder.open(read_only=True) as database:
            self._origins = origins_by_reference(database)
        self._rankings = Rankings(work.folder, work.metadata.failed_batches, reserved=ours)
        own = self._rankings.columns()
        self.own_names = dict(zip(own, Rankings(work.folder).columns(), strict=True))
        everything = ours + own
        indices = indices_of(work.options.columns, everything)
        if not indices:
            raise UsageError(message("Choose at least one column. Nothing was written."))
        self._picked = None if indices == tuple(range(len(everything))) else _picker(indices)
        self.columns: tuple[str, ...] = tuple(everything[index] for index in indices)
        self.kinds = tuple(_KINDS.get(everything[index], "utf8") if index < len(ours) else "utf8" for index in indices)
        self.dropped = 0
        self.asked: set[int] = set()

    def blocks(self) -> Iterator[Block]:
        for block in self._rankings.blocks():
            yield self._block(len(block), self._placed(block))
        for skipped in self._skipped():
            yield self._block(len(skipped), skipped)

    def in_file_order(self) -> Iterator[Block]:
        """The rows of `blocks`, each where it is in the user's file."""
        kept: Iterable[_Placed] = chain.from_iterable(map(self._placed, self._rankings.blocks_in_file_order()))
        skipped: Iterable[_Placed] = chain.from_iterable(self._skipped())
        with self._folder.open(read_only=True) as database:
            is_long = schema.metadata_value(database, "layout") == Layout.LONG
        rows = merge(kept, skipped, key=attrgetter("number")) if is_long else chain(kept, skipped)
        while block := list(islice(rows, _BLOCK)):
            yield self._block(len(block), block)

    def by_query(self) -> Iterator[tuple[Sequence[Cell], int, list[Sequence[Cell]]]]:
        """For each query with contexts: the row of the first one, the number of contexts, and the kept rows."""
        for contexts in by_query(self._rankings):
            first, *_ = self._chosen([self._row(contexts[0])])
            kept = [self._row(context) for context in contexts if keeps(context, self._options)]
            self.dropped += len(contexts) - len(kept)
            yield first, len(contexts), self._chosen(kept)

    def _block(self, items: int, rows: "Sequence[_Placed]") -> Block:
        return Block(items, self._chosen([each.row for each in rows]), [each.is_scored for each in rows])

    def _chosen(self, rows: list[Sequence[Cell]]) -> list[Sequence[Cell]]:
        return rows if self._picked is None else [*map(self._picked, rows)]

    def _row(self, context: RankedContext) -> Sequence[Cell]:
        origin = self._origins.get(context.reference)
        row: tuple[Cell, ...] = (
            context.query_id, context.query, context.rank, context.id, context.text, context.score,
            context.tie_group or None, context.initial_rank, context.rank_change,
            context.label, "" if origin else context.reference,
            origin.request_id if origin else self._metadata.request_ids.get(context.batch, ""),
            context.status._value_, context.error,
        )  # fmt: skip
        if self._has_part:
            row = (*row, context.part)
        if self._has_source:
            row = (*row, origin.job_name if origin else self._metadata.name)
        return row + context.cells

    def _placed(self, block: Sequence[RankedContext]) -> "list[_Placed]":
        options = self._options
        is_limited = not (options.top_k is None and options.threshold is None and options.items is None)
        kept = [context for context in block if keeps(context, options)] if is_limited else block
        self.dropped += len(block) - len(kept)
        self.asked.update(context.query_no for context in kept)
        return [_Placed(context.row, self._row(context), context.rank is not None) for context in kept]

    def _skipped(self) -> "Iterator[list[_Placed]]":
        shape = _SkippedShape(self._folder, (*(None,) * self._has_part, *("",) * self._has_source))
        last = 0
        while self._options.items is None:
            with self._folder.open(read_only=True) as database:
                found = database.execute(_SKIPPED, (last, _BLOCK)).fetchall()
            if not found:
                return
            last = found[-1][0]
            yield [_Placed(row, shape.row(file, row, *rest), False) for _, file, row, *rest in found]


@dataclass(frozen=True, slots=True)
class _Placed:
    number: int
    row: Sequence[Cell]
    is_scored: bool


class _SkippedShape:
    """Makes an output row from the cells of a row that was never sent, each cell under the column of its role."""

    def __init__(self, folder: JobFolder, empty: Sequence[Cell]) -> None:
        self._empty = empty
        with folder.open(read_only=True) as database:
            self._kept = columns_of_rankings(database)
            self._queries = column_of(database, 1, Role.QUERY)
            self._texts = [column_of(database, file, Role.CONTEXT, Role.TEXT) for file in (1, 2)]
            self._ids = [column_of(database, file, Role.ID) for file in (1, 2)]
            self._labels = [column_of(database, file, Role.LABEL) for file in (1, 2)]
            # The id of a row of the first file is the context's only if the row is a pair; otherwise it is the query's.
            self._is_long = schema.metadata_value(database, "layout") == Layout.LONG

    def row(self, file: int, number: int, reason: str, stored: str | None) -> Sequence[Cell]:
        cells: list[str] = msgspec.json.decode(stored, type=list[str]) if stored else []

        def cell(index: int | None) -> str:
            return cells[index] if index is not None and index < len(cells) else ""

        is_context = self._is_long or file == 2
        identifier = cell(self._ids[file - 1])
        where = _ROW if file == 1 else _ROW_OF_SECOND
        return (
            "" if is_context else identifier,
            cell(self._queries) if file == 1 else "",
            None,
            identifier if is_context else "",
            cell(self._texts[file - 1]),
            None, None, None, None,
            cell(self._labels[file - 1]) if is_context else "",
            "", "", Status.SKIPPED.value, where.filled(number=number, reason=stored_message(reason)), *self._empty,
            *self._kept.cells(stored if file == 1 else None, stored if file == 2 else None),
        )  # fmt: skip


def _our_columns(folder: JobFolder) -> tuple[str, ...]:
    parts = (PART,) if has_parts(folder) else ()
    return (*COLUMNS, *parts, *((SOURCE_JOB,) if has_origins(folder) else ()))


def _picker(indices: tuple[int, ...]) -> Callable[[Sequence[Cell]], Sequence[Cell]]:
    if len(indices) > 1:
        return itemgetter(*indices)
    return lambda row: (row[indices[0]],)
