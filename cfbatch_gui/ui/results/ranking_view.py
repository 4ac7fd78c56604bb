"""A ranking: the queries at the left, the ranked contexts of the chosen one at the right, its text below; and the
distribution of its scores, as a chart and as quantiles.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from PySide6.QtCore import Signal

from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.results.exports.base import ExportOptions
from cfbatch_gui.core.results.exports.rows import keeps
from cfbatch_gui.core.results.rankings import RankedContext, RankedQuery, Rankings, rank_text
from cfbatch_gui.core.results.score_table import ScoreFigures, score_figures
from cfbatch_gui.core.results.text_search import search_ranking
from cfbatch_gui.core.system.settings import FolderUse
from cfbatch_gui.core.system.threads import in_thread
from cfbatch_gui.ui import widgets
from cfbatch_gui.ui.notices import Notices
from cfbatch_gui.ui.plots import Bars, Chart, Mark, PictureButtons, PlotData, Steps
from cfbatch_gui.ui.result_view import RowChoice, row_choices
from cfbatch_gui.ui.results import results_page
from cfbatch_gui.ui.results.results_page import below
from cfbatch_gui.ui.tables.table_rows import Column, NumberColumn, Rows, ScoreColumn
from cfbatch_gui.ui.tables.table_view import ColumnsButton, TableView
from cfbatch_gui.ui.theme import LARGE, MEDIUM, WIDE, scaled
from cfbatch_gui.ui.widgets import boxed, column, line, row
from cfbatch_gui.ui.widgets.text_panel import TextPanel
from cfbatch_gui.words import figures, results
from cfbatch_gui.words.figures import score_text, worded
from cfbatch_gui.words.languages import tr


def query_columns() -> tuple[Column[RankedQuery], ...]:
    return (
        Column(tr("Query"), lambda query: query.text, stretch=True, is_searched=True),
        NumberColumn(
            tr("Texts"),
            lambda query: query.contexts,
            width=56,
            gives_way=True,
            colour=lambda query: "text" if query.scored == query.contexts else "quiet",
        ),
        ScoreColumn(
            tr("Margin"),
            lambda query: query.margin,
            width=76,
            tip=tr("How far the first stands before the second. Small margins are close calls."),
        ),
    )


def context_columns(original: Sequence[str], most: int, *, was_ordered: bool) -> tuple[Column[RankedContext], ...]:
    """`most` is how many texts the longest query has."""
    wider = 16 if most >= 1_000 else 0  # pixels
    was = tr("Its place in your file.")
    before: tuple[Column[RankedContext], ...] = (
        NumberColumn(tr("Was"), lambda row: row.initial_rank, width=50 + wider, gives_way=True, tip=was),
        Column(
            tr("Moved"),
            lambda row: row.rank_change,
            figures.moved,
            width=66 + wider,
            gives_way=True,
            tip=tr("How far it rose or fell by its score."),
            colour=lambda row: "text" if row.rank_change else "quiet",
        ),
    )
    return (
        NumberColumn(
            "#",
            lambda row: row.rank,
            text=rank_text,
            width=52 + wider,
            tip=tr("The rank by score. “2=” is one of several with exactly the same score."),
        ),
        Column(
            tr("Score"),
            lambda row: row.score,
            text=score_or_status,
            width=150,
            least=78,
            bar=lambda row: row.score,
            tip=tr("How similar the text is to the query, no percentage. The bar begins at 0 and ends at 1."),
            colour=lambda row: "quiet" if row.score is None else "text",
        ),
        Column(tr("Text"), lambda row: row.text, stretch=True, is_searched=True),
        *(before if was_ordered else ()),
        Column(tr("ID"), lambda row: row.id, width=96, hidden=True),
        Column(tr("Label"), lambda row: row.label, width=64, hidden=True),
        *results_page.original_columns(original, lambda row: row.cells, width=120),
    )


def score_or_status(context: RankedContext) -> str:
    return (
        results_page.status_words(context.status, context.error) if context.score is None else score_text(context.score)
    )


MOST_CONTEXTS = 5_000  # of one query on the screen at once
_QUERIES_WIDTH = 348
_LEAST_QUERIES, _LEAST_CONTEXTS = 200, 348  # pixels, all that the smallest window has; texts need them


@dataclass(frozen=True, slots=True)
class RankingRead:
    """All but the texts of the contexts; `scored` and `contexts` count over all queries."""

    rankings: Rankings
    queries: tuple[RankedQuery, ...]
    scored: int
    contexts: int


class RankingView(results_page.ResultsPage[RankingRead]):
    """Reads in threads; the result of a reading is dropped when a later one has begun.

    `score_help_wanted` asks for the page of the help that says what a score is.
    """

    score_help_wanted = Signal()

    def __init__(self, program: Program, notices: Notices) -> None:
        super().__init__(program, notices, "list-ordered")
        self._baseline = ""
        self._read: RankingRead | None = None
        self._found: frozenset[int] | None = None  # numbers of queries
        self._sought, self._found_items = "", frozenset[int]()  # what was found last, and the contexts that have it
        self._query_no = self._item_no = 0
        self._ranked: tuple[RankedContext, ...] = ()
        self._limits_of: dict[str, ExportOptions] = {}  # by the id of the job
        self._make_widgets()
        self._lay_out()

    def limits(self) -> ExportOptions:
        return self.limits_bar.limits()

    def row_choices(self) -> tuple[RowChoice, ...]:
        contexts = [self.contexts_model.row(index).item_no for index in self.contexts.selected_rows()]
        queries = [self.queries_model.row(index).query_no for index in self.queries.selected_rows()]
        of_queries = self._read.rankings.items_of(queries) if self._read is not None and len(queries) > 1 else ()
        return row_choices(
            (worded("“{text}”", text=self._sought), self._found_items),
            (tr("selected"), contexts if len(contexts) > 1 else ()),
            (tr("selected queries"), of_queries),
            (tr("this query"), (each.item_no for each in self._ranked)),
        )

    # Making

    def _make_widgets(self) -> None:
        self.panel = TextPanel()
        self.limits_bar = results_page.LimitsBar()
        self.limits_bar.changed.connect(self._limits_changed)
        self.kept = widgets.Label("", "quiet")
        self.queries_model: Rows[RankedQuery] = Rows(query_columns(), key=lambda query: query.query_no, parent=self)
        self.queries = TableView(
            "ranking/queries",
            tr("Queries"),
            self.queries_model,
            on_picked=self._query_picked,
            on_opened=self._show_query,
        )
        self.contexts = TableView(
            "ranking/contexts",
            tr("Ranked texts of the query"),
            on_picked=self._show_context,
            on_opened=lambda _: self.panel.unfold(),
        )
        self.contexts_model: Rows[RankedContext] = Rows(())
        hint = tr("Find in queries and texts")
        self.find_field = self.add_search(hint, self.queries, self.contexts, self.panel)
        self.score_link = widgets.LinkButton(tr("What is a score?"), on_click=self.score_help_wanted.emit)

    def _lay_out(self) -> None:
        bar = widgets.Flow(self.find_field, self.limits_bar, self.kept, None, ColumnsButton(self.contexts))
        self._contexts_stack = widgets.MaybeEmpty("funnel", self.contexts)
        self._below = below(self.panel)
        right = boxed(column((self._contexts_stack, 1), self._below, gap=0))
        self.queries.setMinimumWidth(scaled(_LEAST_QUERIES))
        self._contexts_stack.setMinimumWidth(scaled(_LEAST_CONTEXTS))
        sizes = (_QUERIES_WIDTH, 1000 - _QUERIES_WIDTH)
        self.lay_out(
            widgets.split(self.queries, right, sizes=sizes, name="ranking"), bar, beside_foot=[self.score_link]
        )

    # Reading

    def begin(self, job: Job) -> None:
        super().begin(job)
        self.limits_bar.show_limits(self._limits_of.get(job.id, ExportOptions()))
        self.find_field.reset()
        self._read, self._found, self._sought, self._found_items = None, None, "", frozenset()
        self._query_no, self._item_no, self._ranked = 0, 0, ()
        self._baseline = ""
        self.queries_model.set_rows(())
        self.kept.clear()
        self.panel.set_open(False)

    async def read(self, job: Job) -> RankingRead:
        def read() -> RankingRead:
            rankings = Rankings(self.program.folder(job.id), job.failed_batches)
            queries = rankings.queries()
            counts = sum(query.scored for query in queries), sum(query.contexts for query in queries)
            return RankingRead(rankings, queries, *counts)

        return await in_thread(read)

    async def show_read(self, job: Job, read: RankingRead) -> None:
        is_first = self._read is None
        self._read = read
        if not read.scored:
            self.say_nothing_yet(job)
            return
        if is_first:
            most = max(query.contexts for query in read.queries)
            columns = context_columns(read.rankings.columns(), most, was_ordered=read.rankings.was_ordered)
            self.contexts_model = Rows(columns, key=lambda each: each.item_no, parent=self)
            self.contexts.show_rows(self.contexts_model)
        self.stack.show_content()
        if self.find_field.text():
            await self.find_text(self.find_field.text())
        self._fill_queries()
        if self._query_no:
            await self._read_contexts(self._query_no)
        self.tasks.start("count", self._count())
        self.tasks.start("figures", self._read_figures(job))

    async def _read_figures(self, job: Job) -> None:
        await asyncio.sleep(results_page.TYPING)  # the texts of the first query come before
        self._baseline = results.baseline_line(await in_thread(score_figures, self.program.folder(job.id)))
        self._show_foot()

    async def find_text(self, text: str) -> None:
        if self._read is None or self.shown is None:
            return
        self._found, self._sought, self._found_items = None, text, frozenset()
        if text:
            self.kept.setText(tr("looking…"))
            folder = self.program.folder(self.shown.id)
            self._found, self._found_items = await in_thread(search_ranking, folder, text)
        self._fill_queries()
        self._fill_contexts()
        await self._count()

    async def _read_contexts(self, query_no: int) -> None:
        if self._read is not None:
            found = await in_thread(self._read.rankings.contexts, query_no, 0, MOST_CONTEXTS)
            if query_no != self._query_no:
                self._item_no = 0
            self._query_no, self._ranked = query_no, found
            self._fill_contexts()
            self._show_foot()

    async def _count(self) -> None:
        parts = []
        limits = self.limits()
        if self._read is not None and limits != ExportOptions():
            await asyncio.sleep(results_page.TYPING)
            kept, total = await in_thread(self._read.rankings.counts, limits.top_k, limits.threshold)
            parts.append(worded("keeps {kept} of {total}", kept=kept, total=total))
        if self._found is not None:
            parts.append(figures.plural(len(self._found), "{n} query", "{n} queries"))
        self.kept.setText(" · ".join(parts))

    # Showing

    def _fill_queries(self) -> None:
        found, shown = self._found, self._read.queries if self._read is not None else ()
        if found is not None:
            shown = tuple(query for query in shown if query.query_no in found)
        model = self.queries_model
        model.set_rows(shown)
        if not shown:
            self._query_no, self._ranked = 0, ()
            self._fill_contexts()
        elif not self.queries.currentIndex().isValid():
            chosen = [index for index in range(len(shown)) if model.row(index).query_no == self._query_no]
            self.queries.selectRow(chosen[0] if chosen else 0)

    def _fill_contexts(self) -> None:
        limits, before = self.limits(), self._item_no
        shown, needle = [each for each in self._ranked if keeps(each, limits)], self.find_field.text().casefold()
        shown = [each for each in shown if needle in each.text.casefold()] or shown
        self.contexts_model.set_rows(shown)
        self._below.setVisible(bool(shown))
        if not shown:
            self._contexts_stack.show_sentence(self._why_none())
            return
        self._contexts_stack.show_content()
        items = [self.contexts_model.row(index).item_no for index in range(len(shown))]
        index = items.index(before) if before in items else 0
        if self.contexts.currentIndex().row() != index:
            self.contexts.selectRow(index)
        self._show_context(index)

    def _why_none(self) -> str:
        if not self.queries_model.rowCount():
            return worded("No query, and no text of one, has “{text}” in it.", text=self.find_field.text())
        return tr("No text of this query scores as high as that.")

    def _limits_changed(self) -> None:
        if self.shown is not None:
            self._limits_of[self.shown.id] = self.limits()
        self._fill_contexts()
        self.tasks.start("count", self._count())

    def _query_picked(self, index: int) -> None:
        query_no = self.queries_model.row(index).query_no
        if query_no != self._query_no:
            self.tasks.start("contexts", self._read_contexts(query_no))

    def _show_query(self, index: int) -> None:
        query = self.queries_model.row(index)
        self.panel.show_text(tr("Query"), query.text, about=query.query_id)

    def _show_context(self, index: int) -> None:
        context = self.contexts_model.row(index)
        self._item_no = context.item_no
        heading = tr("Without a score")
        if context.score is not None:
            heading = worded("Rank {rank}, score {score}", rank=rank_text(context), score=context.score)
        label = worded("label {label}", label=context.label) if context.label else ""
        self.panel.show_text(
            heading,
            context.text,
            about=" · ".join(filter(None, (context.id, label))),
            problem=results_page.status_words(context.status, context.error),
            rest=results_page.named_cells(self._read.rankings.columns() if self._read else (), context.cells),
        )

    def _show_foot(self) -> None:
        if self._read is None or self.shown is None:
            return
        sentences = [
            results.partial_line(self._read.scored, self._read.contexts),
            self._baseline,
            results.scores_line(self.shown),
        ]
        if len(self._ranked) >= MOST_CONTEXTS:
            words = tr("The first {n} candidates of this query are shown; an export has all of them.")
            sentences.append(words.format(n=figures.number(MOST_CONTEXTS)))
        self.foot.set_line(" ".join(filter(None, sentences)), "info")


_CHART_HEIGHT = 300
_LEAST_FIGURE = 54  # pixels of a column


class OverviewView(results_page.ResultsPage[ScoreFigures]):
    """`score_help_wanted` asks for the page of the help about scores."""

    score_help_wanted = Signal()

    def __init__(self, program: Program, notices: Notices) -> None:
        super().__init__(program, notices, "list-ordered")
        self._make_widgets(program)
        self._lay_out()

    # Making

    def _make_widgets(self, program: Program) -> None:
        self.partial_bar = widgets.NoticeBar("", "attention")
        self.queries, self.scores, self.ties = widgets.Figure(), widgets.Figure(), widgets.Figure()
        self.chart = Chart(tr("Distribution of the scores"))
        self.chart.setFixedHeight(_CHART_HEIGHT)
        folder = program.remembered_folder(FolderUse.PICTURES)
        self.pictures = PictureButtons(self.chart, self.notices, self.tasks, folder)
        self.spread = widgets.LabelGrid(least=_LEAST_FIGURE)
        self.reading = widgets.IconLine("", "info", "body", wrap=True)
        self.score_link = widgets.LinkButton(tr("What is a score?"), on_click=self.score_help_wanted.emit)

    def _lay_out(self) -> None:
        head = row(widgets.Label(tr("How the scores are spread"), "part"), None, self.pictures)
        card = widgets.Card(head, self.chart, line(), self.spread, gap=MEDIUM, margins=(20, MEDIUM, 20, LARGE))
        figures = boxed(widgets.Flow(self.queries, self.scores, self.ties, gap=WIDE + WIDE))
        content = column(self.partial_bar, figures, card, self.reading, None, gap=LARGE, margins=widgets.PAGE_MARGINS)
        self.lay_out(widgets.scrolled(boxed(content)), beside_foot=[self.score_link], side=0)

    # Reading and showing

    async def read(self, job: Job) -> ScoreFigures:
        return await in_thread(score_figures, self.program.folder(job.id))

    async def show_read(self, job: Job, found: ScoreFigures) -> None:
        if found.spread is None:
            self.say_nothing_yet(job)
            return
        self.partial_bar.say(results.partial_line(found.scored, found.contexts))
        for figure, counted in zip((self.queries, self.scores, self.ties), results.score_counts(found), strict=True):
            figure.set_figure(*counted)
        self._show_chart(found)
        self._show_spreads(found)
        self.reading.set_line(results.reading_line(found))
        self.foot.set_line(results.scores_line(job))
        self.pictures.set_name(worded("{name}, scores", name=job.name))
        self.stack.show_content()

    def _show_chart(self, found: ScoreFigures) -> None:
        bars, marks = [Bars(found.edges, found.counts, tr("All scores"))], []
        if found.others is not None:
            bars.append(Steps(found.edges, found.other_counts, results.others_name()))
            high = found.others.ninetieth
            marks.append(Mark(high, worded("9 in 10 with other questions stay below {score}", score=high)))
        across, up = tr("Score"), tr("Candidates")
        columns, rows = (tr("series"), tr("from"), tr("to"), up), []
        for each in bars:
            heights = zip(pairwise(found.edges.tolist()), each.heights.tolist(), strict=True)
            rows += [(each.name, low, high, height) for (low, high), height in heights]
        data, summary = PlotData(columns, rows), results.reading_line(found)
        self.chart.show_layers([*bars, *marks], across=across, up=up, data=lambda: data, summary=summary)

    def _show_spreads(self, found: ScoreFigures) -> None:
        titles, lines = results.spread_table(found)
        self.spread.show_lines(lines, titles, right=range(1, len(titles)))
