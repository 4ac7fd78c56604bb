"""Scales of grades with words. A grade of 1 or more is relevant, as in trec_eval."""

from dataclasses import dataclass

import msgspec

from cfbatch_gui.core.errors import UsageError
from cfbatch_gui.core.messages import message

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
        """The word for a grade; the number for one that is not on this scale."""
        return self.grades[value].name if 0 <= value < len(self.grades) else str(value)


_NOT_RELEVANT = Grade(0, message("Not relevant"), message("about something else"))
TWO = Scale((_NOT_RELEVANT, Grade(1, message("Relevant"), message("helps to answer it"))))
THREE = Scale(
    (
        _NOT_RELEVANT,
        Grade(1, message("Helps"), message("part of the answer")),
        Grade(2, message("Answers it"), message("nothing more is needed")),
    )
)
FOUR = Scale(
    (
        _NOT_RELEVANT,
        Grade(1, message("Touches it"), message("same topic, no answer")),
        Grade(2, message("Helps"), message("part of the answer")),
        Grade(3, message("Answers it"), message("nothing more is needed")),
    )
)
USUAL = FOUR


def own_scale(names: tuple[str, ...]) -> Scale:
    """A scale with these words, the least relevant first. Raises UsageError for fewer than two or more than ten."""
    words = tuple(name.strip() for name in names)
    if not 2 <= len(words) <= MOST_GRADES or not all(words) or len(set(words)) < len(words):
        raise UsageError(message("A scale has two to {most} different grades, each with a word.", most=MOST_GRADES))
    return Scale(tuple(Grade(value, word) for value, word in enumerate(words)))


def encoded(scale: Scale) -> str:
    """The scale as JSON."""
    grades = tuple(Grade(each.value, str(each.name), str(each.meaning)) for each in scale.grades)
    return msgspec.json.encode(Scale(grades)).decode()


def decoded(text: str) -> Scale:
    """The scale that `encoded` has written. Raises msgspec.ValidationError, msgspec.DecodeError."""
    return msgspec.json.decode(text, type=Scale)
