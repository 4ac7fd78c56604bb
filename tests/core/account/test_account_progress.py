"""Where the answers of a job are, and whether this computer is still needed for them."""

from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.account.shards import AccountProgress, account_progress
from cfbatch_gui.core.jobs.states import Batch, BatchState, Job
from cfbatch_gui.core.jobs.store.ledger import Ledger
from cfbatch_gui.core.system.paths import Paths

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
    ("other", "may_close"),
    [
        (replace(HANDED_OVER, state=BatchState.DONE), True),
        (WAITING, True),
        (_BATCH, False),
        (replace(_BATCH, state=BatchState.PLANNED), False),
        (replace(AT_ONCE, state=BatchState.PLANNED), False),
        (replace(AT_ONCE, state=BatchState.SENDING), False),
        (replace(AT_ONCE, state=BatchState.DONE), True),
    ],
)
def test_the_lid_may_close_when_nothing_needs_this_computer(other: Batch, may_close: bool) -> None:
    assert account_progress(job(HANDED_OVER, other)).lid_may_close is may_close


def test_without_an_answer_to_come_there_is_nothing_to_close_the_lid_for() -> None:
    assert not account_progress(job(replace(HANDED_OVER, state=BatchState.DONE))).lid_may_close


def test_a_list_of_jobs_knows_it_too(tmp_path: Path) -> None:
    sent = job(WAITING, HANDED_OVER, replace(HANDED_OVER, direct_only=True), replace(AT_ONCE, state=BatchState.PLANNED))
    sent = replace(sent, account_problem="It has stopped.")
    paths = Paths(tmp_path)
    with closing(Ledger.open(paths)) as ledger:
        ledger.save_plan(sent, sent.batches)
    (listed,) = Ledger.listed(paths)
    assert account_progress(listed) == account_progress(sent)
    assert listed.account_problem == sent.account_problem
