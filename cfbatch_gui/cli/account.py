"""`cfbatch account`: the jobs that the user's account collects."""

import asyncio
from dataclasses import asdict

from cfbatch_gui.cli import reading, working
from cfbatch_gui.cli.console import Call, ExitStatus, agreed, listed
from cfbatch_gui.cli.parser import Parser
from cfbatch_gui.cli.working import Work
from cfbatch_gui.core.jobs.elsewhere import AccountJob
from cfbatch_gui.core.jobs.states import Job, has_copies
from cfbatch_gui.words.figures import one_line, usage_error
from cfbatch_gui.words.jobs import account_columns, is_over
from cfbatch_gui.words.languages import tr

EXAMPLES = """
  cfbatch account take-over k4m8n2pq --connection "My Worker"
  cfbatch account take-over questions --input questions.csv --connection "My Worker" --out ranked.csv
"""


def add_arguments(parser: Parser) -> None:
    command = parser.add_action
    listing = command("list", tr("list the jobs in your account, whichever computer sent them"), _list)
    listing.add_options("--json  print one JSON object")
    taking = command("take-over", tr("fetch a job here that another computer has sent"), _take_over)
    removing = command("remove", tr("delete a job from your account; answers that nobody fetched are lost"), _remove)
    for each in (taking, removing):
        each.add_options("job JOB  its id, the beginning of it, or its name in the account")
    for each in (listing, taking, removing):
        each.add_options("--connection C  the Worker in the account (default: as set in the window)")
    taking.epilog = tr("examples:") + EXAMPLES
    reading.add_sent_arguments(taking)
    working.add_output_arguments(taking)
    removing.add_options("--yes  do not ask")
    clearing = command("clear", tr("delete your account's copies of a finished job now; its results stay here"), _clear)
    clearing.add_options("job JOB  a job's id, the beginning of it, or its name")


async def run(call: Call) -> int | None:
    async with working.opened(call) as work:
        return await call.act(work)


async def _list(work: Work) -> None:
    connection = await working.usable_connection(work, work.connection)
    jobs = await work.program.elsewhere.listed(connection)
    here = {job.id: job for job in work.program.ledger.jobs() if job.is_sent}
    name, *others = account_columns()
    rows = [
        [(tr("ID"), job.id), *((title, words(job, here.get(job.id))) for title, words in (*others, name))]
        for job in jobs
    ]
    work.answer(
        {"jobs": [{"job": job.id, "name": job.title, **asdict(job)} for job in jobs]},
        listed(rows, work.console.width),
        tr("There is no job in your account. “cfbatch run FILE … --collect-in-account” has it collect one."),
    )


async def _take_over(work: Work) -> ExitStatus:
    return await working.see_through(work, _taken_over(work))


async def _taken_over(work: Work) -> Job:
    connection, found = await _found(work)
    outputs = working.asked_outputs(work, found.kind, work.input)
    inputs = await asyncio.to_thread(_inputs, work, found) if work.input else None
    job = await work.program.elsewhere.take_over(connection, found, inputs)
    working.remember(work.program.folder(job.id), outputs)
    work.console.tell("took_job_id_over_name_n", n=found.batches, id=job.id, name=one_line(job.name))
    return job


def _inputs(call: Call, found: AccountJob) -> reading.Inputs | None:
    """The account knows the kind of job, not all of how the files were read."""
    if call.kind is None and not call.recipe:
        call.kind = found.kind
    reading.settle_kind(call)
    try:
        return reading.open_sent(call)
    except reading.ColumnsUnsettled as error:
        return error.inputs


async def _remove(work: Work) -> ExitStatus:
    connection, found = await _found(work)
    work.console.tell("deletes_job_id_name_from_your", id=found.id, name=one_line(found.title))
    if not agreed(work.console, work.yes):
        return ExitStatus.FAILED
    await work.program.elsewhere.remove(connection, found)
    work.console.tell("deleted_job_id_from_your_account", id=found.id)
    return ExitStatus.DONE


async def _clear(work: Work) -> None:
    job = work.program.ledger.find(work.job)
    if not is_over(job):
        raise usage_error("job_id_is_not_finished_copies", id=job.id)
    if job.taken_over:
        raise usage_error("job_id_was_sent_another_computer", id=job.id)
    if has_copies(job):
        await work.program.runner.account.clear(job.id, at_once=True)
        work.console.tell("deleted_your_account_copies_job", id=job.id)
    else:
        work.console.tell("your_account_has_no_copies", id=job.id)


async def _found(work: Work) -> tuple[str, AccountJob]:
    """The connection, and the job by id or name, else by the beginning of the id."""
    connection, words = await working.usable_connection(work, work.connection), work.job
    jobs = await work.program.elsewhere.listed(connection)
    found = [job for job in jobs if words in (job.id, job.title)] or [job for job in jobs if job.id.startswith(words)]
    if len(found) == 1 and words:
        return connection, found[0]
    raise usage_error("n_jobs_your_account_id_or", n=len(found), name=words)
