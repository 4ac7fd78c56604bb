"""The distribution of the scores of a ranking, and that of texts with other questions, as a chart and as quantiles."""

from PySide6.QtCore import Signal

from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.results.score_table import ScoreFigures
from cfbatch_gui.core.system.settings import FolderUse
from cfbatch_gui.ui import display
from cfbatch_gui.ui.display import score_text
from cfbatch_gui.ui.notices import Notices
from cfbatch_gui.ui.plots import Bars, Chart, Mark, PictureButtons, Steps
from cfbatch_gui.ui.results.loaded_results import (
    FigureReader,
    ResultsPage,
    nothing_yet,
    others_name,
    partial_line,
    reading_line,
    scores_line,
)
from cfbatch_gui.ui.theme import LARGE, MEDIUM, WIDE
from cfbatch_gui.ui.widgets import (
    PAGE_MARGINS,
    Card,
    Figure,
    Flow,
    IconLine,
    Label,
    LabelGrid,
    LinkButton,
    NoticeBar,
    boxed,
    column,
    line,
    row,
    scrolled,
)

_CHART_HEIGHT = 300
_LEAST_FIGURE = 54  # pixels of a column


class OverviewView(ResultsPage[ScoreFigures]):
    """Shows the figures of `FigureReader`. `score_help_wanted` asks for the page of the help about scores."""

    score_help_wanted = Signal()

    def __init__(self, program: Program, notices: Notices, figures: FigureReader) -> None:
        super().__init__(program, notices, "list-ordered")
        self._reader = figures
        self._make_widgets(program)
        self._lay_out()

    # Making

    def _make_widgets(self, program: Program) -> None:
        self.partial_bar = NoticeBar("", "attention")
        self.queries, self.scores, self.ties = Figure(), Figure(), Figure()
        self.chart = Chart(self.tr("Distribution of the scores"))
        self.chart.setFixedHeight(_CHART_HEIGHT)
        folder = program.remembered_folder(FolderUse.PICTURES)
        self.pictures = PictureButtons(self.chart, self.notices, self.tasks, folder)
        self.spread = LabelGrid(least=_LEAST_FIGURE)
        self.reading = IconLine("", "info", "body", wrap=True)
        self.score_link = LinkButton(self.tr("What is a score?"), on_click=self.score_help_wanted.emit)

    def _lay_out(self) -> None:
        head = row(Label(self.tr("How the scores are spread"), "part"), None, self.pictures)
        card = Card(head, self.chart, line(), self.spread, gap=MEDIUM, margins=(20, MEDIUM, 20, LARGE))
        figures = boxed(Flow(self.queries, self.scores, self.ties, gap=WIDE + WIDE))
        foot = row((self.foot, 1), self.score_link)
        content = column(self.partial_bar, figures, card, self.reading, foot, None, gap=LARGE)
        content.setContentsMargins(*PAGE_MARGINS)
        self.lay_out(scrolled(boxed(content)))

    # Reading and showing

    async def read(self, job: Job) -> ScoreFigures:
        return await self._reader.of(job)

    async def show_read(self, job: Job, found: ScoreFigures) -> None:
        if found.spread is None:
            self.show_sentence(nothing_yet(job))
            return
        self.partial_bar.set_text(partial_line(found.scored, found.contexts), "attention")
        self.partial_bar.setVisible(found.is_partial)
        tied = (self.tr("query with a tie at the first place"), self.tr("queries with a tie at the first place"))
        for figure, count, (one, several) in (
            (self.queries, found.queries, (self.tr("query"), self.tr("queries"))),
            (self.scores, found.scored, (self.tr("score"), self.tr("scores"))),
            (self.ties, found.first_tied, tied),
        ):
            figure.set_figure(display.number(count), one if count == 1 else several)
        self._show_chart(found)
        self._show_spreads(found)
        self.reading.set_line(reading_line(found))
        self.foot.set_line(scores_line(job))
        self.pictures.set_name(self.tr("{name}, scores").format(name=job.name))
        self.show_content()

    def _show_chart(self, found: ScoreFigures) -> None:
        layers: list[Bars | Steps | Mark] = [Bars(found.edges, found.counts, self.tr("All scores"))]
        if found.others is not None:
            layers.append(Steps(found.edges, found.other_counts, others_name()))
            name = self.tr("9 in 10 with other questions stay below {score}")
            layers.append(Mark(found.others.ninetieth, name.format(score=score_text(found.others.ninetieth))))
        self.chart.show_layers(layers, across=self.tr("Score"), up=self.tr("Contexts"))

    def _show_spreads(self, found: ScoreFigures) -> None:
        lines = []
        for name, each in ((self.tr("All scores"), found.spread), (others_name(), found.others)):
            if each is not None:
                scores = map(score_text, (each.lowest, each.tenth, each.median, each.ninetieth, each.highest))
                lines.append((name, display.number(each.count), *scores))
        titles = (
            "",
            self.tr("Count"),
            self.tr("Lowest"),
            self.tr("1 in 10 below"),
            self.tr("Middle"),
            self.tr("9 in 10 below"),
            self.tr("Highest"),
        )
        self.spread.show_lines(lines, titles, right=range(1, len(titles)))
