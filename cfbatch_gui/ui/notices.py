"""Notices in bars above the page, each with at most one action; and notifications of the desktop."""

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QObject, QUrl, Signal
from PySide6.QtGui import QDesktopServices, QGuiApplication, QIcon
from PySide6.QtWidgets import QSystemTrayIcon, QVBoxLayout, QWidget

from cfbatch_gui.core.errors import Action, UserError
from cfbatch_gui.core.system.logs import redacted
from cfbatch_gui.ui.theme import LARGE, SMALL, WIDE
from cfbatch_gui.ui.widgets import Level, NoticeBar

_MOST = 3  # bars that are shown together; the oldest is removed for another


def action_words(action: Action) -> str:
    """The text of an action's button, "" for actions without a button."""

    def tr(text: str) -> str:
        return QCoreApplication.translate("notices", text)

    return {
        Action.RETRY: tr("Try again"),
        Action.OPEN_CONNECTION: tr("Open connection"),
        Action.SHOW_FILE: tr("Show file"),
        Action.CHOOSE_FILE: tr("Choose another file"),
        Action.CHOOSE_ENCODING: tr("Choose the encoding"),
        Action.SMALLER_BATCHES: tr("Use smaller batches"),
        Action.SEND_AGAIN: tr("Send again"),
    }.get(action, "")


class Notices(QWidget):
    """The notice bars above the page. A sentence that is already shown replaces its earlier bar.

    The button of an error about the connection emits `connection_wanted`; the window then opens that page.
    """

    connection_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._bars: list[NoticeBar] = []
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(WIDE, LARGE, WIDE, 0)
        self._column.setSpacing(SMALL)
        self.setVisible(False)

    def show_notice(
        self, text: str, level: Level = "info", *, button: str = "", on_button: Callable[[], None] | None = None
    ) -> NoticeBar:
        """Show a sentence; the button, if there is one, dismisses the bar and calls `on_button`."""
        bar = self._bar(text, level)
        if button and on_button is not None:
            act = on_button

            def press() -> None:
                self.dismiss(bar)
                act()

            bar.add_link(button, press)
        return bar

    def show_written(self, text: str, *paths: Path) -> NoticeBar:
        """Show that files were written, with a button that opens the folder of the last one."""
        button = self.tr("Show file") if len(paths) == 1 else self.tr("Show files")
        folder = QUrl.fromLocalFile(str(paths[-1].parent))

        def open_folder() -> None:
            QDesktopServices.openUrl(folder)

        return self.show_notice(text, "done", button=button, on_button=open_folder)

    def show_error(self, error: UserError, on_action: Callable[[], None] | None = None) -> NoticeBar:
        """Show an expected failure: its sentence, its details to copy, and a button for its action if there is one."""
        act = on_action
        if error.action is Action.OPEN_CONNECTION and act is None:
            act = self.connection_wanted.emit
        bar = self.show_notice(
            error.message, "attention", button=action_words(error.action) if act else "", on_button=act
        )
        if error.detail:
            self._offer_details(bar, f"{error.message}\n{error.detail}")
        return bar

    def show_crash(self, details: str) -> NoticeBar:
        """Show that an unexpected error occurred, with its details to copy; a slot for `CrashHandler.crashed`."""
        bar = self._bar(
            self.tr("Something went wrong inside the program. Your jobs are safe, and you can go on working."), "error"
        )
        self._offer_details(bar, details)
        return bar

    def dismiss(self, bar: NoticeBar) -> None:
        """Remove a bar, if it is still shown."""
        if bar in self._bars:
            self._bars.remove(bar)
            self._column.removeWidget(bar)
            bar.hide()
            bar.deleteLater()
        self.setVisible(bool(self._bars))

    def texts(self) -> list[str]:
        """The sentences that are shown, oldest first."""
        return [bar.text() for bar in self._bars]

    def bars(self) -> list[NoticeBar]:
        """The bars, oldest first."""
        return list(self._bars)

    def _bar(self, text: str, level: Level) -> NoticeBar:
        for same in [bar for bar in self._bars if bar.text() == text]:
            self.dismiss(same)
        while len(self._bars) >= _MOST:
            self.dismiss(self._bars[0])
        bar = NoticeBar(text, level, dismissable=True)
        bar.dismissed.connect(lambda: self.dismiss(bar))
        self._bars.append(bar)
        self._column.addWidget(bar)
        self.setVisible(True)
        return bar

    def _offer_details(self, bar: NoticeBar, details: str) -> None:
        bar.add_link(self.tr("Copy details"), lambda: QGuiApplication.clipboard().setText(redacted(details)))


class SystemNotices(QObject):
    """Notifications of the desktop, sent from its tray; without a tray nothing is shown."""

    clicked = Signal()

    def __init__(self, icon: QIcon, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._tray: QSystemTrayIcon | None = None
        if QSystemTrayIcon.isSystemTrayAvailable() and QSystemTrayIcon.supportsMessages():
            self._tray = QSystemTrayIcon(icon, self)
            self._tray.messageClicked.connect(self.clicked)

    def show(self, title: str, text: str) -> bool:
        """Show a notification; False where the desktop has no tray."""
        if self._tray is None:
            return False
        self._tray.show()
        self._tray.showMessage(title, text, self._tray.icon())
        return True
