"""What a check is, and what it may find."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum


class Outcome(StrEnum):
    """FAILED alone makes the whole self-test fail."""

    OK = "ok"
    WARNING = "warning"  # the program works, but not for everybody: a script without a font
    SKIPPED = "skipped"  # it could not be tried here, for a reason that is no fault of the program's
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Finding:
    """What a check found, in a sentence; of a failure the reason, and what to do about it."""

    outcome: Outcome
    sentence: str


@dataclass(frozen=True, slots=True)
class Check:
    """One line of the self-test. Whatever `look` raises is a failure, and so is taking longer than `seconds`."""

    title: str
    look: Callable[[], Finding]
    seconds: float = 60.0


def ok(sentence: str) -> Finding:
    """It works."""
    return Finding(Outcome.OK, sentence)


def skipped(sentence: str) -> Finding:
    """It was not tried, and why."""
    return Finding(Outcome.SKIPPED, sentence)


def warning(sentence: str) -> Finding:
    """Something is missing that not everybody needs."""
    return Finding(Outcome.WARNING, sentence)


def failed(sentence: str) -> Finding:
    """It does not work, and why."""
    return Finding(Outcome.FAILED, sentence)
