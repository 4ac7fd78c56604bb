"""`cfbatch settle`: decide about a batch of unknown outcome."""

import argparse

from cfbatch_gui.cli.console import Console
from cfbatch_gui.cli.parser import Parser
from cfbatch_gui.cli.pricing import add_budget_argument, send_again
from cfbatch_gui.cli.working import opened, present, wait_for
from cfbatch_gui.core.errors import UsageError
from cfbatch_gui.core.jobs.states import BatchState, Job
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.system.paths import Paths


def add_arguments(parser: Parser) -> None:
    parser.add_options(
        """
        job JOB  a job's id, the beginning of it, or its name
        batch [BATCH]  its number (default: the only one in doubt)
        """,
    )
    parser.one_of(
        """
        --request-id ID  it was accepted, under this id; its answer must be this batch's
        --send-again  send it again; it may then be billed twice
        --dismiss  lay it to rest; it stays in the history
        """,
        required=True,
    )
    parser.add_options("--json  print one JSON object instead of the result")
    add_budget_argument(parser)


async def run(arguments: argparse.Namespace, paths: Paths, console: Console) -> int:
    async with opened(paths, console) as (program, progress):
        job = program.ledger.find(arguments.job)
        number = arguments.batch or _in_doubt(job)
        (job,) = await wait_for(program, [await _settle(program, job, number, arguments)], progress)
        return present(program, job, console, as_json=arguments.json)


async def _settle(program: Program, job: Job, number: int, arguments: argparse.Namespace) -> Job:
    if arguments.request_id:
        return await program.actions.adopt(job.id, number, arguments.request_id.strip())
    if arguments.send_again:
        return await send_again(program, job.id, number, asked=arguments.budget)
    return await program.actions.dismiss(job.id, number)


def _in_doubt(job: Job) -> int:
    numbers = [batch.number for batch in job.batches if batch.state is BatchState.OUTCOME_UNKNOWN]
    if len(numbers) == 1:
        return numbers[0]
    if not numbers:
        raise UsageError(message("No batch of job {id} has an unknown outcome.", id=job.id))
    raise UsageError(
        message("Say which batch: {numbers} have an unknown outcome.", numbers=", ".join(map(str, numbers)))
    )
