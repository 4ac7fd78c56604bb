"""`cfbatch show`: one job with its statistics."""

import asyncio

from cfbatch_gui.cli import report
from cfbatch_gui.cli.compare import add_judgements_argument, json_of_quality, lines_of_quality, read_judgements
from cfbatch_gui.cli.console import Call, labelled
from cfbatch_gui.cli.jobs import found_jobs
from cfbatch_gui.cli.parser import Parser, number_in
from cfbatch_gui.core.evaluation.joining import Run, read_run
from cfbatch_gui.core.evaluation.judged import BookGrades, Evaluation, measure
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.results.embeddings import Embeddings
from cfbatch_gui.core.results.groups import MOST_CLUSTERS, find_clusters, find_duplicates
from cfbatch_gui.core.results.score_table import read_score_table
from cfbatch_gui.core.workers_ai.connection_kinds import title_of
from cfbatch_gui.words.figures import usage_error

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
    title = title_of(call.settings.connections, job.connection)
    console.print_result(report.lines_of_job(job, folder, console.width, title))
    if quality is not None and (lines := list(labelled(lines_of_quality(*quality), 11))):
        console.print_result(["", *lines])
    for _, _, lines in groups:
        console.print_result(lines)


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
