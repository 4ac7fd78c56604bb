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
from cfbatch_gui.core.evaluation import comparison as comparing
from cfbatch_gui.core.evaluation.comparison import TOP_K, Compared, Comparison, QueryMove, query_changes
from cfbatch_gui.core.evaluation.joining import Run, read_runs
from cfbatch_gui.core.evaluation.judged import ENOUGH_JUDGED, BookGrades, Evaluation, answers
from cfbatch_gui.core.evaluation.significance import LEVEL
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.judgements.book import Shelf
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.results.labels import UnusableLabels
from cfbatch_gui.core.system.files import listing
from cfbatch_gui.words import quality
from cfbatch_gui.words.figures import number, one_line, percent, score_text, usage_error, worded
from cfbatch_gui.words.languages import said, tr


def lines_of_quality(run: Run, evaluation: Evaluation | None, book: BookGrades | None) -> Iterator[tuple[str, str]]:
    """Pairs of label and text; nothing for a job without judgements."""
    if run.unusable is not None:
        yield tr("Labels"), unusable_words(run.unusable)
    if evaluation is None:
        return
    (measures,) = evaluation.runs
    yield tr("Quality"), one_line(quality.source_words(evaluation, book))
    for name, mean, _ in quality.measure_rows([measures], evaluation.k):
        yield "", f"{name:<14} {mean}"
    yield from (("", words) for words in quality.remarks(evaluation))
    name, values = next(iter(measures.values.items()))
    worst = [index for index in values.argsort(kind="stable").tolist() if values[index] < 1][:_MOST]
    if worst:
        yield tr("Worst"), worded("{measure} of single queries:", measure=name)
    for index in worst:
        query = evaluation.queries[index]
        yield "", f"{score_text(float(values[index]))}  {_query_words(query.id, query.text)}"


def json_of_quality(run: Run, evaluation: Evaluation | None, book: BookGrades | None) -> dict[str, object]:
    return {"labels_left_out": run.unusable, "book": book.name if book is not None else None, "evaluation": evaluation}


def unusable_words(unusable: UnusableLabels) -> str:
    sentence, grades = said(unusable.sentence), quality.proposed_grades(unusable)
    if not grades:
        return sentence
    words = worded("“cfbatch judgements grades JOB --accept” uses {grades}.", grades=grades)
    return f"{sentence} {words}"


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
    runs = await asyncio.to_thread(read_runs, lambda job_id: JobFolder(call.paths.job(job_id)), jobs)
    book = await asyncio.to_thread(read_judgements, call)
    found = await asyncio.to_thread(comparing.with_top, await asyncio.to_thread(comparing.compare, runs), top, book)
    most = max(0, call.most)
    call.answer(_facts(found, most) if call.json else None, _lines(found, most, call.console.width))
    with listing(call.paths.unfinished):
        for path, write in ((texts, comparing.write_texts), (queries, comparing.write_queries)):
            if path is not None:
                say_wrote(call.console, await asyncio.to_thread(write, found, path), path)
    if limit is None:
        return None
    status, sentence = check(found.evaluation, limit)
    call.console.say(sentence)
    return status


def check(evaluation: Evaluation | None, limit: Limit) -> tuple[ExitStatus, str]:
    """The status of the job that is worst off, and a sentence about it."""
    if evaluation is None or evaluation.measures_nothing:
        words = tr("Nothing is judged, or every candidate has the same grade: nothing can be told.")
        return ExitStatus.TOO_FEW_JUDGED, words
    names = tuple(evaluation.runs[0].means)
    wanted = limit.metric.casefold()
    metric = next((name for name in names if wanted in (name.casefold(), quality.measure_name(name).casefold())), None)
    if metric is None:
        raise usage_error("there_is_no_measure_name_there", name=limit.metric, names=", ".join(names))
    if too_few := quality.too_few_judged(evaluation):
        least = worded("{share} are needed.", share=percent(ENOUGH_JUDGED))
        return ExitStatus.TOO_FEW_JUDGED, f"{too_few} {least}"
    results = []
    for other, found in enumerate(answers(evaluation, metric), 1):
        allowed = number(limit.by, "g")
        if found.difference >= -limit.by:
            status, verdict = ExitStatus.DONE, worded("within the {limit} that is allowed", limit=allowed)
        elif found.is_seen and found.p < LEVEL:
            status, verdict = ExitStatus.WORSE, worded("worse by more than the {limit} allowed", limit=allowed)
        else:
            status, verdict = ExitStatus.CANNOT_TELL, tr("below by more, but that may be chance")
            if found.needed:
                verdict = worded("below by more, but that may be chance; judge about {n} more", n=found.needed)
        words = worded(
            "{metric} of job {job} changes by {difference} (p = {p}): {verdict}.",
            metric=metric,
            job=quality.letter(other),
            difference=quality.signed(found.difference, "+.4f"),
            p=number(found.p, ".3f"),
            verdict=verdict,
        )
        results.append((status, words))
    order = (ExitStatus.WORSE, ExitStatus.CANNOT_TELL, ExitStatus.DONE)
    return min(results, key=lambda result: order.index(result[0]))


_SHOWN = 5e-5  # a smaller difference is shown as 0.0000


def _facts(compared: Compared, most: int) -> dict[str, object]:
    comparison, found = compared.comparison, compared.evaluation
    runs = zip(comparison.runs, comparison.joined, strict=True)
    others = zip(comparison.runs[1:], compared.moves, strict=True)
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
        "rbo_p": comparing.P,
        "top_k": compared.top_k,
        "with_first": [
            {"job": run.job.id, **asdict(comparing.summary(moves)), "moved_most": _moved_most(moves, most)}
            for run, moves in others
        ],
        "evaluation": found,
        "answers": None if found is None else _answers(comparison, found),
        "judgements": compared.book.name if compared.book is not None else None,
    }


def _answers(comparison: Comparison, found: Evaluation) -> list[dict[str, object]]:
    """What each other job is to the first by the first metric."""
    name = next(iter(found.runs[0].values))
    return [
        {
            "metric": name,
            **asdict(answer),
            "difference_is_seen": answer.is_seen,
            "by_query": query_changes(comparison, found, other, name),
        }
        for other, answer in enumerate(answers(found), 1)
    ]


def _lines(compared: Compared, most: int, width: int) -> Iterator[str]:
    comparison, found = compared.comparison, compared.evaluation
    if partial := quality.partial_words(comparison):
        yield from (partial, "")
    yield from _table(quality.job_titles(), quality.job_rows(comparison), width)
    size = {"queries": len(comparison.queries), "texts": len(comparison.query)}
    yield worded("Compared: {queries} queries with {texts} candidates that all have scored", **size)
    yield ""
    letters = [quality.letter(index) for index in range(len(comparison.runs))]
    yield from _table(*quality.measure_table(compared), width)
    if found is not None:
        yield one_line(quality.source_words(found, compared.book))
        yield from quality.remarks(found)
    for index, run in enumerate(comparison.runs):
        if run.unusable is not None:
            yield worded("Job {job}: {sentence}", job=letters[index], sentence=unusable_words(run.unusable))
    for index, moves in enumerate(compared.moves, 1):
        if moved := _moved_most(moves, most):
            yield from ("", worded("Moved most from A to {job}:", job=letters[index]))
            rows = [(number(each.largest_change), _query_words(each.id, each.text)) for each in moved]
            yield from _table((tr("Most ranks"), tr("Query")), rows, width)
    if found is not None and not found.measures_nothing:
        yield from _answer_lines(comparison, found, most, width)


def _moved_most(moves: Sequence[QueryMove], most: int) -> list[QueryMove]:
    return [move for move in moves if move.largest_change][:most]


def _answer_lines(comparison: Comparison, found: Evaluation, most: int, width: int) -> Iterator[str]:
    metric = next(iter(found.runs[0].means))
    for index, answer in enumerate(answers(found), 1):
        letter = quality.letter(index)
        headline, *sentences = quality.answer_words(answer, letter, metric)
        p = "" if answer.low is None or answer.p == 1 else f" p = {number(answer.p, '.3f')}."
        yield from ("", f"{headline}. {' '.join(filter(None, sentences))}{p}")
        changes = query_changes(comparison, found, index, metric)
        rows = [
            (
                score_text(each.value),
                score_text(each.other_value),
                quality.signed(each.difference, "+.4f"),
                one_line(each.text),
            )
            for each in sorted(changes, key=lambda each: -abs(each.difference))[:most]
            if abs(each.difference) > _SHOWN
        ]
        yield from _table(("A", letter, tr("Difference"), tr("Query")), rows, width)


def _table(titles: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> Iterator[str]:
    return table([title.upper() for title in titles], [[one_line(cell) for cell in each] for each in rows], width)


def _query_words(query_id: str, text: str) -> str:
    return one_line(f"{query_id}  {text}" if query_id else text)
