"""The calls of Vectorize through a connection: its token, its rate budget and its transport are those of the batches.

Each call is made once. All of them may be repeated: an upsert or a deletion that arrives twice changes nothing more.
Source: https://developers.cloudflare.com/api/resources/vectorize/, 2026-11.
"""

import asyncio
from collections.abc import Sequence
from functools import partial
from urllib.parse import quote, urlencode

import msgspec

from cfbatch_gui.core.errors import ReplyError, TokenRefused, UnreadableReply, UsageError, UserError
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.vectorize import wire
from cfbatch_gui.core.vectorize.limits import ANSWER_BYTES, CALL_SECONDS, INDEX_NAME, UPLOAD_SECONDS
from cfbatch_gui.core.vectorize.refusals import READ_PERMISSION, TOKENS_PAGE, WRITE_PERMISSION, refusal_of
from cfbatch_gui.core.workers_ai.checking import token_status
from cfbatch_gui.core.workers_ai.client import WorkersAI
from cfbatch_gui.core.workers_ai.connection_kinds import Connection, ConnectionKind
from cfbatch_gui.core.workers_ai.limits import (
    MAX_INDEX_DIMENSIONS,
    MAX_INDEX_NAME_BYTES,
    MAX_LISTED_VECTORS,
    MIN_INDEX_DIMENSIONS,
)
from cfbatch_gui.core.workers_ai.transport import Body
from cfbatch_gui.core.workers_ai.wire.envelope import ServiceAnswer

_encode = msgspec.json.Encoder().encode


class VectorizeIndexes:
    """The indexes of a connection's account.

    All calls raise NotConnected, TokenRefused (which names the permission that is missing), IndexMissing,
    ServiceRefused, ServiceBusy, Unreachable, and UnreadableReply for an answer that cannot be read; the constructor
    raises UsageError for a connection without an account's API.
    """

    def __init__(self, client: WorkersAI) -> None:
        check_connection_kind(client.connection)
        self._client = client
        self._root = f"accounts/{client.connection.account_id}/vectorize/v2/indexes"

    @property
    def connection(self) -> Connection:
        """The connection that the calls go through."""
        return self._client.connection

    async def list_indexes(self) -> tuple[wire.VectorizeIndex, ...]:
        """All indexes, by their names."""
        found = wire.read_indexes((await self._call("", permission=READ_PERMISSION)).result)
        return tuple(sorted(found, key=lambda each: each.name))

    async def create(
        self, name: str, dimensions: int, metric: wire.Metric, description: str = ""
    ) -> wire.VectorizeIndex:
        """Create an index. Raises UsageError for a name or a length that no index can have."""
        check_index_name(name)
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
        return wire.read_index((await self._call("", _encode(wanted), index=name)).result)

    async def get(self, name: str) -> wire.VectorizeIndex:
        """One index."""
        return wire.read_index((await self._of(name, permission=READ_PERMISSION)).result)

    async def info(self, name: str) -> wire.IndexInfo:
        """What an index holds so far."""
        return wire.read_info((await self._of(name, "/info", permission=READ_PERMISSION)).result)

    async def upsert(self, name: str, lines: Sequence[bytes]) -> str:
        """Put vectors, in place of those with the same ids; the mutation's id. `lines` is NDJSON in pieces."""
        content_type, pieces = wire.multipart(lines)
        answer = await self._of(name, "/upsert", pieces, content_type=content_type, seconds=UPLOAD_SECONDS)
        return self._mutation(answer)

    async def delete_by_ids(self, name: str, ids: Sequence[str]) -> str:
        """Delete vectors; the mutation's id. Ids that are not there do no harm."""
        return self._mutation(await self._of(name, "/delete_by_ids", _encode({"ids": list(ids)})))

    async def get_by_ids(self, name: str, ids: Sequence[str]) -> tuple[wire.StoredVector, ...]:
        """Those of these vectors that are there, with all values; at most MAX_READ_IDS."""
        answer = await self._of(name, "/get_by_ids", _encode({"ids": list(ids)}), permission=READ_PERMISSION)
        return await asyncio.to_thread(wire.read_vectors, answer.result)

    async def list_ids(self, name: str, *, count: int = MAX_LISTED_VECTORS, cursor: str = "") -> wire.ListedIds:
        """One page of the ids of an index."""
        query = urlencode({"count": count, **({"cursor": cursor} if cursor else {})})
        return wire.read_listed((await self._of(name, f"/list?{query}", permission=READ_PERMISSION)).result)

    async def query(self, name: str, vector: Sequence[float], top_k: int) -> tuple[wire.Match, ...]:
        """The nearest vectors by the index's own search, which is approximate."""
        wanted = {"vector": list(vector), "topK": top_k, "returnValues": False, "returnMetadata": "none"}
        return wire.read_matches((await self._of(name, "/query", _encode(wanted), permission=READ_PERMISSION)).result)

    async def _of(
        self,
        name: str,
        action: str = "",
        body: Body = b"",
        *,
        content_type: str = "application/json",
        seconds: float = CALL_SECONDS,
        permission: str = WRITE_PERMISSION,
    ) -> ServiceAnswer:
        check_index_name(name)
        rest = f"/{quote(name, safe='')}{action}"
        return await self._call(
            rest, body, content_type=content_type, seconds=seconds, index=name, permission=permission
        )

    async def _call(
        self,
        rest: str,
        body: Body = b"",
        *,
        content_type: str = "application/json",
        seconds: float = CALL_SECONDS,
        index: str = "",
        permission: str = WRITE_PERMISSION,
    ) -> ServiceAnswer:
        try:
            return await self._client.call_api(
                f"{self._root}{rest}",
                body,
                what="vectorize",
                content_type=content_type,
                seconds=seconds,
                most_bytes=ANSWER_BYTES,
                refuse=partial(refusal_of, index, permission),
            )
        except TokenRefused as error:
            raise await self._why_refused(error, permission) from error

    async def _why_refused(self, error: TokenRefused, permission: str) -> UserError:
        """The error for a refused token: whether the token itself is valid is asked for, which is free."""
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
        try:
            found = wire.read_mutation(answer.result)
        except ReplyError as error:
            raise self._without_mutation(error.detail) from error
        if not found:
            raise self._without_mutation("no mutationId")
        return found

    def _without_mutation(self, detail: str) -> UnreadableReply:
        sentence = message(
            "{title} did not say under which number it took the vectors, so it cannot be told when they are in the "
            "index.",
            title=self.connection.title,
        )
        return UnreadableReply(sentence, raw=b"", detail=detail)


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
