"""The scores of two jobs against each other, a dot for each text with a query."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QWidget

from cfbatch_gui.core.program import Program
from cfbatch_gui.core.system.settings import FolderUse
from cfbatch_gui.ui import display
from cfbatch_gui.ui.display import score_text
from cfbatch_gui.ui.evaluation.comparison_figures import Compared, scatter_words
from cfbatch_gui.ui.notices import Notices
from cfbatch_gui.ui.plots import Chart, Dots, Line, PictureButtons
from cfbatch_gui.ui.tasks import Tasks
from cfbatch_gui.ui.theme import LARGE, MEDIUM, WIDE
from cfbatch_gui.ui.widgets import IconLine, column, row


class ScoresTab(QWidget):
    """`query_picked` brings the number of the query whose dot was clicked."""

    query_picked = Signal(int)

    def __init__(self, program: Program, notices: Notices, tasks: Tasks, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._compared: Compared | None = None
        self.chart = Chart(self.tr("Scores of both jobs"))
        self.chart.picked.connect(self._picked)
        self.pictures = PictureButtons(
            self.chart, notices, tasks, name="scores", folder=program.remembered_folder(FolderUse.PICTURES)
        )
        self._about = IconLine("", wrap=True)
        content = column(gap=MEDIUM, margins=(WIDE, MEDIUM, WIDE, MEDIUM))
        head = row(gap=LARGE)
        head.addWidget(self._about, 1, Qt.AlignmentFlag.AlignVCenter)
        head.addWidget(self.pictures)
        content.addLayout(head)
        content.addWidget(self.chart, 1)
        self.setLayout(content)

    def show_scores(self, compared: Compared, other: int) -> None:
        """Those of the first job and number `other`."""
        self._compared = compared
        comparison = compared.comparison
        one, two = compared.jobs[0], compared.jobs[other]
        same = one.model == two.model and one.connection == two.connection
        x, y = comparison.scores[0], comparison.scores[other]

        def describe(index: int) -> str:
            query = comparison.queries[int(comparison.query[index])]
            return f"{display.one_line(query.text, 120)}\n{score_text(x[index])} · {score_text(y[index])}"

        dots = Dots(x, y, describe=describe)
        self.chart.show_layers((Line(0, 1), dots) if same else (dots,), across=one.name, up=two.name)
        self._about.set_line(scatter_words(same))
        self.pictures.set_name(self.tr("{one} and {two}, scores").format(one=one.name, two=two.name))

    def _picked(self, index: int) -> None:
        if self._compared is not None:
            self.query_picked.emit(int(self._compared.comparison.query[index]))
