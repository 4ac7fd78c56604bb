"""Each kind of connection over a socket: pages, forms and states, its requests, and the errors made of its refusals."""

import json
import re
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from cfbatch_gui.core.errors import NotConnected, OutcomeUnknown, ServiceRefused, TokenRefused, Unreachable, UsageError
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.job_folder.row_problems import row_problems
from cfbatch_gui.core.practice.app import PREFIX, Application
from cfbatch_gui.core.system.settings import SavedConnection
from cfbatch_gui.core.workers_ai.answers import Embedded, Expected, Matched, Scored, match, read_run
from cfbatch_gui.core.workers_ai.client import _OF_GATEWAYS, Reply, WorkersAI
from cfbatch_gui.core.workers_ai.connection_kinds import PRACTICE, check_base_url
from cfbatch_gui.core.workers_ai.requests import Request, encode_batch, encode_request
from cfbatch_gui.core.workers_ai.transport import Transport
from tests.canary import OTHER_TOKEN
from tests.core.endpoints import conftest as stand_ins
from tests.core.endpoints.conftest import (
    ACCOUNT,
    GATEWAY,
    SECRET,
    TOKEN,
    CollectingRoom,
    Endpoints,
    connection,
    service,
)
from tests.screen.past import draft
from tests.support import faults
from tests.support.clients import client_of, gateway, worker
from tests.support.faulty_service import FaultyService
from tests.support.http import Answer, Head, application, as_json, ask
from tests.support.practice import accepted

MODEL = "@cf/baai/bge-m3"
BODY = encode_batch([encode_request(Request(("an orange cloud", "a llama"), "Cloudflare", reference="r1"))])
KINDS = ("rest", "worker", "gateway with a token", "gateway by header, with a token")


def connected(endpoints: Endpoints, kind: str, secret: str = "") -> WorkersAI:
    own = stand_ins.GATEWAY_TOKEN if "with a token" in kind else ""
    token = secret or (SECRET if kind == "worker" else TOKEN)
    return client_of(connection(endpoints, kind), token, gateway_token=own)


@pytest.mark.parametrize("kind", KINDS)
async def test_what_is_refused_was_not_accepted_and_a_wrong_secret_or_name_reaches_nothing(
    endpoints: Endpoints, kind: str
) -> None:
    with pytest.raises(TokenRefused) as caught:
        await connected(endpoints, kind, OTHER_TOKEN).submit(MODEL, BODY)
    assert OTHER_TOKEN not in f"{caught.value!r} {caught.value.detail}"
    with pytest.raises(ServiceRefused):
        await connected(endpoints, kind).submit(MODEL, b'{"requests":[{"nothing":1}]}')
    servers = (endpoints.rest, endpoints.worker, endpoints.gateway, endpoints.locked_gateway)
    before = [len(each.arrivals) for each in servers]
    for model in ("../../tokens/verify", "@cf/a?b", "@cf/a%2Fb", ""):
        with pytest.raises(UsageError):
            await connected(endpoints, kind).submit(model, b"{}")
    assert [len(each.arrivals) for each in servers] == before


async def test_a_gateway_that_asks_for_its_own_token_or_has_another_name_is_told_apart(endpoints: Endpoints) -> None:
    with pytest.raises(TokenRefused) as caught:
        await client_of(connection(endpoints, "gateway with a token")).submit(MODEL, BODY)
    assert caught.value.code == 2009
    with pytest.raises(ServiceRefused) as refused:
        await client_of(gateway(ACCOUNT, "other", url=endpoints.gateway.url)).submit(MODEL, BODY)
    assert refused.value.code == 2001


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
    behind, kept = service(tmp_path), list[bytes]()

    def client(through: FaultyService) -> WorkersAI:
        return client_of(gateway(ACCOUNT, GATEWAY, url=through.url))

    async with (
        FaultyService(stand_ins.gateway(behind, kept=kept)) as well,
        FaultyService(stand_ins.gateway(failing(behind))) as ill,
    ):
        ids = [(await client(well).submit(MODEL, BODY)).request_id for _ in range(2)]
        with pytest.raises(OutcomeUnknown):
            await client(ill).submit(MODEL, BODY)
    attempts = len(accepted(tmp_path)) - len(set(ids))
    assert (attempts > 1) is (missing == "cf-aig-max-attempts")
    assert (len(set(ids)) == 1) is (missing == "cf-aig-skip-cache")
    assert (kept != []) is (missing == "cf-aig-collect-log-payload")


@pytest.mark.parametrize(
    ("text", "address"),
    [
        (" https://api.cloudflare.com/client/v4/ \n", "https://api.cloudflare.com/client/v4"),
        *((text, text) for text in ("http://127.9.9.9", "http://[::1]:8787/client/v4", "http://localhost:1/client/v4")),
        ("https://proxy.example:8443/x", "https://proxy.example:8443/x"),
        *((text, "") for text in ("", "api.cloudflare.com", "http://api.cloudflare.com/client/v4")),
        *((text, "") for text in ("http://localhost.evil.example/", "http://127.0.0.1.evil.example/")),
        *((text, "") for text in ("http://0.0.0.0/", "http://10.0.0.1/", "ftp://127.0.0.1/", "https://")),
        *((text, "") for text in ("https:///path", f"https://user:{SECRET}@example.com/", "https://example.com/#a")),
        *((text, "") for text in ("https://exa mple.com/", "https://example.com/\nX: y", "https://ex\u0430mple.com/")),
        *((text, "") for text in ("https://example.com:port/", "http://[::1/")),
    ],
)
def test_a_secret_goes_to_no_unsafe_address(text: str, address: str) -> None:
    if address:
        assert check_base_url(text) == address
        return
    with pytest.raises(NotConnected) as caught:
        worker(text)
    assert SECRET not in caught.value.message + caught.value.detail


SEEDS = Path(__file__).parents[2] / "data" / "seeds"
STORIES = tuple(f"This is a story about {thing}" for thing in ("an orange cloud", "a llama", "a hugging emoji"))
QUERY = "This is a story about Cloudflare"
CONTEXTS = [{"text": text} for text in STORIES]


def body(line: str) -> bytes:
    """What a line of a page sends. That of 2025 has references on the contexts, that of 2026 on the request."""
    found = re.search(r"'(\{.*\})'", (SEEDS / line).read_text("utf-8"), re.DOTALL)
    assert found is not None
    return found[1].encode()


PAGES = (
    body("batch-rest-2025-send.sh"),
    body("batch-rest-2026-send.sh"),
    json.dumps({"requests": [{"query": QUERY, "contexts": CONTEXTS}]}).encode(),  # of the Workers Binding
)
FORMS = {  # with the number of vectors, 0 for scores
    json.dumps({"query": QUERY, "contexts": CONTEXTS}).encode(): 0,
    json.dumps({"contexts": CONTEXTS}).encode(): 3,
    json.dumps({"text": STORIES}).encode(): 3,
    json.dumps({"text": STORIES[0]}).encode(): 1,
    body("bge-m3-model-run.sh"): 3,  # a page too
}


async def through(endpoints: Endpoints, kind: str) -> AsyncIterator[WorkersAI]:
    """A client of the connection over a socket; for the practice service also one without, as in the program."""
    yield connected(endpoints, kind)
    if kind == "practice":
        yield client_of(PRACTICE, transport=Transport(application=endpoints.behind))


def expected(data: bytes) -> list[Expected]:
    """Of the first request of a body, or of a bare one."""
    sent = json.loads(data)
    first = sent.get("requests", [sent])[0]
    texts = first.get("contexts") or first["text"]
    kind, count = Kind.RANK if "query" in first else Kind.EMBED, 1 if isinstance(texts, str) else len(texts)
    return [Expected(first.get("external_reference", ""), kind, count)]


async def in_a_batch(client: WorkersAI, data: bytes) -> Matched:
    queued = await client.submit(MODEL, data)
    assert queued.request_id and queued.model == MODEL
    reply = await client.ask(MODEL, queued.request_id)
    assert isinstance(reply, Reply)
    (result,) = match(reply.finished, expected(data))
    return result


@pytest.mark.parametrize("kind", [*KINDS, "practice"])
async def test_pages_and_forms(endpoints: Endpoints, kind: str) -> None:
    async for client in through(endpoints, kind):
        for page in PAGES:
            result = await in_a_batch(client, page)
            assert isinstance(result, Scored) and result.scores.argmax() == 0
        for form, vectors in FORMS.items():
            (at_once,) = match(read_run(await client.run(MODEL, form)), expected(form))
            for result in (at_once, await in_a_batch(client, encode_batch([form]))):
                if vectors:
                    assert isinstance(result, Embedded) and len(result.vectors) == vectors
                else:
                    assert isinstance(result, Scored) and len(result.scores) == 3


async def test_the_page_of_another_network_is_told_from_the_rooms_answer(tmp_path: Path) -> None:
    room = CollectingRoom(service(tmp_path / "service"))
    service_of_network = FaultyService(room.application, [faults.page(on="check")])
    async with service_of_network as worker, stand_ins.opened_program(tmp_path / "data") as program:
        record = SavedConnection("", "Mine", "worker", url=worker.url.removesuffix(PREFIX))
        saved = await program.connections.save(record, secret=SECRET)
        with pytest.raises(Unreachable):
            await program.elsewhere.listed(saved.id)
        assert await program.elsewhere.listed(saved.id) == ()


async def test_batches_and_texts_stay_small_until_the_plan_is_a_paid_one(tmp_path: Path) -> None:
    texts = tmp_path / "texts.txt"
    many = "".join(f"{number} {'orange clouds ' * 100}\n" for number in range(2_200))
    texts.write_text(f"{many}{'a very long text ' * 70_000}\n", encoding="utf-8")
    record = SavedConnection("", "Mine", "worker", url="https://batch.example.workers.dev")
    async with stand_ins.opened_program(tmp_path / "data") as program:
        record = await program.connections.save(record, secret=SECRET)
        job = await draft(program, "Clouds", texts, Kind.EMBED, record.id)
        found, left_out = program.drafts.examine(job.id), list(row_problems(program.folder(job.id)))
        assert (found.texts, len(found.batches), len(left_out)) == (2_200, 4, 1)
        assert all(batch.bytes < 1_000_000 for batch in found.batches)
        await program.connections.save(replace(record, paid_plan=True))
        found, left_out = program.drafts.examine(job.id), list(row_problems(program.folder(job.id)))
    assert (found.texts, len(found.batches), left_out) == (2_201, 2, [])
