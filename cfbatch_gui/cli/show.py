"""`cfbatch show`: one job with its statistics."""

import asyncio
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress

from cfbatch_gui.cli.compare import add_judgements_argument, json_of_quality, lines_of_quality, read_judgements
from cfbatch_gui.cli.console import Call, labelled, listed, table
from cfbatch_gui.cli.group_lines import facts_of_groups, lines_of_job_groups
from cfbatch_gui.cli.jobs import found_jobs
from cfbatch_gui.cli.match_lines import facts_of_matches, lines_of_matches, opened_decisions
from cfbatch_gui.cli.parser import Parser
from cfbatch_gui.cli.reading import lines_of_rows
from cfbatch_gui.cli.working import facts_of_job, read_address_book
from cfbatch_gui.core.errors import UserError
from cfbatch_gui.core.evaluation.joining import Run, read_run
from cfbatch_gui.core.evaluation.judged import BookGrades, Evaluation, measure
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.job_folder.row_problems import row_problems
from cfbatch_gui.core.jobs.plan.spending import Planned, read_planned
from cfbatch_gui.core.jobs.states import Job, Purpose
from cfbatch_gui.core.messages import quoted
from cfbatch_gui.core.results.categories import read_by_purpose, summaries
from cfbatch_gui.core.results.embeddings import Embeddings
from cfbatch_gui.core.results.job_groups import read_groups
from cfbatch_gui.core.results.outcomes import origins
from cfbatch_gui.core.results.score_table import read_score_table, score_figures
from cfbatch_gui.words import results
from cfbatch_gui.words.figures import one_line, plural, worded
from cfbatch_gui.words.jobs import batch_row, can_clear_account, facts
from cfbatch_gui.words.languages import said, tr


def add_arguments(parser: Parser) -> None:
    parser.add_options(
        """
        job JOB  a job's id, the beginning of it, or its name
        --json  print one JSON object
        """
    )
    add_judgements_argument(parser)


async def run(call: Call) -> None:
    console = call.console
    (job,) = found_jobs(call, call.job)
    folder = JobFolder(call.paths.job(job.id))
    groups, lines_of_groups = await asyncio.to_thread(_groups, job, folder, call)
    if not call.json:  # first: judgements that are damaged keep nothing else from being shown
        console.print_result(_lines(job, folder, call))
    quality = await asyncio.to_thread(_quality, job, folder, call)
    if call.json:
        more = {"quality": json_of_quality(*quality) if quality else None}
        console.print_json(facts_of_job(job, folder, more={**more, **groups}))
        return
    if quality is not None and (lines := list(labelled(lines_of_quality(*quality), 11))):
        console.print_result(["", *lines])
    console.print_result(lines_of_groups)


def _lines(job: Job, folder: JobFolder, call: Call) -> Iterator[str]:
    """All of a job, with what its results amount to."""
    has_data, width, connection = folder.data.exists(), call.console.width, None
    with suppress(UserError):
        connection = read_address_book(call).connection(job.connection)
    planned, taken = (read_planned(folder), origins(folder)) if has_data else (Planned(), ())
    names = ", ".join(said(quoted(one_line(name))) for name in dict.fromkeys(each.job_name for each in taken))
    found = [*facts(job, planned, connection, folder, time.time(), taken_from=names)]
    if can_clear_account(job):
        found.append((tr("Copies"), worded("“cfbatch account clear {id}” deletes them", id=job.id)))
    yield from labelled(((name, one_line(words)) for name, words in found), 11)
    if job.has_results:
        yield ""
        yield from _amounts(job, folder, width)
    if job.batches:
        yield ""
        yield from listed([batch_row(batch, job) for batch in job.batches], width)
    if left_out := list(row_problems(folder)) if has_data else []:
        yield ""
        yield plural(len(left_out), "{n} problem:", "{n} problems:")
        yield from lines_of_rows(folder, left_out, width)


def _amounts(job: Job, folder: JobFolder, width: int) -> Iterator[str]:
    if job.kind is Kind.EMBED:
        yield results.checks_line(Embeddings(folder).checks(), job)[0]
        return
    found = score_figures(folder)
    partial = results.partial_line(found.scored, found.contexts)
    yield " · ".join(f"{count} {name}" for count, name in results.score_counts(found))
    yield from (partial,) if partial else ()
    if found.spread is not None:
        yield from table(*results.spread_table(found), width)
        yield results.reading_line(found)


def _quality(job: Job, folder: JobFolder, call: Call) -> tuple[Run, Evaluation | None, BookGrades | None] | None:
    if job.kind is not Kind.RANK or not folder.data.exists() or not read_score_table(folder).has_score.any():
        return None
    run, book = read_run(folder, job), read_judgements(call)
    return run, measure(run, book=book), book


def _groups(job: Job, folder: JobFolder, call: Call) -> tuple[Mapping[str, object], list[str]]:
    """Facts by their names and lines of the matches or groups, where a job is for them."""
    width = call.console.width
    if job.purpose.takes_lists and job.has_results:
        with opened_decisions(call, job) as decisions:
            matches = read_by_purpose(folder, job, decisions.find)
        lines = ["", *lines_of_matches(matches, job, folder, width), "", *map(said, summaries(matches, job))]
        return facts_of_matches(matches, job, folder), lines
    if job.purpose is Purpose.GROUPS and job.has_results:
        groups = read_groups(folder, job)
        return {"groups": facts_of_groups(groups, folder)}, ["", *lines_of_job_groups(groups, job, folder, width)]
    return {}, []
