"""Comparing jobs in the window: which ones, what has moved, and the way home."""

import csv
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.states import Batch, BatchState, Job
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
from cfbatch_gui.ui.notices import Notices
from cfbatch_gui.ui.plots import Dots
from cfbatch_gui.ui.widgets import EmptyPlace, Label
from tests.core.results.folders import Pair, Table
from tests.ui.conftest import Until, shown_page

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

    def job(self, name: str, pairs: Sequence[Pair], kind: Kind = Kind.RANK) -> Job:
        """A job that has run to its end."""
        return finished(self.program, name, pairs, kind)


def finished(program: Program, name: str, pairs: Sequence[Pair], kind: Kind = Kind.RANK) -> Job:
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
    assert page.minimumSizeHint().width() <= 700  # what the library leaves of 920
    page.resize(700, 400)
    for table in (page.queries.queries, page.queries.texts):
        assert table.horizontalScrollBar().maximum() == 0
        (longest,) = (index for index, column in enumerate(table.columns()) if column.stretch)
        assert table.columnWidth(longest) > 60
    page.tabs.choose(JOBS)
    (matched,) = (each for each in page.job_lines.findChildren(Label) if each.text().startswith("queries: "))
    await until(lambda: matched.height() >= matched.heightForWidth(matched.width()))
    page.resize(1004, 820)

    assert page.header.facts().startswith("A: First · B: Second · 2 queries")
    assert page.tops.value() == 1  # of the few texts that the queries have
    assert page.queries.queries_model.rowCount() == 2
    assert page.rbo.number().startswith(("0.", "1."))
    assert "of 2" in page.first.number()
    assert not page.partial_bar.isVisible()
    page.tabs.choose(JOBS)
    texts = page.job_lines.texts()
    assert "queries: 2 by text; texts: 6 by id alone, with other texts" in texts
    assert "nDCG@1" in texts
    assert texts[-1].startswith("By the judgements of 2 queries.")
    assert not page.others.isVisible()  # there is only one

    page.tops.set_value(20)
    page.tops.picked.emit(20)
    await until(lambda: page.top.caption() == "overlap of the first 20")
    page.tabs.choose(JOBS)
    assert "nDCG@20" in page.job_lines.texts()
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
    jobs = [compared.job("Before", pairs), compared.job("After", better)]
    page.compare(jobs)
    await until(lambda: page.header.facts().startswith("A: Before"))
    await until(lambda: page.answer.headline.text() == "B is better")
    answer = page.answer.sentence.text()
    assert answer.startswith("B is better for 8 queries, worse for 0, the same for 0. nDCG@3 changes by +0.500;")
    assert "with 95 % certainty by something between +0.500 and +0.500" in answer
    assert [page.answer.rows.text(0, column) for column in (1, 2, 3, 5)] == ["0.5000", "1.0000", "+0.5000", "3 → 1"]
    assert page.answer.rows.text(0, 4).startswith("text ")
    page.answer.measures.set_value("RR")
    page.answer.measures.picked.emit("RR")
    await until(lambda: "RR changes by +0.667" in page.answer.sentence.text())
    page.answer.measures.set_value("Success@3")
    page.answer.measures.picked.emit("Success@3")
    await until(lambda: page.answer.headline.text() == "No query differs")
    assert page.answer.sentence.text() == "All 8 judged queries have the same Success@3 under both."
    assert not page.answer.chart.isVisible()
    assert (
        "Job A: 3 labels are no whole numbers and are left out, such as “0.5” in row 30." in page.job_lines.texts()[-1]
    )


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

    for by_query, rows in ((False, 6), (True, 2)):
        path = tmp_path / f"{by_query}.csv"
        await compared.page.write(path, by_query=by_query)
        with path.open(encoding="utf-8-sig", newline="") as file:
            assert len(list(csv.DictReader(file))) == rows
        assert compared.notices.texts()[-1] == f"Wrote {rows} rows to “{path.name}”."

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
    found = page.compared
    assert found is not None
    for by_query, rows in ((False, 4), (True, 1)):
        path = tmp_path / f"{by_query}.csv"
        await page.write(path, by_query=by_query, only=page.queries.selected())
        with path.open(encoding="utf-8-sig", newline="") as file:
            written = list(csv.DictReader(file))
        assert {row["query"] for row in written} == {found.comparison.queries[chosen].text}
        assert len(written) == rows


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
    vectors, lone = compared.job("Vectors", LONE, Kind.EMBED), compared.job("Lone", LONE)
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

    other = compared.job("Third", LONE)
    compared.page.compare([compared.first, other])
    await until(lambda: "no query with a text in common" in sentence(compared.page))
