"""The page of judging: by keys alone, each answer in the book before the next text."""

from collections.abc import AsyncIterator
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from cfbatch_gui.core.errors import InputError
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.judgements.book import Book
from cfbatch_gui.core.judgements.files import Form
from cfbatch_gui.core.judgements.session import Session
from cfbatch_gui.core.program import Program
from cfbatch_gui.ui.evaluation.judge_page import JudgePage
from tests.core.results.folders import Pair
from tests.ui.conftest import Until, shown_page
from tests.ui.test_comparison import finished

QUERIES, TEXTS = 3, 5


@dataclass
class Judging:
    program: Program
    page: JudgePage
    jobs: tuple[Job, Job]
    until: Until

    async def begin(self) -> Session:
        self.page.judge(self.jobs)
        await self.until(self.page.start.begin_button.isVisible)
        await self.until(self.page.start.begin_button.isEnabled)
        QTest.keyClick(self.page.start.begin_button, Qt.Key.Key_Return)
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
        book = self.program.judgements.book_in_use()
        assert book is not None
        with closing(Book(book.path, read_only=True, clock=lambda: 0.0)) as read:
            return {each.document.text: each.grade or 0 for each in read.verdicts()}


@pytest.fixture
async def judging(tmp_path: Path, until: Until) -> AsyncIterator[Judging]:
    pairs = [
        Pair(f"question {query}", f"answer {query}.{text}", 0.9 - text / 20) for query in range(QUERIES)
        for text in range(TEXTS)
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

    shown = " ".join(judging.page.view.words())
    assert not any(job.name in shown for job in judging.jobs)
    assert "0." not in shown.replace(judging.page.view.words()[1], "")

    page = judging.page
    first = page.view.words()[:2]
    await judging.press("2")
    assert judging.grades() == {first[1]: 2}
    assert page.view.words()[2] == f"1 of {len(session)}"
    second = page.view.words()[1]
    await judging.press(Qt.Key.Key_Space)
    await judging.press("0")
    assert len(judging.grades()) == 2
    assert second not in judging.grades()
    await judging.press(Qt.Key.Key_Backspace)
    await judging.press(Qt.Key.Key_Backspace)
    assert page.view.words()[1] == second
    await judging.press(Qt.Key.Key_Backspace)
    assert page.view.words()[:2] == first
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
    book = judging.program.judgements.book_in_use()
    assert book is not None
    assert "cut off at the 2nd line" in [each.note for each in book.judgements()]


async def test_the_end_says_how_steady_the_judge_was_and_leads_to_the_comparison(judging: Judging) -> None:
    session = await judging.begin()
    done: list[list[str]] = []
    judging.page.done.connect(done.append)
    while not session.is_done:
        await judging.press(str(session.position % 3))
    await judging.until(judging.page.end.button.isVisible)
    await judging.until(lambda: not judging.page.tasks.running())
    assert len(judging.grades()) == QUERIES * TEXTS
    QTest.keyClick(judging.page.end.button, Qt.Key.Key_Return)
    assert done == [[job.id for job in judging.jobs]]
    judging.page.judge(judging.jobs)
    await judging.until(lambda: judging.page.start.counts.text() == "All of these texts are judged already.")
    assert not judging.page.start.begin_button.isEnabled()


async def test_a_second_judge_settles_what_both_see_differently(judging: Judging) -> None:
    session = await judging.begin()
    while not session.is_done:
        await judging.press("0")
    judging.page.start.judge.setText("Ada")
    judging.page.judge(judging.jobs)
    await judging.until(lambda: not judging.page.tasks.running())
    judging.page.start.judge.setText("Ada")
    judging.page.start.judge.editingFinished.emit()
    await judging.until(lambda: judging.page.start.begin_button.isEnabled() and not judging.page.tasks.running())
    QTest.keyClick(judging.page.start.begin_button, Qt.Key.Key_Return)
    await judging.until(lambda: judging.page.session not in (None, session))
    second = judging.page.session
    assert second is not None
    assert len(second) == round(QUERIES * TEXTS * 0.2)
    while not second.is_done:
        await judging.press("3")
    await judging.until(lambda: "With other judges: the same grade for 0 of 3 texts" in judging.page.end.sentence())
    judging.page.judge(judging.jobs)
    await judging.until(judging.page.start.settle_button.isVisible)
    await judging.until(lambda: not judging.page.tasks.running())
    assert judging.page.start.settle_button.text() == f"Settle {len(second)} disagreements"
    QTest.keyClick(judging.page.start.settle_button, Qt.Key.Key_Return)
    await judging.until(judging.page.view.isVisible)
    last = judging.page.session
    assert last is not None
    while not last.is_done:
        await judging.press("2")
    assert sorted(judging.grades().values()) == [0] * (QUERIES * TEXTS - len(last)) + [2] * len(last)


async def test_a_file_goes_into_the_book_and_out_of_it(judging: Judging, tmp_path: Path) -> None:
    page = judging.page
    page.judge(judging.jobs)
    await judging.until(page.start.begin_button.isVisible)
    file = tmp_path / "rated.csv"
    file.write_text("query,text,grade\nquestion 1,answer 1.3,2\nquestion 1,another text,1\n", "utf-8")
    await page.take_in(file)
    await judging.until(lambda: page.start.counts.text().endswith("1 are judged already."))
    assert judging.grades() == {"answer 1.3": 2, "another text": 1}
    await page.write_file(tmp_path / "out.csv", Form.CSV)
    assert "question 1,answer 1.3,2,rated.csv" in (tmp_path / "out.csv").read_text("utf-8-sig")
    file.write_text("query,text,grade\nquestion 2,answer 2.3,perhaps\n", "utf-8")
    with pytest.raises(InputError, match="Nothing was imported"):
        await page.take_in(file)
    assert len(judging.grades()) == 2
