"""The measures of a ranking by its labels, and what of the label column could not be used."""

from collections.abc import Iterator, Sequence

from cfbatch_gui.cli.console import counted, one_line
from cfbatch_gui.core.evaluation.book_grades import BookGrades
from cfbatch_gui.core.evaluation.judged import Evaluation, RunMeasures
from cfbatch_gui.core.evaluation.runs import Run
from cfbatch_gui.core.evaluation.significance import TOLD_APART, Paired
from cfbatch_gui.core.results.labels import UnusableLabels

_LONGEST_LABEL = 40  # characters
_MOST_QUERIES = 10


def judged_by(book: BookGrades | None) -> str:
    """ "the labels", or "the book “Support” and the labels"."""
    return f"the book “{one_line(book.name)}” and the labels" if book is not None else "the labels"


def lines_of_quality(run: Run, evaluation: Evaluation | None, book: BookGrades | None = None) -> Iterator[str]:
    """The means, and the queries that are ranked worst; what was left out. Nothing for a job without judgements."""
    if run.unusable is not None:
        yield f"{'Labels':<11} {unusable_words(run.unusable)}"
    if evaluation is None:
        return
    (measures,) = evaluation.runs
    yield (
        f"{'Quality':<11} by {judged_by(book)}: means of {len(evaluation.queries):,} judged queries"
        f" ({evaluation.left_out:,} others left out); of the first {evaluation.k}"
        f" {measures.judged_share:.0%} are judged"
    )
    for name, mean in measures.means.items():
        yield f"{'':<11} {name:<14} {mean.text()}"
    yield from (f"{'':<11} {words}" for words in remarks((measures,)))
    name = next(iter(measures.values))
    values = measures.values[name]
    worst = [index for index in values.argsort(kind="stable").tolist() if values[index] < 1][:_MOST_QUERIES]
    if worst:
        yield f"{'Worst':<11} {name} of single queries:"
    for index in worst:
        query = evaluation.queries[index]
        yield f"{'':<11} {values[index]:.4f}  {one_line(f'{query.id}  {query.text}' if query.id else query.text)}"


def json_of_quality(
    run: Run, evaluation: Evaluation | None, book: BookGrades | None = None
) -> dict[str, object] | None:
    """The measures as a JSON object, None for a job without judgements."""
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
    """The means of one run; `lowest_and_highest_by_ties` has those that equal scores leave open."""
    ties = {name: [mean.lowest, mean.highest] for name, mean in run.means.items() if mean.depends_on_ties}
    return {
        **{name: mean.value for name, mean in run.means.items()},
        "without_answer": run.without_answer,
        "listed_twice": run.repeated,
        "judged_share": run.judged_share,
        "lowest_and_highest_by_ties": ties,
    }


def json_of_unusable(unusable: UnusableLabels | None) -> dict[str, object] | None:
    """The labels that are no grade, None without any."""
    if unusable is None:
        return None
    return {
        "count": unusable.count,
        "examples": list(unusable.examples),
        "first_rows": list(unusable.rows),
        "proposed_grades": dict(unusable.proposal) or None,
    }


def unusable_words(unusable: UnusableLabels) -> str:
    """ "12 labels are no whole numbers and were left out, such as “0.5” and “yes” (rows 2, 3, 5, …)"."""
    examples = " and ".join(f"“{one_line(each)[:_LONGEST_LABEL]}”" for each in unusable.examples)
    rows = ", ".join(f"{row:,}" for row in unusable.rows) + (", …" if len(unusable.rows) < unusable.count else "")
    offer = ""
    if unusable.proposal:
        said = ", ".join(f"{one_line(label)[:_LONGEST_LABEL]} = {grade}" for label, grade in unusable.proposal)
        offer = f"; “cfbatch judgements grades JOB --accept” uses {said}"
    if unusable.count == 1:
        return f"1 label is no whole number and was left out: {examples} (row {rows}){offer}"
    return f"{unusable.count:,} labels are no whole numbers and were left out, such as {examples} (rows {rows}){offer}"


def answer_words(found: Paired, number: int, metric: str) -> str:
    """What job `number` is to the first: whether a difference can be seen, with its interval, and what would tell."""
    better = counted(found.better, "query", "queries")
    counts = f"{number} is better than 1 for {better}, worse for {found.worse:,}, the same for {found.same:,}"
    if found.low is None or found.high is None:
        return f"{counts}: {found.better + found.worse + found.same:,} queries are too few to tell."
    verdict = "no difference can be seen"
    if found.is_seen:
        verdict = f"{number} is better" if found.difference > 0 else f"{number} is worse"
    words = (
        f"{counts}: {verdict} ({metric} {found.difference:+.4f}, 95 % {found.low:+.4f} to {found.high:+.4f},"
        f" p = {found.p:.3f})."
    )
    if not found.is_seen and found.needed:
        words += f" To see a difference of {TOLD_APART:g}, judge about {found.needed:,} more queries."
    return words


def remarks(runs: Sequence[RunMeasures]) -> Iterator[str]:
    """Sentences about what the measures of these runs cannot say."""
    if not any(run.has_contrast for run in runs):
        yield "Nothing can be measured: all candidates of a query have the same grade, so every order is as good."
    if any(mean.depends_on_ties for run in runs for mean in run.means.values()):
        yield "A range is what a figure may be, as contexts of other labels have equal scores."
    if without := sum(run.without_answer for run in runs):
        yield f"{without:,} judged queries have no answer; each counts 0."
    if repeated := sum(run.repeated for run in runs):
        yield f"{repeated:,} contexts are listed twice in their query; each document counts once, by its best rank."
