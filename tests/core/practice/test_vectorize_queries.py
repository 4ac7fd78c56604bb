"""Queries of the practice service's Vectorize: scores, filters, namespaces, metadata indexes, and limits."""

import math
import random
from typing import Any

import pytest

from tests.core.practice.conftest import Practice
from tests.core.practice.vectorize_calls import DIMENSIONS, Vectorize, refusal, result, unit, vector

SHOP = (
    vector("a", 0, namespace="one", metadata={"colour": "red", "price": 1, "sale": True, "size": {"eu": 38}}),
    vector("b", 0, namespace="two", metadata={"colour": "blue", "price": 2.5, "sale": False, "size": {"eu": 40}}),
    vector("c", 0, metadata={"colour": "red", "price": 10, "sale": False}),
    vector("d", 0, metadata={"colour": 7, "price": "dear", "sale": 1}),
    vector("e", 0),
)
INDEXED = (("colour", "string"), ("price", "number"), ("sale", "boolean"), ("size.eu", "number"))


@pytest.fixture
async def index(practice: Practice) -> Vectorize:
    made = Vectorize(practice.open())
    result(await made.create())
    return made


@pytest.fixture
async def shop(index: Vectorize) -> Vectorize:
    for name, kind in INDEXED:
        result(await index.post("metadata_index/create", {"propertyName": name, "indexType": kind}))
    result(await index.put(*SHOP))
    return index


def score(metric: str, one: list[float], other: list[float]) -> float:
    product = math.fsum(a * b for a, b in zip(one, other, strict=True))
    if metric == "euclidean":
        return math.dist(one, other)
    return -product if metric == "dot-product" else product / math.hypot(*one) / math.hypot(*other)


@pytest.mark.parametrize("metric", ["cosine", "euclidean", "dot-product"])
async def test_the_nearest_are_found_with_their_scores(practice: Practice, metric: str) -> None:
    calls = Vectorize(practice.open())
    result(await calls.create(config={"dimensions": DIMENSIONS, "metric": metric}))
    rng = random.Random(7)
    vectors = {f"{number}": [rng.gauss(0, 1) for _ in range(DIMENSIONS)] for number in range(4_500)}
    result(await calls.put(*({"id": key, "values": values} for key, values in vectors.items())))
    query = [rng.gauss(0, 1) for _ in range(DIMENSIONS)]
    scores = {key: score(metric, query, values) for key, values in vectors.items()}
    expected = sorted(scores, key=lambda key: -scores[key] if metric == "cosine" else scores[key])
    found = result(await calls.post("query", {"vector": query, "topK": 100}))["matches"]
    assert [each["id"] for each in found] == expected[:100]
    assert [each["score"] for each in found] == pytest.approx([scores[each["id"]] for each in found], abs=1e-5)
    assert all(each.keys() == {"id", "score"} for each in found)


async def test_five_are_found_unless_another_number_is_asked_for(index: Vectorize) -> None:
    result(await index.put(*(vector(f"{number}") for number in range(7))))
    assert await index.matched() == ["0", "1", "2", "3", "4"]
    assert len(await index.matched(topK=7.0)) == 7 and len(await index.matched(topK=1)) == 1


async def test_a_zero_vector_is_near_to_nothing(index: Vectorize) -> None:
    result(await index.put({"id": "zero", "values": [0.0] * DIMENSIONS}, vector("far", 1), vector("near", 0)))
    found = result(await index.post("query", {"vector": unit(0)}))["matches"]
    assert {each["id"]: each["score"] for each in found} == {"near": 1.0, "zero": 0.0, "far": 0.0}


@pytest.mark.parametrize(
    ("conditions", "expected"),
    [
        ({"colour": "red"}, "ac"),
        ({"colour": {"$eq": "red"}}, "ac"),
        ({"colour": {"$ne": "red"}}, "b"),
        ({"colour": {"$in": ["blue", "green", None]}}, "b"),
        ({"colour": {"$nin": ["blue"]}}, "ac"),
        ({"colour": {"$gte": "c"}}, "ac"),
        ({"price": {"$lt": 2.5}}, "a"),
        ({"price": {"$lte": 2.5}}, "ab"),
        ({"price": {"$gt": 1, "$lte": 10}}, "bc"),
        ({"price": {"$gt": "1"}}, ""),
        ({"price": 1}, "a"),
        ({"price": True}, ""),
        ({"sale": True}, "a"),
        ({"sale": {"$ne": True}}, "bc"),
        ({"sale": 1}, ""),
        ({"size.eu": {"$gte": 39}}, "b"),
        ({"colour": "red", "price": {"$gte": 2}}, "c"),
        ({"colour": None}, ""),
        ({"nothing": {"$ne": 1}}, ""),
    ],
)
async def test_a_filter_leaves_what_fulfils_all_its_conditions(
    shop: Vectorize, conditions: dict[str, Any], expected: str
) -> None:
    assert await shop.matched(filter=conditions) == list(expected)


@pytest.mark.parametrize(
    ("conditions", "words"),
    [
        ({}, "non-empty"),
        ({"": 1}, "not allowed"),
        ({"$or": []}, "not allowed"),
        ({'a"b': 1}, "not allowed"),
        ({"k" * 513: 1}, "not allowed"),
        ({"a": {}}, "no operator"),
        ({"a": {"$like": "x"}}, "not an operator"),
        ({"a": [1]}, "$eq takes"),
        ({"a": {"$in": 1}}, "$in takes a list"),
        ({"a": {"$in": [[1]]}}, "$in takes a list"),
        ({"a": {"$lt": None}}, "$lt takes"),
        ({"a": {"$lt": True}}, "$lt takes"),
        ({"a": {"$lt": 1, "$lte": 2}}, "cannot be combined"),
        ({"a": {"$eq": 1, "$lt": 2}}, "cannot be combined"),
        ({"a": "x" * 2_041}, "less than 2048 bytes"),
        ("a", "Expected `object`"),
    ],
)
async def test_a_filter_that_is_none(shop: Vectorize, conditions: object, words: str) -> None:
    status, code, message = refusal(await shop.post("query", {"vector": unit(0), "filter": conditions}))
    assert (status, code) == (400, 40026) and words in message


async def test_a_namespace_is_searched_alone(shop: Vectorize) -> None:
    assert await shop.matched(namespace="one") == ["a"]
    assert await shop.matched(namespace="two", filter={"colour": "red"}) == []
    assert await shop.matched(namespace="three") == []
    assert await shop.matched() == ["a", "b", "c", "d", "e"]


async def test_what_a_match_brings(shop: Vectorize) -> None:
    query = {"vector": unit(0), "topK": 1, "returnValues": True, "returnMetadata": "all"}
    (match,) = result(await shop.post("query", query))["matches"]
    assert match == {**SHOP[0], "score": 1.0}
    (match,) = result(await shop.post("query", {"vector": unit(0), "topK": 1, "returnMetadata": "indexed"}))["matches"]
    assert match["metadata"] == {"colour": "red", "price": 1, "sale": True, "size.eu": 38} and "values" not in match


async def test_only_vectors_put_later_are_indexed(practice: Practice) -> None:
    calls = Vectorize(practice.open(seconds_mutating=10))
    result(await calls.create())
    result(await calls.put(vector("before", metadata={"n": 1})))
    result(await calls.post("metadata_index/create", {"propertyName": "n", "indexType": "number"}))
    assert result(await calls.get("/metadata_index/list")) == {"metadataIndexes": []}
    result(await calls.put(vector("after", metadata={"n": 1})))
    practice.now += 10
    assert await calls.matched(filter={"n": 1}) == ["after"]
    listed = [{"propertyName": "n", "indexType": "number"}]
    assert result(await calls.get("/metadata_index/list")) == {"metadataIndexes": listed}
    result(await calls.post("metadata_index/delete", {"propertyName": "n"}))
    assert await calls.matched(filter={"n": 1}) == ["after"]
    practice.now += 10
    assert await calls.matched(filter={"n": 1}) == []
    result(await calls.post("metadata_index/create", {"propertyName": "n", "indexType": "number"}))
    practice.now += 10
    assert await calls.matched(filter={"n": 1}) == []  # indexed for the one that was deleted
    result(await calls.put(vector("before", metadata={"n": 1})))
    practice.now += 10
    assert await calls.matched(filter={"n": 1}) == ["before"]


async def test_texts_are_indexed_by_their_first_64_bytes(index: Vectorize) -> None:
    result(await index.post("metadata_index/create", {"propertyName": "t", "indexType": "string"}))
    long = "x" * 63 + "äöü"  # the 64th byte is half a character
    result(await index.put(vector("a", metadata={"t": long})))
    for text in (long, "x" * 63, "x" * 63 + "äää"):
        assert await index.matched(filter={"t": text}) == ["a"]
    assert await index.matched(filter={"t": "x" * 62}) == []


async def test_ten_metadata_indexes_and_no_more(index: Vectorize) -> None:
    for number in range(10):
        body = {"propertyName": f"p{number}", "indexType": "string"}
        result(await index.post("metadata_index/create", body))
        result(await index.post("metadata_index/create", body))  # once more is no other one
    more = {"propertyName": "more", "indexType": "string"}
    assert refusal(await index.post("metadata_index/create", more))[0] == 400
    result(await index.post("metadata_index/delete", {"propertyName": "p3"}))
    result(await index.post("metadata_index/create", more))
    names = [each["propertyName"] for each in result(await index.get("/metadata_index/list"))["metadataIndexes"]]
    assert len(names) == 10 and "p3" not in names and "more" in names
    for body in ({"propertyName": "a", "indexType": "date"}, {"indexType": "string"}):
        assert refusal(await index.post("metadata_index/create", body))[:2] == (400, 40026)


@pytest.mark.parametrize(
    ("query", "code", "words"),
    [
        ({"vector": unit(0, 31)}, 40006, "invalid query vector, expected 32 dimensions, and got 31 dimensions"),
        ({"vector": []}, 40006, "got 0 dimensions"),
        ({}, 40026, "vector"),
        ({"vector": unit(0), "topK": 101}, 40025, "max top K is 100, but got 101"),
        ({"vector": unit(0), "topK": 51, "returnValues": True}, 40025, "max top K is 50, but got 51"),
        ({"vector": unit(0), "topK": 51, "returnMetadata": "all"}, 40025, "max top K is 50, but got 51"),
        ({"vector": unit(0), "topK": 0}, 40026, "topK"),
        ({"vector": unit(0), "returnMetadata": True}, 40026, "returnMetadata"),
        ({"vector": unit(0), "returnMetadata": "some"}, 40026, "returnMetadata"),
    ],
)
async def test_a_query_that_is_refused(index: Vectorize, query: dict[str, Any], code: int, words: str) -> None:
    status, found, message = refusal(await index.post("query", query))
    assert (status, found) == (400, code) and words in message


async def test_a_hundred_with_indexed_metadata_are_not_too_many(shop: Vectorize) -> None:
    assert len(await shop.matched(topK=100, returnMetadata="indexed")) == len(SHOP)
