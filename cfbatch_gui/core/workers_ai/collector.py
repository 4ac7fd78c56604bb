"""What the collecting room is told and what it says, as JSON."""

import asyncio
import hashlib
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from enum import StrEnum
from pathlib import Path
from typing import Final
from urllib.parse import quote

import msgspec

from cfbatch_gui.core.errors import DataError, UnreadableReply
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.system.files import remove_own_file, write_own_bytes
from cfbatch_gui.core.workers_ai.answers import breach, decode
from cfbatch_gui.core.workers_ai.client import WorkersAI
from cfbatch_gui.core.workers_ai.transport import ExchangeError

LONGEST_TITLE: Final = 200  # characters
_MOST_ANSWER_BYTES: Final = 1 << 40


class HandedOver(msgspec.Struct, frozen=True):
    """An order as the account gives it back."""

    model: str
    title: str
    kind: str  # "rank" or "embed"
    batches: tuple[tuple[int, str], ...]


class Order(HandedOver, frozen=True, kw_only=True):
    """A shard as it is handed over. Waits in seconds between two questions."""

    first_wait: float
    longest_wait: float


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
    etag: str = ""
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


_status: Final = msgspec.json.Decoder(ShardStatus)
_page: Final = msgspec.json.Decoder(ShardPage)
_order: Final = msgspec.json.Decoder(HandedOver)
_greeting: Final = msgspec.json.Decoder(Greeting)


def check_done(data: bytes) -> None:
    """ReplyError unless the room has confirmed a call: something on the way may answer in its place."""
    if not decode(_greeting, data, "confirmation").ok:
        raise breach("it confirms nothing")


def read_status(data: bytes) -> ShardStatus:
    """ReplyError for an answer that is none, names a batch twice, or has impossible figures."""
    status = decode(_status, data, "status of a shard")
    numbers = [each.number for each in status.batches]
    if len(set(numbers)) != len(numbers):
        raise breach("a batch stands in it twice")
    if any(each.size < 0 or each.size > _MOST_ANSWER_BYTES for each in status.batches):
        raise breach("the size of an answer is impossible")
    if any(not each.refused and not (each.size and each.etag) for each in status.batches):
        raise breach("an answer has no size or no mark")
    return status


FLUSHED_BYTES: Final = 8 << 20  # after so many bytes, what has arrived is flushed to the disk
_RANGE: Final = re.compile(r"bytes (\d{1,15})-(\d{1,15})/(\d{1,15})")


class AnswerFile:
    """The raw answer of one batch as an AnswerSink: a file beside the job's answers.

    What a crash left is used again up to the last `FLUSHED_BYTES` that were certainly flushed before it.
    """

    def __init__(self, folder: Path, stored: StoredAnswer) -> None:
        mark = hashlib.sha256(f"{stored.etag}\n{stored.size}".encode()).hexdigest()[:12]
        self._folder, self._stored = folder, stored
        self.path = folder / f"{stored.number:04}-{mark}.part"
        self.size = 0  # bytes that are there

    @property
    def is_complete(self) -> bool:
        return self.size == self._stored.size

    @property
    def headers(self) -> dict[str, str]:
        """What asks for the rest of it; for all of it when the account has another answer by now."""
        return {"range": f"bytes={self.size}-", "if-range": self._stored.etag} if self.size else {}

    def prepare(self) -> None:
        """Look at what is there, and remove parts of other answers to the same batch. Raises DataError."""
        for other in self._folder.glob(f"{self._stored.number:04}-*.part"):
            if other != self.path:
                remove_own_file(other)
        there = self.path.stat().st_size if self.path.exists() else 0
        self.size = max(0, min(there, self._stored.size) - 1) // FLUSHED_BYTES * FLUSHED_BYTES

    def begin(self, status: int, headers: Mapping[str, str]) -> None:
        start, whole = 0, headers.get("content-length", "")
        if status == 206:
            found = _RANGE.fullmatch(headers.get("content-range", ""))
            if found is None:
                raise ExchangeError("broken", "a part without its place")
            start, whole = int(found[1]), found[3]
        if start != (self.size if status == 206 else 0) or whole not in ("", str(self._stored.size)):
            raise ExchangeError("broken", "another part, or another answer, than was asked for")
        self.size = start

    def write(self, block: bytes) -> None:
        while block:
            room = FLUSHED_BYTES - self.size % FLUSHED_BYTES
            piece, block = block[:room], block[room:]
            end = self.size + len(piece)
            if end > self._stored.size:
                raise ExchangeError("broken", "more bytes than the answer has")
            is_flushed = len(piece) == room or end == self._stored.size
            write_own_bytes(self.path, piece, self.size, is_flushed=is_flushed)
            self.size = end

    def read(self) -> bytes:
        """The whole answer. Raises OSError."""
        return self.path.read_bytes()

    def remove(self) -> None:
        remove_own_file(self.path)
        self.size = 0


def remove_parts(folder: Path) -> None:
    """Remove what was fetched in a folder; what another program has open stays."""
    for path in folder.glob("*.part"):
        with suppress(DataError):
            remove_own_file(path)


NO_ROOM: Final = 7003  # the Worker's code for an address that it does not have
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
        return decode(_greeting, await self._client.call_worker("GET", ""), "greeting")

    async def hand_over(self, job_id: str, shard: int, order: Order, layout: bytes) -> None:
        """Hand a shard over, twice is as once.

        The layout, which another computer needs to take it over, goes first: a shard that is listed has one.
        """
        path = _path(job_id, shard)
        kind = {"content-type": "application/octet-stream"}
        check_done(await self._client.call_worker("PUT", f"{path}/layout", layout, headers=kind))
        check_done(await self._client.call_worker("PUT", path, msgspec.json.encode(order)))

    async def status(self, job_id: str, shard: int) -> ShardStatus:
        return read_status(await self._client.call_worker("GET", _path(job_id, shard)))

    async def refusal(self, job_id: str, shard: int, number: int) -> None:
        """Raise what the service said of a batch that it refused."""
        await self._client.call_worker("GET", f"{_path(job_id, shard)}/{number}")

    async def fetch(self, job_id: str, shard: int, stored: StoredAnswer, file: AnswerFile) -> None:
        """Bring the missing part of an answer to the disk. Raises DiskFull and DataError; what has arrived stays."""
        await asyncio.to_thread(file.prepare)
        while not file.is_complete:
            before = file.size
            await self._client.call_worker(
                "GET", f"{_path(job_id, shard)}/{stored.number}", headers=file.headers, sink=file
            )
            if file.size <= before and not file.is_complete:
                raise UnreadableReply(message("The copy of an answer in your account is incomplete."), raw=b"")

    async def layout(self, job_id: str, shard: int) -> bytes:
        return await self._client.call_worker("GET", f"{_path(job_id, shard)}/layout", kind="octet-stream")

    async def order(self, job_id: str, shard: int) -> HandedOver:
        return decode(
            _order, await self._client.call_worker("GET", f"{_path(job_id, shard)}/order"), "order of a shard"
        )

    async def forget(self, job_id: str, shard: int) -> None:
        """Delete the account's copies of a shard, if any, and end its collecting."""
        check_done(await self._client.call_worker("DELETE", _path(job_id, shard)))

    async def shards(self) -> AsyncIterator[ListedShard]:
        """All shards in the account; what does not look like one of ours is passed over."""
        cursor = ""
        for _ in range(_MOST_PAGES):
            rest = f"collect?cursor={quote(cursor, safe='')}" if cursor else "collect"
            page = decode(_page, await self._client.call_worker("GET", rest), "list of shards")
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
