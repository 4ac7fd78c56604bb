"""What a probe says of an assumption."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from cfbatch_gui.core.messages import message
from cfbatch_gui.core.workers_ai.probe.assumption_values import Assumption

NOTHING_FINISHED: Final = message("No batch was finished.")


class Outcome(StrEnum):
    """How an assumption came off."""

    HELD = "held"
    NOT_HELD = "not held"
    NOT_SEEN = "not seen"


@dataclass(frozen=True, slots=True)
class Seen:
    """`observation` is one line about what was seen, or why nothing was."""

    outcome: Outcome
    observation: str


@dataclass(frozen=True, slots=True)
class Finding:
    """An assumption with its outcome."""

    assumption: Assumption
    seen: Seen

    @property
    def outcome(self) -> Outcome:
        """Of the assumption."""
        return self.seen.outcome

    @property
    def observation(self) -> str:
        """See `Seen`."""
        return self.seen.observation


def held(observation: str) -> Seen:
    """It is as assumed."""
    return Seen(Outcome.HELD, observation)


def not_held(observation: str) -> Seen:
    """It is otherwise."""
    return Seen(Outcome.NOT_HELD, observation)


def not_seen(observation: str) -> Seen:
    """Nothing that came back tells."""
    return Seen(Outcome.NOT_SEEN, observation)
