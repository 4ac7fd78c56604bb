"""A comparison with all figures that its page shows, and the sentences about them."""

from collections.abc import Sequence
from dataclasses import dataclass

from cfbatch_gui.core.evaluation.comparison import (
    Comparison,
    MoveSummary,
    QueryMove,
    compare,
    most_moved_first,
    query_moves,
    summary,
)
from cfbatch_gui.core.evaluation.joining import Joined, read_run
from cfbatch_gui.core.evaluation.joining import matched_words as matched_by
from cfbatch_gui.core.evaluation.judged import ENOUGH_JUDGED, Evaluation, evaluate, remarks
from cfbatch_gui.core.evaluation.judged_documents import BookGrades
from cfbatch_gui.core.evaluation.significance import LEAST_QUERIES, TOLD_APART, Paired
from cfbatch_gui.core.export_metadata import metadata_of
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.system.languages import said
from cfbatch_gui.ui import display
from cfbatch_gui.ui.display import tr
from cfbatch_gui.ui.state_names import is_practice

_TOPS = (10, 5, 3)


@dataclass(frozen=True, slots=True, eq=False)
class Compared:
    """`moves`, what moved most first, and `summaries` are of each job but the first. `evaluation` is None without
    labels and judgements; `book` has those that count beside the labels.
    """

    jobs: tuple[Job, ...]
    comparison: Comparison
    moves: tuple[tuple[QueryMove, ...], ...]
    summaries: tuple[MoveSummary, ...]
    evaluation: Evaluation | None
    top_k: int
    book: BookGrades | None = None


def version_of(jobs: Sequence[Job]) -> tuple[object, ...]:
    """Changes exactly when there may be other scores to compare: an answer came, or the jobs are others."""
    return tuple((job.id, tuple(each.number for each in job.batches if each.state.is_final)) for job in jobs)


def read_comparison(program: Program, jobs: Sequence[Job], top_k: int | None = None) -> Compared:
    """Blocking; the first job is what the others are compared with. Raises UsageError, DataError."""
    runs = [read_run(program.folder(job.id), metadata_of(job, "")) for job in jobs]
    comparison = compare(runs)
    texts = len(comparison.query) / len(comparison.queries)
    usual = next((count for count in _TOPS if count < texts), 1)
    book = program.judgements.grades()
    return with_top(tuple(jobs), comparison, usual if top_k is None else top_k, book)


def with_top(jobs: tuple[Job, ...], comparison: Comparison, top_k: int, book: BookGrades | None) -> Compared:
    """Figures with this cut-off. Blocking."""
    found = (query_moves(comparison, other, top_k=top_k) for other in range(1, len(jobs)))
    moves = tuple(tuple(most_moved_first(each)) for each in found)
    evaluation = evaluate(comparison.runs, comparison.joined, k=top_k, book=book)
    return Compared(jobs, comparison, moves, tuple(map(summary, moves)), evaluation, top_k, book)


def letter(number: int) -> str:
    return chr(ord("A") + number) if number < 26 else f"{number + 1}"


def named(jobs: Sequence[Job]) -> list[str]:
    """ "A: Help centre", "B: Help centre, short": the names in the header of the page."""
    pattern = tr("{letter}: {name}")
    return [
        pattern.format(letter=letter(number), name=display.one_line(job.name, 60)) for number, job in enumerate(jobs)
    ]


def matched_words(joined: Joined) -> str:
    queries, texts = (said(matched_by(counts)) for counts in (joined.queries, joined.texts))
    return tr("queries: {queries}; texts: {texts}").format(queries=queries, texts=texts)


def partial_words(comparison: Comparison, jobs: Sequence[Job]) -> str:
    partial = [(job, run) for job, run in zip(jobs, comparison.runs, strict=True) if run.is_partial]
    if not partial:
        return ""
    sentences = [
        tr("“{name}” has {scored} of {all} scores").format(
            name=job.name, scored=display.number(run.scored), all=display.number(len(run.table))
        )
        for job, run in partial
    ]
    return tr("Partial: {jobs}. What all of them have scored is compared.").format(jobs=display.listed(sentences))


def foot_words(jobs: Sequence[Job]) -> str:
    sentences = [
        tr(
            "Overlap is rank-biased (RBO, p = 0.9): 1 is the same ranking, less the higher up two differ. Items are"
            " matched by their ids and texts, never by their place."
        )
    ]
    if any(map(is_practice, jobs)):
        sentences.append(tr("Practice scores are from a small model on this computer."))
    return " ".join(sentences)


def scatter_words(same_model: bool) -> str:
    if same_model:
        return tr("Each dot is a text with a query. On the dashed line both jobs give the same score.")
    return tr(
        "Each dot is a text with a query. Scores of two models have scales of their own: look at the order, not at the"
        " difference."
    )


def unusable_words(compared: Compared) -> str:
    pattern = tr("Job {job}: {sentence}")
    return " ".join(
        pattern.format(job=letter(number), sentence=said(run.unusable.sentence))
        for number, run in enumerate(compared.comparison.runs)
        if run.unusable is not None
    )


def judged_words(found: Evaluation | None) -> str:
    if found is None:
        return tr(
            "There are no measures, for no text is judged. Judge some, or name a label column (whole numbers, 0 is not"
            " relevant) to measure the jobs by it."
        )
    sentences = [
        display.plural(len(found.queries), "By the judgements of {n} query.", "By the judgements of {n} queries."),
        tr("All are means over these queries, as trec_eval defines them; “exp” takes 2 to the label less 1 as gain."),
    ]
    if found.left_out:
        sentences.append(
            display.plural(
                found.left_out,
                "{n} query without judgements is left out.",
                "{n} queries without judgements are left out.",
            )
        )
    if found.conflicts:
        sentences.append(
            display.plural(
                found.conflicts,
                "{n} text is labelled differently; the label of job A holds.",
                "{n} texts are labelled differently; the label of job A holds.",
            )
        )
    sentences += map(said, remarks(found.runs))
    return " ".join(sentences)


def headline(found: Paired, job: str) -> str:
    if not (found.better or found.worse):
        return tr("No query differs")
    if found.low is None:
        return tr("Too few queries to tell")
    if not found.is_seen:
        return tr("No difference can be seen")
    return (tr("{job} is better") if found.difference > 0 else tr("{job} is worse")).format(job=job)


def change_sentence(found: Paired, job: str, metric: str) -> str:
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
    if found.low is None and (found.better or found.worse):
        return tr("Judge texts of at least {n} queries to see how sure the answer is.").format(n=LEAST_QUERIES)
    if found.is_seen or not found.needed:
        return ""
    more = tr("To see a difference of {size}, judge about {n} more queries.")
    return more.format(size=display.number(TOLD_APART, "g"), n=display.number(found.needed))


def how_it_is_known(found: Paired, *, several: bool) -> str:
    words = tr(
        "By a paired randomisation test: if it were tossed up for every query which ranking is which, the mean would"
        " differ as much in {share} of all cases (p). The interval is from drawing the queries again 20,000 times. The"
        " same judgements always give the same figures."
    ).format(share=display.number(found.p * 100, ".1f") + " %")
    if several:
        words += " " + tr("p is corrected for the number of comparisons (Holm).")
    return words


def too_few_judged(evaluation: Evaluation, other: int) -> str:
    shares = (evaluation.runs[0].judged_share, evaluation.runs[other].judged_share)
    if min(shares) >= ENOUGH_JUDGED:
        return ""
    pattern = tr(
        "Of the first {k} texts only {a} (A) and {b} ({job}) are judged. The figures are not to be relied upon."
    )
    a, b = map(display.percent, shares)
    return pattern.format(k=evaluation.k, a=a, b=b, job=letter(other))


def source_words(compared: Compared) -> str:
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
    return display.number(difference, "+.3f").replace("-", "−")
