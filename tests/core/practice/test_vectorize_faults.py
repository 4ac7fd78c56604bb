"""Every fault on a call of Vectorize: what its client sees, what was applied, and that a repeat mends it."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, get_args

import httpx
import msgspec
import pytest

from cfbatch_gui.core.practice.app import practice_app
from cfbatch_gui.core.practice.faults import script
from cfbatch_gui.core.practice.faults.faulty_service import Arrival, FaultyService
from cfbatch_gui.core.practice.faults.vectorize_mutations import VectorizeMutation
from cfbatch_gui.core.practice.vectorize.changes import Kind
from cfbatch_gui.core.practice.vectorize.ledger import accepted_events
from tests.canary import TOKEN
from tests.core.practice.vectorize_calls import Vectorize, result, unit, vector

DEADLINE = 0.5  # seconds, for an exchange that stalls; on loopback one takes some milliseconds
LONGER = 30.0  # seconds: as good as for ever

STALLS = script.Stall | script.StallInReply | script.Drip | script.StallAtAccept | script.StallInBody
TWINS: list[script.AnyFault] = [
    script.ResetAfterBody(),
    script.ResetAfterBody(rst=False),
    script.ResetInReplyHeaders(),
    script.ResetInReply(),
    script.Stall(seconds=LONGER),
    script.StallInReply(seconds=LONGER),
    script.Drip(seconds=LONGER),
    script.CutReply(),
    script.Garbage(),
    script.Garbage(part="body"),
    script.BreakTls(),
    script.BadGzip(),
    script.CutGzip(),
    script.UnknownEncoding(),
    script.GzipBomb(megabytes=1),
    script.LargeReply(megabytes=1),
    script.Page(status=502),
    script.Redirect(),
    script.Refusal(status=429, code=40041, message="Too Many Requests"),
    script.Block(seconds=0.0),
    script.AnyReply(body="{}"),
]
BEFORE: list[script.AnyFault] = [
    script.ResetAtAccept(),
    script.ResetAfterHello(),
    script.GarbageHello(),
    script.StallAtAccept(seconds=LONGER),
    script.ResetAfterHeaders(),
    script.ResetInBody(byte=100),
    script.StallInBody(byte=100, seconds=LONGER),
]


@pytest.fixture
async def faulty(tmp_path: Path) -> AsyncIterator[FaultyService]:
    async with FaultyService(practice_app(tmp_path / "service", seconds_queued=0, seconds_running=0)) as made:
        yield made


def client(faulty: FaultyService) -> httpx.AsyncClient:
    headers = {"Authorization": f"Bearer {TOKEN}"}
    return httpx.AsyncClient(base_url=faulty.url, headers=headers, trust_env=False, timeout=10)


@pytest.fixture
async def index(faulty: FaultyService) -> AsyncIterator[Vectorize]:
    async with client(faulty) as http:
        made = Vectorize(http)
        result(await made.create())
        yield made


def uploaded(folder: Path) -> list[tuple[str, ...]]:
    return [event.ids for event in accepted_events(folder / "service") if event.kind is Kind.UPSERT]


async def put(faulty: FaultyService, fault: script.AnyFault | None, *vectors: dict[str, Any]) -> bool:
    """Whether an upload on a connection of its own was answered as it should be; stops waiting where `fault` stalls."""
    async with client(faulty) as http:
        if isinstance(fault, STALLS):
            http.timeout = httpx.Timeout(DEADLINE)
        try:
            answer = await Vectorize(http).put(*vectors)
            is_plain = answer.status_code == 200 and answer.headers.get("content-encoding") != "br"
            return is_plain and bool(answer.json()["result"]["mutationId"])
        except (httpx.HTTPError, ValueError, KeyError):
            return False


async def arrival_of_upload(faulty: FaultyService) -> Arrival:
    """The only upload so far, once the service is done with it: a client that stops waiting may be ahead of it."""
    async with asyncio.timeout(30):
        while not faulty.uploads:
            await asyncio.sleep(0)
    (arrival,) = faulty.uploads
    return arrival


def test_every_twin_is_tried() -> None:
    twins = {kind for kind in get_args(script.AnyFault) if issubclass(kind, script.TwinFault)}
    before = {
        kind for kind in get_args(script.AnyFault) if issubclass(kind, script.ConnectionFault | script.RequestFault)
    }
    assert {type(fault) for fault in TWINS} == twins
    assert {type(fault) for fault in BEFORE} == before - {script.Refuse}


@pytest.mark.parametrize("is_applied", [True, False])
@pytest.mark.parametrize("fault", TWINS, ids=repr)
async def test_an_upload_with_a_fault_is_applied_or_not_and_can_be_repeated(
    faulty: FaultyService, index: Vectorize, tmp_path: Path, fault: script.AnyFault, is_applied: bool
) -> None:
    faulty.follow(msgspec.structs.replace(fault, on="upload", billed=is_applied))
    assert not await put(faulty, fault, vector("a", 3), vector("b", 4))
    arrival = await arrival_of_upload(faulty)
    assert uploaded(tmp_path) == [("a", "b")] * is_applied
    assert (arrival.kind, arrival.is_asked, arrival.received) == ("upload", is_applied, arrival.size)
    result(await index.put(vector("a", 3), vector("b", 4)))
    assert {key: each["values"] for key, each in (await index.read("a", "b")).items()} == {"a": unit(3), "b": unit(4)}
    assert (await index.info())["vectorCount"] == 2 and len(uploaded(tmp_path)) == 1 + is_applied


@pytest.mark.parametrize("fault", BEFORE, ids=repr)
async def test_an_upload_that_did_not_arrive_is_not_applied(
    faulty: FaultyService, index: Vectorize, tmp_path: Path, fault: script.AnyFault
) -> None:
    faulty.follow(msgspec.structs.replace(fault, on="upload"))
    assert not await put(faulty, fault, vector("a"))
    assert uploaded(tmp_path) == []
    assert await put(faulty, None, vector("a"))
    assert uploaded(tmp_path) == [("a",)]


async def test_each_call_has_its_kind(faulty: FaultyService, index: Vectorize) -> None:
    await index.put(vector("a"))
    await index.put(vector("a"), verb="insert")
    await index.info()
    await index.read("a")
    for end in ("", "/list", "/metadata_index/list"):
        await index.get(end)
    await index.client.get(index.base)
    await index.matched()
    await index.post("metadata_index/create", {"propertyName": "p", "indexType": "string"})
    await index.post("metadata_index/delete", {"propertyName": "p"})
    await index.post("delete_by_ids", {"ids": ["a"]})
    await index.client.delete(f"{index.base}/texts")
    await index.client.get("/user/tokens/verify")
    assert [arrival.kind for arrival in faulty.arrivals] == [
        "mutate",
        *["upload"] * 2,
        "progress",
        *["lookup"] * 5,
        "query",
        *["mutate"] * 4,
        "check",
    ]


async def test_without_the_request_vectorize_refuses_in_its_own_words(faulty: FaultyService, index: Vectorize) -> None:
    faulty.follow(script.Gzip(on="query"), script.Drip(on="lookup", seconds=0.0, part="body"))
    assert await index.matched() == []
    answer = await index.post("get_by_ids", {"ids": []})
    assert (answer.status_code, answer.json()["errors"][0]["code"]) == (429, 40041)


async def changed(faulty: FaultyService, index: Vectorize, how: VectorizeMutation) -> dict[str, Any]:
    """What is other than it was, by the call, while a change to answers lasts."""
    query = {"vector": unit(0), "topK": 2, "returnValues": True, "returnMetadata": "all"}

    async def seen() -> dict[str, Any]:
        return {
            "put": set(result(await index.put(vector("a", metadata={"n": 1}), vector("b", 1)))),
            "info": {key: value for key, value in (await index.info()).items() if key != "processedUpToDatetime"},
            "read": result(await index.post("get_by_ids", {"ids": ["a", "b"]})),
            "query": result(await index.post("query", query)),
        }

    true = await seen()
    faulty.follow(script.MutateVectorize(how=how, times=0))
    false = await seen()
    true["info"]["processedUpToMutation"] = true["info"]["processedUpToMutation"] and "some"
    false["info"]["processedUpToMutation"] = false["info"]["processedUpToMutation"] and "some"
    faulty.follow()
    return {name: false[name] for name in true if true[name] != false[name]}


async def test_answers_with_one_thing_wrong(faulty: FaultyService, index: Vectorize) -> None:
    assert await changed(faulty, index, "no_mutation_id") == {"put": set()}
    info: dict[str, Any] = {"dimensions": 32, "vectorCount": 0, "processedUpToMutation": None}
    assert await changed(faulty, index, "mutation_unprocessed") == {"info": info}
    info = {"dimensions": 32, "vectorCount": 1, "processedUpToMutation": "some"}
    assert await changed(faulty, index, "count_lags") == {"info": info}
    wrong = await changed(faulty, index, "vector_missing")
    assert [each["id"] for each in wrong["read"]] == ["b"]
    wrong = await changed(faulty, index, "vector_changed")
    assert wrong["read"][0]["values"] == [2.0, *unit(0)[1:]] and wrong["read"][1]["values"] == unit(1)
    wrong = await changed(faulty, index, "vector_shortened")
    assert [len(each["values"]) for each in wrong["read"]] == [31, 32]
    wrong = await changed(faulty, index, "vector_renamed")
    assert [each["id"] for each in wrong["read"]] == ["a-2", "b"]
    wrong = await changed(faulty, index, "metadata_missing")
    assert "metadata" not in wrong["read"][0] and "metadata" not in wrong["query"]["matches"][0]
    wrong = await changed(faulty, index, "match_missing")
    assert wrong.keys() == {"query"}
    assert (wrong["query"]["count"], wrong["query"]["matches"][0]["id"]) == (1, "b")


async def test_a_change_seems_unprocessed_for_a_time(faulty: FaultyService, index: Vectorize) -> None:
    faulty.follow(script.MutateVectorize(on="progress", how="mutation_unprocessed", times=2))
    mutation = result(await index.put(vector("a")))["mutationId"]
    seen = [(await index.info())["processedUpToMutation"] for _ in range(3)]
    assert seen == [None, None, mutation]


async def test_a_large_upload_goes_through_and_can_be_cut(
    faulty: FaultyService, index: Vectorize, tmp_path: Path
) -> None:
    vectors = [vector(f"{number}", metadata={"text": "x" * 9_000}) for number in range(2_000)]
    faulty.follow(script.ResetInBody(on="upload", byte=15_000_000))
    with pytest.raises(httpx.TransportError):
        await index.put(*vectors)
    assert uploaded(tmp_path) == [] and faulty.uploads[0].received == 15_000_000
    result(await index.put(*vectors))
    assert (await index.info())["vectorCount"] == 2_000
