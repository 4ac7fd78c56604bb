"""The Worker is taken away: all of it, cut at any call, and nothing that is somebody else's."""

import pytest

from cfbatch_gui.core.errors import ReplyError, ServiceRefused, TokenRefused
from cfbatch_gui.core.worker_setup.account import State, Step, names_of, removing_calls
from cfbatch_gui.core.worker_setup.worker_setup import NotOurs, Stopped, TakenDown
from tests.account_service import SCRIPTS
from tests.core.worker_setup.conftest import Bench
from tests.support import faults

STORED = (
    "orders/a-job/1",
    "layouts/a-job/1",
    *(f"answers/a-job/1/{number}" for number in range(1, 6)),
    "answers/a-job/1/2.refusal",
    "answers/a-job/1/ended",
)
CALLS = len(removing_calls(names_of(), "{account}", keep_bucket=False)) - 2  # without those that verify the token
# Listing is three prefixes with a page and an empty one each, and a second page of answers.
MADE = (CALLS - 2) + 3 * 2 + 2 + len(STORED)


@pytest.fixture
async def standing(bench: Bench) -> Bench:
    """A Worker that was set up, with answers in its bucket."""
    await bench.set_up()
    bench.account.store(*STORED)
    bench.account.calls.clear()
    bench.shown.clear()
    return bench


async def test_all_of_it_goes_and_the_connection_stays(standing: Bench) -> None:
    taken = await standing.take_down()
    assert taken == TakenDown(worker=True, workflow=True, bucket=True, answers=len(STORED))
    assert standing.account.state == ({}, {}, {})
    assert len(standing.saved) == 1
    assert set(standing.states().values()) == {State.DONE}
    planned = {call.words for call in removing_calls(names_of(), "{account}", keep_bucket=False)}
    made = {f"{method} {path}" for method, path in standing.account.calls}
    key = "/accounts/{account}/r2/buckets/cf-batch-answers/objects/"
    assert {f"DELETE {key}{{key}}" if each.startswith(f"DELETE {key}") else each for each in made} <= planned


async def test_the_order_is_worker_workflow_answers_bucket(standing: Bench) -> None:
    await standing.take_down()
    changes = [each.rpartition("{account}/")[2] for each in standing.account.changes]
    assert changes[:2] == ["workers/scripts/cf-batch-door", "workflows/cf-batch-collect"]
    assert changes[-1] == "r2/buckets/cf-batch-answers"
    assert {each.removeprefix("r2/buckets/cf-batch-answers/objects/") for each in changes[2:-1]} == set(STORED)


async def test_the_bucket_can_stay_with_its_answers(standing: Bench) -> None:
    standing.account.permissions = frozenset((SCRIPTS,))
    taken = await standing.take_down(keep_bucket=True)
    assert taken == TakenDown(worker=True, workflow=True)
    assert standing.account.state == ({}, {}, {"cf-batch-answers": dict.fromkeys(STORED, b"{}")})
    assert not any("/r2/" in path for _, path in standing.account.calls)


async def test_a_deletion_that_is_answered_in_full_is_one_too(standing: Bench) -> None:
    standing.account.deletes_barely = False
    assert (await standing.take_down()).worker


async def test_where_nothing_is_there_nothing_is_deleted(bench: Bench) -> None:
    assert await bench.take_down() == TakenDown()
    assert all(status is not State.FAILED for status in bench.states().values())
    assert bench.account.state == ({}, {}, {})


@pytest.mark.parametrize("is_answer_lost", [True, False], ids=["after it", "before it"])
@pytest.mark.parametrize("number", [*range(1, 10), MADE - 1, MADE])
async def test_cut_at_any_call_and_done_again_it_ends_the_same(
    standing: Bench, number: int, is_answer_lost: bool
) -> None:
    cut = faults.reset_after_body(on="any", number=number, times=0, billed=True)
    standing.faulty.follow(cut if is_answer_lost else faults.reset_after_headers(on="any", number=number, times=0))
    with pytest.raises(Stopped) as caught:
        await standing.take_down()
    assert "Take it away again" in caught.value.message or "Nothing was taken away." in caught.value.message
    standing.faulty.follow()
    await standing.take_down()
    assert standing.account.state == ({}, {}, {})


async def test_the_number_of_calls_that_are_cut_is_that_of_all_calls(standing: Bench) -> None:
    await standing.take_down()
    assert len(standing.account.calls) == MADE


async def test_a_worker_of_somebody_else_stays_with_all_that_goes_with_its_name(standing: Bench) -> None:
    standing.account.foreign()
    before = standing.account.state
    with pytest.raises(Stopped, match="was not put there by this program") as caught:
        await standing.take_down()
    assert isinstance(caught.value.reason, NotOurs) and "Nothing was taken away." in caught.value.message
    assert standing.account.state == before


async def test_a_workflow_of_another_worker_stays(standing: Bench) -> None:
    theirs = {"script_name": "theirs", "class_name": "Theirs"}
    standing.account.workflows["cf-batch-collect"] = theirs
    taken = await standing.take_down()
    assert not taken.workflow and standing.account.workflows == {"cf-batch-collect": theirs}
    assert standing.states()["delete_workflow"] is State.NOT_NEEDED


@pytest.mark.parametrize(
    "key",
    [
        "holiday.jpg",
        "answers",
        "answers/",
        "answers//1",
        "answers/../../../workers/scripts/theirs",
        "answers/a-job/./1",
        "answers/a job/1/1",
        "answers/a-job/1/1?x=1",
        "answers/a-job/1/ü",
    ],
)
async def test_what_is_not_this_programs_keeps_the_bucket(standing: Bench, key: str) -> None:
    standing.account.store(key)
    with pytest.raises(Stopped, match="R2 deletes only empty ones") as caught:
        await standing.take_down()
    assert isinstance(caught.value.reason, ServiceRefused)
    assert standing.account.buckets == {"cf-batch-answers": {key: b"{}"}}
    assert standing.account.scripts == {}
    assert "Taken away are: the Worker “cf-batch-door” and the Workflow “cf-batch-collect”" in caught.value.message


async def test_a_store_that_forgets_no_key_does_not_keep_it_busy_for_ever(standing: Bench) -> None:
    class Stubborn(dict[str, bytes]):
        def __delitem__(self, key: str) -> None:
            pass

    standing.account.buckets["cf-batch-answers"] = Stubborn(dict.fromkeys(STORED, b"{}"))
    with pytest.raises(Stopped, match="still lists what it said was deleted") as caught:
        await standing.take_down()
    assert isinstance(caught.value.reason, ReplyError)


async def test_storage_that_was_switched_off_is_no_bucket(standing: Bench) -> None:
    standing.account.r2_active = False
    taken = await standing.take_down()
    assert taken == TakenDown(worker=True, workflow=True)
    assert {status for name, status in standing.states().items() if "bucket" in name} == {State.NOT_NEEDED}


async def test_a_missing_permission_is_named_before_anything_is_taken_away(standing: Bench) -> None:
    standing.account.permissions = frozenset((SCRIPTS,))
    with pytest.raises(Stopped, match=r"permission Workers R2 Storage Write .* Nothing was taken away") as caught:
        await standing.take_down()
    assert isinstance(caught.value.reason, TokenRefused)
    assert Step.READ_BUCKET.value in standing.states() and standing.account.changes == []
