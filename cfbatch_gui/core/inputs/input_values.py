"""The frozen values of inputs. Those made for each row are msgspec Structs, which are cheaper than dataclasses."""

from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache
from pathlib import Path, PurePath

import msgspec

from cfbatch_gui.core.errors import UsageError
from cfbatch_gui.core.messages import Message, message

Progress = Callable[[int], None] | None  # gets how many bytes or rows are read


class Kind(StrEnum):
    """What a job does."""

    RANK = "rank"
    EMBED = "embed"


class FileFormat(StrEnum):
    """The formats that code outside their readers refers to; `readers.formats.FORMATS` has all formats."""

    LINES = "lines"  # one text a line, one column named "text"
    PARAGRAPHS = "paragraphs"  # blank lines between texts
    WHOLE = "whole"  # the file is one text
    DELIMITED = "delimited"
    ASCII_TABLE = "drawn"  # with bars and lines, as psql, MySQL's client and Markdown print tables
    JSON_LINES = "jsonl"
    JSON = "json"  # one document: an array of objects, or {"requests": […]}
    FOLDER = "folder"  # each text file in it is one text, its name the id
    COLLECTION = "collection"  # corpus, queries and candidates in a folder (BEIR, MTEB, TREC run)


class Quoting(StrEnum):
    DOUBLED = "doubled"  # "…", and "" for a quotation mark: what spreadsheets write
    ESCAPED = "escaped"  # "…", and \" for a quotation mark
    SINGLE = "single"  # '…'
    NONE = "none"  # quotation marks are part of the text
    SPACED = "spaced"  # a space after each separator, and then perhaps "…"
    COPY = "copy"  # PostgreSQL: \N is empty, \t a tab


class Shape(StrEnum):
    """What the objects of JSON and JSON Lines are."""

    PLAIN = "plain"  # keys are columns
    ARRAYS = "arrays"  # no objects but lists of cells
    REQUESTS = "requests"  # what the Batch API takes
    BATCH = "batch"  # another service's: {"custom_id", "body": {"input"}}, {"key", "request": {"content"}}
    BULK = "bulk"  # a search engine's: {"index": {"_id"}} before each record


class Role(StrEnum):
    """What a column is for, in the words that the terminal takes."""

    QUERY = "query"
    CONTEXT = "context"
    TEXT = "text"
    ID = "id"
    QUERY_ID = "query_id"  # where the rows have an id of their own besides
    LABEL = "label"
    KEEP = "keep"
    IGNORE = "ignore"


class Layout(StrEnum):
    """How rows become texts, or queries with contexts."""

    TEXTS = "texts"  # each row one text
    LISTS = "lists"  # each row of either file one text; those of the first are matched with those of the second
    LONG = "long"  # each row a query with one context; rows of one query rank together
    WIDE = "wide"  # each row a query with its contexts in several columns
    NESTED = "nested"  # each row a query with a cell that holds a JSON array, or several lines
    SHARED = "shared"  # each row a query; every context of a second file for each
    JUDGED = "judged"  # each row a query with a list of contexts that fit and one of contexts that do not
    CANDIDATES = "candidates"  # each row a query and the id of a context, whose text stands in a second file


class ProblemKind(StrEnum):
    """Why a row, or a part of it, is not sent."""

    EMPTY_TEXT = "empty_text"
    EMPTY_QUERY = "empty_query"
    EMPTY_CONTEXT = "empty_context"
    UNREADABLE_ROW = "unreadable_row"
    TOO_LONG = "too_long"
    FORMULA_WITHOUT_VALUE = "formula_without_value"
    DOUBTFUL_ROW = "doubtful_row"  # its cells may not be what the file means; the user may send them all the same
    DOUBTFUL_SENT = "doubtful_sent"  # the same, sent because the user said so
    HIDDEN_ROW = "hidden_row"  # hidden or filtered in a workbook, and left out because the user said so


class CandidatePool(StrEnum):
    """Which texts are the candidates of a query, in the words that the terminal takes."""

    JUDGED = "judged"  # those that are judged for it
    SAMPLE = "sample"  # those, and texts drawn from the corpus
    CORPUS = "corpus"  # all


@dataclass(frozen=True, slots=True)
class CandidateRule:
    """How candidates are chosen in a collection without a run; `size` is that of a sample for one query."""

    pool: CandidatePool = CandidatePool.SAMPLE
    size: int = 50


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How to read a file; None is recognised. `is_encoding_guessed`: our earlier guess, no choice."""

    encoding: str | None = None
    separator: str | None = None  # one sign, or a few in a row
    has_header: bool | None = None
    sheet: str | None = None
    unit: FileFormat | None = None  # LINES, PARAGRAPHS or WHOLE, for plain text
    is_encoding_guessed: bool = False
    other_encodings: tuple[str, ...] = ()
    sends_doubtful: bool = False  # rows whose cells may not be what the file means are sent as they were read
    leaves_hidden: bool = False  # rows that are hidden in a workbook are not sent
    candidates: CandidateRule | None = None  # ignored where the input names the candidates

    def encoded_as(self, other: "ReadOptions") -> "ReadOptions":
        return replace(
            self,
            encoding=other.encoding,
            is_encoding_guessed=other.is_encoding_guessed,
            other_encodings=other.other_encodings,
        )

    def in_encoding(self, codec: str | None) -> "ReadOptions":
        return replace(self, encoding=codec, is_encoding_guessed=False, other_encodings=())


@dataclass(frozen=True, slots=True)
class RowHabits:
    """What is ordinary in the rows of a delimited text; `widths` are numbers of cells."""

    widths: tuple[int, ...] = ()
    has_line_breaks: bool = False  # within cells
    has_stray_quotes: bool = False  # quotation marks within cells that are not quoted


@dataclass(frozen=True, slots=True)
class Source:
    """A file as it was recognised.

    `columns` are unique, in file order; the table goes from `first_line` (from 1) to before byte `end` (0: the file's
    end). From `marked` columns our own apostrophes are removed. Unless `is_encoding_sure`, reading may raise
    EncodingUnknown.
    """

    path: Path
    format: str  # a name in the table of formats
    columns: tuple[str, ...]
    size: int  # bytes
    encoding: str = ""
    separator: str = ""
    likely_separator: str = ""  # in a list whose lines all hold this sign
    has_header: bool = False
    sheet: str = ""
    sheets: tuple[str, ...] = ()
    first_line: int = 1
    end: int = 0
    quoting: Quoting = Quoting.DOUBLED
    habits: RowHabits = RowHabits()
    shape: Shape = Shape.PLAIN
    marked: tuple[int, ...] = ()
    notices: tuple[str, ...] = ()
    is_encoding_sure: bool = True
    is_encoding_guessed: bool = False
    other_encodings: tuple[str, ...] = ()
    is_header_sure: bool = True
    sends_doubtful: bool = False
    hidden: int = 0  # rows that are hidden or filtered
    leaves_hidden: bool = False
    candidates: CandidateRule | None = None


@dataclass(frozen=True, slots=True)
class Candidate:
    """A file or folder not recognised yet.

    `head` is its beginning, at most 64 KB unpacked; `members` are names in a zip archive; `text` is the decoded head.
    """

    path: Path
    name: str
    size: int  # bytes
    head: bytes
    options: ReadOptions
    members: frozenset[str] = frozenset()
    text: str = ""
    encoding: str = ""

    @property
    def suffix(self) -> str:
        return PurePath(self.name).suffix.lower()

    @property
    def is_whole(self) -> bool:
        return self.size <= len(self.head)

    def refuse_text_options(self, what: str) -> None:
        """Raise UsageError where the options ask for a separator, an encoding or a sheet."""
        if self.options.separator or self.options.encoding or self.options.sheet:
            raise UsageError(message("name_is_what_no_separator_encoding", name=self.path.name, what=what))


LONGEST_RAW = 20_000  # characters


class Row(msgspec.Struct, frozen=True, gc=False):
    """One row: `number` is that of the user's own program, from 1.

    `cells` are never trimmed or retyped; `raw` is how a row with a problem stands in the file.
    """

    number: int
    cells: tuple[str, ...]
    problem: str = ""
    problem_kind: ProblemKind = ProblemKind.UNREADABLE_ROW
    raw: str = ""


class Block(msgspec.Struct, frozen=True, gc=False):
    """Rows without a problem, in file order."""

    numbers: Sequence[int]
    rows: Sequence[Sequence[str]]


def single_rows(found: Iterable[Block | Row]) -> Generator[Row, None, None]:
    for each in found:
        if isinstance(each, Row):
            yield each
        else:
            yield from map(Row, each.numbers, map(tuple, each.rows))


@dataclass(frozen=True, slots=True)
class Split:
    """Texts of more than `tokens` are split into parts, each beginning `overlap` tokens before the last one's end."""

    tokens: int
    overlap: int = 0


@dataclass(frozen=True, slots=True)
class Mapping:
    """Layout and roles of the columns of one file or two; `template` joins columns of the file with the texts, and in
    `Layout.LISTS` of the first, `second_template` of the second.
    """

    kind: Kind
    layout: Layout
    roles: tuple[Role, ...]
    second_roles: tuple[Role, ...] = ()
    template: str = ""
    split: Split | None = None
    second_template: str = ""


class Text(msgspec.Struct, frozen=True, gc=False):
    """A text to be turned into a vector, or a candidate of a query; `row` is its row number in its file."""

    row: int
    text: str
    id: str = ""
    label: str = ""


class Query(msgspec.Struct, frozen=True, gc=False):
    """A query with contexts.

    In `Layout.LONG` it comes once a row, with one context: those with one `key` belong together.
    """

    row: int
    text: str
    id: str
    contexts: tuple[Text, ...]

    @property
    def key(self) -> str:
        """Text and id: two queries may have one id by mistake."""
        return f"{self.id}\0{self.text}"


class Problem(msgspec.Struct, frozen=True, gc=False):
    """A row or part that is not sent, or a doubtful one that is; `file` is 1 or 2."""

    row: int
    kind: ProblemKind
    reason: str
    file: int = 1
    raw: str = ""


@dataclass(frozen=True, slots=True)
class AttachedInput:
    """The file of a job that was made elsewhere, and what its columns are for."""

    source: Source
    mapping: Mapping
    second: Source | None = None


def fitted(cells: Sequence[str], width: int) -> tuple[str, ...]:
    """The first `width` cells; empty ones follow where there are fewer."""
    return (*cells[:width], *("",) * (width - len(cells)))


@lru_cache(maxsize=256)
def width_problem(cells: int, columns: int) -> str:
    """The sentence for a row of so many cells in a table of so many columns."""
    return message("row_cells_but_file_columns", cells=cells_text(cells), columns=columns_text(columns))


def cells_text(count: int) -> Message:
    return message("n_cells", n=count)


def columns_text(count: int) -> Message:
    return message("n_columns", n=count)
