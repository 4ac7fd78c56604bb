"""Decode what is posted to Vectorize as JSON, strictly by the types of the official client."""

import re
from typing import Annotated, Any, Final, Literal, TypeVar

import msgspec
from msgspec import UNSET, Meta, UnsetType

from cfbatch_gui.core.practice.vectorize.refusals import invalid_config, unreadable_body
from cfbatch_gui.core.workers_ai.limits import (
    INDEX_NAME_FORM,
    MAX_INDEX_DIMENSIONS,
    MAX_INDEX_NAME_BYTES,
    MIN_INDEX_DIMENSIONS,
)

Metric = Literal["cosine", "euclidean", "dot-product"]
PropertyType = Literal["string", "number", "boolean"]

# Dimensions and metric by preset: the documentation's, for the models that have one.
_PRESETS: Final[dict[str, tuple[int, Metric]]] = {
    "@cf/baai/bge-small-en-v1.5": (384, "cosine"),
    "@cf/baai/bge-base-en-v1.5": (768, "cosine"),
    "@cf/baai/bge-large-en-v1.5": (1_024, "cosine"),
    "openai/text-embedding-ada-002": (1_536, "cosine"),
    "cohere/embed-multilingual-v2.0": (768, "cosine"),
}


class _Config(msgspec.Struct, frozen=True):
    dimensions: int | UnsetType = UNSET
    metric: Metric | UnsetType = UNSET
    preset: str | UnsetType = UNSET


class _Index(msgspec.Struct, frozen=True):
    name: str
    config: _Config | UnsetType = UNSET
    description: str = ""


class NewIndex(msgspec.Struct, frozen=True):
    """An index to create."""

    name: str
    description: str
    dimensions: int
    metric: Metric


class Ids(msgspec.Struct, frozen=True):
    """Vectors to read or to delete."""

    ids: list[str]


class Query(msgspec.Struct, frozen=True, rename="camel"):
    """What to search for."""

    vector: list[float]
    top_k: Annotated[float, Meta(ge=1)] = 5
    filter: dict[str, Any] | UnsetType = UNSET
    return_values: bool = False
    return_metadata: Literal["none", "indexed", "all"] = "none"
    namespace: str | UnsetType = UNSET


class NewMetadataIndex(msgspec.Struct, frozen=True, rename="camel"):
    """A property of metadata to index."""

    property_name: str
    index_type: PropertyType


class OldMetadataIndex(msgspec.Struct, frozen=True, rename="camel"):
    """A property of metadata that need not be indexed any longer."""

    property_name: str


_Body = TypeVar("_Body")


def read_json(body: bytes, form: type[_Body]) -> _Body:
    """Decode a body. Raises RefusalError (400, 40026)."""
    try:
        return msgspec.json.decode(body, type=form)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as problem:
        raise unreadable_body(str(problem)) from None


def read_new_index(body: bytes) -> NewIndex:
    """Decode the body of a create call. Raises RefusalError."""
    posted = read_json(body, _Index)
    if posted.config is UNSET:
        raise invalid_config("Config must be provided")
    size = len(posted.name.encode())
    if not 0 < size <= MAX_INDEX_NAME_BYTES:
        raise invalid_config(f"Name must have from 1 to {MAX_INDEX_NAME_BYTES} bytes")
    if re.fullmatch(INDEX_NAME_FORM, posted.name) is None:
        raise invalid_config(f"Name must match ^({INDEX_NAME_FORM})$")
    dimensions, metric = _shape(posted.config)
    return NewIndex(posted.name, posted.description, dimensions, metric)


def _shape(config: _Config) -> tuple[int, Metric]:
    if config.preset is not UNSET:
        if config.preset not in _PRESETS:
            raise invalid_config(f"Unknown preset {config.preset}")
        return _PRESETS[config.preset]
    if config.dimensions is UNSET or config.metric is UNSET:
        raise invalid_config("Dimensions and metric must be provided")
    if not MIN_INDEX_DIMENSIONS <= config.dimensions <= MAX_INDEX_DIMENSIONS:
        raise invalid_config(f"Dimensions must be in range: [{MIN_INDEX_DIMENSIONS}, {MAX_INDEX_DIMENSIONS}]")
    return config.dimensions, config.metric
