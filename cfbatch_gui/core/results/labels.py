"""The labels of the user's file as whole numbers, for all pairs at once."""

import re
import sqlite3

import numpy as np
from numpy.typing import NDArray

NO_LABEL = -(2**31)


def read_labels(database: sqlite3.Connection, texts: NDArray[np.int32]) -> NDArray[np.int64]:
    """The label of each text number, NO_LABEL where there is none or where it is no whole number of 32 bits.

    What has more digits is an order number or a barcode, and no grade.
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
    """The label as a whole number: "1", "1.0"; None for an empty one. `check_labels` has seen that it is one."""
    found = _WHOLE.fullmatch(label)
    return int(found[1]) if found else None


_WHOLE = re.compile(r"\s*([+-]?[0-9]+)(\.0*)?\s*")
