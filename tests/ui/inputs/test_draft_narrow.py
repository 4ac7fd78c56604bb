"""The smallest window, in plain and in large letters: nothing of a draft has to be scrolled to sideways."""

from dataclasses import replace
from pathlib import Path

import pytest

from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.system.settings import SavedConnection
from tests.ui.conftest import Until
from tests.ui.inputs.conftest import DraftDriver

NARROW = 644  # pixels: what the sidebar leaves of a window of 920; a narrower page may be scrolled sideways

CONNECTIONS = (
    SavedConnection("worker", "The Worker of the library in Aberystwyth", "worker", url="https://a.workers.dev"),
    SavedConnection("gateway", "The gateway of the shop", "gateway", "0" * 32, gateway="shop"),
)
OTHER_MODEL = "@cf/some-maker/a-model-with-a-very-long-name-indeed-large-v3"


@pytest.mark.parametrize("letters", ["", "* { font-size: 17px }"])
@pytest.mark.parametrize("kind", list(Kind))
async def test_nothing_is_scrolled_sideways(
    driver: DraftDriver, tmp_path: Path, until: Until, letters: str, kind: Kind
) -> None:
    await driver.program.keep_settings(connections=CONNECTIONS)
    page = driver.page
    driver.window.setStyleSheet(letters)
    page.setFixedWidth(NARROW)
    long = tmp_path / "texts of the archive, as they came in May.csv"
    long.write_text("query,body\n" + "why,word\n" * 3 + f"how,{'word ' * 9_000}\n" + ",\n", encoding="utf-8")

    async def nothing_is_hidden() -> None:
        await until(driver.is_settled)
        await until(lambda: page.area.horizontalScrollBar().maximum() == 0, timeout=2.0)

    job = driver.new_draft(kind=kind)
    page.open_path(long)
    await nothing_is_hidden()
    page.choices.choose_kind(job.id, kind)
    driver.page.check.options_button.setChecked(True)
    await nothing_is_hidden()
    page.check.options.connection_chosen.emit("gateway")
    options = replace(page.drafts.job(job.id).options, truncate_inputs=False)
    page.check.options.options_chosen.emit(options)
    await until(page.check.problem_bars.isVisible)
    await nothing_is_hidden()
    page.check.options.model_chosen.emit(OTHER_MODEL)
    page.check.split_wanted.emit()
    page.data.first.join_wanted.emit(1)
    await until(page.data.split.isVisible)
    await nothing_is_hidden()
    assert page.check.options.isVisible()
