"""`cfbatch jobs`: list all jobs. Imports little, as many scripts begin by it."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import asdict
from functools import partial

from cfbatch_gui.cli.console import Call, fields_of, listed
from cfbatch_gui.cli.parser import Parser
from cfbatch_gui.core.errors import LedgerDamaged
from cfbatch_gui.core.jobs.states import Job, account_progress, has_copies
from cfbatch_gui.core.jobs.store.ledger import Ledger
from cfbatch_gui.core.workers_ai.connection_kinds import title_of
from cfbatch_gui.words.jobs import list_row
from cfbatch_gui.words.languages import tr
from cfbatch_gui.words.states import is_collected, place_of


def add_arguments(parser: Parser) -> None:
    parser.add_options("--json  print one JSON object")


def run(call: Call) -> None:
    with closing(read_ledger(call)) as ledger:
        jobs = ledger.jobs()
    title = partial(title_of, call.settings.connections)
    call.answer(
        {"jobs": list(map(summary_of, jobs))} if call.json else None,
        lines_of_jobs(jobs, call.console.width, title),
        tr("There are no jobs yet. “cfbatch run FILE --rank” makes one."),
    )


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
        call.console.say(*opened.damage)
        return Ledger.open_read_only(call.paths)


def lines_of_jobs(jobs: Sequence[Job], width: int, title: Callable[[str], str]) -> Iterator[str]:
    """A table, the newest first; `title` returns the title of a connection by its id."""
    return listed([list_row(job, title(job.connection)) for job in jobs], width)


def summary_of(job: Job) -> dict[str, object]:
    """Of a job that the account has something to do with, also where its answers are, in numbers of batches."""
    names, found = ("number", "state", "request_id", "requests", "bytes"), account_progress(job)
    account = {
        **asdict(found),
        "lid_may_close": found.lid_may_close,
        "problem": str(job.account_problem) or None,
        "has_copies": has_copies(job),
    }
    return {
        "job": job.id,
        **fields_of(job, "name", "kind", "model", "connection", "state"),
        "account": account if job.account_problem or is_collected(job) else None,
        "batches": [fields_of(batch, *names) | {"account": place_of(batch)} for batch in job.batches],
    }
