"""What a check of a job's data has found."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from importlib import import_module

from cfbatch_gui.core.job_folder.schema import NOT_SENT
from cfbatch_gui.core.jobs.states import Batch, BatchState, Job
from cfbatch_gui.core.jobs.store.job_store import JobStore
from cfbatch_gui.core.messages import message


class Damage(StrEnum):
    """What is damaged; the values are those of `cfbatch verify --json`."""

    DATA = "data"  # data.db itself
    INPUTS = "inputs"  # the texts, or which of them went where
    RESULTS = "results"  # scores or vectors, or whether they are there
    VECTOR_FILE = "vector_file"  # missing, cut short or misshapen
    ANSWER = "answer"  # a raw answer


class Outcome(StrEnum):
    """What became of it; the values are those of `cfbatch verify --json`."""

    HEALED = "healed"
    HEALABLE = "healable"  # with `mend`
    WHOLE = "whole"  # the results are; only their answer is not
    LOST = "lost"  # on this computer


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is damaged. `batch` is 0 for what belongs to no batch, `rows` are those of the user's file."""

    damage: Damage
    batch: int
    rows: tuple[int, ...]
    outcome: Outcome
    sentence: str
    detail: str = ""

    @property
    def is_lost(self) -> bool:
        return self.outcome is Outcome.LOST


@dataclass(frozen=True, slots=True)
class Lost:
    """Requests of a batch whose results were taken out; the batch is NOT_SENT for what an earlier job had.

    `may_ask`: the service can be asked for the batch again.
    """

    batch: int
    requests: int
    may_ask: bool


@dataclass(frozen=True, slots=True)
class JobCheck:
    """All that was found of one job; `lost` is what the ledger has to learn of, see `asked_for_again`."""

    job_id: str
    name: str
    findings: tuple[Finding, ...] = ()
    lost: tuple[Lost, ...] = ()

    @property
    def is_whole(self) -> bool:
        return not self.findings

    @property
    def is_mended(self) -> bool:
        return all(finding.outcome is Outcome.HEALED for finding in self.findings)


def asked_for_again(job: Job, check: JobCheck) -> Job:
    """The job after `check` has taken lost results out. For `Ledger.change`.

    Their batches wait at the service, to be asked for once more, or hold failed requests, which can be sent again.
    """
    lost = {each.batch: each for each in check.lost}

    def changed(batch: Batch) -> Batch:
        found = lost.get(batch.number)
        if found is None or batch.state is not BatchState.DONE:
            return batch
        if found.may_ask:
            because = message("Its results were damaged on the disk. The service is asked for them again.")
            return replace(batch, state=BatchState.QUEUED, next_check_at=0.0, error=because, error_detail="")
        because = message(
            "The results of {lost:,} of {all:,} requests were lost on the disk.",
            lost=found.requests,
            all=batch.requests,
        )
        failed = min(batch.requests, batch.failed_requests + found.requests)
        return replace(batch, failed_requests=failed, error=because, error_detail="")

    if not lost:
        return job
    is_waiting = any(each.may_ask for each in check.lost)
    taken = lost[NOT_SENT].requests if NOT_SENT in lost else 0
    return replace(
        job,
        finished_at=0.0 if is_waiting else job.finished_at,
        reused_lost=job.reused_lost + taken,
        batches=tuple(map(changed, job.batches)),
    )


async def check_results(store: JobStore, jobs: Sequence[Job]) -> list[str]:
    """Put right what can be, and have the rest asked for again, before jobs are resumed; sentences about what was lost.
    Its work runs in a thread.
    """
    last_written = await asyncio.to_thread(import_module, "cfbatch_gui.core.jobs.verifying")
    checks: tuple[JobCheck, ...] = await asyncio.to_thread(last_written.check_last_written, jobs, store.folder)
    for check in checks:
        if check.lost:
            await store.change(check.job_id, lambda known, check=check: asked_for_again(known, check))  # type: ignore[misc]
    return [
        message("{job}: {sentence}", job=check.name, sentence=found.sentence)
        for check in checks
        if not check.is_mended
        for found in check.findings
        if found.is_lost
    ]
