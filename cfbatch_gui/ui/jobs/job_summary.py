"""What is said of a sent job: size, duration, tokens, price, and what the user's account has of it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from PySide6.QtWidgets import QWidget

from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.plan.spending import Planned, past_times
from cfbatch_gui.core.jobs.states import (
    Batch,
    BatchState,
    Job,
    JobState,
    account_progress,
    has_all_shards,
    has_copies,
    most_batches,
    wants_account,
)
from cfbatch_gui.core.workers_ai.catalogue import find_model, price
from cfbatch_gui.core.workers_ai.connection_kinds import Connection, ConnectionKind
from cfbatch_gui.ui.theme import LARGE, SMALL
from cfbatch_gui.ui.widgets import Flow, Saying, StateLabel, boxed, column
from cfbatch_gui.words import figures
from cfbatch_gui.words.languages import tr
from cfbatch_gui.words.states import (
    AnswerPlace,
    amount,
    is_practice,
    short_model,
    state_words,
)

_LEAST = 0.001  # dollars; a lower price is shown as "under" it


def is_over(job: Job) -> bool:
    return job.is_sent and all(batch.state.is_final for batch in job.batches)


def can_be_sent_again(batch: Batch) -> bool:
    return batch.state in (BatchState.FAILED, BatchState.GONE, BatchState.DISMISSED)


def size_words(job: Job, planned: Planned) -> str:
    """The size of a job: "212 queries × 18 contexts", "212 queries · 3,816 contexts" if they differ, "18,204 texts"."""
    if job.kind is Kind.EMBED or not job.queries:
        return amount(job)
    pattern = tr("{queries} × {contexts}") if planned.contexts_each else tr("{queries} · {contexts}")
    contexts = figures.plural(planned.contexts_each or job.texts, "{n} context", "{n} contexts")
    return pattern.format(queries=amount(job), contexts=contexts)


def summary_words(job: Job, planned: Planned) -> tuple[str, ...]:
    took = ""
    if job.state in (JobState.DONE, JobState.PARTLY_DONE) and job.finished_at:
        took = tr("finished in {time}").format(time=figures.duration(max(1.0, job.finished_at - job.sent_at)))
    taken = (tr("{n} from earlier jobs").format(n=figures.number(job.reused)),) if job.reused else ()
    if is_practice(job):
        return size_words(job, planned), *taken, tr("Practice"), took
    return size_words(job, planned), *taken, short_model(job), took, price_words(job, planned), *_account_words(job)


def _account_words(job: Job) -> tuple[str, ...]:
    if is_over(job):
        return (tr("copies in your account"),) if has_copies(job) else ()
    progress = account_progress(job)
    if not progress.in_account:
        return ()
    pattern = tr("{n} in your account, {size}")
    return (pattern.format(n=figures.number(progress.in_account), size=figures.size(progress.bytes_in_account)),)


def price_words(job: Job, planned: Planned) -> str:
    if is_practice(job):
        return ""
    if is_over(job) and (job.tokens or not job.batches):
        return figures.prices(price(job.tokens, find_model(job.model)))
    return _expected(job, planned, 1.0) if planned.tokens else ""


def batch_price_words(job: Job, batch: Batch, planned: Planned) -> str:
    texts = sum(each.texts for each in job.batches)
    if is_practice(job) or not planned.tokens or not texts:
        return ""
    return _expected(job, planned, batch.texts / texts)


def token_words(job: Job, planned: Planned) -> str:
    if planned.tokens is None:
        return tr("not known")
    low, high = (figures.number(count) for count in planned.tokens)
    return low if low == high else f"{low}–{high}"


def is_under_way(job: Job) -> bool:
    """Whether a batch still changes without an action of the user."""
    waiting = (batch.state for batch in job.batches if batch.state is not BatchState.OUTCOME_UNKNOWN)
    return not job.paused_because and not all(state.is_final for state in waiting)


def running_words(job: Job, now: float) -> str:
    """How long a job takes: "Running for 9 min 05 s.", "Took 4 s.", "Sent 9 min 05 s ago." while it is paused."""
    if not job.batches:
        return tr("Every result was taken from earlier jobs.")
    if all(batch.state is BatchState.PLANNED for batch in job.batches):
        return tr("No batch has left yet.")
    length = figures.duration(max(1.0, (job.finished_at or now) - job.sent_at))
    if job.finished_at:
        pattern = tr("Took {time}.")
    else:
        pattern = tr("Running for {time}.") if is_under_way(job) else tr("Sent {time} ago.")
    return pattern.format(time=length)


def usual_words(job: Job, jobs: Sequence[Job]) -> str:
    at_once = job.options.at_once
    return figures.usual_words(
        past_times(jobs, job.kind, job.connection, job.texts, synchronous=at_once, without=job.id)
    )


def request_ids(batches: Iterable[Batch]) -> str:
    return "\n".join(batch.request_id for batch in batches if batch.request_id)


def _expected(job: Job, planned: Planned, share: float) -> str:
    tokens = sum(planned.tokens or ()) / 2 * share
    expected = price(round(tokens), find_model(job.model))
    shown = figures.prices(expected)
    return shown if expected.dollars < _LEAST else tr("about {price}").format(price=shown)


@dataclass(frozen=True, slots=True)
class AccountWords:
    """`line` is "" where the figures say all; `may_close` marks it."""

    # To be sent, at the service, waiting in the account, here: each as number and words, "" where it is not shown.
    figures: tuple[tuple[int, str], ...]
    line: str = ""
    may_close: bool = False


def can_change_account(job: Job, connection: Connection | None) -> bool:
    is_worker = connection is not None and connection.kind is ConnectionKind.WORKER
    return is_worker and job.is_sent and not is_over(job) and not job.taken_over


def can_clear_account(job: Job) -> bool:
    return is_over(job) and has_copies(job)


def account_words(job: Job, connection: Connection | None) -> AccountWords | None:
    """The figures and the sentence for a job at work; None for one that the account has nothing to do with."""
    progress = account_progress(job)
    is_wanted = connection is not None and wants_account(job, connection) and not job.account_problem
    if is_over(job) or not (progress.is_used or is_wanted):
        return None
    at_service, number = progress.at_service + progress.direct, figures.number
    waiting = tr("{n} waiting in your account · {size}").format(
        n=number(progress.in_account), size=figures.size(progress.bytes_in_account)
    )
    nothing_waits = tr("{n} waiting in your account").format(n=number(0))
    to_send = tr("{n} waiting to be sent").format(n=number(progress.to_send))
    counts = (
        (progress.to_send, to_send if progress.to_send else ""),
        (at_service, tr("{n} at the service").format(n=number(at_service))),
        (progress.in_account, waiting if progress.in_account else nothing_waits),
        (progress.here, tr("{n} here").format(n=number(progress.here))),
    )
    line = _line(job, connection) if connection is not None and (is_wanted or job.taken_over) else ""
    return AccountWords(counts, line, progress.lid_may_close and not job.paused_because)


def _line(job: Job, connection: Connection) -> str:
    progress = account_progress(job)
    if job.paused_because:
        going_on = tr("Your account goes on collecting what it was handed. Carry on to fetch it.")
        return going_on if progress.is_used else ""
    unknown = sum(batch.state is BatchState.OUTCOME_UNKNOWN for batch in job.batches)
    missing = max(0, progress.direct + progress.to_send - unknown)
    if not missing and unknown:
        return figures.plural(
            unknown,
            "{n} batch needs you first; the others are with your account.",
            "{n} batches need you first; the others are with your account.",
        )
    if missing and progress.direct == missing and has_all_shards(job, connection):
        return tr(
            "On the Workers Free plan your account collects {most} batches of a job. CF Batch asks for the other {n}"
            " itself, while it is open."
        ).format(most=figures.number(most_batches(connection)), n=figures.number(progress.direct))
    if missing:
        return figures.plural(
            missing,
            "{n} batch is not handed over yet. Leave CF Batch open until it is.",
            "{n} batches are not handed over yet. Leave CF Batch open until they are.",
        )
    return tr(
        "All that is not here yet is with your account. You can close this computer; the answers are fetched when CF"
        " Batch is open again."
    )


class AccountPart(QWidget):
    def __init__(self) -> None:
        super().__init__()
        self._looks = tuple(map(state_words, (BatchState.PLANNED, *AnswerPlace)))
        self.figures = tuple(StateLabel("", words.icon, words.role) for words in self._looks)
        self.line = Saying("info", role="body")
        self.setLayout(column(boxed(Flow(*self.figures, gap=LARGE)), self.line, gap=SMALL))
        self.hide()

    def show_job(self, job: Job, connection: Connection | None) -> None:
        words = account_words(job, connection)
        self.setVisible(words is not None)
        if words is None:
            return
        for label, (count, text), look in zip(self.figures, words.figures, self._looks, strict=True):
            label.set_state(text, look.icon, look.role if count else "quiet")
            label.setVisible(bool(text))
        icon = ("circle-check", "done") if words.may_close else ("info", "quiet")
        self.line.set_line(words.line, *icon)
