"""The rows that are left out, with their reasons, inside the page."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from cfbatch_gui.core.job_folder.filling import StoredProblem, problems
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.job_folder.problems_file import problem_columns
from cfbatch_gui.core.jobs.plan.too_long import too_long_texts
from cfbatch_gui.core.workers_ai.catalogue import ModelFacts
from cfbatch_gui.ui.inputs.problem_bars import CUT
from cfbatch_gui.ui.tables.cells import CELL_MARGIN
from cfbatch_gui.ui.tables.rows import Column, Rows
from cfbatch_gui.ui.tables.table_view import TableView
from cfbatch_gui.ui.theme import MEDIUM, SMALL
from cfbatch_gui.ui.widgets import Card, ElidedLabel, IconButton, row
from cfbatch_gui.ui.words import number, one_line

MOST_ROWS = 5_000
_ROW_HEIGHT = 34
_MEASURED = 40  # rows


@dataclass(frozen=True, slots=True)
class ProblemRows:
    """Rows of one kind of problem and the names of their columns."""

    kind: str
    rows: tuple[StoredProblem, ...]
    columns: tuple[str, ...]


def read_problems(folder: JobFolder, kind: str, facts: ModelFacts) -> ProblemRows:
    """The first rows with this problem, or `CUT` for the texts that `facts` says are too long; for a thread."""
    if kind == CUT:
        found = tuple(too_long_texts(folder, facts, limit=MOST_ROWS))
    else:
        found = problems(folder, kind=kind, limit=MOST_ROWS)
    file = 2 if found and all(problem.file == 2 for problem in found) else 1
    return ProblemRows(kind, found, problem_columns(folder, file=file))


class ProblemsView(Card):
    """A table of exactly those rows; `closed` when the user has seen enough."""

    closed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(inset=True, parent=parent)
        self.heading = ElidedLabel("", "strong")
        self.close_button = IconButton("x", self.tr("Hide these rows"))
        self.close_button.clicked.connect(self.closed)
        self.table = TableView(inset=True)
        self.table.setAccessibleName(self.tr("Rows with a problem"))
        self.table.horizontalHeader().setStretchLastSection(True)
        self.table.verticalHeader().setDefaultSectionSize(_ROW_HEIGHT)
        self.body.setContentsMargins(MEDIUM, 4, MEDIUM, SMALL)
        self.body.setSpacing(0)
        self.body.addLayout(row(self.heading, self.close_button))
        self.body.addWidget(self.table)

    def show_problems(self, found: ProblemRows, sentence: str, total: int) -> None:
        """Fill the table."""
        more = (
            self.tr(" The first {n} are shown.").format(n=number(len(found.rows)))
            if total > len(found.rows) >= MOST_ROWS
            else ""
        )
        self.heading.setText(sentence + more)
        self.table.show_rows(Rows(_columns(found, self), found.rows, parent=self.table))
        height = self.table.horizontalHeader().height() + min(6, len(found.rows)) * _ROW_HEIGHT + 12
        self.table.setFixedHeight(height)

    def shown_rows(self) -> Sequence[StoredProblem]:
        """What the table shows."""
        model = self.table.model()
        return model.rows() if isinstance(model, Rows) else ()


def _columns(found: ProblemRows, owner: QWidget) -> list[Column[StoredProblem]]:
    def width(texts: Iterable[str], narrowest: int, widest: int) -> int:
        metrics = owner.fontMetrics()
        needed = max((metrics.horizontalAdvance(one_line(text, 80)) for text in texts), default=0)
        return max(narrowest, min(widest, needed + 2 * CELL_MARGIN + 8))

    measured = found.rows[:_MEASURED]
    why = width((each.reason for each in measured), 160, 380)
    file: Column[StoredProblem] = Column(owner.tr("File"), lambda each: each.file, align="right", width=56)
    return [
        *([file] if any(problem.file == 2 for problem in found.rows) else []),
        Column(owner.tr("Row"), lambda each: each.row, show=number, align="right", width=64),
        Column(owner.tr("Why"), lambda each: each.reason, width=why),
        *(
            _cell(index, name, width((name, *(_text(each, index) for each in measured)), 80, 260))
            for index, name in enumerate(found.columns)
        ),
    ]


def _cell(index: int, name: str, width: int) -> Column[StoredProblem]:
    return Column(name, lambda each: _text(each, index), key=f"cell {index}", width=width)


def _text(problem: StoredProblem, index: int) -> str:
    return problem.cells[index] if index < len(problem.cells) else ""
