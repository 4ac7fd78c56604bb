"""`cfbatch show`: show one job with its statistics. It is only read, which is possible while a window is open."""

import argparse
import asyncio
from pathlib import Path

from cfbatch_gui.cli import report, vector_report
from cfbatch_gui.cli.console import Console
from cfbatch_gui.cli.exit_status import ExitStatus
from cfbatch_gui.core.connections.address_book import title_of
from cfbatch_gui.core.errors import UsageError
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.jobs.store.ledger import Ledger
from cfbatch_gui.core.program import metadata_of
from cfbatch_gui.core.results.vectors.clusters import MOST_CLUSTERS, Clusters, find_clusters
from cfbatch_gui.core.results.vectors.embeddings import Embeddings
from cfbatch_gui.core.results.vectors.near_duplicates import Duplicates, find_duplicates
from cfbatch_gui.core.system.paths import Paths
from cfbatch_gui.core.system.settings import Settings


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `cfbatch show`."""
    parser.add_argument("job", metavar="JOB", help="a job's id, the beginning of it, or its name")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument(
        "--duplicates",
        type=_threshold,
        metavar="SIMILARITY",
        help="of vectors: also the groups of texts at least so similar (up to 1), with the one of each that would stay",
    )
    parser.add_argument(
        "--clusters",
        type=_number,
        metavar="NUMBER",
        help="of vectors: also so many groups of texts about the same things, with the texts typical of each",
    )


async def run(arguments: argparse.Namespace, data_dir: Path, console: Console) -> int:
    """Print one job and the statistics asked for. Raises UserError."""
    paths = Paths(data_dir)
    ledger = Ledger.open_read_only(paths)
    try:
        job = ledger.find(arguments.job)
    finally:
        ledger.close()
    folder = JobFolder(paths.job(job.id))
    embeddings, duplicates, clusters = await asyncio.to_thread(_vectors, job, folder, arguments)
    if arguments.json:
        more: dict[str, object] = {}
        if embeddings is not None and duplicates is not None:
            more["duplicates"] = vector_report.json_of_duplicates(embeddings, duplicates)
        if embeddings is not None and clusters is not None:
            more["clusters"] = vector_report.json_of_clusters(embeddings, clusters)
        console.print_result([report.json_of_job(job, folder, more=more)])
        return ExitStatus.DONE
    title = title_of(Settings.load(paths.settings).connections, job.connection)
    console.print_result(report.lines_of_job(job, folder, console.width, title))
    if embeddings is not None and duplicates is not None:
        console.print_result(vector_report.lines_of_duplicates(embeddings, duplicates, console.width))
    if embeddings is not None and clusters is not None:
        console.print_result(vector_report.lines_of_clusters(embeddings, clusters, console.width))
    return ExitStatus.DONE


def _vectors(
    job: Job, folder: JobFolder, arguments: argparse.Namespace
) -> tuple[Embeddings | None, Duplicates | None, Clusters | None]:
    threshold, number = arguments.duplicates, arguments.clusters
    if threshold is None and number is None:
        return None, None, None
    if job.kind is not Kind.EMBED:
        raise UsageError("Only jobs that turn texts into vectors have near duplicates and clusters; this one ranks.")
    if not folder.data.exists():
        raise UsageError("Nothing has come back from this job yet.")
    embeddings = Embeddings(folder, metadata_of(job, "").failed_batches)
    duplicates = find_duplicates(embeddings, threshold) if threshold is not None else None
    clusters = find_clusters(embeddings, number) if number is not None else None
    return embeddings, duplicates, clusters


def _threshold(text: str) -> float:
    try:
        value = float(text.replace(",", "."))
    except ValueError:
        value = 0.0
    if not 0 < value <= 1:
        raise argparse.ArgumentTypeError(f"“{text}” is no similarity; give a number above 0 and at most 1, like 0.95")
    return value


def _number(text: str) -> int:
    value = int(text) if text.isdecimal() and text.isascii() else 0
    if not 1 <= value <= MOST_CLUSTERS:
        raise argparse.ArgumentTypeError(f"“{text}” is no number of clusters; give one from 1 to {MOST_CLUSTERS}")
    return value
