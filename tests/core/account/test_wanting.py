"""Which jobs are handed to the account, and how many of their batches."""

from dataclasses import replace
from pathlib import Path

import pytest

from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.account.shards import (
    FREE_BATCHES,
    FREE_SHARDS,
    has_all_shards,
    most_batches,
    next_shard,
    wants_account,
)
from cfbatch_gui.core.jobs.states import Batch, BatchState, Job, JobOptions, JobState
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.workers_ai.connection_kinds import PRACTICE, worker
from tests.core.account.conftest import BGE_M3, inputs_of

ADDRESS = "https://batch.example.workers.dev"


@pytest.mark.parametrize("chosen", [None, True, False])
@pytest.mark.parametrize("collects", [True, False])
def test_the_job_decides_and_else_the_connection(chosen: bool | None, collects: bool) -> None:
    job = Job("job", "Texts", Kind.EMBED, BGE_M3, "worker", 0.0, options=JobOptions(collect_in_account=chosen))
    door = worker(ADDRESS, connection_id="worker", title="My Worker", collects=collects)
    assert wants_account(job, door) is (collects if chosen is None else chosen)
    assert not wants_account(job, PRACTICE)


async def test_a_draft_whose_worker_was_changed_for_another_connection_is_done(
    tmp_path: Path, rankings_file: Path
) -> None:
    program = await Program.open(tmp_path / "data", environ={}, practice_times=(0.1, 0.1))
    try:
        job = program.drafts.create(Kind.RANK, "Answers", BGE_M3, PRACTICE.id)
        program.drafts.change(job.id, options=replace(job.options, collect_in_account=True))
        inputs = inputs_of(rankings_file, Kind.RANK)
        program.drafts.load(job.id, inputs.source, inputs.mapping)
        await program.actions.send(job.id)
        assert (await program.runner.wait(job.id)).state is JobState.DONE
    finally:
        await program.close()


@pytest.mark.parametrize("has_paid_plan", [False, True])
def test_the_free_plan_takes_so_many_batches_and_no_more(has_paid_plan: bool) -> None:
    door = worker(ADDRESS, connection_id="worker", title="My Worker", collects=True, paid_plan=has_paid_plan)
    count = FREE_SHARDS * FREE_BATCHES + 1
    batches = [
        Batch("job", number, BatchState.QUEUED, 1, 1, 1, request_id=f"id-{number}", sent_at=1.0)
        for number in range(1, count + 1)
    ]
    job, handed_over = Job("job", "Texts", Kind.EMBED, BGE_M3, "worker", 0.0, is_sent=True, batches=tuple(batches)), 0
    while due := next_shard(job, door, 1_000.0):
        shard = max(batch.shard for batch in job.batches) + 1
        numbers = {batch.number for batch in due}
        taken = [replace(batch, shard=shard) if batch.number in numbers else batch for batch in job.batches]
        job, handed_over = replace(job, batches=tuple(taken)), handed_over + len(due)
    assert handed_over == min(count, most_batches(door))
    assert has_all_shards(job, door) is not has_paid_plan
