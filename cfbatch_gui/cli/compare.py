"""`cfbatch compare`: the rankings of two or more jobs over the same items, and the measures of a ranking."""

import asyncio
import re
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass

from cfbatch_gui.cli.console import Call, ExitStatus, fields_of, table
from cfbatch_gui.cli.jobs import found_jobs
from cfbatch_gui.cli.parser import Parser, checked
from cfbatch_gui.cli.working import check_outputs, say_wrote
from cfbatch_gui.core.evaluation.comparison import (
    TOP_K,
    Comparison,
    P,
    QueryMove,
    compare,
    most_moved_first,
    query_changes,
    query_moves,
    summary,
    write_queries,
    write_texts,
)
from cfbatch_gui.core.evaluation.joining import Run, matched_words, read_run
from cfbatch_gui.core.evaluation.judged import (
    ENOUGH_JUDGED,
    BookGrades,
    Evaluation,
    answer_words,
    answers,
    evaluate,
    judged_by,
    remarks,
)
from cfbatch_gui.core.evaluation.significance import LEVEL
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.judgements.book import Shelf
from cfbatch_gui.core.messages import Message, message
from cfbatch_gui.core.results.labels import UnusableLabels
from cfbatch_gui.core.system.files import listing
from cfbatch_gui.words.figures import local_signs, number, one_line, percent, plural, score_text, usage_error, worded
from cfbatch_gui.words.languages import said, tr


def lines_of_quality(run: Run, evaluation: Evaluation | None, book: BookGrades | None) -> Iterator[tuple[str, str]]:
    """Pairs of label and text; nothing for a job without judgements."""
    if run.unusable is not None:
        yield tr("Labels"), unusable_words(run.unusable)
    if evaluation is None:
        return
    (measures,) = evaluation.runs
    sentence = plural(
        len(evaluation.queries),
        "by {judgements}: means of {n} judged query ({others} others left out); of the first {k} {share} are judged",
        "by {judgements}: means of {n} judged queries ({others} others left out); of the first {k} {share} are judged",
        judgements=one_line(said(judged_by(evaluation, book))),
        others=evaluation.left_out,
        k=evaluation.k,
        share=percent(measures.judged_share),
    )
    yield tr("Quality"), sentence
    for name, mean in measures.means.items():
        yield "", f"{name:<14} {local_signs(mean.text())}"
    yield from (("", said(words)) for words in remarks((measures,)))
    name = next(iter(measures.values))
    values = measures.values[name]
    worst = [index for index in values.argsort(kind="stable").tolist() if values[index] < 1][:_MOST]
    if worst:
        yield tr("Worst"), worded("{measure} of single queries:", measure=name)
    for index in worst:
        query = evaluation.queries[index]
        yield "", f"{score_text(float(values[index]))}  {_query_words(query.id, query.text)}"


def json_of_quality(run: Run, evaluation: Evaluation | None, book: BookGrades | None) -> dict[str, object]:
    return {"labels_left_out": run.unusable, "book": book.name if book is not None else None, "evaluation": evaluation}


def unusable_words(unusable: UnusableLabels) -> str:
    sentence = said(unusable.sentence)
    if not unusable.proposal:
        return sentence
    grades = ", ".join(f"{one_line(label)} = {grade}" for label, grade in unusable.proposal)
    words = tr("{sentence} “cfbatch judgements grades JOB --accept” uses {grades}.")
    return words.format(sentence=sentence, grades=grades)


def add_judgements_argument(parser: Parser) -> None:
    parser.add_options(
        "--judgements BOOK  measure by this book of judgements besides the labels (default: the one of the window)"
    )


def read_judgements(call: Call) -> BookGrades | None:
    """None for a book that is not there and was not asked for. Blocking. Raises UsageError, DataError."""
    with closing(Shelf(call.paths.judgements, lambda: call.settings.judgement_book, read_only=True)) as shelf:
        return BookGrades.read(shelf.book(call.judgements) if call.judgements else shelf.find())


_MOST = 10
_NO_LIMIT = message("text_is_no_limit_give_measure")
_LIMIT = re.compile(r"([^:@]+(?:@([1-9][0-9]*)(?: \(exp\))?)?):(0?[.,][0-9]+|0|1)")


@dataclass(frozen=True, slots=True)
class Limit:
    """`metric` may fall by `by`, from 0 to 1; `k` is its cut-off, if it has one."""

    metric: str
    k: int | None
    by: float


def read_limit(text: str) -> Limit:
    """Read "nDCG@10:0.02", for argparse."""
    found = _LIMIT.fullmatch(text.strip())
    if found is None:
        raise ValueError
    return Limit(found[1].strip(), int(found[2]) if found[2] else None, float(found[3].replace(",", ".")))


def add_arguments(parser: Parser) -> None:
    parser.add_options(
        """
        jobs JOB...  a job's id, the beginning of it, or its name; all are compared with the first
        --top K  how many first texts (default: {k})
        --most N  how many queries that moved most (default: {n})
        --out FILE  write a row for each text, as CSV
        --queries FILE  write a row for each query, as CSV
        --fail-if-worse MEASURE:BY  exit with 6 if a job's mean is below the first's by more than BY and p < 0.05, with
            7 if it is below by more and that cannot be told from chance, with 8 if less than 80 % of the first texts
            are judged; for example nDCG@10:0.02
        --json  print one JSON object
        """,
        {"--most": {"default": _MOST}, "--fail-if-worse": checked(read_limit, _NO_LIMIT)},
        k=TOP_K,
        n=_MOST,
    )
    add_judgements_argument(parser)


async def run(call: Call) -> int | None:
    if call.top is not None and call.top < 1:
        raise usage_error("top_must_be_1_or_more")
    limit: Limit | None = call.fail_if_worse
    top = call.top or (limit.k if limit is not None and limit.k else TOP_K)
    if limit is not None and limit.k not in (None, top):
        metric = limit.metric
        raise usage_error("top_top_fail_if_worse_metric", top=top, metric=metric)
    texts, queries = call.out, call.queries
    check_outputs([path for path in (texts, queries) if path is not None], None)
    jobs = found_jobs(call, *call.jobs)
    if len({job.id for job in jobs}) < max(2, len(jobs)):
        raise usage_error("name_two_jobs_or_more_each")
    comparison = await asyncio.to_thread(_read, call, jobs)
    moves = [query_moves(comparison, other, top_k=top) for other in range(1, len(jobs))]
    book = await asyncio.to_thread(read_judgements, call)
    evaluation = await asyncio.to_thread(evaluate, comparison.runs, comparison.joined, k=top, book=book)
    report = Report(comparison, moves, evaluation, top, max(0, call.most), book)
    call.answer(report.facts() if call.json else None, report.lines(call.console.width))
    with listing(call.paths.unfinished):
        if texts is not None:
            say_wrote(call.console, await asyncio.to_thread(write_texts, comparison, texts), texts)
        if queries is not None:
            count = await asyncio.to_thread(write_queries, comparison, queries, top_k=top, evaluation=evaluation)
            say_wrote(call.console, count, queries)
    if limit is None:
        return None
    status, sentence = check(evaluation, limit)
    call.console.say(said(sentence))
    return status


def _read(call: Call, jobs: Sequence[Job]) -> Comparison:
    return compare([read_run(JobFolder(call.paths.job(job.id)), job) for job in jobs])


def check(evaluation: Evaluation | None, limit: Limit) -> tuple[ExitStatus, Message]:
    """The status of the job that is worst off, and a sentence about it."""
    if evaluation is None or evaluation.measures_nothing:
        words = message("nothing_is_judged_or_every_candidate")
        return ExitStatus.TOO_FEW_JUDGED, words
    names = tuple(evaluation.runs[0].means)
    metric = next((name for name in names if name.casefold() == limit.metric.casefold()), None)
    if metric is None:
        listed = ", ".join(names)
        raise usage_error("there_is_no_measure_name_there", name=limit.metric, names=listed)
    shares = [run.judged_share for run in evaluation.runs]
    least = min(shares)
    if least < ENOUGH_JUDGED:
        words = message("first_k_texts_job_job_only")
        values = {"k": evaluation.k, "job": shares.index(least) + 1, "share": least, "needed": ENOUGH_JUDGED}
        return ExitStatus.TOO_FEW_JUDGED, words.filled(**values)
    results = []
    for other, found in enumerate(answers(evaluation, metric), 2):
        if found.difference >= -limit.by:
            status, verdict = ExitStatus.DONE, message("within_limit_is_allowed", limit=limit.by)
        elif found.is_seen and found.p < LEVEL:
            status, verdict = ExitStatus.WORSE, message("worse_more_than_limit_allowed", limit=limit.by)
        else:
            status, verdict = ExitStatus.CANNOT_TELL, message("below_more_but_may_be_chance")
            if found.needed:
                verdict = message("below_more_but_may_be", n=found.needed)
        words = message("metric_job_job_changes_difference_p")
        filled = words.filled(metric=metric, job=other, difference=found.difference, p=found.p, verdict=verdict)
        results.append((status, filled))
    order = (ExitStatus.WORSE, ExitStatus.CANNOT_TELL, ExitStatus.DONE)
    return min(results, key=lambda result: order.index(result[0]))


_SHOWN = 5e-5  # a smaller difference is shown as 0.0000


@dataclass(frozen=True, slots=True, eq=False)
class Report:
    """`moves` has one item for each job but the first."""

    comparison: Comparison
    moves: Sequence[Sequence[QueryMove]]
    evaluation: Evaluation | None
    top_k: int
    most: int
    book: BookGrades | None

    def facts(self) -> dict[str, object]:
        comparison, found = self.comparison, self.evaluation
        runs = zip(comparison.runs, comparison.joined, strict=True)
        others = zip(comparison.runs[1:], self.moves, strict=True)
        size = {"queries": len(comparison.queries), "contexts": len(comparison.query)}
        return {
            "jobs": [
                {
                    "job": run.job.id,
                    **fields_of(run.job, "name", "model"),
                    "queries": len(run.table.asked),
                    "contexts": len(run.table),
                    "scored": run.scored,
                    "labels_left_out": run.unusable,
                    **({"matched_queries": joined.queries, "matched_contexts": joined.texts} if index else {}),
                }
                for index, (run, joined) in enumerate(runs)
            ],
            "compared": {**size, "partial": comparison.is_partial},
            "rbo_p": P,
            "top_k": self.top_k,
            "with_first": [
                {"job": run.job.id, **asdict(summary(moves)), "moved_most": self._most(moves)} for run, moves in others
            ],
            "evaluation": found,
            "answers": None if found is None else self._answers(found),
            "judgements": self.book.name if self.book is not None else None,
        }

    def _answers(self, found: Evaluation) -> list[dict[str, object]]:
        """What each other job is to the first by the first metric."""
        name = next(iter(found.runs[0].values))
        return [
            {
                "metric": name,
                **asdict(answer),
                "difference_is_seen": answer.is_seen,
                "by_query": query_changes(self.comparison, found, number, name),
            }
            for number, answer in enumerate(answers(found), 1)
        ]

    def lines(self, width: int) -> Iterator[str]:
        comparison = self.comparison
        if comparison.is_partial:
            yield tr("Partial: not every context has a score. What all jobs have scored is compared.")
            yield ""
        jobs = []
        for index, run in enumerate(comparison.runs, 1):
            asked, scored = number(len(run.table.asked)), _of(run.scored, len(run.table))
            jobs.append((f"{index}", asked, scored, run.job.model, run.job.name))
        yield from table((tr("JOB"), tr("QUERIES"), tr("SCORES"), tr("MODEL"), tr("NAME")), jobs, width)
        yield ""
        yield worded(
            "Compared: {queries} queries with {contexts} contexts that all have scored",
            queries=len(comparison.queries),
            contexts=len(comparison.query),
        )
        for index, joined in enumerate(comparison.joined[1:], 2):
            yield worded(
                "Matched 1 and {job}: queries {queries}; contexts {contexts} (never by their place)",
                job=index,
                queries=said(matched_words(joined.queries)),
                contexts=said(matched_words(joined.texts)),
            )
        yield ""
        top, rbo = worded("TOP {k}", k=self.top_k), worded("RBO (p={p})", p=number(P, "g"))
        rows = []
        for index, total in enumerate(map(summary, self.moves), 2):
            counts = (_of(count, total.queries) for count in (total.other_first, total.unmoved))
            rows.append((f"{index}", score_text(total.rbo), score_text(total.top), *counts))
        yield from table((tr("JOB"), rbo, top, tr("ANOTHER FIRST"), tr("UNMOVED")), rows, width)
        for index, moves in enumerate(self.moves, 2):
            if most := self._most(moves):
                yield ""
                yield worded("Moved most from 1 to {job}:", job=index)
                moved = []
                for each in most:
                    query = _query_words(each.id, each.text)
                    moved.append((score_text(each.rbo), score_text(each.top), number(each.largest_change), query))
                yield from table((tr("RBO"), top, tr("MOST RANKS"), tr("QUERY")), moved, width)
        for index, run in enumerate(comparison.runs, 1):
            if run.unusable is not None:
                yield ""
                yield worded("Job {job}: {sentence}", job=index, sentence=unusable_words(run.unusable))
        if self.evaluation is not None:
            yield ""
            yield from self._metric_lines(self.evaluation, width)

    def _most(self, moves: Sequence[QueryMove]) -> list[QueryMove]:
        moved = [move for move in most_moved_first(moves) if move.largest_change]
        return moved[: self.most]

    def _metric_lines(self, found: Evaluation, width: int) -> Iterator[str]:
        names = tuple(found.runs[0].means)
        yield worded(
            "By {judgements} of {queries} queries ({left_out} without judgements left out, {conflicts} contexts"
            " labelled differently; a query without an answer counts 0):",
            judgements=one_line(said(judged_by(found, self.book))),
            queries=len(found.queries),
            left_out=found.left_out,
            conflicts=found.conflicts,
        )
        titles = (tr("JOB"), *names, worded("JUDGED@{k}", k=found.k), tr("NO ANSWER"))
        rows = []
        for index, run in enumerate(found.runs, 1):
            means = (local_signs(run.means[name].text()) for name in names)
            rows.append((f"{index}", *means, percent(run.judged_share), number(run.without_answer)))
        yield from table(titles, rows, width)
        yield from map(said, remarks(found.runs))
        if not any(run.has_contrast for run in found.runs):
            return
        for index, answer in enumerate(answers(found), 2):
            yield ""
            headline, *sentences = answer_words(answer, message("job_number", number=index), names[0])
            p = "" if answer.low is None else f" p = {number(answer.p, '.3f')}."
            yield f"{said(headline)}. {' '.join(map(said, filter(None, sentences)))}{p}"
            changes = query_changes(self.comparison, found, index - 1, names[0])
            rows = [
                (
                    score_text(each.value),
                    score_text(each.other_value),
                    number(each.difference, "+.4f"),
                    one_line(each.text),
                )
                for each in sorted(changes, key=lambda each: -abs(each.difference))[: self.most]
                if abs(each.difference) > _SHOWN
            ]
            yield from table(("1", f"{index}", tr("DIFFERENCE"), tr("QUERY")), rows, width)


def _of(some: int, all_: int) -> str:
    return worded("{n} of {all}", n=some, all=all_)


def _query_words(query_id: str, text: str) -> str:
    return one_line(f"{query_id}  {text}" if query_id else text)
