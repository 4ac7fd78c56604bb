"""Each of Cloudflare's pages, each form of request and answer, over each kind of connection."""

import json
import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from cfbatch_gui.core.errors import RequestGone
from cfbatch_gui.core.workers_ai.answers import Embedded, Finished, Matched, Scored, Waiting, match, read_run
from cfbatch_gui.core.workers_ai.client import Reply, WorkersAI
from cfbatch_gui.core.workers_ai.connection_kinds import PRACTICE
from cfbatch_gui.core.workers_ai.requests import encode_batch
from cfbatch_gui.core.workers_ai.transport import Transport
from tests.core.endpoints.conftest import GATEWAY_TOKEN, SECRET, TOKEN, Endpoints, connection, opened, service
from tests.parsed_requests import parse_requests
from tests.support.clients import client_of

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
