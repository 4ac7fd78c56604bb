"""The statistics of all scores of a job, as in the window's overview."""

from collections.abc import Iterator
from dataclasses import asdict

from cfbatch_gui.core.results.numbers import score_text
from cfbatch_gui.core.results.rankings.score_figures import Baseline, ScoreFigures, Spread

_NO_BASELINE = {
    Baseline.NO_TEXT_TWICE: "none: no text was ranked for two queries",
    Baseline.TOO_FEW_QUERIES: "none: what contexts score with other queries can be said from ten queries on",
    Baseline.TOO_FEW: "none: too few texts were ranked for a query while they fit another one better",
}


def lines_of_scores(figures: ScoreFigures) -> Iterator[str]:
    """A line for each statistic, its name at the left."""
    partial = f" of {figures.contexts:,}; partial" if figures.is_partial else ""
    yield f"{'Scores':<11} {figures.scored:,}{partial}"
    if figures.spread is None:
        return
    yield f"{'Spread':<11} {_spread(figures.spread)}"
    yield f"{'First tied':<11} {figures.first_tied:,} of {figures.queries:,} queries"
    if figures.others is None:
        yield f"{'Baseline':<11} {_NO_BASELINE[figures.baseline]}"
    else:
        others = "contexts of the whole list" if figures.is_whole_pool else "contexts picked for other queries"
        mean, high = score_text(figures.others.mean), score_text(figures.others.ninetieth)
        yield (
            f"{'Baseline':<11} {figures.other_pairs:,} {others} score {mean} on average; 9 in 10 stay below"
            f" {high}, {figures.above:,} of all scores lie above"
        )


def json_of_scores(figures: ScoreFigures) -> dict[str, object]:
    """The statistics and the histogram as a JSON object."""
    return {
        "scored": figures.scored,
        "contexts": figures.contexts,
        "partial": figures.is_partial,
        "queries": figures.queries,
        "first_tied": figures.first_tied,
        "spread": asdict(figures.spread) if figures.spread else None,
        "baseline": figures.baseline.value,
        "other_pairs": figures.other_pairs,
        "whole_pool": figures.is_whole_pool,
        "others": asdict(figures.others) if figures.others else None,
        "above": figures.above,
        "histogram": {
            "edges": figures.edges.tolist(),
            "counts": figures.counts.tolist(),
            "other_counts": figures.other_counts.tolist(),
        },
    }


def _spread(spread: Spread) -> str:
    lowest, tenth, median, ninetieth, highest = map(
        score_text, (spread.lowest, spread.tenth, spread.median, spread.ninetieth, spread.highest)
    )
    return f"{lowest} to {highest}; 1 in 10 below {tenth}, middle {median}, 9 in 10 below {ninetieth}"
