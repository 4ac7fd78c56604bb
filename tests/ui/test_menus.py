"""The menu bar, the help and what the program says of itself."""

import re
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QObject, Qt, QUrl, Slot
from PySide6.QtGui import QAction, QDesktopServices, QImage, QTextDocument
from PySide6.QtTest import QSignalSpy
from PySide6.QtWidgets import QApplication, QMenu

from cfbatch_gui import __version__
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.system.languages import ENGLISH, Language, languages, use_language
from cfbatch_gui.core.system.paths import resource
from cfbatch_gui.ui.help import RELEASES, AboutDialog, HelpWindow, ShortcutsDialog, Topic, diagnostics, licence_text
from cfbatch_gui.ui.key_names import control_name, in_help
from cfbatch_gui.ui.theme import Scheme, Theme
from cfbatch_gui.ui.widgets import Button, SearchField, boxed, column
from cfbatch_gui.ui.window.main_window import MainWindow
from cfbatch_gui.ui.window.menus import Menus
from tests.screen.past import draft
from tests.screen.stage import opened


class Nowhere:
    def get(self, key: str) -> str:
        return ""

    def set(self, key: str, value: str) -> None:
        pass


@pytest.fixture
def window(qtbot: Any) -> MainWindow:
    window = MainWindow(Nowhere())
    Menus(window, Scheme.DARK)
    qtbot.addWidget(window, before_close_func=lambda each: each.finish())
    window.show()
    return window


def entries(menu: QMenu) -> dict[str, QAction]:
    """The entries of a menu by their words."""
    return {action.text().partition("\t")[0]: action for action in menu.actions() if not action.isSeparator()}


def menus(window: MainWindow) -> dict[str, QMenu]:
    """The menus of the bar by their titles."""
    found = {menu.title(): menu for menu in window.menuBar().findChildren(QMenu)}
    titles = [action.text() for action in window.menuBar().actions()]
    return {title.replace("&", ""): found[title] for title in titles}


def test_the_menu_bar_is_there_and_names_every_command(window: MainWindow) -> None:
    shown = menus(window)
    assert list(shown) == ["File", "Edit", "Job", "View", "Help"]
    assert window.menuBar().isVisible()
    for title, menu in shown.items():
        names = entries(menu)
        assert len(names) == len({*names}), title
    assert entries(shown["View"])["Dark"].isChecked()
    assert entries(shown["File"])["Settings"].shortcut().toString() == "Ctrl+,"


def test_each_key_of_the_menus_stands_in_the_list_of_shortcuts(qtbot: Any, window: MainWindow) -> None:
    dialog = ShortcutsDialog(window)
    qtbot.addWidget(dialog)
    listed = {keys for keys, _ in dialog.shortcuts()}
    of_menus = {
        action.shortcut().toString()
        for menu in menus(window).values()
        for action in menu.actions()
        if not action.shortcut().isEmpty()
    }
    of_window = {action.shortcut().toString() for action in window.actions() if not action.shortcut().isEmpty()}
    assert (of_menus | of_window) - listed == set()


def test_f10_opens_the_first_menu(qtbot: Any, window: MainWindow) -> None:
    window.activateWindow()
    qtbot.keyClick(window, Qt.Key.Key_F10)
    assert window.menuBar().activeAction().text() == "&File"


def test_find_in_this_page_goes_to_its_field(qtbot: Any, window: MainWindow) -> None:
    field = SearchField("Find in queries")
    window.show_page(boxed(column(Button("Other"), field)))
    window.activateWindow()
    entries(menus(window)["Edit"])["Find in this page"].trigger()
    assert window.focusWidget() is field or field.isAncestorOf(window.focusWidget())


async def test_the_menu_job_has_what_the_open_page_offers(tmp_path: Path, theme: Theme) -> None:
    async with opened(tmp_path / "data", theme) as stage:
        job_menu = menus(stage.workspace.window)["Job"]
        job_menu.aboutToShow.emit()
        assert list(entries(job_menu)) == ["No job is open", "In your account…"]
        await stage.person.press(Qt.Key.Key_N, Qt.KeyboardModifier.ControlModifier)
        await stage.person.until_sees("Your data")
        job_menu.aboutToShow.emit()
        words = entries(job_menu)
        assert {"Rename", "Duplicate", "Delete"} <= {*words}
        send = next(action for name, action in words.items() if name.startswith("Send"))
        assert not send.isEnabled() and send.toolTip()


def test_the_scheme_chosen_elsewhere_is_ticked(window: MainWindow) -> None:
    made = window.findChild(Menus)
    assert made is not None
    made.show_scheme(Scheme.LIGHT)
    assert entries(menus(window)["View"])["Light"].isChecked()


def test_about_names_the_version_and_the_licences(qtbot: Any, window: MainWindow) -> None:
    about = QSignalSpy(window.about)
    entries(menus(window)["Help"])["About CF Batch"].trigger()
    assert about.count() == 1
    text = licence_text()
    assert re.search(r"PySide6.Essentials \d+\.\d+.* · .*LGPL", text)
    assert "ISC" in text  # of the icons
    assert all(line.rpartition(" · ")[2] not in ("", "–") for line in text.partition("\n\n")[0].splitlines())


async def test_diagnostics_hold_no_secrets_and_no_names(tmp_path: Path, theme: Theme) -> None:
    async with opened(tmp_path / "data", theme) as stage:
        program = stage.program
        await draft(program, "Secret plans of Müller", resource("examples/product-texts.csv"), Kind.EMBED)
        account = "0123456789abcdef" * 2
        program.paths.logs.mkdir(exist_ok=True)
        line = f"refused Bearer abcdefghijklmnop of {account} in {Path.home()}/texts.csv\n"
        program.paths.log.write_text(line, "utf-8")
        dialog = AboutDialog(program, stage.workspace.window)
        dialog.copy_button.click()
        copied = QApplication.clipboard().text()
        assert copied == diagnostics(program)
        assert f"CF Batch {__version__}" in copied and "Jobs: 1 draft" in copied and "~/texts.csv" in copied
        assert not any(secret in copied for secret in ("Müller", "abcdefghijklmnop", account))


class Browser(QObject):
    """Takes the addresses that the program has the system open."""

    def __init__(self) -> None:
        super().__init__()
        self.opened: list[str] = []

    @Slot(QUrl)
    def take(self, address: QUrl) -> None:
        self.opened.append(address.toString())


async def test_what_is_new_is_read_in_the_browser_when_the_user_asks(tmp_path: Path, theme: Theme) -> None:
    browser = Browser()
    QDesktopServices.setUrlHandler("https", browser, "take")  # type: ignore[arg-type]  # the stub is wrong
    try:
        async with opened(tmp_path / "data", theme) as stage:
            dialog = AboutDialog(stage.program, stage.workspace.window)
            assert browser.opened == [], "it looks for nothing by itself"
            dialog.news_button.click()
        assert browser.opened == [RELEASES]
    finally:
        QDesktopServices.unsetUrlHandler("https")


@pytest.mark.parametrize("language", languages(), ids=lambda language: language.code)
@pytest.mark.parametrize("topic", list(Topic))
def test_each_page_of_the_help_has_a_title_and_its_pictures(qtbot: Any, topic: Topic, language: Language) -> None:
    use_language(language)
    try:
        help_window = HelpWindow()
        qtbot.addWidget(help_window)
        help_window.show_topic(topic)
    finally:
        use_language(ENGLISH)
    text = resource(f"help/{language.code}/{topic}.md").read_text("utf-8")
    title = help_window.topics.currentItem().text()
    assert text.startswith(f"# {title}\n") and help_window.page.toPlainText().startswith(title)
    english = resource(f"help/en/{topic}.md").read_text("utf-8")
    pictures = re.findall(r"!\[.*?\]\((.*?)\)", text)
    assert pictures == re.findall(r"!\[.*?\]\((.*?)\)", english)
    for picture in pictures:
        image = help_window.page.loadResource(QTextDocument.ResourceType.ImageResource.value, QUrl(picture))
        assert isinstance(image, QImage) and image.width() > 200, picture


def test_what_is_a_score_opens_its_page(qtbot: Any, window: MainWindow) -> None:
    entries(menus(window)["Help"])["What is a score?"].trigger()
    shown = window.findChild(HelpWindow)
    assert shown is not None and "It is not a percentage" in shown.page.toPlainText()
    shown.close()


def test_macos_moves_what_is_meant_and_nothing_else(window: MainWindow) -> None:
    roles = {
        action.text(): action.menuRole()
        for menu in window.menuBar().findChildren(QMenu)
        for action in menu.actions()
        if action.menuRole() not in (QAction.MenuRole.NoRole, QAction.MenuRole.TextHeuristicRole)
    }
    assert roles == {
        "Settings": QAction.MenuRole.PreferencesRole,
        "Quit": QAction.MenuRole.QuitRole,
        "About CF Batch": QAction.MenuRole.AboutRole,
    }
    guessed = {
        action.text().partition("\t")[0]
        for menu in window.menuBar().findChildren(QMenu)
        for action in menu.actions()
        if action.menuRole() is QAction.MenuRole.TextHeuristicRole and action.text() and action.menu() is None
    }
    assert guessed == {"Copy", "Paste", "Select all", "Find in this page"}, "which begin with no word that it moves"


def test_the_help_names_the_keys_of_macos() -> None:
    english = resource("help/en/sending.md").read_text("utf-8")
    german = resource("help/de/exporting.md").read_text("utf-8")
    assert in_help(english, "linux") == english and "**Ctrl+Z**" in english
    assert "**⌘Z**" in in_help(english, "darwin") and "Hold **⌘** or" in in_help(english, "darwin")
    assert "**⌘C**" in in_help(german, "darwin") and "Strg" not in in_help(german, "darwin")
    assert (control_name("darwin"), control_name("win32")) == ("⌘", "Ctrl")
