"""`cfbatch vectorize`: a job's vectors in an index of Cloudflare Vectorize."""

import argparse
import asyncio
import dataclasses
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from functools import partial

import msgspec

from cfbatch_gui.cli.console import Console, elided, labelled
from cfbatch_gui.cli.exit_status import ExitStatus
from cfbatch_gui.cli.jobs import time_words
from cfbatch_gui.cli.language import number, plural, tr
from cfbatch_gui.cli.parser import Actions, Parser, names_in_line
from cfbatch_gui.cli.progress import Progress
from cfbatch_gui.cli.working import opened, usable_connection
from cfbatch_gui.core.errors import UsageError
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.system.languages import said
from cfbatch_gui.core.system.paths import Paths
from cfbatch_gui.core.vectorize.client import IndexMissing, Metric
from cfbatch_gui.core.vectorize.push_values import (
    Hit,
    IdSource,
    MetadataColumn,
    Push,
    PushCheck,
    PushOptions,
    PushOutcome,
    PushProblem,
    PushProgress,
    PushStage,
    SearchResult,
)

_LABEL = 14  # columns


def add_arguments(parser: Parser, *, parents: Sequence[Parser]) -> None:
    command = Actions(parser, parents).add
    pushing = command("push", tr("put a job's vectors into an index; again: only what changed"), _push)
    pushing.add_options(
        """
        job JOB  a job's id, the beginning of it, or its name
        --index NAME  the index
        """,
        {"--index": {"required": True}},
    )
    _add_push_options(pushing)
    listing = command("list", tr("list the indexes of the account"), _list)
    about = command("info", tr("what an index holds"), _info)
    about.add_options("index NAME  the index")
    searching = command("search", tr("search an index for a sentence, beside an exact search in the job"), _search)
    searching.add_options(
        """
        job JOB  a job's id, the beginning of it, or its name
        sentence SENTENCE  sent once, as one request that is paid for
        --index NAME  the index
        """,
        {"--index": {"required": True}},
    )
    for each in (pushing, listing, about, searching):
        each.add_options(
            """
            --connection NAME  the connection to the account (default: the job's, or the usual)
            --json  print one JSON object
            """
        )


def _add_push_options(parser: Parser) -> None:
    parser.add_options(
        """
        --create  create the index if there is none of this name
        --metric cosine|euclidean|dot-product  how a new index compares vectors (default: as the model's are compared)
        --namespace COLUMN  the column with the namespaces
        --metadata COLUMNS  columns to send as metadata, with commas between them; COLUMN=NAME sends one under another
            name
        --numbers-as-text  send columns of plain numbers as texts all the same
        --delete-removed  delete what earlier pushes have put into the index and this job does not hold
        --everything  send also what the index has already
        """,
        {"--metadata": {"type": names_in_line, "default": ()}},
    )
    parser.one_of(
        """
        --ids COLUMN  the column with the ids (default: the job's)
        --row-ids  take row numbers for ids
        """
    )


async def run(arguments: argparse.Namespace, paths: Paths, console: Console) -> int:
    async with opened(paths, console) as (program, progress):
        await program.prepare("vectorize")
        job = program.ledger.find(arguments.job) if "job" in arguments else None
        wanted = arguments.connection or (job.connection if job else None)
        arguments.connection = await usable_connection(program, wanted, console)
        return int(await arguments.act(program, arguments, progress, job))


async def _push(program: Program, arguments: argparse.Namespace, progress: Progress, job: Job) -> ExitStatus:
    console, connection = progress.console, arguments.connection
    options = _options(arguments, await asyncio.to_thread(program.vectorize.columns, job.id))
    show = partial(_show, progress)
    try:
        check = await program.vectorize.check(job.id, connection, arguments.index, options, show=show)
        progress.end()
        if check.problems:
            return _refused(check, arguments, console)
        _say_check(check, options, console)
        await _ready_index(program, job, arguments, console)
        push = await program.vectorize.push(job.id, connection, arguments.index, options, show=show)
    except asyncio.CancelledError:
        progress.end()
        console.say("\n" + tr("Stopped. What was accepted is written down; the same command goes on with the rest."))
        raise
    finally:
        progress.end()
    for note in push.notes:
        if note not in check.notes:
            console.say(said(note))
    if arguments.json:
        sentence = f"{push.sentence} {push.finding}"
        console.print_json({**msgspec.structs.asdict(push), "sentence": sentence, "check": check})
    else:
        console.print_result([said(push.sentence), said(push.finding), *_lines_of_push(push)])
    return ExitStatus.DONE if push.outcome is PushOutcome.VERIFIED else ExitStatus.FAILED


def _show(progress: Progress, push: PushProgress) -> None:
    """Where there is no terminal only each part that is sent, and each wait."""
    text = said(push.sentence)
    if push.waiting:
        seconds = plural(round(push.waiting_seconds), "again in {n} second", "again in {n} seconds")
        text = f"{text} · {said(push.waiting)} · {seconds}"
    is_step = bool(push.waiting) or push.stage not in (PushStage.READING, PushStage.COMPARING)
    progress.show(text, push.done / push.total if push.total else None, also_elsewhere=is_step)


def _options(arguments: argparse.Namespace, columns: Sequence[str]) -> PushOptions:
    metadata: list[MetadataColumn] = []
    for given in arguments.metadata:
        column, sign, key = given.rpartition("=")
        is_renamed = bool(sign) and given not in columns and column in columns
        metadata.append(MetadataColumn(column, key) if is_renamed else MetadataColumn(given, given))
    source = IdSource.ROWS if arguments.row_ids else IdSource.COLUMN if arguments.ids else IdSource.OWN
    return PushOptions(
        source,
        arguments.ids or "",
        arguments.namespace or "",
        tuple(metadata),
        numbers_as_text=arguments.numbers_as_text,
        delete_removed=arguments.delete_removed,
        everything=arguments.everything,
    )


def _refused(check: PushCheck, arguments: argparse.Namespace, console: Console) -> ExitStatus:
    for problem in check.problems:
        console.say(f"cfbatch: {_problem_words(problem)}")
    console.say(tr("Nothing was sent."))
    if arguments.json:
        console.print_json({"check": check})
    return ExitStatus.BAD_INPUT


def _problem_words(problem: PushProblem) -> str:
    if not problem.rows:
        return said(problem.sentence)
    rows = ", ".join(map(number, problem.rows)) + (", …" if problem.count > len(problem.rows) else "")
    return tr("{sentence} Rows: {rows}").format(sentence=said(problem.sentence), rows=rows)


def _say_check(check: PushCheck, options: PushOptions, console: Console) -> None:
    for note in check.notes:
        console.say(said(note))
    words = tr("To send: {new} new and {changed} changed; {unchanged} are in the index as they are.")
    console.say(words, new=number(check.new), changed=number(check.changed), unchanged=number(check.unchanged))
    if check.without_vector:
        console.say(plural(check.without_vector, "{n} text has no vector yet.", "{n} texts have no vector yet."))
    if check.gone and not options.delete_removed:
        console.say(
            plural(
                check.gone,
                "{n} vector of an earlier push is in the index and not in this job; --delete-removed deletes it.",
                "{n} vectors of earlier pushes are in the index and not in this job; --delete-removed deletes them.",
            )
        )
    for name, count in check.gone_by_job if options.delete_removed else ():
        console.say(plural(count, "{n} vector of “{job}” is deleted.", "{n} vectors of “{job}” are deleted.", job=name))


async def _ready_index(program: Program, job: Job, arguments: argparse.Namespace, console: Console) -> None:
    """Raises IndexMissing where it is not to be created."""
    calls = program.vectorize.calls(arguments.connection)
    try:
        index = await calls.get(arguments.index)
    except IndexMissing:
        if not arguments.create:
            raise
        metric = Metric(arguments.metric or Metric.COSINE)  # of all models of the service, the right one
        dimension = await asyncio.to_thread(program.vectorize.dimension_of, job.id)
        await calls.create(arguments.index, dimension, metric)
        words = tr("Created the index {index}: {dimension} numbers a vector, {metric}.")
        console.say(words, index=arguments.index, dimension=number(dimension), metric=metric)
        return
    if arguments.metric and index.metric != arguments.metric:
        raise UsageError(
            message(
                "The index {index} is there already and compares by {metric}. Leave --metric out, or choose another "
                "name.",
                index=index.name,
                metric=index.metric,
            )
        )


def _lines_of_push(push: Push) -> Iterator[str]:
    rows = [
        (tr("sent"), number(push.sent)),
        (tr("as they were"), number(push.vectors - push.sent)),
        (tr("deleted"), number(push.deleted)),
        (tr("in the index"), number(push.in_index)),
        (tr("read back"), number(push.compared)),
    ]
    return labelled(rows, _LABEL)


async def _list(program: Program, arguments: argparse.Namespace, progress: Progress, _: None) -> ExitStatus:
    console = progress.console
    indexes = await program.vectorize.calls(arguments.connection).list_indexes()
    if arguments.json:
        console.print_json({"indexes": [msgspec.to_builtins(each) for each in indexes]})
        return ExitStatus.DONE
    console.print_list(
        [
            (each.name, number(each.dimensions), each.metric, _moment(each.created_on), each.description or "")
            for each in indexes
        ],
        (tr("NAME"), tr("numbers"), tr("metric"), tr("created"), tr("description")),
        tr("There is no index in this account yet. “cfbatch vectorize push … --create” makes one."),
    )
    return ExitStatus.DONE


async def _info(program: Program, arguments: argparse.Namespace, progress: Progress, _: None) -> ExitStatus:
    console = progress.console
    calls = program.vectorize.calls(arguments.connection)
    index, info = await calls.get(arguments.index), await calls.info(arguments.index)
    if arguments.json:
        console.print_json(msgspec.to_builtins(index) | msgspec.to_builtins(info))
        return ExitStatus.DONE
    rows = [
        (tr("index"), index.name),
        (tr("vectors"), number(info.vector_count)),
        (tr("numbers"), number(index.dimensions)),
        (tr("metric"), index.metric),
        (tr("created"), _moment(index.created_on)),
        (tr("taken in until"), _moment(str(info.processed_up_to_datetime or ""))),
    ]
    console.print_result(labelled(rows, _LABEL))
    return ExitStatus.DONE


async def _search(program: Program, arguments: argparse.Namespace, progress: Progress, job: Job) -> ExitStatus:
    console = progress.console
    price = program.vectorize.search_price(job.id, arguments.sentence)
    if price.neurons:
        words = tr("The sentence is one request to {model}: at most {neurons} neurons.")
        console.say(words, model=job.model, neurons=number(price.neurons, ".2g"))
    found = await program.vectorize.search(job.id, arguments.connection, arguments.index, arguments.sentence)
    if arguments.json:
        console.print_json({**dataclasses.asdict(found), "sentence": found.sentence})
    else:
        console.print_result(_lines_of_search(found, arguments.index, console.width))
    return ExitStatus.DONE


def _lines_of_search(found: SearchResult, index: str, width: int) -> Iterator[str]:
    yield tr("found by {index}").format(index=index)
    yield from _lines_of_hits(found.hits, width)
    yield tr("nearest by exact comparison")
    yield from _lines_of_hits(found.exact, width)
    yield said(found.sentence)


def _lines_of_hits(hits: Sequence[Hit], width: int) -> Iterator[str]:
    for hit in hits:
        text = hit.text if hit.text is not None else tr("not of this job")
        yield elided(f"{number(hit.score, '.4f')}  {hit.id}  {text}", width)


def _moment(text: str | None) -> str:
    """In local time, to the minute; "" for what is not ISO 8601."""
    with suppress(ValueError):
        return time_words(datetime.fromisoformat(text or "").timestamp())
    return ""
