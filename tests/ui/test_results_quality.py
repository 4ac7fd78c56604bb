"""The page of a ranking's quality: its figures, its queries, and the way to what is not judged."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from cfbatch_gui.core.judgements.values import Judgement, Source, Subject
from cfbatch_gui.core.program import Program
from cfbatch_gui.ui.result_view import RowChoice
from cfbatch_gui.ui.results.quality_view import QualityView
from tests.core.results.folders import Pair
from tests.ui.conftest import Until, shown_page
from tests.ui.test_comparison import finished

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
    book = shown.program.judgements.book_for("Support, 2026")
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
    assert shown.view.empty.isVisible()
    (offer,) = bar.links()
    assert offer.text() == "Use as grades: no = 0, yes = 1"
    QTest.mouseClick(offer, Qt.MouseButton.LeftButton)
    await shown.until(lambda: shown.view.rows.rowCount() == 6)
    assert shown.view.mean.number() == "0.7103"
    (back,) = bar.links()
    QTest.mouseClick(back, Qt.MouseButton.LeftButton)
    await shown.until(shown.view.empty.isVisible)
