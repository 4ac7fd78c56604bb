"""The labels of the user's file as whole numbers."""

import re
import sqlite3
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.results.grade_words import chosen_grades, propose_grades

NO_LABEL = -(2**31)
_MOST_EXAMPLES, _MOST_ROWS = 3, 10


def read_labels(database: sqlite3.Connection, texts: NDArray[np.int32]) -> NDArray[np.int64]:
    """The labels of the text numbers `texts`, int64, same shape; NO_LABEL for none and for other than 32-bit integers.

    A greater number is rather an order number or a barcode than a grade.
    """
    by_number = np.full(int(texts.max(initial=0)) + 1, NO_LABEL, dtype=np.int64)
    grades = LabelGrades(database)
    for number, label in database.execute("SELECT text_no, label FROM texts WHERE label <> ''"):
        value = grades.of(label)
        if number < len(by_number):
            by_number[number] = value
    return by_number[texts]


@dataclass(frozen=True, slots=True)
class UnusableLabels:
    """Labels that are no grade: their number, the first different ones as they stand, and the first rows, ascending.

    `proposal` has a grade for each different one, in the order of the grades; () if nothing can be proposed.
    """

    count: int
    examples: tuple[str, ...]
    rows: tuple[int, ...]
    proposal: tuple[tuple[str, int], ...] = ()


def read_unusable_labels(database: sqlite3.Connection) -> UnusableLabels | None:
    """The labels that `read_labels` cannot use, None without any. Labels of white space only are none."""
    grades = LabelGrades(database)
    usable: dict[str, bool] = {}
    examples: dict[str, None] = {}
    different: dict[str, None] = {}
    rows: list[int] = []
    count = 0
    for label, row in database.execute("SELECT label, row FROM texts WHERE label <> '' ORDER BY file, row"):
        if label not in usable:
            usable[label] = not label.strip() or grades.of(label) != NO_LABEL
        if not usable[label]:
            count += 1
            different[label.strip()] = None
            if len(examples) < _MOST_EXAMPLES:
                examples[label.strip()] = None
            if len(rows) < _MOST_ROWS and (not rows or rows[-1] != row):
                rows.append(row)
    if not count:
        return None
    # Whole numbers beside words, like "0" beside "0.5", belong to the same way of labelling.
    whole = {label.strip() for label, is_usable in usable.items() if is_usable and label.strip()}
    proposal = propose_grades({*different, *whole}) or propose_grades(different) or {}
    ordered = tuple(sorted(proposal.items(), key=lambda pair: (pair[1], pair[0])))
    return UnusableLabels(count, tuple(examples), tuple(rows), ordered)


class LabelGrades:
    """The grades of the labels of one job: whole numbers, and what the user chose for others."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._chosen = chosen_grades(database)
        self._known: dict[str, int] = {}

    def of(self, label: str) -> int:
        """The grade of a label, NO_LABEL for one that has none."""
        known = self._known.get(label)
        if known is None:
            found = self._chosen.get(label.strip(), grade(label))
            known = found if found is not None and abs(found) < -NO_LABEL else NO_LABEL
            self._known[label] = known
        return known


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
    grades = LabelGrades(database)
    rows = database.execute("SELECT * FROM outside_judgements ORDER BY query_id, document_id")
    graded = ((query, document, grades.of(label)) for query, document, label in rows)
    return tuple(OutsideGrade(query, document, found) for query, document, found in graded if found != NO_LABEL)


def grade(label: str) -> int | None:
    """The label as a whole number, also if written "1.0"; None for every other text, the empty one included."""
    found = _WHOLE.fullmatch(label)
    return int(found[1]) if found else None


_WHOLE = re.compile(r"\s*([+-]?[0-9]+)(\.0*)?\s*")
