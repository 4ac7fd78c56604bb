"""A ranking's scores versus the similarities of this job's vectors, pair by pair, for texts that both jobs have."""

import math

from cfbatch_gui.core.errors import UserError
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.results.nearest import (
    VersusScores,
    scores_versus_similarities,
    texts_of_pairs,
)
from cfbatch_gui.core.system.settings import FolderUse
from cfbatch_gui.ui import display
from cfbatch_gui.ui.display import score_text
from cfbatch_gui.ui.notices import Notices
from cfbatch_gui.ui.plots import Chart, Dots, PictureButtons, PlotData
from cfbatch_gui.ui.results.vector_page import VectorPage
from cfbatch_gui.ui.theme import LARGE, SMALL
from cfbatch_gui.ui.widgets import Choice, ElidedLabel, MaybeEmpty, boxed, column, row
from cfbatch_gui.ui.widgets.text_panel import TextPanel

_LONGEST = 160  # characters of each text in the tip under the mouse
_Pair = tuple[str, str, str, str]  # its query, text, score and similarity


class VersusScoresView(VectorPage):
    def __init__(self, program: Program, notices: Notices) -> None:
        super().__init__(program, notices, "chart-scatter")
        self.versus: VersusScores | None = None  # the pairs that are shown
        self._folder: JobFolder | None = None
        self.ranking = Choice(self.tr("Ranking to look at"), on_picked=lambda _: self._look())
        self.ranking.setMinimumWidth(210)
        self.summary = ElidedLabel("", "quiet")
        self.chart = Chart(self.tr("Scores and similarities"))
        self.chart.picked.connect(self._picked)
        folder = program.remembered_folder(FolderUse.PICTURES)
        self.picture = PictureButtons(self.chart, notices, self.tasks, folder, self.tr("scores and similarities"))
        self.panel = TextPanel(lines=4)
        below = column(self.panel, margins=(LARGE, SMALL, LARGE, SMALL))
        self._body = MaybeEmpty("chart-scatter", boxed(column((self.chart, 1), below, gap=0)))
        self.lay_out_content(self._body, above=row(self.ranking, 4, (self.summary, 1), self.picture))

    def clear(self) -> None:
        self.versus, self._folder = None, None
        self.summary.setText("")
        self.picture.hide()
        self._body.show_sentence("")

    def arrived(self, *, is_first: bool) -> None:
        before = self.ranking.value()
        self.ranking.clear()
        for job in rankings(self.program):
            self.ranking.add(display.one_line(job.name, 60), job.id)
        if before is not None:
            self.ranking.set_value(before)
        self._look()

    def _look(self) -> None:
        if self.ranking.count():
            self.tasks.start("look", self._read_ranking(str(self.ranking.value())))

    async def _read_ranking(self, job_id: str) -> None:
        embeddings = self.embeddings
        if embeddings is None:
            return
        folder = self.program.folder(job_id)
        found = await self.worked_out(
            self.tr("Looking for texts that both jobs have…"),
            lambda tell: scores_versus_similarities(folder, embeddings, tell),
        )
        self.versus, self._folder = found, folder
        self._show(found, folder)

    def _show(self, found: VersusScores, folder: JobFolder) -> None:
        pairs = display.plural(len(found.scores), "{n} pair", "{n} pairs")
        said = [self.tr("{pairs} of {all} have both texts here").format(pairs=pairs, all=display.number(found.of))]
        if not math.isnan(found.correlation):
            said.append(self.tr("correlation {n}").format(n=display.number(found.correlation, ".2f")))
        if found.queries:
            pattern = self.tr("same first text for {n} of {all} queries")
            said.append(pattern.format(n=display.number(found.same_first), all=display.number(found.queries)))
        self.summary.setText(" · ".join(said))
        if len(found.scores):
            dots = Dots(found.scores, found.similarities, describe=self._describe)
            titles = self.tr("Score"), self.tr("Similarity of the vectors")
            self.chart.show_layers((dots,), across=titles[0], up=titles[1], data=lambda: _data(folder, found))
            self._picked(0)
            self._body.show_content()
        else:
            self._body.show_sentence(
                self.tr("No pair of this ranking has both its query and its text among the texts of this job.")
            )
        self.picture.setVisible(len(found.scores) > 0)
        self.show_foot(
            self.tr("A dot is a query with a context. Texts are the same when they are equal letter by letter.")
        )

    def _pair(self, index: int) -> _Pair | None:
        """None, after a notice, if it cannot be read."""
        if self.versus is None or self._folder is None:
            return None
        try:
            ((query, text),) = texts_of_pairs(self._folder, self.versus.item_numbers[index : index + 1])
        except UserError as error:  # also raised while painting, outside any task
            self.notices.show_error(error)
            return None
        return query, text, score_text(self.versus.scores[index]), score_text(self.versus.similarities[index])

    def _describe(self, index: int) -> str:
        if (pair := self._pair(index)) is None:
            return ""
        query, text, score, similarity = pair
        return f"{display.one_line(query, _LONGEST)}\n{display.one_line(text, _LONGEST)}\n{score} · {similarity}"

    def _picked(self, index: int) -> None:
        if (pair := self._pair(index)) is not None:
            query, text, score, similarity = pair
            about = self.tr("score {score}, similarity {similarity}").format(score=score, similarity=similarity)
            self.panel.show_text(display.one_line(query, 100), text, about=about)


def rankings(program: Program) -> tuple[Job, ...]:
    return tuple(job for job in program.ledger.jobs() if job.kind is Kind.RANK and job.has_results)


def _data(folder: JobFolder, versus: VersusScores) -> PlotData:
    texts = texts_of_pairs(folder, versus.item_numbers)
    numbers = zip(versus.scores.tolist(), versus.similarities.tolist(), strict=True)
    rows = ((*pair, *both) for pair, both in zip(texts, numbers, strict=True))
    return PlotData(("query", "text", "score", "similarity"), rows)
