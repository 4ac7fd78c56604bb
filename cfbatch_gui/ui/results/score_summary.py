"""The figures over all scores of a ranking: read once for the pages that show them, and put into sentences."""

import asyncio

from PySide6.QtCore import QCoreApplication

from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.results.score_figures import Baseline, ScoreFigures, score_figures
from cfbatch_gui.ui import display
from cfbatch_gui.ui.display import score_text
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


def others_name(figures: ScoreFigures) -> str:
    """What the pairs are that all scores are compared with."""
    return _tr("Texts of the whole list") if figures.is_whole_pool else _tr("Texts picked for other questions")


def baseline_line(figures: ScoreFigures) -> str:
    """The sentence at the foot of a ranking; "" without a baseline."""
    if figures.others is None:
        return ""
    pattern = _tr("Texts picked for other questions score {mean} on average; 9 in 10 stay below {high}.")
    if figures.is_whole_pool:
        pattern = _tr("Texts that suit another question better have a mean score of {mean}; 9 in 10 stay below {high}.")
    return pattern.format(mean=score_text(figures.others.mean), high=score_text(figures.others.ninetieth))


def reading_line(figures: ScoreFigures) -> str:
    """How the distribution is to be read, or why nothing can be said by it."""
    if figures.others is not None:
        pattern = _tr(
            "How to read it: a text that was picked for several of your questions fits one of them best, and is"
            " compared with the others. 9 in 10 of these {pairs} score below {high}, and {above} of all {all} scores"
            " lie above. Texts that were not picked for any of them would score lower still."
        )
        if figures.is_whole_pool:
            pattern = _tr(
                "How to read it: every question was compared with the whole list, mostly with texts that fit another"
                " question better. 9 in 10 of these {pairs} score below {high}, and {above} of all {all} scores lie"
                " above. A score below says little; the further above, the less it is chance."
            )
        return pattern.format(
            pairs=display.plural(figures.other_pairs, "{n} pair", "{n} pairs"),
            high=score_text(figures.others.ninetieth),
            above=display.number(figures.above),
            all=display.number(figures.scored),
        )
    if figures.baseline is Baseline.TOO_FEW_QUERIES:
        return _tr(
            "Not enough data to show a typical unrelated score: that takes ten questions or more. Compare scores within"
            " one query, not with a fixed number."
        )
    if figures.baseline is Baseline.TOO_FEW:
        return _tr(
            "Not enough data to show a typical unrelated score: too few of your texts were ranked for a query while"
            " they fit another one better. Compare scores within one query, not with a fixed number."
        )
    return _tr(
        "Not enough data to show a typical unrelated score: no text of your data was ranked for two queries. Compare"
        " scores within one query, not with a fixed number."
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
