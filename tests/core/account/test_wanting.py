"""Which jobs are handed to the account, how many of their batches, and where the answers are."""

from dataclasses import replace

import pytest

from cfbatch_gui.cli.working import stopped_sentence
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.states import (
    FREE_BATCHES,
    FREE_SHARDS,
    AccountProgress,
    Batch,
    BatchState,
    Job,
    account_progress,
    goes_on_elsewhere,
    has_all_shards,
    most_batches,
    next_shard,
)
from cfbatch_gui.core.workers_ai.connection_kinds import PRACTICE
from tests.core.account.conftest import BGE_M3
from tests.support.clients import worker

ADDRESS = "https://batch.example.workers.dev"


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


_BATCH = Batch("j", 1, BatchState.QUEUED, requests=1, texts=1, bytes=10, request_id="r")
HANDED_OVER = replace(_BATCH, shard=1, handed_over_at=5.0)
WAITING = replace(HANDED_OVER, stored_bytes=7)
AT_ONCE = replace(_BATCH, at_once=True)


def job(*batches: Batch) -> Job:
    numbered = tuple(replace(batch, number=number) for number, batch in enumerate(batches, start=1))
    return Job("j", "n", Kind.EMBED, "m", "c", 0.0, is_sent=True, batches=numbered)


def test_each_batch_is_in_one_place() -> None:
    found = account_progress(
        job(
            replace(HANDED_OVER, state=BatchState.DONE),
            WAITING,
            WAITING,
            HANDED_OVER,
            replace(HANDED_OVER, direct_only=True),
            _BATCH,
            replace(_BATCH, state=BatchState.PLANNED),
            replace(_BATCH, state=BatchState.OUTCOME_UNKNOWN),
        )
    )
    assert found == AccountProgress(here=1, in_account=2, at_service=1, direct=2, to_send=2, bytes_in_account=14)


@pytest.mark.parametrize(
    ("batches", "may_close"),
    [
        ((HANDED_OVER, replace(HANDED_OVER, state=BatchState.DONE)), True),
        ((HANDED_OVER, WAITING), True),
        ((HANDED_OVER, _BATCH), False),
        ((HANDED_OVER, replace(_BATCH, state=BatchState.PLANNED)), False),
        ((HANDED_OVER, replace(AT_ONCE, state=BatchState.PLANNED)), False),
        ((HANDED_OVER, replace(AT_ONCE, state=BatchState.SENDING)), False),
        ((HANDED_OVER, replace(AT_ONCE, state=BatchState.DONE)), True),
        ((replace(HANDED_OVER, state=BatchState.DONE),), False),  # nothing is to come that it could be closed for
    ],
)
def test_the_lid_may_close_when_nothing_needs_this_computer(batches: tuple[Batch, ...], may_close: bool) -> None:
    assert account_progress(job(*batches)).lid_may_close is may_close


@pytest.mark.parametrize(
    ("known", "goes_on"),
    [
        (job(replace(_BATCH, state=BatchState.PLANNED)), False),
        (job(replace(AT_ONCE, state=BatchState.SENDING), replace(_BATCH, state=BatchState.PLANNED)), True),
        (job(_BATCH, replace(_BATCH, state=BatchState.PLANNED)), True),
        (replace(job(_BATCH), connection=PRACTICE.id), False),
    ],
)
def test_what_was_sent_goes_on_without_this_program_unless_it_is_practice(known: Job, goes_on: bool) -> None:
    assert goes_on_elsewhere(known) is goes_on
    said = stopped_sentence(known)
    assert ("at the service" in said, "on this computer" in said) == (goes_on, not goes_on)
