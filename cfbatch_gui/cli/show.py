"""`cfbatch show`: one job with its statistics."""

import asyncio
import time
from collections.abc import Iterator
from contextlib import suppress

from cfbatch_gui.cli.compare import add_judgements_argument, json_of_quality, lines_of_quality, read_judgements
from cfbatch_gui.cli.console import Call, fields_of, labelled, listed, table
from cfbatch_gui.cli.group_lines import facts_of_groups, lines_of_job_groups
from cfbatch_gui.cli.jobs import found_jobs
from cfbatch_gui.cli.match_lines import facts_of_matches, lines_of_matches, opened_decisions
from cfbatch_gui.cli.parser import Parser, number_in
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
from cfbatch_gui.core.messages import message, quoted
from cfbatch_gui.core.results.categories import read_by_purpose, summaries
from cfbatch_gui.core.results.duplicates import find_duplicates
from cfbatch_gui.core.results.embeddings import EmbeddedText, Embeddings
from cfbatch_gui.core.results.groups import MOST_CLUSTERS, find_clusters
from cfbatch_gui.core.results.job_groups import read_groups
from cfbatch_gui.core.results.outcomes import origins
from cfbatch_gui.core.results.score_table import read_score_table, score_figures
from cfbatch_gui.words import results
from cfbatch_gui.words.figures import number, one_line, plural, score_text, told, usage_error, worded
from cfbatch_gui.words.jobs import batch_row, can_clear_account, facts
from cfbatch_gui.words.languages import said, tr

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
    if not call.json:  # first: judgements that are damaged keep nothing else from being shown
        console.print_result(_lines(job, folder, call))
    quality = await asyncio.to_thread(_quality, job, folder, call)
    if call.json:
        more = {"quality": json_of_quality(*quality) if quality else None}
        console.print_json(facts_of_job(job, folder, more=more | {name: facts for name, facts, _ in groups}))
        return
    if quality is not None and (lines := list(labelled(lines_of_quality(*quality), 11))):
        console.print_result(["", *lines])
    for _, _, lines in groups:
        console.print_result(lines)


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


_Group = tuple[str, dict[str, object], list[str]]  # a name, facts, and lines


def _groups(job: Job, folder: JobFolder, call: Call) -> list[_Group]:
    """Matches where a job is for them, near duplicates and clusters as far as they are asked for."""
    found: list[_Group] = []
    if job.purpose.takes_lists and job.has_results:
        with opened_decisions(call, job) as decisions:
            matches = read_by_purpose(folder, job, decisions.find)
        lines = ["", *lines_of_matches(matches, job, folder, call.console.width), ""]
        lines += map(said, summaries(matches, job))
        found += [(name, facts, lines) for name, facts in facts_of_matches(matches, job, folder).items()]
    if job.purpose is Purpose.GROUPS and job.has_results:
        groups = read_groups(folder, job)
        lines = ["", *lines_of_job_groups(groups, job, folder, call.console.width)]
        found.append(("groups", facts_of_groups(groups, folder), lines))
    if call.duplicates is None and call.clusters is None:
        return found
    if job.kind is not Kind.EMBED:
        raise usage_error("only_jobs_turn_texts_into_vectors")
    if not folder.data.exists():
        raise usage_error("nothing_come_back_from_job_yet")
    texts, width = Embeddings(folder, job.failed_batches), call.console.width
    if call.duplicates is not None:
        found.append(_duplicates(texts, call.duplicates, width))
    if call.clusters is not None:
        found.append(_clusters(texts, call.clusters, width))
    return found


def _duplicates(texts: Embeddings, threshold: float, width: int) -> _Group:
    found, rows, groups = find_duplicates(texts, threshold), [], []
    for index, group in enumerate(found.groups(), 1):
        stays, *goes = texts.texts([group.stays, *group.goes])
        rows.append(_row(index, stays, (tr("Similarity"), tr("stays"))))
        rows += [
            _row(index, text, (tr("Similarity"), score_text(value)))
            for text, value in zip(goes, group.similarities, strict=True)
        ]
        similar = zip(map(_named, goes), group.similarities, strict=True)
        groups.append({"stays": _named(stays), "goes": [{**text, "similarity": value} for text, value in similar]})
    head = told(
        "near_duplicates_from_threshold_groups_texts",
        threshold=number(found.threshold, "g"),
        groups=plural(len(groups), "{n} group", "{n} groups"),
        texts=plural(found.gone, "{n} text would go", "{n} texts would go"),
        partial=_partial(texts, found.missing),
    )
    facts = {"threshold": found.threshold, "gone": found.gone, "missing": found.missing, "groups": groups}
    return "duplicates", facts, ["", head, *listed(rows, width)]


def _clusters(texts: Embeddings, count: int, width: int) -> _Group:
    found, rows, clusters = find_clusters(texts, count), [], []
    for index, cluster in enumerate(found.clusters, 1):
        likeness = (tr("Likeness"), score_text(cluster.similarity))
        typical = texts.texts(cluster.typical)
        rows += [_row(index, text, (tr("Texts"), number(cluster.size)), likeness) for text in typical]
        numbers = [text.row for text in texts.texts(found.items_of(index - 1).tolist())]
        similar = {"size": cluster.size, "likeness": cluster.similarity}
        clusters.append({**similar, "typical": [*map(_named, typical)], "rows": numbers})
    head = told(
        "n_clusters_texts_partial",
        n=len(clusters),
        texts=plural(len(found.item_numbers), "{n} text", "{n} texts"),
        partial=_partial(texts, found.missing),
    )
    return "clusters", {"missing": found.missing, "clusters": clusters}, ["", head, *listed(rows, width)]


def _row(group: int, text: EmbeddedText, *more: tuple[str, str]) -> tuple[tuple[str, str], ...]:
    row = ((tr("Row"), number(text.row)), (tr("ID"), text.id), (tr("Text"), text.text))
    return ((tr("Group"), number(group)), *more, *row)


def _partial(texts: Embeddings, missing: int) -> str:
    if not missing:
        return ""
    return worded("; partial, {missing} of {n} texts have no vector", missing=missing, n=texts.count)


def _named(text: EmbeddedText) -> dict[str, object]:
    return fields_of(text, "row", "id", "text")
