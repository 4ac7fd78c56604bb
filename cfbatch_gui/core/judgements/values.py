"""One judgement, and what it is about.

A judgement belongs to a query and a document, not to a job. Both are known by their texts, by their ids, or by both: a
judgement from a file of qrels has bare ids.
"""

from dataclasses import dataclass
from enum import IntEnum
from hashlib import blake2b

NO_TEXT = 0  # the digest of a subject that is known by its id alone
LEAST_GRADE, MOST_GRADE = -(2**31) + 1, 2**31 - 1  # a greater number is rather an order number than a grade


def text_digest(text: str) -> int:
    """The digest of a text as a signed 64-bit number, never NO_TEXT. It is the same in every process and version."""
    found = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(found, "little", signed=True) or 1


class Source(IntEnum):
    """Where a judgement comes from. If several count for one pair, that with the greatest source does.

    LABELS: the label column of a job's file. IMPORT: a file of judgements. HAND: given on the judging page. SETTLED: a
    person's decision on what judges had graded differently.
    """

    LABELS = 1
    IMPORT = 2
    HAND = 3
    SETTLED = 4


@dataclass(frozen=True, slots=True)
class Subject:
    """A query or a document: `id` is "" for none; `digest` is that of its text, NO_TEXT if the text is not known."""

    id: str
    digest: int


def subject(identifier: str, text: str) -> Subject:
    """The subject with this id and this text, both as in the file; "" for none."""
    return Subject(identifier, text_digest(text) if text else NO_TEXT)


@dataclass(frozen=True, slots=True)
class Judgement:
    """`grade` is None for "cannot tell". `judge` is a person's name or that of a file, `time` seconds since 1970 (UTC).

    `origin` says more of the source: the id of the job whose labels these are, or the name of an imported file.
    """

    query: Subject
    document: Subject
    grade: int | None
    judge: str
    time: float
    source: Source
    origin: str = ""
    note: str = ""
