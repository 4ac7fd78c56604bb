"""The answer to "is B better than A?" in sentences, and how sure it is."""

from cfbatch_gui.core.evaluation.judged import ENOUGH_JUDGED, Evaluation
from cfbatch_gui.core.evaluation.significance import LEAST_QUERIES, TOLD_APART, Paired
from cfbatch_gui.ui import display
from cfbatch_gui.ui.display import tr
from cfbatch_gui.ui.evaluation.comparison_figures import Compared, letter


def headline(found: Paired, job: str) -> str:
    """The answer in a few words."""
    if not (found.better or found.worse):
        return tr("No query differs")
    if found.low is None:
        return tr("Too few queries to tell")
    if not found.is_seen:
        return tr("No difference can be seen")
    return (tr("{job} is better") if found.difference > 0 else tr("{job} is worse")).format(job=job)


def change_sentence(found: Paired, job: str, metric: str) -> str:
    """For how many queries a job is better and worse, and by how much on average."""
    if not (found.better or found.worse):
        same = display.plural(found.same, "The one judged query has", "All {n} judged queries have")
        return tr("{queries} the same {metric} under both.").format(queries=same, metric=metric)
    pattern = tr("{job} is better for {better}, worse for {worse}, the same for {same}.")
    better = display.plural(found.better, "{n} query", "{n} queries")
    worse, same = display.number(found.worse), display.number(found.same)
    counts = pattern.format(job=job, better=better, worse=worse, same=same)
    by = tr("{metric} changes by {difference}").format(metric=metric, difference=signed(found.difference))
    if found.low is None or found.high is None:
        return tr("{counts} {by} on average.").format(counts=counts, by=by)
    pattern = tr("{counts} {by}; with 95 % certainty by something between {low} and {high}.")
    return pattern.format(counts=counts, by=by, low=signed(found.low), high=signed(found.high))


def more_queries(found: Paired) -> str:
    """How many more queries would show a difference, "" where one is seen or nothing can be said."""
    if found.low is None and (found.better or found.worse):
        return tr("Judge texts of at least {n} queries to see how sure the answer is.").format(n=LEAST_QUERIES)
    if found.is_seen or not found.needed:
        return ""
    more = tr("To see a difference of {size}, judge about {n} more queries.")
    return more.format(size=display.number(TOLD_APART, "g"), n=display.number(found.needed))


def how_it_is_known(found: Paired, *, several: bool) -> str:
    """By which test and with which p value."""
    words = tr(
        "By a paired randomisation test: if it were tossed up for every query which ranking is which, the mean would"
        " differ as much in {share} of all cases (p). The interval is from drawing the queries again 20,000 times. The"
        " same judgements always give the same figures."
    ).format(share=display.number(found.p * 100, ".1f") + " %")
    if several:
        words += " " + tr("p is corrected for the number of comparisons (Holm).")
    return words


def too_few_judged(evaluation: Evaluation, other: int) -> str:
    """Why the figures are not to be relied upon, "" if enough of the first k texts of both jobs are judged."""
    shares = (evaluation.runs[0].judged_share, evaluation.runs[other].judged_share)
    if min(shares) >= ENOUGH_JUDGED:
        return ""
    pattern = tr(
        "Of the first {k} texts only {a} (A) and {b} ({job}) are judged. The figures are not to be relied upon."
    )
    a, b = map(display.percent, shares)
    return pattern.format(k=evaluation.k, a=a, b=b, job=letter(other))


def source_words(compared: Compared) -> str:
    """Whose judgements these are."""
    evaluation = compared.evaluation
    if evaluation is None:
        return ""
    counts = tr("{n} judgements of {queries} queries").format(
        n=display.number(evaluation.judged), queries=display.number(len(evaluation.queries))
    )
    if compared.book is None or evaluation.book is None or not evaluation.book.matched:
        return tr("By the labels of the files: {counts}.").format(counts=counts)
    return tr("By the book “{book}” and the labels of the files: {counts}.").format(
        book=compared.book.name, counts=counts
    )


def signed(difference: float) -> str:
    """With its sign and three digits."""
    return display.number(difference, "+.3f").replace("-", "−")
