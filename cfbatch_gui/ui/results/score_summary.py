"""The figures over all scores of a ranking: read once for the pages that show them, and put into sentences."""

import asyncio

from PySide6.QtCore import QCoreApplication

from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.results.numbers import score_text
from cfbatch_gui.core.results.rankings.score_figures import Baseline, ScoreFigures, score_figures
from cfbatch_gui.ui import display
from cfbatch_gui.ui.results.loaded_results import Version, version_of


class FigureReader:
    """Caches the figures read last. Concurrent calls for the same job share one reading."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._reading = asyncio.Lock()
        self._version: Version = ()
        self._figures: ScoreFigures | None = None

    async def of(self, job: Job) -> ScoreFigures:
        """The figures of the job's present results. Raises DataError."""
        version = version_of(job)
        async with self._reading:
            if self._figures is None or self._version != version:
                self._figures = await asyncio.to_thread(score_figures, self._program.folder(job.id))
                self._version = version
            return self._figures


def baseline_line(figures: ScoreFigures) -> str:
    """The sentence at the foot of a ranking; "" without a baseline."""
    if figures.unrelated is None:
        return ""
    return _tr("Unrelated pairs in this data score {mean} on average; 9 in 10 stay below {high}.").format(
        mean=score_text(figures.unrelated.mean), high=score_text(figures.unrelated.ninetieth)
    )


def reading_line(figures: ScoreFigures) -> str:
    """How the distribution is to be read, or why nothing can be said by it."""
    if figures.unrelated is not None:
        unrelated = _tr(
            "How to read it: an unrelated pair is a text with a query that it was ranked for, but that fits another of"
            " your queries better. 9 in 10 of these {pairs} score below {high}, and {above} of all {all} scores lie"
            " above. A score below says little; the further above, the less it is chance."
        )
        return unrelated.format(
            pairs=display.plural(figures.unrelated_pairs, _tr("{n} pair"), _tr("{n} pairs")),
            high=score_text(figures.unrelated.ninetieth),
            above=display.number(figures.above),
            all=display.number(figures.scored),
        )
    if figures.baseline is Baseline.TOO_FEW:
        found = display.plural(figures.unrelated_pairs, _tr("only {n} unrelated pair"), _tr("only {n} unrelated pairs"))
        if not figures.unrelated_pairs:
            found = _tr("no unrelated pair")
        return _tr(
            "There is no baseline: your data has {found} of a query with a text that fits another query better. Compare"
            " scores within one query, not with a fixed number."
        ).format(found=found)
    return _tr(
        "There is no baseline: no text of your data was ranked for two queries, so nothing shows what an unrelated pair"
        " scores. Compare scores within one query, not with a fixed number."
    )


def partial_line(scored: int, contexts: int) -> str:
    """How many contexts have a score; "" when all have."""
    if scored >= contexts:
        return ""
    return _tr("Partial: {scored} of {all} contexts have a score.").format(
        scored=display.number(scored), all=display.number(contexts)
    )


def _tr(text: str) -> str:
    return QCoreApplication.translate("scores", text)
