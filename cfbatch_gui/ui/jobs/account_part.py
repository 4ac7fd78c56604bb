"""What the user's account has of a job: where the answers are, and whether this computer is needed meanwhile."""

from dataclasses import dataclass

from PySide6.QtWidgets import QWidget

from cfbatch_gui.core.jobs.account.shards import (
    account_progress,
    has_all_shards,
    has_copies,
    most_batches,
    wants_account,
)
from cfbatch_gui.core.jobs.states import BatchState, Job
from cfbatch_gui.core.workers_ai.connection_kinds import Connection, ConnectionKind
from cfbatch_gui.ui import display
from cfbatch_gui.ui.display import tr
from cfbatch_gui.ui.jobs.job_summary import is_over
from cfbatch_gui.ui.state_names import AnswerPlace, batch_words, place_words
from cfbatch_gui.ui.theme import LARGE, SMALL
from cfbatch_gui.ui.widgets import Flow, IconLine, StateLabel, boxed, column


@dataclass(frozen=True, slots=True)
class AccountWords:
    """What there is to say of a job and the account. `line` is "" where the figures say all; `may_close` marks it."""

    # To be sent, at the service, waiting in the account, here: each as number and words, "" where it is not shown.
    figures: tuple[tuple[int, str], ...]
    line: str = ""
    may_close: bool = False


def can_change_account(job: Job, connection: Connection | None) -> bool:
    """Whether the user can say who asks for the answers of a job that was sent."""
    is_worker = connection is not None and connection.kind is ConnectionKind.WORKER
    return is_worker and job.is_sent and not is_over(job) and not job.taken_over


def can_clear_account(job: Job) -> bool:
    """Whether the account may still have copies of a job that is over."""
    return is_over(job) and has_copies(job)


def account_words(job: Job, connection: Connection | None) -> AccountWords | None:
    """The figures and the sentence for a job at work; None for one that the account has nothing to do with."""
    progress = account_progress(job)
    is_wanted = connection is not None and wants_account(job, connection) and not job.account_problem
    if is_over(job) or not (progress.is_used or is_wanted):
        return None
    at_service, number = progress.at_service + progress.direct, display.number
    waiting = tr("{n} waiting in your account · {size}").format(
        n=number(progress.in_account), size=display.size(progress.bytes_in_account)
    )
    nothing_waits = tr("{n} waiting in your account").format(n=number(0))
    to_send = tr("{n} waiting to be sent").format(n=number(progress.to_send))
    figures = (
        (progress.to_send, to_send if progress.to_send else ""),
        (at_service, tr("{n} at the service").format(n=number(at_service))),
        (progress.in_account, waiting if progress.in_account else nothing_waits),
        (progress.here, tr("{n} here").format(n=number(progress.here))),
    )
    line = _line(job, connection) if connection is not None and (is_wanted or job.taken_over) else ""
    return AccountWords(figures, line, progress.lid_may_close and not job.paused_because)


def _line(job: Job, connection: Connection) -> str:
    progress = account_progress(job)
    if job.paused_because:
        return (
            tr("Your account goes on collecting what it was handed. Carry on to fetch it.") if progress.is_used else ""
        )
    unknown = sum(batch.state is BatchState.OUTCOME_UNKNOWN for batch in job.batches)
    away = progress.in_account + progress.at_service
    missing = max(0, progress.direct + progress.to_send - unknown)
    total = progress.here + away + missing + unknown
    if not missing and unknown:
        return display.plural(
            unknown,
            "{n} batch needs you first; the others are with your account.",
            "{n} batches need you first; the others are with your account.",
        )
    if missing and progress.direct == missing and has_all_shards(job, connection):
        return tr(
            "On the Workers Free plan your account collects {most} batches of a job. CF Batch asks for the other {n}"
            " itself, while it is open."
        ).format(most=display.number(most_batches(connection)), n=display.number(progress.direct))
    if missing:
        pattern = tr("{missing} of {n} batches are not handed over yet. Leave CF Batch open until they are.")
        if missing == 1:
            pattern = tr("{missing} of {n} batches is not handed over yet. Leave CF Batch open until it is.")
        if total == 1:
            pattern = tr("The batch is not handed over yet. Leave CF Batch open until it is.")
        return pattern.format(missing=display.number(missing), n=display.number(total))
    if progress.here:
        return tr(
            "All batches that are not here yet are with your account. You can close this computer; the answers are"
            " fetched when CF Batch is open again."
        )
    return display.plural(
        away,
        "The batch is with your account. You can close this computer; the answer is fetched when CF Batch is open"
        " again.",
        "All {n} batches are with your account. You can close this computer; the answers are fetched when CF Batch is"
        " open again.",
    )


class AccountPart(QWidget):
    """The figures of where the answers are, and below them the sentence."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        planned = batch_words(BatchState.PLANNED)
        places = [place_words(place) for place in AnswerPlace]
        self.figures = tuple(StateLabel("", words.icon, words.role) for words in (planned, *places))
        self._looks = tuple((words.icon, words.role) for words in (planned, *places))
        self.line = IconLine("", "info", "body")
        self.setLayout(column(boxed(Flow(*self.figures, gap=LARGE)), self.line, gap=SMALL))
        self.hide()

    def show_job(self, job: Job, connection: Connection | None) -> None:
        """Show a job, or nothing where the account has nothing to do with it."""
        words = account_words(job, connection)
        self.setVisible(words is not None)
        if words is None:
            return
        for label, (count, text), (icon_name, role) in zip(self.figures, words.figures, self._looks, strict=True):
            label.set_state(text, icon_name, role if count else "quiet")
            label.setVisible(bool(text))
        icon = ("circle-check", "done") if words.may_close else ("info", "quiet")
        self.line.set_line(words.line, *icon)
        self.line.setVisible(bool(words.line))
