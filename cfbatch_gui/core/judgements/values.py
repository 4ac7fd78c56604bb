"""What a judgement is: how relevant a document is for a query, who says so, and from where it is."""

import hashlib
from dataclasses import dataclass
from enum import IntEnum

from cfbatch_gui.core.messages import message


class Source(IntEnum):
    """Where a judgement is from, weakest first: of a pair, only the judgements of its strongest source count."""

    LABELS = 1  # the label column of a job's file
    FILE = 2  # a file of judgements
    PERSON = 3
    SETTLED = 4  # the last word on a pair about which judges disagreed


FROM_LABELS = message("from file")  # the judge of labels


@dataclass(frozen=True, slots=True)
class Subject:
    """A query or a document. One with a text is known by its text, whatever its id; one without by its id.

    `id` is "" for none. At least one of the two is there.
    """

    id: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class Judgement:
    """`grade` is None for "cannot tell". `time` is in seconds since 1970.

    `again`: the judge was shown this pair once more, without being told. `taken_back`: the judge's earlier judgement of
    this pair no longer counts, and neither does this one.
    """

    query: Subject
    document: Subject
    grade: int | None
    judge: str
    source: Source
    time: float
    again: bool = False
    taken_back: bool = False
    note: str = ""


def text_digest(text: str) -> bytes | None:
    """What a text is known by, 16 bytes; None for an empty one."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest() if text else None
