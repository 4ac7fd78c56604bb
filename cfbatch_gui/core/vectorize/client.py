"""The calls of Vectorize through a connection, each made once; all may be repeated.

Source: https://developers.cloudflare.com/api/resources/vectorize/, 2026-11; its codes are in docs/vectorize.md.
"""

import asyncio
import re
from collections.abc import Sequence
from enum import StrEnum
from functools import partial
from typing import Final, TypeVar
from urllib.parse import quote

import msgspec

from cfbatch_gui.core.errors import Action, ServiceBusy, ServiceRefused, TokenRefused, UsageError, UserError
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.workers_ai.answers import decode, decode_if_any
from cfbatch_gui.core.workers_ai.client import WorkersAI
from cfbatch_gui.core.workers_ai.connection_kinds import Connection, ConnectionKind
from cfbatch_gui.core.workers_ai.limits import MAX_INDEX_NAME_BYTES, ExchangeLimit
from cfbatch_gui.core.workers_ai.refusals import Refusal, refusal, without_going_on
from cfbatch_gui.core.workers_ai.requests import multipart

Scalar = str | int | float | bool
Metadata = dict[str, Scalar]


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
    config: IndexConfig = IndexConfig()


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


class _Mutation(msgspec.Struct, frozen=True, rename="camel"):
    mutation_id: str | int


class _Matches(msgspec.Struct, frozen=True):
    matches: tuple[Match, ...] = ()


_encode: Final = msgspec.json.Encoder().encode
T = TypeVar("T")


def encode_line(identifier: str, values: bytes, namespace: str, metadata: bytes) -> bytes:
    """The NDJSON line of one vector; `values` is a JSON array, `metadata` an object, b"" for none."""
    rest = b""
    if namespace:
        rest += b',"namespace":%b' % _encode(namespace)
    if metadata:
        rest += b',"metadata":%b' % metadata
    return b'{"id":%b,"values":%b%b}\n' % (_encode(identifier), values, rest)


# Bytes of the lines of one upload. Set here, below the service's limit: a part that fails is sent again as a whole,
# each part in its two or three forms is in memory, and the progress that is shown moves with every part.
PART_BYTES: Final = 25_000_000

# Seconds. An upload of PART_BYTES takes 200 s over a line of one megabit a second. Set here.
_UPLOAD_SECONDS: Final = 900.0
_CALL_SECONDS: Final = 60.0
_ANSWER_BYTES: Final = 64 << 20

# The form of an index's name; what is no such name would change the rest of an address.
_INDEX_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")


_TOKENS_PAGE: Final = "https://dash.cloudflare.com/profile/api-tokens"

_OF_VECTORIZE: Final = frozenset((*range(3_000, 4_000), *range(40_000, 41_000), 1005))
_TOO_MANY_REQUESTS: Final = 40041  # to one index, with HTTP 429 or 400. Programs that meet it wait 15 seconds.
_TOO_MANY_REQUESTS_WAIT: Final = "15"
_OTHER_LENGTH = "vectors_another_length_than_those_index"
_REASONS = {3002: "there_is_index_index_already_choose", 40006: _OTHER_LENGTH, 40012: _OTHER_LENGTH}


class IndexMissing(ServiceRefused):
    """There is no index of this name in the account."""


def _refusal_of(index: str, permission: str, refused: Refusal) -> UserError:
    """The error for a refusal; `permission` is what the token needs for the call."""
    status, service = refused.status, refused.service
    own = next((each for each in refused.errors if each.code in _OF_VECTORIZE), None)
    if own is not None and own.code == _TOO_MANY_REQUESTS:
        wait = refused.retry_after or _TOO_MANY_REQUESTS_WAIT
        usual = refusal(refused._replace(status=429, errors=(), retry_after=wait))
    else:
        general = [each for each in refused.errors if each.code not in _OF_VECTORIZE]
        usual = refusal(refused._replace(errors=general))
    detail = usual.detail if own is None else f"HTTP {status}, code {own.code}: {own.message}"
    code = own.code if own is not None else usual.code
    if isinstance(usual, ServiceBusy):
        return ServiceBusy(without_going_on(usual.message), retry_after=usual.retry_after, detail=detail, code=code)
    if own is None and isinstance(usual, TokenRefused):
        sentence = message("service_does_not_let_api_token", page=_TOKENS_PAGE, service=service, permission=permission)
        return TokenRefused(sentence, detail=detail, code=code, status=usual.status)
    if code in (3000, 3005) or (own is None and index and status in (404, 410)):
        sentence = message("there_is_no_index_index_account", index=index)
        return IndexMissing(sentence, detail=detail, code=code)
    if own is None and status == 404:
        sentence = message("service_does_not_know_account_check", service=service)
        return ServiceRefused(sentence, detail=detail, code=code, action=Action.OPEN_CONNECTION)
    usual_reason = "vectorize_refused_is_took_nothing_details" if own else "service_refused_what_was_asked_about"
    sentence = message(_REASONS.get(code, usual_reason), index=index or "?", service=service)
    return ServiceRefused(sentence, detail=detail, code=code)


class VectorizeIndexes:
    """The indexes of a connection's account.

    Calls raise NotConnected, TokenRefused, IndexMissing, ServiceRefused, ServiceBusy, Unreachable and ReplyError, the
    constructor UsageError.
    """

    def __init__(self, client: WorkersAI) -> None:
        check_connection_kind(client.connection)
        self._client, self.connection = client, client.connection
        self._root = f"accounts/{client.connection.account_id}/vectorize/v2/indexes"

    async def list_indexes(self) -> tuple[VectorizeIndex, ...]:
        found = decode_if_any(tuple[VectorizeIndex, ...], await self._call(msgspec.Raw), "indexes")
        return tuple(sorted(found or (), key=lambda each: each.name))

    async def create(self, name: str, dimensions: int, metric: Metric, description: str = "") -> VectorizeIndex:
        """Create an index. Raises UsageError for a name that no index can have."""
        wanted: dict[str, object] = {"name": name, "config": {"dimensions": dimensions, "metric": str(metric)}}
        if description:
            wanted["description"] = description
        return await self._call(VectorizeIndex, name, body=_encode(wanted), is_new=True)

    async def get(self, name: str) -> VectorizeIndex:
        return await self._call(VectorizeIndex, name)

    async def info(self, name: str) -> IndexInfo:
        return await self._call(IndexInfo, name, "/info")

    async def upsert(self, name: str, lines: Sequence[bytes]) -> str:
        """Put vectors, in place of those with the same ids; the mutation's id. `lines` are of NDJSON."""
        content_type, body = multipart([("vectors", "vectors.ndjson", "application/x-ndjson", lines)])
        found = await self._call(_Mutation, name, "/upsert", body, content_type=content_type, seconds=_UPLOAD_SECONDS)
        return str(found.mutation_id)

    async def delete_by_ids(self, name: str, ids: Sequence[str]) -> str:
        """Delete vectors; the mutation's id. Ids that are not there do no harm."""
        return str((await self._call(_Mutation, name, "/delete_by_ids", _encode({"ids": list(ids)}))).mutation_id)

    async def get_by_ids(self, name: str, ids: Sequence[str]) -> tuple[StoredVector, ...]:
        """Those of these vectors that are there, with all values; at most MAX_READ_IDS."""
        found = await self._call(msgspec.Raw, name, "/get_by_ids", _encode({"ids": list(ids)}))
        return await asyncio.to_thread(decode_if_any, tuple[StoredVector, ...], found, "vectors") or ()

    async def query(self, name: str, vector: Sequence[float], top_k: int) -> tuple[Match, ...]:
        wanted = {"vector": list(vector), "topK": top_k, "returnValues": False, "returnMetadata": "none"}
        return (await self._call(_Matches, name, "/query", _encode(wanted))).matches

    async def _call(
        self,
        kind: type[T],
        index: str | None = None,
        action: str = "",
        body: bytes = b"",
        *,
        is_new: bool = False,
        content_type: str = "application/json",
        seconds: float = _CALL_SECONDS,
    ) -> T:
        """`index` is what the call is about, None for all of them; it `is_new` if it is not there yet."""
        if index is not None:
            check_index_name(index)
        permission = "Vectorize Write" if is_new or action in ("/upsert", "/delete_by_ids") else "Vectorize Read"
        rest = "" if is_new or index is None else f"/{quote(index, safe='')}{action}"
        answer = await self._client.call_api(
            f"{self._root}{rest}",
            body,
            what="vectorize",
            content_type=content_type,
            limit=ExchangeLimit(seconds, _ANSWER_BYTES),
            refuse=partial(_refusal_of, index or "", permission),
        )
        return await asyncio.to_thread(decode, kind, answer.result, f"indexes{action}")


def check_connection_kind(connection: Connection) -> None:
    """Raise UsageError for a connection that has no way to Vectorize."""
    if connection.kind is ConnectionKind.WORKER:
        raise UsageError(message("title_is_worker_only_passes_batches", title=connection.title))
    if connection.is_practice:
        raise UsageError(message("practice_has_no_vectorize"))


def check_index_name(name: str) -> None:
    """Raise UsageError for a name that no index can have."""
    if not _INDEX_NAME.fullmatch(name) or len(name.encode()) > MAX_INDEX_NAME_BYTES:
        raise UsageError(message("name_is_not_name_index_letters", name=name, most=MAX_INDEX_NAME_BYTES))
