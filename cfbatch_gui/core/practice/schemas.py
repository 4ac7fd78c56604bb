"""The published JSON Schemas of the models' inputs and outputs, as `ai/models/schema` returns them.

Source: https://developers.cloudflare.com/workers-ai/models/bge-m3/ and the pages of the other bge models.
"""

from typing import Any

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
