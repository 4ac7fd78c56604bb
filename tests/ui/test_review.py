"""Reviewing the doubtful rows of matches by keys, in the whole window: what was decided is there after a new start."""

import random
from pathlib import Path

from PySide6.QtCore import QEvent, QPointF, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from cfbatch_gui.core.judgements.review import NONE, Review
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.results.matches import Matches, MatchState, read_matches
from cfbatch_gui.ui.evaluation.review_page import ReviewPage
from cfbatch_gui.ui.evaluation.screening_page import ScreeningPage
from cfbatch_gui.ui.theme import Theme
from tests.screen.stage import Stage, opened
from tests.support.lists import numbered_lists, two_lists
from tests.ui.connections import click, until

ROWS = 310  # of which ten have one text


def matches_of(program: Program, job_id: str) -> Matches:
    job = program.ledger.job(job_id)
    return read_matches(program.folder(job_id), job, program.decisions_of(job).find)


async def begin(stage: Stage, job_id: str) -> tuple[ReviewPage, Review]:
    stage.workspace.review(job_id)
    page = stage.workspace.review_page
    await until(lambda: page.session is not None and not page.tasks.running())
    assert page.session is not None
    return page, page.session


async def press(page: ReviewPage | ScreeningPage, key: Qt.Key) -> None:
    """Wherever the focus is, until the next row is there."""
    QTest.keyClick(page.window().focusWidget(), key)
    await until(lambda: not page.tasks.running())


async def test_300_rows_are_reviewed_by_keys_alone(tmp_path: Path, theme: Theme) -> None:
    rng, wanted = random.Random(1), dict[int, int]()
    async with opened(tmp_path / "data", theme) as stage:
        job = await two_lists(stage.program, tmp_path, *numbered_lists(ROWS), threshold=-1.0)
        stage.workspace.open_job(job.id)
        page, session = await begin(stage, job.id)
        assert session.total == ROWS
        for key in (Qt.Key.Key_9, Qt.Key.Key_X, Qt.Key.Key_Backspace):
            await press(page, key)
        assert session.done == 0
        while (asked := session.asked) is not None:
            assert page.view.text.text() == asked.row.text
            place = rng.choice((NONE, 0, 0, 0, 1, 2, 3, 4))
            enters = place == 0 and rng.random() < 0.5
            await press(page, Qt.Key.Key_Return if enters else Qt.Key(Qt.Key.Key_0 + place + 1))
            if rng.random() < 0.2:
                await press(page, Qt.Key.Key_Backspace)
                assert session.asked == asked
            else:
                other = NONE if place == NONE else asked.options[place].other
                same = session.matches.keys == session.matches.keys[asked.index]
                wanted |= dict.fromkeys(same.nonzero()[0].tolist(), other)
        assert len(session.given) == ROWS - 9 and session.done == ROWS
        await press(page, Qt.Key.Key_Backspace)
        assert session.asked is not None and page.view.isVisible()
        await press(page, Qt.Key.Key_Return)
        last = session.given[-1].asked
        same = session.matches.keys == session.matches.keys[last.index]
        wanted |= dict.fromkeys(same.nonzero()[0].tolist(), last.options[0].other)
        await press(page, Qt.Key.Key_Return)  # the button at the end
        await until(lambda: stage.workspace.is_shown("job_page"))
        assert stage.workspace.window.library.opened_job() == job.id
    async with opened(tmp_path / "data", theme) as stage:
        found = matches_of(stage.program, job.id)
        assert dict(enumerate(found.chosen.tolist())) == wanted
        counts = found.counts()
        assert counts[MatchState.ACCEPTED] + counts[MatchState.NONE] == ROWS
        page, session = await begin(stage, job.id)
        assert session.asked is None and not page.view.isVisible()


async def test_from_the_matches_and_back_to_them(tmp_path: Path, theme: Theme) -> None:
    async with opened(tmp_path / "data", theme) as stage:
        job = await two_lists(stage.program, tmp_path, *numbered_lists(12), threshold=-1.0)
        stage.workspace.open_job(job.id)
        review_button = stage.workspace.job_page.review_button
        await until(review_button.isVisible)
        click(review_button)
        page = stage.workspace.review_page
        await until(lambda: page.session is not None and not page.tasks.running())
        session = page.session
        assert session is not None and session.asked is not None
        first = session.asked
        for _ in range(2):
            QTest.mouseClick(page.view.cards[2], Qt.MouseButton.LeftButton)
            await until(lambda: session.done == 1 and not page.tasks.running())
            stage.workspace.notices.undos.undo()
            await until(lambda: session.asked == first and not page.tasks.running())
        assert stage.workspace.notices.undos.latest() is None
        card, left = page.view.cards[0], Qt.MouseButton.LeftButton
        QTest.mouseClick(card, left)
        await until(lambda: session.done == 1 and not page.tasks.running())
        where = QPointF(card.rect().center())  # the second press of a double click, when the next row is there
        second = QMouseEvent(QEvent.Type.MouseButtonDblClick, where, where, left, left, Qt.KeyboardModifier.NoModifier)
        QApplication.sendEvent(card, second)
        QTest.mouseRelease(card, left)
        await until(lambda: not page.tasks.running())
        assert session.done == 1
        stage.workspace.notices.undos.undo()
        await until(lambda: session.asked == first and not page.tasks.running())
        QTest.keyClick(page.view, Qt.Key.Key_0)
        QTest.keyClick(page.view, Qt.Key.Key_Escape)  # before the decision is on the disk
        await until(lambda: stage.workspace.is_shown("job_page") and not page.tasks.running())
        view = stage.workspace.job_page.view("matches")
        await until(lambda: view.isVisible() and view.matches.states[first.index] == MatchState.NONE)
        page, session = await begin(stage, job.id)
        assert session.done == 0 and session.asked is not None and session.asked.index != first.index
