"""What Vectorize would refuse of a job, found before a byte leaves: with the rows of the file and the way out."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from cfbatch_gui.core.messages import Message, counted_message, message
from cfbatch_gui.core.vectorize.push_values import IdSource, PushOptions, PushProblem
from cfbatch_gui.core.vectorize.rows import PushRow, PushRows, is_plain_number
from cfbatch_gui.core.vectorize.wire import VectorizeIndex
from cfbatch_gui.core.workers_ai.limits import (
    MAX_INDEX_DIMENSIONS,
    MAX_INDEX_VECTORS,
    MAX_METADATA_BYTES,
    MAX_NAMESPACE_BYTES,
    MAX_NAMESPACES,
    MAX_VECTOR_ID_BYTES,
)

ROWS_NAMED = 5  # rows that a problem names

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class RowChecks:
    """`numbers` are the keys whose cells are all plain numbers, and are sent as such; `notes` are for the user."""

    numbers: tuple[str, ...]
    problems: tuple[PushProblem, ...]
    notes: tuple[Message, ...]


@dataclass(slots=True)
class _Found:
    """The rows with one kind of problem: how many, and the first of them."""

    count: int = 0
    rows: list[int] = field(default_factory=list)

    def add(self, row: int) -> None:
        self.count += 1
        if len(self.rows) < ROWS_NAMED:
            self.rows.append(row)


class _Rows:
    """Collects the problems of the rows of one job."""

    def __init__(self, rows: PushRows, options: PushOptions) -> None:
        self._rows = rows
        self._no_id, self._long_id, self._long_namespace, self._large, self._repeated = (_Found() for _ in range(5))
        self._ids: set[str] = set()
        self._keys = tuple(each.key for each in options.metadata)
        self._texts_only: set[str] = set(self._keys) if options.numbers_as_text else set()
        self._filled: set[str] = set()
        self._namespaces: set[str] = set()

    def look_at(self, row: PushRow) -> None:
        """Look at one row, in the order of the input."""
        if not row.id:
            self._no_id.add(row.row)
        elif row.id in self._ids:
            self._repeated.add(row.row)
        elif len(row.id.encode()) > MAX_VECTOR_ID_BYTES:
            self._long_id.add(row.row)
        self._ids.add(row.id)
        self._namespaces.add(row.namespace)
        if len(row.namespace.encode()) > MAX_NAMESPACE_BYTES:
            self._long_namespace.add(row.row)
        # Numbers are never longer than their cells with two quotation marks, so that this is the most it can be.
        if row.cells and len(self._rows.metadata(row, ())) > MAX_METADATA_BYTES:
            self._large.add(row.row)
        for key, cell in zip(self._keys, row.cells, strict=True):
            if cell:
                self._filled.add(key)
                if key not in self._texts_only and not is_plain_number(cell):
                    self._texts_only.add(key)

    @property
    def numbers(self) -> tuple[str, ...]:
        """The keys whose cells are all plain numbers."""
        return tuple(key for key in self._keys if key in self._filled and key not in self._texts_only)

    @property
    def notes(self) -> tuple[Message, ...]:
        """What the service may refuse, depending on the account's plan."""
        n = len(self._namespaces - {""})
        if n <= MAX_NAMESPACES:
            return ()
        sentence = message(
            "The chosen column has {n:,} namespaces. An index takes {most:,} of them on the Workers Free plan.",
            n=n,
            most=MAX_NAMESPACES,
        )
        return (sentence,)

    def problems(self, source: IdSource) -> Iterator[PushProblem]:
        """What was found, one for each kind."""
        kinds = (
            (self._no_id, _no_id(self._no_id.count, source)),
            (self._repeated, _repeated(self._repeated.count)),
            (self._long_id, _long_id(self._long_id.count)),
            (self._long_namespace, _long_namespace(self._long_namespace.count)),
            (self._large, _large(self._large.count)),
        )
        return (PushProblem(sentence, found.count, tuple(found.rows)) for found, sentence in kinds if found.count)


def check_rows(rows: PushRows, options: PushOptions, progress: Progress = lambda done, total: None) -> RowChecks:
    """Check all rows, without their vectors. Blocking. An exception of `progress` stops it. Raises DataError."""
    found, done = _Rows(rows, options), 0
    for block in rows.texts():
        for row in block:
            found.look_at(row)
        done += len(block)
        progress(done, rows.count)
    problems = (*_of_job(rows), *_of_keys(options), *found.problems(options.ids))
    return RowChecks(found.numbers, problems, found.notes)


def index_problems(index: VectorizeIndex, dimension: int) -> tuple[PushProblem, ...]:
    """What stands against putting vectors of this length into an index."""
    if not dimension or index.dimensions in (0, dimension):
        return ()
    sentence = message(
        "{index} takes vectors of {wanted:,} numbers, and these have {dimension:,}. Choose another index, or create "
        "one.",
        index=index.name,
        wanted=index.dimensions,
        dimension=dimension,
    )
    return (PushProblem(sentence),)


def usual_key(column: str, taken: Sequence[str] = ()) -> str:
    """The key for a column: its name without what Vectorize refuses, and with “_” behind it where it is taken."""
    key = column.replace(".", "_").replace('"', "'").lstrip("$") or "column"
    while key in taken:
        key += "_"
    return key


def _of_job(rows: PushRows) -> Iterator[PushProblem]:
    if not rows.count:
        yield PushProblem(message("This job has no vectors yet."))
    if rows.dimension > MAX_INDEX_DIMENSIONS:
        yield PushProblem(
            message(
                "Vectorize takes vectors of at most {most:,} numbers, and these have {dimension:,}.",
                most=MAX_INDEX_DIMENSIONS,
                dimension=rows.dimension,
            )
        )
    if rows.count > MAX_INDEX_VECTORS:
        yield PushProblem(
            message(
                "An index takes {most:,} vectors, and these are {count:,}.", most=MAX_INDEX_VECTORS, count=rows.count
            )
        )


def _of_keys(options: PushOptions) -> Iterator[PushProblem]:
    keys = [each.key for each in options.metadata]
    for each in options.metadata:
        if not each.key or "." in each.key or '"' in each.key or each.key.startswith("$"):
            yield PushProblem(
                message(
                    "Vectorize takes no “{key}” as a name in metadata: it may not be empty, hold “.” or a quotation "
                    "mark, or begin with “$”. Send the column as “{usual}”.",
                    key=each.key,
                    usual=usual_key(each.column),
                )
            )
    for key in dict.fromkeys(key for key in keys if keys.count(key) > 1):
        yield PushProblem(
            message("Two columns are sent under the name “{key}”. Give one of them another name.", key=key)
        )


def _no_id(n: int, source: IdSource) -> Message:
    if source is IdSource.COLUMN:
        return counted_message(
            n,
            "{n:,} row has no id in the chosen column. Choose another column for the ids, or the row numbers.",
            "{n:,} rows have no id in the chosen column. Choose another column for the ids, or the row numbers.",
        )
    return counted_message(
        n,
        "{n:,} row has no id. Choose another column for the ids, or the row numbers.",
        "{n:,} rows have no id. Choose another column for the ids, or the row numbers.",
    )


def _repeated(n: int) -> Message:
    return counted_message(
        n,
        "{n:,} row has an id that an earlier row has too; an index keeps one vector for each id. Choose another column "
        "for the ids, or the row numbers.",
        "{n:,} rows have ids that earlier rows have too; an index keeps one vector for each id. Choose another column "
        "for the ids, or the row numbers.",
    )


def _long_id(n: int) -> Message:
    return counted_message(
        n,
        "{n:,} row has an id of more than {most} bytes, the most that Vectorize takes. Choose another column for the "
        "ids, or the row numbers.",
        "{n:,} rows have ids of more than {most} bytes, the most that Vectorize takes. Choose another column for the "
        "ids, or the row numbers.",
        most=MAX_VECTOR_ID_BYTES,
    )


def _long_namespace(n: int) -> Message:
    return counted_message(
        n,
        "{n:,} row has a namespace of more than {most} bytes, the most that Vectorize takes. Choose a column with "
        "shorter cells, or none.",
        "{n:,} rows have namespaces of more than {most} bytes, the most that Vectorize takes. Choose a column with "
        "shorter cells, or none.",
        most=MAX_NAMESPACE_BYTES,
    )


def _large(n: int) -> Message:
    return counted_message(
        n,
        "{n:,} row has more metadata than the {most:,} bytes that Vectorize takes. Leave out the columns with long "
        "texts.",
        "{n:,} rows have more metadata than the {most:,} bytes that Vectorize takes. Leave out the columns with long "
        "texts.",
        most=MAX_METADATA_BYTES,
    )
