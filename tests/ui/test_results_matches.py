"""Matches in a real window: counts that add up and filter, a threshold by keyboard, decisions by key, related rows."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest

from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.states import Job, Purpose
from cfbatch_gui.core.results.matches import UNMATCHED, Decision, MatchState
from cfbatch_gui.ui.jobs.job_page import MATCHES
from cfbatch_gui.ui.results.matches_view import MatchesView
from cfbatch_gui.ui.tasks import close_all
from cfbatch_gui.ui.widgets.marks import differing_marks
from tests.support.lists import two_lists
from tests.ui.connections import drag, pick, until
from tests.ui.job_page_driver import JobPageDriver, open_job_page

THINGS = ("Stock pot", "Frying pan", "Tea kettle", "Bread bin", "Garlic press", "Box grater", "Pepper mill")
A = "article,name,size\n" + "".join(f"4{at},{THINGS[at % 7]} of steel,{at // 7 + 8} l\n" for at in range(28))
A += "50,Gift voucher,\n51,FRYING PAN of zinc,\n"
B = "sku;title;group\n" + "".join(f"K{at};{THINGS[at % 7]}, steel, {at // 7 * 2 + 8} l;g{at % 3}\n" for at in range(21))
B += "K99;frying pan of zinc;g1\n"


@pytest.fixture
async def driver(tmp_path: Path) -> AsyncIterator[JobPageDriver]:
    async with open_job_page(tmp_path) as driver:
        yield driver
        await close_all(driver.page)


async def matched(driver: JobPageDriver, folder: Path) -> Job:
    return await two_lists(driver.program, folder, A, B, texts=[2])


async def opened(driver: JobPageDriver, job: Job) -> MatchesView:
    await driver.show(job)
    driver.page.tabs.choose(MATCHES)
    view: MatchesView = driver.page.view(MATCHES)
    await at_rest(view)
    assert view.matches is not None
    return view


async def at_rest(view: MatchesView) -> None:
    await until(lambda: view.matches is not None and not view.tasks.running())


def counts(view: MatchesView) -> list[int]:
    return [int(card.accessibleDescription()) for card in view.card.counts.values()]


def shown(view: MatchesView) -> list[int]:
    return [view.rows.row(at).at for at in range(view.rows.rowCount())]


async def test_counts_add_up_and_filter_and_the_threshold_is_moved_by_keys(
    driver: JobPageDriver, tmp_path: Path
) -> None:
    job = await matched(driver, tmp_path)
    view = await opened(driver, job)
    read: Any = view.matches
    total, *parts = counts(view)
    assert total == len(read.items_a) == sum(parts) == view.rows.rowCount()
    assert view.rows.text(1, 1) == read.rows_a([1])[0].text
    for (states, card), count in zip(list(view.card.counts.items())[1:], parts, strict=True):
        card.click()
        assert view.rows.rowCount() == count
        assert all(read.states[row] in states for row in shown(view))
    view.card.pick(tuple(MatchState))

    view.card.slider.setFocus()
    QTest.keyClick(view.card.slider, Qt.Key.Key_PageDown)
    moved = view.card.slider.value() / 100
    assert view.card.field.value() == moved == pytest.approx(read.threshold - 0.05, abs=0.006)
    await at_rest(view)
    assert driver.program.ledger.job(job.id).options.matching.threshold == moved
    assert sum(counts(view)[1:]) == total and counts(view)[3] <= parts[2]
    QTest.keyClick(driver.window, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    await until(lambda: driver.program.ledger.job(job.id).options.matching.threshold is None)
    assert counts(view) == [total, *parts] and not view.card.propose_link.isVisible()

    drag(view.card.slider, QPoint(view.card.slider.width() // 2, 60), QPoint(view.card.slider.width() - 2, 60))
    await at_rest(view)
    assert driver.program.ledger.job(job.id).options.matching.threshold == 1.0
    assert counts(view)[3] == sum(read.with_threshold(1.0).counts()[state] for state in UNMATCHED)
    view.card.propose_link.click()
    await at_rest(view)
    assert driver.program.ledger.job(job.id).options.matching.threshold is None

    QTest.keyClicks(view.find_field, "zinc")
    await until(lambda: shown(view) == [29])
    view.find_field.clear()
    await until(lambda: view.rows.rowCount() == total)
    pick(view.order, "score")
    scores = read.scores[shown(view)].tolist()
    assert scores == sorted(scores, reverse=True)


async def test_a_row_is_decided_by_key_which_is_undone_and_stays(driver: JobPageDriver, tmp_path: Path) -> None:
    job = await matched(driver, tmp_path)
    view = await opened(driver, job)
    (to_check, *_), decisions = view.now.to_review().tolist(), driver.program.decisions_of(job)
    assert driver.page.review_button.isVisible() and str(counts(view)[2]) in driver.page.review_button.text()
    view.table.selectRow(to_check)
    (a,) = view.now.rows_a([to_check])
    second = view.panel.candidates[1][0]
    view.card.field.setFocus()
    QTest.keyClick(view.card.field, Qt.Key.Key_Return)  # where it means something else
    await at_rest(view)
    assert view.now.states[to_check] == MatchState.CHECK
    view.table.setFocus()
    QTest.keyClick(view.table, Qt.Key.Key_2)
    await at_rest(view)
    assert decisions.find(a.text) == Decision(view.now.rows_b([second])[0].text, accepted=True)
    assert (
        view.now.states[to_check] == MatchState.ACCEPTED and view.rows.row(to_check).b == view.now.rows_b([second])[0]
    )
    QTest.keyClick(driver.window, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    await until(lambda: decisions.find(a.text) is None)
    await at_rest(view)
    assert view.now.states[to_check] == MatchState.CHECK
    QTest.keyClick(view.table, Qt.Key.Key_0)
    await at_rest(view)
    assert view.now.states[to_check] == MatchState.NONE
    QTest.keyClick(view.table, Qt.Key.Key_Return)
    await at_rest(view)
    assert view.now.states[to_check] == MatchState.ACCEPTED and not view.panel.back_link.isHidden()
    assert sum(counts(view)[1:]) == counts(view)[0]

    view.read_again()
    await at_rest(view)
    assert view.now.states[to_check] == MatchState.ACCEPTED
    view.panel.back_link.click()
    await at_rest(view)
    assert decisions.find(a.text) is None
    decisions.decide(a.text, Decision(view.now.rows_b([second])[0].text, accepted=True))
    await driver.show(job)
    await until(lambda: view.now.chosen[to_check] == second)  # decided elsewhere, as on the page of the review


async def test_related_rows_have_no_decisions_and_removed_texts_are_not_the_same(
    driver: JobPageDriver, tmp_path: Path
) -> None:
    job = await driver.finished(A, Kind.EMBED)
    view = await opened(driver, driver.program.drafts.use_for(job.id, purpose=Purpose.MATCH))
    assert view.now.is_related and view.panel.accept_button.isHidden() and driver.page.review_button.isHidden()
    total, matches, to_check, without = counts(view)
    assert (to_check, matches + without) == (0, total) and total == view.rows.rowCount()
    assert view.rows.row(0).b not in (None, view.rows.row(0).a)

    job = await matched(driver, tmp_path)
    await driver.program.actions.forget_texts(job.id)
    view = await opened(driver, driver.program.ledger.job(job.id))
    assert view.panel.accept_button.isHidden()
    assert not (view.now.states == MatchState.SAME).any()
    assert sum(counts(view)[1:]) == view.rows.rowCount() == counts(view)[0]


def test_numbers_are_marked_on_either_side_of_a_cut() -> None:
    text, like = "Pot 8.5 l, of the best steel, 24 cm", "Pot 8 l, of the best steel, 28 cm"
    for shown_text in (text, "Pot 8.5 l, o…l, 24 cm"):
        marks = differing_marks(shown_text, text, like)
        assert [shown_text[start : start + length] for start, length, _ in marks] == ["8.5 l", "24 cm"]
    assert differing_marks("Pot 8.…4 cm", text, like) == []
