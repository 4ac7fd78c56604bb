"""Size, duration, tokens and price of a sent job as text, and whether it is under way."""

from collections.abc import Iterable, Sequence

from PySide6.QtCore import QCoreApplication

from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.account.shards import account_progress, has_copies
from cfbatch_gui.core.jobs.plan.spending import Planned, past_times
from cfbatch_gui.core.jobs.states import Batch, BatchState, Job, JobState
from cfbatch_gui.core.workers_ai.catalogue import find_model
from cfbatch_gui.core.workers_ai.prices import price
from cfbatch_gui.ui import display
from cfbatch_gui.ui.job_labels import is_practice, short_model
from cfbatch_gui.ui.state_names import amount

_LEAST = 0.001  # dollars; a lower price is shown as "under" it


def _tr(text: str) -> str:
    return QCoreApplication.translate("jobs", text)


def is_over(job: Job) -> bool:
    """Whether every batch is in a final state."""
    return job.is_sent and all(batch.state.is_final for batch in job.batches)


def can_be_sent_again(batch: Batch) -> bool:
    """Whether the batch ended without an answer."""
    return batch.state in (BatchState.FAILED, BatchState.GONE, BatchState.DISMISSED)


def size_words(job: Job, planned: Planned) -> str:
    """The size of a job: "212 queries × 18 contexts", "212 queries · 3,816 contexts" if they differ, "18,204 texts"."""
    if job.kind is Kind.EMBED or not job.queries:
        return amount(job)
    pattern = _tr("{queries} × {contexts}") if planned.contexts_each else _tr("{queries} · {contexts}")
    contexts = display.plural(planned.contexts_each or job.texts, "{n} context", "{n} contexts")
    return pattern.format(queries=amount(job), contexts=contexts)


def summary_words(job: Job, planned: Planned) -> tuple[str, ...]:
    """Size, model, duration and price, which the header of the page shows beside the state; "" where one is unknown."""
    took = ""
    if job.state in (JobState.DONE, JobState.PARTLY_DONE) and job.finished_at:
        took = _tr("finished in {time}").format(time=rough_duration(job.finished_at - job.sent_at))
    taken = (_tr("{n} from earlier jobs").format(n=display.number(job.reused)),) if job.reused else ()
    if is_practice(job):
        return size_words(job, planned), *taken, _tr("Practice"), took
    return size_words(job, planned), *taken, short_model(job), took, price_words(job, planned), *_account_words(job)


def _account_words(job: Job) -> tuple[str, ...]:
    """How much of the job waits in the user's account, or that copies of it are kept there; () for neither."""
    if is_over(job):
        return (_tr("copies in your account"),) if has_copies(job) else ()
    progress = account_progress(job)
    if not progress.in_account:
        return ()
    pattern = _tr("{n} in your account, {size}")
    return (pattern.format(n=display.number(progress.in_account), size=display.size(progress.bytes_in_account)),)


def price_words(job: Job, planned: Planned) -> str:
    """The price by the tokens that the service counted; before they are known, the estimate: "about $0.008"."""
    if is_practice(job):
        return ""
    if is_over(job) and (job.tokens or not job.batches):
        return display.dollars(price(job.tokens, find_model(job.model)).dollars)
    return _expected(job, planned, 1.0) if planned.tokens else ""


def batch_price_words(job: Job, batch: Batch, planned: Planned) -> str:
    """The estimated price of one batch, by its share of the texts: "about $0.008"; "" when it is unknown."""
    texts = sum(each.texts for each in job.batches)
    if is_practice(job) or not planned.tokens or not texts:
        return ""
    return _expected(job, planned, batch.texts / texts)


def token_words(job: Job, planned: Planned) -> str:
    """The estimated number of tokens as a range."""
    if planned.tokens is None:
        return _tr("not known")
    low, high = (display.number(count) for count in planned.tokens)
    return low if low == high else f"{low}–{high}"


def rough_duration(seconds: float) -> str:
    """A duration in seconds, rounded: "8 s", "4 min", "2 h 05 min"."""
    whole = round(seconds)
    if whole < 60:
        return _tr("{n} s").format(n=max(1, whole))
    if whole < 3600:
        return _tr("{n} min").format(n=round(whole / 60))
    return display.duration(whole)


def is_under_way(job: Job) -> bool:
    """Whether a batch still changes without an action of the user."""
    waiting = (batch.state for batch in job.batches if batch.state is not BatchState.OUTCOME_UNKNOWN)
    return not job.paused_because and not all(state.is_final for state in waiting)


def running_words(job: Job, now: float) -> str:
    """How long a job takes: "Running for 9 minutes.", "Took 4 minutes.", "Sent 9 minutes ago." while it is paused."""
    if not job.batches:
        return _tr("Every result was taken from earlier jobs.")
    if all(batch.state is BatchState.PLANNED for batch in job.batches):
        return _tr("No batch has left yet.")
    seconds = max(1, int((job.finished_at or now) - job.sent_at))
    if seconds < 60:
        length = display.plural(seconds, "{n} second", "{n} seconds")
    elif seconds < 3600:
        length = display.plural(seconds // 60, "{n} minute", "{n} minutes")
    else:
        length = display.duration(seconds)
    if job.finished_at:
        pattern = _tr("Took {time}.")
    else:
        pattern = _tr("Running for {time}.") if is_under_way(job) else _tr("Sent {time} ago.")
    return pattern.format(time=length)


def usual_words(job: Job, jobs: Sequence[Job]) -> str:
    """How long the user's earlier jobs of this kind, connection and size took; "" when there are none."""
    past = past_times(jobs, job.kind, job.connection, job.texts, synchronous=job.options.at_once, without=job.id)
    if past is None:
        return ""
    low, high = _range(past.shortest, past.longest)
    if past.jobs == 1:
        return _tr("Your last job of this size took {time}.").format(time=high)
    shown = high if low == high.split(" ")[0] else f"{low}–{high}"
    return _tr("Your jobs of this size usually take {time}.").format(time=shown)


def request_ids(batches: Iterable[Batch]) -> str:
    """The request IDs of the batches that have one, one on each line."""
    return "\n".join(batch.request_id for batch in batches if batch.request_id)


def _expected(job: Job, planned: Planned, share: float) -> str:
    tokens = sum(planned.tokens or ()) / 2 * share
    expected = price(round(tokens), find_model(job.model)).dollars
    shown = display.dollars(expected)
    return shown if expected < _LEAST else _tr("about {price}").format(price=shown)


def _range(low: float, high: float) -> tuple[str, str]:
    """Two durations in seconds as numbers in one unit, the second with the unit."""
    if high < 90:
        return str(max(1, round(low))), _tr("{n} s").format(n=max(1, round(high)))
    if high < 5400:
        return str(max(1, round(low / 60))), _tr("{n} min").format(n=round(high / 60))
    return display.number(low / 3600, ".1f"), _tr("{n} h").format(n=display.number(high / 3600, ".1f"))
