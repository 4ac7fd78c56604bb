"""Each kind of connection over a socket: pages, forms and states, its requests, and the errors made of its refusals."""

import json
import re
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path

import pytest

from cfbatch_gui.core.errors import (
    NotConnected,
    OutcomeUnknown,
    RequestGone,
    ServiceRefused,
    TokenRefused,
    Unreachable,
    UsageError,
)
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.job_folder.row_problems import row_problems
from cfbatch_gui.core.practice.app import PREFIX, Application
from cfbatch_gui.core.system.settings import SavedConnection
from cfbatch_gui.core.workers_ai.answers import Embedded, Finished, Matched, Scored, Waiting, match, read_run
from cfbatch_gui.core.workers_ai.client import _OF_GATEWAYS, Reply, WorkersAI
from cfbatch_gui.core.workers_ai.connection_kinds import PRACTICE
from cfbatch_gui.core.workers_ai.requests import Request, encode_batch, encode_request
from cfbatch_gui.core.workers_ai.transport import Transport
from tests.canary import OTHER_TOKEN
from tests.core.endpoints.collecting_room import CollectingRoom
from tests.core.endpoints.conftest import (
    ACCOUNT,
    GATEWAY,
    GATEWAY_TOKEN,
    SECRET,
    TOKEN,
    Endpoints,
    connection,
    opened,
    opened_program,
    service,
)
from tests.core.endpoints.conftest import gateway as gateway_to
from tests.parsed_requests import parse_requests
from tests.screen.past import draft
from tests.support import faults
from tests.support.clients import client_of, gateway, worker
from tests.support.faults import Fault
from tests.support.faulty_service import FaultyService
from tests.support.http import Answer, Head, application, as_json, ask
from tests.support.practice import accepted

MODEL = "@cf/baai/bge-m3"
RANK = Request(("an orange cloud", "a llama", "an emoji"), "This is a story about Cloudflare", reference="r1")
KINDS = ("rest", "worker", "gateway", "gateway by header", "gateway with a token")

Connect = Callable[..., WorkersAI]


@pytest.fixture
def connect(endpoints: Endpoints) -> Connect:
    def connected(kind: str, secret: str = "") -> WorkersAI:
        own = GATEWAY_TOKEN if kind == "gateway with a token" else ""
        token = secret or (SECRET if kind == "worker" else TOKEN)
        return client_of(connection(endpoints, kind), token, gateway_token=own)

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


async def test_a_gateway_that_asks_for_its_own_token_or_has_another_name_says_so(endpoints: Endpoints) -> None:
    body = encode_batch([encode_request(RANK)])
    with pytest.raises(TokenRefused, match="gateway"):
        await client_of(connection(endpoints, "gateway with a token")).submit(MODEL, body)
    other = gateway(ACCOUNT, "other", url=endpoints.gateway.url)
    with pytest.raises(ServiceRefused, match="no AI Gateway"):
        await client_of(other).submit(MODEL, body)


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

    def client(through: FaultyService) -> WorkersAI:
        return client_of(gateway(ACCOUNT, GATEWAY, url=through.url))

    async with FaultyService(gateway_to(behind, kept=kept)) as well, FaultyService(gateway_to(failing(behind))) as ill:
        ids = [(await client(well).submit(MODEL, body)).request_id for _ in range(2)]
        with pytest.raises(OutcomeUnknown):
            await client(ill).submit(MODEL, body)
    attempts = len(accepted(tmp_path)) - len(set(ids))
    assert (attempts > 1) is (missing == "cf-aig-max-attempts")
    assert (len(set(ids)) == 1) is (missing == "cf-aig-skip-cache")
    assert (kept != []) is (missing == "cf-aig-collect-log-payload")


@pytest.mark.parametrize("address", ["http://batch.example.com", "batch.example.com", "https://u:p@example.com", ""])
def test_a_secret_goes_to_no_unsafe_address(address: str) -> None:
    with pytest.raises(NotConnected):
        worker(address)


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


MODEL = "@cf/baai/bge-m3"
SEEDS = Path(__file__).parents[2] / "data" / "seeds"
CONNECTIONS = ("rest", "worker", "gateway with a token", "gateway by header, with a token", "practice")
STORIES = (
    "This is a story about an orange cloud",
    "This is a story about a llama",
    "This is a story about a hugging emoji",
)
QUERY = "This is a story about Cloudflare"
CONTEXTS = [{"text": text} for text in STORIES]


def body(line: str) -> bytes:
    """What a line of a page sends. That of 2025 has references on the contexts, that of 2026 on the request."""
    found = re.search(r"'(\{.*\})'", (SEEDS / line).read_text("utf-8"), re.DOTALL)
    assert found is not None
    return found[1].encode()


PAGES = {
    "REST API, 2025": body("batch-rest-2025-send.sh"),
    "REST API, 2026": body("batch-rest-2026-send.sh"),
    "Workers Binding": json.dumps({"requests": [{"query": QUERY, "contexts": CONTEXTS}]}).encode(),
    "bge-m3": body("bge-m3-model-run.sh"),  # runs at once
}
FORMS = {
    "query and contexts → scores": {"query": QUERY, "contexts": CONTEXTS},
    "contexts → vectors (`response`)": {"contexts": CONTEXTS},
    "one text → a vector (`data`)": {"text": STORIES[0]},
    "several texts → vectors (`data`)": {"text": STORIES},
}
WAYS = ("in a batch", "at once")
STATES = ("queued", "running", "an unknown id (5504)")


async def through(endpoints: Endpoints, name: str) -> AsyncIterator[WorkersAI]:
    """A client of the connection over a socket; for the practice service also one without, as in the program."""
    token = SECRET if name == "worker" else TOKEN
    yield client_of(connection(endpoints, name), token, gateway_token=GATEWAY_TOKEN)
    if name == "practice":
        yield client_of(PRACTICE, token, transport=Transport(application=endpoints.behind))


async def answered(client: WorkersAI, data: bytes, way: str) -> list[Matched]:
    """Send the body unchanged, and return the answer matched with the body's requests."""
    requests = parse_requests(data)
    if way == "at once":
        finished: Finished = read_run(await client.run(MODEL, data))
    else:
        queued = await client.submit(MODEL, data)
        assert queued.request_id and queued.model == MODEL
        reply = await client.ask(MODEL, queued.request_id)
        assert isinstance(reply, Reply)
        finished = reply.finished
    return list(match(finished, requests))


@pytest.mark.parametrize("kind", CONNECTIONS)
@pytest.mark.parametrize("page", PAGES)
async def test_page(endpoints: Endpoints, page: str, kind: str) -> None:
    async for client in through(endpoints, kind):
        (result,) = await answered(client, PAGES[page], "at once" if page == "bge-m3" else "in a batch")
        if page == "bge-m3":
            assert isinstance(result, Embedded) and result.vectors.shape[0] == 3
        else:
            assert isinstance(result, Scored) and result.scores.argmax() == 0


@pytest.mark.parametrize("kind", CONNECTIONS)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("form", FORMS)
async def test_form(endpoints: Endpoints, form: str, way: str, kind: str) -> None:
    element = json.dumps(FORMS[form]).encode()
    async for client in through(endpoints, kind):
        (result,) = await answered(client, encode_batch([element]) if way == "in a batch" else element, way)
        if form.endswith("scores"):
            assert isinstance(result, Scored) and len(result.scores) == 3
        else:
            assert isinstance(result, Embedded) and result.vectors.shape[0] == (1 if form.startswith("one") else 3)


@pytest.mark.parametrize("kind", CONNECTIONS)
@pytest.mark.parametrize("state", STATES)
async def test_state(tmp_path: Path, state: str, kind: str) -> None:
    queued, running = (9e9 if state == each else 0.0 for each in ("queued", "running"))
    behind = service(tmp_path, seconds_queued=queued, seconds_running=running)
    async with opened(behind) as endpoints:
        async for client in through(endpoints, kind):
            if state not in ("queued", "running"):
                with pytest.raises(RequestGone):
                    await client.ask(MODEL, "768f15b7-4fd6-4498-906e-ad94ffc7f8d2")
                continue
            accepted = await client.submit(MODEL, PAGES["REST API, 2026"])
            assert await client.ask(MODEL, accepted.request_id) == Waiting(state, accepted.request_id, MODEL)


async def test_the_page_of_another_network_is_told_from_the_rooms_answer(tmp_path: Path) -> None:
    room = CollectingRoom(service(tmp_path / "service"))
    service_of_network = FaultyService(room.application, [faults.page(on="check")])
    async with service_of_network as worker, opened_program(tmp_path / "data") as program:
        record = SavedConnection("", "Mine", "worker", url=worker.url.removesuffix(PREFIX))
        saved = await program.connections.save(record, secret=SECRET)
        with pytest.raises(Unreachable, match="sign in first"):
            await program.elsewhere.listed(saved.id)
        assert await program.elsewhere.listed(saved.id) == ()


async def test_batches_and_texts_stay_small_until_the_plan_is_a_paid_one(tmp_path: Path) -> None:
    texts = tmp_path / "texts.txt"
    many = "".join(f"{number} {'orange clouds ' * 100}\n" for number in range(2_200))
    texts.write_text(f"{many}{'a very long text ' * 70_000}\n", encoding="utf-8")
    record = SavedConnection("", "Mine", "worker", url="https://batch.example.workers.dev")
    async with opened_program(tmp_path / "data") as program:
        record = await program.connections.save(record, secret=SECRET)
        job = await draft(program, "Clouds", texts, Kind.EMBED, record.id)
        found, left_out = program.drafts.examine(job.id), list(row_problems(program.folder(job.id)))
        assert (found.texts, len(found.batches)) == (2_200, 4)
        assert all(batch.bytes < 1_000_000 for batch in found.batches)
        assert ["(1 MB)" in row.reason for row in left_out] == [True]
        await program.connections.save(replace(record, paid_plan=True))
        found, left_out = program.drafts.examine(job.id), list(row_problems(program.folder(job.id)))
    assert (found.texts, len(found.batches), left_out) == (2_201, 2, [])
