"""Vectorize in the practice service: indexes, changes over time, restarts, and what is on disk."""

from pathlib import Path

import httpx
import pytest
from cfbatch_gui.core.practice.vectorize.changes import Kind

from cfbatch_gui.core.practice.app import practice_app
from cfbatch_gui.core.practice.vectorize import Permission
from tests.canary import TOKEN
from tests.core.practice.conftest import Practice
from tests.core.practice.vectorize_calls import ACCOUNT, Vectorize, lines, refusal, result, unit, vector
from tests.support.practice import PracticeServer, accepted_vectors


@pytest.fixture
async def index(practice: Practice) -> Vectorize:
    """An index in a service whose changes take ten seconds."""
    made = Vectorize(practice.open(seconds_mutating=10))
    result(await made.create())
    return made


async def test_an_index_is_created_listed_read_and_deleted(practice: Practice) -> None:
    calls = Vectorize(practice.open())
    created = result(await calls.create(description="of a job"))
    assert (created["name"], created["description"]) == ("texts", "of a job")
    assert created["config"] == {"dimensions": 32, "metric": "cosine"}
    assert created["created_on"] == "2027-01-15T08:00:00.000000Z"
    assert result(await calls.get()) == created
    assert result(await calls.client.get(calls.base)) == [created]
    other = Vectorize(calls.client, account="f" * 32)
    assert result(await other.client.get(other.base)) == []
    assert refusal(await other.get()) == (404, 3000, 'vectorize.index.not_found - Index name "texts"')
    assert result(await calls.client.delete(f"{calls.base}/texts")) is None
    assert refusal(await calls.get()) == (410, 3005, 'vectorize.index.deleted - Index name "texts" was deleted')
    assert result(await calls.client.get(calls.base)) == []


async def test_a_name_is_free_again_when_its_index_is_deleted_and_its_vectors_are_gone(index: Vectorize) -> None:
    assert refusal(await index.create())[:2] == (400, 3002)
    result(await index.put(vector("a")))
    result(await index.client.delete(f"{index.base}/texts"))
    result(await index.create())
    assert (await index.info())["vectorCount"] == 0 and await index.read("a") == {}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"name": ""}, "from 1 to 64 bytes"),
        ({"name": "n" * 65}, "from 1 to 64 bytes"),
        ({"name": "a b"}, "must match"),
        ({"name": "a/b"}, "must match"),
        ({"name": "Texts"}, "must match"),
        ({"name": "2026-texts"}, "must match"),
        ({"name": "texts-"}, "must match"),
        ({"name": "t"}, "must match"),
        ({"name": 7}, "Expected `str`"),
        ({"config": {"dimensions": 31, "metric": "cosine"}}, "in range: [32, 1536]"),
        ({"config": {"dimensions": 1537, "metric": "cosine"}}, "in range: [32, 1536]"),
        ({"config": {"dimensions": 32, "metric": "manhattan"}}, "'manhattan'"),
        ({"config": {"dimensions": 32}}, "must be provided"),
        ({"config": {"preset": "@cf/none"}}, "Unknown preset"),
    ],
)
async def test_an_index_that_cannot_be(practice: Practice, changes: dict[str, object], words: str) -> None:
    calls = Vectorize(practice.open())
    status, _, message = refusal(await calls.create(**changes))
    assert status == 400 and words in message
    assert result(await calls.client.get(calls.base)) == []


async def test_a_preset_gives_dimensions_and_metric(practice: Practice) -> None:
    calls = Vectorize(practice.open())
    created = result(await calls.create(config={"preset": "@cf/baai/bge-base-en-v1.5"}))
    assert created["config"] == {"dimensions": 768, "metric": "cosine"}


async def test_an_account_has_at_most_a_hundred_indexes(practice: Practice) -> None:
    calls = Vectorize(practice.open())
    for number in range(100):
        result(await Vectorize(calls.client, f"i{number}").create())
    assert refusal(await calls.create())[0] == 400
    result(await calls.client.delete(f"{calls.base}/i7"))
    result(await calls.create())


async def test_a_change_is_applied_after_its_time_and_not_before(practice: Practice, index: Vectorize) -> None:
    mutation = result(await index.put(vector("a"), vector("b", 1)))["mutationId"]
    before = {
        "dimensions": 32,
        "vectorCount": 0,
        "processedUpToMutation": None,
        "processedUpToDatetime": None,
    }
    practice.now += 9.9
    assert await index.info() == before and await index.read("a") == {} and await index.matched() == []
    practice.now += 0.1
    assert await index.info() == {
        "dimensions": 32,
        "vectorCount": 2,
        "processedUpToMutation": mutation,
        "processedUpToDatetime": "2027-01-15T08:00:10.000000Z",
    }
    assert await index.matched() == ["a", "b"]


async def test_changes_are_applied_in_the_order_of_acceptance(practice: Practice, index: Vectorize) -> None:
    result(await index.put(vector("a", 0), vector("b", 0)))
    practice.now += 1
    result(await index.post("delete_by_ids", {"ids": ["a", "never-there"]}))
    practice.now += 1
    last = result(await index.put(vector("b", 5)))["mutationId"]
    practice.now += 9
    assert (await index.read("a", "b"))["b"]["values"] == unit(0)  # the third change is not due
    assert (await index.info())["vectorCount"] == 1
    practice.now += 1
    assert (await index.read("a", "b"))["b"]["values"] == unit(5)
    assert (await index.info())["processedUpToMutation"] == last


async def test_what_was_accepted_survives_a_restart(practice: Practice, index: Vectorize) -> None:
    mutation = result(await index.put(vector("a", metadata={"text": "one"}, namespace="n")))["mutationId"]
    practice.now += 10
    later = Vectorize(practice.open(seconds_mutating=10))
    assert (await later.info())["processedUpToMutation"] == mutation
    expected = {"id": "a", "values": unit(0), "namespace": "n", "metadata": {"text": "one"}}
    assert await later.read("a") == {"a": expected}


async def test_the_ledger_has_what_was_accepted_and_nothing_that_was_refused(
    practice: Practice, index: Vectorize
) -> None:
    accepted = result(await index.put(vector("b"), vector("a")))["mutationId"]
    refusal(await index.put(vector("c"), {"id": "d", "values": [1.0]}))
    refusal(await index.post("delete_by_ids", {"ids": [7]}))
    practice.now += 5
    deleted = result(await index.post("delete_by_ids", {"ids": ["b"]}))["mutationId"]
    practice.now += 5
    assert (await index.info())["vectorCount"] == 2
    result(await index.client.delete(f"{index.base}/texts"))
    events = accepted_vectors(practice.folder)
    assert [(each.kind, each.ids, each.mutation_id, each.is_applied) for each in events] == [
        (Kind.CREATE_INDEX, (), "", True),
        (Kind.UPSERT, ("b", "a"), accepted, True),
        (Kind.DELETE, ("b",), deleted, False),
        (Kind.DELETE_INDEX, (), "", True),
    ]
    assert {(each.account, each.index) for each in events} == {(ACCOUNT, "texts")}
    assert [each.accepted_at - events[0].accepted_at for each in events] == [0, 0, 5, 10]


def test_a_folder_without_vectorize_has_an_empty_ledger(tmp_path: Path) -> None:
    assert accepted_vectors(tmp_path) == () and list(tmp_path.iterdir()) == []


async def test_pages_of_ids(practice: Practice) -> None:
    calls = Vectorize(practice.open())
    result(await calls.create())
    ids = [f"id {number:03} ü/&" for number in range(7)]
    result(await calls.put(*(vector(each) for each in reversed(ids))))
    found: list[str] = []
    cursor = ""
    while True:
        page = result(await calls.client.get(f"{calls.base}/texts/list", params={"count": 3, "cursor": cursor}))
        found += [each["id"] for each in page["vectors"]]
        assert (page["count"], page["totalCount"]) == (len(page["vectors"]), 7)
        if not page["isTruncated"]:
            break
        cursor = page["nextCursor"]
    assert found == ids and "nextCursor" not in page
    assert refusal(await calls.client.get(f"{calls.base}/texts/list?cursor=%C3%A4"))[0] == 400


@pytest.mark.parametrize("count", ["0", "-1", "1001", "many", "", "99999999999"])
async def test_a_page_of_another_size_has_the_usual_one(practice: Practice, count: str) -> None:
    calls = Vectorize(practice.open())
    result(await calls.create())
    result(await calls.put(*(vector(f"{number}") for number in range(101))))
    assert result(await calls.get(f"/list?count={count}"))["count"] == 100
    assert result(await calls.get("/list?count=1000"))["count"] == 101


@pytest.mark.parametrize(
    ("permission", "reading", "writing"),
    [(Permission.NONE, 403, 403), (Permission.READ, 200, 403), (Permission.WRITE, 200, 200)],
)
async def test_a_token_may_do_what_its_permission_says(
    practice: Practice, permission: Permission, reading: int, writing: int
) -> None:
    calls = Vectorize(practice.open())
    result(await calls.create())
    limited = Vectorize(practice.open(vectorize_permission=permission))
    reads = [
        await limited.get(),
        await limited.get("/info"),
        await limited.get("/metadata_index/list"),
        await limited.post("get_by_ids", {"ids": []}),
        await limited.post("query", {"vector": unit(0)}),
        await limited.client.get(limited.base),
    ]
    writes = [
        await limited.put(vector("a")),
        await limited.post("delete_by_ids", {"ids": []}),
        await limited.post("metadata_index/create", {"propertyName": "a", "indexType": "string"}),
        await limited.post("metadata_index/delete", {"propertyName": "a"}),
        await Vectorize(limited.client, "other").create(),
        await limited.client.delete(f"{limited.base}/texts"),
    ]
    assert {each.status_code for each in reads} == {reading}
    assert {each.status_code for each in writes} == {writing}
    for answer in (*reads, *writes):
        if answer.status_code == 403:
            assert refusal(answer) == (403, 10000, "Authentication error")


async def test_other_methods_and_addresses_are_refused(index: Vectorize) -> None:
    assert (await index.client.put(f"{index.base}/texts", json={})).status_code == 405
    assert (await index.get("/upsert")).headers["allow"] == "POST"
    for end in ("/nothing", "/metadata_index", "/metadata_index/none", "/info/more", "/"):
        assert (await index.get(end)).status_code == 404
    assert refusal(await Vectorize(index.client, "none").put(vector("a")))[:2] == (404, 3000)


async def test_a_file_that_cannot_be_written_is_said_and_the_service_goes_on(tmp_path: Path) -> None:
    folder = tmp_path / "service"
    folder.write_text("a file where the folder should be")
    app = practice_app(folder, seconds_queued=0, seconds_running=0)
    headers = {"Authorization": f"Bearer {TOKEN}"}
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(app), base_url="http://practice/client/v4", headers=headers
    ) as client:
        calls = Vectorize(client)
        assert (await calls.create()).status_code == 500
        folder.unlink()
        result(await calls.create())


def test_an_upload_over_a_socket_and_a_restart_of_the_server(tmp_path: Path) -> None:
    address = f"/accounts/{ACCOUNT}/vectorize/v2/indexes"
    headers = {"Authorization": f"Bearer {TOKEN}"}
    with PracticeServer(tmp_path) as server, httpx.Client(base_url=server.url, headers=headers) as client:
        client.post(address, json={"name": "texts", "config": {"dimensions": 32, "metric": "cosine"}})
        content = lines(vector(f"{number}") for number in range(5_000))
        assert client.post(f"{address}/texts/upsert", files={"vectors": ("v.ndjson", content)}).status_code == 200
    with PracticeServer(tmp_path) as server, httpx.Client(base_url=server.url, headers=headers) as client:
        assert client.get(f"{address}/texts/info").json()["result"]["vectorCount"] == 5_000
