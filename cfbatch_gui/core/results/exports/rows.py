"""The rows of an export, in blocks; each is told to the export's progress when the next one is asked for.

Rankings: queries as in the input, contexts by rank, then without a score; last rows never sent. Vectors: the texts that
have one, with the shortest decimals that read back as the same float32.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cached_property
from heapq import merge
from itertools import chain, compress, groupby, islice
from operator import attrgetter, itemgetter

import msgspec
import numpy as np
import orjson
from msgspec.structs import replace
from numpy.typing import NDArray

from cfbatch_gui.core.errors import ExportError
from cfbatch_gui.core.inputs.input_values import Kind, Layout, Role
from cfbatch_gui.core.job_folder import schema
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.jobs.states import Purpose
from cfbatch_gui.core.messages import message, restored
from cfbatch_gui.core.results import outcomes
from cfbatch_gui.core.results.embeddings import EmbeddedText, Embeddings, VectorBlock
from cfbatch_gui.core.results.exports import base
from cfbatch_gui.core.results.exports.base import PART, SOURCE_JOB, ExportOptions, Row, Work, export_file, indices_of
from cfbatch_gui.core.results.exports.group_rows import GROUP_COLUMNS, Cells, group_cells
from cfbatch_gui.core.results.job_groups import read_groups
from cfbatch_gui.core.results.matches import columns_of_b
from cfbatch_gui.core.results.rankings import RankedContext, Rankings

COLUMNS = (
    "query_id", "query", "rank", "doc_id", "text", "score", "tie_group", "initial_rank", "rank_change",
    "label", "external_reference", "request_id", "status", "error",
)  # fmt: skip
_ROW, _ROW_NUMBER = message("row_number_reason"), message("row_2")
_ROW_OF_SECOND = message("row_number_second_file_reason")
_INTEGERS = ("rank", "tie_group", "initial_rank", "rank_change", PART)
_KINDS = {"score": "float64", **dict.fromkeys(_INTEGERS, "int64")}
_ROWS_AT_ONCE = 5_000

_SKIPPED = f"""
SELECT p.problem_no, p.file, p.row, p.reason, r.cells FROM problems p LEFT JOIN source_rows r USING(file, row)
WHERE p.item_no IS NULL AND {schema.LEFT_OUT} AND p.problem_no > ? ORDER BY p.problem_no LIMIT ?
"""  # noqa: S608 - a constant


def columns_of(folder: JobFolder, kind: Kind, purpose: Purpose | None = None) -> tuple[str, ...]:
    """The names that `ExportOptions.columns` accepts: ours where they say something, and the user's own; of matches
    those of list B. Raises DataError.
    """
    if purpose is Purpose.MATCH:
        return columns_of_b(folder)
    ours = _our_columns(folder, kind, purpose)
    return ours + (Rankings if kind is Kind.RANK else Embeddings)(folder, reserved=ours).columns()


def _our_columns(folder: JobFolder, kind: Kind, purpose: Purpose | None) -> tuple[str, ...]:
    first, sources = (COLUMNS, (SOURCE_JOB,)) if kind is Kind.RANK else ((), (SOURCE_JOB, base.REQUEST_ID))
    parts = (PART,) if outcomes.has_parts(folder) else ()
    groups = GROUP_COLUMNS if purpose is Purpose.GROUPS else ()
    return (*first, *groups, *parts, *(sources if outcomes.has_origins(folder) else ()))


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
    contexts = chain.from_iterable(rankings.blocks())
    return (list(group) for _, group in groupby(contexts, lambda context: context.query_no))


class _Rows:
    """What the rows of both kinds need of their job: which columns there are, and where results came from."""

    def __init__(self, work: Work, kind: Kind) -> None:
        self._folder, self._name, self._request_ids = work.folder, work.job.name, work.job.request_ids
        self._options, self._steps = work.options, work.steps
        self._ours = _our_columns(work.folder, kind, work.job.purpose)
        self._has_part, self._has_source = PART in self._ours, SOURCE_JOB in self._ours
        with work.folder.open(read_only=True) as database:
            self._origins = outcomes.origins_by_reference(database)

    def _source(self, reference: str, batch: int) -> tuple[str, str]:
        """The job and the request that a result came with."""
        if origin := self._origins.get(reference):
            return origin.job_name, origin.request_id
        return self._name, self._request_ids.get(batch, "")


class ScoreRows(_Rows):
    """The rows of one export of a ranking, with these columns or all.

    `own_names` map to the file's names, `dropped` counts what top k and threshold drop. Raises UsageError for columns
    that do not exist.
    """

    def __init__(self, work: Work, columns: Sequence[str] | None = None) -> None:
        super().__init__(work, Kind.RANK)
        ours = self._ours
        self._rankings = Rankings(work.folder, work.job.failed_batches, reserved=ours)
        own = self._rankings.columns()
        self.own_names = dict(zip(own, Rankings(work.folder).columns(), strict=True))
        everything = ours + own
        indices = indices_of(columns, everything)
        self._picked = None if indices == tuple(range(len(everything))) else _picker(indices)
        self.columns: tuple[str, ...] = tuple(everything[index] for index in indices)
        self.kinds = tuple(_KINDS.get(everything[index], "utf8") if index < len(ours) else "utf8" for index in indices)
        self.dropped = 0
        self.asked: set[int] = set()  # the numbers of the queries that have rows

    @property
    def notes(self) -> dict[str, object]:
        return {"dropped_by_top_k_or_threshold": self.dropped}

    def blocks(self) -> Iterator[list[Row]]:
        for contexts in self._rankings.blocks():
            yield self._chosen([self._row(context) for context in self._kept(contexts)])
            self._steps.wrote(len(contexts))
        yield from self._in_blocks(self._skipped())

    def in_file_order(self) -> Iterator[list[Row]]:
        """The rows of `blocks`, each where it is in the user's file; those beyond the limits without their figures."""
        contexts = chain.from_iterable(self._rankings.blocks_in_file_order())
        kept = (self._limited(each) for each in contexts if self._options.has_item(each.item_no))
        with self._folder.open(read_only=True) as database:
            is_long = schema.metadata_value(database, "layout") == Layout.LONG
        rows = merge(kept, self._skipped(), key=attrgetter("row")) if is_long else chain(kept, self._skipped())
        return self._in_blocks(rows)

    def by_query(self) -> Iterator[tuple[Row, list[Row]]]:
        """For each query with contexts: the row of the first one, and the kept rows."""
        for contexts in by_query(self._rankings):
            (first,) = self._chosen([self._row(contexts[0])])
            yield first, self._chosen([self._row(context) for context in self._kept(contexts)])
            self._steps.wrote(len(contexts))

    def _chosen(self, rows: list[Row]) -> list[Row]:
        return rows if self._picked is None else [*map(self._picked, rows)]

    def _kept(self, contexts: Sequence[RankedContext]) -> Sequence[RankedContext]:
        options = self._options
        is_limited = not (options.top_k is None and options.threshold is None and options.items is None)
        kept = [context for context in contexts if keeps(context, options)] if is_limited else contexts
        self.dropped += len(contexts) - len(kept)
        self.asked.update(context.query_no for context in kept)
        return kept

    def _limited(self, context: RankedContext) -> RankedContext:
        if keeps(context, self._options):
            return context
        self.dropped += 1
        return replace(context, rank=None, score=None, tie_group=0, rank_change=None, part=None)

    def _row(self, context: RankedContext) -> Row:
        job, request = self._source(context.reference, context.batch)
        row: tuple[base.Cell, ...] = (
            context.query_id, context.query, context.rank, context.id, context.text, context.score,
            context.tie_group or None, context.initial_rank or None, context.rank_change,
            context.label, "" if context.reference in self._origins else context.reference, request,
            context.status._value_, context.error,
        )  # fmt: skip
        if self._has_part:
            row = (*row, context.part)
        if self._has_source:
            row = (*row, job)
        return row + context.cells

    def _in_blocks(self, contexts: Iterator[RankedContext]) -> Iterator[list[Row]]:
        while block := [self._row(each) for each in islice(contexts, _ROWS_AT_ONCE)]:
            yield self._chosen(block)
            self._steps.wrote(len(block))

    def _skipped(self) -> Iterator[RankedContext]:
        """The rows that were never sent, each cell under the column of its role."""
        if self._options.items is not None:
            return
        with self._folder.open(read_only=True) as database:
            kept = outcomes.columns_of_rankings(database)
            is_long = schema.metadata_value(database, "layout") == Layout.LONG
            ids, labels, texts = (
                [outcomes.column_of(database, file, *roles) for file in (1, 2)]
                for roles in ((Role.ID,), (Role.LABEL,), (Role.CONTEXT, Role.TEXT))
            )
            query = outcomes.column_of(database, 1, Role.QUERY)
        # Ids and labels in the first file are the context's only if the row is a pair; else they are the query's.
        first = (None, query, ids[0], texts[0], labels[0]) if is_long else (ids[0], query, None, texts[0], None)
        indices = {1: first, 2: (None, None, ids[1], texts[1], labels[1])}
        last = 0
        while True:
            with self._folder.open(read_only=True) as database:
                found = database.execute(_SKIPPED, (last, _ROWS_AT_ONCE)).fetchall()
            if not found:
                return
            last = found[-1][0]
            for _, file, number, reason, stored in found:
                cells: list[str] = msgspec.json.decode(stored, type=list[str]) if stored else []
                query_id, query_text, text_id, text, label = (
                    cells[index] if index is not None and index < len(cells) else "" for index in indices[file]
                )
                where = _ROW if file == 1 else _ROW_OF_SECOND
                yield RankedContext(
                    *(0, 0, query_id, query_text, None, False, 0, None, text, text_id, label, 0, None, number),
                    kept.cells(stored if file == 1 else None, stored if file == 2 else None),
                    outcomes.Status.SKIPPED,
                    where.filled(number=number, reason=restored(reason)),
                    *("", 0),
                )


def _picker(indices: tuple[int, ...]) -> Callable[[Row], Row]:
    if len(indices) > 1:
        return itemgetter(*indices)
    return lambda row: (row[indices[0]],)


BLOCK = 512  # texts; 2 MB of vectors of 1,024 numbers
_IDS_AT_ONCE = 50_000
_IDS = """
SELECT t.row, iif(?, t.text_id, t.row) FROM items i JOIN texts t USING(text_no)
WHERE i.item_no BETWEEN ? AND ? ORDER BY i.item_no
"""


class VectorRows(_Rows):
    """The rows of one export of vectors: the texts that have one when it is made.

    `has_text_column`: the format has the text's column itself. Raises UsageError for a column that does not exist.
    """

    def __init__(self, work: Work, *, reserved: Collection[str] = (), has_text_column: bool = False) -> None:
        super().__init__(work, Kind.EMBED)
        self._work = work
        ours, self._grouped = self._ours, Purpose.GROUPS if work.job.purpose is Purpose.GROUPS else None
        self._embeddings = Embeddings(work.folder, work.job.failed_batches, reserved=(*ours, *reserved))
        self._present = self._embeddings.present()
        if work.options.items is not None:
            self._present &= np.isin(np.arange(1, len(self._present) + 1), list(work.options.items))
        self.count = int(np.count_nonzero(self._present))
        self.dimension = self._embeddings.dimension
        names = ours + self._embeddings.columns()
        text = len(ours) + _index_of_text(work.folder) if has_text_column else -1
        chosen = indices_of(work.options.columns, columns_of(work.folder, Kind.EMBED, self._grouped))
        self._indices = tuple(index for index in chosen if index != text)
        self.columns = tuple(names[index] for index in self._indices)
        with work.folder.open(read_only=True) as database:
            roles = outcomes.column_mapping(database).get("file 1", {})
        self._id_headers = [header for header, role in roles.items() if role == Role.ID]
        shown = [role for role in roles.values() if role != Role.IGNORE]
        before_ids = shown.index(Role.ID) if len(self._id_headers) == 1 else 0
        self.ids_at = len(ours) + before_ids if work.options.columns is None else 0

    def own_columns(self, say: Callable[[str], str], numbers: Sequence[str]) -> list[str]:
        """The columns in the order of the file, the ids among them under their own header."""
        found = self._id_headers
        is_own = len(found) == 1 and found[0] and found[0] not in numbers
        ids = found[0] if is_own else "id" if found else say(_ROW_NUMBER)
        return [*self.columns[: self.ids_at], ids, *self.columns[self.ids_at :]]

    def own_cells(self, text: EmbeddedText) -> tuple[str, ...]:
        """The cells under `own_columns`."""
        cells = self.cells(text)
        return *cells[: self.ids_at], self.id_of(text), *cells[self.ids_at :]

    @property
    def item_numbers(self) -> NDArray[np.int64]:
        return np.flatnonzero(self._present) + 1

    @property
    def notes(self) -> dict[str, object]:
        """Notes for the manifest: dimension, dtype, and the origin of the ids."""
        return {
            "dimension": self.dimension,
            "dtype": "float32",
            "ids": "from the file" if self._embeddings.has_ids else "row numbers of the file, which has no ids",
        }

    def id_of(self, text: EmbeddedText) -> str:
        return text.id if self._embeddings.has_ids else str(text.row)

    def key_of(self, text: EmbeddedText) -> str:
        """`id_of`, with "#" and the part of a split text, for formats that store one vector per id."""
        identifier = self.id_of(text)
        return identifier if text.part is None else f"{identifier}#{text.part}"

    def cells(self, text: EmbeddedText) -> tuple[str, ...]:
        source = self._source(text.reference, text.batch) if self._has_source else ()
        cells = ("" if text.part is None else str(text.part),) * self._has_part + source + text.cells
        if self._grouped:
            cells = (*("" if cell is None else str(cell) for cell in self._of_group(text.item_no)), *cells)
        return tuple(cells[index] for index in self._indices)

    @cached_property
    def _of_group(self) -> Cells:
        return group_cells(self._work, read_groups(self._work.folder, self._work.job))

    def blocks(self) -> Iterator[tuple[Sequence[EmbeddedText], NDArray[np.float32]]]:
        """Texts and their vectors, float32 (n, d), in the order of the input; n is at most BLOCK."""
        for start, there, vectors in self.vector_blocks(BLOCK):
            page = self._embeddings.page(start, start + BLOCK)
            yield [page[index] for index in there], vectors

    def vector_blocks(self, size: int) -> Iterator[VectorBlock]:
        """The vectors of so many texts at a time. Raises ExportError for one that is not finite."""
        for start, there, vectors in self._embeddings.vector_blocks(self._present, size):
            wrong = np.flatnonzero(~np.isfinite(vectors).all(axis=1))
            if len(wrong):
                (text,) = self._embeddings.texts([start + int(there[wrong[0]]) + 1])
                raise ExportError(message("vector_row_row_holds_value_is", row=text.row))
            yield start, there, vectors
            self._steps.wrote(len(vectors))

    def ids(self) -> Iterator[tuple[int, str | int]]:
        """The row of each text that has a vector, and its id, read without the texts."""
        for start in range(0, len(self._present), _IDS_AT_ONCE):
            with self._folder.open(read_only=True) as database:
                found = database.execute(_IDS, (self._embeddings.has_ids, start + 1, start + _IDS_AT_ONCE)).fetchall()
            yield from compress(found, self._present[start : start + _IDS_AT_ONCE].tolist())

    def lines(self, *, has_numbers: bool = True) -> Iterator[Iterable[tuple[EmbeddedText, bytes]]]:
        """`blocks`, each vector as in `vector_texts`, or as an empty one."""
        if has_numbers:
            yield from (zip(texts, vector_texts(vectors), strict=True) for texts, vectors in self.blocks())
            return
        for texts in self.texts():
            yield ((text, b"[]") for text in texts)
            self._steps.wrote(len(texts))

    def texts(self) -> Iterator[list[EmbeddedText]]:
        """`blocks` without the vectors."""
        for start in range(0, len(self._present), BLOCK):
            page = self._embeddings.page(start, start + BLOCK)
            yield list(compress(page, self._present[start : start + BLOCK].tolist()))


def write_vector_lines(
    work: Work, table: VectorRows, line: Callable[[EmbeddedText, bytes], bytes], start: bytes = b""
) -> None:
    with export_file(work) as stream:
        stream.write(start)
        for block in table.lines():
            stream.write(b"".join([line(text, decimals) for text, decimals in block]))


def _index_of_text(folder: JobFolder) -> int:
    with folder.open(read_only=True) as database:
        columns = outcomes.columns_of_vectors(database).first
        text = outcomes.column_of(database, 1, Role.TEXT, Role.CONTEXT, Role.QUERY)
    return columns.index(text) if text in columns else len(columns)


def vector_texts(vectors: NDArray[np.float32]) -> list[bytes]:
    """Each row of `vectors`, float32 (n, d), as a JSON array: b"[0.1,-0.25]", in decimals that read back as it."""
    return [orjson.dumps(row, option=orjson.OPT_SERIALIZE_NUMPY) for row in np.ascontiguousarray(vectors)]
