"""What an analyst takes home from a finished job."""

import asyncio
import csv
from pathlib import Path

import openpyxl
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest

from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.states import Job
from tests.screen.past import run
from tests.screen.stage import Stage

LEFT, SHIFT = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.ShiftModifier
HEADER = ("Artikelnr.", "Frage", "Antwort", "Preis", "Bewertung", "Notiz")
ANSWERS = (
    "Choose a new password on the sign-in page",
    "=SUM(A1:A9) is not a formula here",
    "كلمة المرور الجديدة تصلك بالبريد الإلكتروني",
    "パスワードを再設定するには、メールのリンクを開いてください",
    "🔐 Reset it with the link in the e-mail 🙂",
    "Invoices are sent on the first of the month. " * 30,
    "Forgot the password? Reset it with the e-mail link",
)
QUESTIONS = ("reset my password", "where is my invoice")
ROWS = tuple(
    (str(10_001 + number), QUESTIONS[number % 2], ANSWERS[number // 2], f"{number * 3.5 + 1:.2f}", str(number % 3), "")
    for number in range(14)
)
EMPTY = ("10099", QUESTIONS[0], "", "9.99", "0", "a row without an answer")


@pytest.fixture
async def stage(stage: Stage, tmp_path: Path) -> Stage:
    (tmp_path / "out").mkdir()
    stage.program.change_settings(last_folder=str(tmp_path / "out"))
    return stage


async def show(stage: Stage, path: Path, kind: Kind) -> Job:
    with path.open("w", encoding="utf-8-sig", newline="") as stream:
        csv.writer(stream, delimiter=";").writerows([HEADER, *ROWS[:6], EMPTY, *ROWS[6:]])
    job = await run(stage.program, path.stem, path, kind)
    stage.workspace.show_jobs()
    stage.workspace.open_job(job.id)
    await stage.person.until_sees("Export…")
    return job


def sheet(path: Path, name: str = "Ranking") -> list[tuple[object, ...]]:
    return list(openpyxl.load_workbook(path)[name].iter_rows(values_only=True))


async def test_top_3_of_each_query_to_excel(stage: Stage, tmp_path: Path) -> None:
    await show(stage, tmp_path / "answers.csv", Kind.RANK)
    await stage.person.click("How many of each query")
    for _ in range(3):
        await stage.person.press(Qt.Key.Key_Up)
    await stage.person.click("Export…")
    await stage.person.until_sees("answers.xlsx")
    await stage.person.click("Save")
    await stage.person.until_sees("to “answers.xlsx”.")
    header, *rows = sheet(tmp_path / "out" / "answers.xlsx")
    assert header == ("Frage", "Rank", "Score", "Antwort", "Artikelnr.", "Bewertung", "Preis")
    assert [(row[0], row[1]) for row in rows] == [(question, rank) for question in QUESTIONS for rank in (1, 2, 3)]
    assert all(isinstance(row[4], int) and isinstance(row[6], float | int) for row in rows)


async def test_back_into_the_original_sheet_by_its_own_id(stage: Stage, tmp_path: Path) -> None:
    await show(stage, tmp_path / "answers.csv", Kind.RANK)
    await stage.person.click("Export…")
    await stage.person.click("Excel, your own sheet")
    await stage.person.click("Save")
    await stage.person.until_sees("Wrote 15 rows to “answers.xlsx”.")
    header, *rows = sheet(tmp_path / "out" / "answers.xlsx")
    assert header == (*HEADER, "Rank", "Score", "Reason")
    assert [row[0] for row in rows] == [*range(10_001, 10_007), 10_099, *range(10_007, 10_015)], "as in the file"
    assert [row[1:3] for row in rows[:6]] == [row[1:3] for row in ROWS[:6]]
    assert [row[3] for row in rows[:2]] == [1, 4.5]
    assert rows[6][6:8] == (None, None) and str(rows[6][8]).startswith("Row 8:")


async def test_only_what_was_drawn_around_on_the_map(stage: Stage, tmp_path: Path) -> None:
    job = await show(stage, tmp_path / "answers.csv", Kind.EMBED)
    await stage.person.click("Map")
    page = stage.workspace.results.pages["map"].view
    await stage.person.until(lambda: page.map is not None and not page.tasks.running())
    box = page.dots.rect().adjusted(2, 2, -2, -2)
    wanted = round(page.dots.pixel_of(0).x())

    def draw() -> None:
        edge = QPoint(wanted + 6, box.top())
        QTest.mousePress(page.dots, LEFT, SHIFT, box.topLeft())
        for corner in (edge, QPoint(edge.x(), box.bottom()), box.bottomLeft(), box.topLeft() + QPoint(0, 1)):
            QTest.mouseMove(page.dots, corner)
        QTest.mouseRelease(page.dots, LEFT, SHIFT, box.topLeft() + QPoint(0, 1))

    asyncio.get_running_loop().call_soon(draw)
    await stage.person.until(page.list.isVisible)
    items = set(page.list.items)
    assert 1 in items and len(items) < job.texts
    await stage.person.click("Export…")
    await stage.person.until_sees(f"These {len(items)} · Lasso")
    await stage.person.click("Save")
    await stage.person.until_sees("to “answers.xlsx”.")
    _, *rows = sheet(tmp_path / "out" / "answers.xlsx", "Embeddings")
    assert len(rows) == len(items)
