"""`cfbatch show`: one job with its statistics."""

import asyncio
import time
from collections.abc import Iterator
from contextlib import suppress

from cfbatch_gui.cli import report
from cfbatch_gui.cli.compare import add_judgements_argument, json_of_quality, lines_of_quality, read_judgements
from cfbatch_gui.cli.console import Call, labelled, listed
from cfbatch_gui.cli.jobs import found_jobs
from cfbatch_gui.cli.parser import Parser, number_in
from cfbatch_gui.cli.reading import lines_of_rows
from cfbatch_gui.cli.working import read_address_book
from cfbatch_gui.core.errors import UserError
from cfbatch_gui.core.evaluation.joining import Run, read_run
from cfbatch_gui.core.evaluation.judged import BookGrades, Evaluation, measure
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.job_folder.row_problems import row_problems
from cfbatch_gui.core.jobs.plan.spending import Planned, read_planned
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.results.embeddings import Embeddings
from cfbatch_gui.core.results.groups import MOST_CLUSTERS, find_clusters, find_duplicates
from cfbatch_gui.core.results.outcomes import origins
from cfbatch_gui.core.results.score_table import read_score_table, score_figures
from cfbatch_gui.words.figures import one_line, plural, usage_error, worded
from cfbatch_gui.words.jobs import batch_row, can_clear_account, facts
from cfbatch_gui.words.languages import tr

_NO_SIMILARITY = message("text_is_no_similarity_give_number")
_NO_CLUSTERS = message("text_is_no_number_clusters_give")


def add_arguments(parser: Parser) -> None:
    parser.add_options(
        """
        job JOB  a job's id, the beginning of it, or its name
        --json  print one JSON object
        --duplicates SIMILARITY  of vectors: also the groups of texts at least so similar (up to 1), with the one of
            each that would stay
        --clusters NUMBER  of vectors: also so many groups of texts about the same things, with the texts typical of
            each
        """,
        {
            "--duplicates": number_in(1e-9, 1, _NO_SIMILARITY),
            "--clusters": number_in(1, MOST_CLUSTERS, _NO_CLUSTERS, most=MOST_CLUSTERS, whole=True),
        },
    )
    add_judgements_argument(parser)


async def run(call: Call) -> None:
    console = call.console
    (job,) = found_jobs(call, call.job)
    folder = JobFolder(call.paths.job(job.id))
    groups = await asyncio.to_thread(_groups, job, folder, call)
    quality = await asyncio.to_thread(_quality, job, folder, call)
    if call.json:
        more = {"quality": json_of_quality(*quality) if quality else None}
        console.print_json(report.facts_of_job(job, folder, more=more | {name: facts for name, facts, _ in groups}))
        return
    console.print_result(_lines(job, folder, call))
    if quality is not None and (lines := list(labelled(lines_of_quality(*quality), 11))):
        console.print_result(["", *lines])
    for _, _, lines in groups:
        console.print_result(lines)


def _lines(job: Job, folder: JobFolder, call: Call) -> Iterator[str]:
    """All of a job except what its results hold."""
    has_data, width, connection = folder.data.exists(), call.console.width, None
    with suppress(UserError):
        connection = read_address_book(call).connection(job.connection)
    planned, taken = (read_planned(folder), origins(folder)) if has_data else (Planned(), ())
    names = ", ".join(f"“{one_line(name)}”" for name in dict.fromkeys(each.job_name for each in taken))
    found = [*facts(job, planned, connection, folder, time.time(), taken_from=names)]
    if can_clear_account(job):
        command = worded("“cfbatch account clear {id}” deletes them", id=job.id)
        found.append((tr("Copies"), command))
    if job.has_results and job.kind is Kind.RANK:
        found += report.lines_of_scores(score_figures(folder))
    elif job.has_results:
        found += report.lines_of_vector_checks(Embeddings(folder).checks())
    yield from labelled(((name, one_line(words)) for name, words in found), 11)
    if job.batches:
        yield ""
        yield from listed([batch_row(batch, job) for batch in job.batches], width)
    if left_out := list(row_problems(folder)) if has_data else []:
        yield ""
        yield plural(len(left_out), "{n} problem:", "{n} problems:")
        yield from lines_of_rows(folder, left_out, width)


def _quality(job: Job, folder: JobFolder, call: Call) -> tuple[Run, Evaluation | None, BookGrades | None] | None:
    if job.kind is not Kind.RANK or not folder.data.exists() or not read_score_table(folder).has_score.any():
        return None
    run, book = read_run(folder, job), read_judgements(call)
    return run, measure(run, book=book), book


def _groups(job: Job, folder: JobFolder, call: Call) -> list[tuple[str, dict[str, object], list[str]]]:
    """Near duplicates and clusters, as far as they are asked for: a name, facts, and lines."""
    threshold, number, width = call.duplicates, call.clusters, call.console.width
    if threshold is None and number is None:
        return []
    if job.kind is not Kind.EMBED:
        raise usage_error("only_jobs_turn_texts_into_vectors")
    if not folder.data.exists():
        raise usage_error("nothing_come_back_from_job_yet")
    texts, found = Embeddings(folder, job.failed_batches), []
    if threshold is not None:
        alike = find_duplicates(texts, threshold)
        lines = report.lines_of_duplicates(texts, alike, width)
        found.append(("duplicates", report.facts_of_duplicates(texts, alike), list(lines)))
    if number is not None:
        clusters = find_clusters(texts, number)
        lines = report.lines_of_clusters(texts, clusters, width)
        found.append(("clusters", report.facts_of_clusters(texts, clusters), list(lines)))
    return found
