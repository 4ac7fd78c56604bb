"""What a judgement is: how relevant a document is for a query, on which scale, who says so, and from where it is."""

import hashlib
from dataclasses import dataclass
from enum import IntEnum

import msgspec

from cfbatch_gui.core.errors import UsageError
from cfbatch_gui.core.messages import message, restored, stored


class Source(IntEnum):
    """Where a judgement is from, weakest first: of a pair, only the judgements of its strongest source count."""

    LABELS = 1  # the label column of a job's file
    FILE = 2  # a file of judgements
    PERSON = 3
    SETTLED = 4  # the last word on a pair about which judges disagreed


FROM_LABELS = message("from_file")  # the judge of labels


class Subject(msgspec.Struct, frozen=True, gc=False):
    """A query or a document, known by its text, else by its id."""

    id: str
    text: str = ""

    @property
    def key(self) -> tuple[str, str]:
        return ("", self.text) if self.text else (self.id, "")


class Judgement(msgspec.Struct, frozen=True, gc=False):
    """`grade` is None for "cannot tell"; `time` in seconds since 1970; `again` was shown once more unsaid."""

    query: Subject
    document: Subject
    grade: int | None
    judge: str
    source: Source
    time: float
    again: bool = False
    taken_back: bool = False
    note: str = ""

    @property
    def pair(self) -> tuple[str, str, str, str]:
        return (*self.query.key, *self.document.key)


def text_digest(text: str) -> bytes | None:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest() if text else None


MOST_GRADES = 10  # one for each digit key


@dataclass(frozen=True, slots=True)
class Grade:
    """`meaning` says in a few words when to choose it, "" if that is plain."""

    value: int
    name: str
    meaning: str = ""


@dataclass(frozen=True, slots=True)
class Scale:
    """Grades with values from 0 upwards, without gaps."""

    grades: tuple[Grade, ...]

    def name_of(self, value: int) -> str:
        return self.grades[value].name if 0 <= value < len(self.grades) else str(value)


_NOT_RELEVANT = Grade(0, message("not_relevant"), message("about_something_else"))
TWO = Scale((_NOT_RELEVANT, Grade(1, message("relevant"), message("helps_answer"))))
THREE = Scale(
    (
        _NOT_RELEVANT,
        Grade(1, message("helps"), message("part_answer")),
        Grade(2, message("answers"), message("nothing_more_is_needed")),
    )
)
FOUR = Scale(
    (
        _NOT_RELEVANT,
        Grade(1, message("touches"), message("same_topic_no_answer")),
        Grade(2, message("helps"), message("part_answer")),
        Grade(3, message("answers"), message("nothing_more_is_needed")),
    )
)
USUAL = FOUR
MATCHES, CATEGORIES, SCREENING = "Matches", "Categories", "Screening"  # the names of the books of decisions
SAME_OR_NOT = Scale((Grade(0, message("not_the_same")), Grade(1, message("the_same"))))  # their scale


def is_of_decisions(book: str) -> bool:
    """Whether decisions are in a book of this name; those of screenings have the job's id behind."""
    return book.casefold().split(" ")[0] in {name.casefold() for name in (MATCHES, CATEGORIES, SCREENING)}


def own_scale(names: tuple[str, ...]) -> Scale:
    """A scale with these words, the least relevant first. Raises UsageError for fewer than two or more than ten."""
    words = tuple(name.strip() for name in names)
    if not 2 <= len(words) <= MOST_GRADES or not all(words) or len(set(words)) < len(words):
        raise UsageError(message("scale_two_most_different_grades_each", most=MOST_GRADES))
    return Scale(tuple(Grade(value, word) for value, word in enumerate(words)))


def encoded(scale: Scale) -> str:
    grades = tuple(Grade(each.value, stored(each.name), stored(each.meaning)) for each in scale.grades)
    return msgspec.json.encode(Scale(grades)).decode()


def decoded(text: str) -> Scale:
    """The scale that `encoded` has written. Raises msgspec.ValidationError, msgspec.DecodeError."""
    grades = msgspec.json.decode(text, type=Scale).grades
    return Scale(tuple(Grade(each.value, restored(each.name), restored(each.meaning)) for each in grades))
