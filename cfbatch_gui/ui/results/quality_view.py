"""How well a ranking is, by judgements: the mean, what is not judged, and each query, the worst first."""

import asyncio
from dataclasses import dataclass
from functools import partial

from PySide6.QtCore import Signal

from cfbatch_gui.core.evaluation.comparison import JudgedQuery, judged_queries
from cfbatch_gui.core.evaluation.joining import Run, read_run
from cfbatch_gui.core.evaluation.judged import ENOUGH_JUDGED, BookGrades, Evaluation, measure
from cfbatch_gui.core.evaluation.significance import mean_interval
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.judgements.session import Agreement, between_judges
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.results.labels import chosen_grades, keep_grades
from cfbatch_gui.core.results.rankings import Rankings
from cfbatch_gui.core.system.threads import in_thread
from cfbatch_gui.ui.notices import Notices
from cfbatch_gui.ui.result_view import RowChoice, row_choices
from cfbatch_gui.ui.results.results_page import ResultsPage, Version
from cfbatch_gui.ui.tables.table_rows import Column, NumberColumn, Rows, ScoreColumn
from cfbatch_gui.ui.tables.table_view import TableView
from cfbatch_gui.ui.theme import LARGE, MEDIUM, SMALL, TINY, WIDE
from cfbatch_gui.ui.widgets import Card, Flow, Label, LabelGrid, LinkButton, NoticeBar, Sentence, boxed, column, row
from cfbatch_gui.words import figures, quality
from cfbatch_gui.words.languages import said, tr


@dataclass(frozen=True, slots=True)
class Quality:
    """What the page shows; `evaluation` is None while nothing is judged, and then there are no `queries`."""

    run: Run
    evaluation: Evaluation | None
    queries: tuple[JudgedQuery, ...]
    interval: tuple[float, float] | None
    book: BookGrades | None
    has_chosen_grades: bool = False
    agreement: Agreement | None = None  # of the judges of the book


class FigureCard(Card):
    """What is counted, a large figure with a few words beside it, and a sentence with a link."""

    def __init__(self, title: str, link: LinkButton) -> None:
        self.title, self.figure = Label(title, "quiet", wrap=True), Label("", "display")
        self.beside, self.sentence = Sentence("", "quiet"), Sentence("", "small")
        self.link = link
        figure = boxed(Flow(self.figure, self.beside, gap=SMALL))
        super().__init__(self.title, figure, boxed(Flow(self.sentence, link, gap=TINY)), None, gap=TINY, margins=_CARD)

    def show_figure(self, figure: str, beside: str, sentence: str, *, linked: bool = True) -> None:
        self.figure.setText(figure)
        self.beside.setText(beside)
        self.sentence.setText(sentence)
        self.link.setVisible(linked)


_CARD = (20, MEDIUM, 20, MEDIUM)


def query_columns(name: str) -> tuple[Column[JudgedQuery], ...]:
    return (
        Column(tr("Query"), lambda query: query.text, stretch=True),
        ScoreColumn(
            name,
            lambda query: query.value,
            width=190,
            least=130,
            bar=lambda query: query.value,
            tip=tr("1 is the best order there could be. The bar begins at 0 and ends at 1."),
        ),
        NumberColumn(
            tr("Judged"),
            lambda query: query.judged / query.top if query.top else 1.0,
            text=lambda query: tr("{n} of {all}").format(n=query.judged, all=query.top),
            copies_text=True,
            width=84,
            colour=lambda query: "text" if query.judged == query.top else "attention",
        ),
        Column(tr("Best text"), lambda query: query.best, stretch=True),
        NumberColumn(
            tr("Its rank"),
            lambda query: query.best_rank or None,
            width=92,
        ),
        Column(tr("ID"), lambda query: query.id, width=90, hidden=True),
    )


def trouble_words(found: Quality) -> str:
    sentences = []
    if found.run.is_partial:
        sentences.append(tr("Partial: only what is back so far is measured."))
    if found.run.unusable is not None:
        sentences.append(said(found.run.unusable.sentence))
    elif found.has_chosen_grades:
        sentences.append(tr("Words in the label column are read as the grades you chose."))
    return " ".join(sentences)


def foot_words(found: Quality) -> str:
    words, evaluation = [tr("Measures as trec_eval defines them; equal scores are ordered by id.")], found.evaluation
    if evaluation is not None:
        book, agreement = evaluation.book, found.agreement
        words = [quality.source_words(evaluation, found.book), *words, *quality.remarks(evaluation)]
        if agreement is not None and agreement.pairs and book is not None and book.matched:
            several = tr("Several judged: {agreement}.").format(agreement=quality.agreement_words(agreement))
            words.insert(1, several)
    return " ".join(words)


K = 10


class QualityView(ResultsPage[Quality | None]):
    """`judge_wanted` brings the id of the job whose texts are to be judged; `quality_help_wanted` asks for the page of
    the help that says what the measures are.
    """

    judge_wanted = Signal(str)
    quality_help_wanted = Signal()

    def __init__(self, program: Program, notices: Notices) -> None:
        super().__init__(program, notices, "list-ordered")
        self.judge_link = LinkButton(tr("Judge them"), on_click=self._judge)
        self.more_link = LinkButton(tr("More measures"), on_click=self._show_more)
        self.mean = FigureCard("", LinkButton(tr("What is this?"), on_click=self.quality_help_wanted.emit))
        self.judged = FigureCard(tr("Judged among the first ten"), self.judge_link)
        self.first = FigureCard(tr("First relevant text"), self.more_link)
        self.measures = LabelGrid("body", "strong", "quiet", stretches=(0, 0, 1), gap=LARGE, wrapped=2)
        self._measures_card = Card(self.measures, inset=True, margins=_CARD)
        self._measures_card.hide()
        self.table = TableView("quality", tr("Queries, the worst first"))
        self.rows: Rows[JudgedQuery] = Rows(())
        self.partial_bar = NoticeBar("", "attention")
        cards = row((self.mean, 4), (self.judged, 3), (self.first, 3), gap=MEDIUM)
        top = column(cards, self._measures_card, gap=MEDIUM, margins=(WIDE, 0, WIDE, SMALL))
        self.lay_out(boxed(column(top, (self.table, 1), gap=0)), column(self.partial_bar))

    def version(self, job: Job) -> Version:
        judgements = self.program.judgements
        return (*super().version(job), judgements.used_name(), judgements.size())

    def row_choices(self) -> tuple[RowChoice, ...]:
        job = self.shown
        chosen = [self.rows.row(index).number for index in self.table.selected_rows()]
        if job is None or not chosen:
            return ()
        items = Rankings(self.program.folder(job.id)).items_of(chosen)
        return row_choices((tr("this query") if len(chosen) == 1 else tr("selected queries"), items))

    # Reading

    async def read(self, job: Job) -> Quality | None:
        return await in_thread(self._read_quality, job)

    def _read_quality(self, job: Job) -> Quality | None:
        if not job.has_results:
            return None
        used = self.program.judgements.find()
        book = BookGrades.read(used)
        run = read_run(self.program.folder(job.id), job)
        with run.folder.open(read_only=True) as database:
            chosen = bool(chosen_grades(database))
        found = measure(run, k=K, book=book)
        if found is None:
            return Quality(run, None, (), None, book, has_chosen_grades=chosen)
        name = next(iter(found.runs[0].values))
        queries = sorted(judged_queries(run, found, name), key=lambda query: query.value)
        interval = mean_interval(found.runs[0].values[name])
        agreement = between_judges(used) if used is not None else None
        return Quality(run, found, tuple(queries), interval, book, has_chosen_grades=chosen, agreement=agreement)

    # Showing

    async def show_read(self, job: Job, read: Quality | None) -> None:
        if read is None:
            self.say_nothing_yet(job)
            return
        self._show_trouble(read)
        self.foot.set_line(foot_words(read))
        if read.evaluation is not None:
            self._show_figures(read, read.evaluation)
            self.stack.show_content()
            return
        question = tr(
            "How good is this ranking? Nobody has judged its texts yet. Judge the first few of each query: one text"
            " at a time, with one key each."
        )
        self.say(question, tr("Judge its texts…"), self._judge)

    def _show_trouble(self, found: Quality) -> None:
        trouble, unusable = trouble_words(found), found.run.unusable
        self.partial_bar.clear_links()
        if unusable is not None and (grades := quality.proposed_grades(unusable)):
            offer = tr("Use as grades: {grades}").format(grades=grades)
            self.partial_bar.add_link(offer, partial(self._use_grades, dict(unusable.proposal)))
        if found.has_chosen_grades:
            self.partial_bar.add_link(tr("Read labels as whole numbers again"), partial(self._use_grades, {}))
        self.partial_bar.set_text(trouble, "attention" if unusable or found.run.is_partial else "info")
        self.partial_bar.setVisible(bool(trouble))

    def _use_grades(self, grades: dict[str, int]) -> None:
        self.tasks.start("grades", self._keep_grades(grades))

    async def _keep_grades(self, grades: dict[str, int]) -> None:
        job = self.shown
        if job is not None:
            await asyncio.to_thread(keep_grades, self.program.folder(job.id), grades)
            self.loaded = ()
            self.show_job(job)

    def _show_figures(self, found: Quality, evaluation: Evaluation) -> None:
        (measures,) = evaluation.runs
        name, mean = next(iter(measures.means.items()))
        queries, interval = len(evaluation.queries), ""
        pattern = tr("{name}, {n} query") if queries == 1 else tr("{name}, mean of {n} queries")
        self.mean.title.setText(pattern.format(name=name, n=figures.number(queries)))
        if evaluation.measures_nothing:
            self.mean.show_figure("–", "", tr("Every candidate has the same grade."))
        else:
            if found.interval is not None:
                low, high = (figures.number(min(1.0, max(0.0, end)), ".2f") for end in found.interval)
                interval = tr("95% between {low} and {high}").format(low=low, high=high)
            about = tr("How close the order is to the best there could be, which is 1.")
            self.mean.show_figure(figures.score_text(mean), interval, about)
        missing = int(measures.top.sum() - measures.judged_top.sum())
        about = tr("All of them are judged.")
        if missing:
            about = figures.plural(missing, "{n} text is not judged yet.", "{n} texts are not judged yet.")
        few = tr("not to be relied upon") if measures.judged_share < ENOUGH_JUDGED else ""
        self.judged.show_figure(figures.percent(measures.judged_share), few, about, linked=missing > 0)
        ranks = measures.first_relevant[measures.first_relevant > 0]
        figure, beside = (figures.number(ranks.mean(), ".1f"), tr("rank, on average")) if len(ranks) else ("–", "")
        about = tr("At rank 1 for {n} of {all} queries.").format(
            n=figures.number(int((ranks == 1).sum())), all=figures.number(len(measures.first_relevant))
        )
        self.first.show_figure(figure, beside, about)
        self.measures.show_lines(quality.measure_rows([measures], evaluation.k))
        self.rows = Rows(query_columns(name), found.queries, key=lambda query: query.index, parent=self)
        self.table.show_rows(self.rows)

    def _show_more(self) -> None:
        shown = self._measures_card.isHidden()
        self._measures_card.setVisible(shown)
        self.more_link.setText(tr("Fewer measures") if shown else tr("More measures"))

    def _judge(self) -> None:
        if self.shown is not None:
            self.judge_wanted.emit(self.shown.id)
