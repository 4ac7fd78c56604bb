"""What is printed of a job's results: one JSON object, or text."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, groupby
from operator import attrgetter

from cfbatch_gui.cli.console import elided, fields_of
from cfbatch_gui.cli.jobs import summary_of
from cfbatch_gui.core.inputs.input_values import Kind, ProblemKind
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.job_folder.row_problems import count_sent_rows, problems, row_problems
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.results.embeddings import Embeddings
from cfbatch_gui.core.results.exports import Exported
from cfbatch_gui.core.results.outcomes import origins
from cfbatch_gui.core.results.rankings import RankedContext, Rankings, rank_text
from cfbatch_gui.core.results.score_table import score_figures
from cfbatch_gui.words.figures import local_signs, score_text
from cfbatch_gui.words.languages import said
from cfbatch_gui.words.results import checks_line, scores_line
from cfbatch_gui.words.states import is_practice

_RANK, _SCORE = 6, 9  # columns


def facts_of_job(
    job: Job, folder: JobFolder, files: Sequence[Exported] = (), *, more: Mapping[str, object] | None = None
) -> dict[str, object]:
    has_data = folder.data.exists()
    has_vectors = has_data and job.kind is Kind.EMBED
    return {
        **summary_of(job),
        "rows_in": job.rows_in,
        "rows_sent": count_sent_rows(folder) if has_data else 0,
        "problems": list(row_problems(folder)) if has_data else [],
        "doubtful_sent": problems(folder, kind=ProblemKind.DOUBTFUL_SENT) if has_data else [],
        "usage": {"total_tokens": job.tokens},
        "taken_from_earlier_jobs": origins(folder) if has_data else (),
        "scores": score_figures(folder) if has_data and job.kind is Kind.RANK else None,
        "vectors": Embeddings(folder).checks() if has_vectors else None,
        **(more or {}),
        "files": [fields_of(file, "path", "format", "rows") for file in files],
    }


def lines_of_result(job: Job, folder: JobFolder, width: int) -> Iterator[str]:
    if job.kind is Kind.RANK:
        yield from _ranked(job, folder, width)
    else:
        yield checks_line(Embeddings(folder).checks(), job)[0]


def _ranked(job: Job, folder: JobFolder, width: int) -> Iterator[str]:
    if is_practice(job):
        yield scores_line(job)
        yield ""
    contexts = chain.from_iterable(Rankings(folder).blocks())
    for index, (_, of_query) in enumerate(groupby(contexts, key=attrgetter("query_no"))):
        ranked = iter(of_query)
        first = next(ranked)
        if index:
            yield ""
        yield elided(f"{first.query_id}  {first.query}" if first.query_id else first.query, width)
        yield from (_context_line(context, width) for context in chain((first,), ranked))


def _context_line(context: RankedContext, width: int) -> str:
    points = "" if context.score is None else score_text(context.score)
    text = context.text if context.score is not None else f"({said(context.error or context.status)}) {context.text}"
    rank = local_signs(rank_text(context)) or "–"
    # A space after "2" aligns its digit with that of "2=".
    rank_cell = f"{rank:>{_RANK}}" if rank.endswith("=") else f"{rank:>{_RANK - 1}} "
    return f"{rank_cell}{points:>{_SCORE}}  {elided(text, max(20, width - _RANK - _SCORE - 2))}"
