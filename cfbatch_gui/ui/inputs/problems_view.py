"""The rows that are left out: how many for each reason, and the rows of one reason in a table."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from cfbatch_gui.core.inputs.input_values import ProblemKind
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.job_folder.row_problems import StoredProblem, problem_columns, problems
from cfbatch_gui.core.jobs.plan.preflight import Preflight, ProblemCount
from cfbatch_gui.core.jobs.plan.too_long import too_long_texts
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.workers_ai.catalogue import ModelMetadata
from cfbatch_gui.ui.display import number, one_line, plural
from cfbatch_gui.ui.tables.cells import CELL_MARGIN
from cfbatch_gui.ui.tables.table_rows import Column, Rows
from cfbatch_gui.ui.tables.table_view import TableView
from cfbatch_gui.ui.theme import MEDIUM, SMALL
from cfbatch_gui.ui.widgets import Card, ElidedLabel, IconButton, IconLine, LinkButton, NoticeBar, boxed, row

CUT = "cut"  # beside the kinds of problem: texts that are sent, and of which the model reads the beginning
MOST_ROWS = 5_000
_ROW_HEIGHT = 34
_MEASURED = 40  # rows


class ProblemBars(QWidget):
    """Shows a `Preflight`. `save_wanted` brings a kind of problem, or "" for all of them."""

    rows_wanted = Signal(str)
    save_wanted = Signal(str)
    truncate_wanted = Signal(bool)
    split_wanted = Signal()
    changed = Signal()  # other bars: rows that are shown are those of before

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._shown: tuple[object, ...] = ()
        self._bars = QVBoxLayout()
        self._bars.setSpacing(SMALL)
        self.save_all = LinkButton("")
        self.save_all.clicked.connect(lambda: self.save_wanted.emit(""))
        self._save_row = boxed(row(self.save_all, None))
        self._save_row.hide()
        self.notes = IconLine("", "info")
        self.notes.hide()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(SMALL)
        layout.addLayout(self._bars)
        layout.addWidget(self._save_row)
        layout.addWidget(self.notes)
        self.hide()

    def bars(self) -> list[NoticeBar]:
        """From the top."""
        items = (self._bars.itemAt(index) for index in range(self._bars.count()))
        found = [item.widget() for item in items if item is not None]
        return [widget for widget in found if isinstance(widget, NoticeBar)]

    def show_preflight(self, found: Preflight | None, job: Job, metadata: ModelMetadata) -> None:
        """Show what is known now; nothing is touched while that is the same."""
        notes = _notes(found, self) if found else ()
        wanted = (found.problems, found.too_long, job.options.truncate_inputs, metadata.max_tokens) if found else ()
        self.notes.set_line("\n".join(notes))
        self.notes.setVisible(bool(notes))
        if wanted != self._shown:
            self._shown = wanted
            self._renew(found, job, metadata)
            self.changed.emit()
        self.setVisible(bool(notes or self.bars()))

    def _renew(self, found: Preflight | None, job: Job, metadata: ModelMetadata) -> None:
        for bar in self.bars():
            self._bars.removeWidget(bar)
            bar.hide()
            bar.deleteLater()
        problems = found.problems if found else ()
        for problem in problems:
            self._bars.addWidget(self._problem_bar(problem))
        if found is not None and found.too_long:
            self._bars.addWidget(self._too_long_bar(found.too_long, job, metadata))
        total = sum(problem.count for problem in problems)
        self.save_all.setText(
            plural(
                total, self.tr("Save all {n} rows that are left out…"), self.tr("Save all {n} rows that are left out…")
            )
        )
        self._save_row.setVisible(len(problems) > 1)

    def _problem_bar(self, problem: ProblemCount) -> NoticeBar:
        bar = NoticeBar(problem.sentence, "attention")
        kind = str(problem.kind)
        if problem.kind is ProblemKind.TOO_LONG:
            bar.add_link(self.tr("Cut into parts"), self.split_wanted.emit)
            bar.add_link(self.tr("Read their beginning"), self._truncating(True))
        bar.add_link(self.tr("Show rows"), self._showing(kind))
        bar.add_link(self.tr("Save them…"), lambda: self.save_wanted.emit(kind))
        return bar

    def _too_long_bar(self, count: int, job: Job, metadata: ModelMetadata) -> NoticeBar:
        reads = plural(metadata.max_tokens, self.tr("{n} token"), self.tr("{n} tokens"))
        if job.options.truncate_inputs:
            text = plural(count, self.tr("{n} text may be longer"), self.tr("{n} texts may be longer"))
            sentence = self.tr("{texts} than the model reads ({reads}). The rest is not read.")
        else:
            text = plural(count, self.tr("{n} text may be too long"), self.tr("{n} texts may be too long"))
            sentence = self.tr("{texts}: the model reads {reads}.")
        bar = NoticeBar(sentence.format(texts=text, reads=reads), "info")
        bar.add_link(self.tr("Show rows"), self._showing(CUT))
        bar.add_link(self.tr("Cut into parts"), self.split_wanted.emit)
        if job.options.truncate_inputs:
            bar.add_link(self.tr("Leave them out"), self._truncating(False))
        else:
            bar.add_link(self.tr("Read their beginning"), self._truncating(True))
        return bar

    def _showing(self, kind: str) -> Callable[[], None]:
        return lambda: self.rows_wanted.emit(kind)

    def _truncating(self, truncate: bool) -> Callable[[], None]:
        return lambda: self.truncate_wanted.emit(truncate)


def _notes(found: Preflight, owner: QWidget) -> tuple[str, ...]:
    if not found.learned_from:
        return found.notices
    learned = plural(
        found.learned_from,
        owner.tr("Tokens and price are estimated by what your last job like this took."),
        owner.tr("Tokens and price are estimated by what your last {n} jobs like this took."),
    )
    return (*found.notices, learned)


@dataclass(frozen=True, slots=True)
class ProblemRows:
    """Rows of one kind of problem and the names of their columns."""

    kind: str
    rows: tuple[StoredProblem, ...]
    columns: tuple[str, ...]


def read_problems(folder: JobFolder, kind: str, metadata: ModelMetadata) -> ProblemRows:
    """The first rows with this problem, or `CUT` for the texts that `metadata` says are too long; for a thread."""
    if kind == CUT:
        found = tuple(too_long_texts(folder, metadata, limit=MOST_ROWS))
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
