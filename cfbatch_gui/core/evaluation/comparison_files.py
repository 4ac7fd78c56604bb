"""A comparison as CSV: a row for each text or for each query. Names of columns end with the job's number."""

from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import islice
from pathlib import Path

import numpy as np

from cfbatch_gui.core.evaluation.comparison import TOP_K, Comparison, P, query_moves
from cfbatch_gui.core.evaluation.judged import Evaluation
from cfbatch_gui.core.results.exports.base import Cell, ExportOptions
from cfbatch_gui.core.results.exports.delimited import Dialect
from cfbatch_gui.core.system.files import atomic_writer

_BLOCK = 5_000  # rows whose texts are in memory at once
_PLAIN = ExportOptions()


def write_texts(
    comparison: Comparison,
    path: Path,
    *,
    options: ExportOptions = _PLAIN,
    queries: Collection[int] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> int:
    """Write a row for each text, by query and rank of the first job; the number of rows.

    `queries` are indices, None for all; `progress` may raise. Raises DiskFull, ExportError, DataError.
    """
    numbers = range(1, len(comparison.runs) + 1)
    columns = (
        *("query_id", "query", "doc_id", "text", "label"),
        *(f"{name}_{number}" for number in numbers for name in ("score", "rank")),
        *(f"change_{number}" for number in numbers[1:]),
    )
    total = len(comparison.query)
    tell = (lambda done: progress(done, total)) if progress else None
    return _write(path, columns, _text_rows(comparison, queries), options, tell=tell)


def write_queries(
    comparison: Comparison,
    path: Path,
    *,
    options: ExportOptions = _PLAIN,
    top_k: int = TOP_K,
    p: float = P,
    evaluation: Evaluation | None = None,
    queries: Collection[int] | None = None,
) -> int:
    """Write a row for each query with its overlaps and measures; the number of rows. Raises DiskFull, ExportError."""
    names = ("rbo", f"top_{top_k}", "first_kept", "mean_change", "largest_change")
    others = range(1, len(comparison.runs))
    columns = ("query_id", "query", "contexts", *(f"{name}_{other + 1}" for other in others for name in names))
    moves = [query_moves(comparison, other, top_k=top_k, p=p) for other in others]
    measures, measured = _measures(evaluation)
    columns = (*columns, *measures)
    nothing: tuple[Cell, ...] = (None,) * len(measures)

    def rows() -> Iterator[tuple[Cell, ...]]:
        for of_query in zip(*moves, strict=True):
            figures = (
                (each.rbo, each.top, int(each.first_kept), each.mean_change, each.largest_change) for each in of_query
            )
            first = of_query[0]
            if queries is not None and first.index not in queries:
                continue
            moved = (value for each in figures for value in each)
            number = comparison.queries[first.index].number
            yield first.id, first.text, first.contexts, *moved, *measured.get(number, nothing)

    return _write(path, columns, rows(), options)


def _measures(evaluation: Evaluation | None) -> tuple[tuple[str, ...], dict[int, tuple[Cell, ...]]]:
    if evaluation is None:
        return (), {}
    values = [run.values[name].tolist() for run in evaluation.runs for name in run.values]
    names = (f"{name}_{number}" for number, run in enumerate(evaluation.runs, 1) for name in run.values)
    rows = zip(evaluation.queries, zip(*values, strict=True), strict=True)
    return tuple(names), {query.number: cells for query, cells in rows}


def _text_rows(comparison: Comparison, queries: Collection[int] | None) -> Iterator[tuple[Cell, ...]]:
    base = comparison.runs[0]
    order = comparison.in_order()
    if queries is not None:
        order = order[np.isin(comparison.query[order], list(queries))]
    changes = [comparison.changes(other) for other in range(1, len(comparison.runs))]
    for start in range(0, len(order), _BLOCK):
        pairs = order[start : start + _BLOCK]
        indices = comparison.indices[0][pairs].tolist()
        texts = base.texts(indices)
        figures = [
            column[pairs].tolist()
            for scores, ranks in zip(comparison.scores, comparison.ranks, strict=True)
            for column in (scores, ranks.rank)
        ]
        risen = [change[pairs].tolist() for change in changes]
        asked_in = comparison.query[pairs].tolist()
        for index, query, *rest in zip(indices, asked_in, *figures, *risen, strict=True):
            asked, text = comparison.queries[query], texts[index]
            yield asked.id, asked.text, text.id, text.text, text.label, *rest


def _write(
    path: Path,
    columns: Sequence[str],
    rows: Iterator[tuple[Cell, ...]],
    options: ExportOptions,
    *,
    tell: Callable[[int], None] | None = None,
) -> int:
    dialect = Dialect(options)
    done = 0
    with atomic_writer(path) as stream:
        stream.write(dialect.start + dialect.encode([columns]))
        while block := list(islice(rows, _BLOCK)):
            stream.write(dialect.encode(block))
            done += len(block)
            if tell:
                tell(done)
    return done
