"""`cfbatch compare`: compare the rankings of two or more jobs over the same items. The jobs are only read."""

import argparse
import asyncio
import os
from collections.abc import Sequence
from pathlib import Path

from cfbatch_gui.cli import comparison_report, quality_gate
from cfbatch_gui.cli.console import Console
from cfbatch_gui.cli.exit_status import ExitStatus
from cfbatch_gui.cli.judgement_books import add_judgements_argument, read_judgements
from cfbatch_gui.cli.language import plural, tr
from cfbatch_gui.cli.quality_gate import Limit
from cfbatch_gui.core.connections.address_book import title_of
from cfbatch_gui.core.errors import UsageError
from cfbatch_gui.core.evaluation.comparison import Comparison, compare
from cfbatch_gui.core.evaluation.comparison_files import write_queries, write_texts
from cfbatch_gui.core.evaluation.judged import evaluate
from cfbatch_gui.core.evaluation.moves import TOP_K, query_moves
from cfbatch_gui.core.evaluation.runs import read_run
from cfbatch_gui.core.export_metadata import metadata_of
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.jobs.store.ledger import Ledger
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.system.files import listing
from cfbatch_gui.core.system.languages import said
from cfbatch_gui.core.system.paths import Paths
from cfbatch_gui.core.system.settings import Settings

_MOST = 10


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `cfbatch compare`."""
    parser.add_argument(
        "jobs",
        metavar=tr("JOB"),
        nargs="+",
        help=tr("a job's id, the beginning of it, or its name; all are compared with the first"),
    )
    parser.add_argument("--top", metavar="K", type=int, help=tr("how many first texts (default: {n})").format(n=TOP_K))
    parser.add_argument(
        "--most",
        metavar="N",
        type=int,
        default=_MOST,
        help=tr("how many queries that moved most (default: {n})").format(n=_MOST),
    )
    parser.add_argument("--out", metavar=tr("FILE"), type=Path, help=tr("write a row for each text, as CSV"))
    parser.add_argument("--queries", metavar=tr("FILE"), type=Path, help=tr("write a row for each query, as CSV"))
    add_judgements_argument(parser)
    parser.add_argument(
        "--fail-if-worse",
        metavar=tr("MEASURE:BY"),
        type=_limit,
        help=tr(
            "exit with 6 if a job's mean is below the first's by more than BY and p < 0.05, with 7 if it is below by"
            " more and that cannot be told from chance, with 8 if less than 80 % of the first texts are judged; for"
            " example nDCG@10:0.02"
        ),
    )
    parser.add_argument("--json", action="store_true", help=tr("print one JSON object"))


async def run(arguments: argparse.Namespace, data_dir: Path, console: Console) -> int:
    """Compare the jobs, print the comparison, and write the files asked for. Raises UserError."""
    if arguments.top is not None and arguments.top < 1:
        raise UsageError(message("--top must be 1 or more."))
    limit: Limit | None = arguments.fail_if_worse
    top = arguments.top or (limit.k if limit is not None and limit.k else TOP_K)
    if limit is not None and limit.k not in (None, top):
        raise UsageError(
            message("--top {top} and --fail-if-worse {metric} differ; give one of them.", top=top, metric=limit.metric)
        )
    files = _checked((arguments.out, arguments.queries))
    paths = Paths(data_dir)
    jobs = _jobs(paths, arguments.jobs)
    comparison = await asyncio.to_thread(_read, paths, jobs)
    moves = [query_moves(comparison, other, top_k=top) for other in range(1, len(jobs))]
    book = await asyncio.to_thread(read_judgements, paths, arguments.judgements)
    evaluation = await asyncio.to_thread(evaluate, comparison.runs, comparison.joined, k=top, book=book)
    report = comparison_report.Report(comparison, moves, evaluation, top, max(0, arguments.most), book)
    console.print_result([report.json()] if arguments.json else report.lines(console.width))
    with listing(paths.unfinished):
        texts, queries = files
        if texts is not None:
            _say_wrote(console, await asyncio.to_thread(write_texts, comparison, texts), texts)
        if queries is not None:
            count = await asyncio.to_thread(write_queries, comparison, queries, top_k=top, evaluation=evaluation)
            _say_wrote(console, count, queries)
    if limit is None:
        return ExitStatus.DONE
    status, sentence = quality_gate.check(evaluation, limit)
    console.say(said(sentence))
    return status


def _say_wrote(console: Console, rows: int, path: Path) -> None:
    console.say(plural(rows, "Wrote {n} row to {path}", "Wrote {n} rows to {path}", path=path))


def _limit(text: str) -> Limit:
    try:
        return quality_gate.read_limit(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def _jobs(paths: Paths, names: Sequence[str]) -> tuple[Job, ...]:
    ledger = Ledger.open_read_only(paths)
    try:
        jobs = tuple(ledger.find(name) for name in names)
    finally:
        ledger.close()
    if len({job.id for job in jobs}) < max(2, len(jobs)):
        raise UsageError(message("Name two jobs or more, each of them once. “cfbatch jobs” lists them."))
    return jobs


def _read(paths: Paths, jobs: Sequence[Job]) -> Comparison:
    connections = Settings.load(paths.settings).connections
    runs = [
        read_run(JobFolder(paths.job(job.id)), metadata_of(job, title_of(connections, job.connection))) for job in jobs
    ]
    return compare(runs)


def _checked(files: Sequence[Path | None]) -> list[Path | None]:
    """The paths made absolute. Raises UsageError for a path that could not be written later."""
    checked: list[Path | None] = []
    for file in files:
        path = Path(os.path.abspath(file)) if file is not None else None  # noqa: PTH100 - resolve() would follow links
        if path is not None:
            if path in checked:
                raise UsageError(message("“{path}” is given twice. Each file needs a name of its own.", path=file))
            if path.is_dir():
                raise UsageError(message("“{path}” is a folder. Give the name of a file.", path=file))
            if not path.parent.is_dir():
                raise UsageError(
                    message("There is no folder “{path}”. Make it first, or choose another name.", path=path.parent)
                )
        checked.append(path)
    return checked
