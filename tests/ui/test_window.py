"""The window: menus, help and notices, what is dropped on it, its smallest size, figures in another language."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QAction, QGuiApplication, QImage, QTextDocument
from PySide6.QtWidgets import QApplication, QLabel, QMenu, QPushButton, QSplitter, QWidget

from cfbatch_gui import __version__
from cfbatch_gui.core.errors import TokenRefused
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.resources import resource
from cfbatch_gui.ui.display import control_name, in_help
from cfbatch_gui.ui.help import HelpWindow, Topic, diagnostics, licence_text
from cfbatch_gui.ui.notices import NoticeListDialog, Notices
from cfbatch_gui.ui.plots.plot import ticks
from cfbatch_gui.ui.tables.table_view import TableView
from cfbatch_gui.ui.widgets import LinkButton, split
from cfbatch_gui.ui.widgets.bars import FileDrag
from cfbatch_gui.ui.window.main_window import MainWindow
from cfbatch_gui.words import figures
from cfbatch_gui.words.languages import ENGLISH, Language, languages, load_language, use_language
from cfbatch_gui.words.quality import signed
from tests.screen.past import draft, run
from tests.screen.stage import Stage
from tests.ui.connections import entries, until


@pytest.fixture
def window(qtbot: Any) -> MainWindow:
    window = MainWindow()
    qtbot.addWidget(window, before_close_func=lambda each: each.finish())
    window.show()
    return window


Role, HEURISTIC = QAction.MenuRole, QAction.MenuRole.TextHeuristicRole


def menus(window: MainWindow) -> dict[str, QMenu]:
    """The menus of the bar by their titles."""
    found = {menu.title(): menu for menu in window.menuBar().findChildren(QMenu)}
    titles = [action.text() for action in window.menuBar().actions()]
    return {title.replace("&", ""): found[title] for title in titles}


async def test_the_menus_name_every_command_and_its_key(stage: Stage) -> None:
    window = stage.workspace.window
    shown = menus(window)
    assert list(shown) == ["File", "Edit", "Job", "View", "Help"] and window.menuBar().isVisible()
    actions = [action for menu in shown.values() for action in menu.actions()]
    for title, menu in shown.items():
        names = [action.text() for action in menu.actions() if not action.isSeparator()]
        assert len(names) == len({*names}), title
    assert entries(shown["File"])["Settings"].shortcut().toString() == "Ctrl+,"
    # macOS moves what is meant and nothing else
    moved = {each.text(): each.menuRole() for each in actions if each.menuRole() not in (Role.NoRole, HEURISTIC)}
    assert moved == {"Settings": Role.PreferencesRole, "Quit": Role.QuitRole, "About CF Batch": Role.AboutRole}
    entries(shown["Help"])["What is a score?"].trigger()
    help_window = window.findChild(HelpWindow)
    assert help_window is not None and "It is not a percentage" in help_window.page.toPlainText()
    help_window.close()


async def test_the_menu_job_has_what_the_open_page_offers(stage: Stage) -> None:
    job_menu = menus(stage.workspace.window)["Job"]
    job_menu.aboutToShow.emit()
    assert list(entries(job_menu)) == ["No job is open"]
    for_developers = entries(menus(stage.workspace.window)["File"])["Add a job by its request ID…"]
    assert not for_developers.isVisible()
    stage.program.change_settings(for_developers=True)
    job_menu.aboutToShow.emit()
    assert list(entries(job_menu)) == ["No job is open", "In your account…"]
    await stage.person.click("Rank answers")
    await stage.person.until_sees("Your data")
    job_menu.aboutToShow.emit()
    words = entries(job_menu)
    assert {"Rename", "Duplicate", "Delete"} <= {*words} and for_developers.isVisible()
    send = next(action for name, action in words.items() if name.startswith("Send"))
    assert not send.isEnabled() and send.toolTip()


async def test_about_names_the_licences_and_copies_no_secrets_and_no_names(stage: Stage) -> None:
    text = licence_text()
    assert re.search(r"PySide6.Essentials \d+\.\d+.* · .*LGPL", text)
    assert "ISC" in text  # of the icons
    assert all(line.rpartition(" · ")[2] not in ("", "–") for line in text.partition("\n\n")[0].splitlines())
    program = stage.program
    await draft(program, "Secret plans of Müller", resource("examples/product-texts.csv"), Kind.EMBED)
    account = "0123456789abcdef" * 2
    program.paths.logs.mkdir(exist_ok=True)
    line = f"refused Bearer abcdefghijklmnop of {account} in {Path.home()}/texts.csv\n"
    program.paths.log.write_text(line, "utf-8")
    entries(menus(stage.workspace.window)["Help"])["About CF Batch"].trigger()
    await stage.person.click("Copy diagnostics")
    copied = QApplication.clipboard().text()
    assert copied == diagnostics(program)
    assert f"CF Batch {__version__}" in copied and "Jobs: 1 draft" in copied and "~/texts.csv" in copied
    assert not any(secret in copied for secret in ("Müller", "abcdefghijklmnop", account))
    await stage.person.click("Close")


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


def test_the_help_names_the_keys_of_macos() -> None:
    english = resource("help/en/sending.md").read_text("utf-8")
    german = resource("help/de/exporting.md").read_text("utf-8")
    assert in_help(english, "linux") == english and "**Ctrl+Z**" in english
    assert "**⌘Z**" in in_help(english, "darwin") and "Hold **⌘** or" in in_help(english, "darwin")
    assert "**⌘C**" in in_help(german, "darwin") and "Strg" not in in_help(german, "darwin")
    assert (control_name("darwin"), control_name("win32")) == ("⌘", "Ctrl")


def test_a_notice_fades_once_it_could_be_read_and_stays_in_the_list(qtbot: Any) -> None:
    notices = Notices(clock=lambda: 1_000_000.0)
    qtbot.addWidget(notices)
    notices.show_notice("Wrote 12 rows.", "done")
    notices.show_notice("Say what happened.", "attention", stays=True)
    notices.pass_time(5.0)
    assert len(notices.texts()) == 2
    notices.pass_time(60.0)
    qtbot.waitUntil(lambda: notices.texts() == ["Say what happened."])
    assert [(past.text, past.shown_at) for past in notices.past()] == [
        ("Say what happened.", 1_000_000.0),
        ("Wrote 12 rows.", 1_000_000.0),
    ]
    assert notices.unseen() == 1


def test_the_bell_says_what_faded_unseen_and_opens_the_list(qtbot: Any, window: MainWindow) -> None:
    window.notices.show_error(TokenRefused("Cloudflare refused the token.", detail="code 10000"))
    window.notices.pass_time(120.0)
    bell = window.library.foot.bell
    qtbot.waitUntil(lambda: window.notices.texts() == [])
    assert bell.accessibleName() == "Notices, 1 not seen"
    qtbot.mouseClick(bell, Qt.MouseButton.LeftButton)
    dialog = next(each for each in window.findChildren(NoticeListDialog))
    assert any("Cloudflare refused the token." in label.text() for label in dialog.findChildren(QLabel))
    copy = next(each for each in dialog.findChildren(QPushButton) if each.text() == "Copy details")
    qtbot.mouseClick(copy, Qt.MouseButton.LeftButton)
    assert "code 10000" in QGuiApplication.clipboard().text()
    assert bell.accessibleName() == "Notices"
    dialog.accept()


def test_a_written_file_can_be_dragged_from_its_notice_and_from_the_list(
    qtbot: Any, notices: Notices, tmp_path: Path
) -> None:
    there, gone = tmp_path / "ränked.xlsx", tmp_path / "gone.csv"
    there.write_text("rows")
    bar = notices.show_written("Wrote 2 files.", gone, there)
    assert [link.text() for link in bar.links()] == ["Show files"]
    drags = bar.findChildren(FileDrag)
    assert len(drags) == 2, "by the sentence and by its icon"
    assert [url.toLocalFile() for url in drags[0].content().urls()] == [str(there)]
    assert notices.past()[0].paths == (gone, there)
    parent = QWidget()
    qtbot.addWidget(parent)
    dialog = NoticeListDialog(notices, parent)
    assert dialog.findChildren(FileDrag)[0].content().hasFormat("text/uri-list")
    assert "Show files" in [link.text() for link in dialog.findChildren(LinkButton)]


@pytest.fixture
def german() -> Iterator[None]:
    use_language(load_language("de"))
    yield
    use_language(ENGLISH)


@pytest.mark.usefixtures("german")
def test_decimals_and_thousands_have_the_signs_of_the_language() -> None:
    assert figures.number(3816) == "3.816"
    assert figures.score_text(-0.0028) == "-0,0028"
    assert figures.local_signs("0.4939–1,000.5") == "0,4939–1.000,5"
    assert signed(-0.0741) == "−0,074"
    assert [text for _, text in ticks((0.0, 0.5), 100.0, 50.0)] == ["0", "0,25", "0,5"]


FIVE_WORDS = "To reset a forgotten password"


async def test_a_small_window_shows_five_words_of_each_text_and_columns_come_back_with_the_room(stage: Stage) -> None:
    stage.workspace.window.resize(800, 500)
    job = await run(stage.program, "Help centre", resource("examples/help-centre-ranking.csv"), Kind.RANK)
    stage.workspace.show_jobs()
    stage.workspace.open_job(job.id)
    table: TableView = stage.workspace.job_page.view("ranking").contexts
    await until(lambda: table.columns() and table.isVisible())
    text = next(section for section, column in enumerate(table.columns()) if column.stretch)
    await until(lambda: table.columnWidth(text) >= table.fontMetrics().horizontalAdvance(FIVE_WORDS) - 20)
    assert table.horizontalScrollBar().maximum() == 0
    assert any(table.isColumnHidden(at) for at in range(2, 5))
    stage.workspace.window.resize(1280, 820)
    await until(lambda: not any(table.isColumnHidden(at) for at in range(5)))


def test_a_splitter_is_where_the_user_left_it(qtbot: Any) -> None:
    def shown() -> QSplitter:
        splitter = split(QWidget(), QWidget(), name="here", sizes=(100, 300))
        qtbot.addWidget(splitter)
        splitter.resize(401, 100)
        splitter.show()
        return splitter

    first = shown()
    first.moveSplitter(250, 1)
    first.splitterMoved.emit(250, 1)
    assert shown().sizes() == first.sizes() != [100, 300]
