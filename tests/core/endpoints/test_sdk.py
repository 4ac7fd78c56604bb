"""Cloudflare's own Python client with the practice service, for every call that both support."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cloudflare import AuthenticationError, BadRequestError, Cloudflare, NotFoundError

from cfbatch_gui.core.practice.local_models import HashedNgrams
from tests.canary import OTHER_TOKEN
from tests.core.endpoints.conftest import ACCOUNT, TOKEN
from tests.support.practice import PracticeServer

MODEL = "@cf/baai/bge-m3"
CLOUDS = [{"text": "an orange cloud"}, {"text": "a llama"}, {"text": "an emoji"}]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[PracticeServer]:
    with PracticeServer(tmp_path, token=TOKEN, load_model=HashedNgrams) as running:
        yield running


@pytest.fixture
def client(server: PracticeServer) -> Iterator[Cloudflare]:
    with Cloudflare(api_token=TOKEN, base_url=server.url, max_retries=0) as made:
        yield made


def run(client: Cloudflare, body: dict[str, Any], *, queued: bool = False) -> Any:
    answer = client.post(
        f"/accounts/{ACCOUNT}/ai/run/{MODEL}",
        body=body,
        cast_to=object,
        options={"params": {"queueRequest": "true"} if queued else {}},
    )
    assert isinstance(answer, dict) and answer["success"]
    return answer["result"]


def test_its_way_to_run_a_model_is_refused_as_by_the_real_service(client: Cloudflare) -> None:
    with pytest.raises(NotFoundError) as caught:
        client.ai.run(MODEL, account_id=ACCOUNT, text="one")
    assert {error.code for error in caught.value.errors} == {7000, 7003}


def test_a_batch_from_submit_to_its_answer(client: Cloudflare) -> None:
    requests = [{"query": "a llama", "contexts": CLOUDS, "external_reference": "r1"}, {"text": ["a", "b"]}]
    queued = run(client, {"requests": requests}, queued=True)
    assert queued["status"] == "queued" and queued["model"] == MODEL
    answer = run(client, {"request_id": queued["request_id"]}, queued=True)
    by_id = {element["id"]: element for element in answer["responses"]}
    assert by_id[0]["external_reference"] == "r1" and len(by_id[0]["result"]["response"]) == 3
    assert by_id[1]["result"]["shape"][0] == 2 and answer["usage"]["total_tokens"] > 0


def test_the_list_of_models(client: Cloudflare) -> None:
    page: Any = client.ai.models.list(account_id=ACCOUNT, search="bge", per_page=2)
    listed = [each["name"] for each in page]  # iterates over all pages
    assert MODEL in listed and len(listed) == len(set(listed)) == 4


def test_refusals_arrive_as_the_clients_errors(server: PracticeServer, client: Cloudflare) -> None:
    with pytest.raises(BadRequestError) as caught:
        run(client, {"request_id": "00000000-0000-4000-8000-000000000000"}, queued=True)
    assert caught.value.errors
    for found in (client.user.tokens.verify(), client.accounts.tokens.verify(account_id=ACCOUNT)):
        assert found is not None and found.status == "active"
    wrong = Cloudflare(api_token=OTHER_TOKEN, base_url=server.url, max_retries=0)
    with wrong as other, pytest.raises(AuthenticationError):
        other.user.tokens.verify()


pytestmark = pytest.mark.filterwarnings("ignore:Passing raw bytes as `body`:DeprecationWarning")

INDEX = "texts"
HEADERS = {"Content-Type": "application/x-ndjson"}


def line(identifier: str, axis: int, **metadata: object) -> bytes:
    values = [float(index == axis) for index in range(32)]
    return json.dumps({"id": identifier, "values": values, "metadata": metadata}).encode() + b"\n"


LINES = line("a", 0, colour="red") + line("b", 1, colour="blue") + line("c", 2, colour="red")


def test_an_index_and_its_vectors(client: Cloudflare) -> None:
    indexes: Any = client.vectorize.indexes
    config = {"dimensions": 32, "metric": "cosine"}
    indexes.create(account_id=ACCOUNT, name=INDEX, config=config, description="of a job")
    with pytest.raises(BadRequestError, match=r"vectorize\.index\.duplicate_name"):
        indexes.create(account_id=ACCOUNT, name=INDEX, config=config)
    with pytest.raises(BadRequestError, match=r"vectorize\.unknown_content_type"):  # its own way to upload
        indexes.upsert(INDEX, account_id=ACCOUNT, body=LINES)
    put = indexes.upsert(INDEX, account_id=ACCOUNT, body=LINES, extra_headers=HEADERS)
    info = indexes.info(INDEX, account_id=ACCOUNT)
    assert put.mutation_id == info.processed_up_to_mutation
    assert (info.dimensions, info.vector_count) == (32, 3) and info.processed_up_to_datetime is not None

    (read,) = indexes.get_by_ids(INDEX, account_id=ACCOUNT, ids=["a", "none"])
    assert read["values"][:2] == [1.0, 0.0] and read["metadata"] == {"colour": "red"}

    query = [1.0, 0.5, *[0.0] * 30]
    found = indexes.query(INDEX, account_id=ACCOUNT, vector=query, top_k=2)
    assert found.count == 2 and [match.id for match in found.matches] == ["a", "b"]
    assert found.matches[0].score > found.matches[1].score

    assert indexes.delete_by_ids(INDEX, account_id=ACCOUNT, ids=["a"]).mutation_id
    assert indexes.get_by_ids(INDEX, account_id=ACCOUNT, ids=["a"]) == []

    (listed,) = indexes.list(account_id=ACCOUNT)
    found = indexes.get(INDEX, account_id=ACCOUNT)
    assert found == listed and (found.name, found.description) == (INDEX, "of a job")
    with pytest.raises(NotFoundError, match=r"vectorize\.index\.not_found"):
        indexes.get("none", account_id=ACCOUNT)
