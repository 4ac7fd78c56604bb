"""The labels of the user's file as whole numbers."""

import re
import sqlite3
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

NO_LABEL = -(2**31)


def read_labels(database: sqlite3.Connection, texts: NDArray[np.int32]) -> NDArray[np.int64]:
    """The labels of the text numbers `texts`, int64, same shape; NO_LABEL for none and for other than 32-bit integers.

    A greater number is rather an order number or a barcode than a grade.
    """
    by_number = np.full(int(texts.max(initial=0)) + 1, NO_LABEL, dtype=np.int64)
    known: dict[str, int] = {}
    for number, label in database.execute("SELECT text_no, label FROM texts WHERE label <> ''"):
        value = known.get(label)
        if value is None:
            found = grade(label)
            value = known[label] = found if found is not None and abs(found) < -NO_LABEL else NO_LABEL
        if number < len(by_number):
            by_number[number] = value
    return by_number[texts]


@dataclass(frozen=True, slots=True)
class OutsideGrade:
    """A judgement of a query of the job with a document that is not among its contexts, by their ids."""

    query_id: str
    document_id: str
    grade: int


def read_outside_grades(database: sqlite3.Connection) -> tuple[OutsideGrade, ...]:
    """The judgements of documents that were not ranked, sorted by query and document; those that are no whole number
    are left out.
    """
    rows = database.execute("SELECT * FROM outside_judgements ORDER BY query_id, document_id")
    graded = ((query, document, grade(label)) for query, document, label in rows)
    return tuple(
        OutsideGrade(query, document, found)
        for query, document, found in graded
        if found is not None and abs(found) < -NO_LABEL
    )


def grade(label: str) -> int | None:
    """The label as a whole number, also if written "1.0"; None for every other text, the empty one included."""
    found = _WHOLE.fullmatch(label)
    return int(found[1]) if found else None


_WHOLE = re.compile(r"\s*([+-]?[0-9]+)(\.0*)?\s*")
