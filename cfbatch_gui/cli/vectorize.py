"""`cfbatch vectorize`: a job's vectors in an index of Cloudflare Vectorize."""

import asyncio
import dataclasses
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from functools import partial

import msgspec

from cfbatch_gui.cli.console import Call, Console, ExitStatus, elided, labelled, listed
from cfbatch_gui.cli.parser import Parser
from cfbatch_gui.cli.progress import Progress
from cfbatch_gui.cli.working import Work, opened, usable_connection
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.vectorize import push_values
from cfbatch_gui.core.vectorize.client import IndexMissing, Metric, VectorizeIndex
from cfbatch_gui.core.vectorize.push_values import IdSource, MetadataColumn, PushCheck, PushOptions, PushStage
from cfbatch_gui.words.figures import moment, number, plural, score_text, usage_error, worded
from cfbatch_gui.words.indexes import push_facts
from cfbatch_gui.words.languages import said, tr

_LABEL = 14  # columns


def add_arguments(parser: Parser) -> None:
    command = parser.add_action
    pushing = command("push", tr("put a job's vectors into an index; again: only what changed"), _push)
    pushing.add_options("""
        job JOB  a job's id, the beginning of it, or its name
        --index NAME!  the index
    """)
    _add_push_options(pushing)
    listing = command("list", tr("list the indexes of the account"), _list)
    about = command("info", tr("what an index holds"), _info)
    about.add_options("index NAME  the index")
    searching = command("search", tr("search an index for a sentence, beside an exact search in the job"), _search)
    searching.add_options("""
        job JOB  a job's id, the beginning of it, or its name
        sentence SENTENCE  sent once, as one request that is paid for
        --index NAME!  the index
    """)
    for each in (pushing, listing, about, searching):
        each.add_options("""
            --connection NAME  the connection to the account (default: the job's, or the usual)
            --json  print one JSON object
        """)


def _add_push_options(parser: Parser) -> None:
    parser.add_options("""
        --create  create the index if there is none of this name
        --metric cosine|euclidean|dot-product  how a new index compares vectors (default: as the model's are compared)
        --namespace COLUMN  the column with the namespaces
        --metadata COLUMNS  columns to send as metadata, with commas between them; COLUMN=NAME sends one under another
            name
        --numbers-as-text  send columns of plain numbers as texts all the same
        --delete-removed  delete what earlier pushes have put into the index and this job does not hold
        --everything  send also what the index has already
    """)
    parser.one_of("""
        --ids COLUMN  the column with the ids (default: the job's)
        --row-ids  take row numbers for ids
    """)


async def run(call: Call) -> int | None:
    async with opened(call) as work:
        job = work.program.ledger.find(call.job) if "job" in call else None
        work.connection = await usable_connection(work, call.connection or (job.connection if job else None))
        return await call.act(work, job)


async def _push(work: Work, job: Job) -> ExitStatus:
    console, vectorize = work.console, work.program.vectorize
    options = _options(work, await asyncio.to_thread(vectorize.columns, job.id))
    show = partial(_show, work.progress)
    try:
        check = await vectorize.check(job.id, work.connection, work.index, options, show=show)
        work.progress.end()
        if check.problems:
            return _refused(work, check)
        _say_check(check, options, console)
        await _ready_index(work, job)
        push = await vectorize.push(job.id, work.connection, work.index, options, show=show)
    except asyncio.CancelledError:
        work.progress.end()
        console.say("\n" + tr("Stopped. What was accepted is written down; the same command goes on with the rest."))
        raise
    finally:
        work.progress.end()
    console.say(*(note for note in push.notes if note not in check.notes))
    sentence = f"{push.sentence} {push.finding}"
    work.answer(
        {**msgspec.structs.asdict(push), "sentence": sentence, "check": check},
        [said(push.sentence), said(push.finding), *labelled(push_facts(push), _LABEL)],
    )
    return ExitStatus.DONE if push.outcome is push_values.PushOutcome.VERIFIED else ExitStatus.FAILED


def _show(progress: Progress, push: push_values.PushProgress) -> None:
    """Where there is no terminal only each part that is sent, and each wait."""
    text = said(push.sentence)
    if push.waiting:
        seconds = plural(round(push.waiting_seconds), "again in {n} second", "again in {n} seconds")
        text = f"{text} · {said(push.waiting)} · {seconds}"
    is_step = bool(push.waiting) or push.stage not in (PushStage.READING, PushStage.COMPARING)
    progress.show(text, push.done / push.total if push.total else None, also_elsewhere=is_step)


def _options(work: Work, columns: Sequence[str]) -> PushOptions:
    metadata: list[MetadataColumn] = []
    for given in work.metadata or ():
        column, sign, key = given.rpartition("=")
        is_renamed = bool(sign) and given not in columns and column in columns
        metadata.append(MetadataColumn(column, key) if is_renamed else MetadataColumn(given, given))
    source = IdSource.ROWS if work.row_ids else IdSource.COLUMN if work.ids else IdSource.OWN
    flags = {name: getattr(work, name) for name in ("numbers_as_text", "delete_removed", "everything")}
    return PushOptions(source, work.ids or "", work.namespace or "", tuple(metadata), **flags)


def _refused(work: Work, check: PushCheck) -> ExitStatus:
    for problem in check.problems:
        work.console.say(f"cfbatch: {_problem_words(problem)}")
    work.console.tell("nothing_was_sent")
    if work.json:
        work.console.print_json({"check": check})
    return ExitStatus.BAD_INPUT


def _problem_words(problem: push_values.PushProblem) -> str:
    if not problem.rows:
        return said(problem.sentence)
    rows = ", ".join(map(number, problem.rows)) + (", …" if problem.count > len(problem.rows) else "")
    return worded("{sentence} Rows: {rows}", sentence=said(problem.sentence), rows=rows)


def _say_check(check: PushCheck, options: PushOptions, console: Console) -> None:
    console.say(*check.notes, *check.sentences())
    if check.gone and not options.delete_removed:
        console.tell("n_vectors_earlier_pushes_are_index", n=check.gone)
    for name, count in check.gone_by_job if options.delete_removed else ():
        console.tell("n_vectors_job_are_deleted", n=count, job=name)


async def _ready_index(work: Work, job: Job) -> None:
    """Raises IndexMissing where it is not to be created."""
    calls = work.program.vectorize.calls(work.connection)
    try:
        index = await calls.get(work.index)
    except IndexMissing:
        if not work.create:
            raise
        metric = Metric(work.metric or Metric.COSINE)  # of all models of the service, the right one
        dimension = await asyncio.to_thread(work.program.vectorize.dimension_of, job.id)
        await calls.create(work.index, dimension, metric)
        work.console.tell(
            "created_index_index_dimension_numbers_vector", index=work.index, dimension=dimension, metric=metric
        )
        return
    if work.metric and index.config.metric != work.metric:
        raise usage_error("index_index_is_there_already_compares", index=index.name, metric=index.config.metric)


async def _list(work: Work, _: None) -> None:
    indexes = await work.program.vectorize.calls(work.connection).list_indexes()
    rows = [(*_facts(each), (tr("description"), each.description or "")) for each in indexes]
    work.answer(
        {"indexes": [msgspec.to_builtins(each) for each in indexes]},
        listed(rows, work.console.width),
        tr("There is no index in this account yet. “cfbatch vectorize push … --create” makes one."),
    )


async def _info(work: Work, _: None) -> None:
    calls = work.program.vectorize.calls(work.connection)
    index, info = await calls.get(work.index), await calls.info(work.index)
    until = _moment(str(info.processed_up_to_datetime or ""))
    rows = (*_facts(index), (tr("vectors"), number(info.vector_count)), (tr("taken in until"), until))
    work.answer(msgspec.to_builtins(index) | msgspec.to_builtins(info), labelled(rows, _LABEL))


def _facts(index: VectorizeIndex) -> tuple[tuple[str, str], ...]:
    return (
        (tr("Name"), index.name),
        (tr("numbers"), number(index.config.dimensions)),
        (tr("metric"), index.config.metric),
        (tr("created"), _moment(index.created_on)),
    )


async def _search(work: Work, job: Job) -> None:
    vectorize = work.program.vectorize
    price = vectorize.search_price(job.id, work.sentence)
    if price.neurons:
        work.console.tell("sentence_is_one_request_model_most", model=job.model, neurons=number(price.neurons, ".2g"))
    found = await vectorize.search(job.id, work.connection, work.index, work.sentence)
    facts = {**dataclasses.asdict(found), "shared": found.shared, "sentence": found.sentence}
    work.answer(facts, _lines_of_search(found, work.index, work.console.width))


def _lines_of_search(found: push_values.SearchResult, index: str, width: int) -> Iterator[str]:
    yield worded("found by {index}", index=index)
    yield from _lines_of_hits(found.hits, width)
    yield tr("nearest by exact comparison")
    yield from _lines_of_hits(found.exact, width)
    yield said(found.sentence)


def _lines_of_hits(hits: Sequence[push_values.Hit], width: int) -> Iterator[str]:
    for hit in hits:
        text = hit.text if hit.text is not None else tr("not of this job")
        yield elided(f"{score_text(hit.score)}  {hit.id}  {text}", width)


def _moment(text: str | None) -> str:
    """In local time, to the minute; "" for what is not ISO 8601."""
    with suppress(ValueError):
        return moment(datetime.fromisoformat(text or "").timestamp())
    return ""
