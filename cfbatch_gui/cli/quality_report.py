"""The measures of a ranking by its labels."""

import argparse
import time
from collections.abc import Iterator, Sequence
from contextlib import closing

from cfbatch_gui.cli.console import one_line
from cfbatch_gui.cli.language import figures, number, percent, plural, tr
from cfbatch_gui.core.evaluation.joining import Run
from cfbatch_gui.core.evaluation.judged import Evaluation, RunMeasures
from cfbatch_gui.core.evaluation.judged_documents import BookGrades, read_book_grades
from cfbatch_gui.core.evaluation.significance import TOLD_APART, Paired
from cfbatch_gui.core.judgements.book import USUAL_NAME, Shelf
from cfbatch_gui.core.results.labels import UnusableLabels
from cfbatch_gui.core.system.paths import Paths
from cfbatch_gui.core.system.settings import Settings

_LONGEST_LABEL = 40  # characters
_MOST_QUERIES = 10


def judged_by(book: BookGrades | None) -> str:
    """Such as "the labels", or "the book “Support” and the labels"."""
    if book is None:
        return tr("the labels")
    return tr("the book “{name}” and the labels").format(name=one_line(book.name))


def lines_of_quality(
    run: Run, evaluation: Evaluation | None, book: BookGrades | None = None
) -> Iterator[tuple[str, str]]:
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
        judgements=judged_by(book),
        others=number(evaluation.left_out),
        k=evaluation.k,
        share=percent(measures.judged_share),
    )
    yield tr("Quality"), sentence
    for name, mean in measures.means.items():
        yield "", f"{name:<14} {figures(mean.text())}"
    yield from (("", words) for words in remarks((measures,)))
    name = next(iter(measures.values))
    values = measures.values[name]
    worst = [index for index in values.argsort(kind="stable").tolist() if values[index] < 1][:_MOST_QUERIES]
    if worst:
        yield tr("Worst"), tr("{measure} of single queries:").format(measure=name)
    for index in worst:
        query = evaluation.queries[index]
        text = one_line(f"{query.id}  {query.text}" if query.id else query.text)
        yield "", f"{number(float(values[index]), '.4f')}  {text}"


def json_of_quality(
    run: Run, evaluation: Evaluation | None, book: BookGrades | None = None
) -> dict[str, object] | None:
    if evaluation is None and run.unusable is None:
        return None
    found: dict[str, object] = {"labels_left_out": json_of_unusable(run.unusable)}
    if evaluation is not None:
        (measures,) = evaluation.runs
        found |= {
            "book": book.name if book is not None else None,
            "queries": len(evaluation.queries),
            "left_out": evaluation.left_out,
            "judgements": evaluation.judged,
            "relevant": evaluation.relevant,
            "measures_nothing": evaluation.measures_nothing,
            **json_of_measures(measures),
            "by_query": [
                {
                    "id": query.id,
                    "query": query.text,
                    **{name: float(values[index]) for name, values in measures.values.items()},
                    "judged_of_first": [int(measures.judged_top[index]), int(measures.top[index])],
                    "rank_of_best": int(measures.best_rank[index]) or None,
                }
                for index, query in enumerate(evaluation.queries)
            ],
        }
    return found


def json_of_measures(run: RunMeasures) -> dict[str, object]:
    """`lowest_and_highest_by_ties` has the means that equal scores leave open."""
    ties = {name: [mean.lowest, mean.highest] for name, mean in run.means.items() if mean.depends_on_ties}
    return {
        **{name: mean.value for name, mean in run.means.items()},
        "without_answer": run.without_answer,
        "listed_twice": run.repeated,
        "judged_share": run.judged_share,
        "lowest_and_highest_by_ties": ties,
    }


def json_of_unusable(unusable: UnusableLabels | None) -> dict[str, object] | None:
    if unusable is None:
        return None
    return {
        "count": unusable.count,
        "examples": list(unusable.examples),
        "first_rows": list(unusable.rows),
        "proposed_grades": dict(unusable.proposal) or None,
    }


def unusable_words(unusable: UnusableLabels) -> str:
    """Such as "12 labels are no whole numbers and were left out, such as “0.5” and “yes” (rows 2, 3, 5, …)"."""
    quoted = tr("“{label}”")
    examples = tr(" and ").join(quoted.format(label=one_line(each)[:_LONGEST_LABEL]) for each in unusable.examples)
    rows = ", ".join(map(number, unusable.rows)) + (", …" if len(unusable.rows) < unusable.count else "")
    words = plural(
        unusable.count,
        "{n} label is no whole number and was left out: {examples} (row {rows})",
        "{n} labels are no whole numbers and were left out, such as {examples} (rows {rows})",
        examples=examples,
        rows=rows,
    )
    if not unusable.proposal:
        return words
    grades = ", ".join(f"{one_line(label)[:_LONGEST_LABEL]} = {grade}" for label, grade in unusable.proposal)
    return tr("{labels}; “cfbatch judgements grades JOB --accept” uses {grades}").format(labels=words, grades=grades)


def answer_words(found: Paired, job: int, metric: str) -> str:
    """Whether a difference to the first can be seen, with its interval, and what would tell."""
    counts = plural(
        found.better,
        "{job} is better than 1 for {n} query, worse for {worse}, the same for {same}",
        "{job} is better than 1 for {n} queries, worse for {worse}, the same for {same}",
        job=job,
        worse=number(found.worse),
        same=number(found.same),
    )
    if found.low is None or found.high is None:
        queries = number(found.better + found.worse + found.same)
        return tr("{counts}: {n} queries are too few to tell.").format(counts=counts, n=queries)
    if not found.is_seen:
        template = tr("{counts}: no difference can be seen ({measure} {difference}, 95 % {low} to {high}, p = {p}).")
    elif found.difference > 0:
        template = tr("{counts}: {job} is better ({measure} {difference}, 95 % {low} to {high}, p = {p}).")
    else:
        template = tr("{counts}: {job} is worse ({measure} {difference}, 95 % {low} to {high}, p = {p}).")
    words = template.format(
        counts=counts,
        job=job,
        measure=metric,
        difference=number(found.difference, "+.4f"),
        low=number(found.low, "+.4f"),
        high=number(found.high, "+.4f"),
        p=number(found.p, ".3f"),
    )
    if found.is_seen or not found.needed:
        return words
    return tr("{answer} To see a difference of {difference}, judge about {n} more queries.").format(
        answer=words, difference=number(TOLD_APART, "g"), n=number(found.needed)
    )


def remarks(runs: Sequence[RunMeasures]) -> Iterator[str]:
    if not any(run.has_contrast for run in runs):
        yield tr("Nothing can be measured: all candidates of a query have the same grade, so every order is as good.")
    if any(mean.depends_on_ties for run in runs for mean in run.means.values()):
        yield tr("A range is what a figure may be, as contexts of other labels have equal scores.")
    if without := sum(run.without_answer for run in runs):
        yield plural(
            without,
            "{n} judged query has no answer; it counts 0.",
            "{n} judged queries have no answer; each counts 0.",
        )
    if repeated := sum(run.repeated for run in runs):
        yield plural(
            repeated,
            "{n} context is listed twice in its query; each document counts once, by its best rank.",
            "{n} contexts are listed twice in their query; each document counts once, by its best rank.",
        )


def add_judgements_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--judgements",
        metavar=tr("BOOK"),
        help=tr("measure by this book of judgements besides the labels (default: the one that the window uses)"),
    )


def read_judgements(paths: Paths, name: str | None) -> BookGrades | None:
    """None for a book that is not there and was not asked for. Blocking. Raises UsageError, DataError."""
    with closing(Shelf(paths.judgements, read_only=True, clock=time.time)) as shelf:
        used = name or Settings.load(paths.settings).judgement_book or USUAL_NAME
        return read_book_grades(shelf.book(used)) if name or shelf.has(used) else None
