"""The layout of a job that another computer has sent, written into this computer's data of it."""

import hashlib
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain

from cfbatch_gui.core.errors import UsageError
from cfbatch_gui.core.inputs.input_values import AttachedInput, Kind
from cfbatch_gui.core.inputs.layouts import check_mapping
from cfbatch_gui.core.inputs.recognise.recogniser import open_source
from cfbatch_gui.core.job_folder.folder import JobFolder, SavedDraft
from cfbatch_gui.core.job_folder.named_texts import context_name, fill_named, query_name, text_name
from cfbatch_gui.core.job_folder.schema import INDEX_OF_REQUESTS, transaction
from cfbatch_gui.core.jobs.account.layouts import Layout
from cfbatch_gui.core.jobs.plan import packing
from cfbatch_gui.core.jobs.states import Batch, Job
from cfbatch_gui.core.messages import message

_OTHER_FILE = message(
    "This is not the file that was sent, or it is not read in the same way: {reason}. Choose that file, or take the "
    "job over without one."
)
_Item = tuple[int, int, int, int, int]  # as in `Layout.items`


def read_as_sent(sent: SavedDraft | None, inputs: AttachedInput) -> AttachedInput:
    """The same files, read as where they were sent from; runs long. `sent` is None where that is not known.

    Raises UsageError when their columns are not those of what was sent, InputError when they cannot be read so.
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
    """Have the items of a draft that was filled from the file wait for the answers to `batches`; runs long.

    Every text is held against what was sent, by the hash of each body. Raises UsageError for another file.
    """
    packing.plan(folder, job)  # cuts long texts to parts, as was done before they were sent
    items = _all_items(layouts)
    with folder.open() as database, transaction(database):
        theirs = [item[:3] for item in items]
        if _known_items(database, {item[0] for item in items}) != theirs:
            raise UsageError(_OTHER_FILE.filled(reason=message("its rows are others")))
        _write(database, layouts, items, {item[0]: item[0] for item in items})
        for batch in batches:
            body = packing.body_of_tables(database, replace(job, batches=tuple(batches)), batch)
            if hashlib.sha256(body).hexdigest() != batch.sha256:
                raise UsageError(_OTHER_FILE.filled(reason=message("its texts are others")))


def lay_out_names(folder: JobFolder, kind: Kind, layouts: Sequence[Layout]) -> None:
    """Fill the job's data with names for the texts, which say where each stands in the file. Raises DataError."""
    items = _all_items(layouts)
    references = {row[0]: row[1] for layout in layouts for row in layout.requests}
    if kind is Kind.RANK:
        items.sort(key=lambda item: (item[1], item[2]))
    fill_named(folder, kind, _names(kind, items, references))
    renumbered = {item[0]: number for number, item in enumerate(items, start=1)}
    with folder.open() as database, transaction(database):
        _write(database, layouts, items, renumbered)


def _all_items(layouts: Sequence[Layout]) -> list[_Item]:
    """The items of all shards, each once, by number; those of several in the shard that has their request."""
    found: dict[int, _Item] = {}
    for item in chain.from_iterable(layout.items for layout in layouts):
        if item[0] not in found or item[3]:
            found[item[0]] = item
    return [found[number] for number in sorted(found)]


def _known_items(database: sqlite3.Connection, numbers: set[int]) -> list[tuple[int, int, int]]:
    rows = database.execute("SELECT item_no, coalesce(query_no, 0), position FROM items ORDER BY item_no")
    return [row for row in rows if row[0] in numbers]


def _names(kind: Kind, items: Sequence[_Item], references: Mapping[int, str]) -> Iterator[tuple[str, ...]]:
    for number, query, position, request, _ in items:
        reference = references.get(request, "")
        if kind is Kind.RANK:
            yield query_name(query), context_name(query, position), reference
        else:
            yield text_name(number), reference


def _write(
    database: sqlite3.Connection, layouts: Sequence[Layout], items: Sequence[_Item], renumbered: Mapping[int, int]
) -> None:
    database.execute("UPDATE items SET request_no = NULL, request_position = NULL")
    for statement in (
        "DELETE FROM requests",
        "DELETE FROM runs",
        "DELETE FROM repeats",
        "DELETE FROM parts WHERE request_no IS NOT NULL",
    ):
        database.execute(statement)
    database.executemany(
        "INSERT INTO requests(request_no, reference, batch, position) VALUES(?, ?, ?, ?)",
        sorted({row for layout in layouts for row in layout.requests}),
    )
    database.executemany(
        "UPDATE items SET request_no = ?, request_position = ? WHERE item_no = ?",
        (
            (request or None, position if position >= 0 else None, renumbered[number])
            for number, _, _, request, position in items
        ),
    )
    database.executemany(
        "INSERT OR REPLACE INTO repeats VALUES(?, ?)",
        (
            (renumbered[item], renumbered[first])
            for layout in layouts
            for item, first in layout.repeats
            if first in renumbered
        ),
    )
    parts: dict[tuple[int, int], tuple[int, int, int, int, int, int]] = {}
    for row in chain.from_iterable(layout.parts for layout in layouts):
        parts[row[0], row[1]] = row
    database.executemany(
        "INSERT OR REPLACE INTO parts(item_no, part, start, stop, request_no, request_position)"
        " VALUES(?, ?, ?, ?, ?, ?)",
        (
            (renumbered[item], part, start, stop, request or None, position if position >= 0 else None)
            for item, part, start, stop, request, position in parts.values()
        ),
    )
    database.execute(INDEX_OF_REQUESTS)
