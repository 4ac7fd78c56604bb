"""The workflow asks until everything is answered, refused or given up, through failures and kills."""

import json
import threading
from collections.abc import Sequence

import pytest

from tests.worker.collecting_room import Batches, Room, order
from tests.worker.scripted_service import QUEUED, Reply, refusal

ANSWER = Reply(b'{"responses":[]}')
EIGHT_DAYS = 8 * 24 * 60 * 60


def hand_over_without_waits(room: Room, batches: Batches, **changes: object) -> str:
    """Hand over with the longest waits, of which none is waited for."""
    shard = room.new_shard()
    room.order_harness("skipWaits", shard)
    waits = {"first_wait": 3600, "longest_wait": 86_400}
    assert room.hand_over(shard, batches, **waits, **changes).status_code == 200
    return shard


def waits_until_given_up(first: float, longest: float) -> int:
    """How many waits sum up to eight days."""
    waited, wait, count = 0.0, first, 0
    while waited < EIGHT_DAYS:
        waited, wait, count = waited + wait, min(wait * 1.3, longest), count + 1
    return count


def numbers(said: dict[str, object]) -> list[int]:
    batches = said["batches"]
    assert isinstance(batches, list)
    return [batch["number"] for batch in batches]


def test_a_batch_is_asked_for_until_it_is_done(room: Room) -> None:
    room.service.script("slow", QUEUED, Reply(b'{"status":"running"}'), QUEUED, ANSWER)
    shard = room.collect([(1, "slow")])
    assert room.service.asked["slow"] == 4
    assert numbers(room.state(shard)) == [1]


def test_what_passes_is_waited_out(room: Room) -> None:
    passing = [
        refusal(3040, 429),
        refusal(3036, 429, retry_after="86400"),
        Reply(b"<h1>Bad gateway</h1>", 502),
        Reply(b"", 500),
        Reply(b'{"trouble":true}', 400),
        Reply(b"x" * 200_000, 500),
        refusal(3007, 408),
        refusal(10000, 401),
        refusal(5018, 403),
        Reply(exception="internal error; reference = 0000"),
        Reply(exception="3040: Capacity temporarily exceeded"),
    ]
    room.service.script("passing", *passing, ANSWER)
    shard = hand_over_without_waits(room, [(1, "passing")])
    assert numbers(room.until(shard, "ended")) == [1]
    assert room.http.get(f"{shard}/1").content == ANSWER.body
    assert room.service.asked["passing"] == len(passing) + 1


def test_a_busy_service_is_left_alone_until_the_next_round(room: Room) -> None:
    """The next round begins with the batch at which the last one ended, so that none is always left out."""
    room.service.script("waits", QUEUED, QUEUED, ANSWER)
    room.service.script("busy", refusal(3040, 429), refusal(3021, 429), ANSWER)
    room.service.script("behind", ANSWER)
    shard = hand_over_without_waits(room, [(1, "waits"), (2, "busy"), (3, "behind")])
    assert numbers(room.until(shard, "ended")) == [1, 2, 3]
    assert room.service.questions("waits", "busy", "behind") == [
        "waits",
        "busy",
        "busy",
        "busy",
        "behind",
        "waits",
        "waits",
    ]


def test_a_round_goes_through_all_batches_without_a_wait(room: Room) -> None:
    """A step stores a few answers and ends; the next one goes on behind them, and the waits are an hour long here."""
    for number in range(1, 24):
        room.service.script(f"round-{number}", ANSWER)
    batches = [(number, f"round-{number}") for number in range(1, 24)]
    shard = room.collect(batches, first_wait=3600, longest_wait=3600)
    assert numbers(room.state(shard)) == list(range(1, 24))
    request_ids = [request_id for _, request_id in batches]
    assert room.service.questions(*request_ids) == request_ids


def test_those_that_wait_are_asked_once_a_round(room: Room) -> None:
    for number in range(1, 13):
        room.service.script(f"half-{number}", *([QUEUED] if number % 2 else []), ANSWER)
    shard = hand_over_without_waits(room, [(number, f"half-{number}") for number in range(1, 13)])
    room.until(shard, "ended")
    assert [room.service.asked[f"half-{number}"] for number in range(1, 13)] == [2, 1] * 6


@pytest.mark.parametrize(("first", "longest"), [(3600, 86_400), (1800, 43_200)])
def test_a_batch_that_is_never_done_is_given_up_after_eight_days_of_waiting(
    room: Room, first: float, longest: float
) -> None:
    room.service.script("never", QUEUED)
    room.service.script("done", ANSWER)
    shard = room.new_shard()
    room.order_harness("skipWaits", shard)
    room.hand_over(shard, [(1, "never"), (2, "done"), (3, "unknown")], first_wait=first, longest_wait=longest)
    said = room.until(shard, "ended")
    assert said["left"] == [1]
    assert numbers(said) == [2, 3]
    assert room.service.asked["never"] == waits_until_given_up(first, longest)


@pytest.mark.parametrize("failures", [9, 10])
def test_ten_failed_rounds_in_a_row_are_a_failure(room: Room, failures: int) -> None:
    room.service.script("first", ANSWER)
    room.service.script("later", QUEUED, ANSWER)
    shard = room.new_shard()
    steps = [f"round {number}" for number in range(2, 2 + failures)]
    room.order_harness("failSteps", shard, steps=steps, message="The bucket is away. " * 50)
    room.order_harness("skipWaits", shard)
    room.hand_over(shard, [(1, "first"), (2, "later")])
    said = room.until(shard, "ended" if failures < 10 else "failed")
    assert numbers(said) == ([1, 2] if failures < 10 else [1])
    if failures == 10:
        assert said["error"] == ("The bucket is away. " * 50)[:300]
        assert said["left"] == []
        assert room.http.get(f"{shard}/1").content == ANSWER.body


def test_failed_rounds_count_only_in_a_row(room: Room) -> None:
    room.service.script("later", QUEUED, ANSWER)
    shard = room.new_shard()
    steps = [f"round {number}" for number in (*range(1, 10), *range(11, 20))]
    room.order_harness("failSteps", shard, steps=steps, message="The bucket is away.")
    room.order_harness("skipWaits", shard)
    room.hand_over(shard, [(1, "later")])
    assert numbers(room.until(shard, "ended")) == [1]


def test_a_failed_one_begins_anew_when_it_is_handed_over_again(room: Room) -> None:
    whole = b'{"responses":["' + b"x" * 9000 + b'"]}'
    room.service.script("broken", Reply(whole, cut=True))
    shard = hand_over_without_waits(room, [(1, "broken")])
    said = room.until(shard, "failed")
    assert said["error"]
    assert said["batches"] == []
    assert room.service.asked["broken"] == 10 * 4
    room.service.script("broken", Reply(whole))
    assert room.hand_over(shard, [(1, "broken")]).json() == {"ok": True}
    room.until(shard, "ended")
    assert room.http.get(f"{shard}/1").content == whole


def test_a_terminated_one_is_a_failure_and_begins_anew(room: Room) -> None:
    room.service.script("waits", QUEUED)
    shard = room.new_shard()
    room.hand_over(shard, [(1, "waits")])
    room.until_asked("waits", 1)
    room.order_harness("terminate", shard)
    said = room.state(shard)
    assert (said["state"], said["error"]) == ("failed", "The workflow is over: terminated.")
    room.service.script("waits", ANSWER)
    room.hand_over(shard, [(1, "waits")])
    assert numbers(room.until(shard, "ended")) == [1]


def test_a_hand_over_that_was_cut_behind_the_order_is_completed_by_the_next(room: Room) -> None:
    room.service.script("done", ANSWER)
    shard = room.new_shard()
    put_order(room, shard, [(1, "done")])
    said = room.state(shard)
    assert said == {"state": "missing", "error": "", "batches": [], "left": []}
    assert room.hand_over(shard, [(1, "done")]).json() == {"ok": True}
    assert numbers(room.until(shard, "ended")) == [1]


def test_an_instance_that_found_no_order_begins_anew(room: Room) -> None:
    """Removed and handed over again while it began: it is over without having said what came out."""
    room.service.script("done", ANSWER)
    shard = room.new_shard()
    room.hand_over(shard, [(1, "done")])
    room.until(shard, "ended")
    room.http.delete(shard)
    put_order(room, shard, [(2, "done")])
    said = room.state(shard)
    assert (said["state"], said["error"], said["batches"]) == ("failed", "The workflow is over: complete.", [])
    room.hand_over(shard, [(2, "done")])
    assert numbers(room.until(shard, "ended")) == [2]


def test_what_has_ended_stays_so_when_cloudflare_forgets_the_instance(room: Room) -> None:
    """After three days on the Free plan, after thirty on the Paid one."""
    shard = room.new_shard()
    put_order(room, shard, [(1, "done"), (2, "left")])
    name = shard.removeprefix("/collect/")
    room.runtime.order("putObjects", keys=[f"answers/{name}/1"], text="{}")
    room.runtime.order("putObjects", keys=[f"answers/{name}/ended"], text='{"left":[2]}')
    said = room.state(shard)
    assert (said["state"], numbers(said), said["left"]) == ("ended", [1], [2])


def test_a_killed_runtime_goes_on_where_it_was(room: Room) -> None:
    """Once while it waits, and once in the middle of a step, which then runs again."""
    held = threading.Event()
    room.service.script("waits", QUEUED)
    room.service.script("first", Reply(b'{"responses":["' + b"x" * 100_000 + b'"]}', announced=False))
    room.service.script("held", Reply(b"", 500, held=held), ANSWER)
    asleep, inside = room.new_shard(), room.new_shard()
    room.hand_over(asleep, [(1, "waits")], first_wait=1, longest_wait=1)
    room.until_asked("waits", 1)
    room.hand_over(inside, [(1, "first"), (2, "held")])
    room.until_asked("held", 1)
    room.runtime.kill()
    held.set()
    room.service.script("waits", ANSWER)
    address = room.runtime.address
    assert room.runtime.start() == address
    assert [room.state(shard)["state"] for shard in (asleep, inside)] == ["collecting"] * 2
    woken = room.runtime.wake()
    assert {"-".join(shard.split("/")[2:]) for shard in (asleep, inside)} <= set(woken)
    assert numbers(room.until(asleep, "ended")) == [1]
    assert numbers(room.until(inside, "ended")) == [1, 2]
    assert room.service.asked["first"] == 2
    assert len(room.http.get(f"{inside}/1").content) == 100_018


def put_order(room: Room, shard: str, batches: Sequence[tuple[int, str]]) -> None:
    """What a hand-over stores first."""
    text = json.dumps(order(batches))
    room.runtime.order(
        "putObjects", keys=[f"orders/{shard.removeprefix('/collect/')}"], text=text, metadata={"title": ""}
    )
