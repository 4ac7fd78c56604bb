"""The stand-in of Vectorize: indexes, uploads, changes over time, queries and refusals, by docs/vectorize.md."""

import json
import math
import random
from collections.abc import Iterable, Mapping
from typing import Any

import httpx
import pytest

from tests.core.practice.conftest import ACCOUNT, Practice, refusal
from tests.support.practice import accepted_vectors

Json = dict[str, Any]


def unit(axis: int, dimensions: int = 32) -> list[float]:
    return [float(index == axis) for index in range(dimensions)]


def vector(identifier: str, axis: int = 0, **more: object) -> Json:
    return {"id": identifier, "values": unit(axis), **more}


def lines(vectors: Iterable[Mapping[str, Any]]) -> bytes:
    return b"".join(json.dumps(each).encode() + b"\n" for each in vectors)


class Index:
    def __init__(self, client: httpx.AsyncClient) -> None:
        self.client, self.base = client, f"/accounts/{ACCOUNT}/vectorize/v2/indexes"

    async def create(self, **changes: object) -> httpx.Response:
        index = {"name": "texts", "config": {"dimensions": 32, "metric": "cosine"}, **changes}
        return await self.client.post(self.base, json=index)

    async def get(self, end: str = "") -> httpx.Response:
        return await self.client.get(f"{self.base}/texts{end}")

    async def post(self, end: str, body: object) -> httpx.Response:
        return await self.client.post(f"{self.base}/texts/{end}", json=body)

    async def put(self, *vectors: Json, content: bytes = b"") -> httpx.Response:
        headers = {"content-type": "application/x-ndjson"}
        return await self.client.post(f"{self.base}/texts/upsert", content=content or lines(vectors), headers=headers)

    async def read(self, *ids: str) -> dict[str, Json]:
        return {each["id"]: each for each in result(await self.post("get_by_ids", {"ids": ids}))}

    async def info(self) -> Json:
        return dict(result(await self.get("/info")))

    async def matched(self, **query: object) -> str:
        """The ids that a query finds, best first; it asks for the first axis unless told otherwise."""
        found = result(await self.post("query", {"vector": unit(0), **query}))
        assert found["count"] == len(found["matches"])
        return "".join(each["id"] for each in found["matches"])


def result(answer: httpx.Response) -> Any:
    assert (answer.status_code, answer.json()["success"]) == (200, True), answer.text
    return answer.json()["result"]


@pytest.fixture
async def index(practice: Practice) -> Index:
    """An index in a service whose changes take ten seconds."""
    made = Index(practice.open(seconds_running=10))
    result(await made.create(description="of a job"))
    return made


async def test_changes_are_processed_after_their_time_in_the_order_of_acceptance(
    practice: Practice, index: Index
) -> None:
    first = result(await index.put(vector("a"), vector("b"), vector("a", 1)))["mutationId"]
    practice.now += 9
    nothing = {"processedUpToMutation": None, "processedUpToDatetime": None}
    assert await index.info() == {"dimensions": 32, "vectorCount": 2, **nothing}
    assert (await index.read("a"))["a"]["values"] == unit(1)  # the last of an upload counts
    result(await index.post("delete_by_ids", {"ids": ["a", "never-there"]}))
    practice.now += 1
    info = {"vectorCount": 1, "processedUpToMutation": first, "processedUpToDatetime": "2027-01-15T08:00:10.000000Z"}
    assert await index.info() == {"dimensions": 32, **info}
    last = result(await index.put(vector("b", 5)))["mutationId"]
    practice.now += 10
    later = Index(practice.open(seconds_running=10))  # a restart changes nothing
    read = await later.read("a", "b")
    assert read.keys() == {"b"} and read["b"]["values"] == unit(5)
    assert (await later.info())["processedUpToMutation"] == last
    changes = [(each.kind, each.ids) for each in accepted_vectors(practice.folder)]
    assert changes[1:] == [("delete", ("a", "never-there")), ("upsert", ("b",))]


@pytest.mark.parametrize(
    "line",
    [
        *(b"{", b"7", b"\xff", b"{}", b"[" * 100_000, b'{"id":"a","values":[NaN]}'),
        *(json.dumps(each).encode() for each in (vector(""), vector("a", metadata=[1]), [vector("a")])),
        json.dumps({"id": "a", "values": [1e39, *unit(0)[1:]]}).encode(),
    ],
)
async def test_a_line_that_is_no_vector_refuses_all(index: Index, line: bytes) -> None:
    content = lines([vector("first")]) + line + b"\n" + lines([vector("last")])
    answer = await index.put(content=content)
    assert refusal(answer) == (400, 40023) and "line Some(1)" in answer.text
    assert (await index.info())["vectorCount"] == 0


@pytest.mark.parametrize("metric", ["cosine", "euclidean", "dot-product"])
async def test_the_nearest_are_found_with_their_scores(practice: Practice, metric: str) -> None:
    calls, rng = Index(practice.open()), random.Random(7)
    result(await calls.create(config={"dimensions": 32, "metric": metric}))
    query, *vectors = ([rng.gauss(0, 1) for _ in range(32)] for _ in range(2_501))

    def score(values: list[float]) -> float:
        product = math.sumprod(query, values) if hasattr(math, "sumprod") else sum(map(float.__mul__, query, values))
        if metric == "euclidean":
            return math.dist(query, values)
        return -product if metric == "dot-product" else product / math.hypot(*query) / math.hypot(*values)

    result(await calls.put(*({"id": f"{number}", "values": values} for number, values in enumerate(vectors))))
    expected = sorted(map(score, vectors), reverse=metric == "cosine")
    found = result(await calls.post("query", {"vector": query, "topK": 100}))["matches"]
    assert [each["score"] for each in found] == pytest.approx(expected[:100], abs=1e-5)
    assert [score(vectors[int(each["id"])]) for each in found] == pytest.approx(expected[:100], abs=1e-5)
