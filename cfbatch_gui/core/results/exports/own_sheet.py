"""The user's own sheet as it was, all rows in the order of the file and all columns, with a few columns beside it."""

from collections.abc import Callable, Iterator, Sequence
from heapq import merge
from itertools import islice

from cfbatch_gui.core.results.exports.base import Cell, Row, Work
from cfbatch_gui.core.results.list_rows import ListRow, items_of, left_out_rows, list_columns, read_rows

ROWS_AT_ONCE = 2_000
Added = Callable[[ListRow], Sequence[Cell]]  # the cells of the columns beside; the item number of a row that was never
# sent is 0


class OwnRows:
    """`added` are the columns beside the user's: a name for programs, a header for people as a message, and a kind;
    `cells` gives theirs for a row, also for one that has no vector.
    """

    def __init__(
        self, work: Work, added: Sequence[tuple[str, str, str]], cells: Added, *, for_people: bool = False
    ) -> None:
        self._work, self._cells = work, cells
        with work.folder.open(read_only=True) as database:
            columns, _ = list_columns(database)
        self._own = columns.kept
        names = [columns.names[at] for at in self._own]
        self.ours: dict[int, str] = {}  # kinds of our columns, by their places
        for name, header, kind in added:
            self.ours[len(names)] = kind
            names.append(unique(work.say(header) if for_people else name, " (CF Batch)", names))
        self.columns = tuple(names)
        self.kinds = tuple(self.ours.get(at, "utf8") for at in range(len(names)))
        self.notes: dict[str, object] = {}

    def blocks(self) -> Iterator[list[Row]]:
        work, options = self._work, self._work.options
        items = [item for item in items_of(work.folder).tolist() if options.has_item(item)]
        left_out = left_out_rows(work.folder, 1) if options.items is None else ()
        rows = in_file_order(lambda some: read_rows(work.folder, some, work.job.failed_batches), items, left_out)
        while block := list(islice(rows, ROWS_AT_ONCE)):
            yield [[*(cell_of(row, at) for at in self._own), *self._cells(row)] for _, row in block]
            work.steps.wrote(len(block))


def in_file_order(
    read: Callable[[Sequence[int]], list[ListRow]], rows: Sequence[int], left_out: Sequence[ListRow]
) -> Iterator[tuple[int, ListRow]]:
    """The rows of a list with what `read` knows them by, among them those that were never sent, which have -1."""
    blocks = (rows[start : start + ROWS_AT_ONCE] for start in range(0, len(rows), ROWS_AT_ONCE))
    found = (pair for block in blocks for pair in zip(block, read(block), strict=True))
    return merge(found, ((-1, row) for row in left_out), key=lambda pair: pair[1].row)


def cell_of(row: ListRow, at: int) -> str:
    return row.cells[at] if at < len(row.cells) else ""


def unique(name: str, more: str, taken: Sequence[str]) -> str:
    known = {each.casefold() for each in taken}
    while name.casefold() in known:
        name += more
    return name
