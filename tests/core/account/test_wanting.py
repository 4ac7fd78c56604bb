"""Which jobs are handed to the account, how many of their batches, and where the answers are."""

from dataclasses import replace

import pytest

from cfbatch_gui.cli.working import stopped_sentence
from cfbatch_gui.core.jobs.states import (
    FREE_BATCHES,
    FREE_SHARDS,
    AccountProgress,
    Batch,
    BatchState,
    Job,
    JobOptions,
    account_progress,
    goes_on_elsewhere,
    has_all_shards,
    most_batches,
    next_shard,
)
from cfbatch_gui.core.workers_ai.connection_kinds import PRACTICE, Connection
from cfbatch_gui.words.jobs import account_words, can_change_account, can_clear_account
from tests.support.batches import AT_ONCE, DIRECT, HANDED_OVER, HERE, PLANNED, UNKNOWN, WAITING, job_of
from tests.support.clients import worker

ADDRESS = "https://batch.example.workers.dev"


@pytest.mark.parametrize("has_paid_plan", [False, True])
def test_the_free_plan_takes_so_many_batches_and_no_more(has_paid_plan: bool) -> None:
    door = worker(ADDRESS, collects=True, paid_plan=has_paid_plan)
    count = FREE_SHARDS * FREE_BATCHES + 1
    job, handed_over = job_of(*[replace(DIRECT, sent_at=1.0)] * count), 0
    while due := next_shard(job, door, 1_000.0):
        shard = max(batch.shard for batch in job.batches) + 1
        numbers = {batch.number for batch in due}
        taken = [replace(batch, shard=shard) if batch.number in numbers else batch for batch in job.batches]
        job, handed_over = replace(job, batches=tuple(taken)), handed_over + len(due)
    assert handed_over == min(count, most_batches(door))
    assert has_all_shards(job, door) is not has_paid_plan


def test_each_batch_is_in_one_place() -> None:
    found = account_progress(
        job_of(HERE, WAITING, WAITING, HANDED_OVER, replace(HANDED_OVER, direct_only=True), DIRECT, PLANNED, UNKNOWN)
    )
    assert found == AccountProgress(here=1, in_account=2, at_service=1, direct=2, to_send=2, bytes_in_account=5_000_000)


@pytest.mark.parametrize(
    ("batches", "may_close"),
    [
        ((HANDED_OVER, HERE), True),
        ((HANDED_OVER, WAITING), True),
        ((HANDED_OVER, DIRECT), False),
        ((HANDED_OVER, PLANNED), False),
        ((HANDED_OVER, replace(AT_ONCE, state=BatchState.PLANNED)), False),
        ((HANDED_OVER, replace(AT_ONCE, state=BatchState.SENDING)), False),
        ((HANDED_OVER, replace(AT_ONCE, state=BatchState.DONE)), True),
        ((HERE,), False),  # nothing is to come that it could be closed for
    ],
)
def test_the_lid_may_close_when_nothing_needs_this_computer(batches: tuple[Batch, ...], may_close: bool) -> None:
    job, door = job_of(*batches), worker(ADDRESS, collects=True)
    assert account_progress(job).lid_may_close is may_close
    words = account_words(job, door)
    assert (words is not None and words.may_close) is may_close and (words is None or words.line)
    paused = account_words(replace(job, paused_because="The user has stopped it."), door)
    assert paused is None or not paused.may_close


@pytest.mark.parametrize(
    ("known", "goes_on"),
    [
        (job_of(PLANNED), False),
        (job_of(replace(AT_ONCE, state=BatchState.SENDING), PLANNED), True),
        (job_of(DIRECT, PLANNED), True),
        (job_of(DIRECT, connection=PRACTICE.id), False),
    ],
)
def test_what_was_sent_goes_on_without_this_program_unless_it_is_practice(known: Job, goes_on: bool) -> None:
    assert goes_on_elsewhere(known) is goes_on
    said = stopped_sentence(known)
    assert ("at the service" in said, "on this computer" in said) == (goes_on, not goes_on)


@pytest.mark.parametrize(
    ("known", "connection"),
    [
        (job_of(DIRECT), worker(ADDRESS)),
        (job_of(DIRECT), PRACTICE),
        (job_of(DIRECT), None),
        (job_of(HERE), worker(ADDRESS, collects=True)),
        (job_of(DIRECT, account_problem="It has stopped."), worker(ADDRESS, collects=True)),
        (job_of(DIRECT, options=JobOptions(collect_in_account=False)), worker(ADDRESS, collects=True)),
    ],
)
def test_nothing_is_said_where_the_account_has_nothing_to_do(known: Job, connection: Connection | None) -> None:
    assert account_words(known, connection) is None


def test_what_can_be_done_goes_by_the_job() -> None:
    at_work, over, door = job_of(HANDED_OVER), job_of(HERE), worker(ADDRESS)
    assert can_change_account(at_work, door)
    for job, connection in (
        (at_work, PRACTICE),
        (at_work, None),
        (over, door),
        (replace(at_work, taken_over=True), door),
    ):
        assert not can_change_account(job, connection)
    assert can_clear_account(over) and not can_clear_account(at_work)
    assert not can_clear_account(replace(over, account_cleared_at=1.0))
    assert not can_clear_account(replace(over, taken_over=True))
