"""The bodies of calls, as compact UTF-8: the size limit counts these bytes."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

import msgspec

from cfbatch_gui.core.workers_ai.limits import MAX_TEXTS_PER_REQUEST

AnswerKind: TypeAlias = Literal["scores", "embeddings"]

_OPENING: Final = b'{"requests":['
_CLOSING: Final = b"]}"
_EMBED_START: Final = b'{"text":['
_RANK_START: Final = b'{"contexts":[{"text":'


@dataclass(frozen=True, slots=True)
class RankRequest:
    """A query with its contexts, answered by scores; without a query, by vectors.

    `truncate_inputs` None omits the key, which the service treats as false: too long a text is an error.
    """

    query: str | None
    contexts: tuple[str, ...]
    reference: str = ""
    truncate_inputs: bool | None = None

    def __post_init__(self) -> None:
        if not self.contexts or not all(self.contexts) or self.query == "":
            raise ValueError("a query and every context have at least one character, and there is a context")

    @property
    def kind(self) -> AnswerKind:
        return "embeddings" if self.query is None else "scores"

    @property
    def count(self) -> int:
        return len(self.contexts)


@dataclass(frozen=True, slots=True)
class EmbedRequest:
    """Up to `MAX_TEXTS_PER_REQUEST` texts. `pooling` "" omits the key; not `as_array` sends one as `"text": "one"`."""

    texts: tuple[str, ...]
    reference: str = ""
    truncate_inputs: bool | None = None
    pooling: str = ""
    as_array: bool = True

    def __post_init__(self) -> None:
        if not 1 <= len(self.texts) <= MAX_TEXTS_PER_REQUEST or not all(self.texts):
            raise ValueError(f"there are 1 to {MAX_TEXTS_PER_REQUEST} texts of at least one character")
        if not self.as_array and len(self.texts) != 1:
            raise ValueError("several texts go as an array")

    @property
    def kind(self) -> AnswerKind:
        return "embeddings"

    @property
    def count(self) -> int:
        return len(self.texts)


Request: TypeAlias = RankRequest | EmbedRequest


class _Element(msgspec.Struct, omit_defaults=True):
    contexts: tuple[dict[str, str], ...] | msgspec.Raw | None = None
    text: str | tuple[str, ...] | msgspec.Raw | None = None
    query: str | None = None
    truncate_inputs: bool | None = None
    pooling: str = ""
    external_reference: str = ""


class _Poll(msgspec.Struct):
    request_id: str


_encoder = msgspec.json.Encoder()


def encode_request(request: Request) -> bytes:
    """One element of `requests[]`, or a whole synchronous body; ValueError for a lone surrogate."""
    element = _Element(truncate_inputs=request.truncate_inputs, external_reference=request.reference)
    if isinstance(request, RankRequest):
        element.query, element.contexts = request.query, tuple({"text": text} for text in request.contexts)
    else:
        element.pooling, element.text = request.pooling, request.texts if request.as_array else request.texts[0]
    return _encoder.encode(element)


def encode_batch(elements: Iterable[bytes]) -> bytes:
    """The body of a submit; `id` in its answer is an index into `elements`."""
    return _OPENING + b",".join(elements) + _CLOSING


def batch_size(sizes: Iterable[int]) -> int:
    """The length of `encode_batch` of elements of these lengths."""
    each_with_comma = [size + 1 for size in sizes]
    return len(_OPENING) + len(_CLOSING) + max(0, sum(each_with_comma) - 1)


def encode_poll(request_id: str) -> bytes:
    return _encoder.encode(_Poll(request_id))


@dataclass(frozen=True, slots=True)
class Frame:
    """The bytes of an element before, between and after its texts, which are stored as JSON."""

    before: bytes
    between: bytes
    after: bytes

    def size(self, count: int, texts: int) -> int:
        return len(self.before) + len(self.after) + texts + (count - 1) * len(self.between)


def ranking_frame(query: str, reference: str, truncate_inputs: bool | None) -> Frame:
    """The frame of a RankRequest with a query."""
    contexts = msgspec.Raw(b'[{"text":}]')
    whole = _encoder.encode(
        _Element(contexts=contexts, query=query, truncate_inputs=truncate_inputs, external_reference=reference)
    )
    return Frame(_RANK_START, b'},{"text":', whole[len(_RANK_START) :])


def embedding_frame(reference: str, truncate_inputs: bool | None, pooling: str) -> Frame:
    """The frame of an EmbedRequest with an array of texts."""
    text = msgspec.Raw(b"[]")
    whole = _encoder.encode(
        _Element(text=text, truncate_inputs=truncate_inputs, pooling=pooling, external_reference=reference)
    )
    return Frame(_EMBED_START, b",", whole[len(_EMBED_START) :])
