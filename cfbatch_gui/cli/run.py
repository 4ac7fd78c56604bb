"""`cfbatch run`: make a job of a file, run it, and print or write its results."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from cfbatch_gui.cli import reading, working
from cfbatch_gui.cli.console import Call
from cfbatch_gui.cli.parser import Parser
from cfbatch_gui.cli.working import Work
from cfbatch_gui.core.errors import InputError
from cfbatch_gui.core.inputs.input_values import Layout
from cfbatch_gui.core.inputs.layouts import describe
from cfbatch_gui.core.inputs.readers.formats import is_read_by_bytes
from cfbatch_gui.core.jobs.plan.packing import Plan
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.system.threads import in_thread
from cfbatch_gui.core.workers_ai.connection_kinds import PRACTICE
from cfbatch_gui.words import plans
from cfbatch_gui.words.figures import plural
from cfbatch_gui.words.languages import said, tr

OpenInputs = Callable[[Call, Path, Path | None], reading.Inputs]
EXAMPLES = """
  cfbatch run faq.csv --rank --out ranked.csv
  cfbatch run questions.csv answers.txt --rank --role question=query
  cfbatch run texts.jsonl --embed --role body=text --out vectors.npy --connection cloudflare
  cfbatch run may.csv --recipe "Product texts" --budget 0.50 --out vectors.parquet
  cfbatch run texts.csv --embed --connection "My Worker" --collect-in-account --leave
"""


def add_arguments(parser: Parser) -> None:
    parser.epilog = tr("examples:") + EXAMPLES
    reading.add_input_arguments(parser)
    add_sending_arguments(parser)


def add_sending_arguments(parser: Parser) -> None:
    parser.add_options("""
        --connection C  where to send it: practice, cloudflare, or the name of another one (default: as set in the
            window)
        --model M  the model's name, for example @cf/baai/bge-m3
        --at-once  without the queue, request by request: an answer in seconds for few texts
    """)
    working.add_collecting_arguments(parser)
    working.add_reuse_arguments(parser)
    working.add_budget_argument(parser)
    parser.add_options("--name NAME  what to call the job (default: the file's name)")
    working.add_output_arguments(parser)


async def run(call: Call) -> int:
    return await run_job(call)


async def run_job(call: Call, open_inputs: OpenInputs = reading.open_inputs, **options: Any) -> int:
    """`options` are more options of the job."""
    reading.settle_kind(call)
    async with reading.standard_input_as_file(call.file) as call.file:
        inputs = [path for path in (call.file, call.second) if path]
        call.out = working.asked_outputs(call, call.kind, inputs, options.get("purpose"))
        async with working.opened(call) as work:
            status = await working.see_through(work, _sent(work, open_inputs, options))
            return reading.status_with_doubtful(work, status, work.problems)


async def _sent(work: Work, open_inputs: OpenInputs, options: Mapping[str, Any]) -> Job:
    """A draft that cannot be sent is deleted."""
    program = work.program
    connection = await working.usable_connection(work, work.connection)
    inputs = await asyncio.to_thread(open_inputs, work, work.file, work.second)
    name = (work.name or "").strip() or work.file.stem
    job = program.drafts.create(work.kind, name, work.model or program.settings.model, connection)
    chosen = {"at_once": work.at_once, "reuse": work.reuse is not False, "collect_in_account": work.collect_in_account}
    job = work.made = program.drafts.change(job.id, options=replace(job.options, **chosen, **options))
    try:
        working.check_may_leave(work, job)
        return await _send(work, job, inputs)
    except BaseException:
        if not program.ledger.job(job.id).is_sent:
            program.drafts.delete(job.id)
        raise


async def _send(work: Work, job: Job, inputs: reading.Inputs) -> Job:
    program, console, folder = work.program, work.console, work.program.folder(job.id)
    job = await _load(work, job, inputs)
    if inputs.mapping.layout is Layout.SHARED:  # each query has all contexts
        console.say(*filter(None, [plans.match_instead_words(job.queries, job.texts // max(1, job.queries))]))
    console.say(*inputs.guesses())
    await asyncio.to_thread(program.drafts.check_encodings, job.id)
    preflight = await in_thread(program.examine, job.id)
    work.problems = preflight.problems
    console.say(*(each for source in inputs.sources for each in source.notices), *preflight.notices)
    for problem in preflight.problems:
        console.say(*reading.lines_of_problem(work, folder, problem))
    _say_plan(work, inputs, job, preflight)
    if job.connection != PRACTICE.id:
        spent = await asyncio.to_thread(program.spent_today)
        working.check_price(preflight.price_high, work.budget, program.settings.budget, spent)
    working.remember(folder, work.out)
    return await program.actions.send(job.id)


async def _load(work: Work, job: Job, inputs: reading.Inputs) -> Job:
    source = inputs.source
    whole = source.size if is_read_by_bytes(source) else 0

    def show(read: int) -> None:
        work.progress.show_read(source.path.name, read, whole)

    try:
        given = job.id, source, inputs.mapping, inputs.second
        are_pairs = inputs.mapping.layout is Layout.SHARED
        say_count = partial(reading.say_count, work.console, are_pairs=are_pairs)
        return await in_thread(work.program.drafts.load, *given, progress=show, on_count=say_count)
    finally:
        work.progress.end()


def _say_plan(work: Work, inputs: reading.Inputs, job: Job, preflight: Plan) -> None:
    """Raises InputError when nothing can be sent."""
    console = work.console
    if preflight.blocker:
        raise InputError(preflight.blocker)
    console.say(describe(inputs.mapping, preflight.queries, preflight.texts))
    console.say(*working.lines_of_reuse(preflight, job.kind, job.connection))
    if not preflight.batches:
        return
    if job.options.at_once:
        sends = plural(preflight.requests, "{n} request at once", "{n} requests at once")
    else:
        sends = plural(len(preflight.batches), "{n} batch", "{n} batches")
        if preflight.synchronous_sentence and console.is_interactive:
            console.tell("sentence_use_once", sentence=said(preflight.synchronous_sentence))
    tokens = plans.tokens_words(preflight)
    if job.connection == PRACTICE.id:
        console.tell("job_id_sends_tokens", id=job.id, sends=sends, tokens=tokens)
    else:
        price = working.price_words(preflight)
        console.tell("job_id_sends_tokens_price", id=job.id, sends=sends, tokens=tokens, price=price)
