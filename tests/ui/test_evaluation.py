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
from cfbatch_gui.core.judgements.book import Shelf
from cfbatch_gui.core.judgements.files import Form
from cfbatch_gui.core.judgements.session import Session
from cfbatch_gui.core.judgements.values import Judgement, Source, Subject
from cfbatch_gui.core.program import Program
from cfbatch_gui.ui.evaluation.comparison_page import (
    ANSWER,
    MEASURES,
    QUERIES,
    SCORES,
    ChooseJobsDialog,
    ComparisonPage,
)
from cfbatch_gui.ui.evaluation.judge_page import JudgePage
from cfbatch_gui.ui.notices import Notices
from cfbatch_gui.ui.plots import Dots
from cfbatch_gui.ui.results.quality_view import QualityView
from cfbatch_gui.ui.theme import Theme
from cfbatch_gui.ui.widgets import EmptyPlace
from tests.core.results.folders import WAITING, Pair, Table
from tests.screen.stage import opened
from tests.ui.connections import pick, shown_page, until

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


def instead(page: ComparisonPage) -> EmptyPlace | None:
    """What stands instead of a comparison."""
    return next((each for each in page.findChildren(EmptyPlace) if each.isVisible()), None)


@pytest.fixture
async def compared(tmp_path: Path) -> AsyncIterator[Compared]:
    async with shown_page(tmp_path, ComparisonPage) as (program, page):
        first, second = finished(program, "First", FIRST), finished(program, "Second", OTHER)
        page.compare([second, first])
        await until(lambda: page.queries.texts_model.rowCount() > 0 and not page.tasks.running())
        yield Compared(program, page.notices, page, first, second)


async def test_jobs_are_matched_the_newer_one_is_b_and_all_measures_are_shown(compared: Compared) -> None:
    page = compared.page
    facts = page.header.facts()
    assert facts.index("A: First") < facts.index("B: Second")
    assert page.queries.queries_model.rowCount() == 2
    assert not page.partial_bar.isVisible() and not page.others.isVisible()  # there is only one
    page.tabs.choose(MEASURES)
    assert "66" not in page.measures.jobs.texts() and page.measures.jobs.texts()[1] == "First"
    assert {"nDCG@10", "Recall@10", "RBO", "bpref"} <= set(page.measures.grid.texts())
    pick(page.tops, 20)
    await until(lambda: "nDCG@20" in page.measures.grid.texts() and not page.tasks.running())
    page.tabs.choose(SCORES)
    (dots,) = [layer for layer in page.scores.chart.layers if isinstance(layer, Dots)]
    assert len(dots.x) == 6 and " · " in dots.describe(5)
    page.scores.chart.picked.emit(5)
    assert page.tabs.current() == QUERIES
    await until(lambda: page.queries.texts_model.rowCount() == 2)


async def test_the_answer_by_one_measure_and_another(compared: Compared) -> None:
    page, answer = compared.page, compared.page.answer
    await until(lambda: answer.found is not None)
    assert page.tabs.current() == ANSWER
    pairs = [
        Pair(f"question {query}", f"text {query} {text}", 0.9 - text / 10, label="1" if text == 2 else "0")
        for query in range(8)
        for text in range(4)
    ]
    better = [replace(pair, outcome=0.95 if pair.label == "1" else pair.outcome) for pair in pairs]
    page.compare([finished(compared.program, "Before", pairs), finished(compared.program, "After", better)])

    def told() -> tuple[int, float]:
        found = answer.found
        return (found.better, round(found.difference, 4)) if found is not None else (0, 0.0)

    await until(lambda: told() == (8, 0.5))
    assert [answer.rows.text(0, column) for column in (1, 2, 3, 5)] == ["0.5000", "1.0000", "+0.5000", "3 → 1"]
    assert answer.chart.isVisible()
    answer.measures.choose("RR")
    await until(lambda: told() == (8, 0.6667))
    answer.measures.choose("Success@10")  # one of those behind "More"
    await until(lambda: told() == (0, 0.0))
    assert not answer.chart.isVisible()


async def test_the_queries_are_read_by_keys_and_saved_all_or_selected(compared: Compared, tmp_path: Path) -> None:
    page, queries = compared.page, compared.page.queries
    assert page.window().focusWidget() is page.answer.table
    page.tabs.choose(QUERIES)
    queries.queries.setFocus()
    before = queries.texts_model.rowCount()
    QTest.keyClick(queries.queries, Qt.Key.Key_Down)
    await until(lambda: queries.texts_model.rowCount() == 6 - before)
    first = queries.texts_model.row(0)
    assert queries.panel.text() == first.text.text
    assert all(rank in queries.panel.heading() for rank in first.rank_texts)

    entries = page.save_button.menu().actions
    page.save_button.menu().aboutToShow.emit()
    assert len(entries()) == 2
    queries.queries.selectAll()
    page.save_button.menu().aboutToShow.emit()
    assert len(entries()) == 4
    queries.queries.selectRow(0)
    (chosen,) = queries.selected()
    found, path = page.compared, tmp_path / "written.csv"
    assert found is not None
    for by_query, only, rows in ((True, None, 2), (False, None, 6), (True, (chosen,), 1), (False, (chosen,), 4)):
        await page.write(path, by_query=by_query, only=only)
        with path.open(encoding="utf-8-sig", newline="") as file:
            written = list(csv.DictReader(file))
        assert len(written) == rows
        assert only is None or {row["query"] for row in written} == {found.comparison.queries[chosen].text}


async def test_without_one_of_its_jobs_there_is_no_comparison(compared: Compared) -> None:
    page, program = compared.page, compared.program
    for job, may_choose in ((compared.first, True), (compared.second, False)):
        program.drafts.delete(job.id)
        page.show_jobs(program.ledger.jobs())
        assert instead(page) is not None and not page.save_button.isEnabled()
        assert page.choose_button.isEnabled() is may_choose


async def test_only_jobs_with_something_in_common_are_offered(compared: Compared) -> None:
    program, first = compared.program, compared.first
    finished(program, "Lone", LONE)
    texts = sorted({pair.query for pair in FIRST} | {pair.text for pair in FIRST})
    vectors = finished(program, "Vectors", [Pair("", text, WAITING) for text in texts], Kind.EMBED)
    finished(program, "Lone vectors", LONE, Kind.EMBED)
    program.drafts.create(Kind.RANK, "Draft", first.model, first.connection)
    dialog = ChooseJobsDialog(program, first)
    await until(lambda: not dialog.tasks.running())
    assert {job.name for job in dialog.rows.rows()} == {"Second", "Vectors"}
    QTest.keyClicks(dialog.find_field, "second")
    assert [job.name for job in dialog.chosen()] == ["Second"] and dialog.compare_button.isEnabled()
    QTest.keyClicks(dialog.find_field, " wolf")
    assert dialog.chosen() == () and not dialog.compare_button.isEnabled()
    dialog = ChooseJobsDialog(program, vectors)
    await until(lambda: [job.name for job in dialog.rows.rows()] == ["First"])
    compared.page.compare([first, program.ledger.put(finished(program, "Third", LONE))])
    await until(lambda: (empty := instead(compared.page)) is not None and bool(empty.sentence()))


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

    async def show(self, pairs: list[Pair], name: str = "Help centre") -> str:
        job = finished(self.program, name, pairs)
        self.view.show_job(job)
        await until(lambda: not self.view.tasks.running())
        return job.id


@pytest.fixture
async def shown(tmp_path: Path) -> AsyncIterator[Shown]:
    async with shown_page(tmp_path, QualityView) as (program, view):
        yield Shown(program, view)


async def test_figures_and_queries_the_worst_first_whose_texts_can_be_exported(shown: Shown) -> None:
    await shown.show(LABELLED)
    view = shown.view
    cards = (view.mean, view.judged, view.first)
    assert [card.figure.text() for card in cards] == ["0.7103", "100%", "2.0"]  # (1 + 0.6309 + 0.5) / 3
    assert len({card.height() for card in cards}) == 1
    assert view.mean.beside.text() and not view.judge_link.isVisible()
    rows = [[view.rows.text(row, column) for column in range(5)] for row in range(6)]
    assert rows[0] == ["question 2", "0.5000", "4 of 4", "text 2.2", "3"]
    assert rows[5][1] == "1.0000"
    assert not view.measures.isVisible()
    QTest.mouseClick(view.more_link, Qt.MouseButton.LeftButton)
    texts = view.measures.texts()
    assert [texts[at + 1] for at in range(0, len(texts), 3) if texts[at] in ("RR", "Success@10", "Judged@10")] == [
        *("0.6111", "1.0000", "100%")
    ]

    view.table.selectRow(0)
    worst = view.rows.row(0).number
    (choice,) = view.row_choices()
    assert choice.items == frozenset(range(4 * worst - 3, 4 * worst + 1))
    view.table.selectAll()
    (choice,) = view.row_choices()
    assert choice.items == frozenset(range(1, 25))


async def test_judgements_made_since_are_shown_at_the_next_look(shown: Shown) -> None:
    job_id = await shown.show(PLAIN)
    book = shown.program.judgements.book_or_new("Support, 2026")
    await shown.program.keep_settings(judgement_book=book.name)
    query = Subject("", "question 1")
    book.add(
        [
            Judgement(query, Subject("", f"text 1.{text}"), text, judge, Source.PERSON, 1.0)
            for judge in ("me", "you")
            for text in range(2)
        ]
    )
    shown.view.show_job(shown.program.ledger.job(job_id))
    await until(lambda: shown.view.rows.rowCount() == 1)
    assert shown.view.judged.figure.text() == "50%"
    assert shown.view.judged.beside.text() and shown.view.judge_link.isVisible()
    assert book.name in shown.view.foot.text() and "100%" in shown.view.foot.text()  # they agree
    other = shown.program.judgements.book_or_new("Another")
    shown.view.show_job(shown.program.ledger.job(job_id))
    await until(lambda: not shown.view.tasks.running())
    await shown.program.keep_settings(judgement_book=other.name)
    shown.view.show_job(shown.program.ledger.job(job_id))
    await until(shown.view.is_empty)


async def test_words_are_offered_as_grades_and_the_choice_can_be_taken_back(shown: Shown) -> None:
    words = {"2": "yes", "0": "no"}
    await shown.show([Pair(pair.query, pair.text, pair.outcome, label=words[pair.label]) for pair in LABELLED])
    bar = shown.view.partial_bar
    assert shown.view.is_empty()
    (offer,) = bar.links()
    assert "no = 0, yes = 1" in offer.text()
    QTest.mouseClick(offer, Qt.MouseButton.LeftButton)
    await until(lambda: shown.view.rows.rowCount() == 6)
    assert shown.view.mean.figure.text() == "0.7103"
    (back,) = bar.links()
    QTest.mouseClick(back, Qt.MouseButton.LeftButton)
    await until(shown.view.is_empty)


CONTROL = Qt.KeyboardModifier.ControlModifier
QUERY_COUNT, TEXT_COUNT = 3, 5


def words(page: JudgePage) -> list[str]:
    """The query, its text, and the progress."""
    view = page.view
    return [view.query.text(), view.text.toPlainText(), view.count.text(), view.left.text()]


@dataclass
class Judging:
    program: Program
    page: JudgePage
    jobs: tuple[Job, Job]

    async def begin(self) -> Session:
        self.page.judge(self.jobs)
        await until(self.page.begin_button.isVisible)
        await until(self.page.begin_button.isEnabled)
        QTest.keyClick(self.page.begin_button, Qt.Key.Key_Return)
        await until(lambda: self.page.session is not None and self.page.view.isVisible())
        session = self.page.session
        assert session is not None
        return session

    async def press(self, key: Qt.Key | str) -> None:
        """Press a key and wait until its answer is written and the next text is there."""
        if isinstance(key, str):
            QTest.keyClicks(self.page.view, key)
        else:
            QTest.keyClick(self.page.view, key)
        await until(lambda: not self.page.tasks.running())

    def grades(self) -> dict[str, int]:
        """What another program would read in the book now."""
        with closing(Shelf(self.program.paths.judgements, read_only=True)) as shelf:
            return {each.document.text: each.grade or 0 for each in shelf.book().verdicts()}


@pytest.fixture
async def judging(tmp_path: Path) -> AsyncIterator[Judging]:
    pairs = [
        Pair(f"question {query}", f"answer {query}.{text}", 0.9 - text / 20) for query in range(QUERY_COUNT)
        for text in range(TEXT_COUNT)
    ]  # fmt: skip
    turned = [replace(pair, outcome=1 - float(pair.outcome)) for pair in pairs]
    async with shown_page(tmp_path, JudgePage) as (program, page):
        jobs = finished(program, "Long titles", pairs), finished(program, "Short titles", turned)
        yield Judging(program, page, jobs)


async def test_digits_grade_other_keys_do_nothing_and_each_answer_can_be_taken_back(judging: Judging) -> None:
    session, page = await judging.begin(), judging.page
    undos = page._notices.undos
    for key in ("4", "9", "x"):
        await judging.press(key)
    QTest.keyClick(page.view, Qt.Key.Key_1, CONTROL)
    assert session.position == 0 and judging.grades() == {} and undos.latest() is None
    first = words(page)[:2]
    assert not any(job.name in " ".join(words(page)) for job in judging.jobs)
    await judging.press("2")
    assert judging.grades() == {first[1]: 2} and session.position == 1
    second = words(page)[1]
    await judging.press(Qt.Key.Key_Space)
    await judging.press("0")
    assert len(judging.grades()) == 2 and second not in judging.grades()
    page.hide()
    assert undos.latest() is None
    page.show()
    undos.undo()
    await until(lambda: session.position == 2 and not page.tasks.running())
    await judging.press(Qt.Key.Key_Backspace)
    assert words(page)[1] == second
    await judging.press(Qt.Key.Key_Backspace)
    assert words(page)[:2] == first and judging.grades() == {}
    chosen = [card.grade.value for card in page.view.cards if card.property("selected") == "true"]
    assert chosen == [2], "what was given before"
    await judging.press(Qt.Key.Key_Backspace)
    assert session.position == 0 and undos.latest() is None

    QTest.keyClick(page.view, Qt.Key.Key_N)
    note = page.focusWidget()
    assert note is not None
    QTest.keyClicks(note, "cut off at the 2nd line")
    QTest.keyClick(note, Qt.Key.Key_Return)
    await judging.press("1")
    book = judging.program.judgements.find()
    assert book is not None and "cut off at the 2nd line" in [each.note for each in book.judgements()]


async def test_a_second_judge_sees_a_share_and_settles_what_both_see_differently(judging: Judging) -> None:
    session, page = await judging.begin(), judging.page
    while not session.is_done:
        await judging.press("0")
    page.judge(judging.jobs)
    await until(lambda: not page.tasks.running())
    assert not page.begin_button.isEnabled(), "all of them are judged"
    page.judge_name.setText("Ada")
    page.judge_name.editingFinished.emit()
    await until(lambda: page.begin_button.isEnabled() and not page.tasks.running())
    for button, key in ((page.begin_button, "3"), (page.settle_button, "2")):
        before = page.session
        QTest.keyClick(button, Qt.Key.Key_Return)
        await until(lambda before=before: page.session not in (None, before))
        session = page.session or session
        assert len(session) == round(QUERY_COUNT * TEXT_COUNT * 0.2)
        while not session.is_done:
            await judging.press(key)
        page.judge(judging.jobs)
        await until(lambda: not page.tasks.running())
    assert sorted(judging.grades().values()) == [0] * (QUERY_COUNT * TEXT_COUNT - len(session)) + [2] * len(session)
    assert not page.settle_button.isVisible()


async def test_a_file_goes_into_the_book_and_out_of_it(judging: Judging, tmp_path: Path) -> None:
    page, file = judging.page, tmp_path / "rated.csv"
    page.judge(judging.jobs)
    await until(page.begin_button.isVisible)
    file.write_text("query,text,grade\nquestion 1,answer 1.3,2\nquestion 1,another text,1\n", "utf-8")
    await page.take_in(file)
    assert judging.grades() == {"answer 1.3": 2, "another text": 1}
    await page.write_file(tmp_path / "out.csv", Form.CSV)
    assert "question 1,answer 1.3,2,rated.csv" in (tmp_path / "out.csv").read_text("utf-8-sig")
    file.write_text("query,text,grade\nquestion 2,answer 2.3,perhaps\n", "utf-8")
    with pytest.raises(InputError):
        await page.take_in(file)
    assert len(judging.grades()) == 2


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
        await person.until_row("Jobs to compare with", "Upside down")
        await person.press(Qt.Key.Key_Return)
        await person.until_sees("A: Upside down · B: As it was")
        await person.until(lambda: not window.findChildren(ChooseJobsDialog))
        await person.press(Qt.Key.Key_J, CONTROL)
        await person.until_sees("Start judging", f"Texts to judge: {len(PLAIN)}")
        await person.press(Qt.Key.Key_Return)
        page = stage.workspace.judge_page
        await person.until(lambda: page.session is not None and page.view.isVisible())
        session = page.session
        assert session is not None
        while session.current is not None:
            assert "As it was" not in " ".join(words(page))
            await person.press(Qt.Key.Key_2 if session.current.document.text.endswith(".0") else Qt.Key.Key_0)
            await person.until(lambda: not page.tasks.running())
        await person.until_sees(f"All {len(PLAIN)} texts are judged. Texts that came twice: the same grade for")
        await person.press(Qt.Key.Key_Return)
        answer = stage.workspace.comparison_page.answer
        await person.until(lambda: answer.found is not None and answer.found.is_seen and answer.found.better == 6)
        await person.click_row("Jobs", "As it was")
        await person.until(lambda: window.library.opened_job() == first.id)
        assert QApplication.focusWidget() is not None
        stage.workspace.job_page.tabs.choose("quality")
        await person.until_sees("nDCG@10, mean of 6 queries", "1.0000")
