"""The labels of the user's file as whole numbers."""

import re
import sqlite3

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


def grade(label: str) -> int | None:
    """The label as a whole number, also if written "1.0"; None for every other text, the empty one included."""
    found = _WHOLE.fullmatch(label)
    return int(found[1]) if found else None


_WHOLE = re.compile(r"\s*([+-]?[0-9]+)(\.0*)?\s*")
