"""The name, icon and colour of each state of a job and of a batch."""

from dataclasses import dataclass

from PySide6.QtCore import QCoreApplication

from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.states import BatchState, Job, JobState
from cfbatch_gui.core.system.languages import said
from cfbatch_gui.ui import display
from cfbatch_gui.ui.widgets import Role


def _tr(text: str) -> str:
    return QCoreApplication.translate("states", text)


@dataclass(frozen=True, slots=True)
class StateWords:
    """The name of a state with its icon and colour role. `icon` is "" where a list shows the name alone."""

    text: str
    icon: str
    role: Role


def kind_icon(kind: Kind) -> str:
    """The icon of a kind of job."""
    return "list-ordered" if kind is Kind.RANK else "waypoints"


def batch_words(state: BatchState) -> StateWords:
    """The name, icon and colour of a batch's state."""
    texts: dict[BatchState, tuple[str, str, Role]] = {
        BatchState.PLANNED: (_tr("Waiting to be sent"), "circle-dashed", "quiet"),
        BatchState.SENDING: (_tr("Sending"), "send", "accent"),
        BatchState.QUEUED: (_tr("Queued"), "clock", "quiet"),
        BatchState.RUNNING: (_tr("Running"), "loader", "accent"),
        BatchState.COLLECTING: (_tr("Collecting"), "download", "accent"),
        BatchState.DONE: (_tr("Done"), "circle-check", "done"),
        BatchState.FAILED: (_tr("Failed"), "circle-x", "error"),
        BatchState.GONE: (_tr("No longer known"), "circle-x", "error"),
        BatchState.OUTCOME_UNKNOWN: (_tr("Outcome unknown"), "triangle-alert", "attention"),
        BatchState.DISMISSED: (_tr("Laid to rest"), "ban", "quiet"),
    }
    return StateWords(*texts[state])


def job_words(state: JobState) -> StateWords:
    """The name, icon and colour of a job's state, for the header of its page."""
    texts: dict[JobState, tuple[str, str, Role]] = {
        JobState.DRAFT: (_tr("Draft"), "pencil", "quiet"),
        JobState.WAITING: (_tr("Waiting to be sent"), "clock", "quiet"),
        JobState.WORKING: (_tr("Running"), "loader", "accent"),
        JobState.PAUSED: (_tr("Paused"), "pause", "attention"),
        JobState.OUTCOME_UNKNOWN: (_tr("Outcome unknown"), "triangle-alert", "attention"),
        JobState.DONE: (_tr("Finished"), "circle-check", "done"),
        JobState.PARTLY_DONE: (_tr("Finished in part"), "triangle-alert", "attention"),
        JobState.FAILED: (_tr("Failed"), "circle-x", "error"),
    }
    return StateWords(*texts[state])


def amount(job: Job) -> str:
    """The size of a job: "212 queries", "18,204 texts", or "begun elsewhere" before an attached job is answered."""
    if job.attached and not job.texts:
        return _tr("begun elsewhere")
    if job.kind is Kind.RANK:
        return display.plural(job.queries, "{n} query", "{n} queries")
    return display.plural(job.texts, "{n} text", "{n} texts")


def library_words(job: Job, now: float) -> StateWords:
    """The second line of a job in the sidebar: its error if it has one, else its state, finished batches and age."""
    state = job.state
    plain = job_words(state)
    if state is JobState.DRAFT:
        return StateWords(_tr("Ready to send") if job.texts else _tr("Draft"), "", "quiet")
    if state is JobState.DONE:
        return StateWords(f"{amount(job)} · {display.age(job.finished_at or job.sent_at, now)}", "", "quiet")
    if state is JobState.WORKING:
        pattern = _tr("{done} of {n} batch") if len(job.batches) == 1 else _tr("{done} of {n} batches")
        parts = pattern.format(done=display.number(job.batches_done), n=display.number(len(job.batches)))
        since = display.short_duration(now - job.sent_at) if job.sent_at else ""
        text = " · ".join(filter(None, (parts, since)))
        return StateWords(text, plain.icon, plain.role)
    if state in (JobState.FAILED, JobState.PARTLY_DONE, JobState.PAUSED) and job.error:
        return StateWords(said(job.error), plain.icon, plain.role)
    return plain
