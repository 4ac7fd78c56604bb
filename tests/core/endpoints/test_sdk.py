"""Cloudflare's own Python client with the practice service, for every call that both support.

`client.ai.run` percent-encodes the slashes of a model's name since version 5, and the service refuses that
(https://github.com/cloudflare/cloudflare-python/issues/2718); so does the practice service. Its `client.post` works.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cloudflare import APIStatusError, AuthenticationError, BadRequestError, Cloudflare, NotFoundError

from cfbatch_gui.core.practice.local_models import HashedNgrams
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


def run(client: Cloudflare, body: dict[str, Any], *, queued: bool = False, model: str = MODEL) -> Any:
    answer = client.post(
        f"/accounts/{ACCOUNT}/ai/run/{model}",
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


def test_the_list_of_models_and_a_schema(client: Cloudflare) -> None:
    page: Any = client.ai.models.list(account_id=ACCOUNT, search="bge", per_page=2)
    listed = [each["name"] for each in page]  # iterates over all pages
    assert MODEL in listed and len(listed) == len(set(listed)) == 4
    schema: Any = client.ai.models.schema.get(account_id=ACCOUNT, model=MODEL)
    assert schema.to_dict()["input"]["oneOf"]


def test_both_ways_to_verify_a_token(client: Cloudflare) -> None:
    user, account = client.user.tokens.verify(), client.accounts.tokens.verify(account_id=ACCOUNT)
    assert user is not None and user.status == "active"
    assert account is not None and account.status == "active"


@pytest.mark.parametrize(
    ("body", "queued", "kind"),
    [
        ({"request_id": "00000000-0000-4000-8000-000000000000"}, True, BadRequestError),
        ({"requests": [{"query": ""}]}, True, BadRequestError),
        ({"requests": [{"text": "a"}]}, False, BadRequestError),
    ],
)
def test_refusals_arrive_as_the_clients_errors(
    client: Cloudflare, body: dict[str, Any], queued: bool, kind: type[APIStatusError]
) -> None:
    with pytest.raises(kind) as caught:
        run(client, body, queued=queued)
    assert caught.value.errors


def test_a_wrong_token_and_a_wrong_account(server: PracticeServer, client: Cloudflare) -> None:
    wrong = "cfut_another_token_that_is_long_enough_9"
    with (
        Cloudflare(api_token=wrong, base_url=server.url, max_retries=0) as other,
        pytest.raises(AuthenticationError),
    ):
        other.user.tokens.verify()
    with pytest.raises(NotFoundError):
        client.ai.models.list(account_id="not-an-account")
