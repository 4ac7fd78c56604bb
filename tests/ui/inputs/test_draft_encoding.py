"""The question which of two readings of a file is right, asked before its texts are sent."""

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from cfbatch_gui.core.inputs.input_values import Kind, Role
from cfbatch_gui.ui.inputs.encoding_question import ReadingsDialog
from cfbatch_gui.ui.widgets import Label
from tests.ui.inputs.conftest import DraftDriver

Until = Callable[..., Awaitable[None]]


@pytest.fixture
async def close(driver: DraftDriver, tmp_path: Path, until: Until) -> DraftDriver:
    """A draft of a file whose only letter beyond ASCII two encodings have."""
    path = tmp_path / "a.csv"
    path.write_bytes("mark;text\nÉ;one\na;two\nb;three\n".encode("cp1252"))
    driver.new_draft(kind=Kind.EMBED)
    driver.page.open_path(path)
    await until(driver.is_ready)
    return driver


async def send_marks(driver: DraftDriver, until: Until) -> ReadingsDialog:
    """Send the column with the letter; the question that is asked."""
    if driver.state.mapping is not None and driver.state.mapping.roles[0] is not Role.TEXT:
        driver.choose_role(1, Role.KEEP)
        driver.choose_role(0, Role.TEXT)
        await until(driver.is_ready)
    driver.click(driver.page.check.send_button)
    await until(lambda: shown(driver) is not None)
    dialog = shown(driver)
    assert dialog is not None
    return dialog


def shown(driver: DraftDriver) -> ReadingsDialog | None:
    found = driver.page.findChildren(ReadingsDialog)
    return next((dialog for dialog in found if dialog.isVisible()), None)


def first_cell(driver: DraftDriver) -> str:
    return str(driver.page.data.first.table.model().index(0, 0).data())


async def test_a_close_guess_is_asked_about_before_sending(close: DraftDriver, until: Until) -> None:
    dialog = await send_marks(close, until)
    texts = [label.text() for label in dialog.findChildren(Label)]
    assert "É" in texts and "…" in texts
    assert [button.text() for button in dialog.buttons] == ["Use Windows-1252", "Use Mac Roman"]
    dialog.reject()
    await until(lambda: shown(close) is None and close.is_ready())
    assert close.sent == []
    dialog = await send_marks(close, until)  # the question was not answered
    close.click(dialog.buttons[1])
    await until(lambda: close.is_ready() and close.page.data.first.encoding.text() == "Mac Roman")
    assert (first_cell(close), close.sent) == ("…", [])  # to be looked at before it is sent
    close.click(close.page.check.send_button)
    await until(lambda: len(close.sent) == 1)


async def test_with_the_guess_as_the_answer_it_is_sent_at_once(close: DraftDriver, until: Until) -> None:
    dialog = await send_marks(close, until)
    close.click(dialog.buttons[0])
    await until(lambda: len(close.sent) == 1)
    draft = close.program.folder(close.sent[0]).draft()
    assert draft is not None
    assert (draft.options.encoding, draft.options.is_encoding_guessed) == ("cp1252", False)


async def test_letters_that_are_not_sent_ask_nothing(close: DraftDriver, until: Until) -> None:
    close.click(close.page.check.send_button)
    await until(lambda: len(close.sent) == 1)
