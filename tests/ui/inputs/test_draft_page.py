"""The main way through a draft, as a user goes it."""

import asyncio
from pathlib import Path

import pytest
import xlsxwriter
from PySide6.QtCore import Qt

from cfbatch_gui.core.inputs.input_values import Kind, Layout, Role
from cfbatch_gui.core.jobs.states import JobState, Purpose
from tests.ui.connections import answer_line, choose_path, until
from tests.ui.inputs.conftest import DraftDriver


async def test_the_example_is_read_counted_and_sent(driver: DraftDriver) -> None:
    job = driver.new_draft()
    assert driver.why_not() == "Bring your data first: open a file, drop it here, or paste."
    driver.click(driver.page.data.drop.example_link)
    await until(driver.is_ready)
    assert driver.page.data.first.name.whole_text() == "help-centre-ranking.csv"
    assert driver.page.data.first.facts.text() == "82 rows · 4 columns"
    assert driver.state.mapping is not None and driver.state.mapping.layout is Layout.LONG
    assert driver.page.minimumSizeHint().height() < 300  # what does not fit scrolls, above the button that sends
    check = driver.page.check
    assert driver.counts() == (12, 82) and not check.figures.isVisible()
    driver.click(check.facts_link)
    assert check.figures.isVisible() and "82" in check.figures.texts()
    assert driver.page.check.send_button.text() == "Send 1 batch"
    driver.click(driver.page.check.send_button)
    await until(lambda: driver.sent == [job.id])
    done = await driver.program.runner.wait(job.id)
    assert done.state is JobState.DONE


async def test_another_file_is_taken_for_what_it_is_unless_a_kind_was_chosen(
    driver: DraftDriver, questions: Path
) -> None:
    texts = Path("resources/examples/product-texts.csv").resolve()
    driver.new_draft("New job")
    driver.page.drafts.open_paths([questions])
    await until(lambda: driver.is_ready() and driver.job.kind is Kind.RANK)
    driver.page.drafts.open_paths([texts])
    await until(lambda: driver.is_ready() and driver.job.kind is Kind.EMBED)
    assert driver.page.what.cards[Purpose.VECTORS].isChecked() and driver.job.texts == 60
    driver.choose_kind(Kind.RANK)
    await until(lambda: driver.is_settled() and not driver.is_ready())
    driver.page.drafts.open_paths([questions])
    await until(driver.is_ready)
    driver.page.drafts.open_paths([texts])
    await until(lambda: driver.is_settled() and driver.page.data.first.name.whole_text() == "product-texts.csv")
    assert driver.page.what.cards[Purpose.RANK].isChecked() and not driver.is_ready()


async def test_the_last_wish_wins_however_fast_they_come(driver: DraftDriver, tmp_path: Path) -> None:
    large, small = tmp_path / "large.csv", tmp_path / "small.csv"
    large.write_text("id,text\n" + "".join(f"{n},a text with the number {n}\n" for n in range(30_000)))
    small.write_text("id,text\n1,one\n2,two\n")
    driver.begin(large)
    await until(lambda: driver.state.file is not None)
    for role in (Role.KEEP, Role.LABEL, Role.IGNORE):
        driver.choose_role(0, role)
        await asyncio.sleep(0)
    driver.page.drafts.open_paths([small])
    await until(driver.is_ready)
    assert driver.job.source_name == "small.csv"
    assert driver.counts()[1] == 2
    assert driver.page.data.first.facts.text() == "2 rows · 2 columns"


async def test_the_first_five_are_sent_as_a_job_of_their_own(driver: DraftDriver) -> None:
    job = driver.new_draft("Help")
    driver.page.drafts.use_example()
    await until(driver.is_ready)
    driver.click(driver.page.check.try_button)
    await until(lambda: len(driver.sent) == 1)
    copy = driver.program.ledger.job(driver.sent[0])
    assert copy.id != job.id and copy.queries == 5 and copy.name == "Help, first 5"
    assert not driver.program.ledger.job(job.id).is_sent
    assert (await driver.program.runner.wait(copy.id)).state is JobState.DONE


@pytest.mark.parametrize("is_begun_with_queries", [True, False])
async def test_where_a_second_file_is_missing_a_button_adds_one(
    driver: DraftDriver, tmp_path: Path, is_begun_with_queries: bool
) -> None:
    queries, answers = tmp_path / "queries.csv", tmp_path / "answers.csv"
    queries.write_text("id,question\n1,how do I pay\n2,where is my parcel\n")
    answers.write_text("sku;answer\nA;By card, or by invoice\nB;On its way to you\nC;Ask the shop\n")
    first, second = (queries, answers) if is_begun_with_queries else (answers, queries)
    data = driver.page.data
    driver.begin(first)
    await until(driver.is_settled)
    driver.choose_kind(Kind.RANK)
    await until(data.add_second.isVisible)
    data.add_second.setFocus()
    driver.qtbot.keyClick(data.add_second, Qt.Key.Key_Space)
    await choose_path(driver.page, second)
    await until(lambda: driver.is_ready() and driver.counts() == (2, 6))
    state = driver.state
    assert state.file is not None and state.second is not None and state.mapping is not None
    assert (state.file.path, state.second.path, state.mapping.layout) == (queries, answers, Layout.SHARED)
    assert not data.add_second.isVisible()
    driver.click(data.second.remove)
    await until(lambda: not data.second.isVisible())
    assert driver.state.mapping is not None and driver.state.mapping.layout is Layout.LONG
    assert not driver.is_ready()


async def test_a_sheet_is_chosen_its_hidden_rows_are_left_out_and_one_query_is_typed_for_the_rest(
    driver: DraftDriver, tmp_path: Path
) -> None:
    path = tmp_path / "tickets.xlsx"
    with xlsxwriter.Workbook(path) as book:
        book.add_worksheet("Notes").write_column(0, 0, ["text", "one"])
        sheet = book.add_worksheet("Q & A")
        for row, text in enumerate(["message", "The lamp is dark", "The sofa is grey", "No light in the hall"]):
            sheet.write(row, 0, text)
        sheet.set_row(2, None, None, {"hidden": True})
    data = driver.page.data
    await driver.open(path)
    assert not data.first.encoding.isVisible() and not data.first.separator.isVisible()
    driver.click(data.first.sheet)
    driver.pick(lambda action: action.text() == "Q && A")
    await until(lambda: driver.is_ready() and driver.counts()[1] == 3)
    driver.click(data.first.hidden)
    await until(lambda: driver.is_ready() and driver.counts()[1] == 2)
    driver.choose_kind(Kind.RANK)
    await until(data.type_query.isVisible)
    driver.click(data.type_query)
    await answer_line("where is it dark?")
    await until(lambda: driver.is_ready() and driver.counts() == (1, 2))
    assert driver.state.mapping is not None and driver.state.mapping.layout is Layout.SHARED
