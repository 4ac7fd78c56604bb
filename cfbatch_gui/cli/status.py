"""Exit statuses: what other programs know a run by."""

from enum import IntEnum

from cfbatch_gui.core.errors import ConnectionProblem, InputError, OutcomeUnknown, OverBudget, UsageError, UserError
from cfbatch_gui.core.jobs.states import Job, JobState


class ExitStatus(IntEnum):
    """As the README says."""

    DONE = 0
    FAILED = 1  # or done in part
    BAD_INPUT = 2  # also bad usage, as argparse has it
    OUTCOME_UNKNOWN = 3
    NO_CONNECTION = 4  # or a refused token
    OVER_BUDGET = 5  # it may cost more than is allowed, and nothing was sent
    INTERRUPTED = 130
    TERMINATED = 143


def status_of_error(error: UserError) -> ExitStatus:
    """What an expected failure ends with."""
    match error:
        case InputError() | UsageError():
            return ExitStatus.BAD_INPUT
        case ConnectionProblem():
            return ExitStatus.NO_CONNECTION
        case OutcomeUnknown():
            return ExitStatus.OUTCOME_UNKNOWN
        case OverBudget():
            return ExitStatus.OVER_BUDGET
        case _:
            return ExitStatus.FAILED


def status_of_job(job: Job, trouble: UserError | None) -> ExitStatus:
    """What a job that nothing more happens to ends with. `trouble` is why it paused."""
    match job.state:
        case JobState.DONE:
            return ExitStatus.DONE
        case JobState.OUTCOME_UNKNOWN:
            return ExitStatus.OUTCOME_UNKNOWN
        case _:
            return status_of_error(trouble) if trouble else ExitStatus.FAILED
