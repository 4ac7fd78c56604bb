"""Writing the judgements of a book to a file. What is written reads back the same."""

import csv
import io
import json
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path

from cfbatch_gui.core.errors import ExportError
from cfbatch_gui.core.judgements.book import Book
from cfbatch_gui.core.judgements.forms import (
    BEIR_COLUMNS,
    MARK,
    QUEPID_COLUMNS,
    TEXT_COLUMNS,
    Form,
    is_formula,
    made_id,
    to_object,
)
from cfbatch_gui.core.judgements.importing import JobSubjects
from cfbatch_gui.core.judgements.records import newest, verdicts
from cfbatch_gui.core.judgements.values import Judgement, Source, Subject
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.system.files import atomic_writer


def write_judgements(
    book: Book, path: Path, form: Form, job: JobSubjects | None = None, *, labels: Iterable[Judgement] = ()
) -> int:
    """Write a file; how many lines have a judgement. Blocking.

    Forms with ids have one line for each judged pair, sorted, with the grade that counts. With a job its ids are those
    of the run that it exports, and only judgements of its queries are written; its own `labels` count for pairs about
    which the book has none, or labels of other files only. Raises ExportError, DiskFull, DataError.
    """
    lines = list(_lines(book, form, job, labels))
    if not lines:
        raise ExportError(message("There is no judgement to write. Nothing was written."))
    with atomic_writer(path) as stream:
        stream.write(_header(form))
        for line in lines:
            stream.write(line)
    return len(lines)


def _header(form: Form) -> bytes:
    match form:
        case Form.BEIR:
            return ("\t".join(BEIR_COLUMNS) + "\n").encode()
        case Form.QUEPID:
            return (",".join(QUEPID_COLUMNS) + "\n").encode()
        case Form.CSV:
            return ("\ufeff" + ",".join(TEXT_COLUMNS) + "\r\n").encode()
        case _:
            return b""


def _lines(book: Book, form: Form, job: JobSubjects | None, labels: Iterable[Judgement]) -> Iterator[bytes]:
    if form is Form.LINES:
        for each in book.judgements():
            if job is None or job.query_of(each.query) is not None:
                yield json.dumps(to_object(each), ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n"
    elif form is Form.CSV:
        for each in _counting(book):
            if job is None or job.query_of(each.query) is not None:
                yield _csv_line(each)
    else:
        for (query, document), grade in sorted(_pairs(book, form, job, labels).items()):
            yield _id_line(form, query, document, grade)


def _counting(book: Book) -> Iterator[Judgement]:
    """What each judge said last, in the order of the pairs."""
    said: dict[tuple[str, str, str, str, str], Judgement] = {}
    for each in book.judgements():
        key = (*_key(each.query), *_key(each.document), each.judge)
        said.pop(key, None)
        if not each.taken_back:
            said[key] = each
    return iter(sorted(said.values(), key=lambda each: (_key(each.query), _key(each.document), each.judge)))


def _pairs(book: Book, form: Form, job: JobSubjects | None, labels: Iterable[Judgement]) -> dict[tuple[str, str], int]:
    """The grades by the ids of query and document, in the order of trust that measures follow: see `BookGrades`."""
    records, subjects = book.contents()
    found, _ = verdicts(newest(records))
    judged = [
        (
            subjects[int(record["query"])],
            subjects[int(record["document"])],
            int(record["grade"]),
            int(record["source"]),
            int(record["time"]),
        )
        for record in found
    ]
    judged.sort(key=lambda each: (-each[3], not (each[0].text and each[1].text), -each[4]))
    grades: dict[tuple[str, str], int] = {}
    own = [(each.query, each.document, each.grade or 0) for each in labels]
    from_people = [each[:3] for each in judged if each[3] != Source.LABELS]
    from_labels = [each[:3] for each in judged if each[3] == Source.LABELS]
    for query, document, grade in (*from_people, *own, *from_labels):
        for asked, ids in _named(query, document, form, job):
            for identifier in ids:
                grades.setdefault((asked, identifier), grade)
    return grades


def _named(
    query: Subject, document: Subject, form: Form, job: JobSubjects | None
) -> Iterable[tuple[str, tuple[str, ...]]]:
    """How a pair is named: the query, and the document, which a job may have under several ids."""
    if job is None:
        asked = query.text or query.id if form is Form.QUEPID else made_id(query, "query")
        return [(asked, (made_id(document, "text"),))]
    number = job.query_of(query)
    if number is None:
        return []
    ids = job.document_ids(number, document) or (made_id(document, "text"),)
    return [(job.query_text(number) if form is Form.QUEPID else job.query_id(number), ids)]


def _id_line(form: Form, query: str, document: str, grade: int) -> bytes:
    if form is Form.TREC:
        return f"{query} 0 {document} {grade}\n".encode()
    if form is Form.BEIR:
        return f"{query}\t{document}\t{grade}\n".encode()
    return _encoded((query, document, str(grade)), "\n")


def _csv_line(each: Judgement) -> bytes:
    time = datetime.fromtimestamp(each.time, UTC).isoformat() if each.time else ""
    cells = {
        "query": each.query.text,
        "text": each.document.text,
        "grade": "?" if each.grade is None else str(each.grade),
        "judge": each.judge,
        "time": time,
        "query_id": each.query.id,
        "text_id": each.document.id,
        "note": each.note,
    }
    marked = [name for name, cell in cells.items() if name != "grade" and is_formula(cell)]
    for name in marked:
        cells[name] = MARK + cells[name]
    return _encoded((*cells.values(), " ".join(marked)), "\r\n")


def _encoded(cells: tuple[str, ...], end: str) -> bytes:
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\r\n").writerow(cells)  # with this line end lone CR and LF are quoted
    return (text.getvalue()[:-2] + end).encode("utf-8", "surrogatepass")


def _key(subject: Subject) -> tuple[str, str]:
    return ("", subject.text) if subject.text else (subject.id, "")
