"""Reading files of judgements, whose form is known by their content."""

import csv
import io
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from cfbatch_gui.core.errors import InputError
from cfbatch_gui.core.inputs.readers.decoded_text import LONGEST_LINE
from cfbatch_gui.core.judgements.forms import BEIR_COLUMNS, MARK, QUEPID_COLUMNS, Form, from_object, original_id
from cfbatch_gui.core.judgements.values import Judgement, Source, Subject
from cfbatch_gui.core.messages import counted_message, message
from cfbatch_gui.core.results.labels import grade

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
    "marked": ("marked",),
}
_UNTOLD = {"", "?", "-"}
_MOST_NAMED = 3
_LEAST_COLUMNS = 2


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line that is no judgement, from 1, and why."""

    number: int
    reason: str


@dataclass(frozen=True, slots=True)
class ReadFile:
    """`judgements` without a judge or a time in the file have "" and 0.0."""

    form: Form
    judgements: tuple[Judgement, ...]
    bad: tuple[BadLine, ...]


def read_judgements(path: Path) -> ReadFile:
    """Read a file of judgements whole. Raises InputError for a file that is none, or that cannot be read."""
    text = _decoded(path)
    first = text.lstrip("\r\n \t")[:1]
    if first == "{":
        return _of_lines(text)
    first_line = text.lstrip("\r\n").split("\n", 1)[0]
    if _QRELS.fullmatch(first_line):
        return _of_qrels(text)
    return _of_table(text, path.name)


def check_all_read(found: ReadFile) -> None:
    """Raises InputError if a line is no judgement, so that nothing is taken in part."""
    if not found.bad:
        return
    named: str = ""
    for each in found.bad[:_MOST_NAMED]:
        line = message("line {number:,}: {reason}", number=each.number, reason=each.reason)
        named = message("{before}; {line}", before=named, line=line) if named else line
    if len(found.bad) > _MOST_NAMED:
        named = message("{before}; {line}", before=named, line="…")
    raise InputError(
        counted_message(
            len(found.bad),
            "{n:,} line is no judgement ({named}). Nothing was imported.",
            "{n:,} lines are no judgement ({named}). Nothing was imported.",
            named=named,
        )
    )


def _decoded(path: Path) -> str:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InputError(
            message("“{name}” cannot be read: {reason}.", name=path.name, reason=error.strerror)
        ) from error
    try:
        encoding = "utf-16" if content[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        raise InputError(
            message(
                "“{name}” is not in UTF-8. Save it as “CSV UTF-8”, or as Unicode text, and import it again.",
                name=path.name,
            ),
            detail=f"byte {error.start:,}",
        ) from error


def _of_lines(text: str) -> ReadFile:
    judgements: list[Judgement] = []
    bad: list[BadLine] = []
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                found = from_object(json.loads(line))
            except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
                bad.append(BadLine(number, message("is no object with a grade, and query and text or their ids")))
                continue
            _take(found, number, judgements, bad)
    return ReadFile(Form.LINES, tuple(judgements), tuple(bad))


def _of_qrels(text: str) -> ReadFile:
    judgements: list[Judgement] = []
    bad: list[BadLine] = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        found = _QRELS.fullmatch(line)
        if found is None:
            bad.append(BadLine(number, message("is not “query 0 document grade”")))
        else:
            query, document = (Subject(original_id(found[part])) for part in (1, 2))
            judged = Judgement(query, document, int(found[3]), "", Source.FILE, 0.0)
            _take(judged, number, judgements, bad)
    return ReadFile(Form.TREC, tuple(judgements), tuple(bad))


def _of_table(text: str, name: str) -> ReadFile:
    csv.field_size_limit(LONGEST_LINE)
    header_line = text.lstrip("\r\n").split("\n", 1)[0]
    separator = max("\t;,", key=header_line.count)
    reader = csv.reader(io.StringIO(text.lstrip("\r\n"), newline=""), delimiter=separator, strict=True)
    judgements: list[Judgement] = []
    bad: list[BadLine] = []
    try:
        header = [cell.strip().casefold() for cell in next(reader, [])]
        columns = _columns(header)
        if columns is None:
            raise InputError(
                message(
                    "“{name}” is no file of judgements. There are five forms: TREC qrels, TSV with “query-id, "
                    "corpus-id, score”, CSV with “query, docid, rating”, CSV with “query, text, grade”, and JSON "
                    "Lines.",
                    name=name,
                )
            )
        for cells in reader:
            if any(cell.strip() for cell in cells):
                _take_row(cells, columns, reader.line_num, judgements, bad)
    except csv.Error as error:
        bad.append(BadLine(reader.line_num, message("has quotes that do not fit ({error})", error=str(error))))
    return ReadFile(_form(header, columns), tuple(judgements), tuple(bad))


def _columns(header: Sequence[str]) -> dict[str, int] | None:
    """The index of each of the names of `_NAMES` that the header has; None if it is no header of judgements."""
    columns: dict[str, int] = {}
    for meaning, names in _NAMES.items():
        found = next((name for name in names if name in header), None)
        if found is not None:
            columns[meaning] = header.index(found)
    has_query, has_text = columns.keys() & {"query", "query_id"}, columns.keys() & {"text", "text_id"}
    return columns if has_query and has_text and "grade" in columns else None


def _form(header: Sequence[str], columns: dict[str, int] | None) -> Form:
    if tuple(header[:3]) == BEIR_COLUMNS:
        return Form.BEIR
    if tuple(header[:3]) == QUEPID_COLUMNS:
        return Form.QUEPID
    return Form.CSV if columns is None or "text" in columns else Form.BEIR


def _take_row(
    cells: Sequence[str], columns: dict[str, int], number: int, judgements: list[Judgement], bad: list[BadLine]
) -> None:
    found = {name: cells[index] if index < len(cells) else "" for name, index in columns.items()}
    for name in found.get("marked", "").split():
        if found.get(name, "").startswith(MARK):
            found[name] = found[name][1:]
    said = found["grade"].strip()
    value = grade(said)
    if value is None and said not in _UNTOLD:
        bad.append(BadLine(number, message("its grade “{grade}” is no whole number", grade=said[:40])))
        return
    time = _time(found.get("time", ""))
    if time is None:
        bad.append(BadLine(number, message("its time “{time}” is none", time=found["time"][:40])))
        return
    has_texts = "text" in columns
    query_id, text_id = (found.get(name, "").strip() for name in ("query_id", "text_id"))
    if not has_texts:
        query_id, text_id = original_id(query_id), original_id(text_id)
    query, document = Subject(query_id, found.get("query", "")), Subject(text_id, found.get("text", ""))
    words = (found.get("judge", "").strip(), Source.FILE, time)
    _take(Judgement(query, document, value, *words, note=found.get("note", "")), number, judgements, bad)


def _take(found: Judgement, number: int, judgements: list[Judgement], bad: list[BadLine]) -> None:
    if not (found.query.id or found.query.text) or not (found.document.id or found.document.text):
        bad.append(BadLine(number, message("has no query or no text")))
    elif found.grade is not None and abs(found.grade) >= 2**31 - 1:
        bad.append(BadLine(number, message("its grade {grade} is too large", grade=found.grade)))
    else:
        judgements.append(found)


def _time(said: str) -> float | None:
    """Seconds since 1970 of an ISO time, 0.0 for none; None for what is no time."""
    if not said.strip():
        return 0.0
    try:
        return datetime.fromisoformat(said.strip()).timestamp()
    except (ValueError, OverflowError, OSError):
        return None
