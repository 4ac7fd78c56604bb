"""Functions of the commands that run jobs: open the program, wait for jobs, print and write their results."""

import os
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from cfbatch_gui.cli.console import Console, counted
from cfbatch_gui.cli.exit_status import ExitStatus, status_of_job
from cfbatch_gui.cli.outputs import owed, write_owed
from cfbatch_gui.cli.progress import Progress
from cfbatch_gui.cli.report import PRACTICE, PRACTICE_WORDS, json_of_job, lines_of_result
from cfbatch_gui.core.connections.address_book import ACCOUNT_VARIABLE
from cfbatch_gui.core.connections.credentials import CLOUDFLARE, TOKEN_VARIABLE, variable_of
from cfbatch_gui.core.errors import NotConnected, UserError
from cfbatch_gui.core.jobs.states import BatchState, Job, JobState
from cfbatch_gui.core.jobs.store.folder_doubt import HELD_BACK
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.results.exports import Exported

PATIENCE = 5  # a command ends after so many failures in a row to reach the service
_WITH_RESULTS = (JobState.DONE, JobState.PARTLY_DONE)


@asynccontextmanager
async def opened(root: Path, progress: Progress) -> AsyncIterator[Program]:
    """The program with the data folder `root`, closed at the end of the block. Raises DataError."""
    program = await Program.open(root, environ=os.environ, on_change=progress.show_job, patience=PATIENCE)
    try:
        lost = await program.check_last_written() if program.ledger.was_left_open else ()
        for sentence in (*program.damage, *lost):
            progress.console.say(sentence)
        if program.doubt is not None:
            progress.console.say(f"{HELD_BACK} Say so with “cfbatch resume --folder-was moved”, or “copied”.")
        yield program
    finally:
        await program.close()


def stopped_sentence(job: Job | None, *, others: bool = False) -> str:
    """The sentence for an interruption of `job` (None before one was made); of all jobs when there are `others`."""
    if job is None or not job.is_sent:
        return "\nStopped. Nothing was sent."
    if any(batch.state is BatchState.PLANNED for batch in job.batches):
        goes_on = "What was sent goes on at the service; what was not sent yet waits here."
    else:
        goes_on = "The work goes on at the service."
    return f"\nStopped. {goes_on} “cfbatch resume{'' if others else f' {job.id}'}” picks it up."


async def wait_for(program: Program, jobs: Sequence[Job], progress: Progress) -> tuple[Job, ...]:
    """Wait until each job is final or needs the user, and return the jobs in their new state."""
    progress.follow(*jobs)
    try:
        return tuple([await program.runner.wait(job.id) for job in jobs])
    finally:
        progress.end()


async def usable_connection(program: Program, asked_for: str | None, console: Console) -> str:
    """The id of the connection to use. Raises NotConnected, before any file is read, when it cannot be used."""
    wanted = program.address_book.find(asked_for) if asked_for else program.settings.connection or PRACTICE
    facts = next((facts for facts in await program.connections.summaries() if facts.id == wanted), None)
    if facts is None or not facts.is_ready:
        raise NotConnected(
            f"{facts.sentence} {_way_to_connect(wanted)}" if facts else f"There is no connection “{wanted}”."
        )
    console.say(f"Connection: {facts.title}. {facts.sentence}")
    return wanted


def _way_to_connect(connection_id: str) -> str:
    if connection_id == CLOUDFLARE:
        return (
            f"Set {ACCOUNT_VARIABLE} and {TOKEN_VARIABLE}, or connect the account with “cfbatch connections add"
            " cloudflare” or in the window."
        )
    return f"Set {variable_of(connection_id)} to its secret, or enter it in the window."


def has_results(job: Job) -> bool:
    """Whether the job has results to print."""
    return job.state in _WITH_RESULTS


def conclude(program: Program, job: Job, console: Console, wrote: Callable[[Exported], object] = bool) -> ExitStatus:
    """Print the job's outcome and write the files that were asked for; `wrote` is called after each.

    Raises UserError when a file cannot be written.
    """
    folder = program.folder(job.id)
    console.say(sentence(job))

    def written(file: Exported) -> None:
        _say_file(console, file)
        wrote(file)

    if has_results(job):
        write_owed(folder, job, program.address_book.title(job.connection), written)
    elif paths := owed(folder):
        console.say(f"Not written yet: {', '.join(map(str, paths))}.")
    return status_of_job(job, program.runner.pause_error(job.id))


def present(program: Program, job: Job, console: Console, *, as_json: bool = False) -> ExitStatus:
    """Conclude the job and print its results, with `as_json` the job and its results as one object. Raises UserError.

    The object is printed also when a file cannot be written: it lists those that were.
    """
    folder = program.folder(job.id)
    files: list[Exported] = []
    try:
        status = conclude(program, job, console, files.append)
    except UserError:
        if as_json:
            console.print_result([json_of_job(job, folder, files)])
        raise
    if as_json:
        console.print_result([json_of_job(job, folder, files)])
    elif has_results(job):
        console.print_result(lines_of_result(job, folder, console.width))
    return status


def sentence(job: Job) -> str:
    """The sentence for the job's outcome, with the command to use next."""
    again = f"“cfbatch resume {job.id}” goes on with it."
    match job.state:
        case JobState.DONE:
            where = f" ({PRACTICE_WORDS})" if job.connection == PRACTICE else ""
            tokens = f", {counted(job.tokens, 'token')}" if job.tokens else ""  # synchronous answers may lack it
            return f"Job {job.id} is done: {counted(job.texts, 'text')}{tokens}{where}."
        case JobState.PARTLY_DONE:
            return f"Job {job.id} is done in part. {job.error}"
        case JobState.FAILED:
            return f"Job {job.id} failed. {job.error}"
        case JobState.OUTCOME_UNKNOWN:
            decide = f"Decide with “cfbatch settle {job.id}”, or in the window."
            return f"Outcome unknown for job {job.id}. {job.error} {decide}"
        case JobState.DRAFT:
            return f"Job {job.id} was never sent."
        case _:
            return f"Job {job.id} stopped. {job.error} The job is kept: {again}".replace("  ", " ")


def _say_file(console: Console, file: Exported) -> None:
    console.say(f"Wrote {file.rows:,} rows to {file.path}")
    if file.next_command:
        console.say(f"Next:\n{file.next_command}")
