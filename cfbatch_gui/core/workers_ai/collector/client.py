"""The calls of the collecting room. All of them may be repeated: none can bill."""

import asyncio
import re
from collections.abc import AsyncIterator
from typing import Final
from urllib.parse import quote

from cfbatch_gui.core.errors import UnreadableReply
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.workers_ai.client import WorkersAI
from cfbatch_gui.core.workers_ai.collector.download import AnswerFile, Layout
from cfbatch_gui.core.workers_ai.collector.wire import (
    Greeting,
    HandedOver,
    ListedShard,
    Order,
    ShardStatus,
    StoredAnswer,
    check_done,
    encode_order,
    read_greeting,
    read_order,
    read_page,
    read_status,
)

NO_ROOM: Final = 7003  # the Worker's code for an address that it does not have
NOT_THERE: Final = 10404  # its code for something that is not in the account
OTHER_ORDER: Final = 10409  # its code for a shard that was handed over with other batches
_JOB: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")
_MOST_PAGES: Final = 100


class AccountCollector:
    """The collecting room behind a connection. Every method raises as `WorkersAI.ask`, and ServiceRefused with the
    Worker's own codes: NO_ROOM, NOT_THERE, OTHER_ORDER.
    """

    def __init__(self, client: WorkersAI) -> None:
        self._client = client

    async def greeting(self) -> Greeting:
        """Whether the Worker has a collecting room. Free, and outside of any job."""
        return read_greeting((await self._client.call_worker("GET", "")).body)

    async def hand_over(self, job_id: str, shard: int, order: Order, layout: bytes) -> None:
        """Hand a shard over; `layout` is what another computer needs to take it over, opaque to the account.

        Twice is the same as once. The layout goes first: a shard that is listed has one.
        """
        path = _path(job_id, shard)
        answer = await self._client.call_worker(
            "PUT", f"{path}/layout", layout, content_type="application/octet-stream"
        )
        check_done(answer.body)
        check_done((await self._client.call_worker("PUT", path, encode_order(order))).body)

    async def status(self, job_id: str, shard: int) -> ShardStatus:
        """What the account has of a shard."""
        return read_status((await self._client.call_worker("GET", _path(job_id, shard))).body)

    async def refusal(self, job_id: str, shard: int, number: int) -> None:
        """Raise what the service said of a batch that it refused, as `WorkersAI.ask` would have raised it."""
        await self._client.call_worker("GET", f"{_path(job_id, shard)}/{number}")

    async def fetch(self, job_id: str, shard: int, stored: StoredAnswer, file: AnswerFile) -> None:
        """Bring an answer to the disk, or the part of it that is missing there. Raises DiskFull and DataError.

        When it is cut off, what has arrived stays, and the next call goes on from there.
        """
        await asyncio.to_thread(file.prepare)
        while not file.is_complete:
            before = file.size
            await self._client.call_worker(
                "GET", f"{_path(job_id, shard)}/{stored.number}", headers=file.headers, sink=file
            )
            if file.size <= before and not file.is_complete:
                raise UnreadableReply(message("The copy of an answer in your account is incomplete."), raw=b"")

    async def layout(self, job_id: str, shard: int) -> bytes:
        """What was handed over with a shard."""
        layout = Layout()
        await self._client.call_worker("GET", f"{_path(job_id, shard)}/layout", sink=layout)
        return layout.data

    async def order(self, job_id: str, shard: int) -> HandedOver:
        """The batches that were handed over with a shard."""
        return read_order((await self._client.call_worker("GET", f"{_path(job_id, shard)}/order")).body)

    async def forget(self, job_id: str, shard: int) -> None:
        """Delete the account's copies of a shard, and end its collecting. Of one that is not there: nothing."""
        check_done((await self._client.call_worker("DELETE", _path(job_id, shard))).body)

    async def shards(self) -> AsyncIterator[ListedShard]:
        """All shards in the account, page by page. What does not look like one of ours is passed over."""
        cursor = ""
        for _ in range(_MOST_PAGES):
            rest = f"collect?cursor={quote(cursor, safe='')}" if cursor else "collect"
            page = read_page((await self._client.call_worker("GET", rest)).body)
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
