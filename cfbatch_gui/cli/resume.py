"""`cfbatch resume`: continue jobs that an earlier run or the window started."""

import asyncio
from collections.abc import Sequence

from cfbatch_gui.cli import working
from cfbatch_gui.cli.console import Call, ExitStatus, status_of_error, worst_of
from cfbatch_gui.cli.jobs import lines_of_jobs, summary_of
from cfbatch_gui.cli.parser import Parser
from cfbatch_gui.cli.working import Work
from cfbatch_gui.core.errors import UserError
from cfbatch_gui.core.jobs.states import Job, JobState
from cfbatch_gui.core.jobs.store.data_folder import WAITS_FOR_WORD, FolderAnswer
from cfbatch_gui.core.jobs.verifying import complete_results
from cfbatch_gui.words.figures import usage_error
from cfbatch_gui.words.jobs import is_over


def add_arguments(parser: Parser) -> None:
    parser.add_options("""
        job [JOB]  a job's id, the beginning of it, or its name (default: every unfinished job)
        --failed  send exactly what failed again; needs JOB
        --json  print one JSON object instead of the result or the list
        --folder-was moved|copied  when asked: whether the data folder was only moved, or is a copy or a restored backup
    """)
    working.add_collecting_arguments(parser)
    working.add_budget_argument(parser)


async def run(call: Call) -> int:
    async with working.opened(call) as work:
        program, console = work.program, work.console
        if work.folder_was and program.store.holds_back:
            await program.settle_doubt(FolderAnswer(work.folder_was))
        elif work.folder_was:
            console.tell("nobody_asks_whether_data_folder_was")
        if work.failed and not work.job:
            raise usage_error("say_whose_failed_requests_are_be")
        if work.collect_in_account is not None and not work.job:
            raise usage_error("say_job_your_account_is_collect")
        status = await (_resume_one(work, program.ledger.find(work.job)) if work.job else _resume_all(work))
        await program.clear_copies()
        return status


async def _resume_one(work: Work, job: Job) -> int:
    if work.failed:
        working.check_may_leave(work, job)
        job = await working.send_again(work, job.id)
    if job.state is JobState.DRAFT:
        raise usage_error("job_id_was_never_sent_there", id=job.id)
    (job,) = await _carry_on(work, job)
    if job.has_results:
        await asyncio.to_thread(complete_results, work.program.folder(job.id), job)
    return working.present(work, job)


async def _resume_all(work: Work) -> int:
    program, console = work.program, work.console
    waiting = [job for job in program.ledger.jobs() if job.paused_because in WAITS_FOR_WORD]
    for job in waiting:
        console.tell("job_id_waits_your_word_cfbatch", id=job.id)
    jobs: Sequence[Job] = [job for job in program.ledger.jobs() if _is_unfinished(work, job)]
    if not (jobs or waiting):
        console.tell("there_is_nothing_resume_every_job")
    jobs = await _carry_on(work, *jobs)
    statuses = [_concluded(work, job) for job in jobs]
    lines = lines_of_jobs(jobs, console.width, program.address_book.title)
    work.answer({"jobs": [summary_of(job) for job in jobs]}, lines)
    return worst_of(statuses + [ExitStatus.FAILED] * bool(waiting))


async def _carry_on(work: Work, *jobs: Job) -> Sequence[Job]:
    """Until each job is final, needs the user, or may be left. Raises UsageError when one cannot be."""
    program = work.program
    unfinished = [job for job in jobs if not is_over(job)]
    working.check_may_leave(work, *unfinished)

    def may_leave(job: Job) -> bool:
        return working.leaving_status(job) is ExitStatus.NOT_LEFT or working.is_fetched(program, job)

    try:
        for job in unfinished:
            if work.collect_in_account or (work.leave and job.account_problem):
                await program.actions.collect_in_account(job.id)
            elif work.collect_in_account is False:
                await program.actions.collect_here(job.id)
            await program.runner.carry_on(job.id)
        going_on = [program.ledger.job(job.id) for job in jobs]
        return await working.wait_for(work, *going_on, may_leave=may_leave if work.leave else None)
    except asyncio.CancelledError:
        work.console.say(working.stopped_sentence(program.ledger.job(jobs[0].id), others=len(jobs) > 1))
        raise


def _is_unfinished(work: Work, job: Job) -> bool:
    """The job is not final, or a file that was asked for has not been written."""
    if job.state is JobState.DRAFT or job.paused_because in WAITS_FOR_WORD:
        return False
    return not is_over(job) or (job.state in working.WITH_RESULTS and bool(working.owed(work.program.folder(job.id))))


def _concluded(work: Work, job: Job) -> ExitStatus:
    """An error is shown and not raised, so that the files of other jobs are written."""
    try:
        return working.conclude(work, job)
    except UserError as error:
        work.console.say_error(error)
        return status_of_error(error)
