"""A draft of two lists: both are brought, put together, matched in other ways, and sent, each text once."""

from collections.abc import Sequence
from pathlib import Path

import pytest
import xlsxwriter
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent
from PySide6.QtWidgets import QApplication

from cfbatch_gui.core.inputs.input_values import Kind, Layout, Role
from cfbatch_gui.core.jobs.states import JobState, Purpose
from cfbatch_gui.ui.widgets.bars import DropTarget
from tests.ui.connections import pick, until
from tests.ui.inputs.conftest import DraftDriver

A = """article,description,size,department
1,Stock pot,8 l,Kitchen
2,Frying pan,28 cm,Kitchen
3,,,Garden
4,Spade,,Garden
"""
B = "sku;name;department\nx1;Frying pan, 28 cm;Kitchen\nx2;Stock pot;Kitchen\nx3;spade;Garden\n"


@pytest.fixture
def lists(tmp_path: Path) -> tuple[Path, Path]:
    a, b = tmp_path / "supplier.csv", tmp_path / "own.csv"
    a.write_text(A)
    b.write_text(B)
    return a, b


def drop(widget: DropTarget, *paths: Path) -> None:
    """As the mouse does that holds files."""
    mime = QMimeData()
    mime.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    button, none = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    widget.dropEvent(QDropEvent(QPointF(5, 5), Qt.DropAction.CopyAction, mime, button, none))


def names(driver: DraftDriver) -> list[str]:
    return [each.path.name for each in driver.state.files]


def texts(driver: DraftDriver, file: int) -> list[str]:
    with driver.program.folder(driver.job.id).open(read_only=True) as database:
        return [row[0] for row in database.execute("SELECT text FROM texts WHERE file = ? ORDER BY row", (file,))]


def choose_role(driver: DraftDriver, at: int, column: int, role: Role) -> None:
    header = driver.page.lists.parts[at].table.roles
    driver.qtbot.mouseClick(header.viewport(), Qt.MouseButton.LeftButton, pos=header.chip(column).center())
    driver.pick(lambda action: action.data() == role)


async def ready(driver: DraftDriver, *expected: str) -> None:
    await until(lambda: driver.is_settled() and driver.is_ready() and names(driver) == list(expected))


async def test_two_lists_are_dropped_joined_swapped_and_sent(driver: DraftDriver, lists: Sequence[Path]) -> None:
    page = driver.page
    job = driver.new_draft("New job")
    drop(page, *lists)
    await ready(driver, "supplier.csv", "own.csv")
    assert driver.job.purpose is Purpose.MATCH and page.what.is_folded() and page.lists.isVisible()
    assert not page.data.isVisible()
    a, b = page.lists.parts
    assert a.geometry().top() == b.geometry().top() and a.size() == b.size()
    assert all(part.table.role_of(1) is Role.TEXT for part in (a, b))
    choose_role(driver, 0, 2, Role.KEEP)
    await until(lambda: driver.is_ready() and texts(driver, 1) == ["Stock pot", "Frying pan", "Spade"])
    choose_role(driver, 0, 2, Role.TEXT)
    await until(lambda: driver.is_ready() and texts(driver, 1) == ["Stock pot, 8 l", "Frying pan, 28 cm", "Spade"])
    assert all(name in page.lists.sentence.text() for name in ("description", "size", "name"))
    counted = driver.state.lists
    assert counted is not None
    assert (counted.rows, counted.texts, counted.same) == ((4, 3), (3, 3), 2)

    driver.click(page.lists.swap_button)
    await ready(driver, "own.csv", "supplier.csv")
    assert texts(driver, 2) == ["Stock pot, 8 l", "Frying pan, 28 cm", "Spade"]
    driver.click(page.lists.swap_button)
    await ready(driver, "supplier.csv", "own.csv")

    found = driver.state.preflight
    matching = page.matching
    driver.click(matching.each_once)
    driver.click(matching.not_within.box)
    await until(matching.not_within.choice.isVisible)
    assert matching.not_within.choice.value() == "department"
    assert not matching.within.box.isEnabled()  # both limits by one column would leave no row
    pick(matching.best, 5)
    await until(lambda: driver.job.options.matching.best == 5)
    options = driver.job.options.matching
    assert options.each_once and (options.within, options.not_within) == ("", "department")
    assert driver.state.preflight is found  # nothing of it is sent

    await until(driver.is_ready)
    driver.click(page.check.send_button)
    await until(lambda: driver.sent == [job.id])
    done = await driver.program.runner.wait(job.id)
    assert done.state is JobState.DONE and done.options.matching == options
    assert sum(batch.texts for batch in done.batches) == 5  # one of six is in both lists, letter by letter

    driver.new_draft("New job")  # next month's lists, of which earlier answers are taken
    lists[1].write_text(f"{B}x4;Wheelbarrow;Garden\n")
    drop(page, *lists)
    await until(lambda: page.version.isVisible() and driver.is_ready())
    assert page.lists.is_folded() and driver.state.version is not None
    assert (len(driver.state.version.sent), driver.state.preflight and driver.state.preflight.sent_texts) == (1, 1)


async def wants_b(driver: DraftDriver, name: str) -> None:
    """List A is read, and nothing can be sent before there is a list B."""
    await until(lambda: [each.path.name for each in driver.state.files] == [name] and driver.state.preflight)
    assert not driver.is_ready()


async def test_list_b_comes_later_and_may_be_another_sheet_the_same_or_none(
    driver: DraftDriver, lists: Sequence[Path], tmp_path: Path
) -> None:
    path = tmp_path / "both.xlsx"
    with xlsxwriter.Workbook(path) as book:
        for name, words in (("Old", ("Lamp", "Sofa")), ("New", ("Lamp, brass", "Chair", "Sofa"))):
            book.add_worksheet(name).write_column(0, 0, ["title", *words])
    job = driver.new_draft("New job", kind=Kind.EMBED)
    driver.program.drafts.use_for(job.id, purpose=Purpose.MATCH)
    driver.start_again()
    page, (a, b) = driver.page, driver.page.lists.parts
    await until(lambda: a.missing.isVisible() and b.missing.isVisible())
    drop(a, path)
    await wants_b(driver, "both.xlsx")
    assert b.sheets.isVisible() and b.same.isVisible()
    b.sheets.menu().actions()[0].trigger()
    await ready(driver, "both.xlsx", "both.xlsx")
    assert [each.source.sheet for each in driver.state.files] == ["Old", "New"]
    assert (texts(driver, 1), len(texts(driver, 2))) == (["Lamp", "Sofa"], 3)
    driver.click(b.header)  # of the second sheet alone
    await until(lambda: driver.is_ready() and len(texts(driver, 2)) == 4)
    assert len(texts(driver, 1)) == 2

    driver.start_again()
    await ready(driver, "both.xlsx", "both.xlsx")
    assert [each.source.sheet for each in driver.state.files] == ["Old", "New"]
    page.drafts.remove_second()
    await wants_b(driver, "both.xlsx")
    driver.click(b.same)
    await until(lambda: not b.isVisible() and driver.is_ready())
    assert not page.matching.each_once.isVisible()
    drop(a, lists[0])  # another file for the list that is there
    await wants_b(driver, "supplier.csv")
    QApplication.clipboard().setText(B.replace(";", "\t"))
    page.drafts.paste()
    await ready(driver, "supplier.csv", "pasted.tsv")
    drop(b, lists[0])
    await ready(driver, "supplier.csv", "supplier.csv")
    assert len(texts(driver, 1)) == len(texts(driver, 2)) == 3
    assert driver.state.preflight is not None and driver.state.preflight.sent_texts == 3


async def test_another_purpose_keeps_the_files_and_sends_nothing(driver: DraftDriver, lists: Sequence[Path]) -> None:
    driver.new_draft("New job")
    driver.page.drafts.open_paths(lists)
    await ready(driver, "supplier.csv", "own.csv")
    for purpose, layout, count in (
        (Purpose.GROUPS, Layout.TEXTS, 1),
        (Purpose.RANK, Layout.SHARED, 2),
        (Purpose.CATEGORIES, Layout.LISTS, 2),
        (Purpose.VECTORS, Layout.TEXTS, 1),
        (Purpose.MATCH, Layout.LISTS, 2),
    ):
        driver.page.what.set_folded(False)
        driver.click(driver.page.what.cards[purpose])
        await until(lambda purpose=purpose: driver.is_settled() and driver.job.purpose is purpose and driver.is_ready())
        assert driver.state.mapping is not None and driver.state.mapping.layout is layout
        assert len(driver.state.files) == count and driver.page.what.cards[purpose].isChecked()
        assert driver.page.lists.isVisible() is purpose.takes_lists
    assert not driver.job.is_sent


async def test_a_recipe_joins_the_columns_of_both_lists(driver: DraftDriver, lists: Sequence[Path]) -> None:
    driver.new_draft("New job")
    drafts, section = driver.page.drafts, driver.page.lists
    drafts.open_paths(lists)
    await ready(driver, "supplier.csv", "own.csv")
    for at in (0, 1):
        section.open_menu().actions()[at].trigger()
        await until(lambda at=at: driver.is_settled() and driver.is_ready() and section.templates[at].isVisible())
    section.templates[1].field.setText("")
    driver.qtbot.keyClicks(section.templates[1].field, "{sku} {name}\r")
    await until(lambda: driver.is_ready() and texts(driver, 2)[0] == "x1 Frying pan, 28 cm")
    assert texts(driver, 1)[0] == "Stock pot, 8 l"
    choose_role(driver, 0, 0, Role.LABEL)
    await until(driver.is_ready)
    recipe = driver.state.recipe
    assert recipe is not None
    driver.new_draft("New job")
    drafts.open_paths(lists)
    await ready(driver, "supplier.csv", "own.csv")
    driver.notices.undos.undo()  # of reading them as those before
    await until(lambda: driver.is_settled() and driver.is_ready() and texts(driver, 2)[0] == "Frying pan, 28 cm")
    drafts.use_recipe(recipe)
    await until(lambda: driver.is_ready() and texts(driver, 2)[0] == "x1 Frying pan, 28 cm")
    assert driver.state.mapping == recipe.mapping


async def test_a_ranking_of_all_pairs_says_what_a_match_costs(driver: DraftDriver, tmp_path: Path) -> None:
    paths = [tmp_path / "old.csv", tmp_path / "new.csv"]
    for path in paths:
        path.write_text("title\n" + "".join(f"{path.stem} page {n}\n" for n in range(320)))
    job = driver.new_draft("New job")
    driver.program.drafts.use_for(job.id, purpose=Purpose.RANK)
    driver.start_again()
    driver.page.drafts.open_paths(paths)
    await ready(driver, "old.csv", "new.csv")
    instead = driver.page.check.instead
    assert driver.counts() == (320, 320 * 320) and instead.isVisible()
    driver.click(instead.links()[0])
    await until(lambda: driver.is_settled() and driver.is_ready() and driver.job.purpose is Purpose.MATCH)
    assert driver.counts()[1] == 640 and not instead.isVisible() and driver.page.lists.isVisible()


async def test_in_a_narrow_window_b_stands_below_a(driver: DraftDriver, lists: Sequence[Path]) -> None:
    driver.window.resize(920 - 221, 760)
    driver.new_draft("New job")
    driver.page.drafts.open_paths(lists)
    await ready(driver, "supplier.csv", "own.csv")
    a, b = driver.page.lists.parts
    await until(lambda: b.geometry().top() >= a.geometry().bottom())
    assert a.width() == b.width() and driver.page.area.horizontalScrollBar().maximum() == 0
    first, last = (a.table.mapTo(a, QPoint(0, a.table.height())).y(), a.height())
    assert first <= last


async def test_references_are_for_searching(driver: DraftDriver, tmp_path: Path) -> None:
    job = driver.new_draft("New job")
    (tmp_path / "found.ris").write_text("TY  - JOUR\nTI  - One\nAB  - First.\nER  -\nTY  - JOUR\nTI  - Two\nER  -\n")
    drop(driver.page, tmp_path / "found.ris")
    await ready(driver, "found.ris")
    assert (driver.job.id, driver.job.purpose) == (job.id, Purpose.SEARCH)
    assert texts(driver, 1) == ["One. First.", "Two"]


async def test_categories_are_typed_before_or_after_the_list_and_stay(
    driver: DraftDriver, lists: Sequence[Path], tmp_path: Path
) -> None:
    another, job = (driver.new_draft("New job", kind=Kind.EMBED) for _ in range(2))
    for each in (another, job):
        driver.program.drafts.use_for(each.id, purpose=Purpose.CATEGORIES)
    driver.start_again()
    b = driver.page.lists.parts[1]
    await until(b.typed.isVisible)
    b.typed.field.setPlainText("Cooking: pots | pans\n\n")
    await until(lambda: driver.state.typed is not None)

    def come_back() -> None:
        driver.page.drafts.forget(job.id)
        for each in (another, job):
            driver.page.show_job(driver.program.ledger.job(each.id))

    come_back()
    await until(lambda: b.typed.text() == "Cooking: pots | pans")
    driver.page.drafts.take([lists[0]])
    await until(lambda: driver.is_settled() and driver.state.preflight is not None)
    assert texts(driver, 2) == ["Cooking: pots", "Cooking: pans"] and driver.is_ready()

    driver.qtbot.keyClicks(b.typed.field, "\rDigging: spades")
    assert not driver.page.matching.isVisible() and not driver.page.lists.swap_button.isVisible()
    await until(lambda: driver.is_ready() and texts(driver, 2)[-1:] == ["Digging: spades"])
    come_back()
    await until(lambda: driver.is_settled() and driver.is_ready() and b.typed.text().endswith("Digging: spades"))
    b.typed.field.setPlainText("Cooking")
    await until(lambda: driver.is_settled() and not driver.is_ready() and texts(driver, 2) == ["Cooking"])
    drop(b, lists[1])
    await ready(driver, "supplier.csv", "own.csv")
    assert not b.typed.isVisible() and len(texts(driver, 2)) == 3
    driver.click(b.type_instead)
    b.typed.field.setPlainText("Cooking\nDigging")
    await until(lambda: driver.is_settled() and driver.is_ready() and texts(driver, 2) == ["Cooking", "Digging"])
    b.typed.field.setPlainText("")
    await wants_b(driver, "supplier.csv")
