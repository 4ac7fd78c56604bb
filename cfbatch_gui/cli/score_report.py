"""The statistics of all scores of a job, as in the window's overview."""

from collections.abc import Iterator
from dataclasses import asdict

from cfbatch_gui.cli.language import figures, number, plural, tr
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.results.numbers import score_text
from cfbatch_gui.core.results.score_figures import Baseline, ScoreFigures, Spread
from cfbatch_gui.core.system.languages import said

_NO_BASELINE = {
    Baseline.NO_TEXT_TWICE: message("none: no text was ranked for two queries"),
    Baseline.TOO_FEW_QUERIES: message("none: what contexts score with other queries can be said from ten queries on"),
    Baseline.TOO_FEW: message("none: too few texts were ranked for a query while they fit another one better"),
}


def lines_of_scores(found: ScoreFigures) -> Iterator[tuple[str, str]]:
    """The label and the text of a line for each statistic."""
    scored = number(found.scored)
    if found.is_partial:
        scored = tr("{n} of {all}; partial").format(n=scored, all=number(found.contexts))
    yield tr("Scores"), scored
    if found.spread is None:
        return
    yield tr("Spread"), _spread(found.spread)
    tied = plural(found.queries, "{tied} of {n} query", "{tied} of {n} queries", tied=number(found.first_tied))
    yield tr("First tied"), tied
    if found.others is None:
        yield tr("Baseline"), said(_NO_BASELINE[found.baseline])
        return
    if found.is_whole_pool:
        template = tr(
            "{n} contexts of the whole list score {mean} on average; 9 in 10 stay below {high}, {above} of all scores"
            " lie above"
        )
    else:
        template = tr(
            "{n} contexts picked for other queries score {mean} on average; 9 in 10 stay below {high}, {above} of all"
            " scores lie above"
        )
    yield (
        tr("Baseline"),
        template.format(
            n=number(found.other_pairs),
            mean=figures(score_text(found.others.mean)),
            high=figures(score_text(found.others.ninetieth)),
            above=number(found.above),
        ),
    )


def json_of_scores(found: ScoreFigures) -> dict[str, object]:
    """The statistics and the histogram as a JSON object."""
    return {
        "scored": found.scored,
        "contexts": found.contexts,
        "partial": found.is_partial,
        "queries": found.queries,
        "first_tied": found.first_tied,
        "spread": asdict(found.spread) if found.spread else None,
        "baseline": found.baseline.value,
        "other_pairs": found.other_pairs,
        "whole_pool": found.is_whole_pool,
        "others": asdict(found.others) if found.others else None,
        "above": found.above,
        "histogram": {
            "edges": found.edges.tolist(),
            "counts": found.counts.tolist(),
            "other_counts": found.other_counts.tolist(),
        },
    }


def _spread(spread: Spread) -> str:
    return tr("{lowest} to {highest}; 1 in 10 below {tenth}, middle {median}, 9 in 10 below {ninetieth}").format(
        **{name: figures(score_text(value)) for name, value in asdict(spread).items()}
    )
