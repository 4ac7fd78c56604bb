"""What a job's plan came to, what was spent today, whether more stays within the budget, and how long jobs took."""

import sqlite3
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from cfbatch_gui.core.errors import DataError, OverBudget
from cfbatch_gui.core.inputs.input_values import Kind, Layout, ProblemKind
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.job_folder.schema import metadata_value
from cfbatch_gui.core.jobs.states import ENDED, Attempt, Batch, BatchState, Job, JobState
from cfbatch_gui.core.messages import Message, message
from cfbatch_gui.core.system.settings import Budget
from cfbatch_gui.core.workers_ai.catalogue import FREE_NEURONS_A_DAY, ModelMetadata, Price, next_reset, price
from cfbatch_gui.core.workers_ai.connection_kinds import PRACTICE

_DAY = 86_400.0


@dataclass(frozen=True, slots=True)
class Spent:
    """Neurons and dollars of one day, by what the service has counted, else by the upper estimate."""

    neurons: float = 0.0
    dollars: float = 0.0

    @property
    def free_left(self) -> float:
        return max(0.0, FREE_NEURONS_A_DAY - self.neurons)


def spent_today(
    jobs: Iterable[Job], folder_of: Callable[[str], JobFolder], metadata_for: Callable[[Job], ModelMetadata], now: float
) -> Spent:
    """Add up the attempts since 00:00 UTC, without practice; for a thread. A batch of unknown outcome counts as billed,
    and once more when it is sent again.
    """
    since = next_reset(now) - _DAY
    neurons = dollars = 0.0
    for job in jobs:
        if job.connection == PRACTICE.id or not job.is_sent:
            continue
        recent = [each for batch in job.batches for each in batch.billable if each.sent_at >= since]
        if recent:
            cost = price(_tokens(job, recent, folder_of(job.id)), metadata_for(job))
            neurons, dollars = neurons + cost.neurons, dollars + cost.dollars
    return Spent(neurons, dollars)


def _failed_texts(batch: Batch) -> float:
    if batch.state in ENDED:
        return batch.texts
    is_done = batch.state is BatchState.DONE and batch.requests
    return batch.texts * batch.failed_requests / batch.requests if is_done else 0.0


def _tokens(job: Job, recent: list[Attempt], folder: JobFolder) -> int:
    counted = sum(attempt.tokens for attempt in recent)
    return counted + _tokens_of_texts(job, sum(attempt.texts for attempt in recent if not attempt.tokens), folder)


def _tokens_of_texts(job: Job, some: float, folder: JobFolder) -> int:
    texts = sum(batch.texts for batch in job.batches)
    if not some or not texts or not folder.data.exists():
        return 0
    try:
        with folder.open(read_only=True) as database:
            planned = _estimate(database)
    except DataError:
        return 0  # what cannot be read any more cannot be estimated
    return round(planned[1] * some / texts) if planned else 0


def over_budget(high: Price, budget: Budget, spent: Spent, before: Spent = Spent()) -> str:
    """Why a job of this price needs another word; "" within the budget. `before` is what the job has come to already,
    when it is sent again.
    """
    wanted = _amount(high, budget)
    in_all = wanted + _amount(before, budget)
    if budget.a_job and in_all > budget.a_job:
        return message(
            "job_may_cost_amount_your_budget", amount=_shown(in_all, budget), budget=_shown(budget.a_job, budget)
        )
    today = wanted + _amount(spent, budget)
    if budget.a_day and today > budget.a_day:
        template = _WITH_TODAY if spent.neurons else _FIRST_TODAY
        return template.filled(amount=_shown(today, budget), budget=_shown(budget.a_day, budget))
    return ""


_WITH_TODAY = message("what_was_sent_since_midnight_utc")
_FIRST_TODAY = message("job_may_come_amount_your_budget")


def check_again(
    job: Job,
    folder: JobFolder,
    metadata: ModelMetadata,
    numbers: Collection[int],
    *,
    budget: Budget,
    spent: Callable[[], Spent],
) -> None:
    """Raise OverBudget when sending some batches again, without `numbers` what failed, may cost more than the budget,
    by the upper estimate and with what the job has come to already. For a thread.
    """
    texts = float(sum(batch.texts for batch in job.batches if batch.number in numbers))
    if not numbers:
        texts = sum(map(_failed_texts, job.batches))
    again = price(_tokens_of_texts(job, texts, folder), metadata)
    before = price(_tokens(job, [each for batch in job.batches for each in batch.billable], folder), metadata)
    sentence = over_budget(again, budget, spent(), Spent(before.neurons, before.dollars)) if again.neurons else ""
    if sentence:
        raise OverBudget(sentence)


def _amount(cost: Price | Spent, budget: Budget) -> float:
    return cost.dollars if budget.unit == "dollars" else cost.neurons


def _shown(amount: float, budget: Budget) -> Message:
    if budget.unit == "neurons":
        if amount >= 10:
            return message("amount_neurons_2", amount=amount)
        return message("amount_neurons", amount=amount)
    if amount >= 0.01 or amount < 1e-6:
        return message("amount_2", amount=amount)
    return message("amount", amount=amount)


TOKENS = "estimated_tokens"  # stored by planning: low, high
LEARNED = "learned_tokens"  # stored with the estimate: that low and high, and the ones to take instead
_EACH = """
SELECT min(contexts), max(contexts) FROM (
    SELECT count(*) AS contexts FROM items WHERE request_no IS NOT NULL AND query_no IS NOT NULL GROUP BY query_no)
"""


@dataclass(frozen=True, slots=True)
class Planned:
    """`tokens` is the estimate from low to high; `contexts_each` is 0 when queries have different numbers. `doubtful`
    rows were left out, `doubtful_sent` sent. `has_lists`: its texts are those of two lists.
    """

    tokens: tuple[int, int] | None = None
    contexts_each: int = 0
    doubtful: int = 0
    doubtful_sent: int = 0
    has_lists: bool = False


def read_planned(folder: JobFolder) -> Planned:
    """Quick, but not for the loop: counts the items. Raises DataError."""
    with folder.open(read_only=True) as database:
        tokens = _estimate(database)
        least, most = database.execute(_EACH).fetchone()
        counts = dict(database.execute("SELECT kind, count(*) FROM problems GROUP BY kind"))
        has_lists = metadata_value(database, "layout") == Layout.LISTS
    doubtful, doubtful_sent = (counts.get(kind, 0) for kind in (ProblemKind.DOUBTFUL_ROW, ProblemKind.DOUBTFUL_SENT))
    return Planned(tokens, int(least or 0) if least == most else 0, doubtful, doubtful_sent, has_lists)


def _estimate(database: sqlite3.Connection) -> tuple[int, int] | None:
    """As it was put right, unless that was of another plan."""
    found, learned = metadata_value(database, TOKENS), metadata_value(database, LEARNED)
    if isinstance(found, list) and isinstance(learned, list) and learned[:2] == found:
        found = learned[2:]
    return (int(found[0]), int(found[1])) if isinstance(found, list) else None


_ALIKE: Final = 3  # a job is of the same size when it has a third to three times as many texts
_FEW: Final = 5  # durations of which none is left away


@dataclass(frozen=True, slots=True)
class PastTimes:
    """From sending to the last answer, in seconds, without the outliers; and how many jobs say so."""

    shortest: float
    longest: float
    jobs: int


def past_times(
    jobs: Sequence[Job], kind: Kind, connection: str, texts: int, *, synchronous: bool = False, without: str = ""
) -> PastTimes | None:
    """What finished jobs of this kind, connection, size and way took; None while there were none.

    `without` is the id of a job that does not count.
    """
    took = sorted(
        job.finished_at - job.sent_at
        for job in jobs
        if job.id != without
        and (job.kind, job.connection, job.state) == (kind, connection, JobState.DONE)
        and job.options.at_once is synchronous
        and job.finished_at > job.sent_at
        and texts <= job.texts * _ALIKE
        and job.texts <= texts * _ALIKE
    )
    if not took:
        return None
    count = len(took)
    if count > _FEW:
        took = took[count // 10 : count - count // 10]
    return PastTimes(took[0], took[-1], count)
