"""`--collect-in-account` and `--leave`."""

import argparse
from collections.abc import Iterable

from cfbatch_gui.cli.console import Console
from cfbatch_gui.cli.exit_status import ExitStatus
from cfbatch_gui.cli.language import number, plural, tr
from cfbatch_gui.cli.report import facts_of_job
from cfbatch_gui.cli.working import say_owed, sentence
from cfbatch_gui.core.errors import UsageError
from cfbatch_gui.core.jobs.account.shards import (
    account_progress,
    check_is_worker,
    most_batches,
    wants_account,
)
from cfbatch_gui.core.jobs.states import BatchState, Job
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.workers_ai.connection_kinds import Connection

_AT_ONCE = message("Requests without the queue are answered here, so such a job cannot be left. Leave out --leave.")
_NOT_COLLECTED = message(
    "This job is not collected in your account, so it cannot be left. Say --collect-in-account as well, or have the "
    "connection collect all of its jobs: cfbatch connections change NAME --collects."
)


def add_collect_arguments(parser: argparse.ArgumentParser) -> None:
    """Without either the connection decides."""
    parser.add_argument(
        "--collect-in-account",
        dest="collect",
        action=argparse.BooleanOptionalAction,
        help=tr(
            "have your account collect the answers, through a Worker of your own, or ask for them from this computer"
            " (default: as the connection is set up)"
        ),
    )


def add_leave_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--leave",
        action="store_true",
        help=tr(
            "end when your account collects all answers, with exit status {left}: the computer may be turned off, and"
            " “cfbatch resume” fetches them; with {not_left} when it does not collect them"
        ).format(left=f"{ExitStatus.LEFT:d}", not_left=f"{ExitStatus.NOT_LEFT:d}"),
    )


def check_may_collect(program: Program, connection_id: str, arguments: argparse.Namespace) -> None:
    """Raise UsageError for a new job that cannot be collected, or left, as the arguments say."""
    connection = program.address_book.connection(connection_id)
    if arguments.collect or arguments.leave:
        check_is_worker(connection)
    if arguments.leave and arguments.at_once:
        raise UsageError(_AT_ONCE)
    if arguments.leave and not (connection.collects if arguments.collect is None else arguments.collect):
        raise UsageError(_NOT_COLLECTED)


def check_may_leave(program: Program, jobs: Iterable[Job], *, collect: bool | None) -> None:
    """Raise UsageError when one of these jobs cannot be left."""
    for job in jobs:
        try:
            _check_may_leave(job, program.address_book.connection(job.connection), collect=collect)
        except UsageError as error:
            raise UsageError(message("Job {id}: {sentence}", id=job.id, sentence=error.message)) from error


def _check_may_leave(job: Job, connection: Connection, *, collect: bool | None) -> None:
    check_is_worker(connection)
    going_on = [batch for batch in job.batches if not batch.state.is_final]
    if going_on and all(batch.at_once for batch in going_on):
        raise UsageError(_AT_ONCE)
    is_collected = account_progress(job).is_used or wants_account(job, connection)
    if not (is_collected if collect is None else collect):
        raise UsageError(_NOT_COLLECTED)


def say_limit(program: Program, job: Job, batches: int, console: Console) -> None:
    connection = program.address_book.connection(job.connection)
    most = most_batches(connection)
    if not wants_account(job, connection) or connection.has_paid_worker or batches <= most:
        return
    console.say(
        tr(
            "On the Workers Free plan your account collects {most} batches of a job. This computer asks for the other"
            " {others}, so it is needed until these are here."
        ).format(most=number(most), others=number(batches - most))
    )


def is_fetched(program: Program, job: Job) -> bool:
    """The job may be left, and all that the account has of it so far is here."""
    is_waiting = account_progress(job).in_account > 0
    return _may_be_left(job) and not is_waiting and program.runner.account.has_looked(job)


def _may_be_left(job: Job) -> bool:
    """A batch of unknown outcome waits for the user."""
    found = account_progress(job)
    unknown = sum(batch.state is BatchState.OUTCOME_UNKNOWN for batch in job.batches)
    return found.is_used and not found.direct and found.to_send == unknown


def leaving_status(job: Job) -> ExitStatus | None:
    """None for a job that is final, has stopped, or goes on here."""
    if job.paused_because or all(batch.state.is_final for batch in job.batches):
        return None
    if _may_be_left(job):
        is_unknown = any(batch.state is BatchState.OUTCOME_UNKNOWN for batch in job.batches)
        return ExitStatus.OUTCOME_UNKNOWN if is_unknown else ExitStatus.LEFT
    return ExitStatus.NOT_LEFT if job.account_problem else None


def leave(program: Program, job: Job, status: ExitStatus, console: Console, *, as_json: bool = False) -> ExitStatus:
    console.say(_leaving_sentence(job, status))
    say_owed(program.folder(job.id), console)
    if as_json:
        console.print_json(facts_of_job(job, program.folder(job.id)))
    return status


def _leaving_sentence(job: Job, status: ExitStatus) -> str:
    if status is ExitStatus.OUTCOME_UNKNOWN:
        return sentence(job)
    if status is ExitStatus.NOT_LEFT:
        words = tr(
            "Job {id} was not left, as your account does not collect all of its answers: this computer is still needed."
            " “cfbatch resume {id}” goes on with it."
        )
        return words.format(id=job.id)
    found = account_progress(job)
    return plural(
        found.in_account + found.at_service,
        "Your account collects the answers of job {id}, to {n} batch. You may turn this computer off; “cfbatch resume"
        " {id}” fetches them.",
        "Your account collects the answers of job {id}, to {n} batches. You may turn this computer off; “cfbatch resume"
        " {id}” fetches them.",
        id=job.id,
    )
