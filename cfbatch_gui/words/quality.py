"""What both faces say of the quality of rankings, of comparisons and of judgements: sentences, and tables as rows."""

from collections.abc import Iterator, Mapping, Sequence

from cfbatch_gui.core.evaluation.comparison import Compared, Comparison, QueryMove, summary
from cfbatch_gui.core.evaluation.joining import MatchedBy
from cfbatch_gui.core.evaluation.judged import ENOUGH_JUDGED, BookGrades, Evaluation, RunMeasures
from cfbatch_gui.core.evaluation.significance import LEAST_QUERIES, TOLD_APART, Paired
from cfbatch_gui.core.judgements.files import Imported
from cfbatch_gui.core.judgements.session import Agreement
from cfbatch_gui.core.results.labels import UnusableLabels
from cfbatch_gui.words.figures import number, one_line, percent, plural, score_text, worded
from cfbatch_gui.words.languages import said, tr
from cfbatch_gui.words.states import is_practice, short_model

_AGREEMENT = (0.8, 0.6, 0.4, 0.2)  # of kappa; D. Altman, "Practical Statistics for Medical Research", 1991
_MOST_GRADES = 4  # of a proposal, in a sentence


def letter(index: int) -> str:
    """The name of a job in a comparison: "A" for the first."""
    return chr(ord("A") + index)


def measure_name(name: str) -> str:
    """As it stands on the screen: "Recall@10" for trec_eval's R@10."""
    return name.replace("R@", "Recall@", 1) if name.startswith("R@") else name


def _meaning(name: str, k: int) -> str:
    meanings = {
        f"nDCG@{k}": tr("how close the first {k} are to the best order there could be, which is 1"),
        "RR": tr("1 divided by the rank of the first relevant text"),
        f"R@{k}": tr("of all relevant texts, the share among the first {k}"),
        f"P@{k}": tr("of the first {k}, the share that is relevant"),
        f"Success@{k}": tr("the share of queries with a relevant text among the first {k}"),
        "AP": tr("precision at each relevant text, on average"),
        "bpref": tr("how rarely a text judged not relevant stands above a relevant one"),
        f"nDCG@{k} (exp)": tr("nDCG with 2 to the grade less 1 as gain"),
    }
    return meanings.get(name, "").format(k=k)


def signed(difference: float, specification: str = "+.3f") -> str:
    return number(difference, specification).replace("-", "−")


def answer_words(found: Paired, job: str, metric: str) -> tuple[str, str, str]:
    """Whether a difference can be seen, what changes from A to this job, and how much more would tell, or ""."""
    metric = measure_name(metric)
    if not (found.better or found.worse):
        same = plural(
            found.same,
            "The one judged query has the same {metric} under both.",
            "All {n} judged queries have the same {metric} under both.",
            metric=metric,
        )
        return tr("No query differs"), same, ""
    counts = plural(
        found.better,
        "{job} is better for {n} query, worse for {worse}, the same for {same}.",
        "{job} is better for {n} queries, worse for {worse}, the same for {same}.",
        **{"job": job, "worse": number(found.worse), "same": number(found.same)},
    )
    by = {"metric": metric, "difference": signed(found.difference)}
    if found.low is None or found.high is None:
        words = worded("{metric} changes by {difference} on average.", **by)
        more = worded("Judge texts of at least {n} queries to see how sure the answer is.", n=LEAST_QUERIES)
        return tr("Too few queries to tell"), f"{counts} {words}", more
    words = worded(
        "{metric} changes by {difference}; with 95% certainty by something between {low} and {high}.",
        **by,
        low=signed(found.low),
        high=signed(found.high),
    )
    if found.is_seen:
        answer = tr("{job} is better") if found.difference > 0 else tr("{job} is worse")
        return answer.format(job=job), f"{counts} {words}", ""
    more = worded(
        "To see a difference of {size}, judge about {n} more queries.",
        size=number(TOLD_APART, "g"),
        n=found.needed or 0,
    )
    return tr("No difference can be seen"), f"{counts} {words}", more if found.needed else ""


def how_it_is_known(found: Paired, *, several: bool) -> str:
    words = worded(
        "By a paired randomisation test: if it were tossed up for every query which ranking is which, the mean would"
        " differ as much in {share} of all cases (p). The interval is from drawing the queries again 20,000 times."
        " The same judgements always give the same figures.",
        share=percent(found.p, ".1%"),
    )
    corrected = tr("p is corrected for the number of comparisons (Holm).")
    return f"{words} {corrected}" if several else words


def judged_by(evaluation: Evaluation, book: BookGrades | None) -> str:
    if book is None or evaluation.book is None or not evaluation.book.matched:
        return tr("the labels of the file")
    return worded("the judgements “{name}” and the labels of the file", name=book.name)


def source_words(evaluation: Evaluation, book: BookGrades | None) -> str:
    return plural(
        len(evaluation.queries),
        "By {judgements}: {judged} for {n} query.",
        "By {judgements}: {judged} for {n} queries.",
        judgements=judged_by(evaluation, book),
        judged=plural(evaluation.judged, "{n} grade", "{n} grades"),
    )


def remarks(evaluation: Evaluation) -> Iterator[str]:
    """What has to be known about the measures."""
    runs, book = evaluation.runs, evaluation.book
    if evaluation.measures_nothing:
        yield tr("Nothing can be measured: all candidates of a query have the same grade, so every order is as good.")
    counts = {
        tr("Queries without judgements, left out: {n}."): evaluation.left_out,
        tr("Judged queries without an answer, each of which counts 0: {n}."): sum(run.without_answer for run in runs),
        tr("Texts listed twice in their query, which count once, by their best rank: {n}."): sum(
            run.repeated for run in runs
        ),
        tr("Texts with two labels, of which the first counts: {n}."): evaluation.conflicts,
        tr("Judgements about other versions of a text: {n}."): book.other_versions if book is not None else 0,
    }
    yield from (sentence.format(n=number(count)) for sentence, count in counts.items() if count)


def judged_share(evaluation: Evaluation) -> str:
    shares = " · ".join(f"{percent(run.judged_share)} ({letter(at)})" for at, run in enumerate(evaluation.runs))
    return worded("Judged among the first {k} texts: {shares}.", k=evaluation.k, shares=shares)


def too_few_judged(evaluation: Evaluation) -> str:
    if min(run.judged_share for run in evaluation.runs) >= ENOUGH_JUDGED:
        return ""
    return " ".join((judged_share(evaluation), tr("The figures are not to be relied upon.")))


def measure_rows(measures: Sequence[RunMeasures], k: int) -> list[tuple[str, ...]]:
    """A row for each measure: its name, its mean under each job, and what it means."""
    names = measures[0].means
    rows = [
        (measure_name(name), *(score_text(run.means[name]) for run in measures), _meaning(name, k)) for name in names
    ]
    judged = (percent(run.judged_share) for run in measures)
    return [*rows, (f"Judged@{k}", *judged, tr("of the first texts are judged; the others count as 0"))]


def measure_table(compared: Compared) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """The titles and rows of everything that is measured of jobs that are compared: a column for each of them."""
    found, letters = compared.evaluation, map(letter, range(len(compared.comparison.runs)))
    rows = measure_rows(found.runs, found.k) if found is not None else []
    titles = (tr("Measure"), *letters, tr("Meaning"))
    return titles, [*rows, *overlap_rows(compared.moves, compared.top_k)]


def overlap_rows(moves: Sequence[Sequence[QueryMove]], top_k: int) -> list[tuple[str, ...]]:
    """A row for each figure about the order alone, under each job but the first, with what it means."""
    totals = [summary(each) for each in moves]
    overlap = tr("overlap with A: 1 is the same ranking, less the higher up they differ (p = 0.9)")
    of_first = worded("overlap with A of the first {k} texts", k=top_k)
    moved = tr("queries with another first text than A")
    rows = (
        ("RBO", [score_text(each.rbo) for each in totals], overlap),
        (worded("Top {k}", k=top_k), [score_text(each.top) for each in totals], of_first),
        (tr("Other first"), [figure_of(each.other_first, each.queries) for each in totals], moved),
        (
            tr("Unmoved"),
            [figure_of(each.unmoved, each.queries) for each in totals],
            tr("queries that are ranked as in A"),
        ),
    )
    return [(name, "–", *values, meaning) for name, values, meaning in rows]  # none for A with itself


def figure_of(some: int, every: int) -> str:
    return worded("{n} of {all}", n=some, all=every)


def job_titles() -> tuple[str, ...]:
    """Of `job_rows`."""
    return "", tr("Job"), tr("Model"), tr("Queries"), tr("Scores"), tr("Matched with A")


def job_rows(comparison: Comparison) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for index, (run, joined) in enumerate(zip(comparison.runs, comparison.joined, strict=True)):
        model = short_model(run.job)
        if is_practice(run.job):
            model = worded("{model}, practice", model=model)
        scores = figure_of(run.scored, len(run.table)) if run.is_partial else number(run.scored)
        matched = ""
        if index:
            queries, texts = map(matched_words, (joined.queries, joined.texts))
            matched = worded("queries: {queries}; texts: {texts}", queries=queries, texts=texts)
        rows.append((letter(index), run.job.name, model, number(len(run.table.asked)), scores, matched))
    return rows


def matched_words(counts: Mapping[MatchedBy, int]) -> str:
    patterns = {
        MatchedBy.ID_AND_TEXT: tr("{n} by id and text"),
        MatchedBy.TEXT: tr("{n} by text"),
        MatchedBy.ID: tr("{n} by id alone, with other texts"),
    }
    return ", ".join(patterns[how].format(n=number(count)) for how, count in counts.items() if count) or tr("none")


def partial_words(comparison: Comparison) -> str:
    if not comparison.is_partial:
        return ""
    return tr("Partial: not every candidate has a score. What all jobs have scored is compared.")


def foot_words(comparison: Comparison, other: int, evaluation: Evaluation | None) -> str:
    """What is the same in A and another job, and how much of it is judged."""
    matched = matched_words(comparison.joined[other].texts)
    words = [plural(len(comparison.query), "{n} text in common: {how}.", "{n} texts in common: {how}.", how=matched)]
    if evaluation is not None:
        words.append(judged_share(evaluation))
    if any(is_practice(run.job) for run in comparison.runs):
        words.append(tr("Practice scores are from a small model on this computer."))
    return " ".join(words)


def comparison_remarks(compared: Compared) -> str:
    """By what jobs are measured, and what has to be known about it."""
    comparison, evaluation = compared.comparison, compared.evaluation
    if evaluation is None:
        words = [
            tr("There are no measures, for no text is judged. Judge some, or name a label column to measure by it.")
        ]
    else:
        source = source_words(evaluation, compared.book)
        defined = tr("Measures are means over the judged queries, as trec_eval defines them; equal scores go by id.")
        words = [source, defined, *remarks(evaluation)]
    words += [
        worded("Job {job}: {sentence}", job=letter(index), sentence=said(run.unusable.sentence))
        for index, run in enumerate(comparison.runs)
        if run.unusable is not None
    ]
    return " ".join(words)


def proposed_grades(unusable: UnusableLabels) -> str:
    """What these labels could mean: "no = 0, yes = 1"; "" without a proposal."""
    pairs = [f"{one_line(label, 20)} = {grade}" for label, grade in unusable.proposal]
    return ", ".join(pairs[:_MOST_GRADES]) + (", …" if len(pairs) > _MOST_GRADES else "")


def agreement_words(found: Agreement) -> str:
    """How far judges agree: the share with the same grade, and kappa in words."""
    share = worded(
        "the same grade for {same} of {pairs} texts ({share})",
        same=found.same,
        pairs=found.pairs,
        share=percent(found.same / max(1, found.pairs)),
    )
    if found.kappa is None:
        return worded("{share}; too little variety to say more", share=share)
    words = tr("very good"), tr("good"), tr("moderate"), tr("fair"), tr("poor")
    word = words[sum(found.kappa < least for least in _AGREEMENT)]
    return worded(
        "{share}, agreement beyond chance {word} (weighted kappa {kappa})",
        share=share,
        word=word,
        kappa=number(found.kappa, ".2f"),
    )


def import_words(done: Imported, book: str, *, has_job: bool) -> str:
    words = [
        plural(
            done.read,
            "Read {n} judgement; {new} are new in “{book}”.",
            "Read {n} judgements; {new} are new in “{book}”.",
            new=number(done.added),
            book=book,
        )
    ]
    if has_job:
        both = {"some": done.matched, "others": done.unmatched}
        words.append(worded("{some} are about texts of the job; {others} are not, and are kept all the same.", **both))
    if done.conflicting:
        words.append(
            plural(
                done.conflicting,
                "{n} is about texts that have different grades.",
                "{n} are about texts that have different grades.",
            )
        )
    return " ".join(words)
