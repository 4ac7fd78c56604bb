"""What is handed over with a shard so that another computer can take it over: which text is where in which request,
without the texts; and laid out in the job's folder there, with the file that was sent or with names.
"""

import gzip
import hashlib
import json
import sqlite3
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any, Final

import msgspec

from cfbatch_gui.core.errors import ReplyError, UsageError
from cfbatch_gui.core.inputs.input_values import AttachedInput, Kind
from cfbatch_gui.core.inputs.layouts import check_mapping
from cfbatch_gui.core.inputs.recognise.recogniser import open_source
from cfbatch_gui.core.job_folder.filling import context_name, fill_named, query_name, text_name
from cfbatch_gui.core.job_folder.folder import JobFolder, SavedDraft
from cfbatch_gui.core.job_folder.schema import INDEX_OF_REQUESTS, transaction
from cfbatch_gui.core.jobs.plan import packing
from cfbatch_gui.core.jobs.states import Batch, BatchState, Job
from cfbatch_gui.core.messages import message

VERSION: Final = 1
_MOST_BYTES: Final = 256 << 20  # of JSON
# Rows of `data.db`. Of an item: its number, query, position among its contexts, request and position in it.
Request = tuple[int, str, int, int]
Item = tuple[int, int | None, int, int | None, int | None]
Part = tuple[int, int, int, int, int | None, int | None]


class Layout(msgspec.Struct, frozen=True):
    """A shard. `job` has its batches, and of all else what another computer can use; paths are names of files."""

    job: Job
    requests: tuple[Request, ...]
    items: tuple[Item, ...]
    repeats: tuple[tuple[int, int], ...]
    parts: tuple[Part, ...]
    draft: SavedDraft | None = None
    version: int = VERSION


_decoder: Final = msgspec.json.Decoder(Layout)
_OF_SHARD: Final = "SELECT request_no FROM requests WHERE batch IN (SELECT value FROM json_each(:batches))"
_PARTED: Final = f"SELECT item_no FROM parts WHERE request_no IN ({_OF_SHARD})"  # noqa: S608 - constants, here and below
_REQUESTS: Final = f"SELECT request_no, reference, batch, position FROM requests WHERE request_no IN ({_OF_SHARD})"  # noqa: S608
_ITEMS: Final = f"""
SELECT item_no, query_no, position, request_no, request_position FROM items
WHERE request_no IN ({_OF_SHARD}) OR item_no IN ({_PARTED})
    OR item_no IN (SELECT item_no FROM repeats WHERE first IN ({_PARTED}))
ORDER BY item_no
"""  # noqa: S608
_OF_ITEMS: Final = "WHERE item_no IN (SELECT value FROM json_each(:items))"
_REPEATS: Final = f"SELECT item_no, first FROM repeats {_OF_ITEMS}"  # noqa: S608
_PARTS: Final = f"SELECT item_no, part, start, stop, request_no, request_position FROM parts {_OF_ITEMS}"  # noqa: S608


def layout_of(folder: JobFolder, job: Job, batches: Sequence[Batch]) -> bytes:
    """The layout of some batches of a job, gzipped. Raises DataError."""
    values = {"batches": json.dumps([batch.number for batch in batches])}
    with folder.open(read_only=True) as database:

        def rows(statement: str) -> tuple[Any, ...]:
            return tuple(database.execute(statement, values))

        requests, items = rows(_REQUESTS), rows(_ITEMS)
        values["items"] = json.dumps([item[0] for item in items])
        layout = Layout(
            _told(job, batches), requests, items, rows(_REPEATS), rows(_PARTS), _without_paths(folder.draft())
        )
    return gzip.compress(msgspec.json.encode(layout, enc_hook=str), mtime=0)


def _told(job: Job, batches: Sequence[Batch]) -> Job:
    told = Job(job.id, job.name, job.kind, job.model, "", job.created_at, replace(job.options, collect_in_account=None))
    theirs = (
        Batch(
            *(job.id, batch.number, BatchState.QUEUED, batch.requests, batch.texts, batch.bytes, batch.sha256),
            request_id=batch.request_id,
            sent_at=batch.sent_at,
        )
        for batch in batches
    )
    return replace(told, sent_at=job.sent_at, batches=tuple(theirs))


def _without_paths(draft: SavedDraft | None) -> SavedDraft | None:
    if draft is None:
        return None
    second = Path(draft.second_path).name if draft.second_path else ""
    return msgspec.structs.replace(draft, path=Path(draft.path).name, second_path=second)


def read_layout(data: bytes) -> Layout:
    """Read what was handed over, perhaps by a newer version. Raises ReplyError."""
    unpacker = zlib.decompressobj(zlib.MAX_WBITS | 16)
    try:
        layout = _decoder.decode(unpacker.decompress(data, _MOST_BYTES))
    except (ValueError, RecursionError, zlib.error) as error:  # also of one that is too large, or not whole
        raise ReplyError(
            message("What was handed over with this job cannot be read, so it cannot be taken over."), detail=str(error)
        ) from error
    if layout.version != VERSION:
        raise ReplyError(
            message("This job was handed over by another version of CF Batch. Update this computer's, then try again.")
        )
    return layout


_OTHER_FILE = message(
    "This is not the file that was sent, or it is not read in the same way: {reason}. Choose that file, or take the "
    "job over without one."
)


def read_as_sent(sent: SavedDraft | None, inputs: AttachedInput) -> AttachedInput:
    """The same files, read as where they were sent from; runs long. Raises UsageError when their columns are others,
    InputError.
    """
    if sent is None:
        missing = check_mapping(inputs.mapping, inputs.source, inputs.second)
        if missing:
            raise UsageError(missing)
        return inputs
    second = inputs.second
    if bool(sent.second_path) is not (second is not None):
        words = message("it was sent with a second file") if second is None else message("it was sent as one file")
        raise UsageError(_OTHER_FILE.filled(reason=words))
    source = open_source(inputs.source.path, sent.options)
    second = open_source(second.path, sent.second_options) if second is not None else None
    if check_mapping(sent.mapping, source, second):
        raise UsageError(_OTHER_FILE.filled(reason=message("its columns are others")))
    return AttachedInput(source, sent.mapping, second)


def lay_out_file(folder: JobFolder, job: Job, layouts: Sequence[Layout], batches: Sequence[Batch]) -> None:
    """Have the items of a filled draft wait for the answers to `batches`; runs long. Texts are compared by the hash of
    each body. Raises UsageError for another file.
    """
    packing.plan(folder, job)  # cuts long texts to parts, as was done before they were sent
    items = all_items(layouts)
    with folder.open() as database, transaction(database):
        ours = {row[0]: row for row in database.execute("SELECT item_no, query_no, position FROM items")}
        if any(ours.get(item[0]) != item[:3] for item in items):
            raise UsageError(_OTHER_FILE.filled(reason=message("its rows are others")))
        _write(database, layouts, items, {item[0]: item[0] for item in items})
        for batch in batches:
            body = packing.body_of(database, replace(job, batches=tuple(batches)), batch)
            if hashlib.sha256(body).hexdigest() != batch.sha256:
                raise UsageError(_OTHER_FILE.filled(reason=message("its texts are others")))


def lay_out_names(folder: JobFolder, kind: Kind, layouts: Sequence[Layout]) -> None:
    """Fill the job's data with names for the texts, which say where each stands in the file. Raises DataError."""
    items = all_items(layouts)
    references: dict[int | None, str] = {row[0]: row[1] for layout in layouts for row in layout.requests}
    if kind is Kind.RANK:
        items.sort(key=lambda item: (item[1] or 0, item[2]))
    fill_named(folder, kind, _names(kind, items, references))
    renumbered = {item[0]: number for number, item in enumerate(items, start=1)}
    with folder.open() as database, transaction(database):
        _write(database, layouts, items, renumbered)


def all_items(layouts: Sequence[Layout]) -> list[Item]:
    """The items of all shards, each once, by number; those of several in the shard that has their request."""
    last = sorted(chain.from_iterable(layout.items for layout in layouts), key=lambda item: item[3] is not None)
    found = {item[0]: item for item in last}
    return [found[number] for number in sorted(found)]


def _names(kind: Kind, items: Sequence[Item], references: Mapping[int | None, str]) -> Iterator[tuple[str, ...]]:
    for number, query, position, request, _ in items:
        reference = references.get(request, "")
        if kind is Kind.RANK:
            yield query_name(query or 0), context_name(query or 0, position), reference
        else:
            yield text_name(number), reference


def _write(
    database: sqlite3.Connection, layouts: Sequence[Layout], items: Sequence[Item], renumbered: Mapping[int, int]
) -> None:
    database.execute("UPDATE items SET request_no = NULL, request_position = NULL")
    database.execute("DELETE FROM parts WHERE request_no IS NOT NULL")
    for table in ("requests", "runs", "repeats"):
        database.execute(f"DELETE FROM {table}")  # noqa: S608 - one of three constants
    database.executemany(
        "UPDATE items SET request_no = ?, request_position = ? WHERE item_no = ?",
        ((request, position, renumbered[number]) for number, _, _, request, position in items),
    )
    for layout in layouts:
        database.executemany(
            "INSERT OR REPLACE INTO requests(request_no, reference, batch, position) VALUES(?, ?, ?, ?)",
            layout.requests,
        )
        database.executemany(
            "INSERT OR REPLACE INTO repeats VALUES(?, ?)",
            ((renumbered[item], renumbered[first]) for item, first in layout.repeats if first in renumbered),
        )
        database.executemany(
            "INSERT OR REPLACE INTO parts(item_no, part, start, stop, request_no, request_position)"
            " VALUES(?, ?, ?, ?, ?, ?)",
            ((renumbered[item], *part) for item, *part in layout.parts),
        )
    database.execute(INDEX_OF_REQUESTS)
