"""The rows that are left out or doubtful: how many for each reason, those of one reason, and one as it stands."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from PySide6.QtWidgets import QWidget

from cfbatch_gui.core.inputs.input_values import LONGEST_RAW, ProblemKind
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.job_folder.row_problems import StoredProblem, problem_columns, problems, with_signs
from cfbatch_gui.core.jobs.plan.packing import Plan
from cfbatch_gui.core.jobs.plan.requests import too_long_texts
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.system.languages import said
from cfbatch_gui.core.workers_ai.catalogue import ModelMetadata
from cfbatch_gui.ui.display import number, one_line, plural, tr
from cfbatch_gui.ui.inputs.draft_actions import DraftActions
from cfbatch_gui.ui.tables.table_rows import Column, Rows
from cfbatch_gui.ui.tables.table_view import TableView
from cfbatch_gui.ui.theme import MEDIUM, SMALL, scaled
from cfbatch_gui.ui.widgets import (
    Card,
    ElidedLabel,
    IconButton,
    Level,
    LinkButton,
    NoticeBar,
    Saying,
    column,
    row,
)
from cfbatch_gui.ui.widgets.keyboard import follow_in_tab_order
from cfbatch_gui.ui.widgets.text_panel import TextPanel


def _cut(cell: str) -> str:
    return with_signs(cell if len(cell) <= LONGEST_RAW else f"{cell[:LONGEST_RAW]}…", breaks=True)


CUT = "cut"  # beside the kinds of problem: texts that are sent, and of which the model reads the beginning
DOUBTFUL = (ProblemKind.DOUBTFUL_ROW, ProblemKind.DOUBTFUL_SENT)
_LINKS = {
    ProblemKind.DOUBTFUL_SENT: ("show", "doubt"),
    ProblemKind.DOUBTFUL_ROW: ("show", "trust", "save"),
    ProblemKind.TOO_LONG: ("cut", "begin", "show", "save"),
}
MOST_ROWS = 5_000
_ROW_HEIGHT = 34
_ROWS_AT_ONCE, _ROWS_ABOVE_PANEL = 6, 4
_MEASURED = 40  # rows
_LINES = 7  # of the panel


class ProblemBars(QWidget):
    """A bar for each reason; `view` shows the rows of one, which are read in a thread."""

    def __init__(self, drafts: DraftActions, reveal: Callable[..., None]) -> None:
        super().__init__()
        self._drafts, self._reveal = drafts, reveal
        self._shown: tuple[object, ...] = ()
        self.kinds: tuple[str, ...] = ()
        self.view = ProblemsView()
        self.bars: list[NoticeBar] = []
        self._lines = column()
        self.save_all = LinkButton("", on_click=drafts.save_problems)
        self.save_all.hide()
        self.notes = Saying("info")
        self.setLayout(column(self._lines, row(self.save_all, None), self.notes))
        self.hide()

    def show_preflight(self, found: Plan | None, job: Job, metadata: ModelMetadata) -> None:
        """Nothing is touched while it is the same."""
        notes = "\n".join(_notes(found)) if found else ""
        wanted = (found.problems, found.too_long, job.options.truncate_inputs, metadata.max_tokens) if found else ()
        self.notes.set_line(notes)
        if wanted != self._shown:
            self._shown = wanted
            self._renew(found, job, metadata)
        self.setVisible(bool(notes or self.bars))

    def _renew(self, found: Plan | None, job: Job, metadata: ModelMetadata) -> None:
        focused = next((at for at, link in enumerate(self._links()) if link.hasFocus()), None)
        for bar in self.bars:
            self._lines.removeWidget(bar)
            bar.hide()
            bar.deleteLater()
        problems = found.problems if found else ()
        self.kinds = tuple(problem.kind for problem in problems)
        self.bars = []
        for problem in problems:
            level: Level = "info" if problem.kind is ProblemKind.DOUBTFUL_SENT else "attention"
            acts = _LINKS.get(problem.kind, ("show", "save"))
            self.bars.append(self._bar(said(problem.sentence), str(problem.kind), *acts, level=level))
        if found is not None and found.too_long:
            self.bars.append(self._too_long_bar(found.too_long, job, metadata))
        for bar in self.bars:
            self._lines.addWidget(bar)
        left_out = [problem for problem in problems if problem.kind is not ProblemKind.DOUBTFUL_SENT]
        total = sum(problem.count for problem in left_out)
        self.save_all.setText(
            plural(total, "Save all {n} rows that are left out…", "Save all {n} rows that are left out…")
        )
        self.save_all.setVisible(len(left_out) > 1)
        follow_in_tab_order(self, *self._links(), self.save_all)
        if focused is not None and (links := self._links()):
            links[min(focused, len(links) - 1)].setFocus()
        self.view.hide()

    def _links(self) -> list[LinkButton]:
        return [link for bar in self.bars for link in bar.links()]

    def _bar(self, sentence: str, kind: str, *links: str, level: Level) -> NoticeBar:
        drafts = self._drafts
        acts: dict[str, tuple[str, Callable[[], object]]] = {
            "show": (self.tr("Show rows"), partial(self.show_rows, kind, toggles=True)),
            "save": (self.tr("Save them…"), partial(drafts.save_problems, kind)),
            "cut": (self.tr("Cut into parts"), drafts.split_for_model),
            "begin": (self.tr("Read their beginning"), partial(drafts.change_options, truncate_inputs=True)),
            "end": (self.tr("Leave them out"), partial(drafts.change_options, truncate_inputs=False)),
            "trust": (self.tr("Send them as read"), partial(drafts.choose_doubtful, True)),
            "doubt": (self.tr("Leave them out"), partial(drafts.choose_doubtful, False)),
        }
        bar = NoticeBar(sentence, level)
        for link in links:
            bar.add_link(*acts[link])
        return bar

    def _too_long_bar(self, count: int, job: Job, metadata: ModelMetadata) -> NoticeBar:
        reads = plural(metadata.max_tokens, "{n} token", "{n} tokens")
        is_cut = job.options.truncate_inputs
        if is_cut:
            text = plural(count, "{n} text may be longer", "{n} texts may be longer")
            sentence = self.tr("{texts} than the model reads ({reads}). The rest is not read.")
        else:
            text = plural(count, "{n} text may be too long", "{n} texts may be too long")
            sentence = self.tr("{texts}: the model reads {reads}.")
        links = ("show", "cut", "end" if is_cut else "begin")
        return self._bar(sentence.format(texts=text, reads=reads), CUT, *links, level="info")

    def show_rows(self, kind: str, *, toggles: bool = False) -> None:
        if toggles and not self.view.isHidden() and self.view.found.kind == kind:
            self.view.hide()
        else:
            self._drafts.tasks.start("rows", self._show_rows(kind, self._drafts.current))

    async def _show_rows(self, kind: str, job_id: str) -> None:
        model = self._drafts.model()
        found = await asyncio.to_thread(read_problems, self._drafts.program.folder(job_id), kind, model)
        preflight, was_hidden = self._drafts.state(job_id).preflight, self.view.isHidden()
        if preflight is None or job_id != self._drafts.current:
            return
        if kind == CUT:
            sentence = self.tr("Longer than {model} reads, or perhaps so.").format(model=said(model.title))
            self.view.show_problems(found, sentence, len(found.rows))
        for count in preflight.problems:
            if count.kind == kind:
                self.view.show_problems(found, said(count.sentence), count.count)
        if was_hidden:  # in a small window the heading is worth more
            self._reveal(self.view, self.view.heading)


Problems = Column[StoredProblem]


def _notes(found: Plan) -> tuple[str, ...]:
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

    def __init__(self) -> None:
        super().__init__(inset=True, gap=0, margins=(MEDIUM, 4, MEDIUM, SMALL))
        self.found = ProblemRows("", (), ())
        self.heading = ElidedLabel("", "strong")
        self.close_button = IconButton("x", self.tr("Hide these rows"), self.hide)
        self.table = TableView(title=self.tr("Rows with a problem"), inset=True, on_picked=self._show_row)
        self.table.horizontalHeader().setStretchLastSection(True)
        self.table.verticalHeader().setDefaultSectionSize(scaled(_ROW_HEIGHT))
        self.panel = TextPanel(lines=_LINES)
        self.body.addLayout(row((self.heading, 1), self.close_button))
        self.body.addWidget(self.table)
        self.body.addWidget(self.panel)
        self.hide()

    def show_problems(self, found: ProblemRows, sentence: str, total: int) -> None:
        if found.has_raw and found.kind in DOUBTFUL:
            sentence = self.tr("Compare the file with what was read.")
        if total > len(found.rows) >= MOST_ROWS:
            sentence += self.tr(" The first {n} are shown.").format(n=number(len(found.rows)))
        self.heading.setText(sentence)
        self.found = found
        self.table.show_rows(Rows(_columns(found), found.rows, parent=self.table))
        at_once = min(_ROWS_ABOVE_PANEL if found.has_raw else _ROWS_AT_ONCE, len(found.rows))
        self.table.setFixedHeight(self.table.horizontalHeader().height() + at_once * scaled(_ROW_HEIGHT) + 12)
        self.panel.setVisible(found.has_raw)
        if found.has_raw:
            self.table.selectRow(0)
        self.show()

    def _show_row(self, index: int) -> None:
        model = self.table.model()
        if isinstance(model, Rows) and not self.panel.isHidden():
            problem: StoredProblem = model.row(index)
            cells = [f"{name}: {_cut(cell)}" for name, cell in zip(self.found.columns, problem.cells, strict=False)]
            read = cells if any(problem.cells) else [self.tr("nothing")]
            text = "\n".join((with_signs(problem.raw, breaks=True), "", self.tr("As read:"), *read))
            heading = self.tr("Row {n}, as it stands in the file:").format(n=number(problem.row))
            self.panel.show_text(heading, text, problem=said(problem.reason))


def _columns(found: ProblemRows) -> list[Column[StoredProblem]]:
    """As wide as their first rows need, up to a length."""

    def texts(name: str, value: Callable[[StoredProblem], str], longest: int, key: str = "") -> Problems:
        widest = tuple(one_line(value(each), longest) for each in found.rows[:_MEASURED])
        return Column(name, value, key=key, width=80, widest=widest)

    def cell(index: int) -> Callable[[StoredProblem], str]:
        return lambda each: each.cells[index] if index < len(each.cells) else ""

    reason = texts(tr("Why"), lambda each: said(each.reason), 12 if found.has_raw else 54)
    file: Problems = Column(tr("File"), lambda each: each.file, align="right", width=56)
    return [
        *([file] if any(problem.file == 2 for problem in found.rows) else []),
        Column(tr("Row"), lambda each: each.row, show=number, align="right", width=64),
        texts(tr("In the file"), lambda each: each.raw, 42) if found.has_raw else reason,
        *(texts(name, cell(index), 36, f"cell {index}") for index, name in enumerate(found.columns)),
        *([reason] if found.has_raw else []),  # the panel has it too
    ]
