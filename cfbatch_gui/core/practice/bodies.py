"""Decode what is posted to a model, strictly by the published schema.

Unknown keys are accepted, as by the schema. In one point this is stricter than the schema: a context
must have a text, which the schema forgets to require.
"""

import re
from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from cfbatch_gui.core.practice.practice_models import ServedModel
from cfbatch_gui.core.practice.responses import bad_input
from cfbatch_gui.core.practice.schemas import MOST_TEXTS

_NonEmpty = Annotated[str, Meta(min_length=1)]
_Texts = Annotated[list[_NonEmpty], Meta(max_length=MOST_TEXTS)]


class Candidate(msgspec.Struct, frozen=True):
    """One context. An external_reference here, as in 2025, is not in the schema and is ignored."""

    text: _NonEmpty


class Element(msgspec.Struct, frozen=True):
    """One inference: `contexts` with or without a `query`, or `text`."""

    query: _NonEmpty | UnsetType = UNSET
    contexts: list[Candidate] | UnsetType = UNSET
    text: _NonEmpty | _Texts | UnsetType = UNSET
    truncate_inputs: bool | UnsetType = UNSET
    pooling: Literal["mean", "cls"] | UnsetType = UNSET
    external_reference: str | None = None


class Poll(msgspec.Struct, frozen=True):
    """A poll for a batch."""

    request_id: str


class _Body(Element, frozen=True):
    requests: list[Element] | UnsetType = UNSET
    request_id: str | UnsetType = UNSET


Batch = tuple[Element, ...]
_DECODER = msgspec.json.Decoder(_Body)


def read_body(data: bytes, model: ServedModel) -> Poll | Batch | Element:
    """Decode a body: a poll, a batch or a bare element. Raises RefusalError (400, 5006)."""
    try:
        body = _DECODER.decode(data)
    except msgspec.DecodeError as problem:  # ValidationError is one of them
        raise bad_input(_reason(str(problem))) from None
    except UnicodeDecodeError:
        raise bad_input("the body is not UTF-8") from None
    except RecursionError:
        raise bad_input("the body is nested too deeply") from None
    forms = [name for name in ("contexts", "text", "requests", "request_id") if getattr(body, name) is not UNSET]
    if len(forms) != 1:
        raise bad_input(_one_of("/", forms))
    if body.request_id is not UNSET:
        return Poll(body.request_id)
    if body.requests is not UNSET:
        for number, element in enumerate(body.requests):
            _check(element, f"/requests/{number}", model)
        return tuple(body.requests)
    _check(body, "/", model)
    return body


def _check(element: Element, where: str, model: ServedModel) -> None:
    forms = [name for name in ("contexts", "text") if getattr(element, name) is not UNSET]
    if not model.can_rank and (element.query is not UNSET or "contexts" in forms):
        raise bad_input(f"required properties at '{where}' are 'text'; {model.name} takes no query and no contexts")
    if len(forms) != 1:
        raise bad_input(_one_of(where, forms))


def _one_of(where: str, forms: list[str]) -> str:
    if not forms:
        return f"oneOf at '{where}' not met, 0 matches: required properties at '{where}' are 'contexts' or 'text'"
    return f"oneOf at '{where}' not met, {len(forms)} matches: {', '.join(forms)}"


def _reason(message: str) -> str:
    """msgspec's message, with the path in the service's form: '/requests/3/contexts/0/text'."""
    words, separator, path = message.partition(" - at `$")
    if not separator:
        return message
    pointer = re.sub(r"\.|\[", "/", path.rstrip("`")).replace("]", "") or "/"
    return f"{words} at '{pointer}'"
