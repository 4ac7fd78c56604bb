"""Labels that are words, stars or shares as grades: what is proposed, and what the user chose for a job.

A proposal is never used by itself. The choice is kept with the job and changes how its labels are read, nothing else.
"""

import re
import sqlite3
import unicodedata
from collections.abc import Collection, Mapping

import msgspec

from cfbatch_gui.core.errors import UsageError
from cfbatch_gui.core.job_folder import schema
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.messages import message

_FACT = "grades"  # the name of the choice in the job's data
_MOST_LABELS = 50
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
            raise UsageError(message("“{word}” gives no label a grade; write them like yes=1,no=0.", word=part.strip()))
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
    grades = {}
    for label, word in folded.items():
        found = _STARS.fullmatch(word)
        if found is None:
            return None
        grades[label] = int(found[4]) if found[4] else len(found[1] or found[2] or found[3])
    return grades


def _shares(folded: Mapping[str, str]) -> dict[str, int] | None:
    """Shares like 0, 0.5 and 1 on even steps: 0, 1 and 2."""
    if not all(_SHARE.fullmatch(word) for word in folded.values()):
        return None
    values = {label: float(word.replace(",", ".")) for label, word in folded.items()}
    for steps in (2, 3, 4, 5, 10):
        if all(abs(value * steps - round(value * steps)) < 1e-6 and value <= 1 for value in values.values()):
            return {label: round(value * steps) for label, value in values.items()}
    return None
