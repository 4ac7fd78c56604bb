"""The tables of `data.db`, which `resources/data.sql` makes. An *item* is what comes back with one score or one vector;
items are numbered from 1 in the order of the input, and shared texts are stored once.
"""

import json
import os
import sqlite3
import time
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import msgspec

from cfbatch_gui.core.errors import DataError, DiskFull
from cfbatch_gui.core.inputs.input_values import ProblemKind, Role
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.resources import resource
from cfbatch_gui.core.system.databases import connect_durably
from cfbatch_gui.core.system.paths import read_only_sentence
from cfbatch_gui.core.system.threads import check_stopped, current_stop

VERSION = 1  # of the tables. Data of another version is refused; `_check_version` is where the first migration goes
ITEMS_ARE_TEXTS = "items_are_texts"  # true when every text is an item with its number, from 1 without a gap
NOT_SENT = 0  # the batch of requests whose results were taken from an earlier job, which no ledger has

INDEX_OF_REQUESTS = "CREATE INDEX IF NOT EXISTS items_of_request ON items(request_no, request_position);"
_INDEX_OF_QUERIES = "CREATE INDEX IF NOT EXISTS items_of_query ON items(query_no, position);"
_INDEXES = (
    _INDEX_OF_QUERIES,
    "CREATE INDEX IF NOT EXISTS requests_of_batch ON requests(batch, position);",
    "CREATE INDEX IF NOT EXISTS problems_of_item ON problems(item_no) WHERE item_no IS NOT NULL;",
)

_LARGE = 16_000_000  # bytes of texts
_PAGE, _LARGE_PAGE = 4_096, 32_768  # bytes

# A row's cells are stored without what is a text of the job. `source_rows.cells` is a JSON array; a number in it stands
# for what `texts` has for the row: the text, its id or its label. A row of which nothing else is left is not stored at
# all; "row_form" then is the array of each.
TEXT, ID, LABEL = 0, 1, 2
ROW_FORM = "row_form"

_LOOKED_AT = 100_000  # steps of a statement after each of which it is asked whether it is to end; about a millisecond
_STEP = 100_000_000  # nanoseconds; the steps are up to 10 ms, and 2 s with FAT, on which nobody keeps jobs
_new = count()
_decode = msgspec.json.Decoder(list[str | int]).decode
_encode = msgspec.json.Encoder().encode


def create(path: Path, *, indexed: bool = True, size: int = 0) -> None:
    """Make an empty `data.db`, replacing an old one; `size` is about how many bytes of texts it will get."""
    path.unlink(missing_ok=True)
    tables = f"{resource('data.sql').read_text('utf-8')} {' '.join((*_INDEXES, INDEX_OF_REQUESTS)) if indexed else ''}"
    with opened(path, must_exist=False) as database:
        # With larger pages many texts take a third less time; few would take many times the room.
        database.execute(f"PRAGMA page_size = {_LARGE_PAGE if size > _LARGE else _PAGE}")
        database.executescript(f"BEGIN; {tables} PRAGMA user_version = {VERSION}; COMMIT;")


def create_indexes(database: sqlite3.Connection, *, has_queries: bool) -> None:
    """Make what `create` has left out, but for the index of requests, which planning makes; in a transaction or not."""
    for statement in _INDEXES:
        if has_queries or statement is not _INDEX_OF_QUERIES:
            database.execute(statement)


@contextmanager
def opened(path: Path, *, read_only: bool = False, must_exist: bool = True) -> Iterator[sqlite3.Connection]:
    """One connection in autocommit mode, for one thread at a time. Raises DataError when the file is missing, damaged
    or of another version, and DiskFull.
    """
    if must_exist and not path.exists():
        raise DataError(message("job_data_is_missing_from_folder"), detail=str(path))
    try:
        database = connect_durably(path, read_only=read_only)
        try:
            if must_exist:
                _check_version(database, path)
            database.create_function("row_cells", 4, row_cells, deterministic=True)
            # Also where another thread runs the statements: what it is to look at is that of this work.
            database.set_progress_handler(current_stop(), _LOOKED_AT)
            yield database
        finally:
            database.close()
    except sqlite3.DatabaseError as error:
        check_stopped()
        raise translated(error, path) from error
    except UnicodeDecodeError as error:  # SQLite's messages quote what is damaged
        raise DataError(message("job_data_is_damaged"), detail=f"{path.name}: {error}") from error


@contextmanager
def transaction(database: sqlite3.Connection) -> Iterator[None]:
    """All or nothing."""
    database.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        if database.in_transaction:
            database.execute("ROLLBACK")
        raise
    database.execute("COMMIT")


@contextmanager
def one_moment(database: sqlite3.Connection) -> Iterator[None]:
    """All that is read within the block is of one moment; a running job waits that long to store an answer."""
    if database.in_transaction:
        yield
        return
    database.execute("BEGIN")
    try:
        yield
    finally:
        if database.in_transaction:
            database.execute("COMMIT")


def translated(error: sqlite3.Error, path: Path) -> DataError:
    """The user's sentence for what SQLite says."""
    detail = f"{path.name}: {error}"
    if getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_FULL or "disk is full" in str(error):
        return DiskFull(message("disk_is_full_nothing_was_lost"), detail=detail)
    if is_read_only(error, path):
        return DataError(read_only_sentence(path.parent), detail=detail)
    if isinstance(error, sqlite3.OperationalError):
        return DataError(message("program_data_could_not_be_read"), detail=detail)
    return DataError(message("job_data_is_damaged"), detail=detail)


def is_read_only(error: sqlite3.Error, path: Path) -> bool:
    """Whether it is the file's folder, or the file, that cannot be written."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # the primary code
    if code == sqlite3.SQLITE_READONLY:
        return True
    # A journal cannot be made, or an unfinished one cannot be rolled back.
    return code == sqlite3.SQLITE_CANTOPEN and path.exists() and not os.access(path.parent, os.W_OK)


def put_metadata_value(database: sqlite3.Connection, name: str, value: object) -> None:
    """Store `value` as JSON under `name` in the table `facts`, in place of an earlier one; the caller commits."""
    database.execute("INSERT OR REPLACE INTO facts VALUES(?, ?)", (name, json.dumps(value, ensure_ascii=False)))


def metadata_value(database: sqlite3.Connection, name: str, default: object = None) -> object:
    """What `put_metadata_value` stored under `name`, decoded; `default` when there is none. Raises DataError."""
    found = database.execute("SELECT value FROM facts WHERE name = ?", (name,)).fetchone()
    try:
        return json.loads(found[0]) if found else default
    except (ValueError, TypeError, RecursionError) as error:  # SQLite does not see what has become of a value
        raise DataError(message("job_data_is_damaged"), detail=f"facts, {name}: {error}") from error


def data_version(path: Path) -> bytes:
    """What differs after every change of an SQLite database: time, size, file. Its header is not read: closing the file
    would end SQLite's locks. Just changed, each call returns something new. Raises DataError without a file.
    """
    try:
        status = path.stat()
    except OSError as error:
        raise DataError(message("job_data_is_missing_from_folder"), detail=f"{path}: {error.strerror}") from error
    is_old = time.time_ns() - status.st_mtime_ns > _STEP
    return f"{status.st_ino} {status.st_size} {status.st_mtime_ns} {'' if is_old else next(_new)}".encode()


def _check_version(database: sqlite3.Connection, path: Path) -> None:
    (version,) = database.execute("PRAGMA user_version").fetchone()
    if version < 1:
        raise DataError(message("job_data_is_damaged"), detail=f"{path.name}: version {version}")
    if version != VERSION:
        raise DataError(
            message("job_data_was_written_another_version", folder=path.parent),
            detail=f"{path.name}: version {version}",
        )


# The condition for rows of `problems` that were not sent.
LEFT_OUT = f"kind <> '{ProblemKind.DOUBTFUL_SENT}'"


def cells_sql(rows: str = "f", texts: str = "t") -> str:
    """An expression for a row's cells as a JSON array of strings, NULL when not known; `rows` and `texts` are aliases
    and may be outer joins.
    """
    form = f"(SELECT value FROM facts WHERE name = '{ROW_FORM}')"  # noqa: S608 - a constant
    return f"row_cells(coalesce({rows}.cells, {form}), {texts}.text, {texts}.text_id, {texts}.label)"


def row_cells(cells: str | None, text: str | None, text_id: str | None, label: str | None) -> str | None:
    """The SQL function: the array with the numbers replaced."""
    if cells is None:
        return None
    found = _decode(cells)
    if not any(type(cell) is int for cell in found):
        return cells
    if text is None:
        return None
    held = (text, text_id, label)
    return _encode([held[cell] if isinstance(cell, int) else cell for cell in found]).decode()


def form_of(roles: Sequence[Role]) -> list[int | None]:
    """For each column of texts what stands in for its cell, None for a cell that is to be stored."""
    form: list[int | None] = [None] * len(roles)
    for stands_for, wanted in ((TEXT, (Role.TEXT, Role.CONTEXT)), (ID, (Role.ID,)), (LABEL, (Role.LABEL,))):
        index = next((index for index, role in enumerate(roles) if role in wanted), None)
        if index is not None:
            form[index] = stands_for
    return form


MOST_ROWS = 5_000  # of one statement; with more the window waits longer for Python while they are bound, now 1 ms
_MOST_WAITING = 8  # statements; each may hold some thousand rows


class WriteQueue:
    """Runs statements that give nothing back in a thread. What one raises, a later call raises, or the end of
    `write_queue`.
    """

    def __init__(self, database: sqlite3.Connection, thread: Executor) -> None:
        self._database, self._thread = database, thread
        self._waiting = deque[Future[None]]()
        self.most_values = database.getlimit(sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER)

    def execute(self, statement: str, values: Sequence[object] = ()) -> None:
        """Run a statement when its turn has come; `values` belong to it from now on."""
        check_stopped()
        if len(self._waiting) >= _MOST_WAITING:
            self._waiting.popleft().result()
        self._waiting.append(self._thread.submit(self._run, statement, values))

    def finish(self) -> None:
        while self._waiting:
            self._waiting.popleft().result()

    def _run(self, statement: str, values: Sequence[object]) -> None:
        self._database.execute(statement, values)


@contextmanager
def write_queue(database: sqlite3.Connection) -> Iterator[WriteQueue]:
    """Within the block nobody else may use the connection, which any thread may use; after it all has been run."""
    with ThreadPoolExecutor(1, "write") as thread:
        writes = WriteQueue(database, thread)
        try:
            yield writes
            writes.finish()
        except BaseException:
            thread.shutdown(cancel_futures=True)
            raise


class Inserts:
    """Rows for one table, thousands with one statement, kept until `write` or `write_all`."""

    def __init__(self, writes: WriteQueue, statement: str, marks: str, rows: int = MOST_ROWS) -> None:
        """`statement` is all before VALUES; `marks` is a row of values with question marks; at most `rows` are written
        at a time.
        """
        self._writes, self._columns = writes, marks.count("?")
        self._rows = max(1, min(rows, writes.most_values // self._columns))
        self._statement, self._marks = statement, marks
        self._many = self._with_rows(self._rows)
        self._values: list[object] = []
        self.written = 0  # rows

    def __len__(self) -> int:
        return len(self._values) // self._columns

    def add(self, *values: object) -> None:
        self._values.extend(values)

    def add_columns(self, *columns: Sequence[object]) -> None:
        """Keep rows whose values stand in columns, equally long."""
        rows: list[object] = [None] * (len(columns) * len(columns[0]))
        for index, column in enumerate(columns):
            rows[index :: len(columns)] = column
        self._values += rows

    def write(self) -> None:
        """Write what was kept, but for a rest that is too little for one statement."""
        values, size = self._values, self._rows * self._columns
        whole = len(values) - len(values) % size
        for start in range(0, whole, size):
            self._writes.execute(self._many, values[start : start + size])
        self.written += whole // self._columns
        del values[:whole]

    def write_all(self) -> None:
        self.write()
        if rest := len(self):
            self._writes.execute(self._with_rows(rest), self._values.copy())
            self.written += rest
            self._values.clear()

    def _with_rows(self, count: int) -> str:
        return f"{self._statement} VALUES{', '.join([self._marks] * count)}"
