"""`cfbatch run`: make a job of a file, run it, and print or write its results."""

import argparse
import asyncio
from dataclasses import replace
from functools import partial

from cfbatch_gui.cli import pricing, reading, working
from cfbatch_gui.cli.console import Console
from cfbatch_gui.cli.language import plural, tr
from cfbatch_gui.cli.parser import Parser
from cfbatch_gui.cli.progress import Progress
from cfbatch_gui.core.errors import EncodingUnknown, InputError
from cfbatch_gui.core.inputs.layouts import describe
from cfbatch_gui.core.inputs.readers.formats import is_read_by_bytes
from cfbatch_gui.core.jobs.plan.preflight import Preflight
from cfbatch_gui.core.jobs.plan.spending import read_planned
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.system.languages import said
from cfbatch_gui.core.system.paths import Paths
from cfbatch_gui.core.system.threads import in_thread
from cfbatch_gui.core.workers_ai.connection_kinds import PRACTICE

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
    parser.add_options(
        """
        --connection C  where to send it: practice, cloudflare, or the name of another one (default: as set in the
            window)
        --model M  the model's name, for example @cf/baai/bge-m3
        --at-once  without the queue, request by request: an answer in seconds for few texts
        """
    )
    working.add_collecting_arguments(parser)
    pricing.add_reuse_arguments(parser)
    pricing.add_budget_argument(parser)
    parser.add_options("--name NAME  what to call the job (default: the file's name)")
    working.add_output_arguments(parser)


async def run(arguments: argparse.Namespace, paths: Paths, console: Console) -> int:
    reading.settle_kind(arguments, paths)
    async with reading.standard_input_as_file(arguments.file) as arguments.file:
        return await _run(arguments, paths, console)


async def _run(arguments: argparse.Namespace, paths: Paths, console: Console) -> int:
    files = [path for path in (arguments.file, arguments.second) if path]
    arguments.out = working.check_outputs(arguments.out, arguments.kind, files)
    async with working.opened(paths, console) as (program, progress):
        job: Job | None = None
        try:
            connection = await working.usable_connection(program, arguments.connection, console)
            working.check_may_collect(program, connection, arguments)
            inputs = await asyncio.to_thread(reading.open_inputs, arguments, arguments.file, arguments.second)
            job = _draft(program, arguments, connection)
            job = await _send(program, job, inputs, arguments, progress)
            may_leave = working.leaving_status if arguments.leave else None
            (job,) = await working.wait_for(program, [job], progress, may_leave=may_leave)
        except asyncio.CancelledError:
            console.say(working.stopped_sentence(job and program.ledger.job(job.id)))
            raise
        status = working.present(program, job, console, leaves=arguments.leave, as_json=arguments.json)
        left_out = (await asyncio.to_thread(read_planned, program.folder(job.id))).doubtful
        return reading.status_with_doubtful(status, left_out, arguments.doubtful, console)


def _draft(program: Program, arguments: argparse.Namespace, connection: str) -> Job:
    name = (arguments.name or "").strip() or arguments.file.stem
    job = program.drafts.create(arguments.kind, name, arguments.model or program.settings.model, connection)
    options = replace(
        job.options, at_once=arguments.at_once, reuse=arguments.reuse is not False, collect_in_account=arguments.collect
    )
    return program.drafts.change(job.id, options=options)


async def _send(
    program: Program, job: Job, inputs: reading.Inputs, arguments: argparse.Namespace, progress: Progress
) -> Job:
    """A draft that cannot be sent is deleted."""
    console, folder = progress.console, program.folder(job.id)
    try:
        try:
            job = await _load(program, job, inputs, progress)
        except EncodingUnknown as error:
            inputs = inputs.as_guessed(error)
            job = await _load(program, job, inputs, progress)
        for sentence in inputs.guesses():
            console.say(sentence)
        await asyncio.to_thread(_refuse_doubts, program, job)
        preflight = await in_thread(program.examine, job.id)
        for notice in (*(each for source in inputs.sources for each in source.notices), *preflight.notices):
            console.say(said(notice))
        for problem in preflight.problems:
            for line in reading.lines_of_problem(folder, problem, arguments.doubtful, console.width):
                console.say(line)
        _say_plan(inputs, job, preflight, console)
        working.say_limit(program, job, len(preflight.batches), console)
        if job.connection != PRACTICE.id:
            spent = await asyncio.to_thread(program.spent_today)
            pricing.check_budget(preflight, arguments.budget, program.settings.budget, spent)
        working.remember(folder, arguments.out)
        return await program.actions.send(job.id)
    except BaseException:
        if not program.ledger.job(job.id).is_sent:
            program.drafts.delete(job.id)
        raise


def _refuse_doubts(program: Program, job: Job) -> None:
    for doubt in program.drafts.encoding_doubts(job.id):
        raise doubt.error()


async def _load(program: Program, job: Job, inputs: reading.Inputs, progress: Progress) -> Job:
    source = inputs.source
    whole = source.size if is_read_by_bytes(source) else 0

    def show(read: int) -> None:
        progress.show_read(source.path.name, read, whole)

    try:
        given = job.id, source, inputs.mapping, inputs.second
        counts = partial(reading.say_counts, progress.console)
        return await in_thread(program.drafts.load, *given, progress=show, on_counts=counts)
    finally:
        progress.end()


def _say_plan(inputs: reading.Inputs, job: Job, preflight: Preflight, console: Console) -> None:
    """Raises InputError when nothing can be sent."""
    if preflight.blocker:
        raise InputError(preflight.blocker)
    console.say(said(describe(inputs.mapping, preflight.queries, preflight.texts)))
    for line in pricing.lines_of_reuse(preflight, job.kind, job.connection):
        console.say(line)
    if not preflight.batches:
        return
    if job.options.at_once:
        sends = plural(preflight.requests, "{n} request at once", "{n} requests at once")
    else:
        sends = plural(len(preflight.batches), "{n} batch", "{n} batches")
        if preflight.synchronous_sentence and console.is_interactive:
            console.say(tr("{sentence} Use --at-once."), sentence=said(preflight.synchronous_sentence))
    words = tr("Job {id}: {sends}, {tokens} tokens, {price}.")
    if job.connection == PRACTICE.id:
        words = tr("Job {id}: {sends}, {tokens} tokens.")
    tokens, price = pricing.tokens_words(preflight), pricing.price_words(preflight)
    console.say(words, id=job.id, sends=sends, tokens=tokens, price=price)
