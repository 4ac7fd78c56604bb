"""Columns joined to one text, long texts in parts, choices that are remembered, and recipes."""

from pathlib import Path

import pytest
from PySide6.QtWidgets import QMenu

from cfbatch_gui.core.inputs.input_values import CandidatePool, CandidateRule, Role
from cfbatch_gui.core.inputs.recipes import recipes_in
from tests.core.inputs.files import POSITIVES, data_set
from tests.ui.connections import answer_line, pick, until
from tests.ui.inputs.conftest import DraftDriver

PRODUCTS = "sku,title,body\n1,Lamp,It is warm\n2,Chair,It is cold\n3,,Nameless\n"


@pytest.fixture
def products(tmp_path: Path) -> Path:
    path = tmp_path / "products.csv"
    path.write_text(PRODUCTS)
    return path


def texts(driver: DraftDriver) -> list[str]:
    with driver.program.folder(driver.job.id).open(read_only=True) as database:
        return [row[0] for row in database.execute("SELECT text FROM texts ORDER BY text_no")]


def choose_from_layouts(driver: DraftDriver, words: str) -> None:
    menu = driver.page.data.open_layout_menu()
    next(action for action in menu.actions() if words in action.text()).trigger()
    menu.close()


def recipe_menu(driver: DraftDriver) -> QMenu:
    menu = driver.page.data.recipes.menu()
    menu.aboutToShow.emit()
    return menu


def entry(menu: QMenu, words: str) -> None:
    action = next(action for action in menu.actions() if action.text() == words)
    assert action.isEnabled()
    action.trigger()


def names(driver: DraftDriver) -> list[str]:
    return [each.name for each in recipes_in(driver.program.settings)]


async def opened(driver: DraftDriver, path: Path) -> None:
    """A new draft with this file."""
    driver.begin(path)
    await until(lambda: driver.is_settled() and driver.is_ready())


async def test_columns_are_joined_with_a_live_result(driver: DraftDriver, products: Path) -> None:
    await opened(driver, products)
    editor = driver.page.data.template
    assert not editor.isVisible()
    choose_from_layouts(driver, "Join several columns")
    await until(lambda: editor.isVisible() and driver.is_ready())
    assert editor.field.text() == "{title}. {body}"
    assert editor.results.texts() == ["Row 2", "Lamp. It is warm", "Row 3", "Chair. It is cold"]
    await until(lambda: texts(driver)[0] == "Lamp. It is warm")
    editor.field.setFocus()
    editor.field.selectAll()
    driver.qtbot.keyClicks(editor.field, "{title")
    assert editor.wrong.isVisible() and editor.wrong.text().startswith("The template has a single “{”.")
    assert texts(driver)[0] == "Lamp. It is warm"
    driver.qtbot.keyClicks(editor.field, "}")
    entry_menu = editor.insert.menu()
    entry_menu.aboutToShow.emit()
    entry(entry_menu, "sku")
    assert editor.results.texts()[1] == "Lamp1"
    await until(lambda: driver.is_ready() and texts(driver) == ["Lamp1", "Chair2", "3"])
    driver.click(editor.end_link)
    await until(lambda: driver.is_ready() and texts(driver)[0] == "It is warm")
    assert not editor.isVisible()


async def test_a_choice_is_remembered_for_files_that_are_built_alike(
    driver: DraftDriver, products: Path, tmp_path: Path
) -> None:
    await opened(driver, products)
    driver.choose_role(0, Role.IGNORE)
    choose_from_layouts(driver, "Join several columns")
    await until(lambda: driver.is_ready() and texts(driver)[0] == "Lamp. It is warm")
    other = tmp_path / "june.csv"
    other.write_text(PRODUCTS.replace("Lamp", "Sofa"))
    await opened(driver, other)
    assert driver.state.mapping is not None
    assert driver.state.mapping.roles == (Role.IGNORE, Role.KEEP, Role.TEXT)
    assert texts(driver)[0] == "Sofa. It is warm"
    driver.notices.undos.undo()
    await until(lambda: driver.is_settled() and driver.is_ready() and texts(driver)[0] == "It is warm")
    assert driver.notices.undos.latest() is None
    await opened(driver, other)
    assert driver.notices.undos.latest() is None and texts(driver)[0] == "It is warm"


async def test_what_columns_without_names_were_for_says_nothing_of_another_file(
    driver: DraftDriver, tmp_path: Path
) -> None:
    rows = [(str(number), f"A lamp of brass and wood, number {number} of twenty") for number in range(20)]
    for name, order in (("numbers-first", 1), ("numbers-last", -1)):
        path = tmp_path / f"{name}.csv"
        path.write_text("".join('"' + '","'.join(row[::order]) + '"\n' for row in rows))
        await opened(driver, path)
        assert texts(driver)[0] == rows[0][1]


async def test_a_recipe_is_saved_used_and_deleted(driver: DraftDriver, products: Path, tmp_path: Path) -> None:
    await opened(driver, products)
    choose_from_layouts(driver, "Join several columns")
    await until(lambda: driver.is_ready() and texts(driver)[0] == "Lamp. It is warm")
    entry(recipe_menu(driver), "Save this as a recipe…")
    await answer_line("Catalogue & more")
    await until(lambda: names(driver) == ["Catalogue & more"])

    other = tmp_path / "other.csv"
    other.write_text("body,title,sku,colour\nIt is soft,Sofa,7,red\n")
    await opened(driver, other)
    assert texts(driver) == ["It is soft"]
    entry(recipe_menu(driver), "Catalogue && more")
    await until(lambda: driver.is_settled() and driver.is_ready() and texts(driver) == ["Sofa. It is soft"])

    foreign = tmp_path / "foreign.csv"
    foreign.write_text("text\nhello\n")
    await opened(driver, foreign)
    action = recipe_menu(driver).actions()[0]
    assert not action.isEnabled() and action.toolTip() == "There is no column “sku”."

    delete = next(action.menu() for action in recipe_menu(driver).actions() if isinstance(action.menu(), QMenu))
    assert isinstance(delete, QMenu)
    entry(delete, "Catalogue && more")
    assert names(driver) == []
    driver.notices.undos.undo()
    assert names(driver) == ["Catalogue & more"]


async def test_what_is_chosen_is_read_and_is_there_when_the_draft_is_opened_again(
    driver: DraftDriver, tmp_path: Path
) -> None:
    await driver.open(data_set(tmp_path / "set", POSITIVES))
    choice = driver.page.data.candidates.choice
    assert choice.isVisible() and choice.currentText().startswith("A sample of ")
    for pool, texts in ((CandidatePool.CORPUS, 240), (CandidatePool.JUDGED, 3), (CandidatePool.CORPUS, 240)):
        pick(choice, CandidateRule(pool))
        await until(lambda texts=texts: driver.is_settled() and driver.job.texts == texts)
        assert choice.value() == CandidateRule(pool)
    draft = driver.program.folder(driver.job.id).draft()
    assert draft is not None
    assert draft.options.candidates == CandidateRule(CandidatePool.CORPUS)
    job = driver.job
    driver.page.drafts.forget(job.id)
    driver.new_draft("Another")
    driver.page.show_job(job)
    await until(lambda: driver.is_ready() and choice.isVisible())
    assert choice.value() == CandidateRule(CandidatePool.CORPUS)
    assert driver.job.texts == 240
