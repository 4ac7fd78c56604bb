"""Scales of grades with words. A grade of 1 or more is relevant, as in trec_eval."""

from dataclasses import dataclass

import msgspec

from cfbatch_gui.core.errors import UsageError

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


TWO = Scale((Grade(0, "Not relevant", "about something else"), Grade(1, "Relevant", "helps to answer it")))
THREE = Scale(
    (
        Grade(0, "Not relevant", "about something else"),
        Grade(1, "Helps", "part of the answer"),
        Grade(2, "Answers it", "nothing more is needed"),
    )
)
FOUR = Scale(
    (
        Grade(0, "Not relevant", "about something else"),
        Grade(1, "Touches it", "same topic, no answer"),
        Grade(2, "Helps", "part of the answer"),
        Grade(3, "Answers it", "nothing more is needed"),
    )
)
USUAL = FOUR


def own_scale(names: tuple[str, ...]) -> Scale:
    """A scale with these words, the least relevant first. Raises UsageError for fewer than two or more than ten."""
    words = tuple(name.strip() for name in names)
    if not 2 <= len(words) <= MOST_GRADES or not all(words) or len(set(words)) < len(words):
        raise UsageError(f"A scale has two to {MOST_GRADES} different grades, each with a word.")
    return Scale(tuple(Grade(value, word) for value, word in enumerate(words)))


def encoded(scale: Scale) -> str:
    """The scale as JSON."""
    return msgspec.json.encode(scale).decode()


def decoded(text: str) -> Scale:
    """The scale that `encoded` has written. Raises msgspec.ValidationError, msgspec.DecodeError."""
    return msgspec.json.decode(text, type=Scale)
