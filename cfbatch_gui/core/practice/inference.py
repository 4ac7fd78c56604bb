"""Read what is posted to a model, strictly by the published schema, and run it: scores and vectors in any order.

Unlike in the schema, a context must have a text.
"""

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

import msgspec
import numpy as np
import numpy.typing as npt
from msgspec import UNSET, Meta, UnsetType

from cfbatch_gui.core.practice.exchange import bad_input
from cfbatch_gui.core.practice.local_models import PracticeModel
from cfbatch_gui.core.workers_ai.catalogue import ModelMetadata
from cfbatch_gui.core.workers_ai.limits import MAX_TEXTS_PER_REQUEST

_DECIMALS = 7  # of a component of a unit vector: about float32's own precision, and half of its digits

# A practice token, the same whichever model makes the vectors: up to four letters or digits of one word, up to three
# signs of punctuation, one character of a script written without spaces, or any other sign; white space has none. For
# English prose that is about one token for four characters, for Chinese and Japanese one a character, as with the XLM-R
# tokenizer of bge-m3.
_TOKEN = re.compile(
    r"[^\W_\u0e00-\u0eff\u1100-\u11ff\u2e80-\ua4cf\uac00-\ud7ff\uf900-\ufaff\U00020000-\U0003ffff]{1,4}"
    r"|[!-/:-@\[-`{-~]{1,3}"
    r"|\S"
)
_NonEmpty = Annotated[str, Meta(min_length=1)]
_Texts = Annotated[list[_NonEmpty], Meta(max_length=MAX_TEXTS_PER_REQUEST)]


class Candidate(msgspec.Struct, frozen=True):
    """One context."""

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
    request_id: str


class _Body(Element, frozen=True):
    requests: list[Element] | UnsetType = UNSET
    request_id: str | UnsetType = UNSET


Batch = tuple[Element, ...]
_DECODER = msgspec.json.Decoder(_Body)


def read_body(data: bytes, model: ModelMetadata) -> Poll | Batch | Element:
    """A poll, a batch or a bare element. Raises RefusalError (400, 5006)."""
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


def _check(element: Element, where: str, model: ModelMetadata) -> None:
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


class TooLongError(Exception):
    """Its text is in the service's words."""


@dataclass(frozen=True, slots=True)
class _Work:
    """One element with its texts (a query first), truncated where asked."""

    element: Element
    texts: tuple[str, ...]
    tokens: int


def run_batch(request_id: str, batch: Batch, served: ModelMetadata, engine: PracticeModel) -> dict[str, object]:
    """The result of a finished batch, by the arguments alone.

    Elements, and the scores within one, are shuffled with `request_id` as the seed and never in the given order. An
    element that is too long fails by itself.
    """
    disorder = random.Random(request_id)  # noqa: S311
    answers: dict[int, msgspec.Raw] = {}
    works: dict[int, _Work] = {}
    for number, element in enumerate(batch):
        try:
            works[number] = _prepare(element, served)
        except TooLongError as problem:
            answers[number] = _answered(number, element, success=False, error=str(problem))
    for (number, work), vectors in zip(works.items(), _vectors([*works.values()], engine), strict=True):
        result = _result(work.element, vectors, served, disorder)
        answers[number] = _answered(number, work.element, result=result, success=True)
    counted = sum(work.tokens for work in works.values())
    return {
        "responses": [answers[number] for number in _disordered(len(batch), disorder)],
        "usage": {"prompt_tokens": counted, "completion_tokens": 0, "total_tokens": counted},
    }


def run_one(seed: str, element: Element, served: ModelMetadata, engine: PracticeModel) -> dict[str, object]:
    """The result of a synchronous call. Raises TooLongError."""
    (vectors,) = _vectors([_prepare(element, served)], engine)
    return _result(element, vectors, served, random.Random(seed))  # noqa: S311


def _prepare(element: Element, served: ModelMetadata) -> _Work:
    texts = _texts(element)
    counts = [count_tokens(text) for text in texts]
    longest = max(counts, default=0)
    most = served.max_tokens
    if longest > most:
        if not (served.can_truncate and element.truncate_inputs is True):
            raise TooLongError(f"Sequence too long: {longest} > {most}")
        texts = tuple(cut(text, most) for text in texts)
        counts, longest = [min(count, most) for count in counts], most
    padded, limit = longest * len(texts), served.padded_tokens
    if 0 < limit < padded:
        raise TooLongError(f"Max context reached {padded} tokens but model supports only {limit}")
    return _Work(element, texts, sum(counts))


def _texts(element: Element) -> tuple[str, ...]:
    if element.contexts is not UNSET:
        query = () if element.query is UNSET else (element.query,)
        return (*query, *(context.text for context in element.contexts))
    if isinstance(element.text, str):
        return (element.text,)
    return () if element.text is UNSET else tuple(element.text)


def _vectors(works: Sequence[_Work], engine: PracticeModel) -> Iterator[npt.NDArray[np.float32]]:
    """The vectors of each element's texts; each text is embedded once."""
    rows_of: dict[str, int] = {}
    for work in works:
        for text in work.texts:
            rows_of.setdefault(text, len(rows_of))
    vectors = engine.embed(list(rows_of))
    for work in works:
        yield vectors[[rows_of[text] for text in work.texts]]


def _result(
    element: Element, vectors: npt.NDArray[np.float32], served: ModelMetadata, disorder: random.Random
) -> dict[str, object]:
    if element.contexts is not UNSET and element.query is not UNSET:
        scores = (vectors[1:] @ vectors[0]).astype(np.float16).astype(np.float64).tolist()
        order = _disordered(len(scores), disorder)
        return {"response": [{"id": number, "score": scores[number]} for number in order]}
    rows = np.round(vectors.astype(np.float64), _DECIMALS).tolist()
    shape = list(vectors.shape)
    if element.contexts is not UNSET:
        return {"response": rows, "shape": shape, "pooling": "cls"}
    usual = served.poolings[0] if served.poolings else "cls"
    asked = usual if served.can_rank or element.pooling is UNSET else element.pooling
    return {"shape": shape, "data": rows, "pooling": asked}


def _answered(number: int, element: Element, **outcome: object) -> msgspec.Raw:
    """As bytes, which take a fraction of the room."""
    answer = {"id": number, **outcome, "external_reference": element.external_reference}
    return msgspec.Raw(msgspec.json.encode(answer))


def _disordered(count: int, disorder: random.Random) -> list[int]:
    """0 … count - 1 shuffled, for two or more never in order."""
    numbers = list(range(count))
    disorder.shuffle(numbers)
    if numbers == sorted(numbers):
        numbers = numbers[1:] + numbers[:1]
    return numbers


def count_tokens(text: str) -> int:
    """Practice tokens of a text; 0 for white space alone."""
    return len(_TOKEN.findall(text))


def cut(text: str, limit: int) -> str:
    """The longest beginning of at most `limit` tokens."""
    for number, match in enumerate(_TOKEN.finditer(text)):
        if number == limit:
            return text[: match.start()]
    return text
