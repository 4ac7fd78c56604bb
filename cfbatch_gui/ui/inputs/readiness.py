"""Whether a draft can be sent, and if not, the one sentence that says why and the one thing that mends it."""

from dataclasses import dataclass
from enum import StrEnum

from PySide6.QtCore import QCoreApplication

from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.program import ConnectionFacts
from cfbatch_gui.core.workers_ai.catalogue import find_model
from cfbatch_gui.ui.inputs.draft_state import DraftState


class Cure(StrEnum):
    """What the link beside the sentence does."""

    NONE = "none"
    CONNECT = "connect"
    USE_RANKING_MODEL = "use_ranking_model"
    READ_AGAIN = "read_again"
    RUN_AT_ONCE = "run_at_once"  # nothing is wrong: an offer
    USE_QUEUE = "use_queue"


@dataclass(frozen=True, slots=True)
class Readiness:
    """`why_not` is "" when the draft can be sent. `is_waiting`: it will pass by itself."""

    why_not: str = ""
    cure: Cure = Cure.NONE
    is_waiting: bool = False


def readiness(state: DraftState, job: Job, connection: ConnectionFacts | None) -> Readiness:
    """Look at everything in the order in which the user can do something about it."""
    if state.opening:
        return Readiness(_tr("Opening {name}…").format(name=state.opening), is_waiting=True)
    if state.question is not None:
        return Readiness(_tr("Choose the encoding of {name} first.").format(name=state.question.path.name))
    if not state.has_data:
        return Readiness(_tr("Bring your data first: open a file, drop it here, or paste."))
    if state.incomplete:
        return Readiness(state.incomplete)
    if job.kind is Kind.RANK and state.kind is Kind.RANK and not find_model(job.model).can_rank:
        return Readiness(state.trouble or _tr("This model cannot rank texts in batches."), Cure.USE_RANKING_MODEL)
    if state.trouble:
        return Readiness(state.trouble, Cure.READ_AGAIN)
    if state.is_reading or state.preflight is None:
        doing = _tr("Working out what it comes to…") if state.is_read else _tr("Reading the whole file…")
        return Readiness(doing, is_waiting=True)
    if state.preflight.blocker:
        return Readiness(state.preflight.blocker)
    if state.is_saving:
        return Readiness(_tr("Saving…"), is_waiting=True)
    if connection is not None and not connection.is_ready:
        sentence = _tr("{connection}: {sentence}").format(connection=connection.title, sentence=connection.sentence)
        return Readiness(sentence, Cure.CONNECT)
    return Readiness()


def _tr(text: str) -> str:
    return QCoreApplication.translate("inputs", text)
