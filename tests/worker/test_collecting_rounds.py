"""The workflow asks until everything is answered, refused or given up, through failures and kills."""

import json
import threading
from collections.abc import Sequence

import pytest

from tests.worker.collecting_room import Room, order
from tests.worker.scripted_service import QUEUED, Reply, refusal

ANSWER = Reply(b'{"responses":[]}')
EIGHT_DAYS = 8 * 24 * 60 * 60


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


PASSING = (
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
)
BUSY = (refusal(3040, 429), refusal(3021, 429))
MANY = [f"many-{number}" for number in range(1, 24)]
HALF = [f"half-{number}" for number in range(1, 13)]


@pytest.mark.parametrize(
    ("replies", "asked"),
    [
        ({"slow": (QUEUED, Reply(b'{"status":"running"}'), QUEUED)}, ["slow"] * 4),
        ({"passing": PASSING}, ["passing"] * (len(PASSING) + 1)),
        # A busy service is left alone until the next round, which begins with the batch at which the last one ended.
        (
            {"waits": (QUEUED, QUEUED), "busy": BUSY, "behind": ()},
            ["waits", "busy", "busy", "busy", "behind", "waits", "waits"],
        ),
        # A step stores a few answers and ends; the next one goes on behind them, in the same round.
        (dict.fromkeys(MANY, ()), MANY),
        ({each: (QUEUED,) * (at % 2) for at, each in enumerate(HALF, 1)}, [*HALF, *HALF[::2]]),
    ],
    ids=["until it is done", "what passes", "busy", "a round", "those that wait once a round"],
)
def test_batches_are_asked_for_until_each_is_answered(
    room: Room, replies: dict[str, Sequence[Reply]], asked: list[str]
) -> None:
    for request_id, first in replies.items():
        room.service.script(request_id, *first, ANSWER)
    batches = list(enumerate(replies, 1))
    shard = room.hand_over_without_waits(batches)
    assert numbers(room.until(shard, "ended")) == [number for number, _ in batches]
    assert room.service.questions(*replies) == asked
    assert {room.http.get(f"{shard}/{number}").content for number, _ in batches} == {ANSWER.body}


@pytest.mark.parametrize(("first", "longest"), [(3600, 86_400), (1800, 43_200)])
def test_a_batch_that_is_never_done_is_given_up_after_eight_days_of_waiting(
    room: Room, first: float, longest: float
) -> None:
    room.service.script("never", QUEUED)
    room.service.script("done", ANSWER)
    batches = [(1, "never"), (2, "done"), (3, "unknown")]
    shard = room.hand_over_without_waits(batches, first_wait=first, longest_wait=longest)
    said = room.until(shard, "ended")
    assert said["left"] == [1]
    assert numbers(said) == [2, 3]
    assert room.service.asked["never"] == waits_until_given_up(first, longest)


@pytest.mark.parametrize(
    ("failing", "state"),
    [(range(2, 11), "ended"), (range(2, 12), "failed"), ((*range(2, 11), *range(12, 21)), "ended")],
    ids=["nine", "ten", "nine twice"],
)
def test_ten_failed_rounds_in_a_row_are_a_failure(room: Room, failing: Sequence[int], state: str) -> None:
    room.service.script("first", ANSWER)
    room.service.script("later", QUEUED, QUEUED, ANSWER)
    shard = room.new_shard()
    words = "The bucket is away. " * 50
    room.order_harness("failSteps", shard, steps=[f"round {number}" for number in failing], message=words)
    room.order_harness("skipWaits", shard)
    room.hand_over(shard, [(1, "first"), (2, "later")])
    said = room.until(shard, state)
    assert numbers(said) == ([1, 2] if state == "ended" else [1])
    assert (said["error"], said["left"]) == ("" if state == "ended" else words[:300], [])
    assert room.http.get(f"{shard}/1").content == ANSWER.body


def test_a_failed_one_begins_anew_when_it_is_handed_over_again(room: Room) -> None:
    whole = b'{"responses":["' + b"x" * 9000 + b'"]}'
    room.service.script("broken", Reply(whole, cut=True))
    shard = room.hand_over_without_waits([(1, "broken")])
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
