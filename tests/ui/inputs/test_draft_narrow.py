"""What room the parts of a draft get: nothing is scrolled sideways, and the text has what short columns leave."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cfbatch_gui.core.inputs.input_values import Kind, Mapping
from cfbatch_gui.core.system.settings import SavedConnection
from cfbatch_gui.ui.inputs.draft_reading import OpenFile, open_file
from cfbatch_gui.ui.inputs.input_labels import roles_for
from cfbatch_gui.ui.inputs.preview_table import PreviewTable
from tests.ui.conftest import Until
from tests.ui.inputs.conftest import DraftDriver

NARROW = 644  # pixels: what the sidebar leaves of a window of 920; a narrower page may be scrolled sideways

CONNECTIONS = (
    SavedConnection("worker", "The Worker of the library in Aberystwyth", "worker", url="https://a.workers.dev"),
    SavedConnection("gateway", "The gateway of the shop", "gateway", "0" * 32, gateway="shop"),
)
OTHER_MODEL = "@cf/some-maker/a-model-with-a-very-long-name-indeed-large-v3"


@pytest.mark.parametrize("kind", list(Kind))
async def test_nothing_is_scrolled_sideways(driver: DraftDriver, tmp_path: Path, until: Until, kind: Kind) -> None:
    await driver.program.keep_settings(connections=CONNECTIONS)
    page = driver.page
    driver.window.setStyleSheet("* { font-size: 17px }")
    page.setFixedWidth(NARROW)
    long = tmp_path / "texts of the archive, as they came in May.csv"
    long.write_text("query,body\n" + "why,word\n" * 3 + f"how,{'word ' * 9_000}\n" + ",\n", encoding="utf-8")

    async def nothing_is_hidden() -> None:
        await until(driver.is_settled)
        await until(lambda: page.area.horizontalScrollBar().maximum() == 0)

    job = driver.new_draft(kind=kind)
    page.open_paths([long])
    await nothing_is_hidden()
    page.files.choose_kind(kind)
    driver.page.check.options_button.setChecked(True)
    await nothing_is_hidden()
    page.check.options.connection_chosen.emit("gateway")
    options = replace(page.drafts.job(job.id).options, truncate_inputs=False)
    page.check.options.options_chosen.emit(options)
    await until(page.check.problem_bars.isVisible)
    await nothing_is_hidden()
    page.check.options.model_chosen.emit(OTHER_MODEL)
    page.check.problem_bars.split_wanted.emit()
    page.data.first.join_wanted.emit(1)
    await until(page.data.split.isVisible)
    await nothing_is_hidden()
    assert page.check.options.isVisible()


LONG = "A lamp of oak with a warm light and two metres of cable and a switch at its foot"


@pytest.fixture
def table(qtbot: Any) -> PreviewTable:
    table = PreviewTable()
    qtbot.addWidget(table)
    table.resize(560, 240)
    table.show()
    return table


def written(tmp_path: Path, text: str) -> OpenFile:
    path = tmp_path / "a.csv"
    path.write_text(text, encoding="utf-8")
    return open_file(path)


def shown(table: PreviewTable, file: OpenFile, mapping: Mapping | None = None) -> list[int]:
    """The widths of the columns."""
    mapping = mapping or file.guess(Kind.EMBED)
    table.show_file(file, mapping.roles, roles_for(mapping, second=False))
    return [table.roles.sectionSize(section) for section in range(len(mapping.roles))]


def test_in_a_narrow_window_nothing_stands_outside_of_it(table: PreviewTable, tmp_path: Path) -> None:
    rows = "".join(f"{n // 4},{LONG},d{n},{LONG} {LONG},{n % 2}\n" for n in range(30))
    file = written(tmp_path, "query_id,query,doc_id,answer,relevance\n" + rows)
    widths = shown(table, file, file.guess(Kind.RANK))
    assert sum(widths) == table.viewport().width()
    assert abs(widths[1] - widths[3]) < 2 and widths[1] > 120
    table.resize(900, 240)
    wider = [table.roles.sectionSize(section) for section in range(5)]
    assert sum(wider) == table.viewport().width() and wider[::2] == widths[::2]
