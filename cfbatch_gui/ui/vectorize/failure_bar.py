"""What has stopped the work of the page: a sentence, and at most one action beside copying its details."""

from PySide6.QtCore import Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget

from cfbatch_gui.core.errors import Action, UserError
from cfbatch_gui.core.system.languages import said
from cfbatch_gui.core.system.logs import redacted
from cfbatch_gui.core.vectorize.client import IndexMissing
from cfbatch_gui.ui.notices import Notices, action_words
from cfbatch_gui.ui.widgets import NoticeBar


class FailureBar(NoticeBar):
    """Hidden as long as there is no error. `index_wanted`: the index is not there, and another is to be chosen.
    `retry_wanted` is offered where nothing else on the page tries again.
    """

    index_wanted = Signal()
    retry_wanted = Signal()

    def __init__(self, notices: Notices, parent: QWidget | None = None) -> None:
        super().__init__("", "attention", dismissable=True, parent=parent)
        self._notices = notices
        self.dismissed.connect(self.hide)
        self.hide()

    def show_error(self, error: UserError | None, *, may_retry: bool = False) -> None:
        """Show an error in place of the one before; None for none."""
        self.clear_links()
        self.setVisible(error is not None)
        if error is None:
            return
        self.set_text(said(error.message), "attention")
        if isinstance(error, IndexMissing):
            self.add_link(self.tr("Choose an index"), self.index_wanted.emit)
        elif error.action is Action.OPEN_CONNECTION:
            self.add_link(action_words(error.action), self._notices.connection_wanted.emit)
        elif error.action is Action.UNLOCK:
            self.add_link(action_words(error.action), self._notices.unlock_wanted.emit)
        elif may_retry:
            self.add_link(action_words(Action.RETRY), self.retry_wanted.emit)
        if error.detail:
            details = redacted(f"{error.message}\n{error.detail}")
            self.add_link(self.tr("Copy details"), lambda: QGuiApplication.clipboard().setText(details))
