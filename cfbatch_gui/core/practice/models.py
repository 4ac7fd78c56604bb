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

_ONE_TEXT: Schema = {"type": "string", "minLength": 1}
_TEXT: Schema = {"oneOf": [_ONE_TEXT, {"type": "array", "items": _ONE_TEXT, "maxItems": MOST_TEXTS}]}
_CONTEXTS: Schema = {"type": "array", "items": {"type": "object", "properties": {"text": _ONE_TEXT}}}
_TRUNCATE: Schema = {"type": "boolean", "default": False}
_POOLING: Schema = {"type": "string", "enum": ["mean", "cls"], "default": "mean"}


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
        """The published one, without its descriptions and the forms of answers."""
        options = {"truncate_inputs": _TRUNCATE} if self.can_rank else {"pooling": _POOLING}
        forms: list[Schema] = [{"properties": {"text": _TEXT, **options}, "required": ["text"]}]
        if self.can_rank:
            contexts = {"query": _ONE_TEXT, "contexts": _CONTEXTS, **options}
            forms.insert(0, {"properties": contexts, "required": ["contexts"]})
        requests = {"type": "array", "items": {"type": "object", "oneOf": forms}}
        batch = {"properties": {"requests": requests}, "required": ["requests"]}
        return {"input": {"type": "object", "oneOf": [*forms, batch]}, "output": {"type": "object"}}


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
