from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QMimeData, QPoint, QRect, Qt, QUrl
from PySide6.QtGui import QDropEvent, QGuiApplication
from PySide6.QtTest import QSignalSpy
from PySide6.QtWidgets import QApplication, QLabel, QPushButton, QWidget

from cfbatch_gui.core.errors import Action, DiskFull, TokenRefused
from cfbatch_gui.ui.help import ShortcutsDialog
from cfbatch_gui.ui.notices import Notices
from cfbatch_gui.ui.theme import Scheme
from cfbatch_gui.ui.widgets import Card, Label, LinkButton, boxed, column, scrolled
from cfbatch_gui.ui.widgets.bars import FileDrag
from cfbatch_gui.ui.window.main_window import MainWindow, NoticeListDialog
from cfbatch_gui.ui.window.menus import Menus
from cfbatch_gui.ui.window.welcome_page import WelcomePage


class InMemory:
    def __init__(self) -> None:
        self.kept: dict[str, str] = {}

    def get(self, key: str) -> str:
        return self.kept.get(key, "")

    def set(self, key: str, value: str) -> None:
        self.kept[key] = value


@pytest.fixture
def memory() -> InMemory:
    return InMemory()


@pytest.fixture
def window(qtbot: Any, memory: InMemory) -> MainWindow:
    window = MainWindow(memory)
    Menus(window, Scheme.SYSTEM)
    qtbot.addWidget(window, before_close_func=lambda each: each.finish())
    window.show_page(WelcomePage())
    window.show()
    return window


def test_closing_asks_first_and_keeps_the_geometry(qtbot: Any, window: MainWindow, memory: InMemory) -> None:
    asked = QSignalSpy(window.close_requested)
    window.resize(840, 640)
    window.close()
    assert (asked.count(), window.isVisible()) == (1, True)
    again = MainWindow(memory)
    qtbot.addWidget(again, before_close_func=lambda each: each.finish())
    assert again.height() == 640
    window.finish()
    assert not window.isVisible()


@pytest.mark.parametrize(
    ("key", "signal"), [(Qt.Key.Key_N, "new_job"), (Qt.Key.Key_O, "open_file"), (Qt.Key.Key_Comma, "connection")]
)
def test_keys_of_the_menus_work_everywhere(qtbot: Any, window: MainWindow, key: Qt.Key, signal: str) -> None:
    window.activateWindow()
    spy = QSignalSpy(getattr(window, signal))
    qtbot.keyClick(window, key, Qt.KeyboardModifier.ControlModifier)
    assert spy.count() == 1


def test_f1_lists_the_keys(qtbot: Any, window: MainWindow) -> None:
    window.activateWindow()
    qtbot.keyClick(window, Qt.Key.Key_F1)
    dialog = window.findChild(ShortcutsDialog)
    assert dialog is not None
    texts = [label.text() for label in dialog.findChildren(QLabel)]
    assert "New job" in texts and "Ctrl+N" in texts
    dialog.accept()


def test_files_dropped_anywhere_are_reported(window: MainWindow, tmp_path: Path) -> None:
    dropped = QSignalSpy(window.files_dropped)
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(tmp_path / "a.csv")), QUrl("https://example.com/b.csv")])
    event = QDropEvent(
        QPoint(600, 400),
        Qt.DropAction.CopyAction,
        data,
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
    )
    window.dropEvent(event)
    assert dropped.at(0)[0] == [tmp_path / "a.csv"]


def test_what_is_dropped_is_taken_as_a_copy(window: MainWindow, tmp_path: Path) -> None:
    mime = QMimeData()
    mime.setUrls([QUrl.fromLocalFile(str(tmp_path))])
    offered = Qt.DropAction.CopyAction | Qt.DropAction.MoveAction
    event = QDropEvent(QPoint(5, 5), offered, mime, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier)
    event.setDropAction(Qt.DropAction.MoveAction)  # as a file manager proposes it within one disk
    window.dropEvent(event)
    assert event.isAccepted() and event.dropAction() is Qt.DropAction.CopyAction


def test_the_first_page_fits_in_the_smallest_window(window: MainWindow) -> None:
    window.resize(window.minimumSize())
    QApplication.processEvents()
    page = window.pages.currentWidget()
    assert page is not None
    cards = page.findChildren(Card)
    places = [QRect(card.mapTo(page, QPoint(0, 0)), card.size()) for card in cards]
    assert len(places) == 2 and not places[0].intersects(places[1])
    assert all(page.rect().contains(place) for place in places)


def test_a_page_is_not_pushed_aside_by_its_scroll_bar(qtbot: Any) -> None:
    top, below = Label("top"), Label("below")
    area = scrolled(boxed(column(top, below, margins=(24, 8, 24, 8))))
    qtbot.addWidget(area)
    area.resize(400, 200)
    area.show()
    before = top.width()
    below.setMinimumHeight(500)
    qtbot.waitUntil(area.verticalScrollBar().isVisible)
    assert top.width() == before and before > 300


def test_the_first_page_has_two_ways_to_begin(qtbot: Any) -> None:
    page = WelcomePage()
    qtbot.addWidget(page)
    tried, connected = QSignalSpy(page.try_example), QSignalSpy(page.connect_account)
    qtbot.mouseClick(page.try_button, Qt.MouseButton.LeftButton)
    qtbot.mouseClick(page.connect_button, Qt.MouseButton.LeftButton)
    assert (tried.count(), connected.count()) == (1, 1)


@pytest.mark.parametrize("key", [Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space])
def test_a_button_is_pressed_by_the_keyboard(qtbot: Any, key: Qt.Key) -> None:
    page = WelcomePage()
    qtbot.addWidget(page)
    tried = QSignalSpy(page.try_example)
    qtbot.keyClick(page.try_button, key)
    assert tried.count() == 1


def test_an_error_about_the_connection_leads_there(qtbot: Any, window: MainWindow) -> None:
    wanted = QSignalSpy(window.connection)
    bar = window.notices.show_error(TokenRefused("Cloudflare refused the token. Nothing was lost.", detail="10000"))
    assert [link.text() for link in bar.links()] == ["Open connection", "Copy details"]
    qtbot.mouseClick(bar.links()[1], Qt.MouseButton.LeftButton)
    assert "10000" in QGuiApplication.clipboard().text()
    qtbot.mouseClick(bar.links()[0], Qt.MouseButton.LeftButton)
    assert wanted.count() == 1
    assert window.notices.texts() == []


def test_an_action_without_a_way_has_no_button(qtbot: Any) -> None:
    notices = Notices()
    qtbot.addWidget(notices)
    pressed: list[int] = []
    assert notices.show_error(DiskFull("No space left.")).links() == []
    bar = notices.show_error(DiskFull("No space left.", action=Action.RETRY), lambda: pressed.append(1))
    assert notices.texts() == ["No space left."]
    qtbot.mouseClick(bar.links()[0], Qt.MouseButton.LeftButton)
    assert pressed == [1]
    assert notices.isHidden()


def test_a_long_name_in_a_notice_does_not_push_the_sidebar(window: MainWindow) -> None:
    QApplication.processEvents()
    before = window.library.width()
    sentence = f"{'Donaudampfschifffahrt' * 20}.csv is not there any more."
    window.notices.show_notice(sentence, "attention")
    QApplication.processEvents()
    assert window.library.width() == before and window.notices.texts() == [sentence]


def test_notices_do_not_pile_up(qtbot: Any) -> None:
    notices = Notices()
    qtbot.addWidget(notices)
    for number in range(10):
        notices.show_notice(f"Notice {number}")
    assert notices.texts() == ["Notice 7", "Notice 8", "Notice 9"]
    notices.dismiss(notices.bars()[0])
    assert len(notices.texts()) == 2


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


def test_notices_float_above_the_page_and_move_nothing(qtbot: Any, window: MainWindow) -> None:
    page = QWidget()
    window.show_page(page)
    QApplication.processEvents()
    before = page.geometry()
    window.notices.show_notice("Moved to the archive.", button="Undo", on_button=lambda: None)
    first = window.notices.bars()[0]
    qtbot.waitUntil(lambda: first.isVisible() and first.height() > 0)
    assert page.geometry() == before
    where = first.mapTo(window, QPoint())
    window.notices.show_notice("A sentence so long that it takes more than one line. " * 4, "attention")
    second = window.notices.bars()[1]
    qtbot.waitUntil(lambda: second.mapTo(window, QPoint()).y() + second.height() < where.y())
    assert first.mapTo(window, QPoint()) == where
    page_bottom = page.mapTo(window, QPoint()).y() + page.height()
    assert where.y() + first.height() < page_bottom
    foot = 60
    window.notices.set_foot(lambda: foot)
    assert first.mapTo(window, QPoint()).y() + first.height() < page_bottom - foot


def test_the_bell_says_what_faded_unseen_and_opens_the_list(qtbot: Any, window: MainWindow) -> None:
    window.notices.show_error(TokenRefused("Cloudflare refused the token.", detail="code 10000"))
    window.notices.pass_time(120.0)
    bell = window.library.foot.bell
    qtbot.waitUntil(lambda: window.notices.texts() == [])
    assert bell.accessibleName() == "Notices, 1 not seen"
    qtbot.mouseClick(bell, Qt.MouseButton.LeftButton)
    dialog = next(each for each in window.findChildren(NoticeListDialog))
    assert any(label.text() == "Cloudflare refused the token." for label in dialog.findChildren(QLabel))
    copy = next(each for each in dialog.findChildren(QPushButton) if each.text() == "Copy details")
    qtbot.mouseClick(copy, Qt.MouseButton.LeftButton)
    assert "code 10000" in QGuiApplication.clipboard().text()
    assert bell.accessibleName() == "Notices"
    dialog.accept()


def test_a_written_file_can_be_dragged_from_its_notice_and_from_the_list(qtbot: Any, tmp_path: Path) -> None:
    notices = Notices()
    qtbot.addWidget(notices)
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
    (drag,) = dialog.findChildren(FileDrag)
    assert drag.content().hasFormat("text/uri-list")
    assert "Show files" in [link.text() for link in dialog.findChildren(LinkButton)]


def test_a_file_for_people_can_be_opened_from_its_notice(qtbot: Any, tmp_path: Path) -> None:
    notices = Notices()
    qtbot.addWidget(notices)
    assert [link.text() for link in notices.show_written("Wrote it.", tmp_path / "a.xlsx").links()] == [
        "Show file",
        "Open",
    ]
    assert [link.text() for link in notices.show_written("Wrote it too.", tmp_path / "a.npy").links()] == ["Show file"]
