"""Calls of an HTTP client to the practice service's Vectorize, and what they answer."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

import httpx

ACCOUNT = "0123456789abcdef0123456789abcdef"
DIMENSIONS = 32
INDEX = {"name": "texts", "config": {"dimensions": DIMENSIONS, "metric": "cosine"}}
NDJSON = "application/x-ndjson"

Json = dict[str, Any]


def unit(axis: int, dimensions: int = DIMENSIONS) -> list[float]:
    """The unit vector of an axis."""
    return [float(index == axis) for index in range(dimensions)]


def vector(identifier: str, axis: int = 0, **more: object) -> Json:
    """A line of an upload."""
    return {"id": identifier, "values": unit(axis), **more}


def lines(vectors: Iterable[Mapping[str, Any]]) -> bytes:
    """The vectors as NDJSON."""
    return b"".join(json.dumps(each).encode() + b"\n" for each in vectors)


class Vectorize:
    """Makes the calls of one client; `name` is the index of those that have one."""

    def __init__(self, client: httpx.AsyncClient, name: str = "texts", account: str = ACCOUNT) -> None:
        self.client = client
        self.name = name
        self.base = f"/accounts/{account}/vectorize/v2/indexes"

    async def create(self, **changes: object) -> httpx.Response:
        return await self.client.post(self.base, json={**INDEX, "name": self.name, **changes})

    async def get(self, end: str = "") -> httpx.Response:
        return await self.client.get(f"{self.base}/{self.name}{end}")

    async def post(self, end: str, body: object) -> httpx.Response:
        return await self.client.post(f"{self.base}/{self.name}/{end}", json=body)

    async def put(
        self, *vectors: Mapping[str, Any], verb: str = "upsert", content: bytes | None = None, query: str = ""
    ) -> httpx.Response:
        """Upload vectors, or `content`, as the field `vectors` of a form."""
        data = lines(vectors) if content is None else content
        files = {"vectors": ("vectors.ndjson", data, NDJSON)}
        return await self.client.post(f"{self.base}/{self.name}/{verb}{query}", files=files)

    async def put_bare(self, content: bytes, content_type: str = NDJSON) -> httpx.Response:
        """Upload bytes as the whole body."""
        address = f"{self.base}/{self.name}/upsert"
        return await self.client.post(address, content=content, headers={"content-type": content_type})

    async def read(self, *ids: str) -> dict[str, Json]:
        """The vectors of these ids, by id."""
        return {each["id"]: each for each in result(await self.post("get_by_ids", {"ids": ids}))}

    async def info(self) -> Json:
        return dict(result(await self.get("/info")))

    async def matched(self, **query: object) -> list[str]:
        """The ids that a query finds, best first; it asks for the first axis unless told otherwise."""
        found = result(await self.post("query", {"vector": unit(0), **query}))
        assert found["count"] == len(found["matches"])
        return [each["id"] for each in found["matches"]]


def result(answer: httpx.Response) -> Any:
    """What a successful answer brings."""
    assert (answer.status_code, answer.json()["success"]) == (200, True), answer.text
    return answer.json()["result"]


def refusal(answer: httpx.Response) -> tuple[int, int, str]:
    """Status, code and words of an answer that refuses."""
    body = answer.json()
    assert (body["success"], body["result"]) == (False, None), answer.text
    (error,) = body["errors"]
    return answer.status_code, error["code"], error["message"]
