"""`cfbatch resume`: continue jobs that an earlier run or the window started."""

import argparse
import asyncio
from collections.abc import Sequence
from pathlib import Path

from cfbatch_gui.cli import report
from cfbatch_gui.cli.console import Console
from cfbatch_gui.cli.exit_status import ExitStatus, status_of_error
from cfbatch_gui.cli.language import tr
from cfbatch_gui.cli.outputs import owed
from cfbatch_gui.cli.pricing import add_budget_argument, send_again
from cfbatch_gui.cli.progress import Progress
from cfbatch_gui.cli.working import conclude, has_results, opened, present, stopped_sentence, wait_for
from cfbatch_gui.core.errors import UsageError, UserError
from cfbatch_gui.core.jobs.states import Job, JobState
from cfbatch_gui.core.jobs.store.folder_doubt import WAITS_FOR_WORD, FolderAnswer
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.program import Program

_FINAL = (JobState.DONE, JobState.PARTLY_DONE, JobState.FAILED)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `cfbatch resume`."""
    parser.add_argument(
        "job", metavar=tr("JOB"), nargs="?", help=tr("a job's id or name (default: every unfinished job)")
    )
    parser.add_argument("--failed", action="store_true", help=tr("send exactly what failed again; needs JOB"))
    parser.add_argument(
        "--json", action="store_true", help=tr("print one JSON object instead of the result or the list")
    )
    parser.add_argument(
        "--folder-was",
        choices=[answer.value for answer in FolderAnswer],
        help=tr("when asked: whether the data folder was only moved, or is a copy or a restored backup"),
    )
    add_budget_argument(parser)


async def run(arguments: argparse.Namespace, data_dir: Path, console: Console) -> int:
    """Continue one job and print its result, or continue all and list them. Raises UserError."""
    progress = Progress(console)
    async with opened(data_dir, progress) as program:
        await _settle_doubt(program, arguments.folder_was, console)
        if arguments.failed and not arguments.job:
            raise UsageError(message("Say whose failed requests are to be sent again: cfbatch resume JOB --failed."))
        if arguments.failed:
            await send_again(program, program.ledger.find(arguments.job).id, asked=arguments.budget)
        if arguments.job:
            status = await _resume_one(program, program.ledger.find(arguments.job), progress, as_json=arguments.json)
        else:
            status = await _resume_all(program, progress, as_json=arguments.json)
        await program.clear_copies()
        return status


async def _settle_doubt(program: Program, answer: str | None, console: Console) -> None:
    """Do what the answer means. Without one nothing is sent, as was said when the data folder was opened."""
    if program.doubt is not None and answer is not None:
        await program.settle_doubt(FolderAnswer(answer))
    elif answer is not None:
        console.say(tr("Nobody asks whether this data folder was moved or copied, so --folder-was changes nothing."))


async def _resume_one(program: Program, job: Job, progress: Progress, *, as_json: bool) -> int:
    if job.state is JobState.DRAFT:
        raise UsageError(
            message("Job {id} was never sent, so there is nothing to resume. Send it from the window.", id=job.id)
        )
    (job,) = await _carry_on(program, [job], progress)
    return present(program, job, progress.console, as_json=as_json)


async def _resume_all(program: Program, progress: Progress, *, as_json: bool) -> int:
    console = progress.console
    waiting = [job for job in program.ledger.jobs() if job.paused_because in WAITS_FOR_WORD]
    for job in waiting:
        sentence = tr("Job {id} waits for your word: “cfbatch resume {id}” sends what it shows as not sent.")
        console.say(sentence.format(id=job.id))
    jobs: Sequence[Job] = [job for job in program.ledger.jobs() if _is_unfinished(program, job)]
    if not (jobs or waiting):
        console.say(tr("There is nothing to resume: every job that was sent is finished."))
    jobs = await _carry_on(program, jobs, progress)
    statuses = [_concluded(program, job, console) for job in jobs] + [ExitStatus.FAILED] * bool(waiting)
    if as_json:
        console.print_result([report.json_of_jobs(jobs)])
    elif jobs:
        console.print_result(report.lines_of_jobs(jobs, console.width, program.address_book.title))
    return max(statuses, default=ExitStatus.DONE)


async def _carry_on(program: Program, jobs: Sequence[Job], progress: Progress) -> Sequence[Job]:
    """Continue the jobs and return them when each is final or needs the user. Final jobs are returned unchanged."""
    try:
        going_on = [job if job.state in _FINAL else await program.runner.carry_on(job.id) for job in jobs]
        return await wait_for(program, going_on, progress)
    except asyncio.CancelledError:
        progress.console.say(stopped_sentence(program.ledger.job(jobs[0].id), others=len(jobs) > 1))
        raise


def _is_unfinished(program: Program, job: Job) -> bool:
    """Whether the job is not final, or a file that was asked for has not been written."""
    if job.state is JobState.DRAFT or job.paused_because in WAITS_FOR_WORD:
        return False
    return job.state not in _FINAL or (has_results(job) and bool(owed(program.folder(job.id))))


def _concluded(program: Program, job: Job, console: Console) -> ExitStatus:
    """Conclude one job. An error is shown and not raised, so that the files of other jobs are written."""
    try:
        return conclude(program, job, console)
    except UserError as error:
        console.say_error(error)
        return status_of_error(error)
