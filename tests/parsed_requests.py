"""A reader of request bodies, written apart from the encoder: what was sent is held against what was meant."""

from typing import Final

import msgspec

from cfbatch_gui.core.workers_ai.requests import Request


class _Context(msgspec.Struct):
    text: str


class _Element(msgspec.Struct):
    query: str | None = None
    contexts: list[_Context] | None = None
    text: str | list[str] | None = None
    truncate_inputs: bool | None = None
    pooling: str = ""
    external_reference: str = ""


class _Body(msgspec.Struct):
    requests: list[_Element] | None = None


_body: Final = msgspec.json.Decoder(_Body)
_bare: Final = msgspec.json.Decoder(_Element)


def parse_requests(data: bytes) -> tuple[Request, ...]:
    """The requests of `{"requests": […]}`, or of one bare element; references on contexts (2025) are ignored."""
    elements = _body.decode(data).requests
    return tuple(map(_request, [_bare.decode(data)] if elements is None else elements))


def _request(element: _Element) -> Request:
    if element.contexts is not None:
        contexts = tuple(context.text for context in element.contexts)
        return Request(contexts, element.query, element.external_reference, element.truncate_inputs, in_contexts=True)
    texts = (element.text,) if isinstance(element.text, str) else tuple(element.text or ())
    return Request(texts, None, element.external_reference, element.truncate_inputs, element.pooling)
