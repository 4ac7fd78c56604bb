"""What both faces say of results: how many there are, how the scores are spread, how to read them."""

from typing import TYPE_CHECKING

from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.words import figures
from cfbatch_gui.words.figures import score_text, told, worded
from cfbatch_gui.words.languages import tr
from cfbatch_gui.words.states import is_practice, short_model

if TYPE_CHECKING:
    from cfbatch_gui.core.results.embeddings import VectorChecks
    from cfbatch_gui.core.results.score_table import ScoreFigures


def others_name() -> str:
    return tr("Texts that suit another question better")


def baseline_line(scores: "ScoreFigures") -> str:
    if scores.others is None:
        return ""
    return told("others_mean_and_ninetieth", mean=scores.others.mean, high=scores.others.ninetieth)


def reading_line(scores: "ScoreFigures") -> str:
    if scores.others is None:
        return told("not_enough_data_for_unrelated")
    pairs, high = figures.plural(scores.other_pairs, "{n} pair", "{n} pairs"), scores.others.ninetieth
    return told("how_to_read_scores", pairs=pairs, high=high, above=scores.above, all=scores.scored)


def partial_line(scored: int, all_of_them: int) -> str:
    if scored >= all_of_them:
        return ""
    return worded("Partial: {scored} of {all} candidates have a score.", scored=scored, all=all_of_them)


def scores_line(job: Job) -> str:
    if is_practice(job):
        return tr("Practice scores, from a small model on this computer; they are not percentages.")
    return tr("Compare scores within one query; they are not percentages.")


def score_counts(found: "ScoreFigures") -> tuple[tuple[str, str], ...]:
    """Of queries, scores, and queries with several texts in the first place: each as number and name."""
    tied = (tr("query with a tie at the first place"), tr("queries with a tie at the first place"))
    return tuple(
        (figures.number(count), one if count == 1 else several)
        for count, (one, several) in (
            (found.queries, (tr("query"), tr("queries"))),
            (found.scored, (tr("score"), tr("scores"))),
            (found.first_tied, tied),
        )
    )


def spread_table(found: "ScoreFigures") -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Titles, and a row of quantiles of all scores and of those of other pairs."""
    lines = []
    for name, each in ((tr("All scores"), found.spread), (others_name(), found.others)):
        if each is not None:
            scores = map(score_text, (each.lowest, each.tenth, each.median, each.ninetieth, each.highest))
            lines.append((name, figures.number(each.count), *scores))
    return (
        "",
        tr("Count"),
        tr("Lowest"),
        tr("1 in 10 below"),
        tr("Middle"),
        tr("9 in 10 below"),
        tr("Highest"),
    ), lines


def checks_line(checks: "VectorChecks", job: Job) -> tuple[str, bool]:
    """What is known of all vectors, and whether they can be used."""
    if not checks.dimension or checks.missing == checks.texts:
        return tr("No vector has come back yet."), True
    words = [figures.plural(checks.dimension, "{n} number a text", "{n} numbers a text")]
    if not checks.unit_length:
        words.append(worded("lengths {shortest} to {longest}", shortest=checks.norm_min, longest=checks.norm_max))
    counts = {
        tr("empty: {n}"): checks.zero,
        tr("repeated: {n}"): checks.repeated,
        tr("with values that are no numbers: {n}"): checks.non_finite,
        tr("without a vector: {n}"): checks.missing,
    }
    wrong = [figures.filled(pattern, {"n": count}) for pattern, count in counts.items() if count]
    words += wrong or [tr("no empty or repeated vectors")]
    if is_practice(job):
        words.append(worded("practice, not {model}", model=short_model(job)))
    return " · ".join(words), not (checks.zero or checks.non_finite)
