"""The models the practice service answers for: their schemas, rules and place in the catalogue.

Source: https://developers.cloudflare.com/workers-ai/models/bge-m3/ and the pages of the other bge models.
"""

import uuid
from dataclasses import dataclass
from typing import Any

from cfbatch_gui.core.practice.local_models import PracticeModel
from cfbatch_gui.core.workers_ai.limits import BGE_ENGLISH_TEXT_TOKENS, BGE_M3_PADDED_TOKENS, BGE_M3_TEXT_TOKENS

Schema = dict[str, Any]

MOST_TEXTS = 100

_TRUNCATE: Schema = {
    "type": "boolean",
    "default": False,
    "description": "When provided with too long context should the model error out or truncate the context to fit?",
}
_TEXT: Schema = {
    "oneOf": [
        {"type": "string", "description": "The text to embed", "minLength": 1},
        {
            "type": "array",
            "description": "Batch of text values to embed",
            "items": {"type": "string", "description": "The text to embed", "minLength": 1},
            "maxItems": MOST_TEXTS,
        },
    ]
}
_CONTEXTS: Schema = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {
            "text": {"type": "string", "minLength": 1, "description": "One of the provided context content"}
        },
    },
    "description": "List of provided contexts. Note that the index in this array is important, "
    "as the response will refer to it.",
}
_QUERY: Schema = {
    "type": "string",
    "minLength": 1,
    "description": "A query you wish to perform against the provided contexts. "
    "If no query is provided the model with respond with embeddings for contexts",
}
_POOLING: Schema = {
    "type": "string",
    "enum": ["mean", "cls"],
    "description": "The pooling method used in the embedding process.",
}
_POOLING_OPTION: Schema = {**_POOLING, "default": "mean"}
_VECTORS: Schema = {"type": "array", "items": {"type": "array", "items": {"type": "number"}}}
_SHAPE: Schema = {"type": "array", "items": {"type": "number"}}
_SCORES: Schema = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {
            "id": {"type": "integer", "description": "Index of the context in the request"},
            "score": {"type": "number", "description": "Score of the context under the index."},
        },
    },
}
_ASYNC_ANSWER: Schema = {
    "type": "object",
    "contentType": "application/json",
    "title": "Async response",
    "properties": {
        "request_id": {
            "type": "string",
            "description": "The async request ID that can be used to obtain the results.",
        }
    },
}

_RANK_ELEMENT: Schema = {
    "title": "BGE M3 Input Query and Contexts",
    "properties": {"query": _QUERY, "contexts": _CONTEXTS, "truncate_inputs": _TRUNCATE},
    "required": ["contexts"],
}
_EMBED_ELEMENT: Schema = {
    "title": "BGE M3 Input Embedding",
    "properties": {"text": _TEXT, "truncate_inputs": _TRUNCATE},
    "required": ["text"],
}
_TEXT_ELEMENT: Schema = {"properties": {"text": _TEXT, "pooling": _POOLING_OPTION}, "required": ["text"]}


def _batch_of(items: Schema) -> Schema:
    requests = {"type": "array", "description": "Batch of the embeddings requests to run using async-queue"}
    return {"properties": {"requests": {**requests, "items": {"type": "object", **items}}}, "required": ["requests"]}


def _output(*forms: Schema) -> Schema:
    return {"type": "object", "contentType": "application/json", "oneOf": [*forms, _ASYNC_ANSWER]}


_DATA: Schema = {"properties": {"shape": _SHAPE, "data": _VECTORS, "pooling": _POOLING}}

RANKING_MODEL: Schema = {
    "input": {
        "type": "object",
        "oneOf": [_RANK_ELEMENT, _EMBED_ELEMENT, _batch_of({"oneOf": [_RANK_ELEMENT, _EMBED_ELEMENT]})],
    },
    "output": _output(
        {"title": "BGE M3 Ouput Query", "properties": {"response": _SCORES}},
        {
            "title": "BGE M3 Output Embedding for Contexts",
            "properties": {"response": _VECTORS, "shape": _SHAPE, "pooling": _POOLING},
        },
        {"title": "BGE M3 Ouput Embedding", **_DATA},
    ),
}
TEXT_MODEL: Schema = {
    "input": {"type": "object", "oneOf": [_TEXT_ELEMENT, _batch_of(_TEXT_ELEMENT)]},
    "output": _output(_DATA),
}


@dataclass(frozen=True, slots=True)
class ServedModel:
    """The rules of one of Cloudflare's models.

    `most_padded_tokens` holds for one request, the number of texts times the longest; None where no such limit is
    known. `price` is dollars per million input tokens.
    """

    name: str
    summary: str
    can_rank: bool
    most_tokens: int
    most_padded_tokens: int | None
    can_truncate: bool
    default_pooling: str
    price: float

    @property
    def schema(self) -> Schema:
        return RANKING_MODEL if self.can_rank else TEXT_MODEL


def _english(size: str, price: float) -> ServedModel:
    return ServedModel(
        name=f"@cf/baai/bge-{size}-en-v1.5",
        summary=f"BAAI general embedding ({size.capitalize()}), English.",
        can_rank=False,
        most_tokens=BGE_ENGLISH_TEXT_TOKENS,
        most_padded_tokens=None,
        can_truncate=False,
        default_pooling="mean",
        price=price,
    )


SERVED = (
    ServedModel(
        name="@cf/baai/bge-m3",
        summary="Multi-Functionality, Multi-Linguality, and Multi-Granularity embeddings model.",
        can_rank=True,
        most_tokens=BGE_M3_TEXT_TOKENS,
        most_padded_tokens=BGE_M3_PADDED_TOKENS,
        can_truncate=True,
        default_pooling="cls",
        price=0.012,
    ),
    _english("small", 0.020),
    _english("base", 0.067),
    _english("large", 0.204),
)
_BY_NAME = {model.name: model for model in SERVED}


def find(name: str) -> ServedModel | None:
    return _BY_NAME.get(name)


def search(words: str, engine: PracticeModel) -> list[dict[str, Any]]:
    """Catalogue items whose name or description holds `words`; the dimension is the practice model's."""
    items = (_item(model, engine) for model in SERVED)
    wanted = words.casefold()
    return [item for item in items if wanted in item["name"].casefold() or wanted in item["description"].casefold()]


def _item(model: ServedModel, engine: PracticeModel) -> dict[str, Any]:
    properties: dict[str, Any] = {
        "async_queue": "true",
        "context_window": str(model.most_padded_tokens or model.most_tokens),
        "max_input_tokens": str(model.most_tokens),
        "output_dimensions": str(engine.dimension),
        "price": [{"unit": "per M input tokens", "price": model.price, "currency": "USD"}],
    }
    return {
        "id": str(uuid.uuid5(uuid.NAMESPACE_URL, model.name)),
        "source": 1,
        "name": model.name,
        "description": f"{model.summary} Practice stand-in: the vectors are made on this computer by {engine.name} "
        f"({engine.dimension} dimensions), not by the real model.",
        "task": {
            "id": str(uuid.uuid5(uuid.NAMESPACE_URL, "Text Embeddings")),
            "name": "Text Embeddings",
            "description": "Feature extraction models transform raw data into numerical features.",
        },
        "tags": [],
        "properties": [{"property_id": key, "value": value} for key, value in properties.items()],
    }
