"""Whether the other job is better: the answer in words, what each query adds to it, and where its best text went."""

import asyncio
from collections.abc import Sequence

from PySide6.QtCore import QCoreApplication, Signal
from PySide6.QtWidgets import QWidget

from cfbatch_gui.core.evaluation.comparison import QueryChange, query_changes
from cfbatch_gui.core.evaluation.judged import Evaluation, answers
from cfbatch_gui.core.evaluation.significance import Paired
from cfbatch_gui.ui import display
from cfbatch_gui.ui.display import score_text
from cfbatch_gui.ui.evaluation.answer_words import (
    change_sentence,
    headline,
    how_it_is_known,
    more_queries,
    signed,
    source_words,
    too_few_judged,
)
from cfbatch_gui.ui.evaluation.comparison_figures import Compared, letter
from cfbatch_gui.ui.plots import DifferenceChart
from cfbatch_gui.ui.tables.table_rows import Column, Rows
from cfbatch_gui.ui.tables.table_view import Memory, TableView
from cfbatch_gui.ui.tasks import Tasks
from cfbatch_gui.ui.theme import LARGE, MEDIUM, SMALL, WIDE
from cfbatch_gui.ui.widgets import (
    Card,
    Choice,
    EmptyPlace,
    Flow,
    Label,
    LinkButton,
    NoticeBar,
    boxed,
    column,
    row,
    scrolled,
    split,
)

_CHART_HEIGHT = 150
_WORK = "answer"
_SAME = 5e-5  # a difference that is shown as 0.0000


class AnswerTab(QWidget):
    """`judge_wanted` asks for the page on which texts are judged; `query_picked` brings a query's number."""

    judge_wanted = Signal()
    query_picked = Signal(int)

    def __init__(self, tasks: Tasks, *, memory: Memory | None = None, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._tasks = tasks
        self._compared: Compared | None = None
        self._other = 1
        self._changes: tuple[QueryChange, ...] = ()
        self.headline = Label("", "part", wrap=True)
        self.sentence = Label("", "body", wrap=True)
        self._more = Label("", "quiet", wrap=True)
        self._known = Label("", "quiet", wrap=True)
        self._known.hide()
        self._how = LinkButton(self.tr("How is this known?"))
        self._how.clicked.connect(lambda: self._known.setVisible(self._known.isHidden()))
        self._source = Label("", "small", wrap=True)
        self.measures = Choice(self.tr("Measure"))
        self.measures.picked.connect(lambda _: self._show_answer())
        self.warning = NoticeBar("", "attention")
        self.warning.add_link(self.tr("Judge what is missing"), self.judge_wanted.emit)
        self.chart = DifferenceChart(self.tr("How much better or worse each query is"))
        self.chart.setMinimumHeight(_CHART_HEIGHT)
        self.chart.picked.connect(lambda index: self.query_picked.emit(self._changes[index].number))
        self.table = TableView("comparison/answer", memory=memory)
        self.table.setAccessibleName(self.tr("Queries, those that gained most first"))
        self.table.opened.connect(lambda index: self.query_picked.emit(self.rows.row(index).number))
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
        answer = Card()
        words = column(self.headline, self.sentence, self._more, row(self._how, None), self._known, self._source, gap=4)
        beside = row(gap=LARGE)
        beside.addLayout(words, 1)
        beside.addLayout(column(self.measures, None))
        answer.body.addLayout(beside)
        self._chart_card = chart = Card()
        chart.body.setContentsMargins(20, MEDIUM, 20, SMALL)
        self._chart_title = Label("", "strong")
        title = Flow(self._chart_title, None, Label(self.tr("the band is where the mean may lie"), "small"))
        chart.body.addWidget(boxed(title))
        chart.body.addWidget(self.chart, 1)
        above = column(self.warning, answer, gap=MEDIUM, margins=(WIDE, MEDIUM, WIDE, MEDIUM))
        above.addWidget(chart, 1)
        above.addStretch(0)
        parts = split(scrolled(boxed(above)), self.table, sizes=(450, 160), vertical=True)
        return boxed(column(parts, gap=0))

    def show_comparison(self, compared: Compared, other: int) -> None:
        """Show what the judgements say of the first job and number `other`."""
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

    def words(self) -> list[str]:
        """The headline, the sentence below, and what more would tell."""
        return [self.headline.text(), self.sentence.text(), self._more.text()]

    def _metric(self) -> str:
        value = self.measures.value()
        return value if isinstance(value, str) else ""

    def _show_answer(self) -> None:
        self._tasks.start(_WORK, self._answer())

    async def _answer(self) -> None:
        compared, other, metric = self._compared, self._other, self._metric()
        if compared is None or compared.evaluation is None:
            return
        found = await asyncio.to_thread(answers, compared.evaluation, metric)
        changes = await asyncio.to_thread(query_changes, compared.comparison, compared.evaluation, other, metric)
        if self._compared is compared and self._other == other and self._metric() == metric:
            self._show(compared.evaluation, found[other - 1], changes, metric)

    def _show(self, evaluation: Evaluation, found: Paired, changes: Sequence[QueryChange], metric: str) -> None:
        job = letter(self._other)
        if evaluation.measures_nothing:
            self.headline.setText(self.tr("Nothing can be measured"))
            self.sentence.setText(
                self.tr("All candidates of a query have the same grade, so that every order would be as good.")
            )
            self._more.setText("")
        else:
            self.headline.setText(headline(found, job))
            self.sentence.setText(change_sentence(found, job, metric))
            self._more.setText(more_queries(found))
        self._more.setVisible(bool(self._more.text()))
        self._known.setText(how_it_is_known(found, several=len(evaluation.runs) > 2))
        self._changes = tuple(changes)
        self._chart_title.setText(self.tr("Each query, from {job}’s best to {job}’s worst").format(job=job))
        self._chart_card.setVisible(bool(found.better or found.worse))
        interval = (found.low, found.high) if found.low is not None and found.high is not None else None
        self.chart.show_differences(
            [each.difference for each in changes],
            interval,
            titles=(self.tr("{job} better").format(job=job), self.tr("{job} worse").format(job=job)),
            columns=(self.tr("Query"), self.tr("{job} − A").format(job=job)),
            describe=lambda index: (
                f"{display.one_line(self._changes[index].text, 120)}\n{signed(self._changes[index].difference)}"
            ),
        )
        before = self.rows
        self.rows = Rows(change_columns(job), changes, key=lambda each: each.index, parent=self)
        self.table.show_rows(self.rows)
        before.deleteLater()


def change_columns(job: str) -> tuple[Column[QueryChange], ...]:
    """Query, the measure in both jobs, the difference, the best text and where it stood and stands."""
    return (
        Column(_tr("Query"), lambda each: each.text, key="query", stretch=True),
        Column("A", lambda each: each.value, score_text, key="a", align="right", width=74),
        Column(job, lambda each: each.other_value, score_text, key="b", align="right", width=74),
        Column(
            _tr("{job} − A").format(job=job),
            lambda each: each.difference,
            _difference,
            key="difference",
            align="right",
            width=84,
            colour=_colour,
        ),
        Column(_tr("Best text"), lambda each: each.best, key="best", stretch=True),
        Column(
            _tr("Its rank"),
            lambda each: each.rank - each.other_rank,
            text=_ranks,
            copies_text=True,
            key="rank",
            align="right",
            width=84,
            tip=_tr("The rank of the best text in A, and in the other job."),
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
    pattern = _tr("{before} → {after}")
    before, after = (display.number(rank) if rank else "–" for rank in (each.rank, each.other_rank))
    return pattern.format(before=before, after=after)


def _tr(text: str) -> str:
    return QCoreApplication.translate("AnswerTab", text)
