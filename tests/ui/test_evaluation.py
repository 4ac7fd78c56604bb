"""Comparing jobs in the window, the quality of one, and judging texts by keys, each in the book before the next."""

import csv
from collections.abc import AsyncIterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from cfbatch_gui.core.errors import InputError
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.states import Batch, BatchState, Job
from cfbatch_gui.core.judgements.book import Book
from cfbatch_gui.core.judgements.files import Form
from cfbatch_gui.core.judgements.session import Session
from cfbatch_gui.core.judgements.values import Judgement, Source, Subject
from cfbatch_gui.core.program import Program
from cfbatch_gui.ui.evaluation.comparison_page import (
    ANSWER,
    JOBS,
    QUERIES,
    SCORES,
    ChooseJobsDialog,
    ComparisonPage,
    candidates,
)
from cfbatch_gui.ui.evaluation.judge_page import JudgePage
from cfbatch_gui.ui.notices import Notices
from cfbatch_gui.ui.plots import Dots
from cfbatch_gui.ui.result_view import RowChoice
from cfbatch_gui.ui.results.quality_view import QualityView
from cfbatch_gui.ui.theme import Theme
from cfbatch_gui.ui.widgets import EmptyPlace
from tests.core.results.folders import Pair, Table
from tests.screen.stage import opened
from tests.ui.conftest import Until
from tests.ui.connections import pick, shown_page

FIRST = (
    Pair("reset my password", "Choose a new password", 0.9, "A-1", "3"),
    Pair("reset my password", "Invoices are sent", 0.2, "A-2", "0"),
    Pair("reset my password", "Invoices come monthly", 0.2, "A-3", "0"),
    Pair("reset my password", "Forgot the password?", 0.7, "A-4", "2"),
    Pair("cancel an order", "Until it is packed", 0.8, "B-1", "3"),
    Pair("cancel an order", "Reset your password", 0.1, "B-2", "0"),
)
OTHER = tuple(
    replace(pair, text=f"Help: {pair.text}", outcome=score)
    for pair, score in zip(reversed(FIRST), (0.3, 0.4, 0.8, 0.2, 0.1, 0.6), strict=True)
)
LONE = (Pair("something", "else", 0.5), Pair("something", "other", 0.4))


@dataclass
class Compared:
    program: Program
    notices: Notices
    page: ComparisonPage
    first: Job
    second: Job


def finished(program: Program, name: str, pairs: Sequence[Pair], kind: Kind = Kind.RANK) -> Job:
    """A job that has run to its end."""
    job = program.drafts.create(kind, name, "@cf/baai/bge-m3", "practice")
    Table(program.folder(job.id).path).rank(pairs)
    queries = len({pair.query for pair in pairs})
    batch = Batch(job.id, 1, BatchState.DONE, queries, len(pairs), 1_000)
    return program.ledger.put(replace(job, is_sent=True, queries=queries, texts=len(pairs)), [batch])


def sentence(page: ComparisonPage) -> str:
    """What stands instead of a comparison."""
    return " ".join(each.sentence() for each in page.findChildren(EmptyPlace) if each.isVisible())


@pytest.fixture
async def compared(tmp_path: Path, until: Until) -> AsyncIterator[Compared]:
    async with shown_page(tmp_path, ComparisonPage) as (program, page):
        first, second = finished(program, "First", FIRST), finished(program, "Second", OTHER)
        page.compare([first, second])
        await until(lambda: page.queries.texts_model.rowCount() > 0 and not page.tasks.running())
        yield Compared(program, page._notices, page, first, second)


async def test_jobs_are_matched_and_their_figures_shown(compared: Compared, until: Until) -> None:
    page = compared.page
    assert page.header.facts().startswith("A: First · B: Second · 2 queries")
    assert page.tops.value() == 1  # of the few texts that the queries have
    assert page.queries.queries_model.rowCount() == 2
    assert page.rbo.number().startswith(("0.", "1."))
    assert "of 2" in page.first.number()
    assert not page.partial_bar.isVisible()
    page.tabs.choose(JOBS)
    assert "queries: 2 by text; texts: 6 by id alone, with other texts" in page.job_lines.jobs.texts()
    assert "nDCG@1" in page.job_lines.metrics.texts()
    assert page.job_lines.judged.text().startswith("By the judgements of 2 queries.")
    assert not page.others.isVisible()  # there is only one

    pick(page.tops, 20)
    await until(lambda: page.top.caption() == "overlap of the first 20")
    page.tabs.choose(JOBS)
    assert "nDCG@20" in page.job_lines.metrics.texts()
    await until(lambda: not page.tasks.running())

    page.tabs.choose(SCORES)
    (dots,) = [layer for layer in page.scores.chart.layers if isinstance(layer, Dots)]
    assert len(dots.x) == 6
    assert dots.describe is not None
    assert " · " in dots.describe(5)
    page.scores.chart.picked.emit(5)
    assert page.tabs.current() == QUERIES
    await until(lambda: page.queries.texts_model.rowCount() == 2)


async def test_the_answer_is_given_in_words(compared: Compared, until: Until) -> None:
    page = compared.page
    await until(lambda: page.answer.headline.text() == "Too few queries to tell")
    assert page.tabs.current() == ANSWER
    pairs = [
        Pair(f"question {query}", f"text {query} {text}", 0.9 - text / 10, label="1" if text == 2 else odd)
        for query, odd in enumerate([*"0000000", "0.5"])
        for text in range(4)
    ]
    better = [replace(pair, outcome=0.95 if pair.label == "1" else pair.outcome) for pair in pairs]
    jobs = [finished(compared.program, "Before", pairs), finished(compared.program, "After", better)]
    page.compare(jobs)
    await until(lambda: page.header.facts().startswith("A: Before"))
    await until(lambda: page.answer.headline.text() == "B is better")
    answer = page.answer.sentence.text()
    assert answer.startswith("B is better for 8 queries, worse for 0, the same for 0. nDCG@3 changes by +0.500;")
    assert "with 95 % certainty by something between +0.500 and +0.500" in answer
    assert [page.answer.rows.text(0, column) for column in (1, 2, 3, 5)] == ["0.5000", "1.0000", "+0.5000", "3 → 1"]
    assert page.answer.rows.text(0, 4).startswith("text ")
    pick(page.answer.measures, "RR")
    await until(lambda: "RR changes by +0.667" in page.answer.sentence.text())
    pick(page.answer.measures, "Success@3")
    await until(lambda: page.answer.headline.text() == "No query differs")
    assert page.answer.sentence.text() == "All 8 judged queries have the same Success@3 under both."
    assert not page.answer.chart.isVisible()
    unusable = "Job A: 3 labels are no whole numbers and are left out, such as “0.5” in row 30."
    assert unusable in page.job_lines.judged.text()


async def test_the_queries_are_read_by_keys_and_saved_all_or_selected(
    compared: Compared, until: Until, tmp_path: Path
) -> None:
    queries = compared.page.queries
    assert compared.page.window().focusWidget() is compared.page.answer.table
    compared.page.tabs.choose(QUERIES)
    queries.queries.setFocus()
    assert {queries.queries_model.text(index, 1) for index in range(2)} == {"4", "2"}
    before = queries.texts_model.rowCount()
    QTest.keyClick(queries.queries, Qt.Key.Key_Down)
    await until(lambda: queries.texts_model.rowCount() == 6 - before)
    first = queries.texts_model.row(0)
    assert queries.panel.text() == first.text.text
    assert queries.panel.heading() == f"Rank {first.rank_text} in A, {first.other_rank_text} in B"

    page = compared.page
    page.save_button.menu().aboutToShow.emit()
    assert len(page.save_button.menu().actions()) == 2, "one query is the chosen one"
    page.queries.queries.selectAll()
    page.save_button.menu().aboutToShow.emit()
    assert [action.text() for action in page.save_button.menu().actions()[2:]] == [
        "These 2 queries, a row for each text…",
        "These 2 queries, a row for each query…",
    ]
    page.queries.queries.selectRow(0)
    (chosen,) = page.queries.selected()
    found, path = page.compared, tmp_path / "written.csv"
    assert found is not None
    for by_query, only, rows in ((True, None, 2), (False, None, 6), (True, (chosen,), 1), (False, (chosen,), 4)):
        await page.write(path, by_query=by_query, only=only)
        with path.open(encoding="utf-8-sig", newline="") as file:
            written = list(csv.DictReader(file))
        assert len(written) == rows
        assert only is None or {row["query"] for row in written} == {found.comparison.queries[chosen].text}
    assert compared.notices.texts()[-1] == "Wrote 4 rows to “written.csv”."


async def test_without_one_of_its_jobs_there_is_no_comparison(compared: Compared) -> None:
    page, program = compared.page, compared.program
    program.drafts.delete(compared.first.id)
    page.show_jobs(program.ledger.jobs())
    assert sentence(page) == "Jobs of this comparison were deleted. Choose others to compare."
    assert page.choose_button.isEnabled()
    assert not page.save_button.isEnabled()
    program.drafts.delete(compared.second.id)
    page.show_jobs(program.ledger.jobs())
    assert not page.choose_button.isEnabled()
    assert not page.back_button.isEnabled()


async def test_jobs_to_compare_are_offered_the_nearest_first(compared: Compared, until: Until) -> None:
    first, second, drafts = compared.first, compared.second, compared.program.drafts
    vectors, lone = finished(compared.program, "Vectors", LONE, Kind.EMBED), finished(compared.program, "Lone", LONE)
    draft = drafts.create(Kind.RANK, "Draft", first.model, first.connection)
    jobs = [lone, second, first, draft, vectors]
    running = replace(lone, id="running", batches=(replace(lone.batches[0], state=BatchState.RUNNING),))
    assert [job.name for job in candidates(first, [*jobs, running])] == ["Second", "Lone"]
    dialog = ChooseJobsDialog(first, jobs)
    assert [job.name for job in dialog.chosen()] == ["Second"]
    assert dialog.compare_button.isEnabled()
    QTest.keyClicks(dialog.find_field, "lone")
    assert [job.name for job in dialog.chosen()] == ["Lone"]
    QTest.keyClicks(dialog.find_field, " wolf")
    assert dialog.chosen() == ()

    dialog = ChooseJobsDialog(compared.first, [compared.first])
    assert dialog.chosen() == ()

    other = finished(compared.program, "Third", LONE)
    compared.page.compare([compared.first, other])
    await until(lambda: "no query with a text in common" in sentence(compared.page))


LABELLED = [
    Pair(f"question {query}", f"text {query}.{text}", 0.9 - text / 10, label="2" if text == query % 3 else "0")
    for query in range(6)
    for text in range(4)
]
PLAIN = [Pair(pair.query, pair.text, pair.outcome) for pair in LABELLED]


@dataclass
class Shown:
    program: Program
    view: QualityView
    until: Until

    async def show(self, pairs: list[Pair], name: str = "Help centre") -> str:
        job = finished(self.program, name, pairs)
        self.view.show_job(job)
        await self.until(lambda: not self.view.tasks.running())
        return job.id


@pytest.fixture
async def shown(tmp_path: Path, until: Until) -> AsyncIterator[Shown]:
    async with shown_page(tmp_path, QualityView) as (program, view):
        yield Shown(program, view, until)


async def test_figures_and_queries_the_worst_first_whose_texts_can_be_exported(shown: Shown) -> None:
    await shown.show(LABELLED)
    view = shown.view
    assert view.mean.number() == "0.7103"  # (1 + 0.6309 + 0.5) / 3
    assert view.mean.caption().startswith("nDCG@10, mean of 6 queries · 95 % between 0.")
    assert (view.judged.number(), view.judged.caption().splitlines()[1]) == ("100 %", "All of them are judged.")
    assert (view.first.number(), view.first.caption().splitlines()[1]) == ("2.0", "at rank 1 for 2 of 6 queries.")
    assert not view.judge_link.isVisible()
    rows = [[view.rows.text(row, column) for column in range(5)] for row in range(6)]
    assert rows[0] == ["question 2", "0.5000", "4 of 4", "text 2.2", "rank 3"]
    assert rows[5][1] == "1.0000"
    QTest.mouseClick(view.more_link, Qt.MouseButton.LeftButton)
    texts = view.measures.texts()
    assert [texts[at + 1] for at in range(0, len(texts), 3) if texts[at] in ("RR", "Success@10", "Judged@10")] == [
        *("0.6111", "1.0000", "100 %")
    ]

    view.table.selectRow(0)
    worst = view.rows.row(0).number
    assert view.row_choices() == (RowChoice("this query", frozenset(range(4 * worst - 3, 4 * worst + 1))),)
    view.table.selectAll()
    assert view.row_choices() == (RowChoice("selected queries", frozenset(range(1, 25))),)


async def test_judgements_made_since_are_shown_at_the_next_look(shown: Shown) -> None:
    job_id = await shown.show(PLAIN)
    book = shown.program.judgements.book_or_new("Support, 2026")
    await shown.program.keep_settings(judgement_book=book.name)
    book.add(
        [
            Judgement(Subject("", "question 1"), Subject("", "text 1.1"), 1, "me", Source.PERSON, 1.0),
            Judgement(Subject("", "question 1"), Subject("", "text 1.0"), 0, "me", Source.PERSON, 1.0),
            Judgement(Subject("", "question 1"), Subject("", "text 1.0"), 0, "you", Source.PERSON, 1.0),
            Judgement(Subject("", "question 1"), Subject("", "text 1.1"), 1, "you", Source.PERSON, 1.0),
        ]
    )
    shown.view.show_job(shown.program.ledger.job(job_id))
    await shown.until(lambda: shown.view.rows.rowCount() == 1)
    assert shown.view.mean.caption().startswith("nDCG@10, 1 query")
    assert shown.view.judged.number() == "50 %"
    assert "not to be relied upon" in shown.view.judged.caption()
    assert shown.view.judge_link.isVisible()
    assert "By the book “Support, 2026”" in shown.view.foot.text()
    assert "Several judged: the same grade for 2 of 2 texts (100%)" in shown.view.foot.text()


async def test_words_are_offered_as_grades_and_the_choice_can_be_taken_back(shown: Shown) -> None:
    words = {"2": "yes", "0": "no"}
    await shown.show([Pair(pair.query, pair.text, pair.outcome, label=words[pair.label]) for pair in LABELLED])
    bar = shown.view.partial_bar
    assert bar.text() == "24 labels are no whole numbers and are left out, such as “yes” in row 2."
    assert shown.view.content.empty.isVisible()
    (offer,) = bar.links()
    assert offer.text() == "Use as grades: no = 0, yes = 1"
    QTest.mouseClick(offer, Qt.MouseButton.LeftButton)
    await shown.until(lambda: shown.view.rows.rowCount() == 6)
    assert shown.view.mean.number() == "0.7103"
    (back,) = bar.links()
    QTest.mouseClick(back, Qt.MouseButton.LeftButton)
    await shown.until(shown.view.content.empty.isVisible)


QUERY_COUNT, TEXT_COUNT = 3, 5


def words(page: JudgePage) -> list[str]:
    """The query, its text, and the progress."""
    view = page.view
    return [view._query.text(), view._text.toPlainText(), view._count.text(), view._left.text()]


@dataclass
class Judging:
    program: Program
    page: JudgePage
    jobs: tuple[Job, Job]
    until: Until

    async def begin(self) -> Session:
        self.page.judge(self.jobs)
        await self.until(self.page.begin_button.isVisible)
        await self.until(self.page.begin_button.isEnabled)
        QTest.keyClick(self.page.begin_button, Qt.Key.Key_Return)
        await self.until(lambda: self.page.session is not None and self.page.view.isVisible())
        session = self.page.session
        assert session is not None
        return session

    async def press(self, key: Qt.Key | str) -> None:
        """Press a key and wait until its answer is written and the next text is there."""
        if isinstance(key, str):
            QTest.keyClicks(self.page.view, key)
        else:
            QTest.keyClick(self.page.view, key)
        await self.until(lambda: not self.page.tasks.running())

    def grades(self) -> dict[str, int]:
        """What another program would read in the book now."""
        book = self.program.judgements.find()
        assert book is not None
        with closing(Book(book.path, read_only=True)) as read:
            return {each.document.text: each.grade or 0 for each in read.verdicts()}


@pytest.fixture
async def judging(tmp_path: Path, until: Until) -> AsyncIterator[Judging]:
    pairs = [
        Pair(f"question {query}", f"answer {query}.{text}", 0.9 - text / 20) for query in range(QUERY_COUNT)
        for text in range(TEXT_COUNT)
    ]  # fmt: skip
    turned = [replace(pair, outcome=1 - float(pair.outcome)) for pair in pairs]
    async with shown_page(tmp_path, JudgePage) as (program, page):
        jobs = finished(program, "Long titles", pairs), finished(program, "Short titles", turned)
        yield Judging(program, page, jobs, until)


async def test_ctrl_z_takes_the_last_judgement_back_while_its_page_is_shown(judging: Judging) -> None:
    session = await judging.begin()
    undos = judging.page._notices.undos
    assert undos.latest() is None, "nothing is judged yet"
    await judging.press("2")
    await judging.press("1")
    judging.page.hide()
    assert undos.latest() is None
    judging.page.show()
    for left in (1, 0):
        latest = undos.latest()
        assert latest is not None and latest.words == "Undo the last judgement"
        undos.undo()
        await judging.until(lambda left=left: session.position == left and not judging.page.tasks.running())
    assert undos.latest() is None and judging.grades() == {}


async def test_digits_grade_other_keys_do_nothing_and_backspace_undoes(judging: Judging) -> None:
    session = await judging.begin()
    for key in ("4", "9", "x"):
        await judging.press(key)
    QTest.keyClick(judging.page.view, Qt.Key.Key_1, Qt.KeyboardModifier.ControlModifier)
    assert session.position == 0
    assert judging.grades() == {}

    shown = " ".join(words(judging.page))
    assert not any(job.name in shown for job in judging.jobs)
    assert "0." not in shown.replace(words(judging.page)[1], "")

    page = judging.page
    first = words(page)[:2]
    await judging.press("2")
    assert judging.grades() == {first[1]: 2}
    assert words(page)[2] == f"1 of {len(session)}"
    second = words(page)[1]
    await judging.press(Qt.Key.Key_Space)
    await judging.press("0")
    assert len(judging.grades()) == 2
    assert second not in judging.grades()
    await judging.press(Qt.Key.Key_Backspace)
    await judging.press(Qt.Key.Key_Backspace)
    assert words(page)[1] == second
    await judging.press(Qt.Key.Key_Backspace)
    assert words(page)[:2] == first
    chosen = [card.grade.value for card in page.view.cards if card.property("selected") == "true"]
    assert chosen == [2], "what was given before"
    assert judging.grades() == {}
    await judging.press(Qt.Key.Key_Backspace)
    assert session.position == 0

    QTest.keyClick(judging.page.view, Qt.Key.Key_N)
    note = judging.page.focusWidget()
    assert note is not None
    QTest.keyClicks(note, "cut off at the 2nd line")
    QTest.keyClick(note, Qt.Key.Key_Return)
    await judging.press("1")
    book = judging.program.judgements.find()
    assert book is not None
    assert "cut off at the 2nd line" in [each.note for each in book.judgements()]


async def test_a_second_judge_settles_what_both_see_differently(judging: Judging) -> None:
    session = await judging.begin()
    while not session.is_done:
        await judging.press("0")
    assert len(judging.grades()) == QUERY_COUNT * TEXT_COUNT
    judging.page.judge(judging.jobs)
    await judging.until(lambda: judging.page.counts.text() == "All of these texts are judged already.")
    assert not judging.page.begin_button.isEnabled()
    judging.page.judge_name.setText("Ada")
    judging.page.judge_name.editingFinished.emit()
    await judging.until(lambda: judging.page.begin_button.isEnabled() and not judging.page.tasks.running())
    QTest.keyClick(judging.page.begin_button, Qt.Key.Key_Return)
    await judging.until(lambda: judging.page.session not in (None, session))
    second = judging.page.session
    assert second is not None
    assert len(second) == round(QUERY_COUNT * TEXT_COUNT * 0.2)
    while not second.is_done:
        await judging.press("3")
    await judging.until(lambda: "With other judges: the same grade for 0 of 3 texts" in judging.page.end.sentence())
    judging.page.judge(judging.jobs)
    await judging.until(judging.page.settle_button.isVisible)
    await judging.until(lambda: not judging.page.tasks.running())
    assert judging.page.settle_button.text() == f"Settle {len(second)} disagreements"
    QTest.keyClick(judging.page.settle_button, Qt.Key.Key_Return)
    await judging.until(judging.page.view.isVisible)
    last = judging.page.session
    assert last is not None
    while not last.is_done:
        await judging.press("2")
    assert sorted(judging.grades().values()) == [0] * (QUERY_COUNT * TEXT_COUNT - len(last)) + [2] * len(last)


async def test_a_file_goes_into_the_book_and_out_of_it(judging: Judging, tmp_path: Path) -> None:
    page = judging.page
    page.judge(judging.jobs)
    await judging.until(page.begin_button.isVisible)
    file = tmp_path / "rated.csv"
    file.write_text("query,text,grade\nquestion 1,answer 1.3,2\nquestion 1,another text,1\n", "utf-8")
    await page.take_in(file)
    await judging.until(lambda: page.counts.text().endswith("Judged already: 1."))
    assert judging.grades() == {"answer 1.3": 2, "another text": 1}
    await page.write_file(tmp_path / "out.csv", Form.CSV)
    assert "question 1,answer 1.3,2,rated.csv" in (tmp_path / "out.csv").read_text("utf-8-sig")
    file.write_text("query,text,grade\nquestion 2,answer 2.3,perhaps\n", "utf-8")
    with pytest.raises(InputError, match="Nothing was imported"):
        await page.take_in(file)
    assert len(judging.grades()) == 2


CONTROL = Qt.KeyboardModifier.ControlModifier


async def test_is_b_better_than_a(tmp_path: Path, theme: Theme) -> None:
    async with opened(tmp_path / "data", theme) as stage:
        person, window = stage.person, stage.workspace.window
        worst_first = [replace(pair, outcome=0.9 - pair.outcome) for pair in PLAIN]  # type: ignore[operator]
        finished(stage.program, "Upside down", worst_first)
        first = finished(stage.program, "As it was", PLAIN)
        stage.workspace.show_jobs()
        await person.click_row("Jobs", "As it was")
        await person.until_sees("Compare", "Export…")
        await person.press(Qt.Key.Key_C, CONTROL | Qt.KeyboardModifier.ShiftModifier)
        await person.until_sees("Compare “As it was” with")
        await person.press(Qt.Key.Key_Return)
        await person.until_sees("A: As it was · B: Upside down")
        await person.until(lambda: not window.findChildren(ChooseJobsDialog))
        await person.press(Qt.Key.Key_J, CONTROL)
        await person.until_sees("Start judging", f"Texts to judge: {len(PLAIN)}")
        await person.press(Qt.Key.Key_Return)
        page = stage.workspace.evaluating.judging
        await person.until(lambda: page.session is not None and page.view.isVisible())
        session = page.session
        assert session is not None
        while session.current is not None:
            assert "As it was" not in " ".join(words(page))
            await person.press(Qt.Key.Key_2 if session.current.document.text.endswith(".0") else Qt.Key.Key_0)
            await person.until(lambda: not page.tasks.running())
        await person.until_sees(f"All {len(PLAIN)} texts are judged. Texts that came twice: the same grade for")
        await person.press(Qt.Key.Key_Return)
        await person.until_sees("B is worse", "B is better for 0 queries, worse for 6, the same for 0.")
        await person.until_sees("By the book “My judgements”")
        await person.click("Back to the job")
        await person.until(lambda: window.library.opened_job() == first.id)
        assert QApplication.focusWidget() is not None
        stage.workspace.job_page.tabs.choose("quality")
        await person.until_sees("nDCG@10, mean of 6 queries", "1.0000", "All of them are judged.")
