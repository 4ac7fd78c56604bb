"""Which jobs are compared, how their items were matched, and how well each ranks by the labels."""

from collections.abc import Collection, Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QWidget

from cfbatch_gui.ui import display
from cfbatch_gui.ui.evaluation.comparison_figures import (
    Compared,
    judged_words,
    letter,
    matched_words,
    unusable_words,
)
from cfbatch_gui.ui.state_names import is_practice, short_model
from cfbatch_gui.ui.theme import LARGE, MEDIUM, SMALL, WIDE
from cfbatch_gui.ui.widgets import Card, ElidedLabel, IconLine, Label, Role, boxed, column, scrolled


class JobsTab(QWidget):
    """Two cards with a line for each job."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._jobs, self._metrics = LinesTable(stretched=1, wrapped=5), LinesTable(stretched=0)
        self._judged = IconLine("", "info", "body", wrap=True)
        content = column(
            _card(self.tr("What is compared"), self._jobs),
            _card(self.tr("How well each ranks"), self._metrics, self._judged),
            None,
            gap=LARGE,
            margins=(WIDE, LARGE, WIDE, LARGE),
        )
        self.setLayout(column(scrolled(boxed(content))))

    def show_jobs(self, compared: Compared) -> None:
        """All of them, the first one as A."""
        comparison = compared.comparison
        lines = []
        for number, (job, run) in enumerate(zip(compared.jobs, comparison.runs, strict=True)):
            model = (
                self.tr("{model}, practice").format(model=short_model(job)) if is_practice(job) else short_model(job)
            )
            scores = display.number(run.scored)
            if run.is_partial:
                scores = self.tr("{scored} of {all}").format(scored=scores, all=display.number(len(run.table)))
            matched = matched_words(comparison.joined[number]) if number else ""
            lines.append((letter(number), job.name, model, display.number(len(run.table.asked)), scores, matched))
        titles = (
            "",
            self.tr("Job"),
            self.tr("Model"),
            self.tr("Queries"),
            self.tr("Scores"),
            self.tr("Matched with A"),
        )
        self._jobs.show_lines(titles, lines, right=(3, 4))
        self._show_metrics(compared)

    def texts(self) -> list[str]:
        """The texts of both tables, then the sentence below."""
        return [*self._jobs.texts(), *self._metrics.texts(), self._judged.text()]

    def _show_metrics(self, compared: Compared) -> None:
        found = compared.evaluation
        self._judged.set_line(" ".join(filter(None, (judged_words(found), unusable_words(compared)))))
        self._metrics.setVisible(found is not None)
        if found is None:
            return
        letters = [letter(number) for number in range(len(found.runs))]
        lines = [
            (name, *(display.figures(run.means[name].text()) for run in found.runs)) for name in found.runs[0].means
        ]
        self._metrics.show_lines(("", *letters), lines, right=range(1, len(letters) + 1))


class LinesTable(QWidget):
    """A small table; the column `stretched` takes the room that is left, the column `wrapped` twice as much."""

    def __init__(self, *, stretched: int, wrapped: int | None = None, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(WIDE - 4)
        self._grid.setVerticalSpacing(SMALL)
        self._grid.setColumnStretch(stretched, 1)
        self._stretched, self._wrapped = stretched, wrapped
        if wrapped is not None:
            self._grid.setColumnStretch(wrapped, 2)
        self._cells: list[Label | ElidedLabel] = []

    def show_lines(
        self, titles: tuple[str, ...], lines: Sequence[tuple[str, ...]], *, right: Collection[int] = ()
    ) -> None:
        """Show these and nothing else; the columns `right` are aligned there."""
        for cell in self._cells:
            self._grid.removeWidget(cell)
            cell.deleteLater()
        self._cells = []
        for number, line in enumerate((titles, *lines)):
            for index, text in enumerate(line):
                role: Role = "small" if number == 0 else "strong" if index == 0 else "body"
                is_long = index == self._stretched and number > 0
                cell = ElidedLabel(text) if is_long else Label(text, role, wrap=index == self._wrapped)
                self._cells.append(cell)
                side = Qt.AlignmentFlag.AlignRight if index in right else Qt.AlignmentFlag.AlignLeft
                fills = is_long or index == self._wrapped  # an aligned label would be wrapped at its own width hint
                alignment = Qt.AlignmentFlag.AlignVCenter | (Qt.AlignmentFlag(0) if fills else side)
                self._grid.addWidget(cell, number, index, alignment)

    def texts(self) -> list[str]:
        """The texts of the cells, line by line."""
        return [cell.whole_text() if isinstance(cell, ElidedLabel) else cell.text() for cell in self._cells]


def _card(title: str, *content: QWidget) -> Card:
    card = Card()
    card.body.setContentsMargins(20, MEDIUM, 20, LARGE)
    card.body.setSpacing(MEDIUM)
    card.body.addWidget(Label(title, "part"))
    for each in content:
        card.body.addWidget(each)
    return card
