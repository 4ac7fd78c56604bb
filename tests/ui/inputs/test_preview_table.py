"""What room the columns of the preview get: short ones what they need, the text the rest."""

from pathlib import Path
from typing import Any

import pytest

from cfbatch_gui.core.inputs.input_values import Kind, Mapping, Role
from cfbatch_gui.core.inputs.layouts import with_role
from cfbatch_gui.ui.inputs.draft_state import OpenFile, open_file
from cfbatch_gui.ui.inputs.input_labels import roles_for
from cfbatch_gui.ui.inputs.preview_table import PreviewTable

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


def test_a_short_id_leaves_the_room_to_the_text(table: PreviewTable, tmp_path: Path) -> None:
    file = written(tmp_path, "id,note,text\n" + "".join(f"{n},,{LONG}\n" for n in range(100, 130)))
    widths = shown(table, file)
    assert sum(widths) == table.viewport().width()
    assert widths[0] < 80 and widths[1] < 100
    assert all(table.roles.wanted_width(section) <= width for section, width in enumerate(widths))


def test_in_a_narrow_window_nothing_stands_outside_of_it(table: PreviewTable, tmp_path: Path) -> None:
    rows = "".join(f"{n // 4},{LONG},d{n},{LONG} {LONG},{n % 2}\n" for n in range(30))
    file = written(tmp_path, "query_id,query,doc_id,answer,relevance\n" + rows)
    widths = shown(table, file, file.guess(Kind.RANK))
    assert sum(widths) == table.viewport().width()
    assert abs(widths[1] - widths[3]) < 2 and widths[1] > 120
    table.resize(900, 240)
    wider = [table.roles.sectionSize(section) for section in range(5)]
    assert sum(wider) == table.viewport().width() and wider[::2] == widths[::2]


def test_many_long_columns_are_scrolled_to(table: PreviewTable, tmp_path: Path) -> None:
    rows = "".join(f"{n},{','.join([LONG] * 8)}\n" for n in range(9))
    widths = shown(table, written(tmp_path, f"id,{','.join(f'text_{n}' for n in range(8))}\n{rows}"))
    assert widths[0] < 80 and set(widths[1:]) == {230}


def test_what_is_left_over_goes_to_the_text_though_it_is_short(table: PreviewTable, tmp_path: Path) -> None:
    file = written(tmp_path, "number,word,colour\n" + "".join(f"{n}0000000000,ab,blue\n" for n in range(9)))
    mapping = with_role(file.guess(Kind.EMBED), 1, Role.TEXT)
    widths = shown(table, file, mapping)
    assert sum(widths) == table.viewport().width()
    assert widths[1] > widths[0] > widths[2]


def test_a_role_with_a_longer_name_gets_its_room(table: PreviewTable, tmp_path: Path) -> None:
    file = written(tmp_path, "id,text\n" + "".join(f"{n},{LONG}\n" for n in range(9)))
    before = shown(table, file)
    after = shown(table, file, with_role(file.guess(Kind.EMBED), 0, Role.IGNORE))
    assert after[0] >= table.roles.wanted_width(0) > before[0]
    assert sum(after) == table.viewport().width()


def test_a_long_name_above_short_cells_is_cut(table: PreviewTable, tmp_path: Path) -> None:
    name = "How satisfied were you with the delivery of your order"
    file = written(tmp_path, f"{name},text\n" + "".join(f"{n % 5},{LONG}\n" for n in range(30)))
    assert shown(table, file)[0] < 180
