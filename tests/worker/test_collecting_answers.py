"""What the collecting room stores is what the service answered, byte for byte, and it is fetched so."""

import gzip
import io
import sys
from pathlib import Path

import httpx
import pytest

from tests.worker.collecting_room import Room
from tests.worker.collecting_runtime import CollectingRuntime
from tests.worker.conftest import read_refusal
from tests.worker.runtime import peak_megabytes
from tests.worker.scripted_service import MODEL, QUEUED, Reply, refusal

MEGABYTE = 1_000_000
PART = 8 * 1024 * 1024  # bytes, of a multipart upload
ANNOUNCED = pytest.mark.parametrize("announced", [True, False], ids=["content-length", "chunked"])


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


@ANNOUNCED
@pytest.mark.parametrize("size", [60, 4095, 4096, 4097, 100_000, PART - 1, PART, PART + 1, 2 * PART])
def test_an_answer_of_any_size_is_stored_to_the_letter(room: Room, size: int, announced: bool) -> None:
    body = answer_of(size)
    room.service.script("any-size", Reply(body, announced=announced))
    shard = room.collect([(1, "any-size")])
    answer = fetch(room, shard)
    assert room.state(shard)["batches"] == [{"number": 1, "size": size, "etag": answer.headers["etag"]}]
    assert answer.content == body
    assert room.service.asked["any-size"] == 1
    assert answer.status_code == 200
    assert answer.headers["content-length"] == str(size)
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["cache-control"] == "no-store, no-transform"


@pytest.mark.skipif(sys.platform != "linux", reason="reads a process's peak of memory from /proc")
def test_answers_of_60_megabytes_are_stored_without_being_held(room: Room, tmp_path: Path) -> None:
    """A Worker has 128 MB of memory.

    Measured is the process of Worker and bucket together: 78 to 90 MB more for answers of 60 and of 200 MB. Read into
    the Worker, an answer of 60 MB takes 220 MB more.
    """
    body = answer_of(60 * MEGABYTE)
    with (
        CollectingRuntime("", tmp_path, scripted_url=room.service.url) as runtime,
        Room(runtime, room.service) as fresh,
    ):
        for announced in (True, False):
            room.service.script("large", Reply(body, announced=announced))
            before = forget_peak(runtime.runtime_process_id)
            shard = fresh.collect([(1, "large")])
            assert peak_megabytes(runtime.runtime_process_id) - before < 150
            assert is_stored(fresh, shard, body)
            fresh.http.delete(shard)


def test_a_compressed_answer_is_stored_unpacked(room: Room) -> None:
    """Its Content-Length is that of the packed bytes, which is not the length of what the Worker reads."""
    body = answer_of(300_000)
    room.service.script("packed", Reply(gzip.compress(body), encoding="gzip"))
    assert fetch(room, room.collect([(1, "packed")])).content == body


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


@pytest.mark.parametrize("body", [*ANSWERS, *NO_ANSWERS])
def test_a_small_body_is_an_answer_unless_it_says_that_the_batch_waits_or_nothing(room: Room, body: bytes) -> None:
    is_answer = body in ANSWERS
    room.service.script("small", Reply(body), Reply(body), Reply(answer_of(100)))
    assert fetch(room, room.collect([(1, "small")])).content == (body if is_answer else answer_of(100))
    assert room.service.asked["small"] == (1 if is_answer else 3)


@ANNOUNCED
@pytest.mark.parametrize("size", [200, 5000, 300_000, 9 * MEGABYTE])
@pytest.mark.parametrize("cut", ["connection", "text, with spaces"])
def test_an_answer_that_was_cut_is_not_stored_but_asked_for_again(
    room: Room, size: int, announced: bool, cut: str
) -> None:
    whole = answer_of(size)
    if cut == "connection":
        broken = Reply(whole, announced=announced, cut=True)
    else:
        broken = Reply(whole[:-20] + b" \n" * 10, announced=announced)
    room.service.script("cut", broken, QUEUED, Reply(whole, announced=announced))
    shard = room.hand_over_without_waits([(1, "cut")])
    room.until(shard, "ended")
    assert fetch(room, shard).content == whole
    assert room.service.asked["cut"] == 3


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


def forget_peak(process_id: int) -> float:
    """Begin a new peak of a process's memory; the present use in MB."""
    Path(f"/proc/{process_id}/clear_refs").write_text("5", "ascii")
    return peak_megabytes(process_id)
