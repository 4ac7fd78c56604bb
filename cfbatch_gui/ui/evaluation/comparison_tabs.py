"""The four tabs of a comparison: the answer, the queries, the scores of both, the jobs with their metrics."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QWidget

from cfbatch_gui.core.evaluation.comparison import QueryChange, QueryMove, query_changes
from cfbatch_gui.core.evaluation.joining import RunText
from cfbatch_gui.core.evaluation.judged import Evaluation, answers
from cfbatch_gui.core.evaluation.significance import Paired
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.results.score_table import QueryText
from cfbatch_gui.core.system.settings import FolderUse
from cfbatch_gui.ui import display
from cfbatch_gui.ui.display import score_text, tr
from cfbatch_gui.ui.evaluation.comparison_figures import (
    Compared,
    change_sentence,
    headline,
    how_it_is_known,
    judged_words,
    letter,
    matched_words,
    more_queries,
    scatter_words,
    signed,
    source_words,
    too_few_judged,
    unusable_words,
)
from cfbatch_gui.ui.memory import Memory
from cfbatch_gui.ui.notices import Notices
from cfbatch_gui.ui.plots import Band, Bars, Chart, Dots, Line, PictureButtons, PlotData
from cfbatch_gui.ui.state_names import is_practice, short_model
from cfbatch_gui.ui.tables.table_rows import Column, NumberColumn, Rows, ScoreColumn
from cfbatch_gui.ui.tables.table_view import TableView
from cfbatch_gui.ui.tasks import Tasks
from cfbatch_gui.ui.theme import LARGE, MEDIUM, SMALL, WIDE, scaled
from cfbatch_gui.ui.widgets import (
    Card,
    Choice,
    EmptyPlace,
    Flow,
    IconLine,
    Label,
    LabelGrid,
    LinkButton,
    NoticeBar,
    boxed,
    column,
    row,
    scrolled,
    split,
)
from cfbatch_gui.ui.widgets.text_panel import TextPanel

_CHART_HEIGHT = 150
_WORK = "answer"
_SAME = 5e-5  # a difference that is shown as 0.0000


class AnswerTab(QWidget):
    """`judge_wanted` asks for the page on which texts are judged; `query_picked` brings a query's number."""

    judge_wanted = Signal()
    query_picked = Signal(int)

    def __init__(self, tasks: Tasks, *, memory: Memory | None = None) -> None:
        super().__init__()
        self._tasks = tasks
        self._compared: Compared | None = None
        self._other = 1
        self._changes: tuple[QueryChange, ...] = ()
        self.headline = Label("", "part", wrap=True)
        self.sentence = Label("", "body", wrap=True)
        self._more = Label("", "quiet", wrap=True)
        self._known = Label("", "quiet", wrap=True)
        self._known.hide()
        self._how = LinkButton(
            self.tr("How is this known?"), on_click=lambda: self._known.setVisible(self._known.isHidden())
        )
        self._source = Label("", "small", wrap=True)
        self.measures = Choice(self.tr("Measure"), on_picked=lambda _: self._show_answer())
        self.warning = NoticeBar("", "attention")
        self.warning.add_link(self.tr("Judge what is missing"), self.judge_wanted.emit)
        self.chart = Chart(self.tr("How much better or worse each query is"))
        self.chart.setMinimumHeight(_CHART_HEIGHT)
        self.chart.picked.connect(lambda index: self.query_picked.emit(self._changes[index].number))
        self.table = TableView(
            "comparison/answer",
            self.tr("Queries, those that gained most first"),
            memory=memory,
            on_opened=lambda index: self.query_picked.emit(self.rows.row(index).number),
        )
        self.rows: Rows[QueryChange] = Rows(())
        self.empty = EmptyPlace(
            "list-ordered",
            self.tr(
                "Which of these rankings is better? Nobody has judged their texts yet. Judge the first few of each: one"
                " text at a time, with one key each."
            ),
            self.tr("Judge their texts…"),
        )
        self.empty.pressed.connect(self.judge_wanted)
        self._content = self._laid_out()
        self.setLayout(column(self._content, self.empty, gap=0))

    def _laid_out(self) -> QWidget:
        words = column(self.headline, self.sentence, self._more, row(self._how, None), self._known, self._source, gap=4)
        answer = Card(row((words, 1), column(self.measures, None), gap=LARGE))
        self._chart_title = Label("", "strong")
        title = Flow(self._chart_title, None, Label(self.tr("the band is where the mean may lie"), "small"))
        self._chart_card = Card(boxed(title), (self.chart, 1), margins=(20, MEDIUM, 20, SMALL))
        above = column(self.warning, answer, (self._chart_card, 1), gap=MEDIUM, margins=(WIDE, MEDIUM, WIDE, MEDIUM))
        above.addStretch(0)
        parts = split(scrolled(boxed(above)), self.table, sizes=(450, 160), vertical=True)
        return boxed(column(parts, gap=0))

    def show_comparison(self, compared: Compared, other: int) -> None:
        before = self.measures.value()
        self._compared, self._other = compared, other
        evaluation = compared.evaluation
        self._content.setVisible(evaluation is not None)
        self.empty.setVisible(evaluation is None)
        if evaluation is None:
            return
        self.measures.clear()
        for name in evaluation.runs[0].means:
            self.measures.add(name, name)
        self.measures.set_value(before)
        warning = too_few_judged(evaluation, other)
        self.warning.set_text(warning, "attention")
        self.warning.setVisible(bool(warning))
        self._source.setText(source_words(compared))
        self._show_answer()

    def _show_answer(self) -> None:
        self._tasks.start(_WORK, self._answer())

    async def _answer(self) -> None:
        compared, other, metric = self._compared, self._other, str(self.measures.value())
        if compared is None or compared.evaluation is None:
            return
        found = await asyncio.to_thread(answers, compared.evaluation, metric)
        changes = await asyncio.to_thread(query_changes, compared.comparison, compared.evaluation, other, metric)
        self._show(compared.evaluation, found[other - 1], changes, metric)

    def _show(self, evaluation: Evaluation, found: Paired, changes: Sequence[QueryChange], metric: str) -> None:
        job = letter(self._other)
        self.headline.setText(headline(found, job))
        self.sentence.setText(change_sentence(found, job, metric))
        self._more.setText(more_queries(found))
        self._more.setVisible(bool(self._more.text()))
        self._known.setText(how_it_is_known(found, several=len(evaluation.runs) > 2))
        self._changes = tuple(changes)
        self._chart_title.setText(self.tr("Each query, from {job}’s best to {job}’s worst").format(job=job))
        self._chart_card.setVisible(bool(found.better or found.worse))
        self._show_chart(found, job)
        self.rows = Rows(change_columns(job), changes, key=lambda each: each.index, parent=self)
        self.table.show_rows(self.rows)

    def _show_chart(self, found: Paired, job: str) -> None:
        changes = self._changes

        def describe(index: int) -> str:
            return f"{display.one_line(changes[index].text, 120)}\n{signed(changes[index].difference)}"

        edges, differences = np.arange(len(changes) + 1.0), np.array([each.difference for each in changes])
        better, worse = self.tr("{job} better").format(job=job), self.tr("{job} worse").format(job=job)
        band = [Band(found.low, found.high)] if found.low is not None and found.high is not None else []
        gains = Bars(edges, np.maximum(differences, 0.0), better, describe=describe)
        losses = Bars(edges, np.minimum(differences, 0.0), worse, "attention", describe)
        title = tr("{job} − A").format(job=job)
        data = PlotData((self.tr("Query"), title), [(each.text, each.difference) for each in changes])
        self.chart.show_layers(
            [*band, gains, losses], across="", up=title, data=lambda: data, summary=self.sentence.text()
        )


def change_columns(job: str) -> tuple[Column[QueryChange], ...]:
    return (
        Column(tr("Query"), lambda each: each.text, key="query", stretch=True),
        ScoreColumn("A", lambda each: each.value, key="a", width=74),
        ScoreColumn(job, lambda each: each.other_value, key="b", width=74),
        NumberColumn(
            tr("{job} − A").format(job=job),
            lambda each: each.difference,
            _difference,
            key="difference",
            width=84,
            colour=_colour,
        ),
        Column(tr("Best text"), lambda each: each.best, key="best", stretch=True),
        NumberColumn(
            tr("Its rank"),
            lambda each: each.rank - each.other_rank,
            text=_ranks,
            copies_text=True,
            key="rank",
            width=84,
            tip=tr("The rank of the best text in A, and in the other job."),
        ),
    )


def _difference(value: float) -> str:
    return display.number(value, "+.4f").replace("-", "−") if abs(value) >= _SAME else score_text(0.0)


def _colour(each: QueryChange) -> str:
    if abs(each.difference) < _SAME:
        return "quiet"
    return "accent" if each.difference > 0 else "attention"


def _ranks(each: QueryChange) -> str:
    if not each.best:
        return ""
    pattern = tr("{before} → {after}")
    before, after = (display.number(rank) if rank else "–" for rank in (each.rank, each.other_rank))
    return pattern.format(before=before, after=after)


MOST_TEXTS = 5_000  # of one query on the screen at once
_QUERIES_WIDTH = 470
_LEAST_QUERIES, _LEAST_TEXTS = 240, 326  # pixels, all that the smallest window has; texts need them
_FOUR_DIGITS = 16  # pixels that "1,000" needs more than "100"


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
    def __init__(self, *, memory: Memory | None = None) -> None:
        super().__init__()
        self._letter = ""
        self._queries: tuple[QueryText, ...] = ()
        self._index = -1
        self.queries = TableView("comparison/queries", self.tr("Queries, those that moved most first"), memory=memory)
        self.queries_model: Rows[QueryMove] = Rows(())
        self.panel = TextPanel()
        self.texts = TableView(
            "comparison/texts",
            self.tr("Texts of the query in both jobs"),
            memory=memory,
            on_picked=self._show_text,
            on_opened=lambda _: self.panel.unfold(),
        )
        self.texts_model: Rows[TextMove] = Rows(())
        right = column(self.texts, column(self.panel, margins=(MEDIUM, SMALL, MEDIUM, MEDIUM)), gap=0)
        self.queries.setMinimumWidth(scaled(_LEAST_QUERIES))
        self.texts.setMinimumWidth(scaled(_LEAST_TEXTS))
        sizes = (_QUERIES_WIDTH, 1000 - _QUERIES_WIDTH)
        self.setLayout(column(split(self.queries, boxed(right), sizes=sizes, stretched=1)))

    def show_moves(self, compared: Compared, other: int) -> None:
        moves = compared.moves[other - 1]
        self._queries = compared.comparison.queries
        self.queries_model = Rows(query_columns(compared.top_k), moves, key=lambda move: move.index, parent=self)
        self.queries.show_rows(self.queries_model)
        moved = text_columns(letter(other), most=max(move.contexts for move in moves))
        self.texts_model = Rows(moved, key=lambda row: row.index, parent=self)
        self.texts.show_rows(self.texts_model)
        self._letter = letter(other)
        self.queries.selectRow(0)

    def show_texts(self, rows: Sequence[TextMove]) -> None:
        indices = [row.index for row in rows]
        self.texts_model.set_rows(rows)
        if rows:
            shown = self.texts_model.index_of(rows[indices.index(self._index)]) if self._index in indices else 0
            self.texts.selectRow(shown)
            self._show_text(shown)

    def selected(self) -> tuple[int, ...]:
        return tuple(self.queries_model.row(index).index for index in self.queries.selected_rows())

    def query_no(self) -> int:
        at = self.queries.currentIndex().row()
        return self._queries[self.queries_model.row(at).index].number if 0 <= at < self.queries_model.rowCount() else 0

    def choose(self, query_no: int) -> None:
        numbers = [self._queries[self.queries_model.row(at).index].number for at in range(len(self._queries))]
        if query_no in numbers:
            self.queries.selectRow(numbers.index(query_no))
            self.queries.scrollTo(self.queries.currentIndex())

    def _show_text(self, index: int) -> None:
        row = self.texts_model.row(index)
        self._index = row.index
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


def text_columns(letter: str, *, most: int = 0) -> tuple[Column[TextMove], ...]:
    wider = _FOUR_DIGITS if most >= 1_000 else 0
    ranks, scores = (f"# {letter}", "other rank"), (tr("Score {letter}").format(letter=letter), "other score")
    return (
        NumberColumn("# A", lambda row: row.rank, text=lambda row: row.rank_text, key="rank", width=48 + wider),
        NumberColumn(
            ranks[0], lambda row: row.other_rank, text=lambda row: row.other_rank_text, key=ranks[1], width=48 + wider
        ),
        Column(
            tr("Moved"),
            lambda row: row.change,
            display.moved,
            key="moved",
            width=62 + wider,
            colour=lambda row: "text" if row.change else "quiet",
            tip=tr("How many ranks it rose or fell from job A to the other."),
        ),
        Column(tr("Text"), lambda row: row.text.text, key="text", stretch=True),
        ScoreColumn(tr("Score A"), lambda row: row.score, key="score", width=74, gives_way=True),
        ScoreColumn(scores[0], lambda row: row.other_score, key=scores[1], width=74, gives_way=True),
        Column(tr("ID"), lambda row: row.text.id, key="id", width=96, hidden=True),
        Column(tr("Label"), lambda row: row.text.label, key="label", width=64, hidden=True),
    )


class ScoresTab(QWidget):
    """`query_picked` brings the number of the query whose dot was clicked."""

    query_picked = Signal(int)

    def __init__(self, program: Program, notices: Notices, tasks: Tasks) -> None:
        super().__init__()
        self._compared: Compared | None = None
        self.chart = Chart(self.tr("Scores of both jobs"))
        self.chart.picked.connect(self._picked)
        self.pictures = PictureButtons(self.chart, notices, tasks, program.remembered_folder(FolderUse.PICTURES))
        self._about = IconLine("", wrap=True)
        head = row(gap=LARGE)
        head.addWidget(self._about, 1, Qt.AlignmentFlag.AlignVCenter)
        head.addWidget(self.pictures)
        self.setLayout(column(head, (self.chart, 1), gap=MEDIUM, margins=(WIDE, MEDIUM, WIDE, MEDIUM)))

    def show_scores(self, compared: Compared, other: int) -> None:
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
            comparison = self._compared.comparison
            self.query_picked.emit(comparison.queries[int(comparison.query[index])].number)


class JobsTab(QWidget):
    def __init__(self) -> None:
        super().__init__()
        self._jobs = LabelGrid("strong", stretches=(0, 1, 0, 0, 0, 2), gap=WIDE - 4, elided=1, wrapped=5)
        self._metrics = LabelGrid("strong", gap=WIDE - 4, elided=0)
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
        self._jobs.show_lines(lines, titles, right=(3, 4))
        self._show_metrics(compared)

    def texts(self) -> list[str]:
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
        self._metrics.show_lines(lines, ("", *letters), right=range(1, len(letters) + 1))


def _card(title: str, *content: QWidget) -> Card:
    return Card(Label(title, "part"), *content, gap=MEDIUM, margins=(20, MEDIUM, 20, LARGE))
