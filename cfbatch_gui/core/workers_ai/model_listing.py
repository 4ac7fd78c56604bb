"""The service's list of models, fetched on request and stored; the built-in list until then.

Source: https://developers.cloudflare.com/api/resources/ai/subresources/models/methods/list/
"""

import logging
import math
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import msgspec

from cfbatch_gui.core.errors import ReplyError, UserError
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.system.files import write_own_file
from cfbatch_gui.core.workers_ai.answers import decode
from cfbatch_gui.core.workers_ai.catalogue import DOLLARS_PER_NEURON, LISTED_ON, MODELS, ModelMetadata, find_model
from cfbatch_gui.core.workers_ai.client import PER_PAGE, WorkersAI

_TASK: Final = "text embeddings"  # jobs give scores or vectors; the README says what generating text would need
_MOST_PAGES: Final = 20
# Prices are rounded to three decimals: if both agree within a tenth, the catalogue's is more exact.
_ROUNDING: Final = 0.1

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Catalogue:
    """`listed_at` is in seconds since 1970; `is_live` is False for the built-in list."""

    models: tuple[ModelMetadata, ...]
    listed_at: float
    is_live: bool

    def find(self, name: str) -> ModelMetadata:
        return next((model for model in self.models if model.name == name), None) or find_model(name)


FALLBACK: Final = Catalogue(MODELS, LISTED_ON.timestamp(), False)


class _Named(msgspec.Struct):
    name: str = ""


class _Property(msgspec.Struct):
    property_id: str = ""
    value: object = None


class Entry(msgspec.Struct):
    """A model as the service lists it."""

    name: str = ""
    task: _Named | None = None
    properties: list[_Property] = []

    @property
    def facts(self) -> dict[str, object]:
        return {each.property_id: each.value for each in self.properties}


def read_entries(result: msgspec.Raw) -> list[Entry]:
    """All entries of a page; one that cannot be read has no name. Raises ReplyError when `result` is no list."""
    found = []
    for raw in decode(list[msgspec.Raw], result, "models"):
        try:
            found.append(msgspec.json.decode(raw, type=Entry))
        except (msgspec.MsgspecError, UnicodeDecodeError):
            found.append(Entry())
    return found


def read_models(entries: Iterable[Entry]) -> tuple[ModelMetadata, ...]:
    """The embedding models among them."""
    return tuple(_metadata(each) for each in entries if each.name and each.task and each.task.name.casefold() == _TASK)


class ModelLists:
    """The list of models of each connection; `path_of` is its file by the connection's id."""

    def __init__(self, path_of: Callable[[str], Path], *, clock: Callable[[], float]) -> None:
        self._path_of, self._clock = path_of, clock
        self._known: dict[str, Catalogue] = {}

    def of(self, connection_id: str) -> Catalogue:
        """The list that was last fetched through this connection, else the built-in one."""
        if connection_id not in self._known:
            self._known[connection_id] = FALLBACK
            with suppress(OSError, ValueError):  # not stored yet, or unreadable
                kept = self._path_of(connection_id).read_bytes()
                self._known[connection_id] = msgspec.json.decode(kept, type=Catalogue)
        return self._known[connection_id]

    async def refresh(self, connection_id: str, client: WorkersAI) -> Catalogue:
        """Fetch the list and store it.

        Raises UsageError for a Worker, ReplyError without an embedding model, and as `find_models`.
        """
        models: dict[str, ModelMetadata] = {}
        for page in range(1, _MOST_PAGES + 1):
            entries = read_entries((await client.find_models("", page=page)).result)
            models |= {model.name: model for model in read_models(entries)}
            if len(entries) < PER_PAGE:
                break
        if not models:
            raise ReplyError(message("list_models_none_makes_vectors_program"))
        catalogue = Catalogue(tuple(models.values()), self._clock(), True)
        self._known[connection_id] = catalogue
        path = self._path_of(connection_id)
        try:
            path.parent.mkdir(mode=0o700, exist_ok=True)
            write_own_file(path, msgspec.json.encode(catalogue, enc_hook=str))  # messages as their text
        except (OSError, UserError):
            _log.warning("The list of models could not be kept.")
        return catalogue


def _metadata(model: Entry) -> ModelMetadata:
    known, facts = find_model(model.name), model.facts
    window, per_text = int(_number(facts, "context_window")), int(_number(facts, "max_input_tokens"))
    dollars = listed_dollars(model)
    neurons = dollars / DOLLARS_PER_NEURON
    if known.is_listed and neurons and abs(neurons / known.neurons_per_million - 1) < _ROUNDING:
        neurons = known.neurons_per_million
    return replace(
        known,
        dimension=int(_number(facts, "output_dimensions")) or known.dimension,
        max_tokens=per_text or (known.max_tokens if known.is_listed else window or known.max_tokens),
        padded_tokens=known.padded_tokens if known.is_listed else window or known.padded_tokens,
        neurons_per_million=neurons or known.neurons_per_million,
        dollars_per_million=dollars or known.dollars_per_million,
        batch=is_marked_for_batches(model),
        retired_on=str(facts.get("planned_deprecation_date") or "")[:10],
        is_listed=True,
    )


def is_marked_for_batches(model: Entry) -> bool:
    return str(model.facts.get("async_queue")).lower() == "true"


def _number(facts: dict[str, object], name: str) -> float:
    try:
        number = float(str(facts.get(name)).replace(",", ""))
    except ValueError:
        return 0.0
    return number if math.isfinite(number) and 0 < number < 1e9 else 0.0


def listed_dollars(model: Entry) -> float:
    """The price of a million input tokens, 0.0 for none that is understood."""
    listed = model.facts.get("price")
    for each in listed if isinstance(listed, list) else ():
        if isinstance(each, dict) and "input tokens" in str(each.get("unit")).lower():
            return _number(each, "price")
    return 0.0
