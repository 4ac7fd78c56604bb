"""The routes of the collecting room, with good and bad input, in Cloudflare's runtime."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.worker.collecting_room import Room, order
from tests.worker.conftest import ANSWER, BGE_M3, LAYOUT, Caller, read_refusal
from tests.worker.scripted_service import MODEL


def test_both_say_that_they_are_there(room: Room, worker: Caller) -> None:
    assert room.http.get("/").json() == {"ok": True, "collects": 1}
    assert worker.http.get("/").json() == {"ok": True}


def bad_orders() -> Iterator[Any]:
    good = order([(1, "done")])
    for name in ("model", "title", "kind", "first_wait", "longest_wait", "batches"):
        yield {key: value for key, value in good.items() if key != name}
        others: tuple[object, ...] = (None, {}, True, [7])
        yield from ({**good, name: value} for value in others)
    yield from ({**good, **changes} for changes in ({"model": "bge-m3"}, {"title": "t" * 201}, {"kind": "ranked"}))
    for first, longest in ((0.04, 0.05), (3601, 86_400), (2, 1.9), (0.05, 86_401)):
        yield {**good, "first_wait": first, "longest_wait": longest}
    for batch in ([0, "a"], [1.5, "a"], [1_000_000, "a"], [1, ""], [1, "a b"], [1, "ä"], [1, "a" * 201], [1]):
        yield {**good, "batches": [batch]}
    for batches in ([], [[1, "a", "b"]], [[1, "a"], [1, "b"]], [[number, "a"] for number in range(1, 102)]):
        yield {**good, "batches": batches}
    yield from ([], "order", None, 7, {})


def test_what_is_no_order_is_refused_and_nothing_is_stored(room: Room) -> None:
    shard = room.new_shard()
    half = json.dumps(order([(1, "done")], title="\ud800")).encode()  # half a character: it could not be listed
    for body in (*(json.dumps(each).encode() for each in bad_orders()), b"", b"{", b"\xff", b"batches", half):
        answer = room.http.put(shard, content=body)
        assert read_refusal(answer) == (400, 5006), f"{body!r} → {answer.text}"
    large = json.dumps(order([(1, "done")])).encode().ljust(65_536)
    for content in (large, iter([large[:7], large[7:]])):
        assert read_refusal(room.http.put(shard, content=content)) == (413, 3006)
    assert read_refusal(room.http.get(shard)) == (404, 10404)


def test_names_and_numbers_at_their_limits_are_taken(room: Room) -> None:
    room.service.script("done", ANSWER)
    shard, batches = f"/collect/{'0-j' * 21}0/9999", [(number, "done") for number in (999_999, *range(1, 100))]
    assert room.hand_over(shard, batches, title="題" * 200).json() == {"ok": True}
    assert [batch["number"] for batch in room.until(shard, "ended")["batches"]] == [*range(1, 100), 999_999]
    assert room.http.get(f"{shard}/999999").content == ANSWER.body
    handed_over = {"model": MODEL, "title": "題" * 200, "kind": "embed", "batches": [list(each) for each in batches]}
    assert room.http.get(f"{shard}/order").json() == handed_over
    assert room.http.delete(shard).json() == {"ok": True}


def test_to_hand_over_twice_is_the_same_as_once(room: Room, shard: str) -> None:
    before = room.http.get(f"{shard}/order").json()
    for batches in ([(1, "done"), (2, "waits")], [(2, "waits"), (1, "done")]):
        assert room.hand_over(shard, batches, title="Another title", first_wait=7, longest_wait=8).json() == {
            "ok": True
        }
    assert room.http.get(f"{shard}/order").json() == before
    room.service.script("waits", ANSWER)
    room.until(shard, "ended")
    asked = room.service.asked.copy()
    assert room.hand_over(shard, [(1, "done"), (2, "waits")]).json() == {"ok": True}
    assert room.state(shard)["state"] == "ended"
    assert room.service.asked == asked


@pytest.mark.parametrize(
    ("batches", "changes"),
    [
        ([(1, "done")], {}),
        ([(1, "done"), (2, "other")], {}),
        ([(1, "done"), (3, "waits")], {}),
        ([(1, "done"), (2, "waits"), (3, "more")], {}),
        ([(1, "done"), (2, "waits")], {"model": "@cf/scripted/other"}),
    ],
)
def test_other_batches_under_the_same_name_change_nothing(
    room: Room, shard: str, batches: list[tuple[int, str]], changes: dict[str, object]
) -> None:
    before = room.http.get(f"{shard}/order").json()
    assert read_refusal(room.hand_over(shard, batches, **changes)) == (409, 10409)
    assert room.http.get(f"{shard}/order").json() == before
    assert room.state(shard)["state"] == "collecting"


def test_a_layout_is_kept_and_given_back_to_the_letter(room: Room, shard: str) -> None:
    answer = room.http.get(f"{shard}/layout")
    assert answer.content == LAYOUT
    assert answer.headers["content-type"] == "application/octet-stream"
    assert answer.headers["content-length"] == str(len(LAYOUT))
    large = LAYOUT * (20_000_000 // len(LAYOUT))
    assert room.http.put(f"{shard}/layout", content=large.ljust(20_000_000)).json() == {"ok": True}
    assert room.http.get(f"{shard}/layout").content == large.ljust(20_000_000)


def test_a_layout_needs_its_size_announced_and_within_the_limit(room: Room) -> None:
    address = f"{room.new_shard()}/layout"
    assert read_refusal(room.http.put(address, content=iter([LAYOUT]))) == (411, 10411)
    assert read_refusal(room.http.put(address, content=b" " * 20_000_001)) == (413, 3006)
    assert read_refusal(room.http.put(address, content=b"")) == (400, 5006)
    assert read_refusal(room.http.get(address)) == (404, 10404)
    assert room.http.delete(address.removesuffix("/layout")).json() == {"ok": True}


def test_what_is_removed_is_gone_and_nobody_asks_any_more(room: Room, shard: str) -> None:
    for _ in range(2):
        assert room.http.delete(shard).json() == {"ok": True}
        for path in (shard, f"{shard}/1", f"{shard}/order", f"{shard}/layout"):
            assert read_refusal(room.http.get(path)) == (404, 10404)
    assert room.order_harness("status", shard) == {"status": "terminated"}
    job = shard.split("/")[2]
    assert job not in [each["job"] for each in room.http.get("/collect").json()["shards"]]
    for kind in ("orders", "layouts", "answers"):
        assert room.runtime.order("listObjects", prefix=f"{kind}/{job}/")["keys"] == []
    room.service.script("another", ANSWER)
    assert room.hand_over(shard, [(5, "another")]).json() == {"ok": True}
    assert [batch["number"] for batch in room.until(shard, "ended")["batches"]] == [5]


def test_one_shard_is_removed_and_its_neighbours_stay(room: Room) -> None:
    room.service.script("done", ANSWER)
    job = room.new_shard()[:-2]
    shards = [f"{job}/1", f"{job}/11", f"{job}-1/1", f"{job}1/1"]
    for shard in shards:
        room.hand_over(shard, [(1, "done")])
        room.until(shard, "ended")
    room.http.delete(shards[0])
    for shard in shards[1:]:
        assert len(room.state(shard)["batches"]) == 1
        assert room.http.get(f"{shard}/1").content == ANSWER.body


def test_what_is_handed_over_is_listed_page_by_page(room: Room) -> None:
    job = f"listed-{room.new_shard().split('/')[2]}"
    metadata = {"title": "W%C3%B6rter%20%2F", "kind": "rank", "model": BGE_M3, "batches": "25"}
    keys = [f"orders/{job}/{number}" for number in range(1, 451)]
    room.runtime.order("putObjects", keys=keys, text="{}", metadata=metadata)
    pages = [room.http.get("/collect").json()]
    while cursor := pages[-1]["cursor"]:
        pages.append(room.http.get("/collect", params={"cursor": cursor}).json())
    assert max(len(page["shards"]) for page in pages) <= 200 and len(pages) >= 3
    listed = [each for page in pages for each in page["shards"] if each["job"] == job]
    assert sorted(each["shard"] for each in listed) == list(range(1, 451))
    now = listed[0].pop("at")
    assert isinstance(now, int)
    del listed[0]["shard"]
    assert listed[0] == {"job": job, "title": "Wörter /", "kind": "rank", "model": BGE_M3, "batches": 25}
    room.runtime.order("deleteObjects", keys=keys)
