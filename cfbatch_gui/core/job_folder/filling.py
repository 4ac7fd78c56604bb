"""What is read from a file, numbered and written to the tables of `data.db`."""

import csv
import io
import re
import sqlite3
import unicodedata
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import repeat
from operator import itemgetter

import msgspec
import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.errors import DataError
from cfbatch_gui.core.inputs import input_values
from cfbatch_gui.core.inputs.input_values import Kind, Layout, Mapping, Query, Role, Row, Source, Split, Text
from cfbatch_gui.core.inputs.items import Item, TextBlock, read_items, read_text_blocks
from cfbatch_gui.core.inputs.readers.collection import read_collection_judgements
from cfbatch_gui.core.job_folder import schema
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.job_folder.schema import MOST_ROWS, ROW_FORM, Inserts, WriteQueue, form_of, write_queue
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.system import files
from cfbatch_gui.core.workers_ai.estimate import count_ascii_tokens, count_tokens, tokens_upper

_encode, _encode_into = msgspec.json.Encoder().encode, msgspec.json.Encoder().encode_into
_NUMBER = np.dtype("<u4")
_BLOCKS_AT_ONCE = 20
_QUOTE = ord('"')
_COUNTED_CHARACTERS = 1_000_000  # characters of texts whose lengths are counted at a time
_MOST_KEPT = 2_000_000  # bytes of rows in blocks that may wait to be written with others
_MOST_WITHOUT_ITEMS = 50_000  # texts
_WHOLE = ((0, 0),)
_ITEMS_OF_TEXTS = """
INSERT INTO items(item_no, text_no, position) SELECT text_no, text_no, 1 FROM texts WHERE text_no > ? AND text_no <= ?
"""
# Of cells by the number of their row: SQLite takes JSON apart while Python goes on, which binding of values would stop.
_CELLS_OF_ROWS = """
INSERT OR REPLACE INTO source_rows SELECT 1, CAST(key AS INTEGER), value FROM json_each(CAST(? AS TEXT))
"""
_SHARED_ITEMS = """
INSERT INTO items(item_no, query_no, text_no, position)
SELECT (query_no - 1) * (SELECT count(*) FROM texts) + text_no, query_no, text_no, text_no FROM queries CROSS JOIN texts
"""
# Of items that seem to have the same text (and query) as another those that have; the texts themselves are compared.
_REPEATS = """
INSERT INTO repeats SELECT item_no, first FROM (
    SELECT item_no, min(item_no) OVER (PARTITION BY q.text, t.text) AS first FROM json_each(?) JOIN items
    ON item_no = value JOIN texts t USING(text_no) LEFT JOIN queries q USING(query_no))
WHERE item_no <> first
"""
_AS_OF_FIRST_QUERY = (
    "INSERT INTO repeats SELECT (query_no - 1) * ?1 + item_no, (query_no - 1) * ?1 + first"
    " FROM queries CROSS JOIN repeats WHERE query_no > 1",
    "INSERT INTO parts(item_no, part, start, stop) SELECT (query_no - 1) * ?1 + item_no, part, start, stop"
    " FROM queries CROSS JOIN parts WHERE query_no > 1",
)


# A query as an earlier one: its number, that of the first, and how many texts each has.
_AS_OF_EQUAL_QUERY = """
INSERT OR REPLACE INTO repeats SELECT (?1 - 1) * ?3 + text_no, coalesce(
    (SELECT first FROM repeats WHERE item_no = (?2 - 1) * ?3 + text_no), (?2 - 1) * ?3 + text_no) FROM texts
"""
_ROW_BY_ROW = (Layout.WIDE, Layout.NESTED, Layout.JUDGED)  # rows without an id are queries of their own, though equal


class Fingerprints:
    """Python's own 64-bit hashes of texts or ids, in order: a million take megabytes. They differ between processes."""

    def __init__(self) -> None:
        self._hashes = array("q")
        self.add = self._hashes.append

    def extend(self, things: Sequence[str]) -> None:
        self._hashes.frombytes(np.fromiter(map(hash, things), np.int64, len(things)).tobytes())

    def count_repeated(self) -> int:
        return (
            int(np.count_nonzero(np.diff(np.sort(np.frombuffer(self._hashes, np.int64))) == 0)) if self._hashes else 0
        )

    def repeated(self) -> list[int]:
        """The numbers (from 1) of things that seem to be the same as another, ascending."""
        if not self.count_repeated():  # sorting without indexes is several times faster, and mostly enough
            return []
        _, index, counts = np.unique(np.frombuffer(self._hashes, np.int64), return_inverse=True, return_counts=True)
        return (np.flatnonzero(counts[index] > 1) + 1).tolist()


def _lengths(texts: Sequence[str], encoded: bytearray) -> tuple[bytes, ...]:
    characters = np.fromiter(map(len, texts), np.uint32, len(texts))
    if len(encoded) == int(characters.sum(dtype=np.int64)) + 3 * len(texts) + 1:  # all are ASCII, and none is escaped
        columns = (characters + np.uint32(2), *count_ascii_tokens(characters))
    else:
        columns = (_sizes(encoded), *count_tokens(texts))
    return tuple(column.astype(_NUMBER).tobytes() for column in columns)


def _sizes(encoded: bytearray) -> NDArray[np.uint32]:
    """How many bytes of a JSON array of texts each text takes, with its quotation marks."""
    without_escapes = encoded.replace(b"\\\\", b"  ").replace(b'\\"', b"  ")
    quotes = np.flatnonzero(np.frombuffer(without_escapes, np.uint8) == _QUOTE)
    return (quotes[1::2] - quotes[::2] + 1).astype(np.uint32)


def read_lengths(database: sqlite3.Connection) -> list[NDArray[np.uint32]]:
    """Of each text, at index number - 1: bytes as JSON, and tokens by both estimates, the higher one first.

    Raises DataError when they are not those of the texts.
    """
    (last,) = database.execute("SELECT coalesce(max(text_no), 0) FROM texts").fetchone()
    found = database.execute("SELECT first, sizes, upper, lower FROM lengths ORDER BY first").fetchall()
    known = found[-1][0] - 1 + len(found[-1][1]) // _NUMBER.itemsize if found else 0
    if known < last:
        raise DataError(message("job_data_is_damaged"), detail=f"lengths: {known} of {last} texts")
    return [np.frombuffer(b"".join(row[column] for row in found), _NUMBER) for column in (1, 2, 3)]


class Loading:
    """One run over the items; the numbers that rows get are counted here, and rows are written in blocks."""

    def __init__(self, writes: WriteQueue, mapping: Mapping) -> None:
        self._writes = writes
        self._layout, self._split = mapping.layout, mapping.split
        self.queries = 0
        self._query_numbers: dict[str, int] = {}  # of the first of equal queries
        self._equal_queries: list[tuple[int, int]] = []  # further ones with shared texts, and the first of each
        self._contexts_of = array("q", [0])  # by query number
        self.rows = self.items = self.problems = 0
        self._file = 1  # of the row that is read
        self._texts = self._items_of_texts = self._kept_bytes = 0
        self._doubtful_row = 0  # of the first file, the last one that is sent all the same
        self._is_in_blocks = False
        self._same_texts, self._same_ids = Fingerprints(), Fingerprints()
        self._shared = 0  # texts that every query gets, numbered from 1
        self._uncounted: list[str] = []
        self._uncounted_characters = self._counted = 0
        self._encoded = bytearray()
        # What a template makes, or a part of a text, is no cell; with queries the rows are stored as they stand.
        is_plain = mapping.layout is Layout.TEXTS and not mapping.template and mapping.split is None
        self.form = form_of(mapping.roles) if is_plain else [None] * len(mapping.roles)
        four = "(?, ?, ?, ?)"
        self._new_rows = Inserts(writes, "INSERT OR REPLACE INTO source_rows", "(?, ?, ?)")
        self._new_queries = Inserts(writes, "INSERT INTO queries", four)
        self._new_texts = Inserts(writes, "INSERT INTO texts", "(?, ?, ?, ?, ?, ?)")
        # Of texts in blocks SQLite counts the numbers, from 1.
        label = "?" if Role.LABEL in mapping.roles else "''"
        self._new_in_blocks = Inserts(
            writes, "INSERT INTO texts(text_id, text, label, file, row)", f"(?, ?, {label}, 1, ?)"
        )
        self._new_cells: list[bytes] = []  # JSON objects without their braces, for _CELLS_OF_ROWS
        self._new_items = Inserts(writes, "INSERT INTO items(item_no, query_no, text_no, position)", four)
        self._new_parts = Inserts(writes, "INSERT INTO parts(item_no, part, start, stop)", four)
        self._new_problems = Inserts(writes, "INSERT INTO problems(file, row, kind, reason)", four)
        self._new_raw_rows = Inserts(writes, "INSERT OR REPLACE INTO raw_rows", "(?, ?, ?)")
        self._new_lengths = Inserts(writes, "INSERT INTO lengths", four, _BLOCKS_AT_ONCE)
        self._all_new = [each for each in vars(self).values() if isinstance(each, Inserts)]

    def finish(self, database: sqlite3.Connection) -> int:
        """When all is written: pair queries with shared texts, and write which texts come again. Returns how many ids
        an earlier item has too.
        """
        if self._shared:
            database.execute(_SHARED_ITEMS)
        if seem_same := self._same_texts.repeated():
            database.execute(_REPEATS, (str(seem_same),))
        for statement in _AS_OF_FIRST_QUERY if self._shared else ():
            database.execute(statement, (self._shared,))
        database.executemany(_AS_OF_EQUAL_QUERY, ((*pair, self._shared) for pair in self._equal_queries))
        return self._same_ids.count_repeated()

    def keep_row(self, file: int, row: Row) -> None:
        self._file = file
        if file == 1:
            self.rows += 1
        self._new_rows.add(file, row.number, _encode(row.cells).decode())
        if len(self._new_rows) >= MOST_ROWS:
            self.write()

    def add_block(self, found: TextBlock) -> None:
        count = len(found.texts)
        self.rows += count
        self._keep_other_cells(found)
        self._is_in_blocks = True
        self._kept_bytes += self._add_lengths(found.texts)
        labels = () if found.labels is None else (found.labels,)
        ids = [""] * count if found.ids is None else found.ids
        self._new_in_blocks.add_columns(ids, found.texts, *labels, found.block.numbers)
        self._texts += count
        self.items += count
        self._same_texts.extend(found.texts)
        if found.ids is not None:
            self._same_ids.extend(found.ids if all(found.ids) else list(filter(None, found.ids)))
        if self._kept_bytes >= _MOST_KEPT:  # few rows, but long ones
            self.write(is_all=True)
        elif len(self._new_in_blocks) >= MOST_ROWS:
            self.write()
        if self._new_in_blocks.written - self._items_of_texts >= _MOST_WITHOUT_ITEMS:
            self._add_items_of_texts()

    def _add_items_of_texts(self) -> None:
        """Of texts in blocks each is an item, with the same number: SQLite can see to that alone."""
        if (last := self._new_in_blocks.written) > self._items_of_texts:
            self._writes.execute(_ITEMS_OF_TEXTS, (self._items_of_texts, last))
            self._items_of_texts = last

    def _keep_other_cells(self, found: TextBlock) -> None:
        if found.block.numbers[0] == self._doubtful_row:
            # Comes alone. It is shown without its text being looked for, which would take a pass over all texts.
            self._new_rows.add(1, self._doubtful_row, _encode(found.block.rows[0]).decode())
            return
        if None not in self.form:
            return
        rows = found.block.rows
        kept = [map(itemgetter(at), rows) if form is None else repeat(form) for at, form in enumerate(self.form)]
        self._new_cells.append(_encode(dict(zip(found.block.numbers, zip(*kept, strict=False), strict=True)))[1:-1])
        self._kept_bytes += len(self._new_cells[-1])

    def add(self, item: Item) -> None:
        """Keep one item, or what it is that cannot be sent."""
        kind = type(item)
        if kind is Text:
            (self._add_shared if self._layout is Layout.SHARED else self._add_whole)(item)  # type: ignore[arg-type]
        elif kind is Query:
            self._add_query(item)  # type: ignore[arg-type]
        else:
            self._add_problem(item)  # type: ignore[arg-type]

    def _add_problem(self, problem: input_values.Problem) -> None:
        if problem.kind is input_values.ProblemKind.DOUBTFUL_SENT:
            self._doubtful_row = problem.row if problem.file == 1 else 0
        else:
            self.problems += 1
        self._new_problems.add(problem.file, problem.row, problem.kind, problem.reason)
        if problem.raw:
            self._new_raw_rows.add(problem.file, problem.row, problem.raw)

    def write(self, *, is_all: bool = False) -> None:
        """Write what was kept, but for a rest that is too little for one statement, unless all is to be written."""
        if self._uncounted:
            self._add_lengths(self._uncounted)
            self._uncounted.clear()
            self._uncounted_characters = 0
        self._kept_bytes = 0
        if self._new_cells:
            self._writes.execute(_CELLS_OF_ROWS, (b"{%b}" % b",".join(self._new_cells),))
            self._new_cells.clear()
        for new in self._all_new:
            if is_all:
                new.write_all()
            else:
                new.write()
        if is_all and self._is_in_blocks:
            self._add_items_of_texts()

    def _add_lengths(self, texts: Sequence[str]) -> int:
        """Count the lengths of texts that follow one another; returns how many bytes they come to."""
        _encode_into(texts, self._encoded)
        self._new_lengths.add(self._counted + 1, *_lengths(texts, self._encoded))
        self._counted += len(texts)
        return len(self._encoded)

    def _add_whole(self, text: Text) -> None:
        spans = self._spans(text.text)
        if len(spans) == 1:
            self._add_item(None, self._add_text(text, file=self._file), 1, hash(text.text), text)
            return
        for part, (start, stop) in enumerate(spans, 1):
            piece = Text(text.row, text.text[start:stop], text.id, text.label)
            self._new_parts.add(self.items + 1, part, start, stop)
            text_no = self._add_text(piece, file=self._file)
            self._add_item(None, text_no, 1, hash(piece.text), piece if part == 1 else None)

    def _add_query(self, query: Query) -> None:
        is_own = self._layout is Layout.SHARED or (self._layout in _ROW_BY_ROW and not query.id)
        number = self._query_numbers.get(query.text if self._layout is Layout.SHARED else query.key)
        if number is None or is_own:
            self.queries += 1
            if number is None:
                self._query_numbers[query.text if self._layout is Layout.SHARED else query.key] = self.queries
            elif self._layout is Layout.SHARED:
                self._equal_queries.append((self.queries, number))
            number = self.queries
            self._contexts_of.append(0)
            self._new_queries.add(number, query.id, query.text, query.row)
        self.items += self._shared
        for context in query.contexts:
            self._contexts_of[number] += 1
            text_no, text_hash = self._add_text(context, file=1), hash((query.text, context.text))
            self._add_item(number, text_no, self._contexts_of[number], text_hash, context)
            self._add_parts(self.items, context.text)

    def _add_shared(self, context: Text) -> None:
        """Its number is that of the item that the first query makes of it."""
        self._shared = self._add_text(context, file=2)
        self._same_texts.add(hash(context.text))
        self._add_parts(self._shared, context.text)

    def _add_parts(self, item: int, text: str) -> None:
        spans = self._spans(text)
        for part, (start, stop) in enumerate(spans if len(spans) > 1 else (), 1):
            self._new_parts.add(item, part, start, stop)

    def _add_text(self, text: Text, *, file: int) -> int:
        self._texts += 1
        self._new_texts.add(self._texts, text.id, text.text, text.label, file, text.row)
        self._uncounted.append(text.text)
        self._uncounted_characters += len(text.text)
        if self._uncounted_characters >= _COUNTED_CHARACTERS:
            self.write(is_all=True)
        return self._texts

    def _add_item(self, query_no: int | None, text_no: int, position: int, text_hash: int, named: Text | None) -> None:
        self.items += 1
        self._new_items.add(self.items, query_no, text_no, position)
        self._same_texts.add(text_hash)
        if named is not None and named.id:
            self._same_ids.add(hash((query_no, self._file, named.id)))

    def _spans(self, text: str) -> tuple[tuple[int, int], ...]:
        return split_text(text, self._split) if self._split else _WHOLE


_PARAGRAPH = re.compile(r"\n[ \t\r]*\n\s*")
_SENTENCE = re.compile(r"[.!?…][\"'”’)\]]*\s+|[。！？]+")
_WORD = re.compile(r"\s+")
_LETTERS_A_TOKEN = 3  # of ASCII, in the estimate that counts most tokens


def split_text(text: str, split: Split) -> tuple[tuple[int, int], ...]:
    """The (start, stop) of the parts in characters.

    None has more tokens than `split` says, by the higher estimate; each begins about as many before the last one's end
    as it says. One part alone is the whole text, whatever its numbers.
    """
    most = split.tokens
    if len(text) <= most or tokens_upper(text) <= most:
        return _WHOLE
    overlap = max(0, min(split.overlap, most // 2))
    parts: list[tuple[int, int]] = []
    start = 0
    while start < len(text):
        stop = _longest(text, start, most)
        if stop < len(text):
            stop = _good_end(text, start, stop)
        if text[start:stop].strip():
            parts.append((start, stop))
        if stop >= len(text):
            break
        start = max(_begin_again(text, start, stop, overlap), start + 1)
    return tuple(parts) or _WHOLE


def _longest(text: str, start: int, most: int) -> int:
    high = min(len(text), start + most * _LETTERS_A_TOKEN)
    if tokens_upper(text[start:high]) <= most:
        return high
    ends = range(start + 1, high)
    return ends[max(0, bisect_right(ends, most, key=lambda end: tokens_upper(text[start:end])) - 1)]


def _good_end(text: str, start: int, stop: int) -> int:
    middle = (start + stop) // 2
    for pattern in (_PARAGRAPH, _SENTENCE, _WORD):
        ends = [found.end() for found in pattern.finditer(text, middle, stop)]
        if ends:
            return ends[-1]
    # Split within a word, but not within a character with its combining marks.
    for earlier in range(stop, max(start + 1, stop - 16), -1):
        if not unicodedata.combining(text[earlier]) and text[earlier] not in "\u200d\ufe0f":
            return earlier
    return stop


def _begin_again(text: str, start: int, stop: int, overlap: int) -> int:
    if not overlap:
        return stop
    begin = max(start + 1, stop - overlap * _LETTERS_A_TOKEN)
    around = tokens_upper("")  # tokens that each part has besides those of its text
    while begin < stop and tokens_upper(text[begin:stop]) - around > overlap:
        begin += max(1, (stop - begin) // 4)
    word = _WORD.search(text, begin, stop)
    return word.end() if word and word.end() < stop else begin


_FAST = (
    "PRAGMA synchronous = OFF; PRAGMA journal_mode = OFF; PRAGMA locking_mode = EXCLUSIVE; PRAGMA cache_size = -8000;"
)
_PAIRS = "SELECT query_id, text_id FROM items JOIN queries USING(query_no) JOIN texts USING(text_no)"

Progress = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class Filled:
    rows: int
    queries: int
    texts: int  # items: texts, or pairs of query and context
    problems: int


def fill(
    folder: JobFolder,
    source: Source,
    mapping: Mapping,
    second: Source | None = None,
    *,
    progress: Progress | None = None,
    on_count: Progress | None = None,
    check: Callable[[], object] = lambda: None,
    facts: dict[str, object] | None = None,
) -> Filled:
    """Read the whole file into a new `data.db`, which replaces an old one only when whole; `facts` go there too.
    `on_count` is given the number of texts or pairs when all is read, and `check` is called in the end. Raises
    InputError, DiskFull, and what these raise.
    """
    folder.create()
    fresh = folder.path / "data.new.db"
    files.list_unfinished(fresh, fresh.with_name(f"{fresh.name}-journal"))
    schema.create(fresh, indexed=False, size=source.size + (second.size if second else 0))
    try:
        with schema.opened(fresh) as database:
            # The file is not in use until it is renamed: a crash costs nothing, so speed may win.
            database.executescript(_FAST)
            with schema.transaction(database):
                with write_queue(database) as writes:
                    loading = Loading(writes, mapping)
                    _read(loading, source, mapping, second, progress)
                    loading.write(is_all=True)
                if on_count is not None:
                    on_count(loading.items)
                filled = _finish(database, loading, source, mapping, second)
                for name, value in (facts or {}).items():
                    schema.put_metadata_value(database, name, value)
        files.flush_to_disk(fresh)
        check()
        with files.own_errors(folder.data):
            files.move_file(fresh, folder.data)
        files.flush_folder(folder.path)
    finally:
        fresh.unlink(missing_ok=True)
    return filled


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
    repeated_ids = loading.finish(database)
    filled = Filled(loading.rows, loading.queries, loading.items, loading.problems)
    # Candidates are pairs like any others once their texts are found.
    is_pairs = mapping.layout is Layout.CANDIDATES
    for name, value in {
        "columns": source.columns,
        "roles": mapping.roles,
        "second_columns": second.columns if second else (),
        "second_roles": mapping.second_roles,
        "layout": Layout.LONG if is_pairs else mapping.layout,
        "rows": filled.rows,
        "repeated_ids": repeated_ids,
        schema.ITEMS_ARE_TEXTS: mapping.kind is Kind.EMBED,
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
    outside = dict(read_collection_judgements(source))
    if not outside:
        return
    for pair in database.execute(_PAIRS):
        outside.pop(pair, None)
    asked = {identifier for (identifier,) in database.execute("SELECT query_id FROM queries")}
    rows = ((*pair, label) for pair, label in outside.items() if pair[0] in asked)
    database.executemany("INSERT INTO outside_judgements VALUES(?, ?, ?)", rows)


_NAMED_COLUMNS = {Kind.RANK: ("query", "context", "reference"), Kind.EMBED: ("text", "reference")}
_NAMED_ROLES = {Kind.RANK: (Role.QUERY, Role.CONTEXT, Role.KEEP), Kind.EMBED: (Role.TEXT, Role.KEEP)}


def fill_named(
    folder: JobFolder, kind: Kind, rows: Iterable[Sequence[str]], facts: dict[str, object] | None = None
) -> None:
    """Fill the job's data with rows of names: query, context and reference, or text and reference; rows of one query
    follow one another. Raises DataError.
    """
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(_NAMED_COLUMNS[kind])
    writer.writerows(rows)
    data = text.getvalue().encode()
    mapping = Mapping(kind, Layout.LONG if kind is Kind.RANK else Layout.TEXTS, _NAMED_ROLES[kind])
    with files.temporary_folder() as place:
        path = place / "names.csv"
        files.write_own_file(path, data)
        source = Source(
            path, input_values.FileFormat.DELIMITED, _NAMED_COLUMNS[kind], len(data), "utf-8", ",", has_header=True
        )
        fill(folder, source, mapping, facts=facts)
