"""Cloudflare's own Python client with the practice service's Vectorize, for every call that it has.

Its `upsert` and `insert` send what they are given as a JSON body: bytes as they are, marked as JSON, with a warning of
its own, and a file or a tuple, which their types name, not at all. The service refuses JSON here, so bytes go through
only with a header of one's own. Its `client.post` can send the form that Cloudflare's other client, wrangler, sends.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cloudflare import BadRequestError, Cloudflare, NotFoundError

from tests.core.endpoints.conftest import ACCOUNT, TOKEN
from tests.support.practice import PracticeServer

pytestmark = pytest.mark.filterwarnings("ignore:Passing raw bytes as `body`:DeprecationWarning")

INDEX = "texts"
HEADERS = {"Content-Type": "application/x-ndjson"}


def line(identifier: str, axis: int, **metadata: object) -> bytes:
    values = [float(index == axis) for index in range(32)]
    return json.dumps({"id": identifier, "values": values, "metadata": metadata}).encode() + b"\n"


LINES = line("a", 0, colour="red") + line("b", 1, colour="blue") + line("c", 2, colour="red")


@pytest.fixture
def indexed(tmp_path: Path) -> Iterator[Cloudflare]:
    with (
        PracticeServer(tmp_path, token=TOKEN) as server,
        Cloudflare(api_token=TOKEN, base_url=server.url, max_retries=0) as made,
    ):
        made.vectorize.indexes.create(
            account_id=ACCOUNT, name=INDEX, config={"dimensions": 32, "metric": "cosine"}, description="of a job"
        )
        yield made


def test_indexes(indexed: Cloudflare) -> None:
    indexes: Any = indexed.vectorize.indexes
    (listed,) = indexes.list(account_id=ACCOUNT)
    found = indexes.get(INDEX, account_id=ACCOUNT)
    assert found == listed and (found.name, found.description) == (INDEX, "of a job")
    assert (found.config.dimensions, found.config.metric) == (32, "cosine")
    assert found.created_on is not None and found.created_on == found.modified_on
    assert indexes.delete(INDEX, account_id=ACCOUNT) is None
    assert list(indexes.list(account_id=ACCOUNT)) == []


def test_vectors_from_upsert_to_deletion(indexed: Cloudflare) -> None:
    indexes: Any = indexed.vectorize.indexes
    colour = indexes.metadata_index.create(INDEX, account_id=ACCOUNT, property_name="colour", index_type="string")
    put = indexes.upsert(INDEX, account_id=ACCOUNT, body=LINES, extra_headers=HEADERS)
    info = indexes.info(INDEX, account_id=ACCOUNT)
    assert colour.mutation_id != put.mutation_id == info.processed_up_to_mutation
    assert (info.dimensions, info.vector_count) == (32, 3) and info.processed_up_to_datetime is not None

    kept = indexes.insert(INDEX, account_id=ACCOUNT, body=line("a", 9), extra_headers=HEADERS)
    assert kept.mutation_id
    (read,) = indexes.get_by_ids(INDEX, account_id=ACCOUNT, ids=["a", "none"])
    assert read["values"][:2] == [1.0, 0.0] and read["metadata"] == {"colour": "red"}

    query = [1.0, 0.5, *[0.0] * 30]
    found = indexes.query(INDEX, account_id=ACCOUNT, vector=query, top_k=2, return_values=True, return_metadata="all")
    assert found.count == 2 and [match.id for match in found.matches] == ["a", "b"]
    assert found.matches[0].score > found.matches[1].score and found.matches[1].metadata == {"colour": "blue"}
    red = indexes.query(INDEX, account_id=ACCOUNT, vector=query, filter={"colour": "red"})
    assert {match.id for match in red.matches} == {"a", "c"}

    page = indexes.list_vectors(INDEX, account_id=ACCOUNT, count=2)
    rest = indexes.list_vectors(INDEX, account_id=ACCOUNT, count=2, cursor=page.next_cursor)
    assert (page.is_truncated, rest.is_truncated, page.total_count) == (True, False, 3)
    assert [each.id for each in (*page.vectors, *rest.vectors)] == ["a", "b", "c"]

    assert indexes.delete_by_ids(INDEX, account_id=ACCOUNT, ids=["a"]).mutation_id
    assert indexes.get_by_ids(INDEX, account_id=ACCOUNT, ids=["a"]) == []


def test_metadata_indexes(indexed: Cloudflare) -> None:
    calls: Any = indexed.vectorize.indexes.metadata_index
    assert calls.create(INDEX, account_id=ACCOUNT, property_name="price", index_type="number").mutation_id
    (listed,) = calls.list(INDEX, account_id=ACCOUNT).metadata_indexes
    assert (listed.property_name, listed.index_type) == ("price", "number")
    assert calls.delete(INDEX, account_id=ACCOUNT, property_name="price").mutation_id
    assert calls.list(INDEX, account_id=ACCOUNT).metadata_indexes == []


@pytest.mark.parametrize("verb", ["upsert", "insert"])
def test_its_own_way_to_upload_is_refused_as_by_the_real_service(indexed: Cloudflare, verb: str) -> None:
    call: Any = getattr(indexed.vectorize.indexes, verb)
    with pytest.raises(BadRequestError) as caught:
        call(INDEX, account_id=ACCOUNT, body=LINES)
    assert [(error.code, error.message) for error in caught.value.errors] == [(1005, "vectorize.unknown_content_type")]
    assert caught.value.request.headers["content-type"] == "application/json"


def test_its_post_sends_a_form(indexed: Cloudflare) -> None:
    answer: Any = indexed.post(
        f"/accounts/{ACCOUNT}/vectorize/v2/indexes/{INDEX}/upsert",
        cast_to=object,
        files={"vectors": ("vectors.ndjson", LINES, "application/x-ndjson")},
        options={"headers": {"Content-Type": "multipart/form-data"}},
    )
    info: Any = indexed.vectorize.indexes.info(INDEX, account_id=ACCOUNT)
    assert info.vector_count == 3 and info.processed_up_to_mutation == answer["result"]["mutationId"]


def test_refusals_of_indexes_arrive_as_the_clients_errors(indexed: Cloudflare) -> None:
    with pytest.raises(NotFoundError, match=r"vectorize\.index\.not_found"):
        indexed.vectorize.indexes.get("none", account_id=ACCOUNT)
    with pytest.raises(BadRequestError, match=r"vectorize\.index\.duplicate_name"):
        indexed.vectorize.indexes.create(account_id=ACCOUNT, name=INDEX, config={"dimensions": 32, "metric": "cosine"})
