"""Exporting results through the dialog, and what an analyst takes home from a finished job."""

import asyncio
import csv
import json
import threading
from pathlib import Path

import openpyxl
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.states import Job, MatchOptions, Purpose
from cfbatch_gui.core.results.exports import ExportOptions, targets_for
from cfbatch_gui.ui.results.export_dialog import ColumnsDialog, ExportDialog, paths_for
from cfbatch_gui.ui.window.loop import WORK_THREADS
from tests.ui.connections import choose_path, until
from tests.ui.job_page_driver import TIED, JobPageDriver

LEFT = Qt.MouseButton.LeftButton


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A folder with nothing in it."""
    home = tmp_path / "home"
    home.mkdir()
    return home


def opened(driver: JobPageDriver, job: Job, limits: ExportOptions | None = None) -> ExportDialog:
    dialog = ExportDialog(driver.program, driver.notices, job, limits=limits, parent=driver.window)
    dialog.forms.choose("csv")
    dialog.open()
    return dialog


def lines(dialog: ExportDialog) -> list[tuple[str, str]]:
    """Names of the files, and what will be in each."""
    texts = dialog.lines.texts()
    return list(zip(texts[::2], texts[1::2], strict=True))


def read(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


async def test_an_excel_and_a_parquet_file_in_three_clicks(driver: JobPageDriver, home: Path) -> None:
    driver.program.change_settings(last_folder=str(home))
    dialog = opened(driver, await driver.finished(TIED, Kind.RANK))  # the first click, on "Export…"
    await until(lambda: lines(dialog) == [("Support articles.csv", "6 rows")])
    dialog.forms.choose("failed")
    assert not dialog.save_button.isEnabled(), "no row has failed"
    dialog.forms.choose("xlsx")
    dialog.forms.boxes["parquet"].click()
    assert [name for name, _ in lines(dialog)] == ["Support articles.xlsx", "Support articles.parquet"]
    assert dialog.save_button.text() == "Save 2 files"
    QTest.mouseClick(dialog.save_button, LEFT)
    await until(lambda: driver.notices.texts() == ["Wrote 2 files of 6 rows."])
    assert driver.notices.bars()[0].links()[0].text() == "Show files"
    book = openpyxl.load_workbook(home / "Support articles.xlsx", read_only=True)
    assert len(list(book["Ranking"].iter_rows())) == 7
    assert (home / "Support articles.parquet").read_bytes()[:4] == b"PAR1"


async def test_nothing_that_is_there_is_written_over(driver: JobPageDriver, home: Path) -> None:
    (home / "Support articles.csv").write_text("mine")
    job = await driver.finished(TIED, Kind.RANK)
    dialog = opened(driver, job)
    dialog.set_folder(home)
    await until(lambda: lines(dialog) == [("Support articles 2.csv", "6 rows")])
    dialog.reject()
    every = targets_for(Kind.RANK)
    paths = [path.name for path, _ in paths_for(home, job, every)]
    assert len(set(paths)) == len(every)
    assert paths[:3] == ["Support articles.xlsx", "Support articles 2.csv", "Support articles (csv-excel).csv"]


async def test_limits_of_the_page_are_kept_until_they_are_changed_and_columns_are_chosen_for_all_forms(
    driver: JobPageDriver, tmp_path: Path
) -> None:
    dialog = opened(driver, await driver.finished(TIED, Kind.RANK), ExportOptions(top_k=1))
    await until(lambda: [what for _, what in lines(dialog)] == ["2 rows"])
    dialog.limits_bar.top.setValue(0)
    await until(lambda: [what for _, what in lines(dialog)] == ["6 rows"])
    QTest.mouseClick(dialog.columns_button, LEFT)
    await until(lambda: dialog.findChild(ColumnsDialog) is not None)
    columns = dialog.findChild(ColumnsDialog)
    assert isinstance(columns, ColumnsDialog)
    for box in columns.boxes:
        box.setChecked(False)
    assert not columns.accept_button.isEnabled()
    for box in columns.boxes:
        box.setChecked(box.text() in ("Query", "Score"))
    QTest.mouseClick(columns.accept_button, LEFT)
    await until(lambda: [what for _, what in lines(dialog)] == ["6 rows"])
    dialog.limits_bar.top.setValue(1)
    dialog.forms.choose("csv", "trec")
    await until(lambda: not dialog.tasks.is_running("count"))
    path = tmp_path / "top.csv"
    dialog.tasks.start("write", dialog.write([(path, dialog.forms.chosen()[0])]))
    await until(lambda: driver.notices.texts()[-1:] and driver.notices.texts()[-1].startswith("Wrote 2 rows to “"))
    assert list(read(path)[0]) == ["query", "score"]
    assert json.loads(path.with_name("top.csv.manifest.json").read_text("utf-8"))["export"]["top_k"] == 1


async def test_a_folder_that_cannot_be_written_is_reported_in_the_dialog(driver: JobPageDriver, tmp_path: Path) -> None:
    dialog = opened(driver, await driver.finished(TIED, Kind.RANK))
    (csv_form,) = dialog.forms.chosen()
    outputs = [(tmp_path / "first.csv", csv_form), (tmp_path / "nowhere" / "ranked.csv", csv_form)]
    dialog.tasks.start("write", dialog.write(outputs))
    await until(dialog.error_bar.isVisible)
    assert dialog.error_bar.text().endswith(".")
    assert dialog.save_button.isEnabled()
    assert driver.notices.texts()[-1:] and driver.notices.texts()[-1].startswith("Wrote 6 rows to “"), (
        "what was written before is said"
    )
    dialog.forms.choose("jsonl")
    assert not dialog.error_bar.isVisible(), "it was about another choice"
    dialog.reject()


async def test_matches_come_first_and_the_columns_are_those_that_stand_beside(
    driver: JobPageDriver, home: Path
) -> None:
    job = await driver.finished("name,shelf\nred pan,1\nblue pan,2\nzebra,3\n", Kind.EMBED)
    job = driver.program.drafts.use_for(job.id, purpose=Purpose.MATCH, matching=MatchOptions(best=2))
    driver.program.change_settings(last_folder=str(home))
    dialog = ExportDialog(driver.program, driver.notices, job, parent=driver.window)
    assert [target.name for target in dialog.forms.chosen()] == ["matches"]
    dialog.open()
    await until(lambda: lines(dialog) == [("Support articles.xlsx", "3 rows")])
    dialog.forms.excel_box.click()
    QTest.mouseClick(dialog.columns_button, LEFT)
    await until(lambda: dialog.findChild(ColumnsDialog) is not None)
    columns = dialog.findChild(ColumnsDialog)
    assert isinstance(columns, ColumnsDialog)
    columns.boxes[0].click()
    QTest.mouseClick(columns.accept_button, LEFT)
    await until(lambda: dialog.findChild(ColumnsDialog) is None)
    QTest.mouseClick(dialog.save_button, LEFT)
    await until(lambda: len(driver.notices.texts()) == 1)
    header, *rows = openpyxl.load_workbook(home / "Support articles.xlsx").worksheets[0].iter_rows(values_only=True)
    assert header == ("name", "shelf", "shelf (1)", "Score", "Margin", "State", "shelf (2)", "Score 2")
    assert [row[0] for row in rows] == ["red pan", "blue pan", "zebra"]


async def test_cancel_stops_the_writing_and_leaves_nothing(driver: JobPageDriver, home: Path) -> None:
    dialog = opened(driver, await driver.finished(TIED, Kind.RANK))
    await until(lambda: not dialog.tasks.is_running("count"))
    may_go_on = threading.Event()
    busy = [asyncio.create_task(asyncio.to_thread(may_go_on.wait)) for _ in range(WORK_THREADS)]
    dialog.set_folder(home)
    dialog.forms.choose("csv", "jsonl")
    dialog.tasks.start("write", dialog.write(dialog.outputs()))
    await until(dialog.is_writing)
    QTest.keyClick(dialog.focusWidget(), Qt.Key.Key_Return)
    assert dialog._stop is not None and not dialog._stop.is_set(), "Enter pressed once more stops nothing"
    assert not dialog.forms.boxes["csv"].isEnabled()
    dialog.reject()
    may_go_on.set()
    await asyncio.gather(*busy)
    await until(lambda: not dialog.is_writing())
    assert not list(home.iterdir())
    assert dialog.isVisible()
    assert dialog.forms.boxes["csv"].isEnabled()
    assert dialog.error_bar.text() == "Stopped. Nothing was written."
    dialog.reject()
    assert not driver.notices.texts()


async def test_people_come_first_and_a_name_that_the_user_gives_chooses_the_form(
    driver: JobPageDriver, home: Path, tmp_path: Path
) -> None:
    dialog = ExportDialog(driver.program, driver.notices, await driver.finished(TIED, Kind.RANK), parent=driver.window)
    assert [target.name for target in dialog.forms.chosen()] == ["xlsx"]
    assert list(dialog.forms.boxes)[:3] == ["xlsx", "csv-excel", "failed"]
    (excel,) = dialog.forms.chosen()
    dialog.forms.excel_box.click()
    await until(lambda: lines(dialog) == [("Support articles.xlsx", "6 rows")])
    dialog.limits_bar.top.setValue(1)
    await until(lambda: not dialog.tasks.is_running("count"))
    assert lines(dialog) == [("Support articles.xlsx", "6 rows")], "in the own order all rows are kept"
    dialog.limits_bar.top.setValue(0)
    assert dialog._form_of(home / "a.parquet", excel).name == "parquet"
    assert dialog._form_of(home / "a.xlsx", excel) is excel
    assert dialog._form_of(home / "a.b", excel) is excel

    dialog.forms.choose("csv")
    dialog.open()
    path = tmp_path / "ranked.csv"
    QTest.mouseClick(dialog.change_button, LEFT)
    await choose_path(dialog, path, proposed="Support articles.csv")
    await until(lambda: [name for name, _ in lines(dialog)] == ["ranked.csv"])
    QTest.mouseClick(dialog.save_button, LEFT)
    await until(lambda: driver.notices.texts()[-1:] and driver.notices.texts()[-1].startswith("Wrote 6 rows to “"))
    assert [row["rank"] for row in read(path)] == ["1", "2", "3", "3", "1", "2"]
    assert driver.notices.bars()[0].links()[0].text() == "Show file"
    assert driver.program.settings.last_folder == str(tmp_path)
