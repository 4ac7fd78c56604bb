"""Two or more jobs over the same items, side by side: the answer, queries and their texts, scores, more measures."""

import asyncio
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import islice
from pathlib import Path

import numpy as np
from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QAbstractItemView, QSizePolicy, QStackedWidget, QWidget

from cfbatch_gui.core.evaluation import comparison as comparing
from cfbatch_gui.core.evaluation.comparison import Compared, QueryChange, QueryMove, TextMove
from cfbatch_gui.core.evaluation.joining import comparable_jobs, read_runs
from cfbatch_gui.core.evaluation.judged import BookGrades, answers
from cfbatch_gui.core.evaluation.significance import Paired
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.results.score_table import QueryText
from cfbatch_gui.core.system.settings import FolderUse
from cfbatch_gui.core.system.threads import in_thread
from cfbatch_gui.ui import dialogs, display, plots, widgets
from cfbatch_gui.ui.notices import Notices
from cfbatch_gui.ui.results.results_page import ResultsPage, Version
from cfbatch_gui.ui.tables.table_rows import Column, NumberColumn, Rows, ScoreColumn
from cfbatch_gui.ui.tables.table_view import TableView
from cfbatch_gui.ui.tasks import Tasks
from cfbatch_gui.ui.theme import LARGE, MEDIUM, SMALL, TINY, WIDE, scaled
from cfbatch_gui.ui.widgets import Card, Flow, Label, Sentence, boxed, column
from cfbatch_gui.ui.widgets.text_panel import TextPanel
from cfbatch_gui.words import figures, quality
from cfbatch_gui.words.figures import score_text, worded
from cfbatch_gui.words.languages import said, tr
from cfbatch_gui.words.states import amount, is_practice, short_model

ANSWER, QUERIES, SCORES, MEASURES = "answer", "queries", "scores", "measures"
_TOPS = (1, 3, 5, 10, 20)
_OTHERS_WIDTH = 240
_CHART_HEIGHT = 150  # pixels
_SAME = 5e-5  # a difference that is shown as 0.0000
_QUERIES_WIDTH = 400
_LEAST_QUERIES, _LEAST_TEXTS = 240, 326  # pixels, all that the smallest window has; texts need them
_LEAST_HEIGHT = 190  # pixels of a tab; where the window has fewer, the whole page scrolls
_LEAST_ABOUT = 240  # pixels; where there are fewer, the buttons stand below the sentence
_CARD = (20, MEDIUM, 20, MEDIUM)
_PAGE = (WIDE, MEDIUM, WIDE, MEDIUM)


def read_comparison(program: Program, jobs: Sequence[Job]) -> Compared:
    """Blocking; the first job is what the others are compared with. Raises UsageError, DataError."""
    comparison = comparing.compare(read_runs(program.folder, jobs))
    return comparing.with_top(comparison, comparing.TOP_K, BookGrades.read(program.judgements.find()))


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
        self.choose_button = self.header.add_button(
            widgets.Button(tr("Other jobs…"), "git-compare", lambda: self.more_wanted.emit(self._jobs[-1].id))
        )
        self.save_button = self.header.add_button(widgets.MenuButton(tr("Save as CSV"), "download"))
        self.save_button.menu().aboutToShow.connect(self._fill_save_menu)
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
        self.tops = widgets.Choice(
            tr("How many first texts"),
            [(worded("Top {n}", n=count), count) for count in _TOPS],
            lambda _: self.tasks.start("top", self._change_top()),
        )
        self.tabs, pages = widgets.Tabs(), QStackedWidget()
        self.answer, self.queries = AnswerTab(self), QueriesTab()
        self.scores, self.measures = ScoresTab(self), MeasuresTab()
        shown: Mapping[str, tuple[str, QWidget]] = {
            ANSWER: (tr("Answer"), self.answer),
            QUERIES: (tr("Queries"), self.queries),
            SCORES: (tr("Scores"), self.scores),
            MEASURES: (tr("More measures"), self.measures),
        }
        for key, (name, page) in shown.items():
            self.tabs.add(key, name)
            page.setAccessibleName(name)  # a page without anything to focus gets the focus itself
            pages.addWidget(widgets.Roomy(page))
        self.tabs.currentChanged.connect(pages.setCurrentIndex)
        self.queries.queries.picked.connect(self._query_picked)
        pages.setMinimumHeight(scaled(_LEAST_HEIGHT))
        choices = widgets.row(self.others, self.tops, WIDE)  # a margin would not be mirrored
        tabs = widgets.row((self.tabs, 1), column(None, choices, None, widgets.line(), gap=0), gap=0)
        above = column(self.partial_bar, margins=(WIDE, SMALL, WIDE, 0))
        content = column(above, tabs, (pages, 1), gap=0)
        self.lay_out(boxed(content), side=0, header=self.header)

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
            top = self.tops.currentData()
            try:
                with self.waiting(tr("Comparing…")):
                    self._show(await in_thread(comparing.with_top, before.comparison, top, before.book))
            finally:
                self.tops.set_value(self.compared.top_k if self.compared is not None else comparing.TOP_K)

    # Showing

    def other(self) -> int:
        """The number of the job that is compared with the first."""
        return int(self.others.currentData())

    def _named(self) -> list[str]:
        """ "A: Help centre", "B: Help centre, short"."""
        names = (figures.one_line(job.name, 60) for job in self._jobs)
        return [worded("{letter}: {name}", letter=quality.letter(at), name=name) for at, name in enumerate(names)]

    def _show_possible(self) -> None:
        self.save_button.setEnabled(self.compared is not None)
        self.choose_button.setEnabled(bool(self._jobs))

    def _show(self, compared: Compared) -> None:
        self.compared = compared
        names, comparison = self._named(), compared.comparison
        queries = figures.plural(len(comparison.queries), "{n} query", "{n} queries")
        self.header.set_facts(*names, queries, figures.plural(len(comparison.query), "{n} text", "{n} texts"))
        self.partial_bar.say(quality.partial_words(comparison))
        self.others.refill(((name, number) for number, name in enumerate(names[1:], 1)), 1)
        self.others.setVisible(len(names) > 2)
        self.tops.set_value(compared.top_k)
        self._show_possible()
        self.measures.show_measures(compared)
        self._show_other()
        self.stack.show_content()

    def _show_other(self) -> None:
        if (compared := self.compared) is not None:
            self.answer.show_compared(compared)
            self.scores.show_scores(compared, self.other())
            self.queries.show_moves(compared, self.other())
            self.show_foot()

    def show_foot(self) -> None:
        if (compared := self.compared) is not None:
            self.foot.set_line(quality.foot_words(compared.comparison, self.other(), compared.evaluation))

    def _query_picked(self, index: int) -> None:
        self.tasks.start("texts", self._read_texts(self.queries.queries_model.row(index).index))

    async def _read_texts(self, query: int) -> None:
        if (compared := self.compared) is not None:
            moves = comparing.text_moves(compared.comparison, [query])
            self.queries.show_texts(await asyncio.to_thread(list, islice(moves, comparing.TEXTS_AT_ONCE)))

    def open_query(self, query_no: int) -> None:
        self.tabs.choose(QUERIES)
        self.queries.choose(query_no)

    # Saving

    def _fill_save_menu(self) -> None:
        self.save_button.menu().clear()
        chosen = self.queries.selected()
        self._offer(tr("A row for each text…"))
        self._offer(tr("A row for each query…"), by_query=True)
        if len(chosen) > 1:
            self._offer(worded("These {n} queries, a row for each text…", n=len(chosen)), chosen)
            self._offer(worded("These {n} queries, a row for each query…", n=len(chosen)), chosen, by_query=True)

    def _offer(self, words: str, only: Collection[int] | None = None, *, by_query: bool = False) -> None:
        self.save_button.add(words, lambda: self.tasks.start("save", self._save(by_query, only)))

    async def _save(self, by_query: bool, only: Collection[int] | None) -> None:
        what = tr("queries") if by_query else tr("texts")
        path = await dialogs.save_file(
            self,
            tr("Save as CSV"),
            name=worded("{name}, compared {what}.csv", name=self._jobs[0].name, what=what),
            filters=(tr("CSV (*.csv)"),),
            folder=self.program.remembered_folder(FolderUse.COMPARISONS),
        )
        if path is not None:
            await self.write(path, by_query=by_query, only=only)

    async def write(self, path: Path, *, by_query: bool, only: Collection[int] | None = None) -> None:
        """Write a CSV of `only` these queries or of all. Raises UserError."""
        if (compared := self.compared) is None:
            return
        write = comparing.write_queries if by_query else comparing.write_texts
        count = await asyncio.to_thread(write, compared, path, for_excel=display.csv_separator(), queries=only)
        rows = figures.plural(count, "{n} row", "{n} rows")
        self.notices.show_written(worded("Wrote {rows} to “{name}”.", rows=rows, name=path.name), path)


class AnswerTab(QWidget):
    def __init__(self, page: ComparisonPage) -> None:
        super().__init__()
        self._page = page
        self.headline, self.sentence = Label("", "part", wrap=True), Label("", wrap=True)
        self.headline.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.found: Paired | None = None
        self._more, self._known = Sentence("", "quiet"), Label("", "quiet", wrap=True)
        self._known.hide()
        self._how = widgets.LinkButton(
            tr("How is this known?"), on_click=lambda: self._known.setVisible(self._known.isHidden())
        )
        self.measures = widgets.Switch(tr("Measure"), lambda: page.tasks.start("answer", self._answer()))
        self.warning = widgets.NoticeBar("", "attention")
        self.warning.add_link(tr("Judge what is missing"), page.ask_to_judge)
        self.chart = plots.Chart(tr("How much better or worse each query is"))
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
        self.setLayout(column(self._content, gap=0))

    def _laid_out(self) -> QWidget:
        more = boxed(Flow(self._more, self._how, gap=TINY))
        first = boxed(Flow(self.headline, self.measures, gap=TINY))
        answer = Card(first, self.sentence, more, self._known, gap=TINY, margins=_CARD)
        self._chart_title = Sentence("", "strong")
        band = Sentence(tr("the band is where the mean may lie"), "small")
        title = boxed(Flow(self._chart_title, None, band))
        self._better, self._worse = Label("", "accent"), Label("", "attention")
        below = boxed(widgets.row(self._better, None, self._worse))
        below.setLayoutDirection(Qt.LayoutDirection.LeftToRight)  # as the chart, which is not mirrored
        self._chart_card = Card(title, self.chart, below, gap=TINY, margins=_CARD)
        above = column(self.warning, answer, self._chart_card, gap=MEDIUM, margins=_PAGE)
        return boxed(column(above, (self.table, 1), gap=0))

    def show_compared(self, compared: Compared) -> None:
        if (evaluation := compared.evaluation) is None:
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
        compared, other, metric = self._page.compared, self._page.other(), self.measures.value
        if compared is None or (evaluation := compared.evaluation) is None:
            return
        with self._page.waiting(tr("Comparing…")):
            found = await in_thread(answers, evaluation, metric)
            changes = await in_thread(comparing.query_changes, compared.comparison, evaluation, other, metric)
        self._page.show_foot()
        self.found, job = found[other - 1], quality.letter(other)
        labels = (self.headline, self.sentence, self._more)
        for label, words in zip(labels, quality.answer_words(self.found, job, metric), strict=True):
            label.say(words)
        self._known.setText(quality.how_it_is_known(self.found, several=len(found) > 1))
        self._show(self.found, changes, job)

    def _show(self, found: Paired, changes: Sequence[QueryChange], job: str) -> None:
        differs = bool(found.better or found.worse)
        self._how.setVisible(found.low is not None and differs)
        self._chart_title.setText(worded("Each query, from {job}’s best to {job}’s worst", job=job))
        self._better.setText(worded("{job} better", job=job))
        self._worse.setText(worded("{job} worse", job=job))
        self._chart_card.setVisible(differs)
        self.rows = Rows(change_columns(job), changes, key=lambda each: each.index, parent=self)
        self.table.show_rows(self.rows)

        def describe(index: int) -> str:
            return f"{figures.one_line(changes[index].text, 120)}\n{quality.signed(changes[index].difference)}"

        edges, differences = np.arange(len(changes) + 1.0), np.array([each.difference for each in changes])
        band = [plots.Band(found.low, found.high)] if found.low is not None and found.high is not None else []
        gains = plots.Bars(edges, np.maximum(differences, 0.0), describe=describe)
        losses = plots.Bars(edges, np.minimum(differences, 0.0), role="attention", describe=describe)
        data = plots.PlotData((tr("Query"), tr("Difference")), [(each.text, each.difference) for each in changes])
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
        self._query_of: Callable[[int], QueryText]  # of a dot
        self.chart = plots.Chart(tr("Scores of both jobs"))
        self.chart.picked.connect(lambda index: page.open_query(self._query_of(index).number))
        folder = page.program.remembered_folder(FolderUse.PICTURES)
        self.pictures = plots.PictureButtons(self.chart, page.notices, page.tasks, folder)
        self._about = widgets.IconLine("", wrap=True)
        self._about.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self._about.setMinimumWidth(scaled(_LEAST_ABOUT))
        head = boxed(Flow(self._about, self.pictures, gap=LARGE))
        self.setLayout(column(head, (self.chart, 1), gap=MEDIUM, margins=_PAGE))

    def show_scores(self, compared: Compared, other: int) -> None:
        comparison = compared.comparison
        one, two = comparison.runs[0].job, comparison.runs[other].job
        x, y = comparison.scores[0], comparison.scores[other]

        def query_of(index: int) -> QueryText:
            return comparison.queries[int(comparison.query[index])]

        def describe(index: int) -> str:
            return f"{figures.one_line(query_of(index).text, 120)}\n{score_text(x[index])} · {score_text(y[index])}"

        def data() -> plots.PlotData:
            rows = ((query_of(index).text, x.item(index), y.item(index)) for index in range(len(x)))
            return plots.PlotData((tr("Query"), one.name, two.name), rows)

        self._query_of = query_of
        layers: list[plots.Dots | plots.Diagonal] = [plots.Dots(x, y, describe=describe)]
        if one.model == two.model and one.connection == two.connection and one.kind is two.kind:
            layers.append(plots.Diagonal())
            words = tr("Each dot is a text with a query. On the dashed line both jobs give the same score.")
        else:
            words = tr(
                "Each dot is a text with a query. Scores of two models have scales of their own: look at the order, not"
                " at the difference."
            )
        if (correlation := comparison.correlation(other)) is not None:
            words += " " + worded("Correlation: {n}.", n=figures.number(correlation, ".2f"))
        self.chart.show_layers(layers, across=one.name, up=two.name, data=data, summary=words)
        self._about.set_line(words)
        self.pictures.set_name(worded("{one} and {two}, scores", one=one.name, two=two.name))


class MeasuresTab(QWidget):
    """What is compared, and all measures of each job with what they mean."""

    def __init__(self) -> None:
        super().__init__()
        self.jobs = widgets.LabelGrid("strong", stretches=(0, 1, 0, 0, 0, 2), gap=WIDE - 4, elided=1, wrapped=5)
        self.grid = widgets.LabelGrid("strong", "quiet", stretches=(0, 1), gap=WIDE - 4, wrapped=1)
        self.remarks = widgets.IconLine("", "info", "body", wrap=True)
        jobs, measures = (Label(words, "part") for words in (tr("What is compared"), tr("How well each ranks")))
        cards = (
            Card(jobs, self.jobs, gap=MEDIUM, margins=_CARD),
            Card(measures, self.grid, self.remarks, gap=MEDIUM, margins=_CARD),
        )
        content = boxed(column(*cards, None, gap=MEDIUM, margins=_PAGE))
        self.setLayout(column(widgets.scrolled(content)))

    def show_measures(self, compared: Compared) -> None:
        self.jobs.show_lines(quality.job_rows(compared.comparison), quality.job_titles(), right=(3, 4))
        (_, *letters, _), rows = quality.measure_table(compared)
        lines = [(name, meaning, *values) for name, *values, meaning in rows]
        self.grid.show_lines(lines, ("", "", *letters), right=range(2, len(letters) + 2))
        self.remarks.set_line(quality.comparison_remarks(compared))


class QueriesTab(QWidget):
    def __init__(self) -> None:
        super().__init__()
        self._other, self._queries = 1, tuple[QueryText, ...]()
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
        right = column(self.texts, column(self.panel, margins=(MEDIUM, SMALL, MEDIUM, MEDIUM)), gap=0)
        self.queries.setMinimumWidth(scaled(_LEAST_QUERIES))
        self.texts.setMinimumWidth(scaled(_LEAST_TEXTS))
        parts, sizes = (self.queries, boxed(right)), (_QUERIES_WIDTH, 1000 - _QUERIES_WIDTH)
        self.setLayout(column(widgets.split(*parts, name="comparison/queries", sizes=sizes, stretched=1)))

    def show_moves(self, compared: Compared, other: int) -> None:
        self._queries, self._other = compared.comparison.queries, other
        self.queries_model = Rows(move_columns(), compared.moves[other - 1], key=lambda move: move.index, parent=self)
        self.queries.show_rows(self.queries_model)
        self.texts_model = Rows(text_columns(other), parent=self)
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
        ranks = {"rank": row.rank_texts[0], "other": row.rank_texts[self._other]}
        heading = worded("Rank {rank} in A, {other} in {letter}", letter=quality.letter(self._other), **ranks)
        label = worded("label {label}", label=row.text.label) if row.text.label else ""
        self.panel.show_text(heading, row.text.text, about=" · ".join(filter(None, (row.text.id, label))))


def move_columns() -> tuple[Column[QueryMove], ...]:
    most = tr("The most ranks by which a text has risen or fallen.")
    return (
        Column(tr("Query"), lambda move: move.text, stretch=True),
        NumberColumn(tr("Moved"), lambda move: move.largest_change, width=64, tip=most),
        Column(tr("ID"), lambda move: move.id, width=90, hidden=True),
    )


def text_columns(other: int) -> tuple[Column[TextMove], ...]:
    def rank(job: int) -> Column[TextMove]:
        title = f"# {quality.letter(job)}"
        return NumberColumn(title, lambda row: row.ranks[job], text=lambda row: row.rank_texts[job], width=56)

    def score(job: int) -> Column[TextMove]:
        title = worded("Score {letter}", letter=quality.letter(job))
        return ScoreColumn(title, lambda row: row.scores[job], width=74, gives_way=True)

    return (
        rank(0),
        rank(other),
        Column(
            tr("Moved"),
            lambda row: row.change(other),
            figures.moved,
            width=70,
            colour=lambda row: "text" if row.change(other) else "quiet",
            tip=tr("How many ranks it rose or fell from job A to the other."),
        ),
        Column(tr("Text"), lambda row: row.text.text, stretch=True),
        score(0),
        score(other),
        Column(tr("ID"), lambda row: row.text.id, width=96, hidden=True),
        Column(tr("Label"), lambda row: row.text.label, width=64, hidden=True),
    )


MOST = 8  # jobs in one comparison


class ChooseJobsDialog(dialogs.Dialog):
    """`chosen` has the jobs once it is accepted. Open it with `dialogs.finished`."""

    def __init__(self, program: Program, base: Job, parent: QWidget | None = None) -> None:
        super().__init__(tr("Compare with…"), parent, (680, 480))
        self._program, self._base = program, base
        self._jobs: list[Job] = []
        self.compare_button = widgets.PrimaryButton(tr("Compare"), "git-compare", self.accept)
        self.find_field = widgets.SearchField(tr("Find a job"))
        self.find_field.searched.connect(lambda _: self._show())
        self.rows: Rows[Job] = Rows(_job_columns(time.time()), key=lambda job: job.id, parent=self)
        self.table = TableView(
            "comparison/choose", tr("Jobs to compare with"), self.rows, on_opened=lambda _: self.compare_button.click()
        )
        self.table.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.table.selectionModel().selectionChanged.connect(lambda *_: self._show_possible())
        self._about = Label(tr("Looking for jobs over the same texts…"), "quiet", wrap=True)
        title = worded("Compare “{name}” with", name=figures.one_line(base.name, 60))
        self.lay_out(title, self._about, self.find_field, self.table, buttons=[self.compare_button])
        self._show_possible()
        self.tasks = Tasks(self, lambda error: self._about.setText(said(error.message)))
        self.tasks.start("look", self._look())

    def chosen(self) -> tuple[Job, ...]:
        return tuple(self.rows.row(index) for index in self.table.selected_rows())

    async def _look(self) -> None:
        jobs = self._program.ledger.jobs()
        self._jobs = await in_thread(lambda: list(comparable_jobs(self._program.folder, self._base, jobs)))
        words = tr("Jobs over the same texts: another model, or another template. Hold {key} to choose several.")
        nothing = tr("There is no other job with results over the same texts yet.")
        self._about.setText(words.format(key=display.control_name()) if self._jobs else nothing)
        self._show()
        if self._jobs and not self.find_field.text():
            self.table.setFocus(Qt.FocusReason.OtherFocusReason)

    def _show(self) -> None:
        wanted = self.find_field.text().casefold().strip()
        self.rows.set_rows([job for job in self._jobs if wanted in job.name.casefold()])
        if not self.table.selected_rows():
            self.table.selectRow(0)
        self._show_possible()

    def _show_possible(self) -> None:
        count = len(self.chosen())
        why = "" if count else tr("Choose a job first.")
        if count >= MOST:
            why = worded("At most {n} jobs can be compared at once.", n=MOST)
        self.compare_button.set_possible(why)


def _job_columns(now: float) -> tuple[Column[Job], ...]:
    return (
        Column(tr("Job"), lambda job: job.name, stretch=True),
        Column(tr("Model"), lambda job: tr("Practice") if is_practice(job) else short_model(job), width=150),
        Column(tr("Size"), amount, width=140),
        Column(tr("Sent"), lambda job: job.sent_at, lambda sent: figures.age(sent, now), width=110),
    )
