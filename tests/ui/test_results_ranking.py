"""What a person sees and does in a ranking."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest

from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.states import BatchState
from cfbatch_gui.ui.tables.cells import CELL_MARGIN
from cfbatch_gui.ui.widgets import EmptyPlace, Label
from tests.ui.conftest import Until
from tests.ui.practice_desk import TIED, Desk, open_desk

RANK, SCORE, TEXT, WAS, MOVED = range(5)


@pytest.fixture
async def desk(tmp_path: Path, until: Until) -> AsyncIterator[Desk]:
    async with open_desk(tmp_path) as desk:
        await desk.show(await desk.finished(TIED, Kind.RANK))
        await until(lambda: desk.ranking.contexts_model.rowCount() == 4)
        yield desk


def sentences(desk: Desk) -> list[str]:
    places = [place for place in desk.ranking.findChildren(EmptyPlace) if place.isVisible()]
    return [" ".join(label.text().split()) for place in places for label in place.findChildren(Label)]


def column_of(desk: Desk, column: int) -> list[str]:
    model = desk.ranking.contexts_model
    return [model.text(place, column) for place in range(model.rowCount())]


async def test_ranks_ties_as_ties_with_scores_to_four_decimals(desk: Desk) -> None:
    assert column_of(desk, RANK) == ["1", "2", "3=", "3="]
    scores = [float(score) for score in column_of(desk, SCORE)]
    assert scores == sorted(scores, reverse=True)
    assert all(len(score.split(".")[1]) == 4 for score in column_of(desk, SCORE))
    assert sorted(column_of(desk, WAS)) == ["1", "2", "3", "4"]
    assert set(column_of(desk, MOVED)[2:]) <= {"↓ 1", "–", "↑ 0", "↓ 2"}
    await desk.idle()


async def test_bars_are_on_the_querys_own_scale_and_never_full_or_empty(desk: Desk) -> None:
    shares = [row.share for row in desk.ranking.contexts_model.rows()]
    assert shares[0] == pytest.approx(0.9)
    assert shares[-1] == pytest.approx(0.1)
    await desk.idle()


async def test_nothing_is_cut_off_in_the_smallest_window(desk: Desk) -> None:
    assert desk.ranking.minimumSizeHint().width() <= 700  # what the library leaves of 920
    desk.ranking.resize(700, 400)
    for table in (desk.ranking.queries, desk.ranking.contexts):
        assert table.horizontalScrollBar().maximum() == 0
    await desk.idle()


async def test_the_chosen_text_stands_whole_below_with_id_and_label(desk: Desk) -> None:
    first = desk.ranking.contexts_model.row(0).context
    assert desk.ranking.panel.text() == first.text
    assert desk.ranking.panel.heading() == f"Rank 1, score {first.score:.4f}"
    await desk.idle()


async def test_arrow_keys_walk_through_queries_and_texts(desk: Desk, until: Until) -> None:
    QTest.keyClick(desk.ranking.queries, Qt.Key.Key_Down)
    await until(lambda: desk.ranking.contexts_model.rowCount() == 2)
    QTest.keyClick(desk.ranking.contexts, Qt.Key.Key_Down)
    assert desk.ranking.panel.text() == desk.ranking.contexts_model.row(1).context.text
    QTest.keyClick(desk.ranking.queries, Qt.Key.Key_Up)
    await until(lambda: desk.ranking.contexts_model.rowCount() == 4)
    await desk.idle()


async def test_top_k_keeps_ties_and_counts_what_it_keeps(desk: Desk, until: Until) -> None:
    desk.ranking.limits_bar.set_top(3)
    assert column_of(desk, RANK) == ["1", "2", "3=", "3="]
    await until(lambda: desk.ranking.kept.text() == "keeps 6 of 6")
    desk.ranking.limits_bar.set_top(1)
    assert column_of(desk, RANK) == ["1"]
    await until(lambda: desk.ranking.kept.text() == "keeps 2 of 6")
    assert desk.ranking.kept.toolTip() == "4 contexts are dropped"
    await desk.idle()


async def test_a_threshold_takes_away_what_scores_less(desk: Desk, until: Until) -> None:
    second = column_of(desk, SCORE)[1]
    threshold = f"{float(second) - 0.0001:.4f}".replace(".", ",")  # as it is typed in half of Europe
    QTest.keyClicks(desk.ranking.limits_bar.threshold, threshold)
    assert column_of(desk, RANK) == ["1", "2"]
    await until(lambda: desk.ranking.kept.text().startswith("keeps "))
    desk.ranking.limits_bar.threshold.setText("2")
    assert column_of(desk, RANK) == []
    await until(lambda: desk.ranking.kept.text() == "keeps 0 of 6")
    await desk.idle()


async def test_limits_belong_to_their_job(desk: Desk, until: Until) -> None:
    first = desk.page.job()
    assert first is not None
    desk.ranking.limits_bar.set_top(5)
    await desk.show(await desk.finished(TIED, Kind.RANK, "Another"))
    assert not desk.ranking.limits().are_set
    await desk.show(first)
    assert desk.ranking.limits().top_k == 5
    await until(lambda: desk.ranking.contexts_model.rowCount() == 4)
    await desk.idle()


async def test_find_leaves_the_queries_and_texts_that_have_it(desk: Desk, until: Until) -> None:
    QTest.keyClicks(desk.ranking.find_field, "PACKED")
    await until(lambda: desk.ranking.queries_model.rowCount() == 1)
    await until(lambda: column_of(desk, TEXT) == ["You can cancel an order until it is packed"])
    assert desk.ranking.kept.text() == "1 query"
    QTest.keyClick(desk.ranking.find_field, Qt.Key.Key_Escape)
    await until(lambda: desk.ranking.queries_model.rowCount() == 2)
    await until(lambda: len(column_of(desk, TEXT)) == 2)  # the query that was chosen stays chosen
    await desk.idle()


async def test_where_nothing_is_found_no_empty_panel_stands(desk: Desk, until: Until) -> None:
    QTest.keyClicks(desk.ranking.find_field, "no such thing")
    await until(lambda: desk.ranking.queries_model.rowCount() == 0)
    assert desk.ranking.panel.isHidden()
    QTest.keyClick(desk.ranking.find_field, Qt.Key.Key_Escape)
    await until(lambda: len(column_of(desk, TEXT)) == 4)
    assert not desk.ranking.panel.isHidden()
    await desk.idle()


async def test_in_a_small_window_texts_are_more_than_an_ellipsis(desk: Desk) -> None:
    desk.ranking.resize(desk.ranking.minimumSizeHint().width(), 560)
    QTest.qWait(0)
    assert desk.ranking.contexts.columnWidth(TEXT) >= 100
    assert desk.ranking.queries.columnWidth(0) >= 90
    await desk.idle()


async def test_a_job_that_is_over_without_a_score_does_not_say_wait(desk: Desk, until: Until) -> None:
    again = await desk.finished(TIED, Kind.RANK, "Another")
    with desk.program.folder(again.id).open() as database:
        database.execute("UPDATE items SET score = NULL")
    await desk.show(again)
    sentence = "Everything is back, and nothing has a result. “Export…” can write the rows that failed, and why."
    await until(lambda: sentence in sentences(desk))
    await desk.idle()


async def test_copies_cells_as_a_spreadsheet_takes_them(desk: Desk) -> None:
    desk.ranking.contexts.selectRow(0)
    QTest.keyClick(desk.ranking.contexts, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    cells = QGuiApplication.clipboard().text().split("\t")
    assert cells[:3] == [column_of(desk, column)[0] for column in (RANK, SCORE, TEXT)]
    await desk.idle()


async def test_queries_sort_by_their_margin(desk: Desk) -> None:
    margins = [query.margin or 0.0 for query in desk.ranking.queries_model.rows()]
    desk.ranking.queries.sortByColumn(2, Qt.SortOrder.AscendingOrder)
    assert [desk.ranking.queries_model.row(place).margin for place in range(2)] == sorted(margins)
    await desk.idle()


async def test_what_has_no_score_stands_last_with_its_reason(desk: Desk, until: Until) -> None:
    job = desk.page.job()
    assert job is not None
    with desk.program.folder(job.id).open() as database:
        database.execute("UPDATE items SET score = NULL WHERE query_no = 1 AND position = 1")
        database.execute("UPDATE requests SET state = 'failed', error = 'too long' WHERE request_no = 1")
    failed = [replace(batch, state=BatchState.DONE, failed_requests=1) for batch in job.batches]
    await desk.show(desk.pretend(replace(job, name="again"), [*failed, replace(failed[0], number=2)]))
    await until(lambda: column_of(desk, RANK) == ["1", "2=", "2=", ""])
    assert column_of(desk, SCORE)[-1] == "Failed: too long"
    desk.ranking.contexts.selectRow(3)
    assert desk.ranking.panel.problem() == "Failed: too long"
    await desk.idle()


async def test_practice_scores_are_called_so(desk: Desk) -> None:
    assert "Practice scores" in desk.ranking.foot()
    assert "percentages" in desk.ranking.foot()
    await desk.idle()


async def test_what_is_typed_before_the_ranking_is_read_is_found(tmp_path: Path, until: Until) -> None:
    async with open_desk(tmp_path) as desk:
        job = await desk.finished(TIED, Kind.RANK)
        view = desk.ranking
        view.resize(1_004, 700)
        view.show()
        view.show_job(job)
        assert view.find_field.isVisible()
        QTest.keyClicks(view.find_field, "packed")
        await until(lambda: view.kept.text() == "1 query" and view.queries_model.rowCount() == 1)
        await desk.idle()


async def test_thousands_of_ranks_are_set_apart_and_have_room(tmp_path: Path, until: Until) -> None:
    async with open_desk(tmp_path) as desk:
        texts = "".join(f"which one,text number {number}\n" for number in range(1_200))
        await desk.show(await desk.finished(f"query,context\n{texts}", Kind.RANK))
        await until(lambda: desk.ranking.contexts_model.rowCount() == 1_200)
        table, font = desk.ranking.contexts, desk.ranking.contexts.fontMetrics()
        for column in (RANK, WAS, MOVED):
            longest = max(column_of(desk, column), key=len)
            assert "," in longest
            assert font.horizontalAdvance(longest) + 2 * CELL_MARGIN <= table.columnWidth(column)
        await desk.idle()
