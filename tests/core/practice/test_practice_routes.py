"""The practice service's addresses, tokens and free calls."""

import re

import httpx
import pytest

from cfbatch_gui.core.practice.local_models import HashedNgrams
from tests.canary import CORE, OTHER_TOKEN, TOKEN
from tests.core.practice.conftest import ACCOUNT, BGE_M3, Calls, Practice

BODY = {"requests": [{"text": "a"}]}


def codes(answer: httpx.Response) -> set[int]:
    envelope = answer.json()
    assert envelope["success"] is False
    assert envelope["result"] is None
    return {error["code"] for error in envelope["errors"]}


@pytest.mark.parametrize(
    "header", [{}, {"Authorization": "Bearer "}, {"Authorization": "Basic eDp5"}, {"Authorization": "Bearer a b"}]
)
async def test_a_request_without_a_bearer_token(practice: Practice, header: dict[str, str]) -> None:
    client = practice.open()
    del client.headers["Authorization"]
    answer = await client.post(f"/accounts/{ACCOUNT}/ai/run/{BGE_M3}", json=BODY, headers=header)
    assert (answer.status_code, codes(answer)) == (400, {9106})


@pytest.mark.parametrize(
    "path", ["user/tokens/verify", f"accounts/{ACCOUNT}/tokens/verify", f"accounts/{ACCOUNT}/ai/models/search"]
)
async def test_a_wrong_token(practice: Practice, path: str) -> None:
    client = practice.open(token=TOKEN)
    refused = await client.get(path, headers={"Authorization": f"Bearer {OTHER_TOKEN}"})
    assert (refused.status_code, codes(refused)) == (401, {10000})
    assert CORE not in refused.text
    assert (await client.get(path)).status_code == 200


@pytest.mark.parametrize(
    "path",
    [
        f"/accounts/{ACCOUNT[:-1]}/ai/run/{BGE_M3}",
        f"/accounts/{'g' * 32}/ai/models/search",
        f"/accounts//ai/run/{BGE_M3}",
        f"/accounts/{ACCOUNT}/ai/run/@cf%2Fbaai%2Fbge-m3",
        f"/accounts/{ACCOUNT}/ai/run/%40cf%2fbaai/bge-m3",
        f"/accounts/{ACCOUNT}/ai/run/",
        f"/accounts/{ACCOUNT}/ai/run",
        f"/accounts/{ACCOUNT}/ai",
        "/",
        "",
    ],
)
async def test_an_address_that_leads_nowhere(practice: Practice, path: str) -> None:
    answer = await practice.open().post(path, json=BODY)
    assert (answer.status_code, codes(answer)) == (404, {7000, 7003})


@pytest.mark.parametrize("prefix", ["http://practice", "http://practice/client/v4"])
@pytest.mark.parametrize("model", [BGE_M3, "%40cf/baai/bge-m3"])
async def test_the_prefix_may_be_left_out(practice: Practice, prefix: str, model: str) -> None:
    answer = await practice.open().post(f"{prefix}/accounts/{ACCOUNT}/ai/run/{model}?queueRequest=true", json=BODY)
    assert answer.json()["result"]["status"] == "queued"


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("GET", f"accounts/{ACCOUNT}/ai/run/{BGE_M3}", "POST"),
        ("PUT", f"accounts/{ACCOUNT}/ai/run/{BGE_M3}", "POST"),
        ("POST", f"accounts/{ACCOUNT}/ai/models/search", "GET"),
        ("POST", "user/tokens/verify", "GET"),
    ],
)
async def test_the_wrong_method(practice: Practice, method: str, path: str, allowed: str) -> None:
    answer = await practice.open().request(method, path)
    assert (answer.status_code, codes(answer)) == (405, {10405})
    assert answer.headers["allow"] == allowed


@pytest.mark.parametrize("model", ["@cf/baai/bge-m4", "@hf/baai/bge-m3", "bge-m3"])
@pytest.mark.parametrize("queue", [True, False])
async def test_an_unknown_model(practice: Practice, model: str, queue: bool) -> None:
    answer = await Calls(practice.open(), model).post(BODY, queue=queue)
    assert (answer.status_code, codes(answer)) == (400, {5007})


@pytest.mark.parametrize("path", ["user/tokens/verify", f"accounts/{ACCOUNT}/tokens/verify"])
async def test_verifying_a_token(practice: Practice, path: str) -> None:
    answer = (await practice.open().get(path)).json()
    assert answer["success"] is True
    assert answer["result"]["status"] == "active"
    assert [message["code"] for message in answer["messages"]] == [10000]


async def test_nonsense_is_not_in_the_catalogue(practice: Practice) -> None:
    answer = await practice.open().get(f"accounts/{ACCOUNT}/ai/models/search", params={"search": "xyzzy-nothing"})
    assert answer.json()["result"] == []
    assert answer.json()["success"] is True


async def test_the_catalogue_says_whose_vectors_they_are(practice: Practice) -> None:
    client = practice.open()
    answer = (await client.get(f"accounts/{ACCOUNT}/ai/models/search", params={"search": "BGE-M3"})).json()
    (item,) = answer["result"]
    assert item["name"] == BGE_M3
    assert item["task"]["name"] == "Text Embeddings"
    assert HashedNgrams.name in item["description"]
    properties = {entry["property_id"]: entry["value"] for entry in item["properties"]}
    assert properties["async_queue"] == "true"
    assert properties["output_dimensions"] == str(HashedNgrams.dimension)
    assert properties["price"] == [{"unit": "per M input tokens", "price": 0.012, "currency": "USD"}]


async def test_the_catalogue_has_pages(practice: Practice) -> None:
    client = practice.open()
    address = f"accounts/{ACCOUNT}/ai/models/search"
    everything = (await client.get(address)).json()["result"]
    pages = [(await client.get(address, params={"page": page, "per_page": 3})).json() for page in (1, 2, 3)]
    assert [item for page in pages for item in page["result"]] == everything
    assert pages[1]["result_info"] == {"count": 1, "page": 2, "per_page": 3, "total_count": 4}
    assert (await client.get(address, params={"page": "none"})).json()["result"] == everything


async def test_the_schema_of_a_model(practice: Practice) -> None:
    client = practice.open()
    address = f"accounts/{ACCOUNT}/ai/models/schema"
    schema = (await client.get(address, params={"model": BGE_M3})).json()["result"]
    assert [form.get("required") for form in schema["input"]["oneOf"]] == [["contexts"], ["text"], ["requests"]]
    assert len(schema["output"]["oneOf"]) == 4
    english = (await client.get(address, params={"model": "@cf/baai/bge-base-en-v1.5"})).json()["result"]
    assert not re.search("query|contexts", str(english["input"]))
    assert codes(await client.get(address, params={"model": "@cf/none"})) == {5007}
