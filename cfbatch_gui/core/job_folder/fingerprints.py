"""Which texts a job has asked about, by hashes of exactly what was sent (with parts and query), kept in their order.
Nothing is taken by a key alone: texts are compared first. And arrays in `data.db` that can be made anew.
"""

import hashlib
import io
import sqlite3
import zipfile
import zlib
from collections.abc import Iterable
from itertools import groupby
from operator import itemgetter

import msgspec
import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.errors import DataError
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.job_folder.schema import ITEMS_ARE_TEXTS, metadata_value, transaction

HASHES, MAP = "hashes", "map"  # names of arrays: hashes of the texts, and their places on the map
_BLOCK = 20_000  # texts that are hashed at a time
_encode = msgspec.json.Encoder().encode
_PAIRS = "SELECT item_no, query_no, text_no FROM items WHERE query_no IS NOT NULL ORDER BY item_no"
Hashes = NDArray[np.uint64]


def hashes_of_items(folder: JobFolder) -> tuple[NDArray[np.int64], Hashes]:
    """The number of every item, ascending, (n,), and the hash of what is sent of it, uint64 (n,), as they are kept,
    or made anew and kept. For a thread. Raises DataError.
    """
    with folder.open(read_only=True) as database:
        found = kept_arrays(database, HASHES)
        if found is not None:
            return found["item"].astype(np.int64), found["hashes"].astype(np.uint64, copy=False)
        item, hashes = _hashes_of_items(database)
    keep_arrays(folder, HASHES, item=item.astype("<u4"), hashes=hashes)
    return item, hashes


def places(wanted: Hashes, known: Hashes) -> NDArray[np.int64]:
    """For each wanted hash the index of the first that is equal, -1 for none."""
    if not len(known):
        return np.full(len(wanted), -1, np.int64)
    order = np.argsort(known, kind="stable")
    found = order[np.minimum(np.searchsorted(known, wanted, sorter=order), len(known) - 1)].astype(np.int64)
    return np.where(known[found] == wanted, found, -1)


def hashes_of(texts: Iterable[str]) -> Hashes:
    """The hashes of texts in UTF-8, uint64 (n,)."""
    return _hashed([text.encode() for text in texts])


def _hashes_of_items(database: sqlite3.Connection) -> tuple[NDArray[np.int64], Hashes]:
    queries, of_texts = _hashes_of(database, "queries", "query_no"), _hashes_of(database, "texts", "text_no")
    item, query, text = _items(database)
    hashes = of_texts[text - 1]
    if len(query):
        _mix_in_parts(database, item, hashes)
        for start in range(0, len(query), _BLOCK):  # all at once would take several times the room
            block = slice(start, start + _BLOCK)
            hashes[block] = mixed(queries[query[block] - 1], hashes[block])
    return item, hashes


def _items(database: sqlite3.Connection) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """The numbers of items, queries and texts, in the order of the items; no queries of texts without any."""
    if database.execute("SELECT 1 FROM queries LIMIT 1").fetchone():
        rows = database.execute(_PAIRS)
        pairs = np.fromiter(rows, np.dtype([("item", "<u4"), ("query", "<u4"), ("text", "<u4")]))
        return pairs["item"].copy(), pairs["query"], pairs["text"]  # the item outlives the others
    nothing = np.zeros(0, np.int64)
    if metadata_value(database, ITEMS_ARE_TEXTS, False):
        (last,) = database.execute("SELECT coalesce(max(item_no), 0) FROM items").fetchone()
        return np.arange(1, last + 1), nothing, np.arange(1, last + 1)
    rows = database.execute("SELECT item_no, text_no FROM items ORDER BY item_no")
    numbers = np.fromiter(rows, np.dtype([("item", "<i8"), ("text", "<i8")]))
    return numbers["item"], nothing, numbers["text"]


def _mix_in_parts(database: sqlite3.Connection, item: NDArray[np.int64], hashes: Hashes) -> None:
    """Into the hashes of items that are sent in parts, in place, where these begin and end."""
    rows = database.execute("SELECT item_no, start, stop FROM parts ORDER BY item_no, part").fetchall()
    if not rows:
        return
    spans = {number: [row[1:] for row in group] for number, group in groupby(rows, key=itemgetter(0))}
    indices = np.searchsorted(item, np.array(list(spans), np.int64))
    of_spans = _hashed([_encode(each) for each in spans.values()])
    hashes[indices] = mixed(of_spans, hashes[indices])


def _hashed(texts: list[bytes]) -> Hashes:
    blake2b = hashlib.blake2b
    return np.frombuffer(b"".join([blake2b(text, digest_size=8).digest() for text in texts]), "<u8")


def _hashes_of(database: sqlite3.Connection, table: str, number: str) -> Hashes:
    """Those of the texts in a table, by their number there; as SQLite has them, which is in UTF-8."""
    (last,) = database.execute(f"SELECT coalesce(max({number}), 0) FROM {table}").fetchone()  # noqa: S608 - constants
    statement = f"SELECT {number}, CAST(text AS BLOB) FROM {table} WHERE {number} >= ? ORDER BY 1 LIMIT ?"  # noqa: S608
    hashes = np.zeros(last, np.uint64)
    first = 1
    while block := database.execute(statement, (first, _BLOCK)).fetchall():
        hashes[np.array([row[0] for row in block]) - 1] = _hashed([row[1] for row in block])
        first = block[-1][0] + 1
    return hashes


_ODD = np.uint64(0x9E3779B97F4A7C15)


def mixed(one: Hashes, other: Hashes) -> Hashes:
    """One hash of each pair, which is not that of the pair the other way round."""
    found: Hashes = one * _ODD + other
    return found


def keep_arrays(folder: JobFolder, name: str, **arrays: NDArray[np.generic]) -> None:
    """Keep them in place of earlier ones, where there is room and the folder can be written."""
    content = io.BytesIO()
    np.savez(content, **arrays)  # type: ignore[arg-type]
    written = content.getbuffer()
    try:
        with folder.open() as database, transaction(database):
            # A value that is bound to a statement is copied twice; a blob is written page by page.
            row = database.execute("INSERT OR REPLACE INTO kept_arrays VALUES(?, zeroblob(?))", (name, len(written)))
            with database.blobopen("kept_arrays", "content", row.lastrowid or 0) as blob:
                blob.write(written)
    except DataError:
        return


def kept_arrays(database: sqlite3.Connection, name: str) -> dict[str, NDArray[np.generic]] | None:
    """None when there are none, or they are not as they were written, as their checksums say."""
    found = database.execute("SELECT content FROM kept_arrays WHERE name = ?", (name,)).fetchone()
    try:
        with np.load(io.BytesIO(found[0] if found else b""), allow_pickle=False) as kept:
            return dict(kept)
    except (OSError, EOFError, ValueError, KeyError, TypeError, zipfile.BadZipFile, zlib.error):
        return None
