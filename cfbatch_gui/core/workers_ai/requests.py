"""The bodies of calls: the elements of `requests[]`, the body around them, and the poll.

All are compact UTF-8 (no \\u escapes beyond control characters): the size limit counts these bytes."""

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
    """A query with its contexts, answered by one score for each context; without a query (None), one vector for each.

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
    def answer_kind(self) -> AnswerKind:
        return "embeddings" if self.query is None else "scores"

    @property
    def count(self) -> int:
        return len(self.contexts)


@dataclass(frozen=True, slots=True)
class EmbedRequest:
    """One to `MAX_TEXTS_PER_REQUEST` texts, answered by one vector for each.

    `pooling` "" omits the key. `as_array` False sends a single text as `"text": "one"`.
    """

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
    def answer_kind(self) -> AnswerKind:
        return "embeddings"

    @property
    def count(self) -> int:
        return len(self.texts)


Request: TypeAlias = RankRequest | EmbedRequest


class _Context(msgspec.Struct, gc=False):
    text: str


class _RankElement(msgspec.Struct, omit_defaults=True):
    contexts: list[_Context]
    query: str | None = None
    truncate_inputs: bool | None = None
    external_reference: str = ""


class _EmbedElement(msgspec.Struct, omit_defaults=True):
    text: str | tuple[str, ...]
    truncate_inputs: bool | None = None
    pooling: str = ""
    external_reference: str = ""


class _Poll(msgspec.Struct):
    request_id: str


_encoder = msgspec.json.Encoder()


def encode_request(request: Request) -> bytes:
    """Encode one element of `requests[]`, which is also the whole body of a synchronous call.

    Raises ValueError for a lone surrogate, which has no UTF-8 form; the readers of inputs have replaced them.
    """
    if isinstance(request, RankRequest):
        return _encoder.encode(
            _RankElement(
                [_Context(text) for text in request.contexts],
                request.query,
                request.truncate_inputs,
                request.reference,
            )
        )
    return _encoder.encode(
        _EmbedElement(
            request.texts if request.as_array else request.texts[0],
            request.truncate_inputs,
            request.pooling,
            request.reference,
        )
    )


def encode_batch(elements: Iterable[bytes]) -> bytes:
    """Encode the body of a submit from elements of `encode_request`; `id` in the answer is an index into them."""
    return _OPENING + b",".join(elements) + _CLOSING


def batch_size(sizes: Iterable[int]) -> int:
    """The length in bytes of `encode_batch` of elements of these lengths, without building it."""
    total = len(_OPENING) + len(_CLOSING)
    count = 0
    for size in sizes:
        total += size
        count += 1
    return total + max(0, count - 1)


def encode_poll(request_id: str) -> bytes:
    """Encode the body of a poll."""
    return _encoder.encode(_Poll(request_id))


class _RawRankElement(msgspec.Struct, omit_defaults=True):
    contexts: msgspec.Raw
    query: str
    truncate_inputs: bool | None = None
    external_reference: str = ""


class _RawEmbedElement(msgspec.Struct, omit_defaults=True):
    text: msgspec.Raw
    truncate_inputs: bool | None = None
    pooling: str = ""
    external_reference: str = ""


@dataclass(frozen=True, slots=True)
class Frame:
    """An element of `requests[]` without its texts: the bytes before, between and after them.

    Used for texts that are stored as JSON strings, so that they need not be decoded and encoded again.
    """

    before: bytes
    between: bytes
    after: bytes

    def size(self, count: int, texts: int) -> int:
        """Bytes of the element with `count` texts of `texts` bytes in all."""
        return len(self.before) + len(self.after) + texts + (count - 1) * len(self.between)


def ranking_frame(query: str, reference: str, truncate_inputs: bool | None) -> Frame:
    """The frame of `encode_request` for a RankRequest with a query."""
    whole = _encoder.encode(_RawRankElement(msgspec.Raw(b'[{"text":}]'), query, truncate_inputs, reference))
    return Frame(_RANK_START, b'},{"text":', whole[len(_RANK_START) :])


def embedding_frame(reference: str, truncate_inputs: bool | None, pooling: str) -> Frame:
    """The frame of `encode_request` for an EmbedRequest with an array of texts."""
    whole = _encoder.encode(_RawEmbedElement(msgspec.Raw(b"[]"), truncate_inputs, pooling, reference))
    return Frame(_EMBED_START, b",", whole[len(_EMBED_START) :])
