"""Ctrl+V where there is no draft: what is on the clipboard begins a job."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, Qt, QUrl
from PySide6.QtGui import QGuiApplication

from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.system.paths import resource
from cfbatch_gui.ui.theme import Theme
from tests.screen.past import run
from tests.screen.stage import Stage, opened

CTRL = Qt.KeyboardModifier.ControlModifier
CELLS = "question\tanswer\nwhy\tbecause\nwhy\tno reason\n"
TOKEN = "cfut_practice-takes-any-token-0000000000"


@pytest.fixture
async def stage(tmp_path: Path, theme: Theme) -> AsyncIterator[Stage]:
    async with opened(tmp_path / "data", theme) as stage:
        yield stage


async def paste(stage: Stage, text: str) -> None:
    QGuiApplication.clipboard().setText(text)
    await stage.person.press(Qt.Key.Key_V, CTRL)


async def test_cells_begin_a_job_on_the_first_page(stage: Stage) -> None:
    assert stage.person.sees("paste texts")
    await paste(stage, CELLS)
    await stage.person.until_sees("pasted.tsv", "Send 1 batch")
    assert [job.source_name for job in stage.program.ledger.jobs()] == ["pasted.tsv"]


async def test_a_file_begins_a_job_on_the_page_of_another(stage: Stage) -> None:
    await run(stage.program, "Done before", resource("examples/help-centre-ranking.csv"), Kind.RANK)
    await stage.person.click_row("Jobs", "Done before")
    await stage.person.until_sees("Export…")
    files = QMimeData()
    files.setUrls([QUrl.fromLocalFile(str(resource("examples/product-texts.csv")))])
    QGuiApplication.clipboard().setMimeData(files)
    await stage.person.press(Qt.Key.Key_V, CTRL)
    await stage.person.until_sees("Product texts", "Each row is one text: 60 texts.")
    assert len(stage.program.ledger.jobs()) == 2


async def test_nothing_on_the_clipboard_begins_no_job(stage: Stage) -> None:
    await paste(stage, " \n")
    await stage.person.until_sees("There is no text on the clipboard.")
    assert not stage.program.ledger.jobs()


async def test_a_field_keeps_what_is_pasted_into_it(stage: Stage) -> None:
    await stage.person.type("Find a job", "help", pasted=True)
    assert stage.workspace.window.library.find_field.text() == "help"
    assert not stage.program.ledger.jobs()


async def test_a_token_goes_to_the_connection_and_into_no_file(stage: Stage, tmp_path: Path) -> None:
    await paste(stage, TOKEN)
    await stage.person.until_sees("Cloudflare", "Create a token")
    assert stage.workspace._settings.connection.cloudflare.token_block.field.text() == TOKEN
    assert not stage.program.ledger.jobs()
    assert not any(TOKEN.encode() in path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
