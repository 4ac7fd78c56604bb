"""The service's list of models: unknown forms are tolerated, the last list is kept when a fetch fails."""

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cfbatch_gui.core.connections.credentials import Credentials
from cfbatch_gui.core.errors import UserError
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.workers_ai.catalogue import LISTED_ON, MODELS
from cfbatch_gui.core.workers_ai.catalogue import price as price_of
from cfbatch_gui.core.workers_ai.model_listing import read_entries, read_models
from tests.core.endpoints.conftest import Endpoints
from tests.support import faults
from tests.support.faults import Fault

MODEL = "@cf/baai/bge-m3"


def entry(name: str, task: str = "Text Embeddings", **properties: object) -> dict[str, object]:
    said = [{"property_id": key, "value": value} for key, value in properties.items()]
    return {"id": "x", "source": 1, "name": name, "task": {"name": task}, "tags": [], "properties": said}


def price(dollars: object) -> list[dict[str, object]]:
    return [{"unit": "per M input tokens", "price": dollars, "currency": "USD"}]


LIVE = [
    entry(MODEL, async_queue="true", context_window="60000", output_dimensions="1024", price=price(0.012)),
    entry(
        "@cf/new/embedder",
        async_queue="false",
        context_window=8192,
        max_input_tokens="4,096",
        output_dimensions=2560.0,
        price=price("0.022"),
        planned_deprecation_date="2027-01-31T00:00:00Z",
    ),
    entry("@cf/odd/embedder", context_window=[1], output_dimensions="many", price="cheap", async_queue=None),
    entry("@cf/meta/llama", "Text Generation", async_queue="true"),
    {"name": 3},
    "nothing",
]


def reply(models: object) -> Fault:
    return faults.any_reply(body=json.dumps({"result": models, "success": True, "errors": [], "messages": []}))


def test_each_fact_is_read_in_whatever_form_it_comes() -> None:
    entries = read_entries(msgspec.Raw(json.dumps(LIVE).encode()))
    models = read_models(entries)
    assert len(entries) == 6 and [model.name for model in models] == [MODEL, "@cf/new/embedder", "@cf/odd/embedder"]
    known, new, odd = models
    assert known.can_rank and known.neurons_per_million == 1_075 and known.padded_tokens == 60_000 and known.batch
    assert (new.max_tokens, new.padded_tokens, new.dimension, new.batch) == (4_096, 8_192, 2_560, False)
    assert new.neurons_per_million == pytest.approx(2_000) and new.retired_on == "2027-01-31" and not new.can_rank
    assert odd.dimension == 0 and odd.max_tokens > 0 and not price_of(1_000, odd).is_listed and not odd.batch


async def test_the_service_is_asked_and_the_list_kept(program: Program, endpoints: Endpoints) -> None:
    connection = program.address_book.find("Account")
    assert (
        program.connections.models(connection).models == MODELS and not program.connections.models(connection).is_live
    )
    endpoints.rest.follow(reply(LIVE))
    live = await program.connections.refresh_models(connection)
    assert live.is_live and live.listed_at > 1_780_000_000 and live.find("@cf/new/embedder").dimension == 2_560
    assert [model.texts_per_request for model in live.models] == [100, 32, 32]
    kept = await Program.open(program.paths.root.with_name("other"), environ={}, credentials=Credentials(environ={}))
    place = kept.paths.catalogue(connection)
    place.parent.mkdir()
    place.write_bytes(program.paths.catalogue(connection).read_bytes())
    assert kept.connections.models(connection) == live
    assert kept.connections.models("practice").models == MODELS  # each connection has its own
    await kept.close()


async def test_a_list_that_cannot_be_had_leaves_the_old_one(program: Program, endpoints: Endpoints) -> None:
    connection = program.address_book.find("Account")
    await program.connections.refresh_models(connection)
    before = program.connections.models(connection)
    for fault in (reply([]), reply({"a": 1}), faults.any_reply(body="{"), faults.any_reply(status=500)):
        endpoints.rest.follow(fault)
        with pytest.raises(UserError):
            await program.connections.refresh_models(connection)
        assert program.connections.models(connection) == before


async def test_a_damaged_list_means_the_programs_own(program: Program) -> None:
    place = program.paths.catalogue("practice")
    place.parent.mkdir(exist_ok=True)
    place.write_bytes(b'{"models":[{"name":')
    assert program.connections.models("practice").models == MODELS
    assert LISTED_ON.year == 2026


@given(st.recursive(st.none() | st.booleans() | st.floats() | st.text(max_size=5), st.lists, max_leaves=8))
def test_no_value_of_a_property_breaks_the_list(value: object) -> None:
    if isinstance(value, float) and not abs(value) < 1e300:
        value = None
    try:
        said = json.dumps([entry(MODEL, async_queue=value, price=value, output_dimensions=value)], allow_nan=False)
    except ValueError:
        return
    (metadata,) = read_models(read_entries(msgspec.Raw(said.encode())))
    assert metadata.name == MODEL and metadata.dimension > 0
