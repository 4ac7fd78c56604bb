"""Columns joined to one text, long texts in parts, choices that are remembered, and recipes."""

import json
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QInputDialog, QMenu

from cfbatch_gui.core.inputs.input_values import FileFormat, Kind, Layout, Role, Split
from tests.ui.inputs.conftest import Desk

Until = Callable[..., Awaitable[None]]
PRODUCTS = "sku,title,body\n1,Lamp,It is warm\n2,Chair,It is cold\n3,,Nameless\n"


@pytest.fixture
def products(tmp_path: Path) -> Path:
    path = tmp_path / "products.csv"
    path.write_text(PRODUCTS)
    return path


def texts(desk: Desk) -> list[str]:
    with desk.program.folder(desk.job.id).open(read_only=True) as database:
        return [row[0] for row in database.execute("SELECT text FROM texts ORDER BY text_no")]


def titled(words: str) -> Callable[[QAction], bool]:
    return lambda action: action.text() == words


def holds(desk: Desk, count: int) -> Callable[[], bool]:
    return lambda: desk.is_ready() and len(texts(desk)) == count


def choose_from_layouts(desk: Desk, words: str) -> None:
    menu = desk.page.data.open_layout_menu()
    next(action for action in menu.actions() if words in action.text()).trigger()
    menu.close()


def recipe_menu(desk: Desk) -> QMenu:
    menu = desk.page.data.recipes.menu()
    menu.aboutToShow.emit()
    return menu


def entry(menu: QMenu, words: str) -> None:
    action = next(action for action in menu.actions() if action.text() == words)
    assert action.isEnabled()
    action.trigger()


async def opened(desk: Desk, path: Path, until: Until) -> None:
    """A new draft with this file, whatever was kept of the one before being on disk."""
    await until(lambda: not any(desk.page.drafts.tasks.is_running(f"remember {number}") for number in range(1, 20)))
    desk.new_draft()
    desk.page.open_path(path)
    await until(lambda: desk.is_settled() and desk.is_ready())


async def test_columns_are_joined_with_a_live_result(desk: Desk, products: Path, until: Until) -> None:
    await opened(desk, products, until)
    editor = desk.page.data.template
    assert not editor.isVisible()
    header = desk.page.data.first.table.roles
    desk.qtbot.mouseClick(header.viewport(), Qt.MouseButton.LeftButton, pos=header.chip(2).center())
    desk.pick(lambda action: action.text().startswith("Join several columns"))
    await until(lambda: editor.isVisible() and desk.is_ready())
    assert editor.field.text() == "{title}. {body}"
    assert [line.whole_text() for line in editor.results] == ["Lamp. It is warm", "Chair. It is cold"]
    await until(lambda: texts(desk)[0] == "Lamp. It is warm")
    editor.field.setFocus()
    editor.field.selectAll()
    desk.qtbot.keyClicks(editor.field, "{title")
    assert editor.wrong.isVisible() and editor.wrong.text().startswith("The template has a single “{”.")
    assert texts(desk)[0] == "Lamp. It is warm"
    desk.qtbot.keyClicks(editor.field, "}")
    entry_menu = editor.insert.menu()
    entry_menu.aboutToShow.emit()
    entry(entry_menu, "sku")
    assert editor.results[0].whole_text() == "Lamp1"
    await until(lambda: desk.is_ready() and texts(desk) == ["Lamp1", "Chair2", "3"])
    desk.click(editor.end_link)
    await until(lambda: desk.is_ready() and texts(desk)[0] == "It is warm")
    assert not editor.isVisible()


async def test_a_column_of_text_stands_instead_of_the_template(desk: Desk, products: Path, until: Until) -> None:
    await opened(desk, products, until)
    choose_from_layouts(desk, "Join several columns")
    await until(lambda: desk.is_ready() and texts(desk)[0] == "Lamp. It is warm")
    desk.choose_role(1, Role.TEXT)
    await until(lambda: desk.is_ready() and texts(desk)[0] == "Lamp")
    assert desk.state.mapping is not None and desk.state.mapping.template == ""


async def test_long_texts_are_cut_with_a_live_count(desk: Desk, tmp_path: Path, until: Until) -> None:
    path = tmp_path / "long.csv"
    path.write_text(f"id,text\n1,short\n2,{'word ' * 1_000}\n")
    await opened(desk, path, until)
    choose_from_layouts(desk, "Cut long texts")
    editor = desk.page.data.split
    await until(lambda: editor.isVisible() and desk.is_ready() and len(texts(desk)) > 2)
    assert editor.split() == Split(400, 40)
    parts = len(texts(desk)) - 1
    assert editor.count.text() == (
        f"In the first 2 rows 1 text becomes {parts} parts. Each part gets a vector of its own."
    )
    editor.tokens.setValue(1_000)
    assert "1 text becomes 2 parts" in editor.count.text()
    await until(lambda: desk.is_ready() and len(texts(desk)) == 3)
    desk.click(editor.end_link)
    await until(lambda: desk.is_ready() and len(texts(desk)) == 2)


async def test_parts_are_counted_by_context_where_a_cell_holds_several(
    desk: Desk, tmp_path: Path, until: Until
) -> None:
    path = tmp_path / "nested.jsonl"
    long = "word " * 500
    path.write_text("".join(json.dumps({"query": f"q {n}", "contexts": ["short", long]}) + "\n" for n in range(3)))
    await opened(desk, path, until)
    choose_from_layouts(desk, "Cut long texts")
    editor = desk.page.data.split
    await until(lambda: editor.isVisible() and desk.is_ready())
    assert editor.count.text() == "In the first 3 rows 3 texts become 9 parts. A text counts as its best part."


async def test_plain_text_by_line_paragraph_or_whole(desk: Desk, tmp_path: Path, until: Until) -> None:
    path = tmp_path / "story.txt"
    path.write_text("One.\nStill one.\n\nTwo.\n")
    await opened(desk, path, until)
    part = desk.page.data.first
    for words, count in (("One text a paragraph", 2), ("The whole file is one text", 1), ("One text a line", 3)):
        desk.click(part.separator)
        desk.pick(titled(words))
        await until(holds(desk, count))
    assert part.separator.text() == "one text a line"


async def test_a_choice_is_remembered_for_files_that_are_built_alike(
    desk: Desk, products: Path, tmp_path: Path, until: Until
) -> None:
    await opened(desk, products, until)
    assert not desk.page.data.known.isVisible()
    desk.choose_role(0, Role.IGNORE)
    choose_from_layouts(desk, "Join several columns")
    await until(lambda: desk.is_ready() and texts(desk)[0] == "Lamp. It is warm")
    other = tmp_path / "june.csv"
    other.write_text(PRODUCTS.replace("Lamp", "Sofa"))
    await opened(desk, other, until)
    assert desk.page.data.known.isVisible()
    assert desk.state.mapping is not None
    assert desk.state.mapping.roles == (Role.IGNORE, Role.KEEP, Role.TEXT)
    assert texts(desk)[0] == "Sofa. It is warm"
    desk.click(desk.page.data.undo)
    await until(lambda: desk.is_settled() and desk.is_ready() and texts(desk)[0] == "It is warm")
    assert not desk.page.data.known.isVisible()
    await opened(desk, other, until)
    assert not desk.page.data.known.isVisible() and texts(desk)[0] == "It is warm"


async def test_a_choice_that_is_taken_back_is_not_remembered(desk: Desk, products: Path, until: Until) -> None:
    await opened(desk, products, until)
    desk.choose_role(0, Role.IGNORE)
    await until(desk.is_ready)
    desk.choose_role(0, Role.ID)
    await until(desk.is_ready)
    await opened(desk, products, until)
    assert not desk.page.data.known.isVisible()


async def test_how_a_file_is_read_is_remembered_too(desk: Desk, tmp_path: Path, until: Until) -> None:
    one, other = tmp_path / "one.txt", tmp_path / "other.txt"
    one.write_text("One.\nStill one.\n\nTwo.\n")
    other.write_text("Three.\n\nFour.\nStill four.\n")
    await opened(desk, one, until)
    desk.click(desk.page.data.first.separator)
    desk.pick(lambda action: action.text() == "One text a paragraph")
    await until(lambda: desk.is_ready() and len(texts(desk)) == 2)
    await opened(desk, other, until)
    assert desk.page.data.known.isVisible() and texts(desk) == ["Three.", "Four.\nStill four."]
    desk.click(desk.page.data.undo)
    await until(lambda: desk.is_settled() and desk.is_ready() and len(texts(desk)) == 3)
    assert desk.state.file is not None and desk.state.file.source.format == FileFormat.LINES


async def test_what_was_chosen_for_another_kind_of_job_is_left_alone(desk: Desk, products: Path, until: Until) -> None:
    await opened(desk, products, until)
    desk.choose_role(0, Role.IGNORE)
    await until(desk.is_ready)
    await until(lambda: not desk.page.drafts.tasks.is_running("remember 1"))
    desk.new_draft()
    desk.page.what.rank.choose()
    await until(lambda: desk.state.kind is Kind.RANK)
    desk.page.open_path(products)
    await until(desk.is_settled)
    assert not desk.page.data.known.isVisible()
    assert desk.state.mapping is not None and desk.state.mapping.layout is Layout.LONG


async def test_a_recipe_is_saved_used_renamed_and_deleted(
    desk: Desk, products: Path, tmp_path: Path, until: Until
) -> None:
    await opened(desk, products, until)
    choose_from_layouts(desk, "Join several columns")
    await until(lambda: desk.is_ready() and texts(desk)[0] == "Lamp. It is warm")
    entry(recipe_menu(desk), "Save this as a recipe…")
    await answer(desk, until, "Catalogue & more")
    said = "Saved the recipe “Catalogue & more”. It stands under Recipes for files with these columns."
    await until(lambda: desk.notices.texts() == [said])

    other = tmp_path / "other.csv"
    other.write_text("body,title,sku,colour\nIt is soft,Sofa,7,red\n")
    await opened(desk, other, until)
    assert texts(desk) == ["It is soft"]
    entry(recipe_menu(desk), "Catalogue && more")
    await until(lambda: desk.is_settled() and desk.is_ready() and texts(desk) == ["Sofa. It is soft"])

    foreign = tmp_path / "foreign.csv"
    foreign.write_text("text\nhello\n")
    await opened(desk, foreign, until)
    action = recipe_menu(desk).actions()[0]
    assert not action.isEnabled() and action.toolTip() == "There is no column “sku”."

    rename = next(action.menu() for action in recipe_menu(desk).actions() if action.text() == "Rename")
    assert isinstance(rename, QMenu)
    entry(rename, "Catalogue && more")
    await answer(desk, until, "Goods")
    await until(lambda: [each.name for each in desk.program.recipes.recipes()] == ["Goods"])
    delete = next(action.menu() for action in recipe_menu(desk).actions() if action.text() == "Delete")
    assert isinstance(delete, QMenu)
    entry(delete, "Goods")
    await until(lambda: desk.notices.texts()[-1:] == ["Deleted the recipe “Goods”."])
    assert desk.program.recipes.recipes() == ()
    desk.notices.bars()[-1].links()[0].click()
    await until(lambda: [each.name for each in desk.program.recipes.recipes()] == ["Goods"])


async def answer(desk: Desk, until: Until, text: str) -> None:
    """Type into the dialog that asks for one line."""
    await until(lambda: any(dialog.isVisible() for dialog in desk.page.findChildren(QInputDialog)))
    dialog = next(dialog for dialog in desk.page.findChildren(QInputDialog) if dialog.isVisible())
    dialog.setTextValue(text)
    dialog.accept()


async def test_a_folder_and_what_was_left_aside_are_said(desk: Desk, tmp_path: Path, until: Until) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    for name, text in (("a.txt", "One"), ("b.md", "Two"), ("picture.png", "no text")):
        (folder / name).write_text(text)
    await opened(desk, folder, until)
    assert desk.page.data.first.facts.text() == "2 rows · 2 columns · a folder, one text a file"
    assert desk.page.data.first.notice.isVisible()
    assert "left aside" in desk.page.data.first.notice.text()


async def test_more_rows_are_shown_when_they_are_wanted(desk: Desk, tmp_path: Path, until: Until) -> None:
    path = tmp_path / "many.csv"
    path.write_text("id,text\n" + "".join(f"{n},text {n}\n" for n in range(3_000)))
    await opened(desk, path, until)
    part = desk.page.data.first
    for shown in (2_000, 3_000):
        assert part.more.isVisible()
        desk.click(part.more)
        await until(shows(desk, shown))
    assert not part.more.isVisible()
    assert part.table.model().index(2_999, 1).data() == "text 2999"


def shows(desk: Desk, rows: int) -> Callable[[], bool]:
    return lambda: desk.page.data.first.table.model().rowCount() == rows


async def test_a_choice_for_two_files_is_remembered_for_both(desk: Desk, tmp_path: Path, until: Until) -> None:
    queries, answers = tmp_path / "queries.csv", tmp_path / "answers.csv"
    queries.write_text("id,question\n1,why\n2,how\n")
    answers.write_text("number,title,answer\n1,Why,because\n2,How,so\n")

    async def both() -> None:
        await until(lambda: not any(desk.page.drafts.tasks.is_running(f"remember {number}") for number in range(1, 20)))
        desk.new_draft()
        desk.page.open_paths([queries, answers])
        await until(lambda: desk.is_settled() and desk.is_ready() and desk.state.second is not None)

    await both()
    assert not desk.page.data.known.isVisible()
    choose_from_layouts(desk, "Join several columns")
    await until(lambda: desk.is_ready() and "Why. because" in texts(desk))
    await both()
    assert desk.page.data.known.isVisible() and "Why. because" in texts(desk)
    desk.click(desk.page.data.undo)
    await until(lambda: desk.is_settled() and desk.is_ready() and "because" in texts(desk))
    assert desk.state.second is not None and not desk.page.data.known.isVisible()
