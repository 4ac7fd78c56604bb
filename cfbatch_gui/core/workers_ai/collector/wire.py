"""What the collecting room is told and what it says, as JSON."""

from enum import StrEnum
from typing import Final

import msgspec

from cfbatch_gui.core.workers_ai.wire.decoding import breach, decode

MOST_BATCHES: Final = 100  # of one shard
MOST_SHARDS: Final = 9_999  # of one job
LONGEST_TITLE: Final = 200  # characters
_MOST_ANSWER_BYTES: Final = 1 << 40


class Order(msgspec.Struct, frozen=True):
    """A shard as it is handed over: batches by their number and request id. Waits in seconds between two questions."""

    model: str
    title: str
    kind: str  # "rank" or "embed"
    first_wait: float
    longest_wait: float
    batches: tuple[tuple[int, str], ...]


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
    """A shard in the account, of this computer or of another one. `at` in seconds since 1970, UTC."""

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


class HandedOver(msgspec.Struct, frozen=True):
    """An order as the account gives it back."""

    model: str
    title: str
    kind: str
    batches: tuple[tuple[int, str], ...]


class Greeting(msgspec.Struct, frozen=True):
    """What the Worker says of itself. `collects` is the version of its collecting room, 0 without one."""

    ok: bool = False
    collects: int = 0


_status: Final = msgspec.json.Decoder(ShardStatus)
_page: Final = msgspec.json.Decoder(ShardPage)
_order: Final = msgspec.json.Decoder(HandedOver)
_greeting: Final = msgspec.json.Decoder(Greeting)


def encode_order(order: Order) -> bytes:
    """The body that hands a shard over."""
    return msgspec.json.encode(order)


def check_done(data: bytes) -> None:
    """Raise ReplyError unless the room has confirmed a call: something on the way may answer in its place."""
    if not decode(_greeting, data, "confirmation").ok:
        raise breach("it confirms nothing")


def read_status(data: bytes) -> ShardStatus:
    """Raises ReplyError for an answer that is none, names a batch twice, or has impossible figures."""
    status = decode(_status, data, "status of a shard")
    numbers = [each.number for each in status.batches]
    if len(set(numbers)) != len(numbers):
        raise breach("a batch stands in it twice")
    if any(each.size < 0 or each.size > _MOST_ANSWER_BYTES for each in status.batches):
        raise breach("the size of an answer is impossible")
    if any(not each.refused and not (each.size and each.etag) for each in status.batches):
        raise breach("an answer has no size or no mark")
    return status


def read_page(data: bytes) -> ShardPage:
    """Raises ReplyError."""
    return decode(_page, data, "list of shards")


def read_order(data: bytes) -> HandedOver:
    """Raises ReplyError."""
    return decode(_order, data, "order of a shard")


def read_greeting(data: bytes) -> Greeting:
    """Raises ReplyError."""
    return decode(_greeting, data, "greeting")
