"""Batches by where their answers are, and a job that was sent with them."""

from dataclasses import replace
from typing import Any, Final

from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.states import Batch, BatchState, Job

DIRECT: Final = Batch("j1", 1, BatchState.QUEUED, requests=1, texts=1, bytes=10, request_id="r")
HANDED_OVER: Final = replace(DIRECT, shard=1, handed_over_at=5.0)
WAITING: Final = replace(HANDED_OVER, stored_bytes=2_500_000)
HERE: Final = replace(HANDED_OVER, state=BatchState.DONE)
UNKNOWN: Final = replace(DIRECT, state=BatchState.OUTCOME_UNKNOWN)
PLANNED: Final = replace(DIRECT, state=BatchState.PLANNED)
AT_ONCE: Final = replace(DIRECT, at_once=True)


def job_of(*batches: Batch | BatchState, **changes: Any) -> Job:
    """A state stands for a batch in it that the program asks for."""
    made = (replace(DIRECT, state=each) if isinstance(each, BatchState) else each for each in batches)
    numbered = tuple(replace(batch, number=number) for number, batch in enumerate(made, start=1))
    job = Job("j1", "n", Kind.RANK, "m", "door", 0.0, is_sent=True, batches=numbered)
    return replace(job, **changes)
