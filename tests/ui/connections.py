"""The page of connections on the screen, over a real program, as its tests need it; and what a user does there."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

from keyring.backend import KeyringBackend
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAction, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QDialog, QFileDialog, QLabel, QLineEdit, QMenu, QWidget

from cfbatch_gui.core.connections.credentials import Credentials
from cfbatch_gui.core.program import Program
from cfbatch_gui.ui.connections.connection_cards import SavedCard
from cfbatch_gui.ui.connections.connection_page import ConnectionPage
from cfbatch_gui.ui.dialogs import Question
from cfbatch_gui.ui.notices import Notices
from cfbatch_gui.ui.widgets import Button, Choice
from tests.screen.person import Person

Page = TypeVar("Page", bound=QWidget)
until: Callable[..., Awaitable[None]] = Person().until
"""`await until(lambda: what the user sees)`; the last word of an assertion that takes a moment."""


@asynccontextmanager
async def shown_page(
    root: Path,
    make: Callable[[Program, Notices], Page],
    *,
    prepare: Callable[[Program], Awaitable[object]] | None = None,
    **opening: Any,
) -> AsyncIterator[tuple[Program, Page]]:
    """A page with tasks on the screen, in a program of its own, which is opened so and prepared."""
    program = await Program.open(root / "data", practice_times=(0.0, 0.0), **{"environ": {}, **opening})
    if prepare is not None:
        await prepare(program)
    notices = Notices()
    page = make(program, notices)
    page.resize(1004, 820)
    page.show()
    yield program, page
    await page.tasks.close()  # type: ignore[attr-defined]  # of every page
    await program.close()
    for widget in (page, notices):
        widget.close()
        widget.deleteLater()


@asynccontextmanager
async def opened_page(
    root: Path,
    backend: KeyringBackend,
    url: str = "",
    *,
    browser: Callable[[str], bool] = lambda address: False,
    prepare: Callable[[Program], Awaitable[object]] | None = None,
    **environ: str,
) -> AsyncIterator[ConnectionPage]:
    def make(program: Program, notices: Notices) -> ConnectionPage:
        return ConnectionPage(program, notices, open_in_browser=browser)

    environ |= {"CLOUDFLARE_API_BASE_URL": url} if url else {}
    opening = {"environ": environ, "credentials": Credentials(backend, environ)}
    async with shown_page(root, make, prepare=prepare, **opening) as (_, page):
        await until(lambda: not page.tasks.is_running("refresh"))
        yield page


D = TypeVar("D", bound=QDialog)


async def shown(kind: type[D]) -> D:
    """The dialog of this kind, once it is on the screen."""

    def there() -> list[D]:
        return [each for each in QApplication.topLevelWidgets() if isinstance(each, kind) and each.isVisible()]

    await until(there)
    return there()[0]


async def choose_path(parent: QWidget, path: Path, *, proposed: str = "") -> None:
    """Type a name into the dialog for files that is open, in place of one that is `proposed`, and accept it."""
    await until(lambda: parent.findChild(QFileDialog))
    dialog = parent.findChild(QFileDialog)
    assert isinstance(dialog, QFileDialog)
    name = dialog.findChild(QLineEdit, "fileNameEdit")
    assert isinstance(name, QLineEdit)
    assert not proposed or name.text() == proposed
    name.setText(str(path))
    dialog.accept()
    await until(lambda: not parent.findChild(QFileDialog))


def click(button: QAbstractButton) -> None:
    assert button.isEnabled() and button.isVisible()
    if button.inherits("QRadioButton"):
        QTest.mouseClick(button, Qt.MouseButton.LeftButton, pos=button.rect().center() / 4)
    else:
        QTest.mouseClick(button, Qt.MouseButton.LeftButton)


def drag(widget: QWidget, *way: QPoint) -> None:
    """Press the mouse, move it from place to place, and let go at the last."""
    QTest.mousePress(widget, Qt.MouseButton.LeftButton, pos=way[0])
    for place in way[1:]:
        QTest.mouseMove(widget, place)
    QTest.mouseRelease(widget, Qt.MouseButton.LeftButton, pos=way[-1])


def pick(choice: Choice, value: object) -> None:
    """Choose a value from a list, as its user does."""
    choice.set_value(value)
    choice.picked.emit(value)


def paste(field: QLineEdit, text: str) -> None:
    QGuiApplication.clipboard().setText(text)
    field.selectAll()
    field.paste()
    QGuiApplication.clipboard().clear()


def entries(menu: QMenu) -> dict[str, QAction]:
    """What a menu has when it opens, by its words without their keys."""
    menu.aboutToShow.emit()
    return {action.text().partition("\t")[0]: action for action in menu.actions() if not action.isSeparator()}


def offered(menu: QMenu) -> set[str]:
    """The entries that can be chosen."""
    return {text for text, action in entries(menu).items() if action.isVisible() and action.isEnabled()}


WORKER = "Your own Worker"  # the kind of connection, as it stands in the menu


def begin(page: ConnectionPage, entry: str) -> SavedCard:
    """Choose it in the menu "New connection", which developers have; the new card."""
    page.program.change_settings(for_developers=True)
    entries(page.new_button.menu())[entry].trigger()
    return page.cards[-1]


def field(card: SavedCard, name: str) -> QLineEdit:
    return card.lines[name].field


def choose(card: SavedCard, text: str) -> None:
    entries(card.more.menu())[text].trigger()


async def settled(page: ConnectionPage) -> None:
    """Wait until nothing is under way on the page."""
    await until(lambda: not page.tasks.running())


async def save(page: ConnectionPage, card: SavedCard) -> None:
    click(card.save_button)
    await settled(page)


async def answer(parent: QWidget, text: str) -> str:
    """Press a button of the question that is asked; the words of the question."""
    question = await shown(Question)
    click(next(button for button in question.findChildren(Button) if button.text() == text))
    await until(lambda: not parent.findChild(Question))
    return question.text


async def answer_line(text: str) -> None:
    """Type into the dialog that asks for one line, and accept it."""
    question = await shown(Question)
    field = question.findChild(QLineEdit)
    assert isinstance(field, QLineEdit)
    field.setText(text)
    QTest.keyClick(question, Qt.Key.Key_Return)


def states(card: SavedCard) -> list[str]:
    """The first four results of its test; a Worker has another one."""
    return [row.word.text() for row in card.checks.rows[:4]]


def everything_said(root: QWidget) -> str:
    """All that can be seen, hovered or read aloud."""
    said: list[str] = []
    for widget in (root, *root.findChildren(QWidget)):
        said += [widget.toolTip(), widget.accessibleName(), widget.accessibleDescription(), widget.windowTitle()]
        if isinstance(widget, QLabel | QAbstractButton | QLineEdit):
            said.append(widget.text())
    return "\n".join(said)
