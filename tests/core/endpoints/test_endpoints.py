"""The requests of each kind of connection over a socket, and the errors made of its refusals."""

from collections.abc import Callable
from pathlib import Path

import pytest

from cfbatch_gui.core.errors import (
    NotConnected,
    OutcomeUnknown,
    ServiceRefused,
    TokenRefused,
    UsageError,
)
from cfbatch_gui.core.practice.app import Application
from cfbatch_gui.core.workers_ai.api_tokens import Token
from cfbatch_gui.core.workers_ai.client import _OF_GATEWAYS, WorkersAI
from cfbatch_gui.core.workers_ai.connection_kinds import Connection, cloudflare, gateway, worker
from cfbatch_gui.core.workers_ai.limits import RateBudget
from cfbatch_gui.core.workers_ai.requests import RankRequest, encode_batch, encode_request
from cfbatch_gui.core.workers_ai.transport import Transport
from tests.canary import OTHER_TOKEN
from tests.core.endpoints.conftest import (
    ACCOUNT,
    GATEWAY,
    GATEWAY_TOKEN,
    SECRET,
    TOKEN,
    Endpoints,
    service,
)
from tests.core.endpoints.conftest import gateway as gateway_to
from tests.support import faults
from tests.support.faults import Fault
from tests.support.faulty_service import FaultyService
from tests.support.http import Answer, Head, application, as_json, ask
from tests.support.practice import accepted

MODEL = "@cf/baai/bge-m3"
RANK = RankRequest("This is a story about Cloudflare", ("an orange cloud", "a llama", "an emoji"), reference="r1")
KINDS = ("rest", "worker", "gateway", "gateway by header", "gateway with a token")

Connect = Callable[..., WorkersAI]


def connection(endpoints: Endpoints, kind: str) -> Connection:
    match kind:
        case "rest":
            return cloudflare(ACCOUNT, base_url=endpoints.rest.url)
        case "worker":
            return worker(endpoints.worker_url, connection_id="w", title="My Worker")
    endpoint = endpoints.locked_gateway if kind == "gateway with a token" else endpoints.gateway
    return gateway(
        ACCOUNT,
        GATEWAY,
        connection_id="g",
        title="My gateway",
        by_header=kind == "gateway by header",
        base_url=endpoint.url,
        api_base_url=endpoint.url,
    )


@pytest.fixture
def connect(endpoints: Endpoints) -> Connect:
    def connected(kind: str, secret: str = "") -> WorkersAI:
        async def token() -> Token:
            return Token(secret or (SECRET if kind == "worker" else TOKEN))

        async def gateway_token() -> Token | None:
            return Token(GATEWAY_TOKEN) if kind == "gateway with a token" else None

        here = connection(endpoints, kind)
        return WorkersAI(here, token, gateway_token=gateway_token, transport=Transport(), budget=RateBudget())

    return connected


@pytest.mark.parametrize("kind", KINDS)
async def test_a_secret_that_is_refused_stops_everything(connect: Connect, kind: str) -> None:
    wrong = OTHER_TOKEN
    with pytest.raises(TokenRefused) as caught:
        await connect(kind, wrong).submit(MODEL, encode_batch([encode_request(RANK)]))
    assert wrong not in f"{caught.value!r} {caught.value.detail}"
    assert ("secret" in caught.value.message) is (kind == "worker")


@pytest.mark.parametrize("kind", KINDS)
async def test_a_refusal_is_proof_that_nothing_was_accepted(connect: Connect, kind: str) -> None:
    with pytest.raises(ServiceRefused):
        await connect(kind).submit(MODEL, b'{"requests":[{"nothing":1}]}')


@pytest.mark.parametrize("kind", ["rest", "worker", "gateway"])
@pytest.mark.parametrize("fault", [faults.page(status=502), faults.refusal(status=500, code=5001, envelope=False)])
async def test_a_fault_leaves_the_outcome_unknown(
    connect: Connect, endpoints: Endpoints, kind: str, fault: Fault
) -> None:
    getattr(endpoints, kind).follow(fault)
    with pytest.raises(OutcomeUnknown):
        await connect(kind).submit(MODEL, encode_batch([encode_request(RANK)]))


async def test_a_gateway_that_asks_for_its_own_token_says_so(endpoints: Endpoints) -> None:
    async def token() -> Token:
        return Token(TOKEN)

    client = WorkersAI(connection(endpoints, "gateway with a token"), token, transport=Transport(), budget=RateBudget())
    with pytest.raises(TokenRefused, match="gateway"):
        await client.submit(MODEL, encode_batch([encode_request(RANK)]))


def failing(behind: Application) -> Application:
    """Accepts batches, and answers with a fault all the same."""

    async def answer(head: Head, body: bytes) -> Answer:
        await ask(behind, head, body)
        return as_json(502, {})

    return application(answer)


@pytest.mark.parametrize("missing", ["", *_OF_GATEWAYS])
async def test_a_gateway_repeats_nothing_answers_nothing_from_its_cache_and_keeps_no_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    """And would, without the header that forbids it."""
    monkeypatch.delitem(_OF_GATEWAYS, missing, raising=False)
    behind, body, kept = service(tmp_path), encode_batch([encode_request(RANK)]), list[bytes]()

    async def token() -> Token:
        return Token(TOKEN)

    def client(through: FaultyService) -> WorkersAI:
        here = gateway(ACCOUNT, GATEWAY, connection_id="g", title="G", base_url=through.url)
        return WorkersAI(here, token, transport=Transport(), budget=RateBudget())

    async with FaultyService(gateway_to(behind, kept=kept)) as well, FaultyService(gateway_to(failing(behind))) as ill:
        ids = [(await client(well).submit(MODEL, body)).request_id for _ in range(2)]
        with pytest.raises(OutcomeUnknown):
            await client(ill).submit(MODEL, body)
    attempts = len(accepted(tmp_path)) - len(set(ids))
    assert (attempts > 1) is (missing == "cf-aig-max-attempts")
    assert (len(set(ids)) == 1) is (missing == "cf-aig-skip-cache")
    assert (kept != []) is (missing == "cf-aig-collect-log-payload")


async def test_a_gateway_of_another_name_is_not_found(endpoints: Endpoints, connect: Connect) -> None:
    client = connect("gateway")
    other = gateway(ACCOUNT, "other", connection_id="g", title="G", base_url=endpoints.gateway.url)
    with pytest.raises(ServiceRefused, match="no AI Gateway"):
        await WorkersAI(other, client._token, transport=client._transport, budget=RateBudget()).submit(MODEL, b"{}")


@pytest.mark.parametrize("address", ["http://batch.example.com", "batch.example.com", "https://u:p@example.com", ""])
def test_a_secret_goes_to_no_unsafe_address(address: str) -> None:
    with pytest.raises(NotConnected):
        worker(address, connection_id="w", title="W")


@pytest.mark.parametrize("kind", KINDS)
async def test_a_models_name_cannot_become_another_address(connect: Connect, endpoints: Endpoints, kind: str) -> None:
    for model in ("../../tokens/verify", "@cf/a?b", "@cf/a%2Fb", ""):
        with pytest.raises(UsageError):
            await connect(kind).submit(model, b"{}")
    assert not endpoints.rest.arrivals + endpoints.worker.arrivals + endpoints.gateway.arrivals


@pytest.mark.parametrize("kind", KINDS)
async def test_a_probe_costs_nothing_and_sends_no_text(connect: Connect, endpoints: Endpoints, kind: str) -> None:
    await connect(kind).probe(MODEL)
    assert not endpoints.rest.submits + endpoints.worker.submits + endpoints.gateway.submits
