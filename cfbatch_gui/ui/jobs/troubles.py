"""The errors of a job's batches, grouped for one line each."""

from dataclasses import dataclass

from cfbatch_gui.core.jobs.states import Batch, BatchState, Job
from cfbatch_gui.ui.jobs.job_summary import can_be_sent_again


@dataclass(frozen=True, slots=True)
class Trouble:
    """Batches in the same state with the same error."""

    state: BatchState
    sentence: str
    detail: str
    batches: tuple[Batch, ...]

    @property
    def is_end(self) -> bool:
        """Whether the batches ended without an answer; otherwise they wait, or some of their requests were refused."""
        return can_be_sent_again(self.batches[0])


def troubles_of(job: Job) -> list[Trouble]:
    """The errors of batches, grouped by state and error.

    Batches of unknown outcome are left out, because they have cards of their own, and so is the error for which the
    whole job is paused.
    """
    by_reason: dict[tuple[BatchState, str, str], list[Batch]] = {}
    for batch in job.batches:
        is_shown = batch.state is BatchState.OUTCOME_UNKNOWN or batch.error == job.paused_because
        if batch.error and not is_shown:
            by_reason.setdefault((batch.state, batch.error, batch.error_detail), []).append(batch)
    return [Trouble(*reason, tuple(batches)) for reason, batches in by_reason.items()]


def ranges(numbers: list[int]) -> str:
    """Ascending numbers as ranges: "2–5, 7"."""
    parts: list[list[int]] = []
    for number in numbers:
        if parts and number == parts[-1][-1] + 1:
            parts[-1].append(number)
        else:
            parts.append([number])
    return ", ".join(str(part[0]) if len(part) == 1 else f"{part[0]}–{part[-1]}" for part in parts)
