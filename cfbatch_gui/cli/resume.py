"""`cfbatch resume`: continue jobs that an earlier run or the window started."""

import argparse
import asyncio
from collections.abc import Sequence

from cfbatch_gui.cli import working
from cfbatch_gui.cli.console import Console
from cfbatch_gui.cli.exit_status import ExitStatus, status_of_error, worst_of
from cfbatch_gui.cli.jobs import lines_of_jobs, summary_of
from cfbatch_gui.cli.language import tr
from cfbatch_gui.cli.parser import Parser
from cfbatch_gui.cli.pricing import add_budget_argument, send_again
from cfbatch_gui.cli.progress import FINAL, Progress
from cfbatch_gui.core.errors import UsageError, UserError
from cfbatch_gui.core.jobs.states import Job, JobState
from cfbatch_gui.core.jobs.store.data_folder import WAITS_FOR_WORD, FolderAnswer
from cfbatch_gui.core.jobs.verifying import complete_results
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.system.paths import Paths


def add_arguments(parser: Parser) -> None:
    parser.add_options(
        """
        job [JOB]  a job's id, the beginning of it, or its name (default: every unfinished job)
        --failed  send exactly what failed again; needs JOB
        --json  print one JSON object instead of the result or the list
        --folder-was moved|copied  when asked: whether the data folder was only moved, or is a copy or a restored backup
        """
    )
    working.add_collecting_arguments(parser)
    add_budget_argument(parser)


async def run(arguments: argparse.Namespace, paths: Paths, console: Console) -> int:
    async with working.opened(paths, console) as (program, progress):
        if arguments.folder_was and program.doubt is not None:
            await program.settle_doubt(FolderAnswer(arguments.folder_was))
        elif arguments.folder_was:
            console.say(tr("Nobody asks whether this data folder was moved or copied: --folder-was changes nothing."))
        if arguments.failed and not arguments.job:
            raise UsageError(message("Say whose failed requests are to be sent again: cfbatch resume JOB --failed."))
        if arguments.collect is not None and not arguments.job:
            raise UsageError(
                message("Say which job your account is to collect: cfbatch resume JOB --collect-in-account.")
            )
        if arguments.job:
            status = await _resume_one(program, program.ledger.find(arguments.job), progress, arguments)
        else:
            status = await _resume_all(program, progress, arguments)
        await program.clear_copies()
        return status


async def _resume_one(program: Program, job: Job, progress: Progress, arguments: argparse.Namespace) -> int:
    if arguments.failed:
        if arguments.leave:
            working.check_may_leave(program, [job], collect=arguments.collect)
        job = await send_again(program, job.id, asked=arguments.budget)
    if job.state is JobState.DRAFT:
        raise UsageError(
            message("Job {id} was never sent, so there is nothing to resume. Send it from the window.", id=job.id)
        )
    (job,) = await _carry_on(program, [job], progress, arguments)
    if job.has_results:
        await asyncio.to_thread(complete_results, program.folder(job.id), job)
    return working.present(program, job, progress.console, leaves=arguments.leave, as_json=arguments.json)


async def _resume_all(program: Program, progress: Progress, arguments: argparse.Namespace) -> int:
    console = progress.console
    waiting = [job for job in program.ledger.jobs() if job.paused_because in WAITS_FOR_WORD]
    for job in waiting:
        sentence = tr("Job {id} waits for your word: “cfbatch resume {id}” sends what it shows as not sent.")
        console.say(sentence, id=job.id)
    jobs: Sequence[Job] = [job for job in program.ledger.jobs() if _is_unfinished(program, job)]
    if not (jobs or waiting):
        console.say(tr("There is nothing to resume: every job that was sent is finished."))
    jobs = await _carry_on(program, jobs, progress, arguments)
    statuses = [_concluded(program, job, console, leaves=arguments.leave) for job in jobs]
    if arguments.json:
        console.print_json({"jobs": [summary_of(job) for job in jobs]})
    elif jobs:
        console.print_result(lines_of_jobs(jobs, console.width, program.address_book.title))
    return worst_of(statuses + [ExitStatus.FAILED] * bool(waiting))


async def _carry_on(
    program: Program, jobs: Sequence[Job], progress: Progress, arguments: argparse.Namespace
) -> Sequence[Job]:
    """Until each job is final, needs the user, or may be left. Raises UsageError when one cannot be."""
    unfinished = [job for job in jobs if job.state not in FINAL]
    if arguments.leave:
        working.check_may_leave(program, unfinished, collect=arguments.collect)

    def may_leave(job: Job) -> bool:
        return working.leaving_status(job) is ExitStatus.NOT_LEFT or working.is_fetched(program, job)

    try:
        for job in unfinished:
            if arguments.collect or (arguments.leave and job.account_problem):
                await program.actions.collect_in_account(job.id)
            elif arguments.collect is False:
                await program.actions.collect_here(job.id)
            await program.runner.carry_on(job.id)
        going_on = [program.ledger.job(job.id) for job in jobs]
        return await working.wait_for(program, going_on, progress, may_leave=may_leave if arguments.leave else None)
    except asyncio.CancelledError:
        progress.console.say(working.stopped_sentence(program.ledger.job(jobs[0].id), others=len(jobs) > 1))
        raise


def _is_unfinished(program: Program, job: Job) -> bool:
    """The job is not final, or a file that was asked for has not been written."""
    if job.state is JobState.DRAFT or job.paused_because in WAITS_FOR_WORD:
        return False
    return job.state not in FINAL or (job.state in working.WITH_RESULTS and bool(working.owed(program.folder(job.id))))


def _concluded(program: Program, job: Job, console: Console, *, leaves: bool) -> ExitStatus:
    """An error is shown and not raised, so that the files of other jobs are written."""
    try:
        return working.conclude(program, job, console, leaves=leaves)
    except UserError as error:
        console.say_error(error)
        return status_of_error(error)
