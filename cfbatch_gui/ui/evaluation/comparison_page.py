"""Two or more jobs over the same items, side by side."""

import asyncio
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QAbstractItemView, QStackedWidget, QWidget

from cfbatch_gui.core.errors import UserError
from cfbatch_gui.core.evaluation.comparison import QueryMove, summary, write_queries, write_texts
from cfbatch_gui.core.evaluation.joining import RunText
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.results.score_table import QueryText
from cfbatch_gui.core.system.settings import FolderUse
from cfbatch_gui.ui import dialogs, display
from cfbatch_gui.ui.dialogs import Dialog
from cfbatch_gui.ui.display import control_name
from cfbatch_gui.ui.evaluation.comparison_tabs import (
    AnswerTab,
    Compared,
    JobsTab,
    ScoresTab,
    foot_words,
    letter,
    named,
    read_comparison,
    with_top,
)
from cfbatch_gui.ui.notices import Notices
from cfbatch_gui.ui.tables.table_rows import Column, NumberColumn, Rows, ScoreColumn
from cfbatch_gui.ui.tables.table_view import TableView
from cfbatch_gui.ui.tasks import Tasks
from cfbatch_gui.ui.theme import LARGE, MEDIUM, SMALL, WIDE, scaled
from cfbatch_gui.ui.widgets import (
    Choice,
    Figure,
    Flow,
    IconLine,
    MaybeEmpty,
    MenuButton,
    NoticeBar,
    PageHeader,
    PrimaryButton,
    QuietButton,
    Roomy,
    SearchField,
    Tabs,
    boxed,
    column,
    line,
    row,
    split,
)
from cfbatch_gui.ui.widgets.text_panel import TextPanel
from cfbatch_gui.words import figures
from cfbatch_gui.words.figures import score_text
from cfbatch_gui.words.languages import said, tr
from cfbatch_gui.words.states import is_practice, short_model

ANSWER, QUERIES, SCORES, JOBS = "answer", "queries", "scores", "jobs"
_TOPS = (1, 3, 5, 10, 20)
_OTHERS_WIDTH = 240


class ComparisonPage(QWidget):
    """`done` asks for the first job's own page, `more_wanted` for a choice of other jobs; both bring its id.

    `judge_wanted` brings the ids of all jobs, whose texts are to be judged.
    """

    done = Signal(str)
    more_wanted = Signal(str)
    judge_wanted = Signal(list)

    def __init__(self, program: Program, notices: Notices) -> None:
        super().__init__()
        self._program, self._notices = program, notices
        self._jobs: tuple[Job, ...] = ()
        self.compared: Compared | None = None
        self.tasks = Tasks(self, self._cannot_be_compared)
        self._make_header()
        self._make_content()

    def compare(self, jobs: Sequence[Job]) -> None:
        self._jobs, self.compared = tuple(jobs), None
        self.others.clear()
        self._show_possible()
        self.header.set_title(self.tr("Comparison"))
        self.header.set_facts(*named(self._jobs), self.tr("comparing…"))
        self._stack.show_sentence("")
        self.tasks.cancel("texts")
        self.tasks.start("compare", self._compare())

    def show_jobs(self, jobs: Sequence[Job]) -> None:
        """A comparison ends when one of its jobs is deleted; else it stays as it was when it was made."""
        there = {job.id for job in jobs}
        left = tuple(job for job in self._jobs if job.id in there)
        if left != self._jobs:
            self._jobs, self.compared = left, None
            self.tasks.cancel("compare")
            self.tasks.cancel("texts")
            self._show_possible()
            self.header.set_facts(*(job.name for job in left))
            self._stack.show_sentence(self.tr("Jobs of this comparison were deleted. Choose others to compare."))

    def ask_to_judge(self) -> None:
        if self._jobs:
            self.judge_wanted.emit([job.id for job in self._jobs])

    # Making

    def _make_header(self) -> None:
        self.header = PageHeader()
        self.choose_button = QuietButton(
            self.tr("Other jobs…"), "git-compare", lambda: self.more_wanted.emit(self._jobs[0].id)
        )
        self.save_button = MenuButton(self.tr("Save as CSV"))
        self.save_button.menu().aboutToShow.connect(self._fill_save_menu)
        self.back_button = QuietButton(
            self.tr("Back to the job"), "chevron-left", lambda: self.done.emit(self._jobs[0].id)
        )
        for button in (self.back_button, self.choose_button, self.save_button):
            self.header.add_button(button)

    def _make_content(self) -> None:
        words = self.tr("Partial: not every context has a score. What all jobs have scored is compared.")
        self.partial_bar = NoticeBar(words, "attention")
        self.rbo, self.top, self.first, self.unmoved = Figure(), Figure(), Figure(), Figure()
        self.others = Choice(self.tr("Compared with"), on_picked=lambda _: self._show_other())
        tops = [(self.tr("Top {n}").format(n=count), count) for count in _TOPS]
        self.tops = Choice(self.tr("How many first texts"), tops, lambda _: self.tasks.start("top", self._change_top()))
        self.tabs = Tabs()
        self._pages = QStackedWidget()
        self.answer = AnswerTab(self.tasks, self.ask_to_judge, self._open_query)
        self.queries, self.job_lines = QueriesTab(), JobsTab()
        self.scores = ScoresTab(self._program, self._notices, self.tasks, self._open_query)
        shown: dict[str, tuple[str, QWidget]] = {
            ANSWER: (self.tr("Answer"), self.answer),
            QUERIES: (self.tr("Queries"), self.queries),
            SCORES: (self.tr("Scores"), self.scores),
            JOBS: (self.tr("Jobs and metrics"), self.job_lines),
        }
        for key, (name, page) in shown.items():
            self.tabs.add(key, name)
            page.setAccessibleName(name)  # a page without anything to focus gets the focus itself
            self._pages.addWidget(page)
        self.tabs.chosen.connect(lambda key: self._pages.setCurrentWidget(shown[key][1]))
        self.queries.queries.picked.connect(self._query_picked)
        self._foot = IconLine("", wrap=True)
        in_lines = boxed(Flow(self.rbo, self.top, self.first, self.unmoved, gap=LARGE))
        figures = column(self.partial_bar, in_lines, gap=MEDIUM, margins=(WIDE, MEDIUM, WIDE, MEDIUM))
        # In the row of the tabs, since that of the figures has no room in a small window.
        self.others.setMaximumWidth(_OTHERS_WIDTH)
        choices = column(None, row(self.others, SMALL, self.tops, margins=(0, 0, WIDE, 0)), None, line(), gap=0)
        tabs = row((self.tabs, 1), choices, gap=0)
        foot = column(self._foot, margins=(WIDE, SMALL, WIDE, MEDIUM))
        content = column(figures, tabs, (self._pages, 1), line(), foot, gap=0)
        self._stack = MaybeEmpty("git-compare", boxed(content))
        self.setLayout(column(self.header, 6, (Roomy(self._stack), 1), gap=0))

    # Reading

    async def _compare(self) -> None:
        found = await asyncio.to_thread(read_comparison, self._program, self._jobs)
        self._show(found)
        self.tabs.choose(QUERIES if found.evaluation is None else ANSWER)
        focused = self.window().focusWidget()
        if focused is None or self.isAncestorOf(focused):  # type: ignore[redundant-expr]  # it can be None
            table = self.answer.table if self.tabs.current() == ANSWER else self.queries.queries
            table.setFocus(Qt.FocusReason.OtherFocusReason)

    def _show_possible(self) -> None:
        self.save_button.setEnabled(self.compared is not None)
        for button in (self.back_button, self.choose_button):
            button.setEnabled(bool(self._jobs))

    async def _change_top(self) -> None:
        if self.compared is not None:
            before, top_k = self.compared, self.tops.currentData()
            found = await asyncio.to_thread(with_top, before.jobs, before.comparison, top_k, before.book)
            if self.compared is before:
                self._show(found)

    async def _read_texts(self, query: int) -> None:
        if self.compared is not None:
            self.queries.show_texts(
                await asyncio.to_thread(read_texts, self.compared, self.others.currentData(), query)
            )

    def _cannot_be_compared(self, error: UserError) -> None:
        if self.compared is not None:
            self._notices.show_error(error)
            return
        self.header.set_facts(*named(self._jobs))
        self._stack.show_sentence(said(error.message))

    # Showing

    def _show(self, compared: Compared) -> None:
        self.compared = compared
        names, comparison = named(compared.jobs), compared.comparison
        queries = figures.plural(len(comparison.queries), "{n} query", "{n} queries")
        self.header.set_facts(*names, queries, figures.plural(len(comparison.query), "{n} text", "{n} texts"))
        self.partial_bar.setVisible(comparison.is_partial)
        self.others.refill(((name, number) for number, name in enumerate(names[1:], 1)), 1)
        self.others.setVisible(len(names) > 2)
        self.tops.set_value(compared.top_k)
        self._show_possible()
        self.job_lines.show_jobs(compared)
        self._foot.set_line(foot_words(compared.jobs))
        self._show_other()
        self._stack.show_content()

    def _show_other(self) -> None:
        compared = self.compared
        if compared is None:
            return
        other = self.others.currentData()
        total = summary(compared.moves[other - 1])
        self.rbo.set_figure(score_text(total.rbo), self.tr("overlap (RBO)"))
        self.top.set_figure(score_text(total.top), self.tr("overlap of the first {k}").format(k=compared.top_k))
        of = self.tr("{n} of {all}")
        first, unmoved, all_ = map(figures.number, (total.other_first, total.unmoved, total.queries))
        self.first.set_figure(of.format(n=first, all=all_), self.tr("have a different top result"))
        self.unmoved.set_figure(of.format(n=unmoved, all=all_), self.tr("are ranked the same"))
        self.answer.show_comparison(compared, other)
        self.scores.show_scores(compared, other)
        self.queries.show_moves(compared, other)

    def _query_picked(self, index: int) -> None:
        self.tasks.start("texts", self._read_texts(self.queries.queries_model.row(index).index))

    def _open_query(self, query_no: int) -> None:
        self.tabs.choose(QUERIES)
        self.queries.choose(query_no)

    # Saving

    def _fill_save_menu(self) -> None:
        self.save_button.menu().clear()
        chosen = self.queries.selected()
        offers: list[tuple[str, bool, Collection[int] | None]] = [
            (self.tr("A row for each text…"), False, None),
            (self.tr("A row for each query…"), True, None),
        ]
        if len(chosen) > 1:
            offers.append((self.tr("These {n} queries, a row for each text…"), False, chosen))
            offers.append((self.tr("These {n} queries, a row for each query…"), True, chosen))
        for words, by_query, only in offers:
            save = partial(self._save, by_query=by_query, only=only)
            self.save_button.add(words.format(n=figures.number(len(chosen))), save)

    def _save(self, *, by_query: bool, only: Collection[int] | None) -> None:
        self.tasks.start("save", self._choose_file(by_query=by_query, only=only))

    async def _choose_file(self, *, by_query: bool, only: Collection[int] | None) -> None:
        what = self.tr("queries") if by_query else self.tr("texts")
        path = await dialogs.save_file(
            self,
            self.tr("Save as CSV"),
            name=self.tr("{name}, compared {what}.csv").format(name=self._jobs[0].name, what=what),
            filters=(self.tr("CSV (*.csv)"),),
            folder=self._program.remembered_folder(FolderUse.COMPARISONS),
        )
        if path is not None:
            await self.write(path, by_query=by_query, only=only)

    async def write(self, path: Path, *, by_query: bool, only: Collection[int] | None = None) -> None:
        """Write a CSV of `only` these queries or of all. Raises UserError."""
        compared = self.compared
        if compared is None:
            return
        by_queries = partial(write_queries, top_k=compared.top_k, evaluation=compared.evaluation)
        write = by_queries if by_query else write_texts
        count = await asyncio.to_thread(
            write, compared.comparison, path, for_excel=display.csv_separator(), queries=only
        )
        rows = figures.plural(count, "{n} row", "{n} rows")
        said = self.tr("Wrote {rows} to “{name}”.").format(rows=rows, name=path.name)
        self._notices.show_written(said, path)


MOST_TEXTS = 5_000  # of one query on the screen at once
_QUERIES_WIDTH = 470
_LEAST_QUERIES, _LEAST_TEXTS = 240, 326  # pixels, all that the smallest window has; texts need them


@dataclass(frozen=True, slots=True)
class TextMove:
    text: RunText
    index: int  # index in the first job's table
    rank: int
    rank_text: str
    other_rank: int
    other_rank_text: str
    score: float
    other_score: float
    change: int


class QueriesTab(QWidget):
    def __init__(self) -> None:
        super().__init__()
        self._letter = ""
        self._queries: tuple[QueryText, ...] = ()
        self.queries = TableView("comparison/queries", self.tr("Queries, those that moved most first"))
        self.queries_model: Rows[QueryMove] = Rows(())
        self.panel = TextPanel()
        self.texts = TableView(
            "comparison/texts",
            self.tr("Texts of the query in both jobs"),
            on_picked=self._show_text,
            on_opened=lambda _: self.panel.unfold(),
        )
        self.texts_model: Rows[TextMove] = Rows(())
        right = column(self.texts, column(self.panel, margins=(MEDIUM, SMALL, MEDIUM, MEDIUM)), gap=0)
        self.queries.setMinimumWidth(scaled(_LEAST_QUERIES))
        self.texts.setMinimumWidth(scaled(_LEAST_TEXTS))
        sizes = (_QUERIES_WIDTH, 1000 - _QUERIES_WIDTH)
        self.setLayout(column(split(self.queries, boxed(right), name="comparison/queries", sizes=sizes, stretched=1)))

    def show_moves(self, compared: Compared, other: int) -> None:
        moves = compared.moves[other - 1]
        self._queries = compared.comparison.queries
        self.queries_model = Rows(query_columns(compared.top_k), moves, key=lambda move: move.index, parent=self)
        self.queries.show_rows(self.queries_model)
        self.texts_model = Rows(text_columns(letter(other)), key=lambda row: row.index, parent=self)
        self.texts.show_rows(self.texts_model)
        self._letter = letter(other)
        self.queries.selectRow(0)

    def show_texts(self, rows: Sequence[TextMove]) -> None:
        self.texts_model.set_rows(rows)
        self.texts.selectRow(0)
        if rows:
            self._show_text(0)  # also where the first one was chosen

    def selected(self) -> tuple[int, ...]:
        return tuple(self.queries_model.row(index).index for index in self.queries.selected_rows())

    def choose(self, query_no: int) -> None:
        numbers = [self._queries[self.queries_model.row(at).index].number for at in range(len(self._queries))]
        if query_no in numbers:
            self.queries.selectRow(numbers.index(query_no))
            self.queries.scrollTo(self.queries.currentIndex())

    def _show_text(self, index: int) -> None:
        row = self.texts_model.row(index)
        heading = self.tr("Rank {rank} in A, {other} in {letter}").format(
            rank=row.rank_text, other=row.other_rank_text, letter=self._letter
        )
        text = row.text
        label = self.tr("label {label}").format(label=text.label) if text.label else ""
        self.panel.show_text(heading, text.text, about=" · ".join(filter(None, (text.id, label))))


def read_texts(compared: Compared, other: int, query: int) -> tuple[TextMove, ...]:
    """The texts of one query, best in the first job first. Blocking. Raises DataError."""
    comparison = compared.comparison
    pairs = comparison.of_query(query)[:MOST_TEXTS]
    indices = comparison.indices[0][pairs].tolist()
    texts = comparison.runs[0].texts(indices)
    first, second = (comparison.ranks[number].part(pairs) for number in (0, other))
    ranks = first.rank.tolist(), first.texts(), second.rank.tolist(), second.texts()
    figures = comparison.scores[0], comparison.scores[other], comparison.changes(other)
    columns = zip(indices, *ranks, *(each[pairs].tolist() for each in figures), strict=True)
    return tuple(TextMove(texts[row[0]], *row) for row in columns)


def query_columns(top_k: int) -> tuple[Column[QueryMove], ...]:
    return (
        Column(tr("Query"), lambda move: move.text, key="query", stretch=True),
        NumberColumn(tr("Texts"), lambda move: move.contexts, key="texts", width=56, hidden=True),
        ScoreColumn(
            tr("Overlap"),
            lambda move: move.rbo,
            key="rbo",
            width=74,
            tip=tr("Rank-biased overlap with p = 0.9: 1 is the same ranking, less the higher up two differ."),
        ),
        ScoreColumn(
            tr("Top {k}").format(k=top_k),
            lambda move: move.top,
            key="top",
            width=72,
            gives_way=True,
            tip=tr("How much of the first texts is the same in both: 1 is all of them."),
        ),
        NumberColumn(
            tr("Moved"),
            lambda move: move.largest_change,
            key="moved",
            width=64,
            tip=tr("The most ranks by which a text has risen or fallen."),
        ),
        Column(tr("ID"), lambda move: move.id, key="id", width=90, hidden=True),
    )


def text_columns(letter: str) -> tuple[Column[TextMove], ...]:
    ranks, scores = (f"# {letter}", "other rank"), (tr("Score {letter}").format(letter=letter), "other score")
    return (
        NumberColumn("# A", lambda row: row.rank, text=lambda row: row.rank_text, key="rank", width=56),
        NumberColumn(
            ranks[0], lambda row: row.other_rank, text=lambda row: row.other_rank_text, key=ranks[1], width=56
        ),
        Column(
            tr("Moved"),
            lambda row: row.change,
            figures.moved,
            key="moved",
            width=70,
            colour=lambda row: "text" if row.change else "quiet",
            tip=tr("How many ranks it rose or fell from job A to the other."),
        ),
        Column(tr("Text"), lambda row: row.text.text, key="text", stretch=True),
        ScoreColumn(tr("Score A"), lambda row: row.score, key="score", width=74, gives_way=True),
        ScoreColumn(scores[0], lambda row: row.other_score, key=scores[1], width=74, gives_way=True),
        Column(tr("ID"), lambda row: row.text.id, key="id", width=96, hidden=True),
        Column(tr("Label"), lambda row: row.text.label, key="label", width=64, hidden=True),
    )


MOST = 8  # jobs in one comparison


def candidates(base: Job, jobs: Sequence[Job]) -> tuple[Job, ...]:
    """Other rankings with results; those of the same file first, then those of as many queries, the newest first."""
    others = [job for job in jobs if job.id != base.id and job.kind is Kind.RANK and job.has_results]

    def nearness(job: Job) -> tuple[bool, bool, float]:
        return job.source_name != base.source_name, job.queries != base.queries, -job.created_at

    return tuple(sorted(others, key=nearness))


class ChooseJobsDialog(Dialog):
    """`chosen` has the jobs once it is accepted. Open it with `dialogs.finished`."""

    def __init__(self, base: Job, jobs: Sequence[Job], parent: QWidget | None = None) -> None:
        super().__init__(tr("Compare with…"), parent, (680, 480))
        self.compare_button = PrimaryButton(tr("Compare"), "git-compare", self.accept)
        self._jobs = candidates(base, jobs)
        now = time.time()
        self.find_field = SearchField(self.tr("Find a job"))
        self.find_field.searched.connect(self._find)
        self.rows: Rows[Job] = Rows(self._columns(now), self._jobs, key=lambda job: job.id, parent=self)
        self.table = TableView("comparison/choose", self.tr("Jobs to compare with"), self.rows)
        self.table.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.table.opened.connect(lambda _: self.compare_button.click())
        self.table.selectionModel().selectionChanged.connect(lambda *_: self._selected())
        title = self.tr("Compare “{name}” with").format(name=figures.one_line(base.name, 60))
        words = self.tr("Jobs over the same texts: another model, or another template. Hold {key} to choose several.")
        nothing = self.tr("There is no other ranking with results yet. Duplicate this job and change its model.")
        about = words.format(key=control_name()) if self._jobs else nothing
        self.lay_out(title, self.find_field, self.table, about=about, buttons=[self.compare_button])
        self.table.selectRow(0)
        self.table.setFocus(Qt.FocusReason.OtherFocusReason)
        self._selected()

    def chosen(self) -> tuple[Job, ...]:
        return tuple(self.rows.row(index) for index in self.table.selected_rows())

    def _find(self, text: str) -> None:
        wanted = text.casefold().strip()
        self.rows.set_rows([job for job in self._jobs if wanted in job.name.casefold()])
        self.table.selectRow(0)
        self._selected()

    def _selected(self) -> None:
        count = len(self.chosen())
        why = "" if count else self.tr("Choose a job first.")
        if count >= MOST:
            why = self.tr("At most {n} jobs can be compared at once.").format(n=MOST)
        self.compare_button.set_possible(why)

    def _columns(self, now: float) -> tuple[Column[Job], ...]:
        return (
            Column(self.tr("Job"), lambda job: job.name, key="name", stretch=True),
            Column(
                self.tr("Model"),
                lambda job: self.tr("Practice") if is_practice(job) else short_model(job),
                key="model",
                width=150,
            ),
            NumberColumn(self.tr("Queries"), lambda job: job.queries, key="queries", width=80),
            Column(
                self.tr("Sent"), lambda job: job.sent_at, lambda sent: figures.age(sent, now), key="sent", width=110
            ),
        )
