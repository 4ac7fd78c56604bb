"""A comparison in figures and sentences, and three tabs of its page: the answer, the scores, the jobs and metrics."""

import asyncio
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from cfbatch_gui.core.evaluation.comparison import (
    Comparison,
    QueryChange,
    QueryMove,
    compare,
    most_moved_first,
    query_changes,
    query_moves,
)
from cfbatch_gui.core.evaluation.joining import Joined, read_run
from cfbatch_gui.core.evaluation.joining import matched_words as matched_by
from cfbatch_gui.core.evaluation.judged import (
    ENOUGH_JUDGED,
    BookGrades,
    Evaluation,
    answer_words,
    answers,
    evaluate,
    judged_by,
    remarks,
)
from cfbatch_gui.core.evaluation.significance import Paired
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.system.settings import FolderUse
from cfbatch_gui.ui.notices import Notices
from cfbatch_gui.ui.plots import Band, Bars, Chart, Diagonal, Dots, PictureButtons, PlotData
from cfbatch_gui.ui.tables.table_rows import Column, NumberColumn, Rows, ScoreColumn
from cfbatch_gui.ui.tables.table_view import TableView
from cfbatch_gui.ui.tasks import Tasks
from cfbatch_gui.ui.theme import LARGE, MEDIUM, SMALL, WIDE
from cfbatch_gui.ui.widgets import (
    Card,
    Choice,
    Flow,
    IconLine,
    Label,
    LabelGrid,
    LinkButton,
    MaybeEmpty,
    NoticeBar,
    boxed,
    column,
    row,
    scrolled,
    split,
)
from cfbatch_gui.words import figures
from cfbatch_gui.words.figures import score_text
from cfbatch_gui.words.languages import said, tr
from cfbatch_gui.words.states import is_practice, short_model

_USUAL_TOPS = (10, 5, 3)


@dataclass(frozen=True, slots=True, eq=False)
class Compared:
    """`moves`, what moved most first, are of each job but the first. `evaluation` is None without labels and
    judgements; `book` has those that count beside the labels.
    """

    jobs: tuple[Job, ...]
    comparison: Comparison
    moves: tuple[tuple[QueryMove, ...], ...]
    evaluation: Evaluation | None
    top_k: int
    book: BookGrades | None = None


def read_comparison(program: Program, jobs: Sequence[Job]) -> Compared:
    """Blocking; the first job is what the others are compared with. Raises UsageError, DataError."""
    runs = [read_run(program.folder(job.id), job) for job in jobs]
    comparison = compare(runs)
    texts = len(comparison.query) / len(comparison.queries)
    usual = next((count for count in _USUAL_TOPS if count < texts), 1)
    return with_top(tuple(jobs), comparison, usual, BookGrades.read(program.judgements.find()))


def with_top(jobs: tuple[Job, ...], comparison: Comparison, top_k: int, book: BookGrades | None) -> Compared:
    """Figures with this cut-off. Blocking."""
    found = (query_moves(comparison, other, top_k=top_k) for other in range(1, len(jobs)))
    moves = tuple(tuple(most_moved_first(each)) for each in found)
    evaluation = evaluate(comparison.runs, comparison.joined, k=top_k, book=book)
    return Compared(jobs, comparison, moves, evaluation, top_k, book)


def letter(number: int) -> str:
    return chr(ord("A") + number) if number < 26 else f"{number + 1}"


def named(jobs: Sequence[Job]) -> list[str]:
    """ "A: Help centre", "B: Help centre, short": the names in the header of the page."""
    pattern = tr("{letter}: {name}")
    return [
        pattern.format(letter=letter(number), name=figures.one_line(job.name, 60)) for number, job in enumerate(jobs)
    ]


def matched_words(joined: Joined) -> str:
    queries, texts = (said(matched_by(counts)) for counts in (joined.queries, joined.texts))
    return tr("queries: {queries}; texts: {texts}").format(queries=queries, texts=texts)


def foot_words(jobs: Sequence[Job]) -> str:
    words = tr(
        "Overlap is rank-biased (RBO, p = 0.9): 1 is the same ranking, less the higher up two differ. Items are matched"
        " by their ids and texts, never by their place."
    )
    if any(map(is_practice, jobs)):
        words += " " + tr("Practice scores are from a small model on this computer.")
    return words


def unusable_words(compared: Compared) -> str:
    pattern = tr("Job {job}: {sentence}")
    return " ".join(
        pattern.format(job=letter(number), sentence=said(run.unusable.sentence))
        for number, run in enumerate(compared.comparison.runs)
        if run.unusable is not None
    )


def judged_words(found: Evaluation | None) -> str:
    if found is None:
        return tr(
            "There are no measures, for no text is judged. Judge some, or name a label column (whole numbers, 0 is not"
            " relevant) to measure the jobs by it."
        )
    sentences = [
        figures.plural(len(found.queries), "By the judgements of {n} query.", "By the judgements of {n} queries."),
        tr("All are means over these queries, as trec_eval defines them; “exp” takes 2 to the label less 1 as gain."),
    ]
    counts = {
        tr("Queries without judgements, left out: {n}."): found.left_out,
        tr("Texts labelled differently, where the label of job A holds: {n}."): found.conflicts,
    }
    sentences += [sentence.format(n=figures.number(count)) for sentence, count in counts.items() if count]
    sentences += map(said, remarks(found.runs))
    return " ".join(sentences)


def how_it_is_known(found: Paired, *, several: bool) -> str:
    words = tr(
        "By a paired randomisation test: if it were tossed up for every query which ranking is which, the mean would"
        " differ as much in {share} of all cases (p). The interval is from drawing the queries again 20,000 times. The"
        " same judgements always give the same figures."
    ).format(share=figures.number(found.p * 100, ".1f") + " %")
    if several:
        words += " " + tr("p is corrected for the number of comparisons (Holm).")
    return words


def too_few_judged(evaluation: Evaluation, other: int) -> str:
    shares = (evaluation.runs[0].judged_share, evaluation.runs[other].judged_share)
    if min(shares) >= ENOUGH_JUDGED:
        return ""
    pattern = tr(
        "Of the first {k} texts only {a} (A) and {b} ({job}) are judged. The figures are not to be relied upon."
    )
    a, b = map(figures.percent, shares)
    return pattern.format(k=evaluation.k, a=a, b=b, job=letter(other))


def source_words(evaluation: Evaluation, book: BookGrades | None) -> str:
    judged, queries = figures.number(evaluation.judged), figures.number(len(evaluation.queries))
    counts = tr("{n} judgements of {queries} queries").format(n=judged, queries=queries)
    return tr("By {judgements}: {counts}.").format(judgements=said(judged_by(evaluation, book)), counts=counts)


def signed(difference: float) -> str:
    return figures.number(difference, "+.3f").replace("-", "−")


_CHART_HEIGHT = 190
_WORK = "answer"
_SAME = 5e-5  # a difference that is shown as 0.0000


class AnswerTab(QWidget):
    """`judge` opens the page on which texts are judged, `open_query` a query by its number."""

    def __init__(
        self,
        tasks: Tasks,
        judge: Callable[[], None],
        open_query: Callable[[int], object],
    ) -> None:
        super().__init__()
        self._tasks = tasks
        self._compared: Compared | None = None
        self._other = 1
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
        self.warning.add_link(self.tr("Judge what is missing"), judge)
        self.chart = Chart(self.tr("How much better or worse each query is"))
        self.chart.setFixedHeight(_CHART_HEIGHT)
        self.chart.picked.connect(lambda index: open_query(self.rows.rows()[index].number))
        self.table = TableView(
            "comparison/answer",
            self.tr("Queries, those that gained most first"),
            on_opened=lambda index: open_query(self.rows.row(index).number),
        )
        self.rows: Rows[QueryChange] = Rows(())
        self._content = MaybeEmpty("list-ordered", self._laid_out())
        self._content.empty.pressed.connect(judge)
        self.setLayout(column(self._content, gap=0))

    def _laid_out(self) -> QWidget:
        words = column(self.headline, self.sentence, self._more, row(self._how, None), self._known, self._source, gap=4)
        answer = Card(row((words, 1), column(self.measures, None), gap=LARGE))
        self._chart_title = Label("", "strong")
        title = Flow(self._chart_title, None, Label(self.tr("the band is where the mean may lie"), "small"))
        self._chart_card = Card(boxed(title), self.chart, margins=(20, MEDIUM, 20, SMALL))
        above = column(self.warning, answer, self._chart_card, None, gap=MEDIUM, margins=(WIDE, MEDIUM, WIDE, MEDIUM))
        return split(scrolled(boxed(above)), self.table, name="comparison/scores", sizes=(450, 160), vertical=True)

    def show_comparison(self, compared: Compared, other: int) -> None:
        self._compared, self._other = compared, other
        evaluation = compared.evaluation
        if evaluation is None:
            question = self.tr(
                "Which of these rankings is better? Nobody has judged their texts yet. Judge the first few of each: one"
                " text at a time, with one key each."
            )
            self._content.show_sentence(question, self.tr("Judge their texts…"))
            return
        self._content.show_content()
        self.measures.refill((name, name) for name in evaluation.runs[0].means)
        self.warning.say(too_few_judged(evaluation, other))
        self._source.setText(source_words(evaluation, compared.book))
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
        labels = (self.headline, self.sentence, self._more)
        for label, words in zip(labels, answer_words(found, job, metric), strict=True):
            label.setText(re.sub(r"-(?=\d)", "−", said(words)))
            label.setVisible(bool(words))
        self._known.setText(how_it_is_known(found, several=len(evaluation.runs) > 2))
        self._chart_title.setText(self.tr("Each query, from {job}’s best to {job}’s worst").format(job=job))
        self._chart_card.setVisible(bool(found.better or found.worse))
        self.rows = Rows(change_columns(job), changes, key=lambda each: each.index, parent=self)
        self.table.show_rows(self.rows)
        self._show_chart(found, job)

    def _show_chart(self, found: Paired, job: str) -> None:
        changes = self.rows.rows()

        def describe(index: int) -> str:
            return f"{figures.one_line(changes[index].text, 120)}\n{signed(changes[index].difference)}"

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
    return figures.number(value, "+.4f").replace("-", "−") if abs(value) >= _SAME else score_text(0.0)


def _colour(each: QueryChange) -> str:
    if abs(each.difference) < _SAME:
        return "quiet"
    return "accent" if each.difference > 0 else "attention"


def _ranks(each: QueryChange) -> str:
    if not each.best:
        return ""
    pattern = tr("{before} → {after}")
    before, after = (figures.number(rank) if rank else "–" for rank in (each.rank, each.other_rank))
    return pattern.format(before=before, after=after)


class ScoresTab(QWidget):
    """`open_query` opens the query whose dot is clicked, by its number."""

    def __init__(self, program: Program, notices: Notices, tasks: Tasks, open_query: Callable[[int], object]) -> None:
        super().__init__()
        self._open_query = open_query
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
            return f"{figures.one_line(query.text, 120)}\n{score_text(x[index])} · {score_text(y[index])}"

        def data() -> PlotData:
            queries = (comparison.queries[index].text for index in comparison.query.tolist())
            return PlotData((self.tr("Query"), one.name, two.name), zip(queries, x.tolist(), y.tolist(), strict=True))

        layers: list[Dots | Diagonal] = [Dots(x, y, describe=describe)]
        if same:
            layers.append(Diagonal())
        words = self.tr("Each dot is a text with a query. On the dashed line both jobs give the same score.")
        if not same:
            words = self.tr(
                "Each dot is a text with a query. Scores of two models have scales of their own: look at the order, not"
                " at the difference."
            )
        self.chart.show_layers(layers, across=one.name, up=two.name, data=data, summary=words)
        self._about.set_line(words)
        self.pictures.set_name(self.tr("{one} and {two}, scores").format(one=one.name, two=two.name))

    def _picked(self, index: int) -> None:
        if self._compared is not None:
            comparison = self._compared.comparison
            self._open_query(comparison.queries[int(comparison.query[index])].number)


class JobsTab(QWidget):
    def __init__(self) -> None:
        super().__init__()
        self.jobs = LabelGrid("strong", stretches=(0, 1, 0, 0, 0, 2), gap=WIDE - 4, elided=1, wrapped=5)
        self.metrics = LabelGrid("strong", gap=WIDE - 4, elided=0)
        self.judged = IconLine("", "info", "body", wrap=True)
        content = column(
            _card(self.tr("What is compared"), self.jobs),
            _card(self.tr("How well each ranks"), self.metrics, self.judged),
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
            scores = figures.number(run.scored)
            if run.is_partial:
                scores = self.tr("{scored} of {all}").format(scored=scores, all=figures.number(len(run.table)))
            matched = matched_words(comparison.joined[number]) if number else ""
            lines.append((letter(number), job.name, model, figures.number(len(run.table.asked)), scores, matched))
        titles = (
            "",
            self.tr("Job"),
            self.tr("Model"),
            self.tr("Queries"),
            self.tr("Scores"),
            self.tr("Matched with A"),
        )
        self.jobs.show_lines(lines, titles, right=(3, 4))
        self._show_metrics(compared)

    def _show_metrics(self, compared: Compared) -> None:
        found = compared.evaluation
        self.judged.set_line(" ".join(filter(None, (judged_words(found), unusable_words(compared)))))
        self.metrics.setVisible(found is not None)
        if found is None:
            return
        letters = [letter(number) for number in range(len(found.runs))]
        lines = [
            (name, *(figures.local_signs(run.means[name].text()) for run in found.runs)) for name in found.runs[0].means
        ]
        self.metrics.show_lines(lines, ("", *letters), right=range(1, len(letters) + 1))


def _card(title: str, *content: QWidget) -> Card:
    return Card(Label(title, "part"), *content, gap=MEDIUM, margins=(20, MEDIUM, 20, LARGE))
