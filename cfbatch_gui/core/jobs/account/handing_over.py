"""Handing batches over to the user's account, with a gzipped layout without texts by which another computer can take
the shard over. The ledger has the shard before the account does.
"""

import asyncio
import json
import sqlite3
import zlib
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import Any, Final

import msgspec

from cfbatch_gui.core.errors import ReplyError, ServiceRefused
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.job_folder.folder import JobFolder, SavedDraft
from cfbatch_gui.core.jobs.account.shards import may_be_handed_over, next_shard, of_shard, unacknowledged
from cfbatch_gui.core.jobs.poll_schedule import LONGEST
from cfbatch_gui.core.jobs.states import Batch, BatchState, Job, JobOptions
from cfbatch_gui.core.jobs.store.job_store import JobStore
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.workers_ai.collector import LONGEST_TITLE, OTHER_ORDER, AccountCollector, Order
from cfbatch_gui.core.workers_ai.connection_kinds import Connection

VERSION: Final = 1
_MOST_BYTES: Final = 256 << 20  # of JSON
_MOST_ROWS: Final = 5_000_000


class SentBatch(msgspec.Struct, frozen=True):
    number: int
    request_id: str
    requests: int
    texts: int
    bytes: int
    sha256: str
    sent_at: float


class SentJob(msgspec.Struct, frozen=True):
    """The job that a shard is of, as far as another computer can use it. `draft` has no paths, only names of files."""

    name: str
    kind: Kind
    model: str
    created_at: float
    sent_at: float
    options: JobOptions = JobOptions()
    source_name: str = ""
    source_sha256: str = ""
    draft: SavedDraft | None = None


class Layout(msgspec.Struct, frozen=True):
    """Columns of one table have one length; `*_steps` are differences from one row to the next. `items`: number, query
    number (0: none), position among its contexts, request (0: none) and position in it (-1: none).
    """

    job: SentJob
    batches: tuple[SentBatch, ...]
    requests: tuple[tuple[int, str, int, int], ...]
    item_steps: tuple[int, ...]
    query_steps: tuple[int, ...]
    positions: tuple[int, ...]
    request_steps: tuple[int, ...]
    request_positions: tuple[int, ...]
    repeats: tuple[tuple[int, int], ...] = ()
    parts: tuple[tuple[int, int, int, int, int, int], ...] = ()
    version: int = VERSION

    @property
    def items(self) -> "list[tuple[int, int, int, int, int]]":
        columns = (
            accumulate(self.item_steps),
            accumulate(self.query_steps),
            self.positions,
            accumulate(self.request_steps),
            self.request_positions,
        )
        return list(zip(*columns, strict=True))


_decoder: Final = msgspec.json.Decoder(Layout)
_OF_SHARD: Final = "SELECT request_no FROM requests WHERE batch IN (SELECT value FROM json_each(:batches))"
_PARTED: Final = f"SELECT item_no FROM parts WHERE request_no IN ({_OF_SHARD})"  # noqa: S608 - constants, here and below
_REQUESTS: Final = f"""
SELECT request_no, reference, batch, position FROM requests WHERE request_no IN ({_OF_SHARD}) ORDER BY request_no
"""  # noqa: S608
_ITEMS: Final = f"""
SELECT item_no, coalesce(query_no, 0), position, coalesce(request_no, 0), coalesce(request_position, -1) FROM items
WHERE request_no IN ({_OF_SHARD}) OR item_no IN ({_PARTED})
    OR item_no IN (SELECT item_no FROM repeats WHERE first IN ({_PARTED}))
ORDER BY item_no
"""  # noqa: S608


def layout_of(folder: JobFolder, job: Job, batches: Sequence[Batch]) -> bytes:
    """The layout of some batches of a job, as it is handed over. Raises DataError."""
    numbers = {"batches": json.dumps([batch.number for batch in batches])}
    with folder.open(read_only=True) as database:
        requests = _rows(database, _REQUESTS, numbers)
        items = _rows(database, _ITEMS, numbers)
        of_items = {"items": json.dumps([row[0] for row in items])}
        repeats = _rows(
            database,
            "SELECT item_no, first FROM repeats WHERE item_no IN (SELECT value FROM json_each(:items))",
            of_items,
        )
        parts = _rows(
            database,
            "SELECT item_no, part, start, stop, coalesce(request_no, 0), coalesce(request_position, -1) FROM parts"
            " WHERE item_no IN (SELECT value FROM json_each(:items))",
            of_items,
        )
    columns: list[tuple[int, ...]] = list(zip(*items, strict=True)) or [()] * 5
    layout = Layout(
        job=_sent_job(folder, job),
        batches=tuple(map(_sent_batch, batches)),
        requests=tuple(requests),
        item_steps=_steps(columns[0]),
        query_steps=_steps(columns[1]),
        positions=columns[2],
        request_steps=_steps(columns[3]),
        request_positions=columns[4],
        repeats=tuple(repeats),
        parts=tuple(parts),
    )
    return _packed(msgspec.json.encode(layout, enc_hook=str))


def read_layout(data: bytes) -> Layout:
    """Read what was handed over, perhaps by a newer version. Raises ReplyError."""
    try:
        layout = _decoder.decode(_unpacked(data))
    except (ValueError, RecursionError, zlib.error) as error:
        raise _unreadable(str(error)) from error
    columns = {len(layout.item_steps), len(layout.query_steps), len(layout.positions), len(layout.request_steps)}
    if len(columns | {len(layout.request_positions)}) != 1 or max(columns) > _MOST_ROWS:
        raise _unreadable("columns of different lengths")
    if layout.version != VERSION:
        raise ReplyError(
            message("This job was handed over by another version of CF Batch. Update this computer's, then try again.")
        )
    return layout


def batches_of(layout: Layout, job_id: str, shard: int, now: float) -> list[Batch]:
    """The batches of a shard as another computer watches them. Times in seconds since 1970."""
    return [
        Batch(
            job_id,
            each.number,
            BatchState.QUEUED,
            requests=each.requests,
            texts=each.texts,
            bytes=each.bytes,
            sha256=each.sha256,
            attempt=f"{job_id}-{shard}-{each.number}",
            request_id=each.request_id,
            sent_at=each.sent_at,
            changed_at=now,
            shard=shard,
            handed_over_at=now,
        )
        for each in layout.batches
    ]


def _sent_job(folder: JobFolder, job: Job) -> SentJob:
    draft = folder.draft()
    if draft is not None:
        draft = msgspec.structs.replace(
            draft, path=Path(draft.path).name, second_path=Path(draft.second_path).name if draft.second_path else ""
        )
    return SentJob(
        name=job.name,
        kind=job.kind,
        model=job.model,
        created_at=job.created_at,
        sent_at=job.sent_at,
        options=replace(job.options, collect_in_account=None),
        source_name=job.source_name,
        source_sha256=job.source_sha256,
        draft=draft,
    )


def _sent_batch(batch: Batch) -> SentBatch:
    return SentBatch(
        batch.number, batch.request_id, batch.requests, batch.texts, batch.bytes, batch.sha256, batch.sent_at
    )


def _rows(database: sqlite3.Connection, statement: str, values: dict[str, str]) -> list[Any]:
    return database.execute(statement, values).fetchall()


def _steps(column: Sequence[int]) -> tuple[int, ...]:
    return tuple(now - before for before, now in zip((0, *column), column, strict=False))


def _packed(data: bytes) -> bytes:
    packer = zlib.compressobj(6, zlib.DEFLATED, zlib.MAX_WBITS | 16)
    return packer.compress(data) + packer.flush()


def _unpacked(data: bytes) -> bytes:
    unpacker = zlib.decompressobj(zlib.MAX_WBITS | 16)
    found = unpacker.decompress(data, _MOST_BYTES)
    if unpacker.unconsumed_tail or not unpacker.eof:
        raise ValueError("too large, or not whole")
    return found


def _unreadable(detail: str) -> ReplyError:
    return ReplyError(
        message("What was handed over with this job cannot be read, so it cannot be taken over."), detail=detail
    )


DIRECT_AFTER = 3_600.0  # seconds until the service is asked directly for a batch that the account collects
_FIRST_WAIT = 60.0  # seconds until the account asks for the first time, as a batch takes minutes
NEAR = 2.0  # seconds; a connection that is asked sooner than this is a practice one, and so is its account


async def hand_over_due(store: JobStore, job_id: str, collector: AccountCollector, now: float) -> None:
    """Hand over what was begun and not confirmed, then all that is due. `now` in seconds since 1970. Raises UserError
    as `AccountCollector`.
    """
    for shard, batches in unacknowledged(store.job(job_id)).items():
        await _hand_over(store, collector, shard, batches, now)
    connection = store.client(store.job(job_id)).connection
    while due := next_shard(store.job(job_id), connection, now):
        shard = _free_shard(store.job(job_id))
        job = await store.change_batches(job_id, [batch.number for batch in due], partial(_assigned, shard=shard))
        if assigned := of_shard(job.batches, shard):
            await _hand_over(store, collector, shard, assigned, now)


async def _hand_over(
    store: JobStore, collector: AccountCollector, shard: int, batches: Sequence[Batch], now: float
) -> None:
    job = store.job(batches[0].job_id)
    layout = await asyncio.to_thread(layout_of, store.folder(job.id), job, batches)
    order = order_of(job, batches, store.client(job).connection)
    try:
        await collector.hand_over(job.id, shard, order, layout)
    except ServiceRefused as error:
        if error.code != OTHER_ORDER:
            raise
        await _learn_order(store, collector, job, shard, now)
        return
    numbers = [number for number, _ in order.batches]
    await store.change_batches(job.id, numbers, partial(_confirmed, shard=shard, now=now), account_cleared_at=0.0)


def _assigned(batch: Batch, *, shard: int) -> Batch:
    return replace(batch, shard=shard) if may_be_handed_over(batch) else batch


def _confirmed(batch: Batch, *, shard: int, now: float) -> Batch:
    if batch.shard != shard or batch.direct_only or not batch.state.is_at_service:
        return batch  # it was decided otherwise meanwhile
    return replace(batch, handed_over_at=now, next_check_at=now + DIRECT_AFTER)


async def _learn_order(store: JobStore, collector: AccountCollector, job: Job, shard: int, now: float) -> None:
    """The account has other batches under this name: those of the job among them stay there, for the service may have
    forgotten their answers.
    """
    theirs = set((await collector.order(job.id, shard)).batches)
    here = [(batch.number, batch.request_id) for batch in store.job(job.id).batches]
    # Without one, the next shard is tried: the numbers have to come to an end.
    other = 0 if theirs.intersection(here) else max(shard, _free_shard(job) - 1) + 1

    def learned(batch: Batch) -> Batch:
        if (batch.number, batch.request_id) in theirs:
            if not batch.shard and may_be_handed_over(batch):
                batch = replace(batch, shard=shard)
            return _confirmed(batch, shard=shard, now=now)
        return replace(batch, shard=other) if batch.shard == shard else batch

    await store.change_batches(job.id, [number for number, _ in here], learned, account_cleared_at=0.0)


def order_of(job: Job, batches: Sequence[Batch], connection: Connection) -> Order:
    """What hands batches over: their ids, and how often the account is to ask for them."""
    first = connection.first_check
    return Order(
        model=job.model,
        title=job.name[:LONGEST_TITLE],
        kind=str(job.kind),
        first_wait=first if first < NEAR else _FIRST_WAIT,
        longest_wait=LONGEST,
        batches=tuple((batch.number, batch.request_id) for batch in batches),
    )


def _free_shard(job: Job) -> int:
    return max((batch.shard for batch in job.batches), default=0) + 1
