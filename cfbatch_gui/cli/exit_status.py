"""The table of exit statuses."""

import signal
from collections.abc import Iterable
from enum import IntEnum
from typing import Final, Self

from cfbatch_gui.cli.language import tr
from cfbatch_gui.core.errors import ConnectionProblem, InputError, OutcomeUnknown, OverBudget, UsageError, UserError
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.system.languages import said


class ExitStatus(IntEnum):
    """With its description in `cfbatch --help`, "" for one that is not listed there."""

    words: str

    def __new__(cls, number: int, words: str = "") -> Self:
        status = int.__new__(cls, number)
        status._value_ = number
        status.words = words
        return status

    DONE = 0, message("done")
    FAILED = 1, message("failed, done in part, or doubtful rows left out")
    BAD_INPUT = 2, message("bad usage or input")  # also argparse's exit status
    OUTCOME_UNKNOWN = 3, message("outcome unknown")
    NO_CONNECTION = 4, message("no connection or token refused")
    OVER_BUDGET = 5, message("over budget")  # nothing was sent
    WORSE = 6, message("a ranking is worse than --fail-if-worse allows")
    CANNOT_TELL = 7, message("it may be worse, which these judgements cannot tell")
    TOO_FEW_JUDGED = 8, message("too few of the first texts are judged")
    LEFT = 9, message("left to your account, which collects the answers")
    NOT_LEFT = 10, message("not left, as your account does not collect them")
    INTERRUPTED = 128 + signal.SIGINT  # 128 + SIGINT, as shells report it
    TERMINATED = 128 + signal.SIGTERM


def exit_statuses_help() -> str:
    statuses = [f"  {status:<2d}  {said(status.words)}" for status in ExitStatus if status.words]
    return "\n".join([tr("exit status:"), *statuses])


def worst_of(statuses: Iterable[ExitStatus]) -> ExitStatus:
    """What goes on by itself in the account comes before nothing but what is done."""
    mild = (ExitStatus.DONE, ExitStatus.LEFT)
    return max(statuses, key=lambda status: (status not in mild, status), default=ExitStatus.DONE)


_OF_ERRORS: Final = (
    ((InputError, UsageError), ExitStatus.BAD_INPUT),
    (ConnectionProblem, ExitStatus.NO_CONNECTION),
    (OutcomeUnknown, ExitStatus.OUTCOME_UNKNOWN),
    (OverBudget, ExitStatus.OVER_BUDGET),
    (UserError, ExitStatus.FAILED),
)


def status_of_error(error: UserError) -> ExitStatus:
    return next(status for kinds, status in _OF_ERRORS if isinstance(error, kinds))
