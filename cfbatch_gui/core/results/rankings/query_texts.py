"""The queries of a job in their order, in few bytes: as Python objects half a million would take 100 MB."""

from array import array
from collections.abc import Iterable, Sequence
from typing import overload

import msgspec
import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.job_folder.folder import JobFolder

_QUERIES = "SELECT query_no, query_id, text FROM queries WHERE query_no <= ? ORDER BY query_no"


class QueryText(msgspec.Struct, frozen=True, gc=False):
    """A query as in the file; `id` is "" if it has none."""

    number: int
    id: str
    text: str


class QueryTexts(Sequence[QueryText]):
    """Queries as UTF-8; each is made when it is asked for."""

    def __init__(self, queries: Iterable[tuple[int, str, str]] = ()) -> None:
        """`queries` are numbers, ids and texts."""
        self._numbers, self._ends, self._words = array("q"), array("q"), bytearray()
        for number, *words in queries:
            self._numbers.append(number)
            for each in words:
                self._words += each.encode("utf-8", "surrogatepass")
                self._ends.append(len(self._words))

    def __len__(self) -> int:
        return len(self._numbers)

    @overload
    def __getitem__(self, index: int) -> QueryText: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[QueryText, ...]: ...

    def __getitem__(self, index: int | slice) -> QueryText | tuple[QueryText, ...]:
        if isinstance(index, slice):
            return tuple(map(self._query, range(len(self))[index]))
        return self._query(range(len(self))[index])

    def _query(self, index: int) -> QueryText:
        start = self._ends[2 * index - 1] if index else 0
        middle, end = self._ends[2 * index], self._ends[2 * index + 1]
        words = (self._words[start:middle], self._words[middle:end])
        return QueryText(self._numbers[index], *(each.decode("utf-8", "surrogatepass") for each in words))


def read_queries(folder: JobFolder, numbers: NDArray[np.integer]) -> QueryTexts:
    """The queries of these numbers, which must ascend. Raises DataError."""
    if not len(numbers):
        return QueryTexts()
    wanted = np.zeros(int(numbers[-1]) + 1, dtype=np.bool_)
    wanted[numbers] = True
    is_wanted = wanted.tobytes()  # one byte for each number: indexing it creates no objects
    with folder.open(read_only=True) as database:
        rows = database.execute(_QUERIES, (int(numbers[-1]),))
        return QueryTexts(row for row in rows if is_wanted[row[0]])
