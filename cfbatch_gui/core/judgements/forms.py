"""The forms of files of judgements, and how texts and marks stand in them."""

import re
from enum import StrEnum

from cfbatch_gui.core.judgements.values import Judgement, Source, Subject, text_digest

TEXT_COLUMNS = ("query", "text", "grade", "judge", "time", "query_id", "text_id", "note", "marked")
BEIR_COLUMNS = ("query-id", "corpus-id", "score")
QUEPID_COLUMNS = ("query", "docid", "rating")
_FORMULA = re.compile(r"'*[=+\-@\t\r]")
# Signs that end an id where lines are split at white space, as UTF-8 in hexadecimal. A percent sign stands for itself
# unless one of these follows, so that ids of other programs come and go as they are.
_UNSAFE = re.compile(r"""[\s\x00-\x20\x7f\x85\u200b\ufeff"]""")
_CODES = "|".join(
    "%".join(f"{byte:02X}" for byte in sign.encode())
    for sign in map(chr, (*range(0x100), 0x1680, *range(0x2000, 0x2060), 0x3000, 0xFEFF))
    if _UNSAFE.match(sign)
)
_ESCAPED = re.compile(f"%(?=(?:25)*(?:{_CODES}))")
_ESCAPES = re.compile(f"%25(?=(?:25)*(?:{_CODES}))|%({_CODES})")
MARK = "'"


class Form(StrEnum):
    """`TREC`, `BEIR` and `QUEPID` have one grade for each pair, the other two what each judge said."""

    TREC = "trec"  # qrels: query id, 0, document id, grade
    BEIR = "beir"  # TSV with BEIR_COLUMNS
    QUEPID = "quepid"  # CSV with QUEPID_COLUMNS: the query's text, the document's id
    CSV = "csv"  # with TEXT_COLUMNS, of which the first three are enough
    LINES = "jsonl"  # one object for each judgement ever made: a whole copy of a book

    @property
    def has_ids_only(self) -> bool:
        """Whether documents stand there by their ids alone."""
        return self in (Form.TREC, Form.BEIR, Form.QUEPID)


def made_id(subject: Subject, prefix: str) -> str:
    """The id of a subject in a file, with white space and quotes percent-encoded as in URLs.

    A text without an id gets one made of the prefix and its digest, the same in every file.
    """
    if subject.id:
        return _UNSAFE.sub(_percent, _ESCAPED.sub("%25", subject.id))
    digest = text_digest(subject.text)
    return f"{prefix}-{digest.hex()[:16]}" if digest is not None else ""


def original_id(written: str) -> str:
    """The id that `made_id` wrote."""
    return _ESCAPES.sub(lambda found: bytes.fromhex(found[1].replace("%", "")).decode() if found[1] else "%", written)


def _percent(found: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in found[0].encode())


def is_formula(cell: str) -> bool:
    """Whether a spreadsheet could take the cell for a formula."""
    return _FORMULA.match(cell) is not None


def from_object(found: dict[str, object]) -> Judgement:
    """A judgement of a line of JSON. Raises KeyError, TypeError, ValueError."""
    grade, time = found["grade"], found.get("time", 0.0)
    if grade is not None and (isinstance(grade, bool) or not isinstance(grade, int)):
        raise TypeError("grade")
    if isinstance(time, bool) or not isinstance(time, int | float):
        raise TypeError("time")
    words = {name: found.get(name, "") for name in ("query", "text", "query_id", "text_id", "judge", "note")}
    if not all(isinstance(word, str) for word in words.values()):
        raise TypeError("text")
    texts = {name: str(word) for name, word in words.items()}
    return Judgement(
        Subject(texts["query_id"], texts["query"]),
        Subject(texts["text_id"], texts["text"]),
        grade,
        texts["judge"],
        Source[str(found.get("source", Source.FILE.name)).upper()],
        float(time),
        again=found.get("again") is True,
        taken_back=found.get("taken_back") is True,
        note=texts["note"],
    )


def to_object(judgement: Judgement) -> dict[str, object]:
    """The object of a line of JSON, without what is empty."""
    found: dict[str, object] = {
        "query_id": judgement.query.id,
        "query": judgement.query.text,
        "text_id": judgement.document.id,
        "text": judgement.document.text,
        "grade": judgement.grade,
        "judge": judgement.judge,
        "source": judgement.source.name.lower(),
        "time": judgement.time,
        "again": judgement.again,
        "taken_back": judgement.taken_back,
        "note": judgement.note,
    }
    return {name: value for name, value in found.items() if value not in ("", False) or name == "grade"}
