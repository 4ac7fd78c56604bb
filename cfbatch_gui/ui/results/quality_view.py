"""How well a ranking is, by judgements: the mean, what is not judged, and each query, the worst first."""

import asyncio
from dataclasses import dataclass
from functools import partial

from PySide6.QtCore import Signal

from cfbatch_gui.core.evaluation.comparison import JudgedQuery, judged_queries
from cfbatch_gui.core.evaluation.joining import Run, read_run
from cfbatch_gui.core.evaluation.judged import ENOUGH_JUDGED, BookGrades, Evaluation, RunMeasures, judged_by, measure
from cfbatch_gui.core.evaluation.significance import mean_interval
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.judgements.session import Agreement, agreement_words, between_judges
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.results.labels import chosen_grades, keep_grades
from cfbatch_gui.core.results.rankings import Rankings
from cfbatch_gui.ui.notices import Notices
from cfbatch_gui.ui.result_view import RowChoice, row_choices
from cfbatch_gui.ui.results.results_page import ResultsPage, Version, nothing_yet
from cfbatch_gui.ui.tables.table_rows import Column, NumberColumn, Rows, ScoreColumn
from cfbatch_gui.ui.tables.table_view import TableView
from cfbatch_gui.ui.theme import LARGE, MEDIUM, WIDE
from cfbatch_gui.ui.widgets import (
    Card,
    Figure,
    LabelGrid,
    LinkButton,
    MaybeEmpty,
    NoticeBar,
    boxed,
    column,
    row,
)
from cfbatch_gui.words import figures
from cfbatch_gui.words.languages import said, tr

_MOST_OFFERED = 4


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


def query_columns(name: str) -> tuple[Column[JudgedQuery], ...]:
    return (
        Column(tr("Query"), lambda query: query.text, key="query", stretch=True),
        ScoreColumn(
            name,
            lambda query: query.value,
            key="value",
            width=190,
            bar=lambda query: query.value,
            tip=tr("1 is the best order there could be. The bar begins at 0 and ends at 1."),
        ),
        NumberColumn(
            tr("Judged"),
            lambda query: query.judged / query.top if query.top else 1.0,
            text=lambda query: tr("{n} of {all}").format(n=query.judged, all=query.top),
            key="judged",
            copies_text=True,
            width=84,
            colour=lambda query: "text" if query.judged == query.top else "attention",
        ),
        Column(tr("Best text"), lambda query: query.best, key="best", stretch=True),
        NumberColumn(
            tr("stands at"),
            lambda query: query.best_rank or None,
            lambda rank: tr("rank {n}").format(n=figures.number(rank)),
            key="rank",
            width=92,
        ),
        Column(tr("ID"), lambda query: query.id, key="id", width=90, hidden=True),
    )


def offered_words(found: Quality) -> str:
    if found.run.unusable is None or not found.run.unusable.proposal:
        return ""
    pairs = [
        tr("{label} = {grade}").format(label=figures.one_line(label, 20), grade=grade)
        for label, grade in found.run.unusable.proposal
    ]
    shown = ", ".join(pairs[:_MOST_OFFERED]) + (", …" if len(pairs) > _MOST_OFFERED else "")
    return tr("Use as grades: {grades}").format(grades=shown)


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
    evaluation, words = found.evaluation, []
    if evaluation is not None:
        book = evaluation.book
        counts = tr("{n} judgements").format(n=figures.number(evaluation.judged))
        judgements = said(judged_by(evaluation, found.book))
        words.append(tr("By {judgements}: {counts}.").format(judgements=judgements, counts=counts))
        if found.agreement is not None and found.agreement.pairs and book is not None and book.matched:
            words.append(tr("Several judged: {agreement}.").format(agreement=said(agreement_words(found.agreement))))
        remarks = {
            tr("Texts with two labels, of which the first counts: {n}."): evaluation.conflicts,
            tr("Judgements about other versions of a text: {n}."): book.other_versions if book is not None else 0,
            tr("Queries without judgements, left out: {n}."): evaluation.left_out,
        }
        words += [sentence.format(n=figures.number(count)) for sentence, count in remarks.items() if count]
    return " ".join([*words, tr("Measures as trec_eval defines them; equal scores are ordered by id.")])


def about_measure(name: str, k: int) -> str:
    plain = {
        f"nDCG@{k}": tr("how close to the best order the first {k} are, better grades counting more"),
        "RR": tr("1 divided by the rank of the first relevant text"),
        f"R@{k}": tr("of all relevant texts, the share among the first {k}"),
        f"P@{k}": tr("of the first {k}, the share that is relevant"),
        f"Success@{k}": tr("the share of queries with a relevant text among the first {k}"),
        "AP": tr("precision at each relevant text, on average"),
        "bpref": tr("how rarely a text judged not relevant stands above a relevant one"),
        f"nDCG@{k} (exp)": tr("nDCG with 2 to the grade less 1 as gain"),
    }
    return plain.get(name, "").format(k=k)


K = 10


class QualityView(ResultsPage[Quality | None]):
    """`judge_wanted` brings the id of the job whose texts are to be judged."""

    judge_wanted = Signal(str)

    def __init__(self, program: Program, notices: Notices) -> None:
        super().__init__(program, notices, "list-ordered")
        self._make_cards()
        self.table = TableView("quality", self.tr("Queries, the worst first"))
        self.rows: Rows[JudgedQuery] = Rows(())
        self.partial_bar = NoticeBar("", "attention")
        self._lay_out()

    def version(self, job: Job) -> Version:
        return (*super().version(job), self.program.judgements.size())

    def row_choices(self) -> tuple[RowChoice, ...]:
        job = self.shown
        chosen = [self.rows.row(index).number for index in self.table.selected_rows()]
        if job is None or not chosen:
            return ()
        items = Rankings(self.program.folder(job.id)).items_of(chosen)
        return row_choices((self.tr("this query") if len(chosen) == 1 else self.tr("selected queries"), items))

    # Making

    def _make_cards(self) -> None:
        self.mean, self.judged, self.first = Figure(wrap=True), Figure(wrap=True), Figure(wrap=True)
        self.judge_link = LinkButton(self.tr("Judge them"), on_click=self._judge)
        self.more_link = LinkButton(self.tr("More measures"), on_click=self._show_more)
        self.measures = LabelGrid("body", "strong", "quiet", stretches=(0, 0, 1), gap=LARGE)
        self._measures_card = Card(self.measures, inset=True, margins=(20, MEDIUM, 20, MEDIUM))
        self._measures_card.hide()

    def _lay_out(self) -> None:
        links = ((self.mean, None), (self.judged, self.judge_link), (self.first, self.more_link))
        cards = [Card(figure, None, row(link, None), gap=4, margins=(20, MEDIUM, 20, MEDIUM)) for figure, link in links]
        figures = row(*((card, 1) for card in cards), gap=MEDIUM)
        above = column(figures, self._measures_card, gap=MEDIUM, margins=(WIDE, LARGE, WIDE, MEDIUM))
        self.content = MaybeEmpty("list-ordered", boxed(column(above, (self.table, 1), gap=0)))
        self.content.empty.pressed.connect(self._judge)
        self._trouble = boxed(column(self.partial_bar, margins=(WIDE, LARGE, WIDE, 0)))
        self.lay_out(boxed(column(self._trouble, (self.content, 1), gap=0)))

    # Reading

    async def read(self, job: Job) -> Quality | None:
        return await asyncio.to_thread(self._read_quality, job)

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

    async def show_read(self, job: Job, found: Quality | None) -> None:
        if found is None:
            self.stack.show_sentence(nothing_yet(job))
            return
        evaluation = found.evaluation
        self._show_trouble(found)
        self.foot.set_line(foot_words(found))
        self.stack.show_content()
        if evaluation is not None:
            self._show_figures(found, evaluation)
            self.content.show_content()
            return
        question = self.tr(
            "How good is this ranking? Nobody has judged its texts yet. Judge the first few of each query: one text"
            " at a time, with one key each."
        )
        self.content.show_sentence(question, self.tr("Judge its texts…"))

    def _show_trouble(self, found: Quality) -> None:
        trouble = trouble_words(found)
        self.partial_bar.clear_links()
        offer = offered_words(found)
        if offer and found.run.unusable is not None:
            self.partial_bar.add_link(offer, partial(self._use_grades, dict(found.run.unusable.proposal)))
        if found.has_chosen_grades:
            self.partial_bar.add_link(self.tr("Read labels as whole numbers again"), partial(self._use_grades, {}))
        self.partial_bar.set_text(trouble, "attention" if found.run.unusable or found.run.is_partial else "info")
        self._trouble.setVisible(bool(trouble))

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
        self._show_mean(found, evaluation, measures)
        self._show_judged(measures)
        self._show_first(measures)
        self._show_measures(measures, evaluation)
        name = next(iter(measures.values))
        self.rows = Rows(query_columns(name), found.queries, key=lambda query: query.index, parent=self)
        self.table.show_rows(self.rows)

    def _show_mean(self, found: Quality, evaluation: Evaluation, measures: RunMeasures) -> None:
        name, mean = next(iter(measures.means.items()))
        queries = len(evaluation.queries)
        pattern = self.tr("{name}, {n} query") if queries == 1 else self.tr("{name}, mean of {n} queries")
        title = pattern.format(name=name, n=figures.number(queries))
        if evaluation.measures_nothing:
            nothing = self.tr("Nothing can be measured: every candidate has the same grade.")
            self.mean.set_figure("–", f"{title}\n{nothing}")
            return
        if found.interval is not None:
            low, high = (figures.number(min(1.0, max(0.0, end)), ".2f") for end in found.interval)
            pattern = self.tr("{title} · 95 % between {low} and {high}")
            title = pattern.format(title=title, low=low, high=high)
        about = self.tr("1 is the best order there could be: the higher up the relevant texts stand, the better.")
        self.mean.set_figure(figures.local_signs(mean.text()), f"{title}\n{about}")

    def _show_judged(self, measures: RunMeasures) -> None:
        missing = int(measures.top.sum() - measures.judged_top.sum())
        about = figures.plural(missing, "{n} text has no grade yet.", "{n} texts have no grade yet.")
        if measures.judged_share < ENOUGH_JUDGED:
            about += " " + self.tr("The figures are not to be relied upon.")
        about = about if missing else self.tr("All of them are judged.")
        title = self.tr("judged among the first ten")
        self.judged.set_figure(figures.percent(measures.judged_share), f"{title}\n{about}")
        self.judge_link.setVisible(missing > 0)

    def _show_first(self, measures: RunMeasures) -> None:
        ranks = measures.first_relevant[measures.first_relevant > 0]
        figure = figures.number(ranks.mean(), ".1f") if len(ranks) else "–"
        about = self.tr("at rank 1 for {n} of {all} queries.").format(
            n=figures.number(int((ranks == 1).sum())), all=figures.number(len(measures.first_relevant))
        )
        title = self.tr("first relevant text: its rank, on average")
        self.first.set_figure(figure, f"{title}\n{about}")

    def _show_measures(self, measures: RunMeasures, evaluation: Evaluation) -> None:
        means = measures.means.items()
        lines = [(name, figures.local_signs(mean.text()), about_measure(name, evaluation.k)) for name, mean in means]
        judged = figures.percent(measures.judged_share)
        about = self.tr("of the first texts are judged; the others count as 0")
        self.measures.show_lines([*lines, (f"Judged@{evaluation.k}", judged, about)])

    def _show_more(self) -> None:
        shown = self._measures_card.isHidden()
        self._measures_card.setVisible(shown)
        self.more_link.setText(self.tr("Fewer measures") if shown else self.tr("More measures"))

    def _judge(self) -> None:
        if self.shown is not None:
            self.judge_wanted.emit(self.shown.id)
