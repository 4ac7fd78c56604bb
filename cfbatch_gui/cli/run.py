"""`cfbatch run`: make a job of a file, run it, and print or write its results."""

import argparse
import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from cfbatch_gui.cli.console import Console
from cfbatch_gui.cli.language import plural, tr
from cfbatch_gui.cli.parser import Parser, RawHelpFormatter
from cfbatch_gui.cli.pricing import (
    add_budget_argument,
    add_reuse_arguments,
    check_budget,
    lines_of_reuse,
    price_words,
    tokens_words,
)
from cfbatch_gui.cli.progress import Progress
from cfbatch_gui.cli.reading import (
    Inputs,
    add_input_arguments,
    lines_of_doubtful,
    open_inputs,
    say_counts,
    settle_kind,
    standard_input_as_file,
    status_with_doubtful,
)
from cfbatch_gui.cli.working import (
    add_collect_arguments,
    add_leave_argument,
    add_output_arguments,
    check_may_collect,
    check_outputs,
    leave,
    leaving_status,
    opened,
    present,
    remember,
    say_limit,
    stopped_sentence,
    usable_connection,
    wait_for,
)
from cfbatch_gui.core.errors import EncodingUnknown, InputError
from cfbatch_gui.core.inputs.input_values import ProblemKind
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
    parser.formatter_class = RawHelpFormatter
    add_input_arguments(parser)
    parser.add_options(
        """
        --connection C  where to send it: practice, cloudflare, or the name of another one (default: as set in the
            window)
        --model M  the model's name, for example @cf/baai/bge-m3
        --at-once  without the queue, request by request: an answer in seconds for few texts
        """
    )
    add_collect_arguments(parser)
    add_leave_argument(parser)
    add_reuse_arguments(parser)
    add_budget_argument(parser)
    parser.add_options("--name NAME  what to call the job (default: the file's name)")
    add_output_arguments(parser)


async def run(arguments: argparse.Namespace, data_dir: Path, console: Console) -> int:
    settle_kind(arguments, Paths(data_dir))
    async with standard_input_as_file(arguments.file) as arguments.file:
        return await _run(arguments, data_dir, console)


async def _run(arguments: argparse.Namespace, data_dir: Path, console: Console) -> int:
    files = [path for path in (arguments.file, arguments.second) if path]
    outputs = check_outputs(arguments.out, arguments.kind, files)
    progress = Progress(console)
    async with opened(data_dir, progress) as program:
        job: Job | None = None
        try:
            connection = await usable_connection(program, arguments.connection, console)
            check_may_collect(program, connection, arguments)
            inputs = await asyncio.to_thread(open_inputs, arguments, arguments.file, arguments.second)
            job = _draft(program, arguments, connection)
            job = await _send(
                program, job, inputs, outputs, progress, budget=arguments.budget, doubtful=arguments.doubtful
            )
            may_leave = _may_be_left if arguments.leave else None
            (job,) = await wait_for(program, [job], progress, may_leave=may_leave)
        except asyncio.CancelledError:
            console.say(stopped_sentence(job and program.ledger.job(job.id)))
            raise
        if arguments.leave and (left := leaving_status(job)) is not None:
            return leave(program, job, left, console, as_json=arguments.json)
        status = present(program, job, console, as_json=arguments.json)
        left_out = (await asyncio.to_thread(read_planned, program.folder(job.id))).doubtful
        return status_with_doubtful(status, left_out, arguments.doubtful, console)


def _may_be_left(job: Job) -> bool:
    return leaving_status(job) is not None


def _draft(program: Program, arguments: argparse.Namespace, connection: str) -> Job:
    name = (arguments.name or "").strip() or arguments.file.stem
    job = program.drafts.create(arguments.kind, name, arguments.model or program.settings.model, connection)
    options = replace(
        job.options, at_once=arguments.at_once, reuse=arguments.reuse is not False, collect_in_account=arguments.collect
    )
    return program.drafts.change(job.id, options=options)


async def _send(
    program: Program,
    job: Job,
    inputs: Inputs,
    outputs: Sequence[Path],
    progress: Progress,
    *,
    budget: float | None,
    doubtful: str | None,
) -> Job:
    """A draft that cannot be sent is deleted."""
    try:
        try:
            job = await _load(program, job, inputs, progress)
        except EncodingUnknown as error:
            inputs = inputs.as_guessed(error)
            job = await _load(program, job, inputs, progress)
        for sentence in inputs.guesses():
            progress.console.say(sentence)
        await asyncio.to_thread(_refuse_doubts, program, job)
        preflight = await in_thread(program.examine, job.id)
        console = progress.console
        count = sum(each.count for each in preflight.problems if each.kind is ProblemKind.DOUBTFUL_ROW)
        rows = lines_of_doubtful(program.folder(job.id), count, doubtful, console.width) if count else ()
        _say_plan(inputs, job, preflight, console, doubtful=rows)
        say_limit(program, job, len(preflight.batches), console)
        if job.connection != PRACTICE.id:
            check_budget(preflight, budget, program.settings.budget, await asyncio.to_thread(program.spent_today))
        remember(program.folder(job.id), outputs)
        return await program.actions.send(job.id)
    except BaseException:
        if not program.ledger.job(job.id).is_sent:
            program.drafts.delete(job.id)
        raise


def _refuse_doubts(program: Program, job: Job) -> None:
    for doubt in program.drafts.encoding_doubts(job.id):
        raise doubt.error()


async def _load(program: Program, job: Job, inputs: Inputs, progress: Progress) -> Job:
    source = inputs.source
    whole = source.size if is_read_by_bytes(source) else 0

    def show(read: int) -> None:
        progress.show_read(source.path.name, read, whole)

    try:
        given = job.id, source, inputs.mapping, inputs.second
        counts = partial(say_counts, progress.console)
        return await in_thread(program.drafts.load, *given, progress=show, on_counts=counts)
    finally:
        progress.end()


def _say_plan(inputs: Inputs, job: Job, preflight: Preflight, console: Console, *, doubtful: Iterable[str]) -> None:
    """Raises InputError when nothing can be sent."""
    for source in inputs.sources:
        for notice in source.notices:
            console.say(said(notice))
    for notice in preflight.notices:
        console.say(said(notice))
    for problem in preflight.problems:
        console.say(said(problem.sentence))
        if problem.kind is ProblemKind.DOUBTFUL_ROW:
            for line in doubtful:
                console.say(line)
    if preflight.blocker:
        raise InputError(preflight.blocker)
    console.say(said(describe(inputs.mapping, preflight.queries, preflight.texts)))
    for line in lines_of_reuse(preflight, job.kind, job.connection):
        console.say(line)
    if not preflight.batches:
        return
    if job.options.at_once:
        sends = plural(preflight.requests, "{n} request at once", "{n} requests at once")
    else:
        sends = plural(len(preflight.batches), "{n} batch", "{n} batches")
        if preflight.fits_synchronous and console.is_interactive:
            console.say(tr("{sentence} Use --at-once.").format(sentence=said(preflight.synchronous_sentence)))
    if job.connection == PRACTICE.id:
        sentence = tr("Job {id}: {sends}, {tokens} tokens.")
    else:
        sentence = tr("Job {id}: {sends}, {tokens} tokens, {price}.")
    tokens, price = tokens_words(preflight), price_words(preflight)
    console.say(sentence.format(id=job.id, sends=sends, tokens=tokens, price=price))
