"""The calls of Vectorize through a connection, each made once; all may be repeated.

Source: https://developers.cloudflare.com/api/resources/vectorize/, 2026-11; its codes are in docs/vectorize.md.
"""

import asyncio
import re
from collections.abc import Sequence
from functools import partial
from typing import Final
from urllib.parse import quote

import msgspec

from cfbatch_gui.core.errors import (
    Action,
    ReplyError,
    ServiceBusy,
    ServiceRefused,
    TokenRefused,
    UnreadableReply,
    UsageError,
    UserError,
)
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.vectorize import wire
from cfbatch_gui.core.workers_ai.answers import ServiceAnswer, ServiceError, decode
from cfbatch_gui.core.workers_ai.checking import token_status
from cfbatch_gui.core.workers_ai.client import WorkersAI
from cfbatch_gui.core.workers_ai.connection_kinds import Connection, ConnectionKind
from cfbatch_gui.core.workers_ai.limits import (
    MAX_INDEX_DIMENSIONS,
    MAX_INDEX_NAME_BYTES,
    MIN_INDEX_DIMENSIONS,
    ExchangeLimit,
)
from cfbatch_gui.core.workers_ai.refusals import read_retry_after, refusal
from cfbatch_gui.core.workers_ai.transport import Body

# Bytes of the lines of one upload. Set here, below the service's limit: a part that fails is sent again as a whole,
# each part in its two or three forms is in memory, and the progress that is shown moves with every part.
PART_BYTES: Final = 25_000_000

# Seconds. An upload of PART_BYTES takes 200 s over a line of one megabit a second. Set here.
UPLOAD_SECONDS: Final = 900.0
CALL_SECONDS: Final = 60.0
ANSWER_BYTES: Final = 64 << 20

# Vectors that are read back to compare them. Set here: 10 calls of the account's 1,200 in five minutes.
SAMPLE: Final = 200

# The form of an index's name; what is no such name would change the rest of an address.
INDEX_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")


READ_PERMISSION: Final = "Vectorize Read"
WRITE_PERMISSION: Final = "Vectorize Write"
TOKENS_PAGE: Final = "https://dash.cloudflare.com/profile/api-tokens"

_OF_VECTORIZE: Final = frozenset(range(3_000, 4_000)) | frozenset(range(40_000, 41_000)) | {1005}

# Too many requests to one index. It comes with HTTP 429 or 400. Programs that meet it wait 15 seconds.
_TOO_MANY_REQUESTS: Final = 40041
_TOO_MANY_REQUESTS_WAIT: Final = 15.0

_BUSY: Final = message("{service} takes no more calls to Vectorize just now.")
_OFTEN: Final = message("{service} was asked too often, by this program or by others with the same account.")
_FAULT: Final = message("{service} has a fault of its own just now.")


class IndexMissing(ServiceRefused):
    """There is no index of this name in the account."""


def refusal_of(
    index: str,
    permission: str,
    status: int,
    errors: Sequence[ServiceError],
    retry_after: str = "",
    *,
    now: float,
    service: str,
) -> UserError:
    """The error for a refusal; `permission` is what the token needs for the call."""
    general = [each for each in errors if each.code not in _OF_VECTORIZE]
    usual = refusal(status, general, retry_after, now=now, service=service)
    own = next((each for each in errors if each.code in _OF_VECTORIZE), None)
    if own is not None and own.code == _TOO_MANY_REQUESTS:
        asked = read_retry_after(retry_after, now)
        seconds = _TOO_MANY_REQUESTS_WAIT if asked is None else asked
        sentence = _OFTEN.filled(service=service)
        return ServiceBusy(sentence, retry_after=seconds, detail=_detail(status, own), code=own.code)
    if own is not None and not isinstance(usual, ServiceBusy):
        return _by_code(index, status, own)
    match usual:
        case TokenRefused():
            return TokenRefused(
                message(
                    "{service} does not let this API token use Vectorize. Edit it at {page}: it needs the permission "
                    "{permission}, for this account. What was sent before is kept.",
                    page=TOKENS_PAGE,
                    service=service,
                    permission=permission,
                ),
                detail=usual.detail,
                code=usual.code,
                status=usual.status,
            )
        case ServiceBusy():
            sentence = _OFTEN if status == 429 else _FAULT if status >= 500 else _BUSY
            return ServiceBusy(
                sentence.filled(service=service), retry_after=usual.retry_after, detail=usual.detail, code=usual.code
            )
        case _:
            return _final(index, status, usual, service)


def _by_code(index: str, status: int, error: ServiceError) -> ServiceRefused:
    detail = _detail(status, error)
    match error.code:
        case 3000 | 3005:
            return _missing(index, detail, error.code)
        case 3002:
            sentence = message("There is an index “{index}” already. Choose it, or another name.", index=index or "?")
        case 40006 | 40012:
            sentence = message(
                "The vectors have another length than those of the index. Nothing of this part was taken."
            )
        case _:
            sentence = message("Vectorize refused this as it is, and took nothing of it. The details hold its reason.")
    return ServiceRefused(sentence, detail=detail, code=error.code)


def _detail(status: int, error: ServiceError) -> str:
    return f"HTTP {status}, code {error.code}: {error.message}"


def _missing(index: str, detail: str, code: int) -> IndexMissing:
    sentence = message("There is no index “{index}” in the account. Choose another one, or create it.", index=index)
    return IndexMissing(sentence, detail=detail, code=code)


def _final(index: str, status: int, usual: UserError, service: str) -> ServiceRefused:
    code = usual.code if isinstance(usual, ServiceRefused) else 0
    if status in (404, 410) and index:
        return _missing(index, usual.detail, code)
    action: Action | None = None
    if status == 404:
        sentence = message("{service} does not know this account. Check the account ID.", service=service)
        action = Action.OPEN_CONNECTION
    elif status == 413:
        sentence = message("A part of the vectors is too large for {service}. It took nothing of it.", service=service)
    else:
        sentence = message(
            "{service} refused what it was asked about Vectorize. The details hold its reason.", service=service
        )
    return ServiceRefused(sentence, detail=usual.detail, code=code, action=action)


_encode = msgspec.json.Encoder().encode


class VectorizeIndexes:
    """The indexes of a connection's account.

    Calls raise NotConnected, TokenRefused, IndexMissing, ServiceRefused, ServiceBusy, Unreachable and UnreadableReply,
    the constructor UsageError.
    """

    def __init__(self, client: WorkersAI) -> None:
        check_connection_kind(client.connection)
        self._client = client
        self._root = f"accounts/{client.connection.account_id}/vectorize/v2/indexes"

    @property
    def connection(self) -> Connection:
        return self._client.connection

    async def list_indexes(self) -> tuple[wire.VectorizeIndex, ...]:
        found = decode(wire.INDEXES, (await self._call(None, permission=READ_PERMISSION)).result, "indexes") or ()
        return tuple(sorted(found, key=lambda each: each.name))

    async def create(
        self, name: str, dimensions: int, metric: wire.Metric, description: str = ""
    ) -> wire.VectorizeIndex:
        """Create an index. Raises UsageError for a name or a length that no index can have."""
        if not MIN_INDEX_DIMENSIONS <= dimensions <= MAX_INDEX_DIMENSIONS:
            raise UsageError(
                message(
                    "Vectorize takes vectors of {least} to {most:,} numbers, and these have {dimension:,}.",
                    least=MIN_INDEX_DIMENSIONS,
                    most=MAX_INDEX_DIMENSIONS,
                    dimension=dimensions,
                )
            )
        wanted: dict[str, object] = {"name": name, "config": {"dimensions": dimensions, "metric": str(metric)}}
        if description:
            wanted["description"] = description
        return decode(wire.INDEX, (await self._call(name, body=_encode(wanted), is_new=True)).result, "index")

    async def get(self, name: str) -> wire.VectorizeIndex:
        return decode(wire.INDEX, (await self._call(name, permission=READ_PERMISSION)).result, "index")

    async def info(self, name: str) -> wire.IndexInfo:
        return decode(wire.INFO, (await self._call(name, "/info", permission=READ_PERMISSION)).result, "info")

    async def upsert(self, name: str, lines: Sequence[bytes]) -> str:
        """Put vectors, in place of those with the same ids; the mutation's id. `lines` is NDJSON in pieces."""
        content_type, pieces = wire.multipart(lines)
        answer = await self._call(name, "/upsert", pieces, content_type=content_type, seconds=UPLOAD_SECONDS)
        return self._mutation(answer)

    async def delete_by_ids(self, name: str, ids: Sequence[str]) -> str:
        """Delete vectors; the mutation's id. Ids that are not there do no harm."""
        return self._mutation(await self._call(name, "/delete_by_ids", _encode({"ids": list(ids)})))

    async def get_by_ids(self, name: str, ids: Sequence[str]) -> tuple[wire.StoredVector, ...]:
        """Those of these vectors that are there, with all values; at most MAX_READ_IDS."""
        answer = await self._call(name, "/get_by_ids", _encode({"ids": list(ids)}), permission=READ_PERMISSION)
        return await asyncio.to_thread(decode, wire.VECTORS, answer.result, "vectors") or ()

    async def query(self, name: str, vector: Sequence[float], top_k: int) -> tuple[wire.Match, ...]:
        wanted = {"vector": list(vector), "topK": top_k, "returnValues": False, "returnMetadata": "none"}
        answer = await self._call(name, "/query", _encode(wanted), permission=READ_PERMISSION)
        return decode(wire.MATCHES, answer.result, "matches").matches

    async def _call(
        self,
        index: str | None,
        action: str = "",
        body: Body = b"",
        *,
        is_new: bool = False,
        content_type: str = "application/json",
        seconds: float = CALL_SECONDS,
        permission: str = WRITE_PERMISSION,
    ) -> ServiceAnswer:
        """`index` is what the call is about, None for all of them; it `is_new` if it is not there yet."""
        if index is not None:
            check_index_name(index)
        rest = "" if is_new or index is None else f"/{quote(index, safe='')}{action}"
        try:
            return await self._client.call_api(
                f"{self._root}{rest}",
                body,
                what="vectorize",
                content_type=content_type,
                limit=ExchangeLimit(seconds, ANSWER_BYTES),
                refuse=partial(refusal_of, index or "", permission),
            )
        except TokenRefused as error:
            raise await self._why_refused(error, permission) from error

    async def _why_refused(self, error: TokenRefused, permission: str) -> UserError:
        if self.connection.is_practice:
            return error
        status = await token_status(self._client)
        if status is not None and status.word == "active":
            return error
        title = self.connection.title
        sentence = message(
            "{service} refused the API token. It may have been deleted or have expired, or it lacks the permission "
            "{permission} for this account; see {page}. What was sent before is kept.",
            page=TOKENS_PAGE,
            service=title,
            permission=permission,
        )
        return TokenRefused(sentence, detail=error.detail, code=error.code, status=error.status)

    def _mutation(self, answer: ServiceAnswer) -> str:
        detail = "no mutationId"
        try:
            if (found := decode(wire.MUTATION, answer.result, "mutation").mutation_id) is not None:
                return str(found)
        except ReplyError as error:
            detail = error.detail
        sentence = message(
            "{title} did not say under which number it took the vectors, so it cannot be told when they are in the "
            "index.",
            title=self.connection.title,
        )
        raise UnreadableReply(sentence, raw=b"", detail=detail)


def check_connection_kind(connection: Connection) -> None:
    """Raise UsageError for a connection that has no way to Vectorize."""
    if connection.kind is ConnectionKind.WORKER:
        raise UsageError(
            message(
                "{title} is a Worker, which only passes batches on. Vectorize is reached through the account: choose "
                "a connection with the account's ID and an API token.",
                title=connection.title,
            )
        )


def check_index_name(name: str) -> None:
    """Raise UsageError for a name that no index can have."""
    if not INDEX_NAME.fullmatch(name) or len(name.encode()) > MAX_INDEX_NAME_BYTES:
        raise UsageError(
            message(
                "“{name}” is not the name of an index. It has letters, digits and “-”, at most {most} of them, such as "
                "product-texts.",
                name=name,
                most=MAX_INDEX_NAME_BYTES,
            )
        )
