"""All scores of a job as arrays, with what tells its texts apart: for figures over a million pairs at once.

Texts are read a block at a time and kept as Python's own 64-bit hashes: good within one run of the program only, also
between two jobs.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import msgspec
import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.results.places import data_version

_ITEMS = """
SELECT item_no, query_no, text_no, position, coalesce(score, -9e999) FROM items WHERE query_no IS NOT NULL
ORDER BY item_no
"""
_ITEM = np.dtype([("item", "<i4"), ("query", "<i4"), ("text", "<i4"), ("position", "<i4"), ("score", "<f8")])
_TEXTS = "SELECT text_no, text, text_id FROM texts WHERE text_no > ? ORDER BY text_no LIMIT ?"
_QUERIES = "SELECT query_no, text, query_id FROM queries WHERE query_no > ? ORDER BY query_no LIMIT ?"
_BLOCK = 20_000  # texts; between two blocks a running job can store its answers
NO_ID = 0  # stands for an id that is not there


class QueryText(msgspec.Struct, frozen=True, gc=False):
    """A query as the file has it; `id` is "" where there is none."""

    number: int
    id: str
    text: str


@dataclass(frozen=True, slots=True, eq=False)
class Hashes:
    """Of texts or queries, shape (n,): their numbers in order, what their texts and their ids are compared by.

    `texts` are equal where texts are, `ids` where ids are, NO_ID for none.
    """

    numbers: NDArray[np.int32]
    texts: NDArray[np.int64]
    ids: NDArray[np.int64]

    def part(self, wanted: NDArray[np.bool_]) -> "Hashes":
        """Those that are wanted."""
        return Hashes(self.numbers[wanted], self.texts[wanted], self.ids[wanted])


@dataclass(frozen=True, slots=True, eq=False)
class ScoreTable:
    """Pairs of a query with a text in the order of the input, arrays of shape (n,).

    `queries` and `texts` are numbers from 1, `scores` NaN where there is none. The hashes are those of the pairs' texts
    and of their ids. `asked` are the queries that have pairs, in order.
    """

    items: NDArray[np.int32]
    queries: NDArray[np.int32]
    texts: NDArray[np.int32]
    positions: NDArray[np.int32]
    scores: NDArray[np.float64]
    text_hashes: NDArray[np.int64]
    id_hashes: NDArray[np.int64]
    asked: Hashes

    def __len__(self) -> int:
        return len(self.items)

    @property
    def there(self) -> NDArray[np.bool_]:
        """Which pairs have a score."""
        return ~np.isnan(self.scores)

    def places_in_asked(self) -> NDArray[np.int64]:
        """The place of each pair's query in `asked`."""
        return np.searchsorted(self.asked.numbers, self.queries)


def read_score_table(folder: JobFolder) -> ScoreTable:
    """The scores of this moment. Blocking: a second or two for a million. Raises DataError."""
    data_version(folder.data)  # says in a sentence that the file is missing
    with folder.open(read_only=True) as database:
        found = np.fromiter(database.execute(_ITEMS), dtype=_ITEM)
    items, queries, texts, positions, scores = (np.ascontiguousarray(found[name]) for name in _ITEM.names or ())
    del found
    scores[np.isneginf(scores)] = np.nan
    hashes = _joined(_hashes(folder, _TEXTS))
    places = np.searchsorted(hashes.numbers, texts)
    asked = _joined(_hashes(folder, _QUERIES))
    with_pairs = np.zeros(int(queries.max(initial=0)) + 1, dtype=np.bool_)
    with_pairs[queries] = True
    asked = asked.part((asked.numbers < len(with_pairs)) & with_pairs[np.minimum(asked.numbers, len(with_pairs) - 1)])
    return ScoreTable(items, queries, texts, positions, scores, hashes.texts[places], hashes.ids[places], asked)


def read_queries(folder: JobFolder, numbers: NDArray[np.integer]) -> tuple[QueryText, ...]:
    """The queries of these numbers, which rise. Raises DataError."""
    if not len(numbers):
        return ()
    wanted = np.zeros(int(numbers[-1]) + 1, dtype=np.bool_)
    wanted[numbers] = True
    is_wanted = wanted.tobytes()  # a byte each, without an object for each
    with folder.open(read_only=True) as database:
        rows = database.execute(
            "SELECT query_no, query_id, text FROM queries WHERE query_no <= ? ORDER BY query_no", (int(numbers[-1]),)
        )
        return tuple(QueryText(*row) for row in rows if is_wanted[row[0]])


def hashed_id(identifier: str) -> int:
    """What an id is compared by."""
    return hash(identifier) or 1 if identifier else NO_ID


def _hashes(folder: JobFolder, statement: str) -> Iterator[Hashes]:
    last = 0
    while True:
        with folder.open(read_only=True) as database:
            rows = database.execute(statement, (last, _BLOCK)).fetchall()
        if not rows:
            return
        numbers, texts, ids = zip(*rows, strict=True)
        last = numbers[-1]
        count = len(rows)
        yield Hashes(
            np.fromiter(numbers, np.int32, count),
            np.fromiter(map(hash, texts), np.int64, count),
            np.fromiter(map(hashed_id, ids), np.int64, count) if any(ids) else np.zeros(count, np.int64),
        )


def _joined(blocks: Iterator[Hashes]) -> Hashes:
    found = [Hashes(np.zeros(0, np.int32), np.zeros(0, np.int64), np.zeros(0, np.int64)), *blocks]
    return Hashes(
        np.concatenate([each.numbers for each in found]),
        np.concatenate([each.texts for each in found]),
        np.concatenate([each.ids for each in found]),
    )
