"""`cfbatch account`: the jobs that the user's account collects."""

import argparse
import asyncio
from collections.abc import Sequence
from dataclasses import asdict

from cfbatch_gui.cli import reading, working
from cfbatch_gui.cli.console import Console, agreed, one_line
from cfbatch_gui.cli.exit_status import ExitStatus
from cfbatch_gui.cli.jobs import kind_words, time_words
from cfbatch_gui.cli.language import number, plural, tr
from cfbatch_gui.cli.parser import Actions, IntermixedParser, Parser
from cfbatch_gui.cli.progress import FINAL, Progress
from cfbatch_gui.core.errors import UsageError
from cfbatch_gui.core.inputs.input_values import AttachedInput
from cfbatch_gui.core.jobs.elsewhere import AccountJob
from cfbatch_gui.core.jobs.states import Job, has_copies
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.system.paths import Paths

EXAMPLES = """
  cfbatch account take-over k4m8n2pq --connection "My Worker"
  cfbatch account take-over questions questions.csv --connection "My Worker" --out ranked.csv
"""


def add_arguments(parser: Parser, *, parents: Sequence[Parser]) -> None:
    command = Actions(parser, parents, parser_class=IntermixedParser).add
    listing = command("list", tr("list the jobs in your account, whichever computer sent them"), _list)
    listing.add_options("--json  print one JSON object")
    taking = command("take-over", tr("fetch a job here that another computer has sent"), _take_over)
    removing = command("remove", tr("delete a job from your account; answers that nobody fetched are lost"), _remove)
    for each in (taking, removing):
        each.add_options("job JOB  its id, the beginning of it, or its name in the account")
    for each in (listing, taking, removing):
        each.add_options("--connection C  the Worker in the account (default: as set in the window)")
    _add_taking_options(taking)
    removing.add_options("--yes  do not ask")
    clearing = command("clear", tr("delete your account's copies of a finished job now; its results stay here"), _clear)
    clearing.add_options("job JOB  a job's id, the beginning of it, or its name")


def _add_taking_options(parser: Parser) -> None:
    parser.epilog = tr("examples:") + EXAMPLES
    parser.add_options(
        "files [FILE...]  what was sent; it is read as it was read there. Without it texts get names",
        {"files": {"default": []}},
    )
    reading.add_reading_arguments(parser)
    working.add_output_arguments(parser)


async def run(arguments: argparse.Namespace, paths: Paths, console: Console) -> int:
    async with working.opened(paths, console) as (program, progress):
        return int(await arguments.act(program, arguments, progress))


async def _list(program: Program, arguments: argparse.Namespace, progress: Progress) -> ExitStatus:
    console = progress.console
    connection = await working.usable_connection(program, arguments.connection, console)
    jobs = await program.elsewhere.listed(connection)
    if arguments.json:
        console.print_json({"jobs": [{"job": job.id, "name": job.title, **asdict(job)} for job in jobs]})
        return ExitStatus.DONE
    rows = [
        (job.id, kind_words(job.kind), number(job.batches), time_words(job.at),
         tr("yes") if job.is_here else tr("no"), one_line(job.title))
        for job in jobs
    ]  # fmt: skip
    console.print_list(
        rows,
        (tr("JOB"), tr("KIND"), tr("BATCHES"), tr("HANDED OVER"), tr("HERE"), tr("NAME")),
        tr("There is no job in your account. “cfbatch run FILE … --collect-in-account” has it collect one."),
    )
    return ExitStatus.DONE


async def _take_over(program: Program, arguments: argparse.Namespace, progress: Progress) -> ExitStatus:
    console = progress.console
    if len(arguments.files) > 2:
        raise UsageError(message("Two files at most: one of queries and one of contexts."))
    job: Job | None = None
    try:
        connection = await working.usable_connection(program, arguments.connection, console)
        found = _find(await program.elsewhere.listed(connection), arguments.job)
        outputs = working.check_outputs(arguments.out, found.kind, arguments.files)
        inputs = await asyncio.to_thread(_inputs, arguments, found, program.paths) if arguments.files else None
        attached = AttachedInput(inputs.source, inputs.mapping, inputs.second) if inputs else None
        job = await program.elsewhere.take_over(connection, found, attached)
        working.remember(program.folder(job.id), outputs)
        console.say(
            plural(
                found.batches,
                "Took job {id} over, “{name}”: {n} batch, which your account collects.",
                "Took job {id} over, “{name}”: {n} batches, which your account collects.",
                id=job.id,
                name=one_line(job.name),
            )
        )
        (job,) = await working.wait_for(program, [job], progress)
    except asyncio.CancelledError:
        console.say(working.stopped_sentence(job and program.ledger.job(job.id)))
        raise
    return working.present(program, job, console, as_json=arguments.json)


def _inputs(arguments: argparse.Namespace, found: AccountJob, paths: Paths) -> reading.Inputs:
    """The account knows the kind of job, not all of how the files were read."""
    if arguments.kind is None and not arguments.recipe:
        arguments.kind = found.kind
    reading.settle_kind(arguments, paths)
    try:
        return reading.open_inputs(arguments, *arguments.files)
    except reading.ColumnsUnsettled as error:
        return error.inputs


async def _remove(program: Program, arguments: argparse.Namespace, progress: Progress) -> ExitStatus:
    console = progress.console
    connection = await working.usable_connection(program, arguments.connection, console)
    found = _find(await program.elsewhere.listed(connection), arguments.job)
    words = tr("This deletes job {id}, “{name}”, from your account. Answers that no computer has fetched are lost.")
    console.say(words, id=found.id, name=one_line(found.title))
    if not agreed(console, arguments.yes):
        return ExitStatus.FAILED
    await program.elsewhere.remove(connection, found)
    console.say(tr("Deleted job {id} from your account."), id=found.id)
    return ExitStatus.DONE


async def _clear(program: Program, arguments: argparse.Namespace, progress: Progress) -> ExitStatus:
    job = program.ledger.find(arguments.job)
    if job.state not in FINAL:
        raise UsageError(
            message("Job {id} is not finished. Its copies go when all of its answers are here.", id=job.id)
        )
    if job.taken_over:
        raise UsageError(
            message(
                "Job {id} was sent by another computer, which may not have its answers yet. To delete it from your "
                "account all the same: cfbatch account remove {id}.",
                id=job.id,
            )
        )
    if not has_copies(job):
        progress.console.say(tr("Your account has no copies of job {id}."), id=job.id)
        return ExitStatus.DONE
    await program.runner.account.clear(job.id, at_once=True)
    progress.console.say(tr("Deleted your account's copies of job {id}. Its results are here."), id=job.id)
    return ExitStatus.DONE


def _find(jobs: Sequence[AccountJob], words: str) -> AccountJob:
    """By id or name, else by the beginning of the id."""
    found = [job for job in jobs if words in (job.id, job.title)] or [job for job in jobs if job.id.startswith(words)]
    if len(found) == 1 and words:
        return found[0]
    raise UsageError(
        message(
            "{n} jobs in your account have the id or the name “{name}”. “cfbatch account list” lists them.",
            n=len(found),
            name=words,
        )
    )
