"""Two or more jobs over the same items, side by side: the answer, queries and their texts, scores, more measures."""

import asyncio
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QAbstractItemView, QSizePolicy, QStackedWidget, QVBoxLayout, QWidget
from shiboken6 import isValid

from cfbatch_gui.core.evaluation.comparison import (
    TOP_K,
    Compared,
    Comparison,
    QueryChange,
    QueryMove,
    compare,
    query_changes,
    with_top,
    write_queries,
    write_texts,
)
from cfbatch_gui.core.evaluation.joining import RunText, comparable_jobs, read_runs
from cfbatch_gui.core.evaluation.judged import BookGrades, Evaluation, answers
from cfbatch_gui.core.evaluation.significance import Paired
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.results.score_table import QueryText
from cfbatch_gui.core.system.settings import FolderUse
from cfbatch_gui.core.system.threads import in_thread
from cfbatch_gui.ui import dialogs, display, widgets
from cfbatch_gui.ui.dialogs import Dialog
from cfbatch_gui.ui.display import control_name
from cfbatch_gui.ui.notices import Notices
from cfbatch_gui.ui.plots import Band, Bars, Chart, Diagonal, Dots, PictureButtons, PlotData
from cfbatch_gui.ui.results.results_page import ResultsPage, Version
from cfbatch_gui.ui.tables.table_rows import Column, NumberColumn, Rows, ScoreColumn
from cfbatch_gui.ui.tables.table_view import TableView
from cfbatch_gui.ui.tasks import Tasks
from cfbatch_gui.ui.theme import LARGE, MEDIUM, SMALL, TINY, WIDE, scaled
from cfbatch_gui.ui.widgets.text_panel import TextPanel
from cfbatch_gui.words import figures, quality
from cfbatch_gui.words.figures import score_text
from cfbatch_gui.words.languages import said, tr
from cfbatch_gui.words.states import amount, is_practice, short_model

ANSWER, QUERIES, SCORES, MEASURES = "answer", "queries", "scores", "measures"
_TOPS = (1, 3, 5, 10, 20)
_OTHERS_WIDTH = 240
_SIDE_BY_SIDE = 3  # measures, before those of "More"
_CHART_HEIGHT = 150  # pixels
_SAME = 5e-5  # a difference that is shown as 0.0000
_MOST_TEXTS = 5_000  # of one query on the screen at once
_QUERIES_WIDTH = 400
_LEAST_QUERIES, _LEAST_TEXTS = 240, 326  # pixels, all that the smallest window has; texts need them
_CARD = (20, MEDIUM, 20, MEDIUM)
_PAGE = (WIDE, MEDIUM, WIDE, MEDIUM)


def read_comparison(program: Program, jobs: Sequence[Job]) -> Compared:
    """Blocking; the first job is what the others are compared with. Raises UsageError, DataError."""
    comparison = compare(read_runs(program.folder, jobs))
    return with_top(comparison, TOP_K, BookGrades.read(program.judgements.find()))


class ComparisonPage(ResultsPage[Compared]):
    """`more_wanted` asks for a choice of other jobs, and brings the id of the newest of these; `judge_wanted` brings
    the ids of all, whose texts are to be judged.
    """

    more_wanted = Signal(str)
    judge_wanted = Signal(list)

    def __init__(self, program: Program, notices: Notices) -> None:
        super().__init__(program, notices, "git-compare")
        self._jobs: tuple[Job, ...] = ()
        self.compared: Compared | None = None
        self.header = widgets.PageHeader(tr("Comparison"))
        self.choose_button = widgets.Button(
            tr("Other jobs…"), "git-compare", lambda: self.more_wanted.emit(self._jobs[-1].id)
        )
        self.save_button = widgets.MenuButton(tr("Save as CSV"), "download")
        self.save_button.menu().aboutToShow.connect(self._fill_save_menu)
        for button in (self.choose_button, self.save_button):
            self.header.add_button(button)
        self._make_content()

    def compare(self, jobs: Sequence[Job]) -> None:
        """The oldest job comes first, so that the newest one is what is better or worse."""
        self._jobs, self.shown = tuple(sorted(jobs, key=lambda job: job.sent_at or job.created_at)), None
        self.show_job(self._jobs[0])

    def show_jobs(self, jobs: Sequence[Job]) -> None:
        """A comparison ends when one of its jobs is deleted; else it stays as it was when it was made."""
        there = {job.id for job in jobs}
        left = tuple(job for job in self._jobs if job.id in there)
        if left != self._jobs:
            self.stop()
            self._jobs, self.shown, self.compared = left, None, None
            self._show_possible()
            self.say(tr("Jobs of this comparison were deleted. Choose others to compare."))

    def ask_to_judge(self) -> None:
        if self._jobs:
            self.judge_wanted.emit([job.id for job in self._jobs])

    # Making

    def _make_content(self) -> None:
        self.partial_bar = widgets.NoticeBar("", "attention")
        self.others = widgets.Choice(tr("Compared with"), on_picked=lambda _: self._show_other())
        self.others.setMaximumWidth(_OTHERS_WIDTH)
        tops = [(tr("Top {n}").format(n=count), count) for count in _TOPS]
        self.tops = widgets.Choice(
            tr("How many first texts"), tops, lambda _: self.tasks.start("top", self._change_top())
        )
        self.tabs, self._pages = widgets.Tabs(), QStackedWidget()
        self.answer = AnswerTab(self)
        self.queries, self.measures = QueriesTab(), MeasuresTab()
        self.scores = ScoresTab(self)
        shown: dict[str, tuple[str, QWidget]] = {
            ANSWER: (tr("Answer"), self.answer),
            QUERIES: (tr("Queries"), self.queries),
            SCORES: (tr("Scores"), self.scores),
            MEASURES: (tr("More measures"), self.measures),
        }
        for key, (name, page) in shown.items():
            self.tabs.add(key, name)
            page.setAccessibleName(name)  # a page without anything to focus gets the focus itself
            self._pages.addWidget(page)
        self.tabs.chosen.connect(lambda key: self._pages.setCurrentWidget(shown[key][1]))
        self.queries.queries.picked.connect(self._query_picked)
        choices = widgets.row(self.others, self.tops, margins=(0, 0, WIDE, 0))
        tabs = widgets.row((self.tabs, 1), widgets.column(None, choices, None, widgets.line(), gap=0), gap=0)
        self._bar = widgets.boxed(widgets.column(self.partial_bar, margins=(WIDE, SMALL, WIDE, 0)))
        content = widgets.column(self._bar, tabs, (self._pages, 1), gap=0)
        self.lay_out(widgets.Roomy(widgets.boxed(content)), side=0)
        whole = self.layout()
        assert isinstance(whole, QVBoxLayout)  # noqa: S101 - as `lay_out` makes it
        whole.insertWidget(0, self.header)

    # Reading

    def begin(self, job: Job) -> None:
        super().begin(job)
        self.compared = None
        self.others.clear()
        self.header.set_facts(*self._named())
        self._show_possible()

    def version(self, job: Job) -> Version:
        return tuple(each.id for each in self._jobs)

    async def read(self, job: Job) -> Compared:
        return await in_thread(read_comparison, self.program, self._jobs)

    async def show_read(self, job: Job, read: Compared) -> None:
        self._show(read)
        self.tabs.choose(QUERIES if read.evaluation is None else ANSWER)
        focused = self.window().focusWidget()
        if focused is None or self.isAncestorOf(focused):  # type: ignore[redundant-expr]  # it can be None
            table = self.answer.table if self.tabs.current() == ANSWER else self.queries.queries
            table.setFocus(Qt.FocusReason.OtherFocusReason)

    async def _change_top(self) -> None:
        if (before := self.compared) is not None:
            try:
                with self.waiting(tr("Comparing…")):
                    self._show(await in_thread(with_top, before.comparison, self.tops.currentData(), before.book))
            finally:
                self.tops.set_value(self.compared.top_k if self.compared is not None else TOP_K)

    async def _read_texts(self, query: int) -> None:
        if self.compared is not None:
            other = self.others.currentData()
            self.queries.show_texts(await asyncio.to_thread(read_texts, self.compared.comparison, other, query))

    # Showing

    def _named(self) -> list[str]:
        """ "A: Help centre", "B: Help centre, short"."""
        pattern = tr("{letter}: {name}")
        return [
            pattern.format(letter=quality.letter(index), name=figures.one_line(job.name, 60))
            for index, job in enumerate(self._jobs)
        ]

    def _show_possible(self) -> None:
        self.save_button.setEnabled(self.compared is not None)
        self.choose_button.setEnabled(bool(self._jobs))

    def _show(self, compared: Compared) -> None:
        self.compared = compared
        names, comparison = self._named(), compared.comparison
        queries = figures.plural(len(comparison.queries), "{n} query", "{n} queries")
        self.header.set_facts(*names, queries, figures.plural(len(comparison.query), "{n} text", "{n} texts"))
        self.partial_bar.set_text(quality.partial_words(comparison), "attention")
        self._bar.setVisible(comparison.is_partial)
        self.others.refill(((name, number) for number, name in enumerate(names[1:], 1)), 1)
        self.others.setVisible(len(names) > 2)
        self.tops.set_value(compared.top_k)
        self._show_possible()
        self.measures.show_measures(compared)
        self._show_other()
        self.stack.show_content()

    def _show_other(self) -> None:
        if (compared := self.compared) is not None:
            other = self.others.currentData()
            self.answer.show_evaluation(compared.evaluation)
            self.scores.show_scores(compared.comparison, other)
            self.queries.show_moves(compared, other)
            self.show_foot()

    def show_foot(self) -> None:
        if (compared := self.compared) is not None:
            other = self.others.currentData()
            self.foot.set_line(quality.foot_words(compared.comparison, other, compared.evaluation, compared.book))

    def _query_picked(self, index: int) -> None:
        self.tasks.start("texts", self._read_texts(self.queries.queries_model.row(index).index))

    def open_query(self, query_no: int) -> None:
        self.tabs.choose(QUERIES)
        self.queries.choose(query_no)

    # Saving

    def _fill_save_menu(self) -> None:
        self.save_button.menu().clear()
        chosen = self.queries.selected()
        offers: list[tuple[str, bool, Collection[int] | None]] = [
            (tr("A row for each text…"), False, None),
            (tr("A row for each query…"), True, None),
        ]
        if len(chosen) > 1:
            offers.append((tr("These {n} queries, a row for each text…"), False, chosen))
            offers.append((tr("These {n} queries, a row for each query…"), True, chosen))
        for words, by_query, only in offers:
            save = partial(self._save, by_query=by_query, only=only)
            self.save_button.add(words.format(n=figures.number(len(chosen))), save)

    def _save(self, *, by_query: bool, only: Collection[int] | None) -> None:
        self.tasks.start("save", self._choose_file(by_query=by_query, only=only))

    async def _choose_file(self, *, by_query: bool, only: Collection[int] | None) -> None:
        what = tr("queries") if by_query else tr("texts")
        path = await dialogs.save_file(
            self,
            tr("Save as CSV"),
            name=tr("{name}, compared {what}.csv").format(name=self._jobs[0].name, what=what),
            filters=(tr("CSV (*.csv)"),),
            folder=self.program.remembered_folder(FolderUse.COMPARISONS),
        )
        if path is not None:
            await self.write(path, by_query=by_query, only=only)

    async def write(self, path: Path, *, by_query: bool, only: Collection[int] | None = None) -> None:
        """Write a CSV of `only` these queries or of all. Raises UserError."""
        if (compared := self.compared) is None:
            return
        write = write_queries if by_query else write_texts
        count = await asyncio.to_thread(write, compared, path, for_excel=display.csv_separator(), queries=only)
        rows = figures.plural(count, "{n} row", "{n} rows")
        self.notices.show_written(tr("Wrote {rows} to “{name}”.").format(rows=rows, name=path.name), path)


class Switch(QWidget):
    """One of a few words side by side; further ones are in the menu of "More", which shows the one that is chosen."""

    def __init__(self, name: str, on_picked: Callable[[], object]) -> None:
        super().__init__()
        self.setAccessibleName(name)
        self._on_picked, self.value = on_picked, ""
        self._names: Mapping[str, str] = {}
        self._buttons: dict[str, widgets.Button] = {}
        self._line = widgets.row(gap=0)
        self.setLayout(self._line)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    def offer(self, names: Mapping[str, str]) -> None:
        """Words by their values; what was chosen stays, else it is the first."""
        for button in self._buttons.values():
            button.deleteLater()
        self._names, shown = names, list(names)[:_SIDE_BY_SIDE]
        more = widgets.MenuButton(tr("More"))
        self._buttons = {value: widgets.Button(names[value], on_click=partial(self.choose, value)) for value in shown}
        for value in list(names)[_SIDE_BY_SIDE:]:
            more.add(names[value], partial(self.choose, value))
        self._buttons[""] = more
        for value, button in self._buttons.items():
            button.setProperty("kind", "segment")
            button.setProperty("end", "first" if value == shown[0] else "" if value else "last")
            button.setCheckable(True)
            self._line.addWidget(button)
        self._show(self.value if self.value in names else shown[0])

    def choose(self, value: str) -> None:
        self._show(value)
        self._on_picked()

    def _show(self, value: str) -> None:
        self.value = value
        chosen = value if value in self._buttons else ""
        for each, button in self._buttons.items():
            button.setChecked(each == chosen)
        self._buttons[""].setText(tr("More") if chosen else self._names[value])


class AnswerTab(QWidget):
    def __init__(self, page: ComparisonPage) -> None:
        super().__init__()
        self._page = page
        self.headline, self.sentence = widgets.Label("", "part", wrap=True), widgets.Label("", wrap=True)
        self.headline.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.found: Paired | None = None
        self._more, self._known = widgets.Sentence("", "quiet"), widgets.Label("", "quiet", wrap=True)
        self._how = widgets.LinkButton(
            tr("How is this known?"), on_click=lambda: self._known.setVisible(self._known.isHidden())
        )
        self.measures = Switch(tr("Measure"), lambda: page.tasks.start("answer", self._answer()))
        self.warning = widgets.NoticeBar("", "attention")
        self.warning.add_link(tr("Judge what is missing"), page.ask_to_judge)
        self.chart = Chart(tr("How much better or worse each query is"))
        self.chart.setFixedHeight(_CHART_HEIGHT)
        self.chart.picked.connect(lambda index: page.open_query(self.rows.rows()[index].number))
        self.table = TableView(
            "comparison/answer",
            tr("Queries, those that gained most first"),
            on_opened=lambda index: page.open_query(self.rows.row(index).number),
        )
        self.rows: Rows[QueryChange] = Rows(())
        self._content = widgets.MaybeEmpty("list-ordered", self._laid_out())
        self._content.empty.pressed.connect(page.ask_to_judge)
        self.setLayout(widgets.column(self._content, gap=0))

    def _laid_out(self) -> QWidget:
        self._known.hide()
        more = widgets.boxed(widgets.Flow(self._more, self._how, gap=TINY))
        first = widgets.boxed(widgets.Flow(self.headline, self.measures, gap=TINY))
        answer = widgets.Card(first, self.sentence, more, self._known, gap=TINY, margins=_CARD)
        self._chart_title = widgets.Sentence("", "strong")
        band = widgets.Sentence(tr("the band is where the mean may lie"), "small")
        title = widgets.boxed(widgets.Flow(self._chart_title, None, band))
        self._better, self._worse = widgets.Label("", "accent"), widgets.Label("", "attention")
        below = widgets.row(self._better, None, self._worse)
        self._chart_card = widgets.Card(title, self.chart, below, gap=TINY, margins=_CARD)
        above = widgets.column(self.warning, answer, self._chart_card, gap=MEDIUM, margins=_PAGE)
        return widgets.boxed(widgets.column(above, (self.table, 1), gap=0))

    def show_evaluation(self, evaluation: Evaluation | None) -> None:
        if evaluation is None:
            question = tr(
                "Which of these rankings is better? Nobody has judged their texts yet. Judge the first few of each: one"
                " text at a time, with one key each."
            )
            self._content.show_sentence(question, tr("Judge their texts…"))
            return
        self._content.show_content()
        self.measures.offer({name: quality.measure_name(name) for name in evaluation.runs[0].means})
        self.warning.say(quality.too_few_judged(evaluation))
        self._page.tasks.start("answer", self._answer())

    async def _answer(self) -> None:
        compared, other, metric = self._page.compared, self._page.others.currentData(), self.measures.value
        if compared is None or (evaluation := compared.evaluation) is None:
            return
        with self._page.waiting(tr("Comparing…")):
            found = await in_thread(answers, evaluation, metric)
            changes = await in_thread(query_changes, compared.comparison, evaluation, other, metric)
        self._page.show_foot()
        for label, words in zip(
            (self.headline, self.sentence, self._more),
            quality.answer_words(found[other - 1], quality.letter(other), metric),
            strict=True,
        ):
            label.setText(words)
            label.setVisible(bool(words))
        self._known.setText(quality.how_it_is_known(found[other - 1], several=len(found) > 1))
        self._show(found[other - 1], changes, quality.letter(other))

    def _show(self, found: Paired, changes: Sequence[QueryChange], job: str) -> None:
        self.found = found
        self._how.setVisible(found.low is not None and bool(found.better or found.worse))
        self._chart_title.setText(tr("Each query, from {job}’s best to {job}’s worst").format(job=job))
        self._better.setText(tr("{job} better").format(job=job))
        self._worse.setText(tr("{job} worse").format(job=job))
        self._chart_card.setVisible(bool(found.better or found.worse))
        self.rows = Rows(change_columns(job), changes, key=lambda each: each.index, parent=self)
        self.table.show_rows(self.rows)

        def describe(index: int) -> str:
            return f"{figures.one_line(changes[index].text, 120)}\n{quality.signed(changes[index].difference)}"

        edges, differences = np.arange(len(changes) + 1.0), np.array([each.difference for each in changes])
        band = [Band(found.low, found.high)] if found.low is not None and found.high is not None else []
        gains = Bars(edges, np.maximum(differences, 0.0), describe=describe)
        losses = Bars(edges, np.minimum(differences, 0.0), role="attention", describe=describe)
        data = PlotData((tr("Query"), tr("Difference")), [(each.text, each.difference) for each in changes])
        self.chart.show_layers(
            [*band, gains, losses], across="", up="", data=lambda: data, summary=self.sentence.text()
        )


def change_columns(job: str) -> tuple[Column[QueryChange], ...]:
    return (
        Column(tr("Query"), lambda each: each.text, stretch=True),
        ScoreColumn("A", lambda each: each.value, width=74),
        ScoreColumn(job, lambda each: each.other_value, width=74),
        NumberColumn(
            f"{job} − A",
            lambda each: each.difference,
            lambda value: quality.signed(value, "+.4f") if abs(value) >= _SAME else score_text(0.0),
            width=84,
            colour=_colour,
        ),
        Column(tr("Best text"), lambda each: each.best, stretch=True),
        NumberColumn(
            tr("Its rank"),
            lambda each: each.rank - each.other_rank,
            text=_ranks,
            copies_text=True,
            width=84,
            tip=tr("The rank of the best text in A, and in the other job."),
        ),
    )


def _colour(each: QueryChange) -> str:
    if abs(each.difference) < _SAME:
        return "quiet"
    return "accent" if each.difference > 0 else "attention"


def _ranks(each: QueryChange) -> str:
    if not each.best:
        return ""
    before, after = (figures.number(rank) if rank else "–" for rank in (each.rank, each.other_rank))
    return f"{before} → {after}"


class ScoresTab(QWidget):
    def __init__(self, page: ComparisonPage) -> None:
        super().__init__()
        self._comparison: Comparison | None = None
        self.chart = Chart(tr("Scores of both jobs"))
        self.chart.picked.connect(lambda index: page.open_query(self._query_of(index).number))
        folder = page.program.remembered_folder(FolderUse.PICTURES)
        self.pictures = PictureButtons(self.chart, page.notices, page.tasks, folder)
        self._about = widgets.IconLine("", wrap=True)
        head = widgets.row((self._about, 1), self.pictures, gap=LARGE)
        head.setAlignment(self._about, Qt.AlignmentFlag.AlignVCenter)
        self.setLayout(widgets.column(head, (self.chart, 1), gap=MEDIUM, margins=_PAGE))

    def show_scores(self, comparison: Comparison, other: int) -> None:
        one, two = comparison.runs[0].job, comparison.runs[other].job
        same = one.model == two.model and one.connection == two.connection and one.kind is two.kind
        x, y = comparison.scores[0], comparison.scores[other]
        self._comparison = comparison

        def describe(index: int) -> str:
            return (
                f"{figures.one_line(self._query_of(index).text, 120)}\n{score_text(x[index])} · {score_text(y[index])}"
            )

        def data() -> PlotData:
            rows = ((self._query_of(index).text, x.item(index), y.item(index)) for index in range(len(x)))
            return PlotData((tr("Query"), one.name, two.name), rows)

        layers: list[Dots | Diagonal] = [Dots(x, y, describe=describe), *([Diagonal()] if same else [])]
        words = tr("Each dot is a text with a query. On the dashed line both jobs give the same score.")
        if not same:
            words = tr(
                "Each dot is a text with a query. Scores of two models have scales of their own: look at the order, not"
                " at the difference."
            )
        if (correlation := comparison.correlation(other)) is not None:
            words += " " + tr("Correlation: {n}.").format(n=figures.number(correlation, ".2f"))
        self.chart.show_layers(layers, across=one.name, up=two.name, data=data, summary=words)
        self._about.set_line(words)
        self.pictures.set_name(tr("{one} and {two}, scores").format(one=one.name, two=two.name))

    def _query_of(self, index: int) -> QueryText:
        assert self._comparison is not None  # noqa: S101 - there are dots only once it is shown
        return self._comparison.queries[int(self._comparison.query[index])]


class MeasuresTab(QWidget):
    """What is compared, and all measures of each job with what they mean."""

    def __init__(self) -> None:
        super().__init__()
        self.jobs = widgets.LabelGrid("strong", stretches=(0, 1, 0, 0, 0, 2), gap=WIDE - 4, elided=1, wrapped=5)
        self.grid = widgets.LabelGrid("strong", "quiet", stretches=(0, 1), gap=WIDE - 4, wrapped=1)
        self.remarks = widgets.IconLine("", "info", "body", wrap=True)
        content = widgets.column(
            widgets.Card(widgets.Label(tr("What is compared"), "part"), self.jobs, gap=MEDIUM, margins=_CARD),
            widgets.Card(
                widgets.Label(tr("How well each ranks"), "part"),
                self.grid,
                self.remarks,
                gap=MEDIUM,
                margins=_CARD,
            ),
            None,
            gap=MEDIUM,
            margins=_PAGE,
        )
        self.setLayout(widgets.column(widgets.scrolled(widgets.boxed(content))))

    def show_measures(self, compared: Compared) -> None:
        comparison, found = compared.comparison, compared.evaluation
        self.jobs.show_lines(quality.job_rows(comparison), quality.job_titles(), right=(3, 4))
        (_, *letters, _), rows = quality.measure_table(compared)
        lines = [(name, meaning, *values) for name, *values, meaning in rows]
        self.grid.show_lines(lines, ("", "", *letters), right=range(2, len(letters) + 2))
        self.remarks.set_line(quality.comparison_remarks(comparison, found))


@dataclass(frozen=True, slots=True)
class TextMove:
    text: RunText
    rank: int
    rank_text: str
    other_rank: int
    other_rank_text: str
    score: float
    other_score: float

    @property
    def change(self) -> int:
        return self.rank - self.other_rank


class QueriesTab(QWidget):
    def __init__(self) -> None:
        super().__init__()
        self._letter = ""
        self._queries: tuple[QueryText, ...] = ()
        self.queries = TableView("comparison/queries", tr("Queries, those that moved most first"))
        self.queries_model: Rows[QueryMove] = Rows(())
        self.panel = TextPanel()
        self.texts = TableView(
            "comparison/texts",
            tr("Texts of the query in both jobs"),
            on_picked=self._show_text,
            on_opened=lambda _: self.panel.unfold(),
        )
        self.texts_model: Rows[TextMove] = Rows(())
        right = widgets.column(self.texts, widgets.column(self.panel, margins=(MEDIUM, SMALL, MEDIUM, MEDIUM)), gap=0)
        self.queries.setMinimumWidth(scaled(_LEAST_QUERIES))
        self.texts.setMinimumWidth(scaled(_LEAST_TEXTS))
        parts, sizes = (self.queries, widgets.boxed(right)), (_QUERIES_WIDTH, 1000 - _QUERIES_WIDTH)
        self.setLayout(widgets.column(widgets.split(*parts, name="comparison/queries", sizes=sizes, stretched=1)))

    def show_moves(self, compared: Compared, other: int) -> None:
        self._queries, self._letter = compared.comparison.queries, quality.letter(other)
        self.queries_model = Rows(move_columns(), compared.moves[other - 1], key=lambda move: move.index, parent=self)
        self.queries.show_rows(self.queries_model)
        self.texts_model = Rows(text_columns(self._letter), parent=self)
        self.texts.show_rows(self.texts_model)
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
        heading = tr("Rank {rank} in A, {other} in {letter}").format(
            rank=row.rank_text, other=row.other_rank_text, letter=self._letter
        )
        label = tr("label {label}").format(label=row.text.label) if row.text.label else ""
        self.panel.show_text(heading, row.text.text, about=" · ".join(filter(None, (row.text.id, label))))


def read_texts(comparison: Comparison, other: int, query: int) -> tuple[TextMove, ...]:
    """The texts of one query, best in the first job first. Blocking. Raises DataError."""
    pairs = comparison.of_query(query)[:_MOST_TEXTS]
    indices = comparison.indices[0][pairs].tolist()
    texts = comparison.runs[0].texts(indices)
    ranks = [comparison.ranks[number].part(pairs) for number in (0, other)]
    numbers = (column for each in ranks for column in (each.rank.tolist(), each.texts()))
    scores = (comparison.scores[number][pairs].tolist() for number in (0, other))
    return tuple(TextMove(texts[index], *row) for index, *row in zip(indices, *numbers, *scores, strict=True))


def move_columns() -> tuple[Column[QueryMove], ...]:
    return (
        Column(tr("Query"), lambda move: move.text, stretch=True),
        NumberColumn(
            tr("Moved"),
            lambda move: move.largest_change,
            width=64,
            tip=tr("The most ranks by which a text has risen or fallen."),
        ),
        Column(tr("ID"), lambda move: move.id, width=90, hidden=True),
    )


def text_columns(letter: str) -> tuple[Column[TextMove], ...]:
    return (
        NumberColumn("# A", lambda row: row.rank, text=lambda row: row.rank_text, width=56),
        NumberColumn(f"# {letter}", lambda row: row.other_rank, text=lambda row: row.other_rank_text, width=56),
        Column(
            tr("Moved"),
            lambda row: row.change,
            figures.moved,
            width=70,
            colour=lambda row: "text" if row.change else "quiet",
            tip=tr("How many ranks it rose or fell from job A to the other."),
        ),
        Column(tr("Text"), lambda row: row.text.text, stretch=True),
        ScoreColumn(tr("Score A"), lambda row: row.score, width=74, gives_way=True),
        ScoreColumn(
            tr("Score {letter}").format(letter=letter),
            lambda row: row.other_score,
            width=74,
            gives_way=True,
        ),
        Column(tr("ID"), lambda row: row.text.id, width=96, hidden=True),
        Column(tr("Label"), lambda row: row.text.label, width=64, hidden=True),
    )


MOST = 8  # jobs in one comparison


class ChooseJobsDialog(Dialog):
    """`chosen` has the jobs once it is accepted. Open it with `dialogs.finished`."""

    def __init__(self, program: Program, base: Job, parent: QWidget | None = None) -> None:
        super().__init__(tr("Compare with…"), parent, (680, 480))
        self._program, self._base = program, base
        self._jobs: tuple[Job, ...] = ()
        self.compare_button = widgets.PrimaryButton(tr("Compare"), "git-compare", self.accept)
        self.find_field = widgets.SearchField(tr("Find a job"))
        self.find_field.searched.connect(self._find)
        self.rows: Rows[Job] = Rows(self._columns(time.time()), key=lambda job: job.id, parent=self)
        self.table = TableView("comparison/choose", tr("Jobs to compare with"), self.rows)
        self.table.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.table.opened.connect(lambda _: self.compare_button.click())
        self.table.selectionModel().selectionChanged.connect(lambda *_: self._selected())
        self._about = widgets.Label(tr("Looking for jobs over the same texts…"), "quiet", wrap=True)
        title = tr("Compare “{name}” with").format(name=figures.one_line(base.name, 60))
        self.lay_out(title, self._about, self.find_field, self.table, buttons=[self.compare_button])
        self._selected()
        self.tasks = Tasks(self, lambda error: self._about.setText(said(error.message)))
        self.tasks.start("look", self._look())

    def chosen(self) -> tuple[Job, ...]:
        return tuple(self.rows.row(index) for index in self.table.selected_rows())

    async def _look(self) -> None:
        loop, jobs = asyncio.get_running_loop(), self._program.ledger.jobs()

        def look() -> None:
            for job in comparable_jobs(self._program.folder, self._base, jobs):
                loop.call_soon_threadsafe(self._add, job)

        await in_thread(look)
        words = tr("Jobs over the same texts: another model, or another template. Hold {key} to choose several.")
        nothing = tr("There is no other job with results over the same texts yet.")
        self._about.setText(words.format(key=control_name()) if self._jobs else nothing)

    def _add(self, job: Job) -> None:
        if not isValid(self):  # it was closed since
            return
        self._jobs = (*self._jobs, job)
        self._find(self.find_field.text())
        if len(self._jobs) == 1 and not self.find_field.text():
            self.table.setFocus(Qt.FocusReason.OtherFocusReason)

    def _find(self, text: str) -> None:
        wanted = text.casefold().strip()
        self.rows.set_rows([job for job in self._jobs if wanted in job.name.casefold()])
        if not self.table.selected_rows():
            self.table.selectRow(0)
        self._selected()

    def _selected(self) -> None:
        count = len(self.chosen())
        why = "" if count else tr("Choose a job first.")
        if count >= MOST:
            why = tr("At most {n} jobs can be compared at once.").format(n=MOST)
        self.compare_button.set_possible(why)

    def _columns(self, now: float) -> tuple[Column[Job], ...]:
        return (
            Column(tr("Job"), lambda job: job.name, stretch=True),
            Column(
                tr("Model"),
                lambda job: tr("Practice") if is_practice(job) else short_model(job),
                width=150,
            ),
            Column(tr("Size"), amount, width=140),
            Column(tr("Sent"), lambda job: job.sent_at, lambda sent: figures.age(sent, now), width=110),
        )
