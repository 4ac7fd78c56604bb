"""The name, icon and colour of each state of a job and of a batch: the same on its page and in the list of jobs."""

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Literal

from cfbatch_gui.core.errors import UserError
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.states import Batch, BatchState, Job, JobState, account_progress
from cfbatch_gui.core.messages import Message, message
from cfbatch_gui.core.workers_ai.connection_kinds import PRACTICE, Connection
from cfbatch_gui.words import figures
from cfbatch_gui.words.languages import said, tr

if TYPE_CHECKING:
    from cfbatch_gui.core.program import Program

Role = Literal[
    "body", "quiet", "small", "strong", "accent", "attention", "done", "error", "part", "title", "figure", "display"
]


@dataclass(frozen=True, slots=True)
class StateWords:
    text: str
    icon: str
    role: Role


class DraftPhase(StrEnum):
    """How far a draft is; its page knows, and the ledger does not."""

    EMPTY = "empty"
    READING = "reading"  # its file is opened, read or examined
    INCOMPLETE = "incomplete"  # something is still to be chosen, or reading failed
    READY = "ready"


class AnswerPlace(StrEnum):
    AT_SERVICE = "at_service"
    IN_ACCOUNT = "in_account"
    HERE = "here"


# The words of a queued or running batch, and those of a job at work, are not the same.
_WORDS: dict[type[StrEnum], dict[StrEnum, tuple[str, str, Role]]] = {
    BatchState: {
        BatchState.PLANNED: (message("waiting_be_sent"), "circle-dashed", "quiet"),
        BatchState.SENDING: (message("sending_2"), "send", "accent"),
        BatchState.QUEUED: (message("queued_2"), "clock", "quiet"),
        BatchState.RUNNING: (message("running_2"), "loader", "accent"),
        BatchState.COLLECTING: (message("collecting_2"), "download", "accent"),
        BatchState.DONE: (message("done_2"), "circle-check", "done"),
        BatchState.FAILED: (message("failed_2"), "circle-x", "error"),
        BatchState.GONE: (message("no_longer_known"), "circle-x", "error"),
        BatchState.OUTCOME_UNKNOWN: (message("outcome_unknown_2"), "triangle-alert", "attention"),
        BatchState.DISMISSED: (message("set_aside"), "ban", "quiet"),
    },
    AnswerPlace: {
        AnswerPlace.AT_SERVICE: (message("service_2"), "cloud", "quiet"),
        AnswerPlace.IN_ACCOUNT: (message("waiting_your_account_2"), "inbox", "accent"),
        AnswerPlace.HERE: (message("here"), "circle-check", "done"),
    },
    DraftPhase: {
        DraftPhase.EMPTY: (message("draft_2"), "pencil", "quiet"),
        DraftPhase.READING: (message("reading"), "loader", "quiet"),
        DraftPhase.INCOMPLETE: (message("draft_2"), "pencil", "quiet"),
        DraftPhase.READY: (message("ready_send"), "pencil", "quiet"),
    },
    JobState: {
        JobState.WAITING: (message("waiting_be_sent"), "clock", "quiet"),
        JobState.WORKING: (message("running_2"), "loader", "accent"),
        JobState.PAUSED: (message("paused_2"), "pause", "attention"),
        JobState.OUTCOME_UNKNOWN: (message("outcome_unknown_2"), "triangle-alert", "attention"),
        JobState.DONE: (message("finished"), "circle-check", "done"),
        JobState.PARTLY_DONE: (message("finished_part"), "triangle-alert", "attention"),
        JobState.FAILED: (message("failed_2"), "circle-x", "error"),
    },
}


def state_words(state: BatchState | AnswerPlace | DraftPhase | JobState) -> StateWords:
    text, icon, role = _WORDS[type(state)][state]
    return StateWords(said(text), icon, role)


def kept_phase(job: Job) -> DraftPhase:
    return DraftPhase.READY if job.texts else DraftPhase.EMPTY


def kind_words(kind: Kind) -> str:
    return tr("Ranking") if kind is Kind.RANK else tr("Vectors")


def is_collected(job: Job) -> bool:
    return any(batch.handed_over_at for batch in job.batches)


def state_texts() -> list[str]:
    """All that may be said of a batch."""
    return [state_words(state).text for state in (*BatchState, *AnswerPlace)]


def place_of(batch: Batch) -> AnswerPlace | None:
    """None for a batch that the account does not collect, or whose answer is here."""
    if not batch.is_handed_over or batch.state is BatchState.COLLECTING:
        return None
    return AnswerPlace.IN_ACCOUNT if batch.is_in_account else AnswerPlace.AT_SERVICE


def words_of_batch(batch: Batch, job: Job | None) -> StateWords:
    if place := place_of(batch):
        return state_words(place)
    if batch.state is BatchState.DONE and job is not None and is_collected(job):
        return state_words(AnswerPlace.HERE)
    return state_words(batch.state)


def words_of_job(job: Job, phase: DraftPhase = DraftPhase.EMPTY) -> StateWords:
    """The state of a job; where its answers are, once only the user's account is needed until they are fetched."""
    state = job.state
    progress = account_progress(job) if state is JobState.WORKING else None
    if progress is None or not progress.lid_may_close:
        return state_words(phase if state is JobState.DRAFT else state)
    words = state_words(AnswerPlace.IN_ACCOUNT if progress.in_account else AnswerPlace.AT_SERVICE)
    return replace(words, role="accent")


def amount(job: Job) -> str:
    """ "212 queries", "18,204 texts", or "begun elsewhere" before an attached job is answered."""
    if job.attached and not job.texts:
        return tr("begun elsewhere")
    if job.kind is Kind.RANK:
        return figures.plural(job.queries, "{n} query", "{n} queries")
    return figures.plural(job.texts, "{n} text", "{n} texts")


def library_words(job: Job, now: float, phase: DraftPhase = DraftPhase.EMPTY) -> StateWords:
    """The second line of a job in the sidebar: its state, and after it the error, the finished batches or the age."""
    plain = words_of_job(job, phase)
    return replace(plain, text=" · ".join(filter(None, (plain.text, *_details(job, job.state, now)))))


def _details(job: Job, state: JobState, now: float) -> tuple[str, ...]:
    if state is JobState.DONE:
        return figures.age(job.finished_at or job.sent_at, now), amount(job)
    if state is JobState.WORKING:
        pattern = tr("{done} of {n} batch") if len(job.batches) == 1 else tr("{done} of {n} batches")
        if is_collected(job):
            pattern = tr("{done} of {n} here")
        parts = pattern.format(done=figures.number(job.batches_done), n=figures.number(len(job.batches)))
        return parts, figures.short_duration(now - job.sent_at) if job.sent_at else ""
    if state in (JobState.FAILED, JobState.PARTLY_DONE, JobState.PAUSED):
        return (said(job.error),)
    return ()


def is_practice(job: Job) -> bool:
    return job.connection == PRACTICE.id


def short_model(job: Job) -> str:
    """The model without its publisher: "bge-m3"."""
    return job.model.rsplit("/", 1)[-1]


def connection_of(program: "Program", job: Job) -> Connection | None:
    try:
        return program.address_book.connection(job.connection)
    except UserError:
        return None


def connection_title(program: "Program", job: Job) -> str:
    return program.address_book.title(job.connection)


def title_words(title: str) -> str:
    return said(title) if isinstance(title, Message) else title
