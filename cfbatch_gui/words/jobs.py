"""What both faces say of a job: its line in a list, its facts, size, price and time, and what the account has of it."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.job_folder.folder import JobFolder
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
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.workers_ai.catalogue import find_model, price
from cfbatch_gui.core.workers_ai.connection_kinds import Connection, ConnectionKind
from cfbatch_gui.words import figures, states
from cfbatch_gui.words.figures import told
from cfbatch_gui.words.languages import said, tr

if TYPE_CHECKING:
    from cfbatch_gui.core.jobs.elsewhere import AccountJob

_DAY = 86_400.0  # seconds
_LEAST = 0.001  # dollars; a lower price is shown as "under" it


def is_over(job: Job) -> bool:
    return job.is_sent and all(batch.state.is_final for batch in job.batches)


def size_words(job: Job, planned: Planned) -> str:
    """ "212 queries × 18 candidates", "212 queries · 3,816 candidates" if they differ, "18,204 texts"."""
    if job.kind is Kind.EMBED or not job.queries:
        return states.amount(job)
    pattern = tr("{queries} × {contexts}") if planned.contexts_each else tr("{queries} · {contexts}")
    contexts = figures.plural(planned.contexts_each or job.texts, "{n} candidate", "{n} candidates")
    return pattern.format(queries=states.amount(job), contexts=contexts)


def summary_words(job: Job, planned: Planned) -> tuple[str, ...]:
    took = ""
    if job.state in (JobState.DONE, JobState.PARTLY_DONE) and job.finished_at:
        took = tr("finished in {time}").format(time=figures.duration(max(1.0, job.finished_at - job.sent_at)))
    taken = (tr("{n} from earlier jobs").format(n=figures.number(job.reused)),) if job.reused else ()
    if states.is_practice(job):
        return size_words(job, planned), *taken, tr("Practice"), took
    model, words = states.short_model(job), price_words(job, planned)
    return size_words(job, planned), *taken, model, took, words, *_account_words(job)


def _account_words(job: Job) -> tuple[str, ...]:
    if is_over(job):
        return (tr("copies in your account"),) if has_copies(job) else ()
    progress = account_progress(job)
    if not progress.in_account:
        return ()
    pattern = tr("{n} in your account, {size}")
    return (pattern.format(n=figures.number(progress.in_account), size=figures.size(progress.bytes_in_account)),)


def price_words(job: Job, planned: Planned) -> str:
    if states.is_practice(job):
        return ""
    if is_over(job) and (job.tokens or not job.batches):
        return figures.prices(price(job.tokens, find_model(job.model)))
    return _expected(job, planned, 1.0) if planned.tokens else ""


def batch_price_words(job: Job, batch: Batch, planned: Planned) -> str:
    texts = sum(each.texts for each in job.batches)
    if states.is_practice(job) or not planned.tokens or not texts:
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
    """`line` is "" where the counts say all; `may_close` marks it."""

    counts: tuple[tuple[int, str], ...]
    line: str = ""
    may_close: bool = False


def can_change_account(job: Job, connection: Connection | None) -> bool:
    is_worker = connection is not None and connection.kind is ConnectionKind.WORKER
    return is_worker and job.is_sent and not is_over(job) and not job.taken_over


def can_clear_account(job: Job) -> bool:
    return is_over(job) and has_copies(job)


def account_counts(job: Job) -> tuple[tuple[int, str], ...]:
    """Batches to be sent, at the service, waiting in the account and here, each as number and words."""
    progress, number = account_progress(job), figures.number
    at_service = progress.at_service + progress.direct
    waiting = tr("{n} waiting in your account").format(n=number(progress.in_account))
    if progress.in_account:
        waiting += f" · {figures.size(progress.bytes_in_account)}"
    return (
        (progress.to_send, tr("{n} waiting to be sent").format(n=number(progress.to_send))),
        (at_service, tr("{n} at the service").format(n=number(at_service))),
        (progress.in_account, waiting),
        (progress.here, tr("{n} here").format(n=number(progress.here))),
    )


def account_line(job: Job) -> str:
    """ "3 at the service · 1 waiting in your account · 2.5 MB"; "" where the account has nothing to do with it."""
    if not (job.account_problem or states.is_collected(job)):
        return ""
    counts = [text for count, text in account_counts(job) if count]
    return " · ".join((*counts, tr("stopped", "collecting")) if job.account_problem else counts)


def account_words(job: Job, connection: Connection | None) -> AccountWords | None:
    """The counts and the sentence for a job at work; None for one that the account has nothing to do with."""
    progress = account_progress(job)
    is_wanted = connection is not None and wants_account(job, connection) and not job.account_problem
    if is_over(job) or not (progress.is_used or is_wanted):
        return None
    line = _line(job, connection) if connection is not None and (is_wanted or job.taken_over) else ""
    return AccountWords(account_counts(job), line, progress.lid_may_close and not job.paused_because)


def _line(job: Job, connection: Connection) -> str:
    progress = account_progress(job)
    if job.paused_because:
        return told("account_goes_on_carry_on") if progress.is_used else ""
    unknown = sum(batch.state is BatchState.OUTCOME_UNKNOWN for batch in job.batches)
    missing = max(0, progress.direct + progress.to_send - unknown)
    if not missing and unknown:
        return told("n_batches_need_you_first", n=unknown)
    if missing and progress.direct == missing and has_all_shards(job, connection):
        return told("free_account_collects_most_batches", most=most_batches(connection), n=progress.direct)
    if missing:
        return told("n_batches_not_handed_over_yet", n=missing)
    return told("all_is_with_your_account")


def list_row(job: Job, title: str) -> tuple[tuple[str, str], ...]:
    """A job in a list: the name of each column and the words in it. `title` is its connection's.

    The terminal's table has them side by side, the window's list in a tip below each other.
    """
    done, batches = figures.number(job.batches_done), figures.number(len(job.batches))
    return (
        (tr("Job"), job.id),
        (tr("State"), states.words_of_job(job).text),
        (tr("Kind"), states.kind_words(job.kind)),
        (tr("Batches"), f"{done}/{batches}" if job.batches else ""),
        (tr("In your account"), "" if is_over(job) else account_line(job)),
        (tr("Connection"), said(title)),
        (tr("Made"), figures.moment(job.created_at)),
        (tr("Tags"), ", ".join(job.tags)),
        (tr("Name"), job.name),
    )


def account_columns() -> tuple[tuple[str, "Callable[[AccountJob, Job | None], str]"], ...]:
    """The columns of a list of jobs in the account, with the words of each for a job that is here, or not."""
    return (
        (tr("Job"), lambda found, _: found.title),
        (tr("Kind"), lambda found, _: states.kind_words(found.kind)),
        (tr("Batches"), lambda found, _: figures.number(found.batches)),
        (tr("Handed over"), lambda found, _: figures.moment(found.at)),
        (tr("On this computer"), lambda _, here: states.words_of_job(here).text if here else tr("not here")),
    )


def facts(
    job: Job,
    planned: Planned,
    connection: Connection | None,
    folder: JobFolder,
    now: float,
    *,
    taken_from: str = "",
    for_developers: bool = True,
) -> tuple[tuple[str, str], ...]:
    """All that is known of a job without its results: labels and words, "" for what there is none of.

    `taken_from` are the names of the jobs that results were taken from, `now` is in seconds since 1970.
    """
    title = said(connection.title if connection is not None else message("connection_was_removed"))
    if states.is_practice(job):
        title = tr("{title}: on this computer, by a small model in place of Cloudflare's").format(title=title)
    moments = ((tr("Made"), job.created_at), (tr("Sent"), job.sent_at))
    return (
        (tr("Name"), job.name),
        (tr("State"), states.words_of_job(job).text),
        (tr("Kind"), states.kind_words(job.kind)),
        (tr("Connection"), title),
        (tr("Model"), f"{said(find_model(job.model).title)} · {job.model}"),
        (tr("Options"), _options(job)),
        (tr("Size"), size_words(job, planned)),
        (tr("Source"), _source(job)),
        (tr("SHA-256 of the file"), job.source_sha256 if for_developers else ""),
        (tr("Rows left out"), _left_out(job, planned)),
        (tr("Doubtful rows"), _doubtful(planned)),
        (tr("From earlier jobs"), " · ".join(filter(None, (_count(job.reused), taken_from)))),
        *((label, figures.moment(at)) for label, at in moments),
        (tr("Finished"), _finished(job)),
        (tr("Tokens expected"), token_words(job, planned)),
        (tr("Tokens counted"), _count(job.tokens)),
        (tr("Price"), _price(job, planned)),
        (tr("In your account"), _in_account(job, connection, now)),
        (tr("Problem"), said(job.account_problem)),
        (tr("Error"), said(job.error)),
        (tr("Job"), job.id),
        (tr("Folder"), str(folder.path)),
    )


def _count(count: int) -> str:
    return figures.number(count) if count else ""


def _options(job: Job) -> str:
    found = [
        tr("texts that are too long are cut")
        if job.options.truncate_inputs
        else tr("texts that are too long are left out")
    ]
    if job.kind is Kind.EMBED and job.options.pooling:
        found.append(tr("pooling {name}").format(name=job.options.pooling))
    return " · ".join(found)


def _source(job: Job) -> str:
    if not job.source_name:
        return ""
    parts = [job.source_name, figures.plural(job.rows_in, "{n} row", "{n} rows")]
    if job.texts_forgotten_at:
        parts.append(tr("texts removed {when}").format(when=figures.moment(job.texts_forgotten_at)))
    return " · ".join(parts)


def _left_out(job: Job, planned: Planned) -> str:
    if not planned.doubtful:
        return _count(job.problems)
    return tr("{count}, of which {doubtful} may have been misread").format(
        count=_count(job.problems), doubtful=figures.number(planned.doubtful)
    )


def _doubtful(planned: Planned) -> str:
    if not planned.doubtful_sent:
        return ""
    return figures.plural(planned.doubtful_sent, "{n}, sent as it was read", "{n}, sent as they were read")


def _finished(job: Job) -> str:
    if not job.finished_at:
        return ""
    took = tr("after {time}").format(time=figures.duration(max(1.0, job.finished_at - job.sent_at)))
    return f"{figures.moment(job.finished_at)} · {took}"


def _price(job: Job, planned: Planned) -> str:
    if states.is_practice(job):
        return tr("nothing, practice is free")
    shown = price_words(job, planned)
    return tr("{price}, before what is free each day").format(price=shown) if shown else ""


def _in_account(job: Job, connection: Connection | None, now: float) -> str:
    """Where the answers are while they come; afterwards how long the account keeps its copies."""
    if not is_over(job) or not states.is_collected(job):
        return account_line(job)
    handed = sum(bool(batch.handed_over_at) for batch in job.batches)
    if job.taken_over:
        return told("n_batches_taken_over", n=handed)
    parts = [figures.plural(handed, "{n} batch handed over", "{n} batches handed over")]
    if job.account_cleared_at:
        parts.append(tr("copies deleted {when}").format(when=figures.moment(job.account_cleared_at)))
    elif connection is not None:
        until = job.finished_at + connection.keep_days * _DAY
        is_due = until <= now
        kept = tr("copies kept until {when}").format(when=figures.moment(until))
        parts.append(tr("copies are deleted at the next start") if is_due else kept)
    return " · ".join(parts)


_KNOWN_WORDS = ("", "queued", "running")


def note_of(batch: Batch) -> tuple[str, states.Role]:
    """What is said of a batch beside its state, and the role of its colour."""
    if batch.error:
        return said(batch.error), "attention"
    if batch.is_in_account:
        return figures.size(batch.stored_bytes), "quiet"
    if batch.state.is_at_service and batch.service_word not in _KNOWN_WORDS:
        return tr("The service says: {word}").format(word=batch.service_word), "attention"
    return "", "quiet"


def batch_row(batch: Batch, job: Job) -> tuple[tuple[str, str], ...]:
    """A batch in a list of the terminal's: the name of each column and the words in it."""
    return (
        (tr("Batch"), figures.number(batch.number)),
        (tr("State"), states.words_of_batch(batch, job).text),
        (tr("Requests"), figures.number(batch.requests)),
        (tr("Size"), figures.size(batch.bytes)),
        (tr("Request ID"), batch.request_id),
        (tr("Note"), note_of(batch)[0]),
    )


def progress_words(batches: Sequence[Batch]) -> str:
    """ "2 of 5 batches done · Running: 2 · Waiting to be sent: 1", the service's own words, and why one waits."""
    counts = Counter(states.words_of_batch(batch, None).text for batch in batches)
    done = figures.number(sum(batch.state is BatchState.DONE for batch in batches))
    parts = [figures.plural(len(batches), "{done} of {n} batch done", "{done} of {n} batches done", done=done)]
    for words in states.state_texts():
        if counts[words] and words != states.state_words(BatchState.DONE).text:
            parts.append(f"{words}: {figures.number(counts[words])}")
    notes = (note_of(batch)[0] for batch in batches if not (batch.state.is_final or batch.is_in_account))
    return " · ".join((*parts, *dict.fromkeys(filter(None, notes))))
