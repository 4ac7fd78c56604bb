"""A comparison with all figures that its page shows."""

from collections.abc import Sequence
from dataclasses import dataclass

from cfbatch_gui.core.evaluation.comparison import Comparison, compare
from cfbatch_gui.core.evaluation.judged import Evaluation, evaluate
from cfbatch_gui.core.evaluation.moves import MoveSummary, QueryMoves, query_moves, summary
from cfbatch_gui.core.evaluation.runs import read_run
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.program import Program, metadata_of
from cfbatch_gui.ui.job_labels import connection_title

_TOPS = (10, 5, 3)


@dataclass(frozen=True, slots=True, eq=False)
class Compared:
    """`moves`, `orders` and `summaries` have one for each job but the first. An order is that in which queries are
    shown, those that moved most first. `evaluation` is None without labels.
    """

    jobs: tuple[Job, ...]
    comparison: Comparison
    moves: tuple[QueryMoves, ...]
    orders: tuple[tuple[int, ...], ...]
    summaries: tuple[MoveSummary, ...]
    evaluation: Evaluation | None
    top_k: int


def version_of(jobs: Sequence[Job]) -> tuple[object, ...]:
    """Changes exactly when there may be other scores to compare: an answer came, or other jobs are meant."""
    return tuple((job.id, tuple(each.number for each in job.batches if each.state.is_final)) for job in jobs)


def read_comparison(program: Program, jobs: Sequence[Job], top_k: int | None = None) -> Compared:
    """Blocking; the first job is what the others are compared with. Raises UsageError, DataError.

    Without `top_k` as many first texts are compared as say something: fewer than a query has.
    """
    runs = [read_run(program.folder(job.id), metadata_of(job, connection_title(program, job))) for job in jobs]
    comparison = compare(runs)
    texts = len(comparison.query) / len(comparison.queries)
    usual = next((count for count in _TOPS if count < texts), 1)
    return with_top(tuple(jobs), comparison, usual if top_k is None else top_k)


def with_top(jobs: tuple[Job, ...], comparison: Comparison, top_k: int) -> Compared:
    """The figures with this many first texts. Blocking."""
    moves = tuple(query_moves(comparison, other, top_k=top_k) for other in range(1, len(jobs)))
    orders = tuple(tuple(each.most_moved_first().tolist()) for each in moves)
    return Compared(jobs, comparison, moves, orders, tuple(map(summary, moves)), evaluate(comparison, k=top_k), top_k)
