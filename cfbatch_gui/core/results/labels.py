"""The labels of the user's file as grades: whole numbers, or words, stars and shares as the user chose."""

import re
import sqlite3
import unicodedata
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import cache

import msgspec
import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.errors import UsageError
from cfbatch_gui.core.inputs.input_values import Layout
from cfbatch_gui.core.job_folder import schema
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.messages import Message, message

_FACT = "grades"  # the name of the choice in the job's data
_MOST_LABELS = 50
_LONGEST = 40  # characters of a label in a sentence
# Each line is one way of labelling: its words from grade 0 upwards; those of one grade are divided by a bar.
_SCALES = (
    "no|n|false|f|irrelevant|not relevant|non-relevant|nonrelevant|not_relevant, yes|y|true|t|relevant",
    "no|nein|falsch|nicht relevant|irrelevant, yes|ja|wahr|richtig|relevant",
    "no|non|faux|non pertinent, yes|oui|vrai|pertinent",
    "no|falso|no relevante|irrelevante, yes|sí|si|verdadero|relevante",
    "no|n, partly|partially|partial|somewhat|maybe, yes|y",
    "nein, teilweise|zum teil|vielleicht, ja",
    "non, en partie|partiellement, oui",
    "no, en parte|parcialmente, sí|si",
    "irrelevant|not relevant|none, partially relevant|somewhat relevant|partial|related, relevant|highly relevant",
    "irrelevant|not relevant, marginally relevant, fairly relevant|relevant, highly relevant|perfectly relevant",
    "bad|poor, good",
    "bad, ok|okay|fair, good",
    "bad, fair, good, excellent, perfect",
    "i|irrelevant, c|complement, s|substitute, e|exact",
    "low, medium, high",
)
_STARS = re.compile(r"(★+)☆*|(⭐+)|(\*+)|([0-9]+)\s*(?:stars?|sterne?|étoiles?|/\s*[0-9]+)")
_SHARE = re.compile(r"[0-9]*[.,][0-9]+|[01]")

Grades = Mapping[str, int]


def propose_grades(labels: Collection[str]) -> dict[str, int] | None:
    """A grade for each of these different labels, None if they are none of the usual ways of labelling."""
    if not labels or len(labels) > _MOST_LABELS:
        return None
    folded = {label: _folded(label) for label in labels}
    for scale in _SCALES:
        grades = {word: grade for grade, words in enumerate(scale.split(", ")) for word in words.split("|")}
        if all(word in grades for word in folded.values()):
            return {label: grades[word] for label, word in folded.items()}
    return _stars(folded) or _shares(folded)


def parse_grades(said: str) -> dict[str, int]:
    """Read "yes=1, no=0". Raises UsageError."""
    grades: dict[str, int] = {}
    for part in said.split(","):
        label, _, grade = part.rpartition("=")
        if not label.strip() or not re.fullmatch(r"\s*-?[0-9]{1,9}\s*", grade):
            raise UsageError(message("word_gives_no_label_grade_write", word=part.strip()))
        grades[label.strip()] = int(grade)
    return grades


def chosen_grades(database: sqlite3.Connection) -> Grades:
    """The grades of labels that the user chose for this job, by the label without white space around it."""
    found = schema.metadata_value(database, _FACT)
    try:
        return msgspec.convert(found or {}, dict[str, int])
    except msgspec.ValidationError:
        return {}


def keep_grades(folder: JobFolder, grades: Grades) -> None:
    """Choose what labels of this job mean; an empty choice takes an earlier one back. Raises DataError, DiskFull."""
    with folder.open() as database, schema.transaction(database):
        schema.put_metadata_value(database, _FACT, {label.strip(): grade for label, grade in grades.items()})


def _folded(label: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", label).casefold().split()).strip(".!")


def _stars(folded: Mapping[str, str]) -> dict[str, int] | None:
    found = {label: _STARS.fullmatch(word) for label, word in folded.items()}
    grades = {label: int(each[4] or len(each[1] or each[2] or each[3])) for label, each in found.items() if each}
    return grades if len(grades) == len(folded) else None


def _shares(folded: Mapping[str, str]) -> dict[str, int] | None:
    """Shares like 0, 0.5 and 1 on even steps: 0, 1 and 2."""
    if not all(_SHARE.fullmatch(word) for word in folded.values()):
        return None
    values = {label: float(word.replace(",", ".")) for label, word in folded.items()}
    for steps in (2, 3, 4, 5, 10):
        if all(abs(value * steps - round(value * steps)) < 1e-6 and value <= 1 for value in values.values()):
            return {label: round(value * steps) for label, value in values.items()}
    return None


NO_LABEL = -(2**31)


def read_labels(database: sqlite3.Connection, texts: NDArray[np.int32]) -> NDArray[np.int64]:
    """The labels of these text numbers, int64; NO_LABEL for none and for other than 32-bit integers, and for those of
    texts that all queries share, which judge no pair.
    """
    by_number = np.full(int(texts.max(initial=0)) + 1, NO_LABEL, dtype=np.int64)
    if schema.metadata_value(database, "layout") == Layout.SHARED:
        return by_number[texts]
    grade_of = label_grades(database)
    for number, label in database.execute("SELECT text_no, label FROM texts WHERE label <> ''"):
        if number < len(by_number):
            by_number[number] = grade_of(label)
    return by_number[texts]


@dataclass(frozen=True, slots=True)
class UnusableLabels:
    """Labels that are no grade, the first and its row; `proposal` is by grade, () if nothing can be proposed."""

    count: int
    label: str
    row: int
    proposal: tuple[tuple[str, int], ...] = ()

    @property
    def sentence(self) -> Message:
        label = " ".join(self.label[:_LONGEST].split())
        return message("n_labels_are_no_whole_numbers", n=self.count, label=label, row=self.row)


def read_unusable_labels(database: sqlite3.Connection) -> UnusableLabels | None:
    """The labels that `read_labels` cannot use, None without any. Labels of white space only are none."""
    grade_of = label_grades(database)
    different: dict[str, int] = {}  # and the row of each
    whole: set[str] = set()
    count = 0
    for label, row in database.execute("SELECT label, row FROM texts WHERE label <> '' ORDER BY file, row"):
        word = label.strip()
        if word and grade_of(label) != NO_LABEL:
            whole.add(word)
        elif word:
            count += 1
            different.setdefault(word, row)
    if not count:
        return None
    # Whole numbers beside words, like "0" beside "0.5", belong to the same way of labelling.
    proposal = propose_grades({*different, *whole}) or propose_grades(different) or {}
    ordered = tuple(sorted(proposal.items(), key=lambda pair: (pair[1], pair[0])))
    return UnusableLabels(count, *next(iter(different.items())), ordered)


def label_grades(database: sqlite3.Connection) -> Callable[[str], int]:
    """A function of a label that gives its grade, or NO_LABEL."""
    chosen = chosen_grades(database)

    @cache
    def grade_of(label: str) -> int:
        found = chosen.get(label.strip(), grade(label))
        return found if found is not None and abs(found) < -NO_LABEL else NO_LABEL

    return grade_of


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
    grade_of = label_grades(database)
    rows = database.execute("SELECT * FROM outside_judgements ORDER BY query_id, document_id")
    graded = ((query, document, grade_of(label)) for query, document, label in rows)
    return tuple(OutsideGrade(query, document, found) for query, document, found in graded if found != NO_LABEL)


def grade(label: str) -> int | None:
    """The label as a whole number, also if written "1.0"; None for every other text, the empty one included."""
    found = _WHOLE.fullmatch(label)
    return int(found[1]) if found else None


_WHOLE = re.compile(r"\s*([+-]?[0-9]+)(\.0*)?\s*")
