"""Uploads to the practice service's Vectorize: their framing, their lines, and every limit."""

import json
import struct
from typing import Any

import pytest

from cfbatch_gui.core.practice.vectorize.uploads import read_upload
from cfbatch_gui.core.workers_ai.limits import MAX_UPLOAD_BYTES
from tests.core.practice.conftest import Practice
from tests.core.practice.vectorize_calls import NDJSON, Vectorize, lines, refusal, result, unit, vector


@pytest.fixture
async def index(practice: Practice) -> Vectorize:
    made = Vectorize(practice.open())
    result(await made.create())
    return made


async def test_upsert_replaces_and_insert_keeps_the_first(index: Vectorize) -> None:
    result(await index.put(vector("a", 0, metadata={"n": 1}, namespace="one")))
    result(await index.put(vector("a", 1, metadata={"n": 2}), vector("b", 2), verb="insert"))
    found = await index.read("a", "b")
    assert found["a"] == {"id": "a", "values": unit(0), "metadata": {"n": 1}, "namespace": "one"}
    assert found["b"]["values"] == unit(2)
    result(await index.put(vector("a", 1)))
    assert (await index.read("a"))["a"] == {"id": "a", "values": unit(1)}


async def test_an_id_that_comes_twice_in_one_upload(index: Vectorize) -> None:
    result(await index.put(vector("a", 0), vector("a", 1)))
    assert (await index.read("a"))["a"]["values"] == unit(1)
    result(await index.put(vector("b", 0), vector("b", 1), verb="insert"))
    assert (await index.read("b"))["b"]["values"] == unit(0)
    assert (await index.info())["vectorCount"] == 2


async def test_numbers_are_kept_as_float32(index: Vectorize) -> None:
    numbers = [0.1, -1 / 3, 1e-45, 3.4e38, -0.0, 16_777_217, *[0.0] * 26]
    result(await index.put({"id": "a", "values": numbers}))
    stored = (await index.read("a"))["a"]["values"]
    assert stored == list(struct.unpack("32f", struct.pack("32f", *numbers)))
    assert str(stored[4]) == "-0.0" and stored[0] != 0.1


async def test_the_forms_that_are_taken(index: Vectorize) -> None:
    content = lines([vector("a"), vector("b")])
    result(await index.put_bare(content))
    result(await index.put_bare(b"\r\n" + content.replace(b"\n", b"\r\n").rstrip(), f"{NDJSON}; charset=utf-8"))
    field = ("v.ndjson", lines([vector("c")]), NDJSON)
    note = ("note.txt", b"vectors", "text/plain")
    form = [("note", note), ("vectors", field), ("more", note)]
    result(await index.client.post(f"{index.base}/texts/upsert", files=form))
    assert (await index.info())["vectorCount"] == 3


@pytest.mark.parametrize(
    "content_type", ["application/json", "text/plain", "", "multipart/form-data", "application/octet-stream"]
)
async def test_another_content_type_is_not_known(index: Vectorize, content_type: str) -> None:
    answer = await index.put_bare(lines([vector("a")]), content_type)
    assert refusal(answer) == (400, 1005, "vectorize.unknown_content_type")


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"--b--\r\n",
        b'--b\r\nContent-Disposition: form-data; name="other"\r\n\r\n%s\r\n--b--\r\n',
        b"--b\r\n\r\n%s\r\n--b--\r\n",
        b'--b\r\nContent-Disposition: form-data; name="vectors"\r\n\r\n%s',  # cut off
        b'--b\r\nContent-Disposition: form-data; name="vectors"',
    ],
)
async def test_a_form_without_its_field_is_refused(index: Vectorize, body: bytes) -> None:
    content = body.replace(b"%s", lines([vector("a")]))
    assert refusal(await index.put_bare(content, "multipart/form-data; boundary=b"))[:2] == (400, 40023)
    assert (await index.info())["vectorCount"] == 0


UNREADABLE = [
    b"{",
    b"7",
    b"[]",
    b"\xff",
    b"null",
    b"{}",
    json.dumps({"id": "a"}).encode(),
    json.dumps({"id": 7, "values": unit(0)}).encode(),
    json.dumps({"id": "", "values": unit(0)}).encode(),
    json.dumps({"id": "a", "values": [None, *unit(0)[1:]]}).encode(),
    json.dumps({"id": "a", "values": ["1", *unit(0)[1:]]}).encode(),
    json.dumps({"id": "a", "values": [1e39, *unit(0)[1:]]}).encode(),
    b'{"id":"a","values":[NaN]}',
    json.dumps(vector("a", metadata=None)).encode(),
    json.dumps(vector("a", metadata=[1])).encode(),
    json.dumps(vector("a", metadata={"b": None})).encode(),
    json.dumps(vector("a", metadata={"b": [{"c": None}]})).encode(),
    b"[" * 100_000,
    json.dumps([vector("a"), vector("b")]).encode(),  # an array instead of lines
]


@pytest.mark.parametrize("line", UNREADABLE)
async def test_a_line_that_is_no_vector_refuses_all_or_is_left_out(index: Vectorize, line: bytes) -> None:
    content = lines([vector("first")]) + line + b"\n" + lines([vector("last")])
    status, code, words = refusal(await index.put(content=content))
    assert (status, code) == (400, 40023) and "line Some(1) was not expected format" in words
    assert (await index.info())["vectorCount"] == 0
    result(await index.put(content=content, query="?unparsable-behavior=discard"))
    assert (await index.read("first", "last")).keys() == {"first", "last"}


OVER_LIMITS: list[tuple[dict[str, Any], int, str]] = [
    ({"id": "i" * 65, "values": unit(0)}, 40008, "id too long; max is 64 bytes, got 65 bytes"),
    ({"id": "ä" * 33, "values": unit(0)}, 40008, "id too long; max is 64 bytes, got 66 bytes"),
    ({"id": "a", "values": unit(0, 33)}, 40012, 'invalid vector for id="a", expected 32 dimensions, and got 33'),
    ({"id": "a", "values": []}, 40012, "expected 32 dimensions, and got 0 dimensions"),
    (vector("a", namespace="n" * 65), 40001, "namespace"),
    (vector("a", metadata={"t": "x" * 10_240}), 40001, "max is 10240 bytes, got 10248"),
    (vector("a", metadata={"": 1}), 40018, 'key ""'),
    (vector("a", metadata={"a.b": 1}), 40018, 'key "a.b"'),
    (vector("a", metadata={'a"b': 1}), 40018, "not allowed"),
    (vector("a", metadata={"$a": 1}), 40018, 'key "$a"'),
    (vector("a", metadata={"a": {"$b": 1}}), 40018, 'key "$b"'),
    (vector("a", metadata={"k" * 513: 1}), 40018, "not allowed"),
]


@pytest.mark.parametrize(("line", "code", "words"), OVER_LIMITS)
@pytest.mark.parametrize("query", ["", "?unparsable-behavior=discard"])
async def test_a_vector_over_a_limit_refuses_all(
    index: Vectorize, line: dict[str, Any], code: int, words: str, query: str
) -> None:
    status, found, message = refusal(await index.put(vector("first"), line, query=query))
    assert (status, found) == (400, code) and words in message
    assert (await index.info())["vectorCount"] == 0


async def test_what_is_just_within_the_limits(index: Vectorize) -> None:
    longest = "ä" * 32
    most: dict[str, Any] = {"t": "", "a$": [1, "two", True, {"b": 0.5}]}
    most["t"] = "x" * (10_240 - len(json.dumps(most, separators=(",", ":"))))
    result(await index.put(vector(longest, namespace="n" * 64, metadata=most)))
    assert (await index.read(longest))[longest]["metadata"] == most


async def test_five_thousand_vectors_and_no_more(index: Vectorize) -> None:
    vectors = [vector(f"{number}") for number in range(5_001)]
    assert refusal(await index.put(*vectors))[:2] == (400, 40001)
    assert (await index.info())["vectorCount"] == 0
    result(await index.put(*vectors[:5_000]))
    assert (await index.info())["vectorCount"] == 5_000


async def test_a_hundred_megabytes_and_no_more(index: Vectorize) -> None:
    line = json.dumps(vector("a")).encode()
    most = line + b" " * (MAX_UPLOAD_BYTES - len(line) - 1) + b"\n"
    result(await index.put(content=most))
    assert refusal(await index.put(content=most + b"\n"))[0] == 413
    assert refusal(await index.put_bare(most + b" " * 10_000_000))[0] == 413


async def test_an_index_has_at_most_a_thousand_namespaces(index: Vectorize) -> None:
    result(await index.put(*(vector(f"{number}", namespace=f"n{number}") for number in range(1_000))))
    status, _, words = refusal(await index.put(vector("more", namespace="another")))
    assert status == 400 and "namespace" in words
    result(await index.put(vector("more", namespace="n7"), vector("none")))


async def test_too_many_ids_of_one_call(index: Vectorize) -> None:
    ids = [f"{number}" for number in range(101)]
    result(await index.post("get_by_ids", {"ids": ids[:20]}))
    words = "too many ids in payload; max id count is 20, got 21"
    assert refusal(await index.post("get_by_ids", {"ids": ids[:21]})) == (400, 40007, words)
    result(await index.post("delete_by_ids", {"ids": ids[:100]}))
    assert refusal(await index.post("delete_by_ids", {"ids": ids}))[:2] == (400, 40007)
    assert refusal(await index.post("delete_by_ids", {"ids": ["i" * 65]}))[:2] == (400, 40008)
    wrong: list[object] = [{}, {"ids": "a"}, {"ids": [None]}, []]
    for body in wrong:
        assert refusal(await index.post("get_by_ids", body))[:2] == (400, 40026)


def test_a_field_ends_at_its_boundary_alone() -> None:
    line = json.dumps(vector("a")).encode()
    head = b'--b\r\nContent-Disposition: form-data; name="vectors"\r\n\r\n'
    body = head + line + b"\n--b is no boundary here\n\r\n--b--\r\n"
    found = read_upload(body, "multipart/form-data; boundary=b", dimensions=32, verb="upsert", discards=True)
    assert [each.id for each in found] == ["a"]
