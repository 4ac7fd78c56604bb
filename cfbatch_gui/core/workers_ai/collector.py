"""What the collecting room is told and what it says, as JSON."""

import re
from collections.abc import AsyncIterator
from enum import StrEnum
from typing import Final
from urllib.parse import quote

import msgspec

from cfbatch_gui.core.errors import Unreachable
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.workers_ai.answers import breach, decode
from cfbatch_gui.core.workers_ai.client import WorkersAI

LONGEST_TITLE: Final = 200  # characters
_MOST_ANSWER_BYTES: Final = 1 << 40


class Order(msgspec.Struct, frozen=True):
    """A shard as it is handed over. Waits in seconds between two questions; the account does not give them back."""

    model: str
    title: str
    kind: str  # "rank" or "embed"
    batches: tuple[tuple[int, str], ...]
    first_wait: float = 0.0
    longest_wait: float = 0.0


class ShardState(StrEnum):
    """Where the collecting of a shard is."""

    COLLECTING = "collecting"
    ENDED = "ended"  # nothing more comes
    FAILED = "failed"
    MISSING = "missing"  # handed over, but nobody collects


class StoredAnswer(msgspec.Struct, frozen=True):
    """What the account has of a batch: an answer of `size` bytes, or the service's refusal."""

    number: int
    size: int = 0
    refused: bool = False


class ShardStatus(msgspec.Struct, frozen=True):
    """What the account says of a shard. `left` are the batches it has given up."""

    state: ShardState
    error: str = ""
    batches: tuple[StoredAnswer, ...] = ()
    left: tuple[int, ...] = ()


class ListedShard(msgspec.Struct, frozen=True):
    """A shard in the account, of any computer. `at` in seconds since 1970."""

    job: str
    shard: int
    title: str
    kind: str
    model: str
    batches: int
    at: float


class ShardPage(msgspec.Struct, frozen=True):
    """A page of the account's shards; `cursor` is "" on the last one."""

    shards: tuple[ListedShard, ...]
    cursor: str = ""


class Greeting(msgspec.Struct, frozen=True):
    """`collects` is the version of the Worker's collecting room, 0 without one."""

    ok: bool = False
    collects: int = 0


def check_done(data: bytes) -> None:
    """ReplyError unless the room has confirmed a call: something on the way may answer in its place."""
    if not decode(Greeting, data, "confirmation").ok:
        raise breach("confirms_nothing")


NO_ROOM: Final = 7003  # the Worker's code for an address that it does not have
NO_ROOM_SENTENCE: Final = message("worker_no_collecting_room_your_account")
NOT_THERE: Final = 10404  # its code for something that is not in the account
OTHER_ORDER: Final = 10409  # its code for a shard that was handed over with other batches
_JOB: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")
_MOST_PAGES: Final = 100


class AccountCollector:
    """The collecting room behind a connection.

    Every method raises as `WorkersAI.ask`, and ServiceRefused with the Worker's codes: NO_ROOM, NOT_THERE,
    OTHER_ORDER.
    """

    def __init__(self, client: WorkersAI) -> None:
        self._client = client

    async def greeting(self) -> Greeting:
        return decode(Greeting, await self._client.call_worker("GET", ""), "greeting")

    async def hand_over(self, job_id: str, shard: int, order: Order, layout: bytes) -> None:
        """Hand a shard over, twice is as once.

        The layout, which another computer needs to take it over, goes first: a shard that is listed has one.
        """
        path = _path(job_id, shard)
        kind = {"content-type": "application/octet-stream"}
        check_done(await self._client.call_worker("PUT", f"{path}/layout", layout, headers=kind))
        check_done(await self._client.call_worker("PUT", path, msgspec.json.encode(order)))

    async def status(self, job_id: str, shard: int) -> ShardStatus:
        """ReplyError for an answer that is none, names a batch twice, or has impossible figures."""
        found = await self._client.call_worker("GET", _path(job_id, shard))
        status = decode(ShardStatus, found, "status of a shard")
        if len({each.number for each in status.batches}) != len(status.batches):
            raise breach("batch_stands_twice")
        if any(not (each.refused or each.size) or not 0 <= each.size <= _MOST_ANSWER_BYTES for each in status.batches):
            raise breach("size_answer_is_impossible")
        return status

    async def answer(self, job_id: str, shard: int, batch: int, size: int) -> bytes:
        """A raw answer. Raises what the service said of a batch that it refused; Unreachable for one that is not whole,
        which is fetched again.
        """
        body = await self._client.call_worker("GET", f"{_path(job_id, shard)}/{batch}", kind="")
        if len(body) != size:
            raise Unreachable(message("copy_answer_your_account_is_incomplete"))
        return body

    async def layout(self, job_id: str, shard: int) -> bytes:
        return await self._client.call_worker("GET", f"{_path(job_id, shard)}/layout", kind="octet-stream")

    async def order(self, job_id: str, shard: int) -> Order:
        body = await self._client.call_worker("GET", f"{_path(job_id, shard)}/order")
        return decode(Order, body, "order of a shard")

    async def forget(self, job_id: str, shard: int) -> None:
        """Delete the account's copies of a shard, if any, and end its collecting."""
        check_done(await self._client.call_worker("DELETE", _path(job_id, shard)))

    async def shards(self) -> AsyncIterator[ListedShard]:
        """All shards in the account; what does not look like one of ours is passed over."""
        cursor = ""
        for _ in range(_MOST_PAGES):
            rest = f"collect?cursor={quote(cursor, safe='')}" if cursor else "collect"
            page = decode(ShardPage, await self._client.call_worker("GET", rest), "list of shards")
            for each in page.shards:
                if _JOB.fullmatch(each.job) and each.shard > 0:
                    yield each
            if not page.cursor or page.cursor == cursor:
                return
            cursor = page.cursor


def _path(job_id: str, shard: int) -> str:
    if not _JOB.fullmatch(job_id) or shard < 1:
        raise ValueError("not the name of a shard")
    return f"collect/{job_id}/{shard}"
