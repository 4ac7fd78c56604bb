"""`cfbatch jobs`: list all jobs. Imports little, as many scripts begin by it."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from functools import partial
from time import localtime
from typing import Final

from cfbatch_gui.cli.console import Call, fields_of, table
from cfbatch_gui.cli.parser import Parser
from cfbatch_gui.cli.progress import account_cell, json_of_account, place_of
from cfbatch_gui.core.errors import LedgerDamaged
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.states import Job, JobState
from cfbatch_gui.core.jobs.store.ledger import Ledger, without_collection
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.workers_ai.connection_kinds import title_of
from cfbatch_gui.words.languages import said, tr

JOB_STATES: Final = {
    JobState.DRAFT: message("draft"),
    JobState.WAITING: message("waiting"),
    JobState.WORKING: message("working"),
    JobState.PAUSED: message("paused"),
    JobState.OUTCOME_UNKNOWN: message("outcome_unknown"),
    JobState.DONE: message("done"),
    JobState.PARTLY_DONE: message("partly_done"),
    JobState.FAILED: message("failed"),
}


def add_arguments(parser: Parser) -> None:
    parser.add_options("--json  print one JSON object")


def run(call: Call) -> None:
    with closing(read_ledger(call)) as ledger:
        jobs = ledger.jobs()
    if call.json:
        call.console.print_json({"jobs": [summary_of(job) for job in jobs]})
    elif jobs:
        saved = call.settings.connections
        with without_collection():
            call.console.print_result(lines_of_jobs(jobs, call.console.width, partial(title_of, saved)))
    else:
        call.console.say(tr("There are no jobs yet. “cfbatch run FILE --rank” makes one."))


def found_jobs(call: Call, *names: str) -> list[Job]:
    """By id, the beginning of it, or name; another process may have the ledger open. Raises UsageError."""
    with closing(read_ledger(call)) as ledger:
        return [ledger.find(name) for name in names]


def read_ledger(call: Call) -> Ledger:
    """The ledger, to be closed. One that is gone, empty or damaged is put together first, which is said."""
    try:
        return Ledger.open_read_only(call.paths)
    except LedgerDamaged:
        from cfbatch_gui.core.jobs.store.data_folder import open_or_recover

        opened = open_or_recover(call.paths)
        opened.ledger.close()
        for sentence in opened.damage:
            call.console.say(said(sentence))
        return Ledger.open_read_only(call.paths)


def lines_of_jobs(jobs: Sequence[Job], width: int, title: Callable[[str], str]) -> Iterator[str]:
    """A table, the newest first; `title` returns the title of a connection by its id."""
    # Words are said once, and not once a job: a list may have a hundred thousand.
    titles = {connection: said(title(connection)) for connection in {job.connection for job in jobs}}
    states, kinds = {each: said(words) for each, words in JOB_STATES.items()}, {each: kind_words(each) for each in Kind}
    cells = [account_cell(job) for job in jobs]
    has_account = any(cells)
    rows = [
        (job.id, states[job.state], kinds[job.kind], f"{job.batches_done}/{len(job.batches)}",
         *((cell,) if has_account else ()), titles[job.connection], time_words(job.created_at), job.name)
        for job, cell in zip(jobs, cells, strict=True)
    ]  # fmt: skip
    account = (tr("YOUR ACCOUNT"),) if has_account else ()
    columns = (tr("JOB"), tr("STATE"), tr("KIND"), tr("DONE"), *account, tr("CONNECTION"), tr("MADE"), tr("NAME"))
    return table(columns, rows, width)


def summary_of(job: Job) -> dict[str, object]:
    names = ("number", "state", "request_id", "requests", "bytes")
    return {
        "job": job.id,
        **fields_of(job, "name", "kind", "model", "connection", "state"),
        "account": json_of_account(job),
        "batches": [fields_of(batch, *names) | {"account": place_of(batch)} for batch in job.batches],
    }


def kind_words(kind: Kind) -> str:
    return tr("rank", "kind of job") if kind is Kind.RANK else tr("embed", "kind of job")


def time_words(seconds: float) -> str:
    """Seconds since 1970, UTC, in local time to the minute; "" for 0.0, and for what no clock can show."""
    if not seconds:
        return ""
    try:
        at = localtime(seconds)  # formatting with strftime takes twice as long as all the rest of a line
    except (ValueError, OverflowError, OSError):
        return ""
    return f"{at.tm_year}-{at.tm_mon:02}-{at.tm_mday:02} {at.tm_hour:02}:{at.tm_min:02}"
