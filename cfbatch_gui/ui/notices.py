"""Notices that float above the page, and what the user can undo: Ctrl+Z takes the latest offer."""

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Protocol, runtime_checkable

from PySide6 import QtGui
from PySide6.QtCore import QEvent, QObject, Qt, QTimer, QUrl, Signal
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import QAccessibleWidget, QApplication, QWidget

from cfbatch_gui.core.errors import Action, UserError
from cfbatch_gui.core.system.logs import redacted
from cfbatch_gui.ui.dialogs import Dialog
from cfbatch_gui.ui.theme import LARGE, SMALL, scaled
from cfbatch_gui.ui.widgets import Label, Level, NoticeBar, column, discard
from cfbatch_gui.words import figures
from cfbatch_gui.words.languages import said, tr


@dataclass(frozen=True, slots=True, eq=False)
class Undo:
    """One offer; `words` name the whole command, as a menu does: “Undo archiving “May””."""

    words: str
    act: Callable[[], None]


class Undos(QObject):
    """The offers in the order in which they were made, each to be taken once. `changed`: one came or went."""

    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._offers: list[Undo] = []

    def offer(self, words: str, act: Callable[[], None]) -> Undo:
        undo = Undo(words, act)
        self._offers.append(undo)
        self.changed.emit()
        return undo

    def withdraw(self, undo: Undo) -> None:
        if undo in self._offers:
            self._offers.remove(undo)
            self.changed.emit()

    def latest(self) -> Undo | None:
        return self._offers[-1] if self._offers else None

    def is_offered(self, undo: Undo) -> bool:
        return undo in self._offers

    def take(self, undo: Undo) -> None:
        if undo in self._offers:
            self.withdraw(undo)
            undo.act()

    def undo(self) -> None:
        if latest := self.latest():
            self.take(latest)


class PageUndo(QObject):
    """What a page itself can undo: one offer, which stands while the page is visible."""

    def __init__(self, page: QWidget, undos: Undos, words: str, act: Callable[[], None]) -> None:
        super().__init__(page)
        self._undos, self._words, self._act = undos, words, act
        self._undo: Undo | None = None
        page.installEventFilter(self)

    def renew(self, is_possible: bool) -> None:
        """Offer it as the latest, or no more."""
        if self._undo is not None:
            self._undos.withdraw(self._undo)
        self._undo = self._undos.offer(self._words, self._act) if is_possible else None

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Hide and self._undo is not None:
            self._undos.withdraw(self._undo)
        elif event.type() == QEvent.Type.Show and self._undo is not None:
            self.renew(True)
        return False


@runtime_checkable
class HasRole(Protocol):
    """A widget that is painted by us, and for which Qt would know no role."""

    accessible_role: QAccessible.Role


@cache
def install_roles() -> None:
    """Once for an application."""
    QAccessible.installFactory(_with_role)


def announce(source: QObject, text: str, *, is_urgent: bool = False) -> None:
    """Have a text spoken that has come up by itself; an urgent one interrupts what is being spoken."""
    event = QtGui.QAccessibleAnnouncementEvent(source, text)
    if is_urgent:
        event.setPoliteness(QAccessible.AnnouncementPoliteness.Assertive)
    QAccessible.updateAccessibility(event)


def _with_role(_class: str, owner: QObject) -> QtGui.QAccessibleInterface | None:
    if isinstance(owner, QWidget) and isinstance(owner, HasRole):
        return QAccessibleWidget(owner, owner.accessible_role)
    return None


_MOST = 3  # bars that are shown together; the oldest is removed for another
_MOST_IN_LIST = 50
_OPENED = (".xlsx", ".csv", ".png", ".svg", ".txt")  # by people, with a program of the desktop
_WIDTH = 520  # pixels
_TICK = 500  # milliseconds
_LEAST_SECONDS, _SECONDS_A_LETTER = 8.0, 0.08  # before a bar goes; slow readers manage 150 words in a minute


def _open(path: Path) -> None:
    QtGui.QDesktopServices.openUrl(QUrl.fromLocalFile(str(path)))


def action_words(action: Action) -> str:
    return {
        Action.RETRY: tr("Try again"),
        Action.OPEN_CONNECTION: tr("Open connection"),
        Action.UNLOCK: tr("Unlock"),
        Action.SHOW_FILE: tr("Show file"),
        Action.CHOOSE_FILE: tr("Choose another file"),
        Action.CHOOSE_ENCODING: tr("Choose the encoding"),
        Action.SMALLER_BATCHES: tr("Use smaller batches"),
        Action.SEND_AGAIN: tr("Send again"),
    }.get(action, "")


@dataclass(frozen=True, slots=True, eq=False)
class Notice:
    """`shown_at` is in seconds since 1970."""

    text: str
    level: Level
    shown_at: float
    details: str = ""  # to copy, redacted
    paths: tuple[Path, ...] = ()  # files that were written
    undo: Undo | None = None  # offered for as long as `Undos.is_offered` says

    def offer(self, bar: NoticeBar) -> None:
        """Let a bar offer what is known of the notice for good."""
        if self.paths:
            bar.offer_files(self.paths)
            show = tr("Show file") if len(self.paths) == 1 else tr("Show files")
            bar.add_link(show, partial(_open, self.paths[-1].parent))
        if self.details:
            bar.add_link(tr("Copy details"), partial(QtGui.QGuiApplication.clipboard().setText, self.details))


class Notices(QWidget):
    """The notice bars above the foot of the page, the newest topmost; what has gone is listed in `past`.

    A bar goes once there was time to read it, which counts only while the window is active and neither mouse nor
    focus is on a bar. Buttons of errors emit `connection_wanted` and `unlock_wanted`.
    """

    connection_wanted = Signal()
    unlock_wanted = Signal()  # of the keyring
    changed = Signal()  # a notice was added, or went

    def __init__(self, parent: QWidget | None = None, *, clock: Callable[[], float] = time.time) -> None:
        super().__init__(parent)
        self._clock = clock
        self._shown: dict[NoticeBar, Notice] = {}
        self._left: dict[NoticeBar, float] = {}  # seconds before a bar goes; none for bars that stay
        self._past: deque[Notice] = deque()
        self.undos = Undos(self)
        self.undos.changed.connect(self._drop_undone)
        self._unseen = 0
        self.foot: Callable[[], int] = int  # the height in pixels of what must not be covered at the page's bottom
        self._column = column()
        self.setLayout(self._column)
        self._ticks = QTimer(self, interval=_TICK)
        self._ticks.timeout.connect(self._tick)
        self.setVisible(False)
        if parent is not None:
            parent.installEventFilter(self)

    def place(self) -> None:
        area = self.parentWidget()
        if area is None or not self._shown:
            return
        width = min(scaled(_WIDTH), area.width() - 2 * LARGE)
        self.ensurePolished()
        for bar in self._shown:
            bar.ensurePolished()  # before its height is asked for
        height = sum(bar.height_for(width) for bar in self._shown) + SMALL * (len(self._shown) - 1)
        left = LARGE if self.layoutDirection() == Qt.LayoutDirection.LeftToRight else area.width() - LARGE - width
        self.setGeometry(left, max(0, area.height() - self.foot() - LARGE - height), width, height)
        self.raise_()

    def past(self) -> list[Notice]:
        return list(reversed(self._past))

    def unseen(self) -> int:
        return self._unseen

    def mark_seen(self) -> None:
        self._unseen = 0
        self.changed.emit()

    def pass_time(self, seconds: float) -> None:
        for bar in list(self._left):
            self._left[bar] -= seconds
            if self._left[bar] <= 0:
                self._unseen += 1
                self.dismiss(bar)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize:
            self.place()
        return False

    def event(self, event: QEvent) -> bool:
        handled = super().event(event)
        if event.type() == QEvent.Type.LayoutRequest and any(
            bar.height() != max(bar.minimumHeight(), bar.heightForWidth(bar.width())) for bar in self._shown
        ):  # a link was added, or the sentence changed; to place them asks for a layout again
            self.place()
        return handled

    def show_notice(
        self,
        text: str,
        level: Level = "info",
        *,
        button: str = "",
        on_button: Callable[[], None] | None = None,
        stays: bool = False,
    ) -> NoticeBar:
        """A button dismisses the bar and calls `on_button`; with `stays` the bar does not go by itself."""
        bar = self._show(Notice(text, level, self._clock()), button, on_button)
        if stays:
            del self._left[bar]
        return bar

    def show_undo(self, text: str, words: str, act: Callable[[], None]) -> Undo:
        """Show what was done, with a button that undoes it once by `act`; Ctrl+Z does the same."""
        undo = self.undos.offer(words, act)
        self._show(Notice(text, "info", self._clock(), undo=undo), tr("Undo"), partial(self.undos.take, undo))
        return undo

    def show_written(self, text: str, *paths: Path) -> NoticeBar:
        """Show that files were written: they can be dragged, and links open a single one or their folder."""
        bar = self._show(Notice(text, "done", self._clock(), paths=paths))
        if len(paths) == 1 and paths[0].suffix.lower() in _OPENED:
            bar.add_link(tr("Open"), partial(_open, paths[0]))
        return bar

    def show_error(self, error: UserError, on_action: Callable[[], None] | None = None) -> NoticeBar:
        """An expected failure: its sentence, its details to copy, and a button for its action if there is one."""
        act, sentence = on_action or self.act_of(error.action), said(error.message)
        details = redacted(f"{sentence}\n{error.detail}") if error.detail else ""
        notice = Notice(sentence, "attention", self._clock(), details)
        return self._show(notice, action_words(error.action) if act else "", act)

    def act_of(self, action: Action) -> Callable[[], None] | None:
        """What the window itself can do."""
        own = {Action.OPEN_CONNECTION: self.connection_wanted.emit, Action.UNLOCK: self.unlock_wanted.emit}
        return own.get(action)

    def show_crash(self, details: str) -> NoticeBar:
        words = tr("Something went wrong inside the program. Your jobs are safe, and you can go on working.")
        return self._show(Notice(words, "error", self._clock(), redacted(details)))

    def dismiss(self, bar: NoticeBar) -> None:
        if self._shown.pop(bar, None) is not None:
            self._left.pop(bar, None)
            discard(self._column, bar)
            self.changed.emit()
        self.setVisible(bool(self._shown))
        if not self._left:
            self._ticks.stop()
        self.place()

    def texts(self) -> list[str]:
        return [bar.text() for bar in self._shown]

    def bars(self) -> list[NoticeBar]:
        return list(self._shown)

    def _show(self, notice: Notice, button: str = "", on_button: Callable[[], object] | None = None) -> NoticeBar:
        for same in [bar for bar in self._shown if bar.text() == notice.text]:
            self.dismiss(same)
        while len(self._shown) >= _MOST:
            self.dismiss(next(iter(self._shown)))
        bar = NoticeBar(notice.text, notice.level, dismissable=True)
        bar.setProperty("floating", "true")
        bar.dismissed.connect(partial(self.dismiss, bar))
        if button and on_button is not None:
            act = on_button

            def press() -> None:
                self.dismiss(bar)
                act()

            bar.add_link(button, press)
        notice.offer(bar)
        self._shown[bar] = notice
        self._left[bar] = _LEAST_SECONDS + len(notice.text) * _SECONDS_A_LETTER
        self._past.append(notice)
        if len(self._past) > _MOST_IN_LIST and (oldest := self._past.popleft()).undo is not None:
            self.undos.withdraw(oldest.undo)  # which nothing offers any more
        self._column.insertWidget(0, bar)
        self.setVisible(True)
        announce(bar, notice.text, is_urgent=notice.level in ("attention", "error"))
        self._ticks.start()
        self.place()
        self.changed.emit()
        return bar

    def _drop_undone(self) -> None:
        for bar, notice in list(self._shown.items()):
            if notice.undo is not None and not self.undos.is_offered(notice.undo):
                self.dismiss(bar)

    def _tick(self) -> None:
        focused = QApplication.focusWidget()
        is_held = self.underMouse() or (focused is not None and self.isAncestorOf(focused))
        if self.isActiveWindow() and not is_held:
            self.pass_time(_TICK / 1_000)


class NoticeListDialog(Dialog):
    """Opening it marks all notices as seen."""

    def __init__(self, notices: Notices, parent: QWidget) -> None:
        super().__init__(tr("Notices"), parent, (560, 420))
        bars: list[QWidget] = [self._bar(notice, notices.undos) for notice in notices.past()]
        nothing = Label(self.tr("There were no notices since the program was started."), "quiet", wrap=True)
        self.lay_out(self.windowTitle(), *(bars or [nothing]), None)
        notices.mark_seen()

    def _bar(self, notice: Notice, undos: Undos) -> NoticeBar:
        bar = NoticeBar(f"{figures.age(notice.shown_at, time.time())} · {notice.text}", notice.level)
        undo = notice.undo
        if undo is not None and undos.is_offered(undo):

            def take_back() -> None:
                self.accept()  # first: what is undone may open a page
                undos.take(undo)

            bar.add_link(undo.words, take_back)
        notice.offer(bar)
        return bar
