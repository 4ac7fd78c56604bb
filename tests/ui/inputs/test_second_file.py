"""Where the sentence asks for a second file, a button beside it adds one."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

from cfbatch_gui.core.inputs.input_values import Layout
from cfbatch_gui.ui.theme import Theme
from tests.screen.stage import Stage, opened

ADD = "Add the second file…"


@pytest.fixture
async def stage(tmp_path: Path, theme: Theme) -> AsyncIterator[Stage]:
    async with opened(tmp_path / "data", theme) as stage:
        await stage.person.press(Qt.Key.Key_N, Qt.KeyboardModifier.ControlModifier)
        await stage.person.until_sees("Your data")
        yield stage


@pytest.fixture
def queries(tmp_path: Path) -> Path:
    path = tmp_path / "queries.csv"
    path.write_text("id,question\n1,how do I pay\n2,where is my parcel\n")
    return path


@pytest.fixture
def answers(tmp_path: Path) -> Path:
    path = tmp_path / "answers.csv"
    path.write_text("sku;answer\nA;By card, or by invoice\nB;On its way to you\nC;Ask the shop\n")
    return path


async def begin(stage: Stage, path: Path) -> None:
    stage.workspace._draft.open_path(path)
    await stage.person.until_sees("Check and send")
    await stage.person.click("Rank texts against a query")


async def test_queries_without_texts_by_mouse(stage: Stage, queries: Path, answers: Path) -> None:
    person = stage.person
    await begin(stage, queries)
    await person.until_sees("or add a second file with contexts for all queries")
    await person.click(ADD)
    await person.name_file(answers)
    await person.until_sees("2 queries, 3 contexts each", "Send 1 batch")
    assert not stage.workspace._draft.data.add_second.isVisible()


async def test_queries_without_texts_by_keyboard(stage: Stage, queries: Path, answers: Path) -> None:
    person, data = stage.person, stage.workspace._draft.data
    await begin(stage, queries)
    await person.until(data.add_second.isVisible)
    for _ in range(60):
        await person.press(Qt.Key.Key_Tab)
        if QApplication.focusWidget() is data.add_second:
            break
    assert QApplication.focusWidget() is data.add_second
    await person.press(Qt.Key.Key_Tab)
    assert QApplication.focusWidget() is data.change, "the button stands between the sentence and its change"
    data.add_second.setFocus()
    await person.press(Qt.Key.Key_Return)
    await person.name_file(answers)
    await person.until_sees("2 queries, 3 contexts each")


async def test_texts_without_queries(stage: Stage, queries: Path, answers: Path) -> None:
    person, page = stage.person, stage.workspace._draft
    await begin(stage, answers)
    await person.until_sees("or add a second file with queries for all contexts")
    await person.click("Add the file of queries…")
    await person.name_file(queries)
    await person.until_sees("2 queries, 3 contexts each")
    state = page.drafts.state(page.job_id())
    assert state.file is not None and state.second is not None and state.mapping is not None
    assert (state.file.path, state.second.path) == (queries, answers)
    assert state.mapping.layout is Layout.SHARED


async def test_ids_without_their_texts(stage: Stage, tmp_path: Path) -> None:
    person = stage.person
    candidates, texts = tmp_path / "candidates.csv", tmp_path / "texts.csv"
    candidates.write_text("query,doc_id\nhow do I pay,A\nhow do I pay,B\nwhere is my parcel,B\n")
    texts.write_text("doc_id,text\nA,By card or by invoice\nB,On its way to you\n")
    await begin(stage, candidates)
    await person.until_sees("Add the second file, which holds the texts by their ids.")
    await person.click(ADD)
    await person.name_file(texts)
    await person.until_sees("2 queries, about 2 contexts each")
