"""Elements of `requests[]` from texts that are JSON already: the bytes of `encode_request`, without encoding again."""

from dataclasses import dataclass

import msgspec

_encode = msgspec.json.Encoder().encode
_EMBED = b'{"text":['
_RANK = b'{"contexts":[{"text":'


class _RankElement(msgspec.Struct, omit_defaults=True):
    contexts: msgspec.Raw
    query: str
    truncate_inputs: bool | None = None
    external_reference: str = ""


class _EmbedElement(msgspec.Struct, omit_defaults=True):
    text: msgspec.Raw
    truncate_inputs: bool | None = None
    pooling: str = ""
    external_reference: str = ""


@dataclass(frozen=True, slots=True)
class Frame:
    """What stands before the texts of an element, between two of them, and after them."""

    before: bytes
    between: bytes
    after: bytes

    def size(self, count: int, texts: int) -> int:
        """Bytes of the element with so many texts, of so many bytes in all."""
        return len(self.before) + len(self.after) + texts + (count - 1) * len(self.between)


def ranking_frame(query: str, reference: str, truncate_inputs: bool | None) -> Frame:
    """As `encode_request` of a RankRequest."""
    whole = _encode(_RankElement(msgspec.Raw(b'[{"text":}]'), query, truncate_inputs, reference))
    return Frame(_RANK, b'},{"text":', whole[len(_RANK) :])


def embedding_frame(reference: str, truncate_inputs: bool | None, pooling: str) -> Frame:
    """As `encode_request` of an EmbedRequest."""
    whole = _encode(_EmbedElement(msgspec.Raw(b"[]"), truncate_inputs, pooling, reference))
    return Frame(_EMBED, b",", whole[len(_EMBED) :])
