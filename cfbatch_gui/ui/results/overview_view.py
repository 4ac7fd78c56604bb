"""The distribution of the scores of a ranking, and that of texts with other questions, as a chart and as quantiles."""

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QGridLayout, QWidget

from cfbatch_gui.core.errors import UserError
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.results.score_figures import ScoreFigures, Spread
from cfbatch_gui.core.system.languages import said
from cfbatch_gui.core.system.settings import FolderUse
from cfbatch_gui.ui import display
from cfbatch_gui.ui.display import score_text
from cfbatch_gui.ui.notices import Notices
from cfbatch_gui.ui.plots import Bars, Chart, Mark, PictureButtons, Steps
from cfbatch_gui.ui.result_view import ResultView
from cfbatch_gui.ui.results.loaded_results import (
    FigureReader,
    ResultLoader,
    nothing_yet,
    others_name,
    partial_line,
    reading_line,
)
from cfbatch_gui.ui.state_names import is_practice
from cfbatch_gui.ui.tasks import Tasks
from cfbatch_gui.ui.theme import LARGE, MEDIUM, SMALL, WIDE, scaled
from cfbatch_gui.ui.widgets import (
    PAGE_MARGINS,
    Card,
    Figure,
    Flow,
    IconLine,
    Label,
    LinkButton,
    MaybeEmpty,
    NoticeBar,
    boxed,
    column,
    line,
    row,
    scrolled,
)

_CHART_HEIGHT = 300
_LEAST_FIGURE = 54  # pixels of a column


class OverviewView(ResultView):
    """Shows the figures of `FigureReader`. `score_help_wanted` asks for the page of the help about scores."""

    score_help_wanted = Signal()

    def __init__(self, program: Program, notices: Notices, *, figures: FigureReader | None = None) -> None:
        super().__init__()
        self._notices = notices
        self._reader = figures or FigureReader(program)
        self.tasks = Tasks(self, self._cannot_be_read)
        self._loader = ResultLoader(self.tasks, self._reader.of, self._show, begin=self._begin)
        self._make_widgets(program)
        self._lay_out()

    def show_job(self, job: Job) -> None:
        self._loader.show_job(job)

    def reading(self) -> str:
        return self._reading.text()

    # Making

    def _make_widgets(self, program: Program) -> None:
        self.partial_bar = NoticeBar("", "attention")
        self.queries, self.scores, self.ties = Figure(), Figure(), Figure()
        self.chart = Chart(self.tr("Distribution of the scores"))
        self.chart.setFixedHeight(_CHART_HEIGHT)
        self.pictures = PictureButtons(
            self.chart, self._notices, self.tasks, name="scores", folder=program.remembered_folder(FolderUse.PICTURES)
        )
        self.spread = SpreadTable()
        self._reading = IconLine("", "info", "body", wrap=True)
        self._foot = IconLine("", wrap=True)
        self.score_link = LinkButton(self.tr("What is a score?"))
        self.score_link.clicked.connect(self.score_help_wanted)

    def _lay_out(self) -> None:
        card = Card()
        card.body.setContentsMargins(20, MEDIUM, 20, LARGE)
        card.body.setSpacing(MEDIUM)
        card.body.addLayout(row(Label(self.tr("How the scores are spread"), "part"), None, self.pictures))
        card.body.addWidget(self.chart)
        card.body.addWidget(line())
        card.body.addWidget(self.spread)
        figures = boxed(Flow(self.queries, self.scores, self.ties, gap=WIDE + WIDE))
        foot = row(self._foot, self.score_link)
        foot.setStretch(0, 1)
        content = column(self.partial_bar, figures, card, self._reading, foot, None, gap=LARGE)
        content.setContentsMargins(*PAGE_MARGINS)
        self._stack = MaybeEmpty("list-ordered", scrolled(boxed(content)))
        self.setLayout(column(self._stack))

    # Reading and showing

    def _begin(self, job: Job) -> None:
        self._stack.show_sentence("")

    def _cannot_be_read(self, error: UserError) -> None:
        self._stack.show_sentence(said(error.message))

    async def _show(self, job: Job, found: ScoreFigures) -> None:
        if found.spread is None:
            self._stack.show_sentence(nothing_yet(job))
            return
        self.partial_bar.set_text(partial_line(found.scored, found.contexts), "attention")
        self.partial_bar.setVisible(found.is_partial)
        self.queries.set_figure(
            display.number(found.queries), self.tr("query") if found.queries == 1 else self.tr("queries")
        )
        self.scores.set_figure(
            display.number(found.scored), self.tr("score") if found.scored == 1 else self.tr("scores")
        )
        self.ties.set_figure(
            display.number(found.first_tied),
            self.tr("query with a tie at the first place")
            if found.first_tied == 1
            else self.tr("queries with a tie at the first place"),
        )
        self._show_chart(found)
        self.spread.show_spreads(self._spreads(found))
        self._reading.set_line(reading_line(found))
        self._foot.set_line(self._what_scores_are(job))
        self.pictures.set_name(self.tr("{name}, scores").format(name=job.name))
        self._stack.show_content()

    def _show_chart(self, found: ScoreFigures) -> None:
        layers: list[Bars | Steps | Mark] = [Bars(found.edges, found.counts, self.tr("All scores"))]
        if found.others is not None:
            layers.append(Steps(found.edges, found.other_counts, others_name(found)))
            name = self.tr("9 in 10 with other questions stay below {score}")
            layers.append(Mark(found.others.ninetieth, name.format(score=score_text(found.others.ninetieth))))
        self.chart.show_layers(layers, across=self.tr("Score"), up=self.tr("Contexts"))

    def _spreads(self, found: ScoreFigures) -> list[tuple[str, Spread]]:
        named = ((self.tr("All scores"), found.spread), (others_name(found), found.others))
        return [(name, spread) for name, spread in named if spread is not None]

    def _what_scores_are(self, job: Job) -> str:
        if is_practice(job):
            return self.tr(
                "Practice scores, from a small model on this computer; they are similarities, not percentages."
            )
        return self.tr("Scores are similarities: compare them within one query; they are not percentages.")


class SpreadTable(QWidget):
    def __init__(self) -> None:
        super().__init__()
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(MEDIUM)
        self._grid.setVerticalSpacing(SMALL)
        self._grid.setColumnStretch(0, 1)
        self._cells: list[Label] = []
        titles = ("", *self._titles())
        for index, title in enumerate(titles):
            self._put(0, index, Label(title, "small", wrap=True))

    def show_spreads(self, spreads: Sequence[tuple[str, Spread]]) -> None:
        for cell in self._cells:
            self._grid.removeWidget(cell)
            cell.deleteLater()
        self._cells.clear()
        for number, (name, spread) in enumerate(spreads, 1):
            values = (spread.lowest, spread.tenth, spread.median, spread.ninetieth, spread.highest)
            for index, text in enumerate((name, display.number(spread.count), *map(score_text, values))):
                cell = Label(text)
                self._cells.append(cell)
                self._put(number, index, cell)

    def texts(self) -> list[str]:
        return [cell.text() for cell in self._cells]

    def _titles(self) -> tuple[str, ...]:
        return (
            self.tr("Count"),
            self.tr("Lowest"),
            self.tr("1 in 10 below"),
            self.tr("Middle"),
            self.tr("9 in 10 below"),
            self.tr("Highest"),
        )

    def _put(self, line_number: int, index: int, cell: Label) -> None:
        side = Qt.AlignmentFlag.AlignLeft if index == 0 else Qt.AlignmentFlag.AlignRight
        self._grid.addWidget(cell, line_number, index, side | Qt.AlignmentFlag.AlignVCenter)
        self._grid.setColumnMinimumWidth(index, 0 if index == 0 else scaled(_LEAST_FIGURE))
