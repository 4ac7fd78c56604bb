"""A job's data from the user's file: read, loaded into the tables of a new `data.db`, which then takes its place.

One way: filling reads items and hands them to `loading`, which numbers them and packs their texts (`packed_texts`), and
hands rows to a `write_queue`.
"""

import os
import sqlite3
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from cfbatch_gui.core.inputs.file_rows import read_judgements
from cfbatch_gui.core.inputs.input_values import Layout, Mapping, Role, Source
from cfbatch_gui.core.inputs.items import TextBlock, read_items, read_text_blocks
from cfbatch_gui.core.job_folder import schema
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.job_folder.loading import Loading
from cfbatch_gui.core.job_folder.packed_texts import TextPacker
from cfbatch_gui.core.job_folder.schema import ROW_FORM
from cfbatch_gui.core.job_folder.write_queue import write_queue
from cfbatch_gui.core.system.files import flush_folder, flush_to_disk, move_own_file, noted, own_file_writer

_FLUSHED_FROM = 64_000_000  # bytes of the first file; below there is nothing to gain
_TEXTS_BUFFER = 1_048_576  # bytes; each write lets other threads have Python, and then waits to get it back
_FAST = (
    "PRAGMA synchronous = OFF; PRAGMA journal_mode = OFF; PRAGMA locking_mode = EXCLUSIVE; PRAGMA cache_size = -8000;"
)
_PAIRS = "SELECT query_id, text_id FROM items JOIN queries USING(query_no) JOIN texts USING(text_no)"

Progress = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class Filled:
    """What a file came to."""

    rows: int
    queries: int
    texts: int  # items: texts, or pairs of query and context
    problems: int
    repeated_ids: int = 0  # items whose id an earlier one has too; they are sent


def fill(
    folder: JobFolder,
    source: Source,
    mapping: Mapping,
    second: Source | None = None,
    *,
    progress: Progress | None = None,
    check: Callable[[], object] = lambda: None,
) -> Filled:
    """Read the whole file into a new `data.db`; an old one is replaced only by a whole new one.

    Raises InputError, DiskFull, whatever `progress` raises to stop the work, and `check`, which is called when all is
    read, to keep the old one.
    """
    folder.create()
    fresh = folder.path / "data.new.db"
    with noted(fresh, fresh.with_name(f"{fresh.name}-journal")):
        schema.create(fresh, indexed=False, size=source.size + (second.size if second else 0))
        try:
            texts = folder.new_texts()
            with (
                own_file_writer(texts, buffering=_TEXTS_BUFFER) as stream,
                flushed_early(Path(stream.name), fresh) as written,
                schema.opened(fresh, any_thread=True) as database,
            ):
                # The file is not in use until it is renamed: a crash costs nothing, so speed may win.
                database.executescript(_FAST)
                with schema.transaction(database):
                    with write_queue(database) as writes:
                        packer = TextPacker(writes, stream, written)
                        loading = Loading(writes, packer, mapping)
                        _read(loading, source, mapping, second, progress)
                        loading.write_all()
                    filled = _finish(database, loading, source, mapping, second)
                    packer.note(database, texts.name)
            flush_to_disk(fresh)
            try:
                check()
            except BaseException:
                texts.unlink(missing_ok=True)
                raise
            move_own_file(fresh, folder.data)
            flush_folder(folder.path)  # before the texts of the earlier data go
            folder.remove_other_texts(texts)
        finally:
            fresh.unlink(missing_ok=True)
    return filled


@contextmanager
def flushed_early(*paths: Path) -> Iterator[Callable[[int], None]]:
    """Flush these files while the block writes them, so that the last flush has little left to do.

    Yields a function to be called with the number of bytes written so far; it does not wait. Nothing is promised to be
    on the disk before the caller's own flush. No other process may have the files in use.
    """
    with ThreadPoolExecutor(1, "flush") as thread:
        under_way: list[Future[None]] = []
        last = 0

        def written(position: int) -> None:
            nonlocal last
            if position - last >= _FLUSHED_FROM and (not under_way or under_way[-1].done()):
                under_way[:] = [thread.submit(_flush, paths)]
                last = position

        yield written


def _flush(paths: tuple[Path, ...]) -> None:
    for path in paths:
        with suppress(OSError), path.open("r+b") as stream:
            os.fsync(stream.fileno())


def _read(loading: Loading, source: Source, mapping: Mapping, second: Source | None, progress: Progress | None) -> None:
    if mapping.layout is Layout.TEXTS and mapping.split is None:
        for found in read_text_blocks(source, mapping, progress=progress, on_row=loading.keep_row):
            if isinstance(found, TextBlock):
                loading.add_block(found)
            else:
                loading.add(found)
    else:
        for item in read_items(source, mapping, second, progress=progress, on_row=loading.keep_row):
            loading.add(item)


def _finish(
    database: sqlite3.Connection, loading: Loading, source: Source, mapping: Mapping, second: Source | None
) -> Filled:
    repeated_ids = loading.store_repeats(database)
    filled = Filled(loading.rows, loading.queries, loading.items, loading.problems, repeated_ids)
    # Candidates are pairs like any others once their texts are found.
    is_pairs = mapping.layout is Layout.CANDIDATES
    for name, value in {
        "columns": source.columns,
        "roles": mapping.roles,
        "second_columns": second.columns if second else (),
        "second_roles": mapping.second_roles,
        "layout": Layout.LONG if is_pairs else mapping.layout,
        "rows": filled.rows,
        "repeated_ids": filled.repeated_ids,
        schema.ITEMS_ARE_TEXTS: mapping.layout is Layout.TEXTS,
    }.items():
        schema.put_metadata_value(database, name, value)
    if loading.form and None not in loading.form:
        schema.put_metadata_value(database, ROW_FORM, loading.form)
    schema.create_indexes(database, has_queries=filled.queries > 0)
    if {Role.LABEL, Role.ID, Role.QUERY_ID} <= set(mapping.roles):
        _keep_outside_judgements(database, source)
    return filled


def _keep_outside_judgements(database: sqlite3.Connection, source: Source) -> None:
    """Keep what is judged for a query of the job and is not among its contexts; of several labels the last counts."""
    outside = {(each.query_id, each.document_id): each.label for each in read_judgements(source)}
    if not outside:
        return
    for pair in database.execute(_PAIRS):
        outside.pop(pair, None)
    asked = {identifier for (identifier,) in database.execute("SELECT query_id FROM queries")}
    rows = ((*pair, label) for pair, label in outside.items() if pair[0] in asked)
    database.executemany("INSERT INTO outside_judgements VALUES(?, ?, ?)", rows)
