"""`cfbatch settle`: decide about a batch of unknown outcome."""

from cfbatch_gui.cli.console import Call
from cfbatch_gui.cli.parser import Parser
from cfbatch_gui.cli.working import Work, add_budget_argument, opened, present, send_again, wait_for
from cfbatch_gui.core.jobs.states import BatchState, Job
from cfbatch_gui.words.figures import usage_error


def add_arguments(parser: Parser) -> None:
    parser.add_options("""
        job JOB  a job's id, the beginning of it, or its name
        batch [BATCH]  its number (default: the only one in doubt)
    """)
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


async def run(call: Call) -> int:
    async with opened(call) as work:
        job = work.program.ledger.find(work.job)
        (job,) = await wait_for(work, await _settle(work, job, work.batch or _in_doubt(job)))
        return present(work, job)


async def _settle(work: Work, job: Job, number: int) -> Job:
    if work.request_id:
        return await work.program.actions.adopt(job.id, number, work.request_id.strip())
    if work.send_again:
        return await send_again(work, job.id, number)
    return await work.program.actions.dismiss(job.id, number)


def _in_doubt(job: Job) -> int:
    numbers = [batch.number for batch in job.batches if batch.state is BatchState.OUTCOME_UNKNOWN]
    if len(numbers) == 1:
        return numbers[0]
    if not numbers:
        raise usage_error("no_batch_job_id_unknown_outcome", id=job.id)
    raise usage_error("say_batch_numbers_unknown_outcome", numbers=", ".join(map(str, numbers)))
