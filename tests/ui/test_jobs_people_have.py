"""What people come for, each from their own file to their own sheet, by mouse and in few clicks."""

import shutil
from functools import partial
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPlainTextEdit

from cfbatch_gui.core.jobs.states import JobState, Purpose
from cfbatch_gui.core.resources import resource
from cfbatch_gui.words.purposes import purpose_words
from tests.screen.person import Person
from tests.screen.stage import Stage

MOST = 8  # clicks
LETTERS, RECORDS = resource("examples/customer-letters.csv"), resource("examples/sleep-and-greenery.ris")
CATEGORIES = "Delivery: parcels that are late or lost\nReturns and refunds\nProduct fault: broken or cracked"


class Clicks:
    """Someone whose clicks are counted; what is typed is none."""

    def __init__(self, stage: Stage, home: Path) -> None:
        self.stage, self.person, self.home, self.count = stage, Person(patience=30.0), home, 0
        home.mkdir()

    async def click(self, words: str) -> None:
        self.count += 1
        await self.person.click(words)

    async def open(self, purpose: Purpose, file: Path) -> None:
        """By its tile and “Open…”."""
        await self.click(purpose_words(purpose).title)
        await self.person.until(lambda: self.stage.workspace.is_shown("draft_page"))
        await self.click("Open…")
        await self.person.name_file(shutil.copy(file, self.home))

    async def until_shown(self, key: str) -> Any:
        """A page of results, once it has read them."""
        view = self.stage.workspace.job_page.view(key)
        await self.person.until(lambda: view.isVisible() and view.vectors_read and not view.tasks.running())
        return view

    async def ask(self, question: str) -> None:
        self.count += 1
        await self.person.type("A text to look for", question)
        await self.person.press(Qt.Key.Key_Return)

    async def send(self, words: str = "Send 1 batch") -> None:
        await self.click(words)
        await self.person.until(lambda: [each.state for each in self.stage.program.ledger.jobs()] == [JobState.DONE])

    async def export(self, button: str = "Export…") -> list[dict[str, object]]:
        """The rows of the workbook that is proposed."""
        await self.click(button)
        await self.click("Save")
        await self.person.until(lambda: [*self.home.glob("*.xlsx")])
        (path,) = self.home.glob("*.xlsx")
        header, *rows = openpyxl.load_workbook(path).worksheets[0].iter_rows(values_only=True)
        return [dict(zip(map(str, header), row, strict=True)) for row in rows]


@pytest.fixture
def clicks(stage: Stage, tmp_path: Path) -> Clicks:
    return Clicks(stage, tmp_path / "home")


IDS = [f"L-{number:03}" for number in range(1, 41)]


async def test_letters_are_sorted_into_typed_categories(clicks: Clicks) -> None:
    await clicks.open(Purpose.CATEGORIES, LETTERS)
    (field,) = (each for each in clicks.stage.workspace.draft_page.findChildren(QPlainTextEdit) if each.isVisible())
    field.setPlainText(CATEGORIES)
    await clicks.send("Send 43 texts")
    rows = await clicks.export()
    assert [row["id"] for row in rows] == IDS
    assert {row["Category"] for row in rows} - {None} <= {"Delivery", "Returns and refunds", "Product fault"}
    assert sum(row["Category"] is not None for row in rows) > 10
    assert clicks.count <= MOST


async def test_groups_with_names_are_columns_of_the_sheet(clicks: Clicks) -> None:
    await clicks.open(Purpose.GROUPS, LETTERS)
    await clicks.send()
    await clicks.until_shown("groups")
    rows = await clicks.export()
    assert [row["id"] for row in rows] == IDS
    assert {row["Group"] for row in rows} == set(range(1, len({row["Group name"] for row in rows}) + 1))
    assert clicks.count <= MOST


async def test_duplicates_end_in_the_own_sheet(clicks: Clicks) -> None:
    await clicks.open(Purpose.GROUPS, RECORDS)
    await clicks.send()
    await clicks.click("Duplicates")
    await clicks.until_shown("duplicates")
    rows = await clicks.export("Save list without duplicates…")
    assert len(rows) == 37 and {row["Duplicate of"] for row in rows} == {None}
    assert clicks.count <= MOST


async def test_questions_are_a_table_of_the_best_rows(clicks: Clicks) -> None:
    await clicks.open(Purpose.SEARCH, LETTERS)
    await clicks.send()
    view = await clicks.until_shown("search")
    for question in ("where is my parcel", "the lid is cracked"):
        await clicks.ask(question)
        await clicks.person.until(lambda: view.question == view.field.text() and not view.tasks.running())
    rows = await clicks.export()
    assert [row["Rank"] for row in rows] == [*range(1, 21)] * 2
    assert len({row["Query"] for row in rows}) == 2
    assert clicks.count <= MOST


async def test_records_are_screened_and_come_back_with_rank_and_decision(clicks: Clicks) -> None:
    await clicks.open(Purpose.SEARCH, RECORDS)
    await clicks.send()
    space = clicks.stage.workspace
    await clicks.until_shown("search")
    await clicks.ask("sleep and greenery near the home")
    await clicks.click("Screen in this order…")
    page = space.screening_page
    await clicks.person.until(lambda: page.isVisible() and page.session is not None and not page.tasks.running())
    assert page.session is not None
    session = page.session

    def has_screened(number: int) -> bool:
        return session.flow.screened == number and not page.tasks.running()

    for number, key in enumerate((Qt.Key.Key_I, Qt.Key.Key_E), 1):
        await clicks.person.press(key)
        await clicks.person.until(partial(has_screened, number))
    await clicks.person.press(Qt.Key.Key_Escape)
    await clicks.person.until(lambda: space.is_shown("job_page"))
    rows = await clicks.export()
    assert len(rows) == 40
    decided = {row["Rank"]: row["Decision"] for row in rows}
    assert (decided[1], decided[2]) == ("include", "exclude") and [*decided.values()].count("duplicate") == 3
    assert clicks.count <= MOST
