"""Files of judgements: their five forms, how they are read, taken into a book, and written. Both ways give the same."""

import csv
import io
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path

import msgspec
from msgspec.structs import astuple, replace

from cfbatch_gui.core.errors import ExportError, InputError
from cfbatch_gui.core.inputs.encodings import marked_encoding
from cfbatch_gui.core.inputs.open_file import open_bytes
from cfbatch_gui.core.inputs.readers.decoded_text import LONGEST_LINE
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.judgements.book import Book, newest, problem_of
from cfbatch_gui.core.judgements.values import Judgement, Source, Subject, text_digest
from cfbatch_gui.core.messages import comma_list, message
from cfbatch_gui.core.results.exports.base import Cell
from cfbatch_gui.core.results.exports.csv_tables import FORMULA, Dialect
from cfbatch_gui.core.results.labels import grade
from cfbatch_gui.core.results.rankings import RetrievalIds, percent_encoded
from cfbatch_gui.core.system.files import write_atomically

TEXT_COLUMNS = ("query", "text", "grade", "judge", "time", "query_id", "text_id", "note")
BEIR_COLUMNS = ("query-id", "corpus-id", "score")
QUEPID_COLUMNS = ("query", "docid", "rating")
_UNSAFE = re.compile(r"""[\s\x00-\x20\x7f\x85\u200b\ufeff"]""")  # what ends an id where lines are split at white space
_MARKED = re.compile(f"'{FORMULA.pattern}")


class Form(StrEnum):
    """`TREC`, `BEIR` and `QUEPID` have one grade for each pair, the other two what each judge said."""

    TREC = "trec"  # qrels: query id, 0, document id, grade
    BEIR = "beir"  # TSV with BEIR_COLUMNS
    QUEPID = "quepid"  # CSV with QUEPID_COLUMNS: the query's text, the document's id
    CSV = "csv"  # with TEXT_COLUMNS, of which the first three are enough
    LINES = "jsonl"  # one object for each judgement ever made: a whole copy of a book

    @property
    def has_ids_only(self) -> bool:
        return self in (Form.TREC, Form.BEIR, Form.QUEPID)


def made_id(subject: Subject, prefix: str) -> str:
    """The id of a subject in a file, without white space; of a text without one the prefix and its digest."""
    if subject.id:
        return _UNSAFE.sub(percent_encoded, subject.id)
    digest = text_digest(subject.text)
    return f"{prefix}-{digest.hex()[:16]}" if digest is not None else ""


class _Line(msgspec.Struct, frozen=True, omit_defaults=True):
    """A judgement as an object of JSON; `source` is a name of a `Source`, in small letters."""

    grade: int | None
    query_id: str = ""
    query: str = ""
    text_id: str = ""
    text: str = ""
    judge: str = ""
    source: str = "file"
    time: float = 0.0
    again: bool = False
    taken_back: bool = False
    note: str = ""


def _of_object(line: str) -> Judgement:
    """Raises msgspec.MsgspecError, KeyError for a source that is none, RecursionError."""
    grade, query_id, query, text_id, text, judge, source, *rest = astuple(msgspec.json.decode(line, type=_Line))
    return Judgement(Subject(query_id, query), Subject(text_id, text), grade, judge, Source[source.upper()], *rest)


def _flat(said: Judgement) -> _Line:
    query, document, grade, judge, source, *rest = astuple(said)
    return _Line(grade, query.id, query.text, document.id, document.text, judge, source.name.lower(), *rest)


_QRELS = re.compile(r"\s*(\S+)\s+\S+\s+(\S+)\s+(-?[0-9]+)\s*")
_NAMES = {
    "query": ("query", "question", "search"),
    "text": ("text", "context", "document", "passage", "answer"),
    "grade": ("grade", "rating", "label", "relevance", "score", "judgement", "judgment"),
    "judge": ("judge", "rater", "annotator", "user"),
    "time": ("time", "date", "created"),
    "query_id": ("query_id", "query-id", "qid"),
    "text_id": ("text_id", "docid", "doc_id", "doc-id", "corpus-id", "document_id"),
    "note": ("note", "comment"),
}
_UNTOLD = {"", "?", "-"}
_MOST_NAMED = 3


@dataclass(frozen=True, slots=True)
class ReadFile:
    """`judgements` without a judge or a time in the file have "" and 0.0.

    `bad` are the numbers of the lines that are no judgement, and why.
    """

    form: Form
    judgements: tuple[Judgement, ...]
    bad: tuple[tuple[int, str], ...]


_Found = Iterator[tuple[int, Judgement | str]]  # the number of a line, and its judgement, or why it is none


def read_judgements(path: Path) -> ReadFile:
    """Read a file of judgements whole. Raises InputError for a file that is none, or that cannot be read."""
    text = _decoded(path)
    if text.lstrip("\r\n \t").startswith("{"):
        form, lines = Form.LINES, _of_lines(text)
    elif _QRELS.fullmatch(text.lstrip("\r\n").split("\n", 1)[0]):
        form, lines = Form.TREC, _of_qrels(text)
    else:
        form, lines = _of_table(text, path.name)
    judgements: list[Judgement] = []
    bad: list[tuple[int, str]] = []
    for number, found in lines:
        reason = problem_of(found) if isinstance(found, Judgement) else found
        if reason:
            bad.append((number, reason))
        elif isinstance(found, Judgement):
            judgements.append(found)
    return ReadFile(form, tuple(judgements), tuple(bad))


def check_all_read(found: ReadFile) -> None:
    """Raises InputError if a line is no judgement, so that nothing is taken in part."""
    if not found.bad:
        return
    first = found.bad[:_MOST_NAMED]
    named = [message("line_number_reason", number=number, reason=reason) for number, reason in first]
    raise InputError(
        message(
            "n_lines_are_no_judgement_named",
            n=len(found.bad),
            named=comma_list([*named, *(("…",) if len(found.bad) > _MOST_NAMED else ())]),
        )
    )


def _decoded(path: Path) -> str:
    with open_bytes(path) as file:
        content = file.read()
    try:
        return content.decode(marked_encoding(content[:4]) or "utf-8")
    except UnicodeDecodeError as error:
        raise InputError(message("name_is_not_utf_8_save", name=path.name), detail=f"byte {error.start:,}") from error


def _of_lines(text: str) -> _Found:
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                yield number, _of_object(line)
            except (msgspec.MsgspecError, KeyError, RecursionError):
                yield number, message("is_no_object_grade_query_text")


def _of_qrels(text: str) -> _Found:
    for number, line in enumerate(text.split("\n"), 1):
        found = _QRELS.fullmatch(line)
        if found is not None:
            query, document = (Subject(found[part]) for part in (1, 2))
            yield number, Judgement(query, document, int(found[3]), "", Source.FILE, 0.0)
        elif line.strip():
            yield number, message("is_not_query_0_document_grade")


def _of_table(text: str, name: str) -> tuple[Form, _Found]:
    csv.field_size_limit(LONGEST_LINE)
    text = text.lstrip("\r\n")
    separator = max("\t;,", key=text.split("\n", 1)[0].count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    header: list[str] = []
    with suppress(csv.Error):
        header = [cell.strip().casefold() for cell in next(reader, [])]
    columns = _columns(header)
    if columns is None:
        raise InputError(message("name_is_no_file_judgements_there", name=name))

    def rows() -> _Found:
        try:
            for cells in reader:
                if any(cell.strip() for cell in cells):
                    yield reader.line_num, _of_row(cells, columns)
        except csv.Error as error:
            yield reader.line_num, message("quotes_do_not_fit_error", error=str(error))

    if tuple(header[:3]) == QUEPID_COLUMNS:
        return Form.QUEPID, rows()
    return Form.CSV if "text" in columns else Form.BEIR, rows()


def _columns(header: Sequence[str]) -> dict[str, int] | None:
    known = {meaning: [name for name in names if name in header] for meaning, names in _NAMES.items()}
    columns = {meaning: header.index(found[0]) for meaning, found in known.items() if found}
    has_query, has_text = columns.keys() & {"query", "query_id"}, columns.keys() & {"text", "text_id"}
    return columns if has_query and has_text and "grade" in columns else None


def _of_row(cells: Sequence[str], columns: dict[str, int]) -> Judgement | str:
    found = {name: cells[index] if index < len(cells) else "" for name, index in columns.items()}
    if "text" in columns:
        found = {name: cell[1:] if _MARKED.match(cell) else cell for name, cell in found.items()}
    said = found["grade"].strip()
    value = grade(said)
    if value is None and said not in _UNTOLD:
        return message("grade_grade_is_no_whole_number", grade=said[:40])
    time = _time(found.get("time", ""))
    if time is None:
        return message("time_time_is_none", time=found["time"][:40])
    query_id, text_id = (found.get(name, "").strip() for name in ("query_id", "text_id"))
    query, document = Subject(query_id, found.get("query", "")), Subject(text_id, found.get("text", ""))
    words = (found.get("judge", "").strip(), Source.FILE, time)
    return Judgement(query, document, value, *words, note=found.get("note", ""))


def _time(said: str) -> float | None:
    """Seconds since 1970 of an ISO time, 0.0 for none; None for what is no time."""
    if not said.strip():
        return 0.0
    try:
        return datetime.fromisoformat(said.strip()).timestamp()
    except (ValueError, OverflowError, OSError):
        return None


_PAIRS = """
SELECT i.query_no, q.query_id, q.text, t.text_id, t.text, t.row, i.position
FROM items i JOIN queries q USING(query_no) JOIN texts t USING(text_no)
WHERE i.query_no IS NOT NULL ORDER BY i.query_no, i.position
"""


@dataclass(frozen=True, slots=True)
class Imported:
    """`matched` are about texts of the job; `conflicting` lines gave a pair another grade."""

    read: int
    added: int
    matched: int
    unmatched: int
    conflicting: int


@dataclass(frozen=True, slots=True)
class _Query:
    """A query of a job, its id in the exported run, and its documents: by their ids, and the exported ids by text."""

    subject: Subject
    exported: str
    by_id: dict[str, Subject]
    ids_of_text: dict[str, list[str]]

    def document(self, document: Subject) -> Subject | None:
        """The document with its text, None if the query does not have it."""
        if document.text:
            return document if document.text in self.ids_of_text else None
        return self.by_id.get(document.id)


class JobSubjects:
    """The queries and documents of a job by their ids, in the file and in its exports, and by their texts. Blocking."""

    def __init__(self, folder: JobFolder) -> None:
        ids = RetrievalIds(folder)
        self._by_id: dict[str, _Query] = {}
        self._by_text: dict[str, _Query] = {}
        queries: dict[int, _Query] = {}
        with folder.open(read_only=True) as database:
            for number, query_id, query, text_id, text, row, position in database.execute(_PAIRS):
                found = queries.get(number)
                if found is None:
                    asked = Subject(query_id, query)
                    found = queries[number] = _Query(asked, ids.query(number, query_id), {}, defaultdict(list))
                    self._by_text.setdefault(query, found)
                    for name in filter(None, (query_id, found.exported, made_id(asked, "query"))):
                        self._by_id.setdefault(name, found)
                document = Subject(text_id, text)
                exported = ids.document(text_id, row, position)
                for name in filter(None, (text_id, exported, made_id(document, "text"))):
                    found.by_id.setdefault(name, document)
                if exported not in found.ids_of_text[text]:
                    found.ids_of_text[text].append(exported)

    def query(self, query: Subject) -> _Query | None:
        return self._by_text.get(query.text) if query.text else self._by_id.get(query.id)


def import_judgements(
    book: Book, judgements: Sequence[Judgement], *, judge: str, time: float, job: JobSubjects | None = None
) -> Imported:
    """Add what is new. `judge` and `time` are for lines that say none. Raises DataError, DiskFull, UsageError."""
    matched = 0
    added: list[Judgement] = []
    said: dict[object, set[int | None]] = defaultdict(set)
    for each in judgements:
        found = replace(each, judge=each.judge or judge, time=each.time or time)
        if job is not None and (query := job.query(each.query)) is not None:  # its texts in place of its ids
            document = query.document(each.document)
            found = replace(found, query=query.subject, document=document or each.document)
            matched += document is not None
        added.append(found)
    for known in (*book.judgements(), *added):
        if not known.taken_back:
            said[known.pair].add(known.grade)
    conflicting = sum(len(said[each.pair]) > 1 for each in added)
    # A copy of a book has a time in each line; what no longer counts belongs to it.
    is_copy = all(each.time for each in judgements) and any(each.again or each.taken_back for each in judgements)
    if is_copy:
        there = set(book.judgements())
        new = [each for each in added if each not in there]
        book.add(new)
    count = len(new) if is_copy else book.add_new(added)
    unmatched = len(added) - matched if job is not None else 0
    return Imported(len(added), count, matched, unmatched, conflicting)


def write_judgements(
    book: Book, path: Path, form: Form, job: JobSubjects | None = None, *, labels: Iterable[Judgement] = ()
) -> int:
    """Write a file; how many lines.

    With a job its ids are those of its exported run, and its `labels` count where the book has none. Blocking. Raises
    ExportError, DiskFull, DataError.
    """
    lines = _pair_lines(book, form, job, labels) if form.has_ids_only else _record_lines(book, form, job)
    if not lines:
        raise ExportError(message("there_is_no_judgement_write_nothing"))
    write_atomically(path, b"".join((_HEADERS.get(form, b""), *lines)))
    return len(lines)


_HEADERS = {
    Form.BEIR: ("\t".join(BEIR_COLUMNS) + "\n").encode(),
    Form.QUEPID: Dialect().encode_header(QUEPID_COLUMNS),
    Form.CSV: Dialect(",").encode_header(TEXT_COLUMNS),
}


def _record_lines(book: Book, form: Form, job: JobSubjects | None) -> list[bytes]:
    every = [each for each in book.judgements() if job is None or job.query(each.query) is not None]
    if form is Form.LINES:
        return [msgspec.json.encode(_flat(each)) + b"\n" for each in every]
    # What each judge said last, in the order of the pairs.
    last, dialect = sorted(newest(every), key=lambda each: (each.pair, each.judge)), Dialect(",")
    return [dialect.encode([_cells(each)]) for each in last]


def _pair_lines(book: Book, form: Form, job: JobSubjects | None, labels: Iterable[Judgement]) -> list[bytes]:
    rows = [(*pair, value) for pair, value in sorted(_pairs(book, form, job, labels).items())]
    if form is Form.QUEPID:
        return [Dialect().encode([row]) for row in rows]
    pattern = "{} 0 {} {}\n" if form is Form.TREC else "{}\t{}\t{}\n"
    return [pattern.format(*row).encode() for row in rows]


def _pairs(book: Book, form: Form, job: JobSubjects | None, labels: Iterable[Judgement]) -> dict[tuple[str, str], int]:
    """The grades by the ids of query and document, in the order of trust that measures follow: see `BookGrades`."""
    judged = book.verdicts()
    grades: dict[tuple[str, str], int] = {}
    from_people = [each for each in judged if each.source is not Source.LABELS]
    from_labels = [each for each in judged if each.source is Source.LABELS]
    for each in (*from_people, *labels, *from_labels):
        asked, ids = made_id(each.query, "query"), [made_id(each.document, "text")]
        text = each.query.text or each.query.id
        if job is not None:
            query = job.query(each.query)
            if query is None:
                continue
            document = query.document(each.document)  # a job may have it under several ids
            asked, text = query.exported, query.subject.text
            ids = query.ids_of_text[document.text] if document is not None else ids
        for identifier in ids:
            grades.setdefault((text if form is Form.QUEPID else asked, identifier), each.grade or 0)
    return grades


def _cells(each: Judgement) -> list[Cell]:
    """Under TEXT_COLUMNS."""
    line = _flat(each)
    time = datetime.fromtimestamp(each.time, UTC).isoformat() if each.time else ""
    shown: dict[str, Cell] = {"grade": "?" if each.grade is None else each.grade, "time": time}
    return [shown.get(name, getattr(line, name)) for name in TEXT_COLUMNS]
