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
from cfbatch_gui.core.judgements.values import Judgement, Subject
from cfbatch_gui.core.system.files import atomic_writer


def write_judgements(book: Book, path: Path, form: Form, job: JobSubjects | None = None) -> int:
    """Write a file; how many lines have a judgement. Blocking.

    Forms with ids have one line for each judged pair, sorted, with the grade that counts. With a job its ids are those
    of the run that it exports, and only judgements of its queries are written. Raises ExportError, DiskFull, DataError.
    """
    lines = list(_lines(book, form, job))
    if not lines:
        raise ExportError("There is no judgement to write. Nothing was written.")
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


def _lines(book: Book, form: Form, job: JobSubjects | None) -> Iterator[bytes]:
    if form is Form.LINES:
        for each in book.judgements():
            if job is None or job.query_of(each.query) is not None:
                yield json.dumps(to_object(each), ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n"
    elif form is Form.CSV:
        for each in _counting(book):
            if job is None or job.query_of(each.query) is not None:
                yield _csv_line(each)
    else:
        for query, document, grade in sorted(set(_pairs(book, form, job))):
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


def _pairs(book: Book, form: Form, job: JobSubjects | None) -> Iterator[tuple[str, str, int]]:
    records, subjects = book.contents()
    found, _ = verdicts(newest(records))
    for record in found:
        query, document = subjects[int(record["query"])], subjects[int(record["document"])]
        for asked, ids in _named(query, document, form, job):
            for identifier in ids:
                yield asked, identifier, int(record["grade"])


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
