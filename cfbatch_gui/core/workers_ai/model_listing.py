"""The service's own list of models, read when it is asked for, kept with its date, and the program's list without it.

Sources: https://developers.cloudflare.com/workers-ai/models/ and
https://developers.cloudflare.com/api/resources/ai/subresources/models/methods/list/
"""

import logging
import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import msgspec

from cfbatch_gui.core.errors import ReplyError, UserError
from cfbatch_gui.core.system.files import write_atomically
from cfbatch_gui.core.workers_ai.catalogue import LISTED_ON, MODELS, ModelMetadata, find_model
from cfbatch_gui.core.workers_ai.client import PER_PAGE, WorkersAI
from cfbatch_gui.core.workers_ai.prices import DOLLARS_PER_NEURON
from cfbatch_gui.core.workers_ai.wire.decoding import decode

_TASK: Final = "text embeddings"  # jobs end in scores or vectors; the README says what text in, text out would want
_MOST_PAGES: Final = 20
_ROUNDING: Final = 0.1  # prices are printed with three decimals: within a tenth, our own number is the better one

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Catalogue:
    """Models, and when they were listed, in seconds since 1970. `is_live` is False for the program's own list."""

    models: tuple[ModelMetadata, ...]
    listed_at: float
    is_live: bool

    def find(self, name: str) -> ModelMetadata:
        """The metadata of a model by its exact name; cautious values for a name that no list has."""
        return next((model for model in self.models if model.name == name), None) or find_model(name)


FALLBACK: Final = Catalogue(
    MODELS, datetime(LISTED_ON.year, LISTED_ON.month, LISTED_ON.day, tzinfo=UTC).timestamp(), False
)


class _Named(msgspec.Struct):
    name: str = ""


class _Property(msgspec.Struct):
    property_id: str = ""
    value: msgspec.Raw = msgspec.Raw(b"null")


class _Model(msgspec.Struct):
    name: str = ""
    task: _Named | None = None
    properties: list[_Property] = []


class _Price(msgspec.Struct):
    unit: str = ""
    price: float | str = 0.0


_models_decoder: Final = msgspec.json.Decoder(list[msgspec.Raw])
_model_decoder: Final = msgspec.json.Decoder(_Model)
_prices_decoder: Final = msgspec.json.Decoder(list[_Price])
_text_decoder: Final = msgspec.json.Decoder(str | int | float | bool)


def read_models(result: msgspec.Raw) -> tuple[tuple[ModelMetadata, ...], int]:
    """The models for embeddings in one page of the list, and how many entries it had in all.

    Read leniently: booleans come as strings, numbers as either; an entry that cannot be read is passed over.
    Raises ReplyError when it is no list.
    """
    entries = decode(_models_decoder, result, "models")
    found = []
    for entry in entries:
        with suppress(msgspec.MsgspecError, UnicodeDecodeError):
            model = _model_decoder.decode(entry)
            if model.name and model.task is not None and model.task.name.casefold() == _TASK:
                found.append(_metadata(model))
    return tuple(found), len(entries)


class ModelLists:
    """One list for each connection. `place` says where a connection's is kept."""

    def __init__(self, place: Callable[[str], Path], *, clock: Callable[[], float]) -> None:
        self._place, self._clock = place, clock
        self._known: dict[str, Catalogue] = {}

    def of(self, connection_id: str) -> Catalogue:
        """As it was listed last through this connection; the program's own list where it never was."""
        if connection_id not in self._known:
            self._known[connection_id] = self._read(connection_id)
        return self._known[connection_id]

    async def refresh(self, connection_id: str, client: WorkersAI) -> Catalogue:
        """Ask the service. Raises UsageError for a connection without a list (a Worker), else as `find_models`."""
        models: dict[str, ModelMetadata] = {}
        for page in range(1, _MOST_PAGES + 1):
            found, count = read_models((await client.find_models("", page=page)).result)
            models |= {model.name: model for model in found}
            if count < PER_PAGE:
                break
        if not models:
            raise ReplyError("The list of models has none that makes vectors. The program's own list is used.")
        catalogue = Catalogue(tuple(models.values()), self._clock(), True)
        self._known[connection_id] = catalogue
        self._write(connection_id, catalogue)
        return catalogue

    def _read(self, connection_id: str) -> Catalogue:
        try:
            return msgspec.json.decode(self._place(connection_id).read_bytes(), type=Catalogue)
        except (OSError, ValueError):  # none yet, or one that cannot be read
            return FALLBACK

    def _write(self, connection_id: str, catalogue: Catalogue) -> None:
        path = self._place(connection_id)
        try:
            path.parent.mkdir(mode=0o700, exist_ok=True)
            write_atomically(path, msgspec.json.encode(catalogue))
        except (OSError, UserError):
            _log.warning("The list of models could not be kept.")


def _metadata(model: _Model) -> ModelMetadata:
    """What the list says, over what the program knows: pooling and ranking are in no list."""
    known = find_model(model.name)
    said = {each.property_id: each.value for each in model.properties}
    window = int(_number(said, "context_window"))
    per_text = int(_number(said, "max_input_tokens"))
    neurons = _neurons(said)
    if known.is_listed and neurons and abs(neurons / known.neurons_per_million - 1) < _ROUNDING:
        neurons = known.neurons_per_million
    return replace(
        known,
        dimension=int(_number(said, "output_dimensions")) or known.dimension,
        max_tokens=per_text or (known.max_tokens if known.is_listed else window or known.max_tokens),
        padded_tokens=known.padded_tokens if known.is_listed else window or known.padded_tokens,
        neurons_per_million=neurons or known.neurons_per_million,
        batch=_text(said, "async_queue").lower() == "true",
        retired_on=_text(said, "planned_deprecation_date")[:10],
        is_listed=True,
    )


def _text(said: dict[str, msgspec.Raw], name: str) -> str:
    try:
        return str(_text_decoder.decode(said[name]))
    except (KeyError, ValueError):
        return ""


def _number(said: dict[str, msgspec.Raw], name: str) -> float:
    try:
        number = float(_text(said, name).replace(",", ""))
    except ValueError:
        return 0.0
    return number if math.isfinite(number) and 0 < number < 1e9 else 0.0


def _neurons(said: dict[str, msgspec.Raw]) -> float:
    """Neurons for a million input tokens, from the price in dollars; 0.0 when it says none."""
    try:
        prices = _prices_decoder.decode(said["price"])
    except (KeyError, ValueError):
        return 0.0
    for each in prices:
        if "input tokens" in each.unit.lower():
            with suppress(ValueError):
                dollars = float(each.price)
                return dollars / DOLLARS_PER_NEURON if math.isfinite(dollars) and dollars > 0 else 0.0
    return 0.0
