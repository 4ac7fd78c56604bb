"""What is printed on standard output: one JSON object, or text."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import chain, groupby
from operator import attrgetter

from cfbatch_gui.cli.console import elided, fields_of, labelled, padded, width_of
from cfbatch_gui.cli.jobs import summary_of
from cfbatch_gui.core.inputs.input_values import Kind, ProblemKind
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.job_folder.row_problems import StoredProblem, count_sent_rows, problems, row_problems
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.results.embeddings import EmbeddedText, Embeddings, VectorChecks
from cfbatch_gui.core.results.exports import Exported
from cfbatch_gui.core.results.groups import Clusters, Duplicates
from cfbatch_gui.core.results.outcomes import origins
from cfbatch_gui.core.results.rankings import RankedContext, Rankings, rank_text
from cfbatch_gui.core.results.score_table import ScoreFigures, score_figures
from cfbatch_gui.core.workers_ai.connection_kinds import PRACTICE
from cfbatch_gui.words.figures import filled, local_signs, number, plural, score_text, worded
from cfbatch_gui.words.languages import said, tr

_RANK, _SCORE = 6, 9  # columns
_LABEL = 11


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
        "doubtful_sent": _doubtful_sent(folder) if has_data else [],
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
        yield from _embedded(job, folder)


def _ranked(job: Job, folder: JobFolder, width: int) -> Iterator[str]:
    if job.connection == PRACTICE.id:
        yield tr("Scores of the practice service, on this computer")
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


def _embedded(job: Job, folder: JobFolder) -> Iterator[str]:
    checks = Embeddings(folder).checks()
    if job.connection == PRACTICE.id:
        yield tr("Vectors of the practice service, on this computer")
        yield ""
    yield from labelled([(tr("Texts"), number(checks.texts)), *lines_of_vector_checks(checks)], _LABEL)


def _doubtful_sent(folder: JobFolder) -> Sequence[StoredProblem]:
    return problems(folder, kind=ProblemKind.DOUBTFUL_SENT)


def lines_of_scores(found: ScoreFigures) -> Iterator[tuple[str, str]]:
    scored = number(found.scored)
    if found.is_partial:
        scored = worded("{n} of {all}; partial", n=scored, all=found.contexts)
    yield tr("Scores"), scored
    if found.spread is None:
        return
    template = tr("{lowest} to {highest}; 1 in 10 below {tenth}, middle {median}, 9 in 10 below {ninetieth}")
    yield tr("Spread"), filled(template, asdict(found.spread))
    tied = plural(found.queries, "{tied} of {n} query", "{tied} of {n} queries", tied=found.first_tied)
    yield tr("First tied"), tied
    if found.others is None:
        yield tr("Baseline"), tr("none: that takes ten queries, and candidates that were ranked for several of them")
        return
    baseline = worded(
        "{n} candidates that suit another query better score {mean} on average; 9 in 10 stay below {high}, {above} of"
        " all scores lie above",
        n=found.other_pairs,
        mean=found.others.mean,
        high=found.others.ninetieth,
        above=found.above,
    )
    yield tr("Baseline"), baseline


def lines_of_vector_checks(checks: VectorChecks) -> Iterator[tuple[str, str]]:
    length = ""
    if not math.isnan(checks.norm_min):
        template = tr("{shortest} to {longest} (unit length)") if checks.unit_length else tr("{shortest} to {longest}")
        length = template.format(shortest=score_text(checks.norm_min), longest=score_text(checks.norm_max))
    yield tr("Dimension"), number(checks.dimension)
    yield tr("Length"), length
    yield tr("Repeated"), number(checks.repeated)
    yield tr("Zero"), number(checks.zero)
    yield tr("Not finite"), number(checks.non_finite)
    yield tr("Missing"), number(checks.missing)


def lines_of_duplicates(embeddings: Embeddings, found: Duplicates, width: int) -> Iterator[str]:
    groups = found.groups()
    yield ""
    yield worded(
        "Near duplicates from {threshold}: {groups}, {texts}{partial}",
        threshold=number(found.threshold, "g"),
        groups=plural(len(groups), "{n} group", "{n} groups"),
        texts=plural(found.gone, "{n} text would go", "{n} texts would go"),
        partial=_partial(embeddings, found.missing),
    )
    stays_word, goes_word = tr("stays"), tr("goes")
    for group in groups:
        goes = [f"{goes_word}   {score_text(similarity)}" for similarity in group.similarities]
        wide = max(map(width_of, (stays_word, *goes)))
        yield ""
        for label, text in zip((stays_word, *goes), embeddings.texts([group.stays, *group.goes]), strict=True):
            yield _line(f"  {padded(label, wide)}  ", text, width)


def facts_of_duplicates(embeddings: Embeddings, found: Duplicates) -> dict[str, object]:
    groups = []
    for group in found.groups():
        stays, *goes = map(_named, embeddings.texts([group.stays, *group.goes]))
        similar = zip(goes, group.similarities, strict=True)
        groups.append({"stays": stays, "goes": [{**text, "similarity": value} for text, value in similar]})
    return {"threshold": found.threshold, "gone": found.gone, "missing": found.missing, "groups": groups}


def lines_of_clusters(embeddings: Embeddings, found: Clusters, width: int) -> Iterator[str]:
    yield ""
    yield plural(
        len(found.clusters),
        "{n} cluster of {texts}{partial}",
        "{n} clusters of {texts}{partial}",
        texts=plural(len(found.item_numbers), "{n} text", "{n} texts"),
        partial=_partial(embeddings, found.missing),
    )
    for index, cluster in enumerate(found.clusters, 1):
        yield ""
        size, likeness = cluster.size, cluster.similarity
        words = plural(size, "{n} text, likeness {likeness}", "{n} texts, likeness {likeness}", likeness=likeness)
        yield f"  {index}  {words}"
        yield from (_line("     ", text, width) for text in embeddings.texts(cluster.typical))


def facts_of_clusters(embeddings: Embeddings, found: Clusters) -> dict[str, object]:
    clusters = []
    for index, cluster in enumerate(found.clusters):
        rows = [text.row for text in embeddings.texts(found.items_of(index).tolist())]
        typical = [_named(text) for text in embeddings.texts(cluster.typical)]
        clusters.append({"size": cluster.size, "likeness": cluster.similarity, "typical": typical, "rows": rows})
    return {"missing": found.missing, "clusters": clusters}


def _partial(embeddings: Embeddings, missing: int) -> str:
    if not missing:
        return ""
    return worded("; partial, {missing} of {n} texts have no vector", missing=missing, n=embeddings.count)


def _line(start: str, text: EmbeddedText, width: int) -> str:
    name = text.id or worded("row {n}", n=text.row)
    return start + elided(f"{name}  {text.text}", max(20, width - len(start)))


def _named(text: EmbeddedText) -> dict[str, object]:
    return fields_of(text, "row", "id", "text")
