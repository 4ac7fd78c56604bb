"""The workflow asks until everything is answered, refused or given up; what it stores is what the service answered."""

import gzip
import io
import itertools
import json
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import httpx
import pytest

from tests.worker.collecting_room import Room, order
from tests.worker.conftest import read_refusal
from tests.worker.runtime import CollectingRuntime, peak_megabytes
from tests.worker.scripted_service import MODEL, QUEUED, Reply, refusal

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
        # A busy service is left alone until the next round, which begins with the batch at which the last one ended.
        (
            {"waits": (QUEUED, QUEUED), "busy": BUSY, "behind": ()},
            ["waits", "busy", "busy", "busy", "behind", "waits", "waits"],
        ),
        # A step stores a few answers and ends; the next one goes on behind them, in the same round.
        (dict.fromkeys(MANY, ()), MANY),
        ({each: (QUEUED,) * (at % 2) for at, each in enumerate(HALF, 1)}, [*HALF, *HALF[::2]]),
    ],
    ids=["busy", "a round", "those that wait once a round"],
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


def cut_again_and_again(room: Room, shard: str) -> None:
    room.service.script("waits", Reply(ANSWER.body, cut=True))
    room.order_harness("skipWaits", shard)
    room.hand_over(shard, [(2, "waits")])
    room.until(shard, "failed")
    assert room.service.asked["waits"] == 10 * 4


def terminated(room: Room, shard: str) -> None:
    room.hand_over(shard, [(2, "waits")])
    room.until_asked("waits", 1)
    room.order_harness("terminate", shard)


def cut_behind_the_order(room: Room, shard: str) -> None:
    put_order(room, shard, [(2, "waits")])


def without_an_order(room: Room, shard: str) -> None:
    """Removed and handed over again while it began: it is over without having said what came out."""
    room.hand_over(shard, [(1, "done")])
    room.until(shard, "ended")
    room.http.delete(shard)
    put_order(room, shard, [(2, "waits")])


@pytest.mark.parametrize(
    ("begin", "state"),
    [
        (cut_again_and_again, "failed"),
        (terminated, "failed"),
        (cut_behind_the_order, "missing"),
        (without_an_order, "failed"),
    ],
)
def test_one_that_came_to_nothing_begins_anew_when_it_is_handed_over_again(
    room: Room, begin: Callable[[Room, str], None], state: str
) -> None:
    room.service.script("waits", QUEUED)
    room.service.script("done", ANSWER)
    shard = room.new_shard()
    begin(room, shard)
    said = room.state(shard)
    assert bool(said.pop("error")) is (state == "failed")
    assert said == {"state": state, "batches": [], "left": []}
    room.service.script("waits", ANSWER)
    assert room.hand_over(shard, [(2, "waits")]).json() == {"ok": True}
    assert numbers(room.until(shard, "ended")) == [2]
    assert room.http.get(f"{shard}/2").content == ANSWER.body


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


MEGABYTE = 1_000_000
PART = 8 * 1024 * 1024  # bytes, of a multipart upload


def answer_of(size: int) -> bytes:
    """A body of exactly that many bytes in the form of an answer, no two of its pieces alike."""
    end = b'"}]}'
    body = io.BytesIO(b'{"responses":[{"id":0,"result":"')  # written in place: the largest is held once
    body.seek(0, io.SEEK_END)
    for number in range(size // 1000 + 1):
        body.write(b"%01000d" % number)
    body.seek(size - len(end))
    body.write(end)
    body.truncate()
    return body.getvalue()


ANSWERS = (
    *(b'{"responses":[]}', b'{"results":[{"id":0}],"status":"done"}', b'{"neither":"waiting","nor":"done"}'),
    b'{"result":{"responses":[{"id":0}]},"success":true}',
    b'{"responses":[{"id":0}],"status":"queued"}  \n',
)
NO_ANSWERS = (
    *(b'{"status":"queued"}', b'{"status":"running","responses":[]}', b'{"request_id":"7"}'),
    b'{"result":{"status":"queued","request_id":"7"},"success":true}',
    *(b"", b"null", b"[]", b'{"responses":[', b"<h1>Please wait</h1>", b"\xff\xfe"),
)
SIZES = (60, 4095, 4096, 4097, 100_000, PART - 1, PART, PART + 1, 2 * PART)


def whole(size: int, *, announced: bool) -> list[Reply]:
    return [Reply(answer_of(size), announced=announced)]


def broken(size: int, *, announced: bool, cut: bool) -> list[Reply]:
    """An answer that ends with its connection, or in blanks; and then a whole one."""
    (last,) = whole(size, announced=announced)
    blank = replace(last, body=last.body[:-20] + b" \n" * 10)
    return [replace(last, cut=True) if cut else blank, QUEUED, last]


def packed() -> list[Reply]:
    """Its Content-Length is that of the packed bytes, which is not the length of what the Worker reads."""
    return [Reply(gzip.compress(answer_of(300_000)), encoding="gzip")]


@pytest.mark.parametrize(
    "script",
    [
        *(partial(list, [Reply(body)]) for body in ANSWERS),
        *(partial(list, [Reply(body), Reply(body), ANSWER]) for body in NO_ANSWERS),
        partial(list, [*PASSING, QUEUED, ANSWER]),
        packed,
        *(partial(whole, size, announced=announced) for size in SIZES for announced in (True, False)),
        *(
            partial(broken, size, announced=announced, cut=cut)
            for size in (200, 5000, 300_000, 9 * MEGABYTE)
            for announced in (True, False)
            for cut in (True, False)
        ),
    ],
    ids=itertools.count(),
)
def test_a_batch_is_asked_for_until_its_answer_is_there_which_is_stored_to_the_letter(
    room: Room, script: Callable[[], list[Reply]]
) -> None:
    replies = script()
    body = gzip.decompress(replies[-1].body) if replies[-1].encoding else replies[-1].body
    room.service.script("batch", *replies)
    shard = room.hand_over_without_waits([(1, "batch")])
    said = room.until(shard, "ended")
    answer = fetch(room, shard)
    assert said["batches"] == [{"number": 1, "size": len(body), "etag": answer.headers["etag"]}]
    assert answer.content == body
    assert room.service.asked["batch"] == len(replies)
    assert answer.status_code == 200
    assert answer.headers["content-length"] == str(len(body))
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["cache-control"] == "no-store, no-transform"


def fetch(room: Room, shard: str) -> httpx.Response:
    return room.http.get(f"{shard}/1")


def is_stored(room: Room, shard: str, body: bytes) -> bool:
    """Whether that is what is fetched, which is not held as a whole."""
    at = 0
    with room.http.stream("GET", f"{shard}/1") as answer:
        for piece in answer.iter_raw():
            if not body.startswith(piece, at):
                return False
            at += len(piece)
    return answer.status_code == 200 and at == len(body)


@pytest.mark.skipif(sys.platform != "linux", reason="reads a process's peak of memory from /proc")
def test_answers_of_60_megabytes_are_stored_without_being_held(room: Room, tmp_path: Path) -> None:
    """A Worker has 128 MB of memory.

    Measured is the process of Worker and bucket together: 78 to 90 MB more for answers of 60 and of 200 MB. Read into
    the Worker, an answer of 60 MB takes 220 MB more.
    """
    body = answer_of(60 * MEGABYTE)
    with (
        CollectingRuntime("", tmp_path, scripted_url=room.service.address) as runtime,
        Room(runtime, room.service) as fresh,
    ):
        for announced in (True, False):
            room.service.script("large", Reply(body, announced=announced))
            Path(f"/proc/{runtime.runtime_process_id}/clear_refs").write_text("5", "ascii")  # forgets the peak
            before = peak_megabytes(runtime.runtime_process_id)
            shard = fresh.collect([(1, "large")])
            assert peak_megabytes(runtime.runtime_process_id) - before < 150
            assert is_stored(fresh, shard, body)
            fresh.http.delete(shard)


@pytest.mark.parametrize(
    "reply",
    [
        refusal(5504, 404, "There is no such request"),
        refusal(5001, 500, "The model failed", retry_after="9"),
        refusal(5006, 400, "Bad input"),
        refusal(3030),
        refusal(5004),
        refusal(3003),
        refusal(3006, 413, "Too large"),
        Reply(b'{"errors":[{"code":5006,"message":"Bad input"}]}', 400),
        Reply(exception="5006: required properties are missing"),
    ],
    ids=lambda reply: reply.exception or reply.body.decode()[:30],
)
def test_a_batch_that_the_service_refused_is_refused_as_by_the_door(room: Room, reply: Reply) -> None:
    room.service.script("refused", reply)
    door = room.http.post(f"/ai/run/{MODEL}?queueRequest=true", json={"request_id": "refused"})
    shard = room.collect([(1, "refused")])
    answer = fetch(room, shard)
    assert read_refusal(answer) == read_refusal(door)
    assert answer.json() == door.json()
    assert answer.headers.get("retry-after") == door.headers.get("retry-after")
    assert room.state(shard)["batches"] == [{"number": 1, "refused": True}]
    assert room.state(shard)["left"] == []


def test_a_stored_answer_is_not_lost_when_the_service_forgets_the_batch(room: Room) -> None:
    """A step that was cut off after it stored an answer runs again."""
    shard = room.new_shard()
    job = shard.removeprefix("/collect/")
    room.runtime.order("putObjects", keys=[f"answers/{job}/1"], text='{"responses":[]}')
    room.service.script("forgotten", refusal(5504, 404))
    room.hand_over(shard, [(1, "forgotten"), (2, "forgotten")])
    found = room.until(shard, "ended")["batches"]
    assert [batch.get("refused", False) for batch in found] == [False, True]
    stored = room.runtime.order("listObjects", prefix=f"answers/{job}/")["keys"]
    assert {key.rpartition("/")[2] for key in stored} == {"1", "2.refusal", "ended"}
    assert fetch(room, shard).content == b'{"responses":[]}'


def test_nothing_is_stored_under_another_number_job_or_shard(room: Room) -> None:
    room.service.script("one", Reply(answer_of(100)))
    shard = room.collect([(12, "one")])
    for address in (f"{shard}/1", f"{shard}/2", f"{shard}/120", f"{shard}2/12", f"{shard[:-2]}x/1/12"):
        assert read_refusal(room.http.get(address)) == (404, 10404)
