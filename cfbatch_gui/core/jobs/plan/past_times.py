"""How long a job may take, by the times that earlier ones took."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.states import Job, JobState

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
