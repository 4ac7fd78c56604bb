"""What Vectorize is sent and answers: NDJSON in a multipart body, and v4 envelopes.

Source: https://developers.cloudflare.com/api/resources/vectorize/
"""

import secrets
from collections.abc import Sequence
from enum import StrEnum
from typing import Final

import msgspec

Scalar = str | int | float | bool
Metadata = dict[str, Scalar]

NDJSON: Final = "application/x-ndjson"


class Metric(StrEnum):
    """How an index compares vectors."""

    COSINE = "cosine"
    EUCLIDEAN = "euclidean"
    DOT_PRODUCT = "dot-product"


class IndexConfig(msgspec.Struct, frozen=True):
    """`metric` is a `Metric`, or another word of the service's."""

    dimensions: int = 0
    metric: str = ""


class VectorizeIndex(msgspec.Struct, frozen=True):
    """An index as it was created. `created_on` is a time in ISO 8601."""

    name: str = ""
    description: str | None = None
    created_on: str | None = None
    modified_on: str | None = None
    config: IndexConfig = IndexConfig()

    @property
    def dimensions(self) -> int:
        return self.config.dimensions

    @property
    def metric(self) -> str:
        """How vectors are compared: a `Metric`, or another word of the service's."""
        return self.config.metric


class IndexInfo(msgspec.Struct, frozen=True, rename="camel"):
    """What an index holds; it lags. `processed_up_to_mutation` is None before the first."""

    dimensions: int = 0
    vector_count: int = 0
    processed_up_to_mutation: str | int | None = None
    processed_up_to_datetime: str | int | None = None

    @property
    def mutation(self) -> str:
        """`processed_up_to_mutation` as a text, "" before the first."""
        return "" if self.processed_up_to_mutation is None else str(self.processed_up_to_mutation)


class StoredVector(msgspec.Struct, frozen=True):
    """A vector as it is in the index. `values` are float32, as doubles."""

    id: str
    values: tuple[float, ...] = ()
    namespace: str | None = None
    metadata: dict[str, object] | None = None


class Match(msgspec.Struct, frozen=True):
    """A vector found by a query. `score` is by the index's metric: of a cosine the higher one is nearer."""

    id: str
    score: float = 0.0
    namespace: str | None = None
    metadata: dict[str, object] | None = None


class _Mutation(msgspec.Struct, frozen=True, rename="camel"):
    mutation_id: str | int | None = None


class _Matches(msgspec.Struct, frozen=True):
    matches: tuple[Match, ...] = ()


INDEX: Final = msgspec.json.Decoder(VectorizeIndex)
INDEXES: Final = msgspec.json.Decoder(tuple[VectorizeIndex, ...] | None)
INFO: Final = msgspec.json.Decoder(IndexInfo)
VECTORS: Final = msgspec.json.Decoder(tuple[StoredVector, ...] | None)
MATCHES: Final = msgspec.json.Decoder(_Matches)
MUTATION: Final = msgspec.json.Decoder(_Mutation)
_encode: Final = msgspec.json.Encoder().encode


def encode_line(identifier: str, values: bytes, namespace: str, metadata: bytes) -> bytes:
    """The NDJSON line of one vector; `values` is a JSON array, `metadata` an object, b"" for none."""
    rest = b""
    if namespace:
        rest += b',"namespace":%b' % _encode(namespace)
    if metadata:
        rest += b',"metadata":%b' % metadata
    return b'{"id":%b,"values":%b%b}\n' % (_encode(identifier), values, rest)


def multipart(lines: Sequence[bytes]) -> tuple[str, tuple[bytes, ...]]:
    """The content type and the pieces of a body with one file `vectors`; the boundary is random."""
    boundary = f"cfbatch-{secrets.token_hex(16)}"
    head = (
        f"--{boundary}\r\n"
        'Content-Disposition: form-data; name="vectors"; filename="vectors.ndjson"\r\n'
        f"Content-Type: {NDJSON}\r\n\r\n"
    )
    return f"multipart/form-data; boundary={boundary}", (head.encode(), *lines, f"\r\n--{boundary}--\r\n".encode())
