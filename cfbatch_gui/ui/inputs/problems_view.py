"""The rows that are left out or doubtful: how many for each reason, those of one reason, and one as it stands."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtGui import (
    QFontDatabase,
    QResizeEvent,
)
from PySide6.QtWidgets import QBoxLayout, QWidget

from cfbatch_gui.core.inputs.input_values import LONGEST_RAW, ProblemKind
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.job_folder.row_problems import StoredProblem, problem_columns, problems, with_signs
from cfbatch_gui.core.jobs.plan.preflight import Preflight, ProblemCount
from cfbatch_gui.core.jobs.plan.requests import too_long_texts
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.system.languages import said
from cfbatch_gui.core.workers_ai.catalogue import ModelMetadata
from cfbatch_gui.ui import display
from cfbatch_gui.ui.display import number, one_line, plural
from cfbatch_gui.ui.tables.cells import CELL_MARGIN
from cfbatch_gui.ui.tables.table_rows import Column, Rows
from cfbatch_gui.ui.tables.table_view import TableView
from cfbatch_gui.ui.theme import LARGE, MEDIUM, SMALL, TINY, scaled
from cfbatch_gui.ui.widgets import (
    Card,
    ElidedLabel,
    IconButton,
    IconLine,
    Label,
    Level,
    LinkButton,
    NoticeBar,
    boxed,
    column,
    row,
)
from cfbatch_gui.ui.widgets.keyboard import follow_in_tab_order
from cfbatch_gui.ui.widgets.text_panel import PlainText

_BESIDE_FROM = 640  # pixels of width; below, one part stands under the other
_FEWEST_LINES, _MOST_LINES, _MOST_LINES_UNDER = 2, 6, 4


class RowPanel(QWidget):
    """One row: why it is doubted, how it stands in the file, its cells.

    Its height depends on the number of columns only.
    """

    def __init__(self) -> None:
        super().__init__()
        self._columns = 0
        self._reason = Label("", "body", wrap=True)
        self._raw = PlainText(self.tr("In the file"))
        self._raw.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        self._cells = PlainText(self.tr("As read"))
        self._parts = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._parts.setSpacing(LARGE)
        for caption, text in ((self.tr("In the file"), self._raw), (self.tr("As read"), self._cells)):
            # Captions stand on one line although the heights of the fonts differ.
            self._parts.addWidget(boxed(column(Label(caption, "small"), text, None, gap=2)), 1)
        self.setLayout(column(self._reason, self._parts, margins=(0, SMALL, 0, TINY)))

    def show_row(self, problem: StoredProblem, columns: Sequence[str]) -> None:
        self._columns = len(columns)
        self._reason.setText(self.tr("Row {n}: {why}").format(n=display.number(problem.row), why=said(problem.reason)))
        self._raw.setPlainText(with_signs(problem.raw, breaks=True))
        cells = [f"{name}: {_cut(cell)}" for name, cell in zip(columns, problem.cells, strict=False)]
        self._cells.setPlainText("\n".join(cells) if any(problem.cells) else self.tr("nothing"))
        self._fit()

    def raw(self) -> str:
        return self._raw.toPlainText()

    def cells(self) -> str:
        return self._cells.toPlainText()

    def reason(self) -> str:
        return self._reason.text()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        is_beside = self.width() >= _BESIDE_FROM
        direction = QBoxLayout.Direction.LeftToRight if is_beside else QBoxLayout.Direction.TopToBottom
        self._parts.setDirection(direction)
        self._parts.setSpacing(LARGE if is_beside else TINY)
        wanted = 1 + self._columns  # a cell may have two lines
        lines = max(_FEWEST_LINES, min(wanted, _MOST_LINES if is_beside else _MOST_LINES_UNDER))
        self._raw.set_lines(lines if is_beside else _FEWEST_LINES)
        self._cells.set_lines(lines)


def _cut(cell: str) -> str:
    return with_signs(cell if len(cell) <= LONGEST_RAW else f"{cell[:LONGEST_RAW]}…", breaks=True)


CUT = "cut"  # beside the kinds of problem: texts that are sent, and of which the model reads the beginning
DOUBTFUL = (ProblemKind.DOUBTFUL_ROW, ProblemKind.DOUBTFUL_SENT)
MOST_ROWS = 5_000
_ROW_HEIGHT = 34
_ROWS_AT_ONCE, _ROWS_ABOVE_PANEL = 6, 4
_MEASURED = 40  # rows


class ProblemBars(QWidget):
    """`save_wanted` brings a kind of problem, or "" for all of them."""

    rows_wanted = Signal(str)
    save_wanted = Signal(str)
    truncate_wanted = Signal(bool)
    split_wanted = Signal()
    doubtful_wanted = Signal(bool)  # whether rows are sent that may have been misread
    changed = Signal()  # other bars: rows that are shown are those of before

    def __init__(self) -> None:
        super().__init__()
        self._shown: tuple[object, ...] = ()
        self._kinds: tuple[str, ...] = ()
        self._bars = column()
        self.save_all = LinkButton("", on_click=lambda: self.save_wanted.emit(""))
        self._save_row = boxed(row(self.save_all, None))
        self._save_row.hide()
        self.notes = IconLine("", "info")
        self.notes.hide()
        self.setLayout(column(self._bars, self._save_row, self.notes))
        self.hide()

    def bars(self) -> list[NoticeBar]:
        items = (self._bars.itemAt(index) for index in range(self._bars.count()))
        found = [item.widget() for item in items if item is not None]
        return [widget for widget in found if isinstance(widget, NoticeBar)]

    def kinds(self) -> tuple[str, ...]:
        return self._kinds

    def show_preflight(self, found: Preflight | None, job: Job, metadata: ModelMetadata) -> None:
        """Nothing is touched while it is the same."""
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
        focus = self._focus()
        for bar in self.bars():
            self._bars.removeWidget(bar)
            bar.hide()
            bar.deleteLater()
        problems = found.problems if found else ()
        self._kinds = tuple(problem.kind for problem in problems)
        for problem in problems:
            self._bars.addWidget(self._problem_bar(problem))
        if found is not None and found.too_long:
            self._bars.addWidget(self._too_long_bar(found.too_long, job, metadata))
        left_out = [problem for problem in problems if problem.kind is not ProblemKind.DOUBTFUL_SENT]
        total = sum(problem.count for problem in left_out)
        self.save_all.setText(
            plural(total, "Save all {n} rows that are left out…", "Save all {n} rows that are left out…")
        )
        self._save_row.setVisible(len(left_out) > 1)
        follow_in_tab_order(self, *(link for bar in self.bars() for link in bar.links()), self.save_all)
        if focus is not None and (bars := self.bars()):
            links = bars[min(focus[0], len(bars) - 1)].links()
            links[min(focus[1], len(links) - 1)].setFocus()

    def _focus(self) -> tuple[int, int] | None:
        """The indices of the bar and its link with the keyboard focus, which a link in its place takes over."""
        for at, bar in enumerate(self.bars()):
            for index, link in enumerate(bar.links()):
                if link.hasFocus():
                    return at, index
        return None

    def _problem_bar(self, problem: ProblemCount) -> NoticeBar:
        kind = str(problem.kind)
        show = (self.tr("Show rows"), partial(self.rows_wanted.emit, kind))
        if problem.kind is ProblemKind.DOUBTFUL_SENT:
            leave = (self.tr("Leave them out"), partial(self.doubtful_wanted.emit, False))
            return _bar(said(problem.sentence), "info", show, leave)
        links: list[LinkWords] = [show]
        if problem.kind is ProblemKind.TOO_LONG:
            links[:0] = [self._cut_link(), self._truncate_link(True)]
        if problem.kind is ProblemKind.DOUBTFUL_ROW:
            links.append((self.tr("Send them as read"), partial(self.doubtful_wanted.emit, True)))
        links.append((self.tr("Save them…"), partial(self.save_wanted.emit, kind)))
        return _bar(said(problem.sentence), "attention", *links)

    def _too_long_bar(self, count: int, job: Job, metadata: ModelMetadata) -> NoticeBar:
        reads = plural(metadata.max_tokens, "{n} token", "{n} tokens")
        is_cut = job.options.truncate_inputs
        if is_cut:
            text = plural(count, "{n} text may be longer", "{n} texts may be longer")
            sentence = self.tr("{texts} than the model reads ({reads}). The rest is not read.")
        else:
            text = plural(count, "{n} text may be too long", "{n} texts may be too long")
            sentence = self.tr("{texts}: the model reads {reads}.")
        show = (self.tr("Show rows"), partial(self.rows_wanted.emit, CUT))
        sentence = sentence.format(texts=text, reads=reads)
        return _bar(sentence, "info", show, self._cut_link(), self._truncate_link(not is_cut))

    def _cut_link(self) -> "LinkWords":
        return self.tr("Cut into parts"), self.split_wanted.emit

    def _truncate_link(self, truncate: bool) -> "LinkWords":
        words = self.tr("Read their beginning") if truncate else self.tr("Leave them out")
        return words, partial(self.truncate_wanted.emit, truncate)


LinkWords = tuple[str, Callable[[], None]]


def _bar(sentence: str, level: Level, *links: LinkWords) -> NoticeBar:
    bar = NoticeBar(sentence, level)
    for words, act in links:
        bar.add_link(words, act)
    return bar


def _notes(found: Preflight, owner: QWidget) -> tuple[str, ...]:
    if not found.learned_from:
        return tuple(map(said, found.notices))
    learned = plural(
        found.learned_from,
        "Tokens and price are estimated by what your last job like this took.",
        "Tokens and price are estimated by what your last {n} jobs like this took.",
    )
    return (*map(said, found.notices), learned)


@dataclass(frozen=True, slots=True)
class ProblemRows:
    kind: str
    rows: tuple[StoredProblem, ...]
    columns: tuple[str, ...]

    @property
    def has_raw(self) -> bool:
        return any(each.raw for each in self.rows)


def read_problems(folder: JobFolder, kind: str, metadata: ModelMetadata) -> ProblemRows:
    """The first rows with this problem, or `CUT` for the texts that are too long; for a thread."""
    if kind == CUT:
        found = tuple(too_long_texts(folder, metadata, limit=MOST_ROWS))
    else:
        found = problems(folder, kind=kind, limit=MOST_ROWS)
    file = 2 if found and all(problem.file == 2 for problem in found) else 1
    return ProblemRows(kind, found, problem_columns(folder, file=file))


class ProblemsView(Card):
    """A table of the rows.

    Where they are known as they stand in the file, a panel compares the current one with its cells.
    """

    closed = Signal()
    doubtful_wanted = Signal(bool)  # whether the rows that are shown are sent

    def __init__(self) -> None:
        super().__init__(inset=True, gap=0, margins=(MEDIUM, 4, MEDIUM, SMALL))
        self._kind = ""
        self._names: tuple[str, ...] = ()
        self.heading = ElidedLabel("", "strong")
        self.decide = LinkButton(on_click=lambda: self.doubtful_wanted.emit(self._kind == ProblemKind.DOUBTFUL_ROW))
        self.close_button = IconButton("x", self.tr("Hide these rows"), self.closed.emit)
        self.table = TableView(title=self.tr("Rows with a problem"), inset=True, on_picked=self._show_row)
        self.table.horizontalHeader().setStretchLastSection(True)
        self.table.verticalHeader().setDefaultSectionSize(scaled(_ROW_HEIGHT))
        self.panel = RowPanel()
        self.panel.hide()
        self.body.addLayout(row((self.heading, 1), self.decide, self.close_button))
        self.body.addWidget(self.table)
        self.body.addWidget(self.panel)

    def show_problems(self, found: ProblemRows, sentence: str, total: int) -> None:
        more = (
            self.tr(" The first {n} are shown.").format(n=number(len(found.rows)))
            if total > len(found.rows) >= MOST_ROWS
            else ""
        )
        if found.has_raw and found.kind in DOUBTFUL:
            sentence = self.tr("Compare the file with what was read.")
        self.heading.setText(sentence + more)
        self._names, self._kind = found.columns, found.kind
        self.decide.setVisible(found.kind in DOUBTFUL)
        is_sent = found.kind == ProblemKind.DOUBTFUL_SENT
        self.decide.setText(self.tr("Leave them out") if is_sent else self.tr("Send them as read"))
        self.table.show_rows(Rows(_columns(found, self), found.rows, parent=self.table))
        at_once = min(_ROWS_ABOVE_PANEL if found.has_raw else _ROWS_AT_ONCE, len(found.rows))
        self.table.setFixedHeight(self.table.horizontalHeader().height() + at_once * scaled(_ROW_HEIGHT) + 12)
        self.panel.setVisible(found.has_raw)
        if found.has_raw:
            self.table.selectRow(0)

    def shown_rows(self) -> Sequence[StoredProblem]:
        model = self.table.model()
        return model.rows() if isinstance(model, Rows) else ()

    def _show_row(self, index: int) -> None:
        model = self.table.model()
        if isinstance(model, Rows) and not self.panel.isHidden():
            self.panel.show_row(model.row(index), self._names)


def _columns(found: ProblemRows, owner: QWidget) -> list[Column[StoredProblem]]:
    def width(texts: Iterable[str], narrowest: int, widest: int) -> int:
        metrics = owner.fontMetrics()
        needed = max((metrics.horizontalAdvance(one_line(text, 80)) for text in texts), default=0)
        return max(narrowest, min(widest, needed + 2 * CELL_MARGIN + 8))

    measured = found.rows[:_MEASURED]
    why = 120 if found.has_raw else width((said(each.reason) for each in measured), 160, 380)
    reason: Column[StoredProblem] = Column(owner.tr("Why"), lambda each: said(each.reason), width=why)
    raw_width = width((each.raw for each in measured), 120, 300)
    raw: Column[StoredProblem] = Column(owner.tr("In the file"), lambda each: each.raw, width=raw_width)
    file: Column[StoredProblem] = Column(owner.tr("File"), lambda each: each.file, align="right", width=56)
    return [
        *([file] if any(problem.file == 2 for problem in found.rows) else []),
        Column(owner.tr("Row"), lambda each: each.row, show=number, align="right", width=64),
        raw if found.has_raw else reason,
        *(
            _cell(index, name, width((name, *(_text(each, index) for each in measured)), 80, 260))
            for index, name in enumerate(found.columns)
        ),
        *([reason] if found.has_raw else []),  # the panel has it too
    ]


def _cell(index: int, name: str, width: int) -> Column[StoredProblem]:
    return Column(name, lambda each: _text(each, index), key=f"cell {index}", width=width)


def _text(problem: StoredProblem, index: int) -> str:
    return problem.cells[index] if index < len(problem.cells) else ""
